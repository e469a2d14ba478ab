"""How similar two strings are: spelling, numbers, and words one by one."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict.text.similarity import (
    Spellings,
    coverage,
    likeness,
    likeness_of_differences,
    likeness_of_pairs,
    likenesses,
    other_numbers,
    sounds,
)
from tests.support.reference import coverage_of, likeness_of, of_numbers
from tests.support.rules import as_pairs, of_two

LETTERS = st.text("abcdeo ", max_size=12)
ANY = st.text(st.characters(exclude_categories=()), max_size=12)
NUMBERED = st.text("ab12 ", max_size=8)


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


@given(st.lists(st.tuples(LETTERS | ANY | NUMBERED, LETTERS | ANY | NUMBERED), max_size=4))
@example([("a\nb", "a b"), ("ab", "ba"), ("a 1", "a2"), ("a b", "ab")])
def test_likeness_of_pairs_is_that_of_each(pairs: list[tuple[str, str]]) -> None:
    found = likeness_of_pairs([a for a, _ in pairs], [b for _, b in pairs])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [likeness_of(*pair) for pair in pairs], rtol=1e-5, atol=1e-7)


SOME = LETTERS | NUMBERED


@given(st.tuples(SOME, SOME), st.lists(SOME, min_size=1))
def test_spellings_are_compared_as_strings_are(
    queries: tuple[str, str], strings: list[str]
) -> None:
    spellings = Spellings(strings)
    for _ in range(2):
        places = of_two(len(strings))
        expected = [
            likenesses([query], [strings[place] for place in some])[0]
            for query, some in zip(queries, places, strict=True)
        ]
        found = spellings.likeness_of_each(queries, places)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        flat, owners = as_pairs(places)
        found = spellings.likeness_of_pairs(queries, owners, flat).reshape(places.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        found = spellings.likeness(queries[0], places[0])
        np.testing.assert_allclose(found, expected[0], rtol=1e-6)
        strings += ["colour", "abc"]  # may be appended
    everywhere = np.arange(len(strings))
    expected = list(likenesses(queries, strings))
    np.testing.assert_array_equal(spellings.likeness_of_each(queries, everywhere), expected)


def test_many_spellings_are_compared_in_a_table_as_one_by_one() -> None:
    strings = [f"{a}{b}" for a in ("colou", "top spe", "v 1", "a") for b in "rd2 "]
    places = np.array([np.roll(np.arange(len(strings)), i)[:9] for i in range(20)])
    queries = [strings[i % 7][1:] + "x" for i in range(20)]
    found = Spellings(strings).likeness_of_each(queries, places)
    expected = [
        likenesses([query], [strings[place] for place in some])[0]
        for query, some in zip(queries, places, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


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


@pytest.mark.parametrize(("a", "b"), [("usd", "aud"), ("de", "dk"), ("xl", "xxl"), ("b", "a")])
def test_a_slip_in_a_short_word_is_another_word(a: str, b: str) -> None:
    assert likeness(a, b) <= 0.5


def test_the_letters_of_a_short_word_may_be_swapped() -> None:
    assert likeness("teh", "the") > 0.5


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("3 13", "3 12"),
        ("2023 01 01", "2023 01 02"),
        ("2023 01 02", "2023 02 01"),  # the year is at the same end
        ("1 2 3", "3 2 1"),
        ("192 168 0 1", "192 168 0 2"),
        ("404", "403"),
        ("3", "3 12"),
    ],
)
def test_other_numbers_are_told_apart(a: str, b: str) -> None:
    assert other_numbers(a, b, in_part=False)
    assert other_numbers(b, a, in_part=False)


@pytest.mark.parametrize(
    ("a", "b", "in_part"),
    [
        ("2023 01 02", "2 1 2023", False),
        ("007", "7", False),
        ("555 1234", "5551234", False),
        ("python 3", "python 3 12", True),
        ("python", "python 3", False),  # where one has no number, there is nothing to differ
    ],
)
def test_numbers_may_be_written_otherwise(a: str, b: str, in_part: bool) -> None:
    assert not other_numbers(a, b, in_part=in_part)
    assert not other_numbers(b, a, in_part=in_part)


def test_words_in_common_say_nothing_of_the_others() -> None:
    strings = ["db host", "db prot", "db", "port db", "my port"]
    queries, everywhere = ["port", "db port"], np.arange(len(strings))
    each = likenesses(queries, strings)
    before = each.copy()
    likeness_of_differences(queries, strings, everywhere, each)
    assert each[0].tolist() == before[0].tolist()  # one word is compared as it is
    alike = each[1]
    assert alike[0] == likeness("port", "host") < before[1, 0]
    assert alike[1] == likeness("port", "prot")
    assert alike[2:4].tolist() == before[1, 2:4].tolist()
    places = np.array([everywhere, everywhere[::-1]])
    backwards = np.array([before[0], before[1, ::-1]])
    likeness_of_differences(queries, strings, places, backwards)
    assert backwards[1].tolist() == alike[::-1].tolist()


def test_strings_with_nothing_in_common_are_not_alike() -> None:
    assert likeness("abc", "xyz") == 0
    assert likeness("", "red") == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [("emphasise", "emphasize"), ("storeys", "stories"), ("graphic", "grafic"), ("tuck", "tuk")],
)
def test_what_sounds_alike_has_one_sound(a: str, b: str) -> None:
    assert sounds([a]) == sounds([b])


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=12))
def test_a_sound_repeats_no_letter_and_is_no_longer_than_the_word(word: str) -> None:
    (heard,) = sounds([word])
    assert len(heard) <= len(word)
    assert all(one != other for one, other in pairwise(heard))


def test_sounds_tell_other_consonants_apart() -> None:
    assert len(set(sounds(["bat", "cat", "fat", "mat", "rat"]))) == 5


# ---- words one by one ---------------------------------------------------------------------

SHARES = st.floats(0, 1, width=32)
WEIGHTS = st.floats(2.0**-10, 1, width=32)


@st.composite
def phrases(draw: Any) -> tuple[Any, Any, list[list[int]], Any]:
    """Draw how alike some words are, what each weighs, and the words of some keys."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    alike = [[draw(SHARES) for _ in range(columns)] for _ in range(rows)]
    key = st.lists(st.integers(0, columns - 1), min_size=1, max_size=4)
    return (
        np.array(alike, np.float32),
        np.array([draw(WEIGHTS) for _ in range(rows)], np.float32),
        draw(st.lists(key, min_size=1, max_size=4)),
        np.array([draw(WEIGHTS) for _ in range(columns)], np.float32),
    )


def covered_by(alike: Any, weights: Any, keys: list[list[int]], key_weights: Any) -> Any:
    """Return how well a query's words, the rows of ``alike``, and those of keys cover each other.

    The words of keys are columns of ``alike``.
    """
    longest = max(map(len, keys))
    columns = np.array([key + [-1] * (longest - len(key)) for key in keys])
    pairs = np.where(columns >= 0, alike[:, columns], 0).swapaxes(0, 1)
    of_keys = np.where(columns >= 0, key_weights[columns], 0).astype(np.float32)
    return coverage(pairs, np.tile(weights, (len(keys), 1)), of_keys)


@given(phrases())
def test_coverage_is_that_of_a_loop(drawn: tuple[Any, Any, list[list[int]], Any]) -> None:
    alike, weights, keys, key_weights = drawn
    found = covered_by(alike, weights, keys, key_weights)
    shares = np.array([coverage_of(alike, weights, key, key_weights) for key in keys])
    assert found.mean().dtype == np.float32
    np.testing.assert_allclose(found.mean(), shares @ [2 / 3, 1 / 3], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.found, shares[:, 0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.covered, shares[:, 1], rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(found.larger(), np.maximum(found.found, found.covered))
    best = [alike[:, key].max(axis=1) for key in keys], [alike[:, key].max(axis=0) for key in keys]
    np.testing.assert_array_equal(found.of_query, best[0])
    for row, of_key in zip(found.of_keys, best[1], strict=True):
        np.testing.assert_array_equal(row[: len(of_key)], of_key)


def test_a_word_that_weighs_little_is_hardly_missed() -> None:
    alike = np.array([[1, 0, 0]], np.float32)  # "speed" in "speed of" and in "speed limit"
    weights = np.array([1, 0.03, 1], np.float32)
    found = covered_by(alike, np.ones(1, np.float32), [[0, 1], [0, 2]], weights)
    assert found.mean().tolist() == pytest.approx([(2 + 1 / 1.03) / 3, 2.5 / 3])


def test_the_order_of_words_does_not_matter() -> None:
    alike, ones = np.eye(3, dtype=np.float32), np.ones(3, np.float32)
    found = covered_by(alike, ones, [[0, 1, 2], [2, 0, 1]], ones)
    assert found.mean().tolist() == [1, 1]


# ---- long strings -----------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 10, 100, 255, 300, 700, 999])
def test_long_strings_are_told_apart_wherever_they_differ(place: int) -> None:
    chance = random.Random(place)
    long = "".join(chance.choices("abcdefgh ", k=1000))
    other = f"{long[:place]}x{long[place + 1 :]}"
    assert likeness(long, long) == 1
    assert 0.9 < likeness(long, other) < 1
    assert 0.5 < likeness(long, f"{long[:place]}{'x' * 40}{long[place:]}") < likeness(long, other)
    assert likeness(long, "".join(chance.choices("stuvwxyz ", k=1000))) < 0.5
    assert likenesses([long], [other, long])[0].tolist() == [likeness(long, other), 1]
    pairs = likeness_of_pairs([long, long, "a"], [other, long, long])
    assert pairs.tolist() == [likeness(long, other), 1, likeness("a", long)]
