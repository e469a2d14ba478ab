"""Which keys are worth a look, and what speaks for and against them: see the slow reference."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.search.align import CONTEXT, FEATURES, SIGNS, align
from fuzzydict.search.judge import shipped
from fuzzydict.search.keys import background_of
from fuzzydict.search.retrieve import CANDIDATES, candidates, glance, largest
from tests.support.properties import examples
from tests.support.reference import Reference, assert_probabilities, cosine_of

NAMES = [feature.name for feature in FEATURES]
WORDS = "color colour the engine 1961 porsche of ltd without un paid unpaid max min information"
WORDS += " technology it usd eur to monday tues non user name username qty 12 xyzzy enginne speed/"
TEXTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=4).map(" ".join)
TEXTS = TEXTS.filter(lambda text: text.strip("/ "))
KEYS = st.lists(TEXTS, min_size=1, max_size=6, unique=True)


def retrieved(d: FuzzyDict[Any], queries: list[str]) -> tuple[Any, Any, Any]:
    """Return queries as they are compared, the keys, and the candidates among them."""
    meaning, keys = d._current_meaning(), d._current_reader().lookup.keys
    asked = meaning.queries(queries)
    vectors = meaning.of_queries(asked, keys)
    return asked, keys, candidates(glance(asked, keys, vectors, meaning.judge.glance))


def aligned(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Return the features of queries and all keys, (L, n, F), in the order of the keys."""
    return align(*retrieved(d, queries), d._current_meaning().judge.pair)


def dict_of(keys: list[str], **options: Any) -> FuzzyDict[Any]:
    d = FuzzyDict(dict.fromkeys(keys, 1.0), **options)
    d.get("warm up")
    return d


ROWS = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=6, max_size=6)


@given(st.lists(ROWS, min_size=1, max_size=3), st.integers(1, 6))
def test_of_equal_values_the_first_are_the_largest(rows: list[list[float]], count: int) -> None:
    found = largest(np.array(rows, np.float32), count)
    for row, places in zip(rows, found.tolist(), strict=True):
        assert places == sorted(sorted(range(6), key=lambda place: -row[place])[:count])


def test_slips_and_synonyms_are_worth_a_look() -> None:
    right = {"govrenment": "government", "ngiht": "night", "diferent": "different"}
    right |= {"thuogh": "though", "nmber": "number", "systm": "system", "socail": "social"}
    right |= {"comittee": "committee", "automobile": "car", "residence": "home"}
    _, keys, found = retrieved(dict_of(Brown().words[:1000]), list(right))
    assert found.slots.shape == (len(right), CANDIDATES)
    for slots, key in zip(found.slots.tolist(), right.values(), strict=True):
        assert key in [keys.names[slot] for slot in slots]


@given(KEYS, st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from([None, "spelling"]))
@examples(150)
def test_features_are_of_the_reference(keys: list[str], queries: list[str], scorer: Any) -> None:
    d = dict_of(keys, scorer=scorer)
    reference = Reference(d)
    for query, rows in zip(queries, aligned(d, queries), strict=True):
        for key, row in zip(keys, rows, strict=True):
            expected = reference.features(query, key)
            found = dict(zip(NAMES, row.tolist(), strict=True))
            assert found == pytest.approx(expected, abs=2e-3), (query, key)


@given(KEYS, TEXTS, st.sampled_from([None, {"color": [1.0, 0.2], "usd": [0.1, 1.0], "12": [1, 1]}]))
@examples(80)
@example(["top speed", "C++", "Taycan 4S", "horse power"], "speed of the top", None)
def test_scores_are_of_the_reference(keys: list[str], query: str, embedding: Any) -> None:
    assert_probabilities(dict_of(keys, embedding=embedding), query)


#: A query, a key, and the features that speak among those that are not always there.
SPEAK = """
UN | United Nations = initials, conventional abbreviation;
pos | point of sale = initials, three initials or more;
research and development | R&D = initials; max temp | min temp = opposites;
maximum | minimum = another word of like letters, opposites; usd | eur = other members of a class;
monday | tue = other members of a class;
price w/o tax | price with tax = denied, another word of like letters, opposites;
last name | surname = conventional abbreviation; postal code | zip code = conventional abbreviation;
uk | Great Britain = conventional abbreviation; my postal code | zip = none;
k8s | kubernetes = conventional abbreviation;
my k8s | kubernetes = none; k9s | kubernetes = numbers left out;
not available | available = another word of like letters, opposites;
unencrypted | encrypted = opposites; not smoking | smoking = denied;
cheesecake | cheese = another word of like letters;
pineapples | apple = another word of like letters;
reorder | orders = another word of like letters; frog | fog = another word of like letters;
created by | created at = other small words; created by | created = none;
iraq | iran = another word of like letters; USD/EUR | EUR/USD = turned round;
usd to eur | eur to usd = turned round; host name | name host = none;
room 12 | room 14 = other numbers; room 12 | room = numbers left out;
room 07 | room 7 = the same numbers; 5 jan 2024 | 2024-01-05 = the same numbers;
9.30 pm | 21:30 = the same numbers; v1.2 | v2.1 = other numbers;
version 1.1.2 | version 1.2 = other numbers; -15 C | 15 C = other numbers;
10-15 C | 10 15 C = the same numbers; 5 g | 5 mg = other members of a class, the same numbers;
5 g | 5 gram = the same numbers; 1.5 kg | 15 kg = other numbers;
DE89 3704 0044 | DE8937040044 = the same numbers; colour | color = none
"""
NAMED = {"initials", "three initials or more", "opposites", "other members of a class"}
NAMED |= {"denied", "turned round", "other numbers", "numbers left out", "the same numbers"}
NAMED |= {"another word of like letters", "other small words", "conventional abbreviation"}


@pytest.mark.parametrize("told", SPEAK.replace("\n", " ").split("; "))
def test_what_speaks(told: str) -> None:
    pair, expected = told.strip().split(" = ")
    query, key = pair.split(" | ")
    found = dict(zip(NAMES, aligned(dict_of([key]), [query])[0, 0].tolist(), strict=True))
    assert {name for name in NAMED if found[name] > 0.2} == {*expected.split(", ")} - {"none"}


@pytest.mark.parametrize("kind", ["words", "encoder", "spelling"])
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 8),
    st.integers(0, CONTEXT - 1),
    st.floats(0, 1, width=32),
)
@examples(60)
def test_who_has_more_of_what_speaks_for_a_key_is_never_less_likely(
    kind: str, seed: int, count: int, feature: int, more: float
) -> None:
    judge = shipped(kind)
    X = np.random.default_rng(seed).uniform(0, 1, (1, count, len(FEATURES))).astype(np.float32)
    X[:, :, CONTEXT:] = X[:, :1, CONTEXT:]  # of the query
    hashes = np.arange(count, dtype=np.uint32)[None]
    before = judge.judge(X, hashes)
    place = int(before.best[0])
    raised = X.copy()
    raised[0, place, feature] += SIGNS[feature] * more
    after = judge.judge(raised, hashes)
    assert after.odds[0, place] >= before.odds[0, place] - 1e-4
    assert after.best[0] == place or after.odds[0].max() - after.odds[0, place] < 1e-4
    assert after.right[0] >= before.right[0] - 1e-4


def by_loop(vectors: Any) -> tuple[float, float]:
    """Return mean and spread of the cosines of all pairs, beside two pairs of 0.2 +- 0.1."""
    cosines = [cosine_of(a, b) for a, b in itertools.combinations(vectors, 2)]
    mean = (sum(cosines) + 2 * 0.2) / (len(cosines) + 2)
    squares = sum((cosine - mean) ** 2 for cosine in cosines) + 2 * 0.1**2
    return mean, math.sqrt(squares / (len(cosines) + 2))


def test_the_background_is_that_of_a_loop() -> None:
    for count in range(6):
        vectors = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
        vectors[count // 2 :: 4] = 0  # the vector of a text without words
        assert background_of(vectors) == pytest.approx(by_loop(vectors), rel=1e-5)
    mean, spread = background_of(np.ones((128, 3), np.float32))
    assert mean == pytest.approx(1, abs=1e-3)
    assert spread > 0
