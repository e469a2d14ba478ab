"""The default score over all keys of a dict: as a slow loop has it, however they came to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.search.score import DefaultScore
from tests.support.reference import Reference, assert_probabilities

WORDS = ["color", "colour", "the", "engine", "motor", "1961", "Porsche", "of", "speed", "xyzzy"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KEYS = st.lists(TEXTS, min_size=1, max_size=6, unique=True)


def scores(d: FuzzyDict[Any], query: str) -> dict[str, float]:
    return {match.key: match.score for match in d.most_similar(query, None)}


@given(KEYS, TEXTS)
@settings(max_examples=40)
def test_the_score_is_that_of_the_slow_reference(keys: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    assert_probabilities(d, query)
    assert sum(scores(d, query).values()) < 1  # the rest is for none of them


@given(KEYS, KEYS, TEXTS)
@settings(max_examples=40)
def test_more_keys_never_make_a_key_likelier(keys: list[str], more: list[str], query: str) -> None:
    few = scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query)
    many = scores(FuzzyDict(dict.fromkeys([*keys, *more], 1.0)), query)
    assert all(many[key] <= few[key] * (1 + 1e-4) for key in keys)


@given(KEYS, KEYS, TEXTS)
@settings(max_examples=40)
def test_deleted_keys_do_not_count(keys: list[str], gone: list[str], query: str) -> None:
    d = FuzzyDict(dict.fromkeys([*gone, *keys], 1.0))
    d.get("warm up")  # so that they have a slot to leave
    for key in {*gone} - {*keys}:
        del d[key]
    assert scores(d, query) == pytest.approx(
        scores(FuzzyDict(dict.fromkeys(keys, 1.0)), query), rel=1e-4
    )


def test_deleted_keys_take_no_place_among_the_candidates() -> None:
    gone = [f"colour{letter}{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
    d = FuzzyDict(dict.fromkeys([*gone, "colouring", *(f"other{i}" for i in range(150))], 1))
    before = scores(d, "colour")
    for key in gone:
        del d[key]
    assert d.nearest("colour").key == "colouring"
    assert scores(d, "colour")["colouring"] > before["colouring"]


@given(KEYS, st.lists(TEXTS, max_size=4))
@settings(max_examples=40)
def test_a_batch_of_queries_is_answered_as_one_by_one(keys: list[str], queries: list[str]) -> None:
    d = FuzzyDict(dict.fromkeys(keys, 1.0))
    found = d.most_similar(queries, None)
    assert [[match.key for match in row] for row in found] == [
        [match.key for match in d.most_similar(query, None)] for query in queries
    ]
    for row, query in zip(found, queries, strict=True):
        assert {match.key: match.score for match in row} == pytest.approx(
            scores(d, query), rel=1e-4
        )


def test_of_many_keys_those_worth_a_comparison_are_found() -> None:
    words = [word for word in Brown().words[300:3000] if word.isalpha() and len(word) > 5]
    chance = np.random.default_rng(0)
    keys = [" ".join(pair) for pair in chance.choice(words, (100, 2)).tolist()]
    keys += chance.choice(words, 100, replace=False).tolist()
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=0)
    reference = Reference(d)
    for key in chance.choice(keys, 5).tolist():
        place = len(key) // 2
        for query in (key[:place] + key[place + 1 :], " ".join(reversed(key.split()))):
            expected = reference.probabilities(query)
            best = max(expected, key=expected.__getitem__)
            assert best == key
            assert d.nearest(query).key == key
            # What is not compared as a string competes by its meaning alone, surface and all.
            assert scores(d, query)[key] == pytest.approx(expected[key], rel=0.02)


def test_of_a_long_text_the_first_words_are_compared_one_by_one() -> None:
    long = " ".join(WORDS[:4] * 12)
    assert_probabilities(
        FuzzyDict(dict.fromkeys([long, "the color", "engine"], 1)), long + " speed"
    )


def test_an_embedding_whose_texts_lie_close_together_tells_them_apart_all_the_same() -> None:
    """Of some models all cosines are above 0.7: what counts is how far one stands out."""
    axes = np.eye(40) + 1.0
    names = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}" * 3 for i in range(40)]
    vectors = dict(zip(names, axes, strict=True))

    def encode(texts: list[str]) -> Any:
        return [vectors.get(text, axes[7]) for text in texts]  # any query means the eighth key

    d = FuzzyDict(dict.fromkeys(names, 1), embedding=encode, score_cutoff=0)
    assert d.nearest("ωψξ").key == names[7]


def test_a_key_that_is_all_a_dict_has_may_still_be_wrong() -> None:
    d = FuzzyDict({"color": 1})
    assert d.most_similar("qwzzt")[0].score < DefaultScore.score_cutoff
    assert d.nearest("colour").score > 0.5
