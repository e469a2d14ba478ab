"""An index of n-grams that was saved, against one that was not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError
from fuzzydict.text.ngrams import NgramIndex
from fuzzydict.text.saved_ngrams import ngram_array_names, packed_ngrams, unpacked_ngrams

STRINGS = st.lists(st.text("abcdeo ", min_size=1, max_size=12), max_size=12)


@given(st.lists(STRINGS, max_size=4), st.text("abcdeo ", max_size=12), st.data())
def test_a_saved_index_finds_what_an_index_of_the_living_strings_finds(
    steps: list[list[str]], query: str, data: st.DataObject
) -> None:
    index = NgramIndex()
    for step in steps:
        index = index.extended(step)
        index.parts()
    living = st.lists(st.booleans(), min_size=len(index), max_size=len(index))
    alive = np.array(data.draw(living), np.bool_)
    strings = [string for string, lives in zip(index.strings, alive, strict=True) if lives]
    arrays = packed_ngrams(index, alive)
    assert list(arrays) == ngram_array_names()
    back = unpacked_ngrams(arrays, strings.copy(), "a file")
    expected = NgramIndex(strings).similarities(query)
    np.testing.assert_array_equal(back.similarities(query), expected)
    back = back.extended(["abode"])
    assert len(back.similarities(query)) == len(strings) + 1
    again = packed_ngrams(
        unpacked_ngrams(arrays, strings, "a file"), np.ones(len(strings), np.bool_)
    )
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array, strict=True)


@pytest.mark.parametrize("places", [[0], [69_999], [3, 69_000], [300, 600, 67_000], range(70_000)])
def test_strings_far_apart_are_found(places: Any) -> None:
    strings = ["b"] * 70_000
    for place in places:
        strings[place] = "a"
    index = NgramIndex(strings)
    back = unpacked_ngrams(packed_ngrams(index, np.ones(len(index), np.bool_)), strings, "a file")
    assert np.flatnonzero(back.similarities("a")).tolist() == list(places)


def test_a_row_that_names_a_string_that_is_not_there_is_refused() -> None:
    strings = ["red", "blue", "green"]
    arrays = packed_ngrams(NgramIndex(strings), np.ones(3, np.bool_))
    arrays["ngrams 8 steps"] = arrays["ngrams 8 steps"] + np.uint8(3)
    with pytest.raises(FileFormatError, match="a file is damaged"):
        unpacked_ngrams(arrays, strings, "a file").similarities("red")
