"""The default score: probabilities, the same however one asks, with any kind of embedding."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict._arrays import products
from fuzzydict.embedding.word_vectors import English
from fuzzydict.search.keys import USUAL
from fuzzydict.search.retrieve import CANDIDATES
from tests.support.properties import examples

WORDS = "color colour no tax without hot cold qty quantity 5 12 twelve usd to eur white space"
WORDS += " whitespace monday tuesday international business machines ibm united states of the"
WORDS += " america usa street st not paid unpaid velocity speed maximum max vat number new york"
SAID = [*WORDS.split(), "Porsche", "R2D2", "Straße", "東京", "xyzzy"]
TEXTS = st.lists(st.sampled_from(SAID), min_size=1, max_size=4).map(" ".join)
TEXTS |= st.text("abcAB 1-/", min_size=1, max_size=8).filter(lambda text: text.strip(" -/"))
KEYS = st.lists(TEXTS, min_size=1, max_size=12, unique=True)
MORE = st.lists(TEXTS, min_size=1, max_size=40, unique=True)  # than are compared in detail

KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "english": {"embedding": "english"},
    "spelling": {"scorer": "spelling"},
    "mapping": {"embedding": dict(zip(SAID, English().encode(SAID)[:, :20], strict=True))},
    "encoder": {"embedding": lambda texts: English().encode(list(texts))[:, :32]},
}
each_kind = pytest.mark.parametrize("kind", KINDS)

SETTINGS = {"DB_PASSWORD": "secret", "DB_HOST": "localhost", "timeout": 3, "ssl_enabled": False}


def test_products_in_tiles_are_those_of_matrices() -> None:
    random = np.random.default_rng(0)
    for count, n, size in product((0, 1, 65), (0, 1, 700), (0, 3, 256, 5000)):
        a, b = [random.integers(-3, 4, (m, size)).astype(np.float32) for m in (count, n)]
        assert np.array_equal(products(a, b), a @ b.T)


def scores(d: FuzzyDict[Any], query: str) -> dict[str, float]:
    return {match.key: match.score for match in d.most_similar(query, None)}


def same(expected: dict[str, float]) -> Any:
    """Return what scores shall be, but for rounding."""
    return pytest.approx(expected, rel=1e-3, abs=1e-5)


@each_kind
@given(KEYS, TEXTS, st.randoms())
@examples(40)
def test_scores_in_any_order_share_one(kind: str, keys: list[str], query: str, chance: Any) -> None:
    found = scores(FuzzyDict(dict.fromkeys(keys, 1.0), **KINDS[kind]), query)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert min(found.values()) >= 0
    assert query in keys or sum(found.values()) <= 1 + 1e-6  # the rest is for none of them
    chance.shuffle(keys)
    other = scores(FuzzyDict(dict.fromkeys(keys, 1.0), **KINDS[kind]), query)
    assert found == same(other)


def test_nor_does_the_order_of_hundreds_matter_of_which_some_tell_what_is_usual() -> None:
    words = English().words
    names = [f"{one} {other}" for one in words[200:230] for other in words[300:320]]
    assert len(names) > USUAL
    one, other = (FuzzyDict(dict.fromkeys(some, 1)) for some in (names, names[::-1]))
    for query in (names[7][:-1], "ocean voyage"):
        assert scores(one, query) == same(scores(other, query))


@pytest.mark.parametrize(("keys", "query"), [("ax bx cx", "dx"), ("room 13, room 12", "room")])
def test_of_keys_that_tie_every_read_finds_the_same(keys: str, query: str) -> None:
    names = keys.split(", ") if "," in keys else keys.split()
    for some in (names, names[::-1]):
        d = FuzzyDict(dict.fromkeys(some, 1), score_cutoff=0)
        new = FuzzyDict(d, score_cutoff=0)
        found = [d.nearest(query), *new.nearest([query]), d.most_similar(query)[0]]
        best = d.explain(query).best
        assert best is not None
        assert {match.key for match in found} == {best.key}


@each_kind
@given(KEYS, KEYS, TEXTS)
@examples(40)
def test_deleted_keys_do_not_count(kind: str, keys: list[str], gone: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys([*gone, *keys], 1.0), **KINDS[kind])
    d.get("warm up")  # so that they have a slot to leave
    for key in {*gone} - {*keys}:
        del d[key]
    new = FuzzyDict(dict.fromkeys(keys, 1.0), **KINDS[kind])
    assert scores(d, query) == same(scores(new, query))


@each_kind
@given(MORE, st.lists(TEXTS, min_size=2, max_size=4, unique=True))
@example(["usd to eur", "ibm", "no tax"], ["eur to usd", "international business machines"])
@example(["white space", "cold", "qty 5"], ["whitespace", "quantity 6", "hot"])
@example(["timeout ms", "first name", "5 s"], ["timeout s", "fname", "last name", "5 min"])
@example(["the", "of", "by"], ["from", "The", "Of", "supplier of the x1", "not"])
@example(
    ["berry", "named", "boxes", "storm", "cheese", "timed lap", "apple"],
    ["blueberries", "surname", "mailbox", "snowstorms", "cheesecake", "timestamp", "pineapples"],
)
@examples(60)
def test_one_query_is_as_among_others(kind: str, keys: list[str], queries: list[str]) -> None:
    """It is answered in another way, here by another dict, for what was found is remembered."""
    d, other = (FuzzyDict(dict.fromkeys(keys, 0), score_cutoff=-1, **KINDS[kind]) for _ in range(2))
    ranked = d.most_similar(queries, None)
    for query, among, row in zip(queries, d.nearest(queries), ranked, strict=True):
        alone, of_each = other.nearest(query), {match.key: match.score for match in row}
        if alone.key == among.key:
            assert alone.score == pytest.approx(among.score, abs=1e-5)
        else:  # of two that are as good, either may be the first
            assert of_each[alone.key] == pytest.approx(of_each[among.key], abs=1e-5)
        assert other.get(query, "none") == alone.value
        if len(keys) <= CANDIDATES:  # of more, as good ones may be left out
            assert of_each == same(scores(d, query))


def test_spelling_loads_and_calls_no_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("an embedding was loaded or called")

    monkeypatch.setattr(WordVectors, "encode", fail)
    monkeypatch.setattr(WordVectors, "load", fail)
    for embedding in (None, fail, {"db": [1.0, 0.0]}):
        d = FuzzyDict(SETTINGS, scorer="spelling", embedding=embedding)
        d["retries"] = 5
        assert d["retry"] == 5
        assert d.nearest(["tmeout", "db_hosts"])[1].key == "DB_HOST"
        assert d.attend("tmeout").top(1)[0][0] == "timeout"
        why = d.explain("db_passwd")
        assert why.best.key == "DB_PASSWORD"
        assert why.best_parts.spelling + why.best_parts.words > 0.5
        assert abs(why.best_parts.meaning) < 0.5  # "db" means what "DB" does
