"""Systems that rank keys: `FuzzyDict` and plain cosine, with and without some of the keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.evaluation.systems import CosineRanker, Remembering, by_cosine, fuzzy_dict

WORDS = ["color", "colour", "collar", "top speed", "topSpeed", "boat", "ship", "?!", "C#", "C++"]
KEYS = st.lists(st.sampled_from(WORDS) | st.text("abc", max_size=4), unique=True, min_size=1)


class Counted:
    """An encoder that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Any) -> Any:
        self.asked.append(list(texts))
        return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)


@settings(max_examples=60)
@given(KEYS, st.sampled_from(WORDS), st.data())
def test_keys_taken_out_are_as_if_they_had_never_been(
    keys: list[str], query: str, data: st.DataObject
) -> None:
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)))
    left = [key for key in keys if key not in without]
    ranker = fuzzy_dict().over(keys)
    every = len(keys)
    before = ranker.ranked(query, every)
    found = ranker.ranked(query, every, without=without)
    expected = fuzzy_dict().over(left).ranked(query, every) if left else []
    # Keys that hardly differ may change places: the last bits depend on how many there are.
    assert dict(found) == pytest.approx(dict(expected), rel=1e-3, abs=1e-9)
    assert ranker.ranked(query, every) == before


def test_a_fuzzy_dict_is_asked_as_its_users_would() -> None:
    keys = ["brand", "color", "top speed"]
    d = FuzzyDict(dict.fromkeys(keys))
    ranker = fuzzy_dict().over(keys)
    for query in ("colour", "topSpeed", "color"):
        match = d.nearest(query)
        assert ranker.best(query) == match.key
        assert ranker.ranked(query, 1) == [tuple(d.most_similar(query)[0])[::2]]
    assert ranker.best("qwzzt") in keys  # no cutoff
    assert ranker.best("?!") is None
    assert ranker.ranked("?!", 3) == []


def test_a_fuzzy_dict_takes_any_embedding_and_says_which_words_it_has_not_seen() -> None:
    mine = fuzzy_dict("mine", {"red": [1.0, 0.0], "scarlet": [1.0, 0.1], "blue": [0.0, 1.0]})
    assert (mine.name, mine.over(["red", "blue"]).best("scarlet")) == ("mine", "red")
    assert mine.never_seen is not None
    assert (mine.never_seen("Red blue"), mine.never_seen("red green")) == (False, True)
    assert fuzzy_dict().encoder.embedding is Brown()  # seen through what was learned for it
    assert fuzzy_dict("counted", Counted()).never_seen is None
    assert all(system.is_probability for system in (mine, fuzzy_dict()))


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=9),
    st.integers(1, 9),
    st.data(),
)
def test_cosines_are_ranked_as_by_a_loop(
    rows: list[list[int]], topn: int, data: st.DataObject
) -> None:
    vectors = {f"key {i}": np.array(row, np.float32) for i, row in enumerate(rows)}
    keys = list(vectors)
    query = vectors["query"] = np.array(
        data.draw(st.lists(st.integers(-3, 3), min_size=3, max_size=3)), np.float32
    )
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)))

    class Given:
        def encode(self, texts: Any) -> Any:
            return np.array([vectors[text] for text in texts])

    ranker = CosineRanker(keys, Given())
    expected = sorted(
        -float(query @ vectors[k]) / math.sqrt(query @ query * (vectors[k] @ vectors[k]))
        for k in keys
        if k not in without and query.any() and vectors[k].any()
    )
    found = ranker.ranked("query", topn, without=without)
    assert [-score for _, score in found] == pytest.approx(expected[:topn], abs=1e-6)
    assert without.isdisjoint(key for key, _ in found)
    ranked = ranker.ranked("query", 1)
    assert ranker.best("query") == (ranked[0].key if ranked else None)


def test_plain_cosine_makes_no_claim_and_asks_its_encoder_once_for_the_keys() -> None:
    encoder = Counted()
    system = by_cosine("counted", encoder)
    assert not system.is_probability
    ranker = system.over(["boat", "ship"])
    assert ranker.best("boats") == "boat"
    assert encoder.asked == [["boat", "ship"], ["boats"]]


def test_what_is_remembered_is_not_encoded_again_until_it_is_forgotten() -> None:
    counted = Counted()
    encoder = Remembering(counted)
    encoder.remember(["boat", "ship", "boat"])
    encoder.remember(["ship", "lake"])
    assert counted.asked == [["boat", "ship"], ["lake"]]
    texts = ["ship", "shore", "boat", "shore"]
    np.testing.assert_array_equal(encoder.encode(texts), Counted().encode(texts))
    assert counted.asked[2:] == [["shore", "shore"]]
    encoder.forget(["ship", "never told"])
    encoder.encode(["ship", "boat"])
    assert counted.asked[3:] == [["ship"]]
