"""Whether a key reaches the cutoff, told from a few keys: as the scores of all keys say."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict, NoMatchError
from fuzzydict.search import lookup
from fuzzydict.search.lookup import Exact
from fuzzydict.search.score import log_probabilities
from tests.support.properties import examples
from tests.support.searching import hashed

SLOW = bool(os.environ.get("FUZZYDICT_SLOW"))
FEW = 64  # keys from which on the bounds are asked in tests of small dicts
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(count: int, seed: int = 0) -> list[str]:
    known = [word for word in Brown().words if word.isalpha() and word.islower()]
    return random.Random(seed).sample(known, count)


def slips(keys: list[str], seed: int = 0) -> Iterator[str]:
    chance = random.Random(seed)
    while True:
        key = chance.choice(keys)
        place, letter = chance.randrange(len(key) + 1), chance.choice(LETTERS)
        yield key[:place] + letter + key[place + chance.randrange(2) :]


def queries(keys: list[str], each: int, seed: int = 0) -> dict[str, list[str]]:
    """Return queries of several kinds, that many of each."""
    chance, known = random.Random(seed), words(4 * each, seed + 1)
    unseen = ["".join(chance.choices(LETTERS, k=chance.randint(3, 9))) for _ in range(each)]
    return {
        "slips": list(islice(slips(keys, seed), each)),
        "known words": known[:each],
        "two words": [f"{a} {b}" for a, b in zip(known[:each], known[each:], strict=False)],
        "of a key": [f"{key} {chance.choice(known)}" for key in chance.sample(keys, each)],
        "phrases": [" ".join(chance.choices(known, k=4)) for _ in range(each)],
        "never seen": unseen,
        "written otherwise": [f"{key.upper()}_" for key in chance.sample(keys, each)],
    }


def assert_as_scored(d: FuzzyDict[Any], asked: list[str], cutoff: float | None = None) -> None:
    """Assert that reads of values, each key's being the key, are those of all scores."""
    scored = d.nearest(asked, default=None, score_cutoff=cutoff)
    read = [d.get(query, score_cutoff=cutoff) for query in asked]
    assert read == [match and match.key for match in scored]


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the queries that are compared with all keys, as they are."""
    asked: list[str] = []
    nearest = Exact.nearest

    def noted(self: Exact, some: Any) -> Any:
        asked.extend(some)
        return nearest(self, some)

    monkeypatch.setattr(Exact, "nearest", noted)
    return asked


@pytest.fixture(scope="module")
def many() -> FuzzyDict[str]:
    keys = [
        *words(16_500),
        *(f"{a} {b}" for a, b in zip(words(1000, 1), words(1000, 2), strict=True)),
    ]
    return FuzzyDict({key: key for key in keys})


# ---- the same answers ---------------------------------------------------------------------------


@pytest.mark.more
@pytest.mark.parametrize("cutoff", [None, 0.0, 0.02, 0.3, 0.9, 1.0, 1.5, -np.inf])
def test_values_read_among_many_keys_are_those_of_the_best_score(
    many: FuzzyDict[str], cutoff: float | None
) -> None:
    each = (40 if SLOW else 12) if cutoff is None else 6 if SLOW else 4
    for asked in queries(list(many), each).values():
        assert_as_scored(many, asked, cutoff)


def test_most_slips_and_words_never_seen_are_decided_by_a_few_keys(
    many: FuzzyDict[str], scored: list[str]
) -> None:
    kinds = queries(list(many), 40, seed=7)
    for kind, most in {"slips": 20, "never seen": 4, "written otherwise": 0}.items():
        scored.clear()
        for query in kinds[kind]:
            many.get(query)
        assert len(scored) <= most, kind


@pytest.mark.more
@given(st.data())
@examples(60)
def test_values_read_after_any_writes_are_those_of_the_best_score(data: st.DataObject) -> None:
    text = st.text("abcd C#+1", min_size=1, max_size=8)
    keys = data.draw(st.lists(text, min_size=FEW + 20, max_size=2 * FEW, unique=True))
    embedding = data.draw(st.sampled_from([None, hashed, "english"]))
    d: FuzzyDict[str] = FuzzyDict({key: key for key in keys}, embedding=embedding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "MANY", FEW)
        for _ in range(3):
            asked = data.draw(st.lists(text, max_size=4))
            asked += [key[::-1] for key in data.draw(st.lists(st.sampled_from(keys), max_size=4))]
            assert_as_scored(d, asked, data.draw(st.sampled_from([None, 0.0, 0.05, 0.5, 0.9, 2.0])))
            for key in data.draw(st.lists(st.sampled_from(keys), max_size=8)):
                d.pop(key, None)
            d.update({key: key for key in data.draw(st.lists(text, max_size=8))})


def test_keys_of_equal_words_are_told_apart_among_many(many: FuzzyDict[str]) -> None:
    d = many | {key: key for key in ("C#", "C++", "C", "top_speed", "top speed", "color")}
    asked = ["c #", "c++", "c", "Top Speed", "topSpeed", "colour"]
    assert_as_scored(d, asked)
    d.aliases["hue"] = "color"
    assert d.get("hue") == "color"
    del d["color"]
    assert_as_scored(d, asked)


# ---- what the bounds rest on --------------------------------------------------------------------


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=20), st.floats(0, 1), st.floats(0.05, 1))
def test_no_probability_is_above_that_of_a_key_alone(
    odds: list[float], growth: float, nesting: float
) -> None:
    logs = log_probabilities(np.array(odds), growth, nesting=nesting)
    alone = -np.logaddexp(0, growth * np.log(len(odds)) - np.array(odds))
    assert (logs <= alone + 1e-9).all()


# ---- what is raised, remembered and overridden --------------------------------------------------


def test_an_error_names_the_nearest_key_which_get_does_not_ask_for(
    many: FuzzyDict[str], scored: list[str]
) -> None:
    assert many.get("qwzzt") is None
    assert many.get("qwzzt", "?") == "?"
    assert scored == []
    best = many.most_similar("qwzzt", topn=1)[0]
    for _ in range(2):  # the second time, it is remembered
        with pytest.raises(NoMatchError, match="below the cutoff") as error:
            many["qwzzt"]
        assert (error.value.key, error.value.score) == (best.key, best.score)
        assert many.get("qwzzt") is None
    assert scored == ["qwzzt"]


def test_get_reads_as_a_subclass_does() -> None:
    class Missing(FuzzyDict[str]):
        def __missing__(self, query: Any) -> str:
            return f"missing {query}"

    class Item(FuzzyDict[str]):
        def __getitem__(self, query: Any) -> str:
            return f"item {query}"

    for kind, read in ((Missing, "missing brandt"), (Item, "item brandt")):
        d = kind({"brand": "Porsche"})
        assert d.get("brandt") == read
        assert d.get("brandt", score_cutoff=0.1) == "Porsche"
