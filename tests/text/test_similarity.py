"""How alike strings look: bounds and order, and the index against a loop over sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict.text.ngrams import NgramIndex, ngram_buckets
from fuzzydict.text.similarity import likeness, likenesses, sound
from tests.support.reference import likeness_of, of_numbers

LETTERS = st.text("abcdeo ", max_size=12)
ANY = st.text(st.characters(exclude_categories=()), max_size=12)
NUMBERED = st.text("ab12 ", max_size=8)
STRINGS = st.lists(LETTERS | ANY, max_size=12)


@given(LETTERS | ANY, LETTERS | ANY)
def test_likeness_is_a_share_the_same_both_ways(a: str, b: str) -> None:
    assert 0 <= likeness(a, b) <= 1
    assert likeness(a, b) == likeness(b, a)


@given(LETTERS | ANY, LETTERS | ANY)
@example("", "")
@example("aabb", "abab")
@example("java script", "javascript")
@example("1 2", "12")  # other numbers
@example("555 1234", "5551234")  # a long one
def test_only_strings_of_equal_letters_are_wholly_alike(a: str, b: str) -> None:
    same = a.replace(" ", "") == b.replace(" ", "")
    assert (likeness(a, b) == 1) == (same and of_numbers(a, b) == 1)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("colour", "color", "collar"),
        ("recieve", "receive", "relieve"),  # two neighbours swapped are one edit
        ("brnad", "brand", "bread"),
        ("modle", "model", "mole"),
        ("fotograph", "photograph", "holograph"),  # how it sounds
        ("organise", "organize", "organist"),
        ("prize", "prizes", "rize"),  # beginnings count more than ends
    ],
)
def test_the_likelier_word_looks_more_alike(query: str, better: str, worse: str) -> None:
    assert likeness(query, better) > likeness(query, worse)


def test_likeness_is_half_edits_a_quarter_beginnings_a_quarter_sound() -> None:
    edits = 1 - 1 / 6
    jaro = (5 / 6 + 5 / 5 + 1) / 3
    beginnings = jaro + 4 * 0.1 * (1 - jaro)
    assert likeness("colour", "color") == pytest.approx(edits / 2 + beginnings / 4 + 1 / 4)


@given(
    st.lists(LETTERS | ANY | NUMBERED, min_size=1, max_size=4),
    st.lists(LETTERS | ANY | NUMBERED, min_size=1, max_size=4),
)
def test_likenesses_are_those_of_each_pair(queries: list[str], strings: list[str]) -> None:
    found = likenesses(queries, strings)
    expected = [[likeness_of(query, string) for string in strings] for query in queries]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("query", "same", "other"),
    [
        ("1961", "1961", "1962"),
        ("mp3 player", "mp3 plyer", "mp4 player"),
        ("route 66", "rout 66", "route 67"),
        ("v2", "v", "v3"),  # where one has no number, there is nothing to differ
        ("1 of 2", "1 off 2", "2 of 1"),
    ],
)
def test_another_number_is_no_slip(query: str, same: str, other: str) -> None:
    assert likeness(query, other) <= 0.5
    assert likeness(query, same) > 0.5


def test_strings_with_nothing_in_common_are_not_alike() -> None:
    assert likeness("abc", "xyz") == 0
    assert likeness("", "red") == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [("emphasise", "emphasize"), ("storeys", "stories"), ("graphic", "grafic"), ("tuck", "tuk")],
)
def test_what_sounds_alike_has_one_sound(a: str, b: str) -> None:
    assert sound(a) == sound(b)


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=12))
def test_a_sound_repeats_no_letter_and_is_no_longer_than_the_word(word: str) -> None:
    heard = sound(word)
    assert len(heard) <= len(word)
    assert all(one != other for one, other in pairwise(heard))


def test_sounds_tell_other_consonants_apart() -> None:
    assert len({sound(word) for word in ("bat", "cat", "fat", "mat", "rat")}) == 5


def bucket(ngram: str) -> int:
    """Return the bucket of one n-gram, in whole numbers without bound."""
    multipliers = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
    mixed = sum(ord(c) * m for c, m in zip(ngram, multipliers, strict=False))
    return mixed % 2**32 >> 16


def buckets(string: str) -> set[int]:
    padded = f" {string} "
    return {bucket(padded[i : i + n]) for n in (2, 3) for i in range(len(padded) - n + 1)}


@given(LETTERS | ANY)
def test_buckets_are_those_of_a_loop(string: str) -> None:
    assert ngram_buckets(string).tolist() == sorted(buckets(string))


@given(STRINGS, LETTERS | ANY)
def test_similarities_are_cosines_of_sets(strings: list[str], query: str) -> None:
    asked = buckets(query)
    expected = [
        len(asked & found) / (len(asked) * len(found)) ** 0.5 for found in map(buckets, strings)
    ]
    similarities = NgramIndex(strings).similarities(query)
    assert similarities.dtype == np.float32
    assert similarities.shape == (len(strings),)
    np.testing.assert_allclose(similarities, expected, rtol=1e-6)


@given(st.lists(STRINGS, max_size=6), LETTERS)
def test_an_index_grown_in_steps_is_the_index_built_at_once(
    steps: list[list[str]], query: str
) -> None:
    grown = NgramIndex()
    for step in steps:
        grown.extend(step)
    at_once = NgramIndex([string for step in steps for string in step])
    assert grown.strings == at_once.strings
    assert len(grown) == len(at_once)
    np.testing.assert_array_equal(grown.similarities(query), at_once.similarities(query))


def test_an_index_grown_string_by_string_has_few_parts() -> None:
    index = NgramIndex()
    for number in range(300):
        index.extend([f"key {number}"])
    assert len(index._parts) <= np.log2(300) + 1
    assert index.similarities("key 217").argmax() == 217


def test_the_list_that_an_index_was_made_of_may_change() -> None:
    strings = ["red", "blue"]
    index = NgramIndex(strings)
    strings[0] = "green"
    assert index.similarities("red")[0] == pytest.approx(1)
