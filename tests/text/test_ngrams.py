"""Which strings share n-grams with many queries, against one query after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.text import ngrams as ngram_counts
from fuzzydict.text.ngrams import NgramIndex, shared_by_each

LETTERS = st.text("abc ", max_size=8)
ANY = st.text(st.characters(exclude_categories=()), max_size=8)
STRINGS = st.lists(LETTERS | ANY, max_size=12)


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
    monkeypatch.setattr(ngram_counts, name, value)
    monkeypatch.setattr(ngram_counts, "_BLOCK", 2)
    assert_the_same(NgramIndex(brown.words[:2000]), ["colour", "xyzzy", "tions", "", "a"], 0.2)
