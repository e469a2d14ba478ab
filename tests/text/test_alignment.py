"""Phrases word by word, against loops over their words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.similarity import coverage
from tests.support.reference import coverage_of

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


@given(phrases())
def test_coverage_is_that_of_a_loop(drawn: tuple[Any, Any, list[list[int]], Any]) -> None:
    alike, weights, keys, key_weights = drawn
    found = coverage(alike, weights, keys, key_weights)
    expected = [coverage_of(alike, weights, key, key_weights) for key in keys]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert ((found >= 0) & (found <= 1 + 1e-6)).all()


def test_a_word_that_weighs_little_is_hardly_missed() -> None:
    alike = np.array([[1, 0, 0]], np.float32)  # "speed" in "speed of" and in "speed limit"
    weights = np.array([1, 0.03, 1], np.float32)
    found = coverage(alike, np.ones(1, np.float32), [[0, 1], [0, 2]], weights)
    assert found.tolist() == pytest.approx([(1 + 1 / 1.03) / 2, 0.75])


def test_the_order_of_words_does_not_matter() -> None:
    alike, ones = np.eye(3, dtype=np.float32), np.ones(3, np.float32)
    assert coverage(alike, ones, [[0, 1, 2], [2, 0, 1]], ones).tolist() == [1, 1]
