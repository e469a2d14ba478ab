"""Texts as lists of words, many at once, against loops over each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.embedding import vocabulary as phrases
from fuzzydict.embedding.vocabulary import Phrases, phrases_of, sums

SPLIT = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=30)
NUMBERS = np.random.default_rng(3).standard_normal((8, 5)).astype(np.float32)
WEIGHTS = np.random.default_rng(4).uniform(0.1, 1, 8).astype(np.float32)


@pytest.fixture(autouse=True)
def _few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "_BLOCK", 4)
    monkeypatch.setattr(phrases, "_DIFFERENT", 5)


def rows_of(words: list[str]) -> list[int]:
    return ["abcdefgh".index(word) for word in words]


@given(SPLIT)
def test_means_are_those_of_a_loop(split: list[list[str]]) -> None:
    them = Phrases(split)
    rows = rows_of(them.words)
    found = them.means(NUMBERS[rows], WEIGHTS[rows])
    assert found.shape == (len(split), 5)
    assert found.dtype == np.float32
    for mean, words in zip(found, split, strict=True):
        expected: Any = np.zeros(5)
        if words:
            expected = np.average(NUMBERS[rows_of(words)], axis=0, weights=WEIGHTS[rows_of(words)])
        np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-6)


@given(SPLIT)
def test_a_mean_is_the_same_to_the_bit_whatever_stands_beside_it(split: list[list[str]]) -> None:
    them = Phrases(split)
    rows = rows_of(them.words)
    together = them.means(NUMBERS[rows], WEIGHTS[rows])
    for mean, words in zip(together, split, strict=True):
        alone, other = Phrases([words]), Phrases([words, ["a"]])
        own, others = rows_of(alone.words), rows_of(other.words)
        assert mean.tolist() == alone.means(NUMBERS[own], WEIGHTS[own])[0].tolist()
        assert mean.tolist() == other.means(NUMBERS[others], WEIGHTS[others])[0].tolist()


@given(SPLIT)
def test_all_texts_are_yielded_once_and_few_words_at_a_time(split: list[list[str]]) -> None:
    found = list(phrases_of(split))
    assert [text for where, _ in found for text in split[where]] == split
    for where, them in found:
        words = [word for text in split[where] for word in text]
        assert them.words == list(dict.fromkeys(words))
        before_the_last = {word for text in split[where][:-1] for word in text}
        assert len(before_the_last) <= 5


@given(st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=20))
def test_sums_are_those_of_a_loop(lists: list[list[int]]) -> None:
    places = np.array([place for some in lists for place in some], np.intp)
    found = sums(NUMBERS, places, np.array([len(some) for some in lists], np.intp))
    for total, some in zip(found, lists, strict=True):
        expected = np.zeros(5, np.float32)
        for place in some:
            expected += NUMBERS[place]
        np.testing.assert_array_equal(total, expected)
