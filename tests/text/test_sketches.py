"""Sketches find every string that a rule may apply to, and make what they need when it is asked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.sketches import Sketches, bits_of
from tests.support.rules import as_pairs

BITS = st.integers(0, 2**63 - 1) | st.integers(0, 15)


@given(st.lists(BITS, min_size=1, max_size=6), st.lists(BITS, max_size=3), st.data())
def test_those_that_share_a_bit_or_are_nested_are_found(
    known: list[int], asked: list[int], data: st.DataObject
) -> None:
    sketches, some = Sketches(list(map(str, known)), int), st.sampled_from(range(len(known)))
    width = data.draw(st.integers(0, 3))
    each = [data.draw(st.lists(some, min_size=width, max_size=width)) for _ in asked]
    pairs = [
        (i, j, place, known[place], bits)
        for i, (row, bits) in enumerate(zip(each, asked, strict=True))
        for j, place in enumerate(row)
    ]
    sharing = [tuple(at) for *at, theirs, bits in pairs if theirs & bits]
    nested = [tuple(at) for *at, theirs, bits in pairs if theirs & bits in (theirs, bits)]
    places = np.array(each, np.intp).reshape(len(asked), width)
    for _ in range(2):  # when they are made, and when they are known
        assert sketches.sharing(asked, places) == sharing
        assert sketches.nested(asked, places) == nested
    flat, owners = as_pairs(places)
    of_pairs = [(i, i * width + j, place) for i, j, place in sharing]
    assert sketches.sharing(asked, flat, owners) == of_pairs


def test_a_sketch_is_made_once_and_only_when_its_string_is_asked_for() -> None:
    made: list[str] = []

    def sketch(string: str) -> int:
        made.append(string)
        return len(string)

    sketches = Sketches(["a", "bb", "ccc"], sketch)
    assert made == []
    for _ in range(2):
        sketches.sharing([1], np.array([0, 2]))
    assert made == ["a", "ccc"]


def test_strings_may_be_appended() -> None:
    strings = ["a"]
    sketches = Sketches(strings, len)
    assert sketches.sharing([3], np.array([0])) == [(0, 0, 0)]
    strings += ["bb", "cccc"]
    assert sketches.sharing([3], np.array([2, 1, 0])) == [(0, 1, 1), (0, 2, 0)]


def test_sets_with_a_string_in_common_have_a_bit_in_common() -> None:
    assert bits_of(["red", "blue"]) & bits_of(["green", "blue"])
    assert bits_of([]) == 0
    assert 0 < bits_of("abcdefgh", 2) <= 3
