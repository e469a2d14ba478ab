"""N-grams against loops over sets, and each search of an index against a full count."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import Brown, WordVectors
from fuzzydict.text import ngrams
from fuzzydict.text.ngrams import (
    NgramIndex,
    NgramSearch,
    largest,
    most_alike,
    most_alike_of_each,
    ngram_buckets,
)

LETTERS = st.text("abcdeo ", max_size=12)
ANY = st.text(st.characters(exclude_categories=()), max_size=12)
STRINGS = st.lists(LETTERS | ANY, max_size=12)
SHORT = st.text("abc ", min_size=1, max_size=6)


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
        grown = grown.extended(step)
    at_once = NgramIndex([string for step in steps for string in step])
    assert grown.strings == at_once.strings
    assert len(grown) == len(at_once)
    np.testing.assert_array_equal(grown.similarities(query), at_once.similarities(query))


def test_an_index_grown_string_by_string_has_few_parts() -> None:
    index = NgramIndex()
    for number in range(300):
        index = index.extended([f"key {number}"])
        index.parts()
    assert len(index.parts()) <= np.log2(300) + 1
    assert index.similarities("key 217").argmax() == 217


def test_the_list_that_an_index_was_made_of_may_change() -> None:
    strings = ["red", "blue"]
    index = NgramIndex(strings)
    strings[0] = "green"
    assert index.similarities("red")[0] == pytest.approx(1)


# ---- one query, many strings --------------------------------------------------------------


def found(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    places, cosines = most_alike(index, query, count, alive)
    assert places.dtype == np.intp
    assert cosines.dtype == np.float32
    return list(zip(places.tolist(), cosines.tolist(), strict=True))


def expected(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    """Rank all living strings by their cosines, of equal ones the first."""
    cosines = index.similarities(query)
    best = sorted(np.flatnonzero(alive).tolist(), key=lambda place: (-cosines[place], place))
    return [(place, float(cosines[place])) for place in sorted(best[:count])]


@given(st.lists(SHORT, max_size=60), SHORT, st.integers(1, 8), st.data(), st.booleans())
def test_the_most_alike_are_the_first_of_a_ranking(
    strings: list[str], query: str, count: int, data: st.DataObject, few: bool
) -> None:
    index = NgramIndex(strings[: len(strings) // 2])
    index.parts()
    index = index.extended(strings[len(strings) // 2 :])
    alive = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings))), np.bool_
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_MANY", 0 if few else 10**9)
        patch.setattr(ngrams, "_RESOLVED", 1)
        assert found(index, query, count, alive) == expected(index, query, count, alive)


@pytest.mark.parametrize("share_alive", [1, 0.5])
def test_rare_ngrams_find_what_all_of_them_find(
    share_alive: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word for word in Brown().words if word.isalpha()][:8000]
    index, alive = NgramIndex(words), np.random.default_rng(0).random(len(words)) < share_alive
    monkeypatch.setattr(ngrams, "_MANY", 1)  # as if there were a hundred times as many
    chance, by_rare = random.Random(0), 0
    for _ in range(40):
        word = chance.choice(words)
        place = chance.randrange(len(word) + 1)
        query = word[:place] + chance.choice("etaoin") + word[place:]
        assert found(index, query, 8, alive) == expected(index, query, 8, alive)
        (part,) = index.parts()
        by_rare += ngrams._by_rare_ngrams(part, buckets(query), 8, alive) is not None
    assert by_rare > 20


def test_no_more_ngrams_are_remembered_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ngrams, "_REMEMBERED", 10)
    remembered = ngrams._Buckets()
    told = [remembered[chr(97 + i), "x"] for i in range(26)]
    assert len(remembered) <= 10
    assert told == [bucket(f"{chr(97 + i)}x") for i in range(26)]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75]), max_size=30), st.integers(1, 40))
def test_the_largest_are_the_first_of_a_ranking(values: list[float], count: int) -> None:
    ranked = sorted(range(len(values)), key=lambda place: (-values[place], place))[:count]
    array = np.array(values, np.float32)
    with pytest.MonkeyPatch.context() as patch:
        for limit in (0, 1000):
            patch.setattr(ngrams, "_SORTED", limit)
            assert largest(array, count).tolist() == sorted(ranked)


# ---- many queries --------------------------------------------------------------------------


@given(
    st.lists(st.lists(SHORT | ANY, max_size=60), max_size=3),
    st.lists(SHORT | ANY, min_size=1, max_size=12),
    st.integers(1, 8),
    st.data(),
    st.sampled_from([0, 10**9]),
)
@example([["ab", "cd"]], ["x" * 400 + "".join(map(chr, range(97, 600)))] * 9, 2, None, 10**9)
def test_the_most_alike_of_each_query_are_those_of_each_alone(
    steps: list[list[str]], queries: list[str], count: int, data: Any, most_dense: int
) -> None:
    index = NgramIndex()
    for step in steps:
        index = index.extended(step)
        index.parts()
    living = st.lists(st.booleans(), min_size=len(index), max_size=len(index))
    alive = np.array(data.draw(living) if data else [True] * len(index), np.bool_)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_FEW", 0), ("_DENSE", most_dense), ("_CELLS", 100), ("_QUERIES", 5)):
            patch.setattr(ngrams, name, value)
        places, cosines = most_alike_of_each(index, queries, count, alive)
    assert places.shape == cosines.shape == (len(queries), count)
    assert cosines.dtype == np.float32
    for query, found, alike in zip(queries, places, cosines, strict=True):
        alone, expected = most_alike(index, query, count, alive)
        assert found.tolist() == [*alone.tolist(), *[-1] * (count - len(alone))]
        np.testing.assert_array_equal(alike[: len(alone)], expected)
        assert not alike[len(alone) :].any()


# ---- strings that never change --------------------------------------------------------------


def assert_the_same(strings: list[str], queries: list[str], least: float, count: int) -> None:
    """Assert that a search finds what a count of all n-grams ranks first."""
    search, index = NgramSearch(strings, least), NgramIndex(strings)
    for query in [*queries, *queries]:
        cosines = index.similarities(query)
        near = [place for place in range(len(strings)) if cosines[place] >= np.float32(least)]
        best = sorted(near, key=lambda place: (-cosines[place], place))[:count]
        assert search.most_alike(query, count).tolist() == sorted(best)


@given(STRINGS, STRINGS, st.sampled_from([0.1, 0.2, 0.5, 1.0]), st.integers(1, 8))
@example(["ab", "cd"], ["x" * 400 + "".join(map(chr, range(97, 600)))], 0.01, 2)  # counts over 255
def test_a_search_finds_the_most_alike(
    strings: list[str], queries: list[str], least: float, count: int
) -> None:
    assert_the_same(strings, queries, least, count)


def test_strings_that_share_hundreds_of_ngrams_are_counted() -> None:
    long = "".join(chr(97 + i % 26) + chr(97 + i * i % 23) for i in range(500))
    assert_the_same([long, long[:300], "ab"], [long, long[100:]], 0.2, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("_FREQUENT", 1), ("_FREQUENT", 10**9), ("_ROOM", 5000)],
    ids=["none is frequent", "all are", "few have room"],
)
def test_it_makes_no_difference_which_ngrams_are_frequent(
    brown: WordVectors, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(ngrams, name, value)
    monkeypatch.setattr(ngrams, "_BLOCK", 2)
    assert_the_same(brown.words[:2000], ["colour", "xyzzy", "tions", "", "a"], 0.2, 64)
