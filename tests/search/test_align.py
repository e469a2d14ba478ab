"""Which keys are worth a look, and that what speaks for one never speaks against it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict._arrays import largest
from fuzzydict.search.align import CONTEXT, FEATURES, SIGNS
from fuzzydict.search.keys import Keys, WordTable, background_of, head_of
from fuzzydict.search.pairs import ONE_MEANING, PAIR, UNRELATED
from fuzzydict.search.score import EITHER, shipped
from fuzzydict.text.lexicon import look_up, relations_of
from fuzzydict.text.words import plain
from tests.support.properties import examples

ROWS = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=6, max_size=6)


@given(st.lists(ROWS, min_size=1, max_size=3), st.integers(1, 6), st.sampled_from([1, 200]))
def test_the_first_of_equal_values_win(rows: list[list[float]], count: int, times: int) -> None:
    for row in rows:
        longer = row * times
        expected = sorted(range(len(longer)), key=lambda place: -longer[place])[:count]
        assert largest(np.array(longer, np.float32), count).tolist() == sorted(expected)


def test_slips_and_synonyms_are_worth_a_look() -> None:
    right = {"govrenment": "government", "ngiht": "night", "diferent": "different"}
    right |= {"thuogh": "though", "nmber": "number", "systm": "system", "socail": "social"}
    right |= {"comittee": "committee", "automobile": "car", "residence": "home"}
    found = FuzzyDict(dict.fromkeys(Brown().words[:1000], 1)).most_similar(list(right), 3)
    for matches, key in zip(found, right.values(), strict=True):
        assert key in [match.key for match in matches]


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
    assert feature in EITHER or after.right[0] >= before.right[0] - 1e-4


@pytest.mark.parametrize(
    ("relation", "pairs"),
    [
        ("one meaning", "sofas couch"),
        ("one is broader", "poodle dog; dog poodle"),
        ("other kinds of one thing", "alligator crocodile; kenyan tanzanian"),
        ("no meaning in common", "apple engine"),
        ("", "apple frobnicate; almost nearly"),
    ],
)
def test_meanings_are_related(relation: str, pairs: str) -> None:
    of_each = [[look_up(word).meanings for word in pair.split()] for pair in pairs.split("; ")]
    found = relations_of(*np.array(of_each, np.int32).T.swapaxes(0, 1))
    one, broader, kindred, none = PAIR[ONE_MEANING : UNRELATED + 1]
    assert {("", none, kindred, broader, "", one)[number] for number in found} == {relation}


@pytest.mark.parametrize(
    "text", ["steering *wheel", "a large *box of eggs", "HDMI *cable 2 m", "*created_by", "*12"]
)
def test_the_head_names_what_a_text_is(text: str) -> None:
    before, _, head = text.partition("*")
    keys = Keys.of(WordTable(None), [before + head], np.zeros((1, 0), np.float32))
    (place,) = head_of(keys.facts, keys.columns)
    assert keys.strings[keys.columns[0, place]] == look_up(plain(head).split()[0]).form


def by_loop(vectors: Any) -> tuple[float, float]:
    """Return mean and spread of the cosines of all pairs, beside two pairs of 0.2 +- 0.1."""
    cosines = [
        float(a @ b) / math.sqrt(max((a @ a) * (b @ b), 1e-30))
        for a, b in itertools.combinations(vectors, 2)
    ]
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
