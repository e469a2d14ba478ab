"""Examples as they are given, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.learning.examples import KeyExamples, ValueExamples, checked_examples, merged

KEYS = ["brand", "color", "top speed"]
PLACES = {key: place for place, key in enumerate(KEYS)}


def key_examples(queries: list[str], targets: list[Any]) -> KeyExamples:
    found = checked_examples(queries, targets, PLACES, KEYS)
    assert isinstance(found, list)
    return merged(found)


@pytest.mark.parametrize("several", [list, tuple, set, frozenset])
def test_several_keys_may_be_right(several: type) -> None:
    found = key_examples(["hue"], [several(["top speed", "color"])])
    assert found.right[0].tolist() == [1, 2]


def test_a_query_asked_twice_has_the_keys_of_both() -> None:
    found = key_examples(["hue", "x", "hue"], ["color", None, "brand"])
    assert (found.queries, [keys.tolist() for keys in found.right]) == (["hue", "x"], [[0, 1], []])
    assert found.pairs.tolist() == [[0, 0], [0, 1]]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1))
def test_pairs_are_those_that_were_given(examples: list[tuple[int, int]]) -> None:
    queries = [f"query {query}" for query, _ in examples]
    found = key_examples(queries, [KEYS[key] for _, key in examples])
    pairs = {(found.queries[row], KEYS[place]) for row, place in found.pairs.tolist()}
    assert pairs == {(f"query {query}", KEYS[key]) for query, key in examples}


@pytest.mark.parametrize(
    ("targets", "shape"),
    [
        ([1, 2.5], (2,)),
        (np.array([1.0, 2.0]), (2,)),
        ([[1, 2], (3, 4)], (2, 2)),
        (np.zeros((2, 3, 4)), (2, 3, 4)),
        ([True, False], (2,)),
    ],
)
def test_numbers_and_arrays_are_values(targets: list[object], shape: tuple[int, ...]) -> None:
    found = checked_examples(["a", "b"], targets, PLACES, KEYS)
    assert isinstance(found, ValueExamples)
    assert found.values.shape == shape
