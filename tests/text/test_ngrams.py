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
from fuzzydict.text.ngrams import NgramIndex, most_alike, ngram_buckets, shared_by_each

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
        grown.extend(step)
    at_once = NgramIndex([string for step in steps for string in step])
    assert grown.strings == at_once.strings
    assert len(grown) == len(at_once)
    np.testing.assert_array_equal(grown.similarities(query), at_once.similarities(query))


def test_an_index_grown_string_by_string_has_few_parts() -> None:
    index = NgramIndex()
    for number in range(300):
        index.extend([f"key {number}"])
        index.parts()
    assert len(index.parts()) <= np.log2(300) + 1
    assert index.similarities("key 217").argmax() == 217


def test_the_list_that_an_index_was_made_of_may_change() -> None:
    strings = ["red", "blue"]
    index = NgramIndex(strings)
    strings[0] = "green"
    assert index.similarities("red")[0] == pytest.approx(1)


# ---- one query, many strings --------------------------------------------------------------


def expected(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    cosines = index.similarities(query)
    places = [int(i) for i in np.flatnonzero(alive) if cosines[i] > 0]
    best = sorted(places, key=lambda place: (-cosines[place], place))[:count]
    return [(place, float(cosines[place])) for place in sorted(best)]


def found(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    places, cosines = most_alike(index, query, count, alive)
    return [(int(place), float(cosine)) for place, cosine in zip(places, cosines, strict=True)]


@given(st.lists(SHORT, max_size=60), SHORT, st.integers(1, 8), st.data())
def test_of_few_strings_they_are_the_most_alike(
    strings: list[str], query: str, count: int, data: st.DataObject
) -> None:
    index = NgramIndex(strings[: len(strings) // 2])
    index.similarities("a")
    index.extend(strings[len(strings) // 2 :])
    alive = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings)))
    )
    alive = alive.astype(np.bool_)
    assert found(index, query, count, alive) == expected(index, query, count, alive)


def test_of_many_strings_they_are_nearly_always_the_most_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = [word for word in Brown().words if word.isalpha()][:8000]
    index, alive = NgramIndex(words), np.ones(len(words), np.bool_)
    monkeypatch.setattr(ngrams, "_NAMED", 600)  # as if there were a hundred times as many
    monkeypatch.setattr(ngrams, "_KEPT", 300)
    chance, best, all_found = random.Random(0), 0, 0.0
    for _ in range(200):
        word = chance.choice(words)
        place = chance.randrange(len(word) + 1)
        query = word[:place] + chance.choice("etaoin") + word[place:]
        wanted = expected(index, query, 8, alive)
        told = found(index, query, 8, alive)
        exact = index.similarities(query)
        assert all(cosine == pytest.approx(exact[place], rel=1e-6) for place, cosine in told)
        best += max(told, key=lambda one: one[1])[1] == pytest.approx(max(c for _, c in wanted))
        all_found += len({p for p, _ in told} & {p for p, _ in wanted}) / len(wanted)
    assert best >= 198
    assert all_found > 0.8 * 200


# ---- many queries --------------------------------------------------------------------------


def assert_the_same(index: NgramIndex, queries: list[str], least: float) -> None:
    """Assert that many queries find, to the bit, what each of them finds."""
    found = list(shared_by_each(index, queries, least))
    assert len(found) == len(queries)
    for query, (places, cosines) in zip(queries, found, strict=True):
        expected = index.similarities(query)
        assert places.tolist() == np.flatnonzero(expected >= least).tolist()
        np.testing.assert_array_equal(cosines, expected[places], strict=True)


@given(st.lists(STRINGS, min_size=1, max_size=4), STRINGS, st.sampled_from([0.1, 0.2, 0.5, 1.0]))
@example([["ab", "cd"]], ["x" * 400 + "".join(map(chr, range(97, 600)))], 0.01)  # counts above 255
def test_many_queries_find_what_each_does(
    steps: list[list[str]], queries: list[str], least: float
) -> None:
    index = NgramIndex()
    for step in steps:
        index.extend(step)
        index.parts()
    assert_the_same(index, queries, least)


def test_strings_that_share_hundreds_of_ngrams_are_counted() -> None:
    long = "".join(chr(97 + i % 26) + chr(97 + i * i % 23) for i in range(500))
    assert_the_same(NgramIndex([long, long[:300], "ab"]), [long, long[100:]], 0.2)


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
    assert_the_same(NgramIndex(brown.words[:2000]), ["colour", "xyzzy", "tions", "", "a"], 0.2)
