"""N-grams against loops over sets."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.ngrams import Postings, ngrams, ngrams_of_each

LETTERS = st.text("abcdeo ", max_size=12)
ANY = st.text(st.characters(exclude_categories=()), max_size=12)
TEXTS = st.lists(LETTERS | ANY, max_size=12)


def number(ngram: str) -> int:
    """Return the number of one n-gram, in whole numbers without bound."""
    multipliers = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
    mixed = sum(ord(c) * m for c, m in zip(ngram, multipliers, strict=False))
    return mixed % 2**32 >> 16


def numbers(text: str) -> set[int]:
    padded = f" {text} "
    return {number(padded[i : i + n]) for n in (2, 3) for i in range(len(padded) - n + 1)}


@given(LETTERS | ANY)
def test_ngrams_are_those_of_a_loop(text: str) -> None:
    assert ngrams(text) == sorted(numbers(text))


@given(TEXTS)
def test_those_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    flat, counts = ngrams_of_each(texts)
    assert counts.tolist() == [len(numbers(text)) for text in texts]
    assert flat.tolist() == [one for text in texts for one in sorted(numbers(text))]


def likeness(texts: list[str], query: str, total: int | None = None, of_all: Any = None) -> Any:
    """Return the cosines of n-grams that weigh more the fewer texts have them."""
    sets = list(map(numbers, texts))
    counts = Counter(one for some in sets for one in some) if of_all is None else of_all
    count = len(texts) if total is None else total

    def squares(some: set[int]) -> float:
        return sum(math.log1p(count / max(counts[one], 1)) ** 2 for one in some)

    asked = numbers(query)
    lengths = [math.sqrt(squares(asked) * squares(some)) for some in sets]
    return [squares(asked & s) / length for s, length in zip(sets, lengths, strict=True)]


@given(TEXTS, LETTERS | ANY)
def test_likeness_is_a_cosine(texts: list[str], query: str) -> None:
    found = Postings(*ngrams_of_each(texts)).likeness(ngrams(query))
    np.testing.assert_allclose(found, likeness(texts, query), rtol=1e-6)


@given(st.lists(st.tuples(LETTERS, st.booleans()), min_size=1, max_size=12), LETTERS)
def test_dead_texts_do_not_count(texts: list[tuple[str, bool]], query: str) -> None:
    alive = np.array([is_alive for _, is_alive in texts])
    flat = ngrams_of_each([text for text, _ in texts])
    found = Postings(*flat, alive).likeness(ngrams(query))
    living = [text for text, is_alive in texts if is_alive]
    np.testing.assert_allclose(found[alive], likeness(living, query), rtol=1e-6)
    assert not found[~alive].any()


@given(st.lists(LETTERS, min_size=1, max_size=12), LETTERS, st.data())
def test_some_texts_count_as_all_do(texts: list[str], query: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.sampled_from(range(len(texts))), min_size=1)))
    every = Postings(*ngrams_of_each(texts))
    flat = ngrams_of_each([texts[place] for place in places])
    some = Postings(*flat, None, (every.frequency, len(texts)))
    expected = every.likeness(ngrams(query))[places]
    np.testing.assert_allclose(some.likeness(ngrams(query)), expected, rtol=1e-6)
