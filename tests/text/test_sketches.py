"""Sketches find every string that a rule may apply to, and make what they need when it is asked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.sketches import Sketches, bits_of

BITS = st.integers(0, 2**63 - 1) | st.integers(0, 15)


@given(st.lists(BITS, max_size=6), BITS, st.data())
def test_those_that_share_a_bit_or_are_nested_are_found(
    sketches: list[int], asked: int, data: st.DataObject
) -> None:
    strings = list(map(str, sketches))
    kept, count = Sketches(strings, int), len(strings)
    places = data.draw(
        st.lists(st.sampled_from(range(count)), max_size=6) if count else st.just([])
    )
    for _ in range(2):  # when they are made, and when they are known
        theirs = [sketches[place] for place in places]
        found = kept.sharing(asked, np.array(places, np.intp))
        assert found == [i for i, bits in enumerate(theirs) if bits & asked]
        found = kept.nested(asked, np.array(places, np.intp))
        assert found == [i for i, bits in enumerate(theirs) if bits & asked in (bits, asked)]


def test_a_sketch_is_made_once_and_only_when_its_string_is_asked_for() -> None:
    made: list[str] = []

    def sketch(string: str) -> int:
        made.append(string)
        return len(string)

    sketches = Sketches(["a", "bb", "ccc"], sketch)
    assert made == []
    for _ in range(2):
        sketches.sharing(1, np.array([0, 2]))
    assert made == ["a", "ccc"]


def test_strings_may_be_appended() -> None:
    strings = ["a"]
    sketches = Sketches(strings, len)
    assert sketches.sharing(3, np.array([0])) == [0]
    strings += ["bb", "cccc"]
    assert sketches.sharing(3, np.array([2, 1, 0])) == [1, 2]


def test_sets_with_a_string_in_common_have_a_bit_in_common() -> None:
    assert bits_of(["red", "blue"]) & bits_of(["green", "blue"])
    assert bits_of([]) == 0
    assert 0 < bits_of("abcdefgh", 2) <= 3
