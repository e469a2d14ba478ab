"""What is known of all keys together: words, how rare they are, and the cosines to expect."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown
from fuzzydict.search.keys import (
    MOST_WORDS,
    USUAL,
    Keys,
    WordTable,
    background_of,
    compared_words,
)
from fuzzydict.text.lexicon import look_up
from fuzzydict.text.ngrams import ngrams
from tests.support.reference import cosine_of

WORDS = ["color", "colours", "the", "engine", "motors", "1961", "Porsche", "ltd", "speed", "xyzzy"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
NAMES = st.lists(TEXTS, min_size=1, max_size=12, unique=True)


def keys_of(names: Sequence[str], statistics: Any = None) -> Keys:
    return Keys.of(WordTable(Brown()), names, Brown().encode(names), statistics)


def assert_same_statistics(one: Keys, other: Keys) -> None:
    assert one.statistics[:2] == other.statistics[:2]
    np.testing.assert_array_equal(one.statistics.ngrams, other.statistics.ngrams)
    np.testing.assert_allclose(one.background, other.background, rtol=1e-4, atol=1e-6)


@given(NAMES, st.randoms())
def test_statistics_do_not_depend_on_the_order(names: list[str], chance: Any) -> None:
    shuffled = names.copy()
    chance.shuffle(shuffled)
    one, other = keys_of(names), keys_of(shuffled)
    assert_same_statistics(one, other)
    by_word = dict(zip(other.strings, other.weights.tolist(), strict=True))
    weights = zip(one.strings, one.weights.tolist(), strict=True)
    assert dict(weights) == pytest.approx(by_word, rel=1e-5)


def test_nor_do_those_of_thousands_of_which_some_are_looked_at() -> None:
    names = [f"{one} {other}" for one in Brown().words[200:230] for other in Brown().words[300:320]]
    one, other = keys_of(names), keys_of(names[::-1])
    assert len(one.sample(USUAL)) == USUAL < len(names)
    assert {one.names[i] for i in one.sample(USUAL)} == {
        other.names[i] for i in other.sample(USUAL)
    }
    assert_same_statistics(one, other)


@given(NAMES)
def test_statistics_are_counts(names: list[str]) -> None:
    keys = keys_of(names)
    split = [[look_up(word).stem for word in compared_words(name)] for name in names]
    assert keys.statistics.stems == dict(Counter(stem for stems in split for stem in stems))
    of_each = Counter(one for slot in range(len(keys)) for one in ngrams(keys.texts[slot]))
    assert keys.statistics.ngrams.tolist() == [of_each[i] for i in range(1 << 16)]
    for stem in {*keys.statistics.stems, "never"}:
        assert keys.frequency(stem) == keys.statistics.stems.get(stem, 0)


@given(NAMES)
def test_words_weigh_more_the_rarer_they_are_in_english_and_among_the_keys(
    names: list[str],
) -> None:
    keys = keys_of(names)
    for word, weight in list(zip(keys.strings, keys.weights.tolist(), strict=True))[1:]:
        count = keys.frequency(look_up(word).stem)
        rarity = math.log1p(len(names) / (count + 0.5)) / math.log1p(2 * len(names))
        assert weight == pytest.approx(Brown().word(word).weight * rarity, rel=1e-5)
    assert keys.weights[0] == 0


@given(NAMES, st.data())
def test_some_of_the_keys_know_what_all_know(names: list[str], data: st.DataObject) -> None:
    keys = keys_of(names)
    slots = sorted(data.draw(st.sets(st.sampled_from(range(len(names))), min_size=1)))
    chosen = [names[slot] for slot in slots]
    for some in (keys.some(np.array(slots)), keys_of(chosen, keys.statistics)):
        assert some.living() == chosen
        assert some.total == len(names)
        assert some.statistics is keys.statistics
        like = keys.postings.likeness(ngrams("colors"))
        np.testing.assert_allclose(some.postings.likeness(ngrams("colors")), like[slots], rtol=1e-6)
        for place, slot in enumerate(slots):
            np.testing.assert_allclose(
                some.weights[some.columns[place]], keys.weights[keys.columns[slot]], rtol=1e-5
            )


def test_words_are_compared_in_their_first_spelling() -> None:
    assert compared_words("The Colours_of 12kg") == ["the", "colors", "of", "12", "kilogram"]
    assert compared_words("?!") == []
    assert len(compared_words("many words " * 20)) == MOST_WORDS


def test_keys_with_other_vectors_keep_nothing_of_the_old_ones() -> None:
    names = ["color", "engine", "top speed"]
    keys = keys_of(names)
    scale, _ = keys.to_standard
    longer = keys.with_vectors(keys.vectors * np.float32(2))
    np.testing.assert_allclose(longer.to_standard[0], scale / 2, rtol=1e-4)
    np.testing.assert_allclose(longer.inverse_lengths, keys.inverse_lengths / 2, rtol=1e-4)


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
