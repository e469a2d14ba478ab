"""Softmax and sparsemax: what they sum to, what they leave out, and their gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, EmptyRowWarning, OptionError, ShapeError
from fuzzydict.nn.softmax import NORMALIZERS, as_normalizer, softmax, sparsemax
from tests.support.gradients import check_gradients

BOTH = pytest.mark.parametrize("name", NORMALIZERS)
ROWS = hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 8)), elements=st.floats(-50, 50))


def slow_softmax(row: Array, temperature: float = 1.0) -> list[float]:
    """Return the weights of one row, by the definition."""
    powers = [math.exp((s - max(row)) / temperature) for s in row]
    return [p / sum(powers) for p in powers]


def slow_sparsemax(row: Array) -> Array:
    """Return the point of the simplex nearest to the row, by bisection on the threshold."""
    low, high = float(min(row)) - 1, float(max(row))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    weights: Array = np.maximum(row - low, 0)
    return weights


@given(ROWS, st.floats(0.1, 10))
def test_softmax_is_its_definition(scores: Array, temperature: float) -> None:
    expected = [slow_softmax(row, temperature) for row in scores]
    np.testing.assert_allclose(softmax(scores, temperature), expected, atol=1e-12)


@given(ROWS)
def test_sparsemax_is_the_nearest_point_of_the_simplex(scores: Array) -> None:
    expected = [slow_sparsemax(row) for row in scores]
    np.testing.assert_allclose(sparsemax(scores), expected, atol=1e-9)


@BOTH
@given(scores=ROWS, shift=st.floats(-1e3, 1e3))
def test_weights_are_a_distribution_that_a_shift_leaves_alone(
    name: str, scores: Array, shift: float
) -> None:
    weights, _ = NORMALIZERS[name](scores, 1.0)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1)
    np.testing.assert_allclose(NORMALIZERS[name](scores + shift, 1.0)[0], weights, atol=1e-9)


@BOTH
def test_huge_scores_do_not_overflow(name: str) -> None:
    weights, _ = NORMALIZERS[name](np.array([[1e30, 1e30, -1e30]], np.float32), 1.0)
    np.testing.assert_allclose(weights, [[0.5, 0.5, 0]])
    assert weights.dtype == np.float32


def test_sparsemax_leaves_out_what_softmax_keeps() -> None:
    scores = [0.0, 2.0, 2.5]
    assert sparsemax(scores)[0] == 0
    assert softmax(scores)[0] > 0


def test_a_low_temperature_is_the_maximum_and_a_high_one_the_mean() -> None:
    scores = [1.0, 2.0, 3.0]
    np.testing.assert_allclose(softmax(scores, 1e-3), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(softmax(scores, 1e9), [1 / 3] * 3)


@BOTH
def test_what_is_left_out_weighs_nothing_and_an_empty_row_is_zero(name: str) -> None:
    scores = np.array([[1.0, -np.inf, 1.0], [-np.inf] * 3])
    with pytest.warns(EmptyRowWarning, match="1 of 2 queries have nothing to attend to"):
        weights, backward = NORMALIZERS[name](scores, 2.0)
    np.testing.assert_allclose(weights, [[0.5, 0.0, 0.5], [0.0] * 3])
    d_scores, d_temperature = backward(np.arange(6.0).reshape(2, 3))
    assert np.isfinite(d_scores).all()
    assert math.isfinite(d_temperature)
    assert not d_scores[1].any()


@BOTH
def test_a_row_of_no_keys_is_empty(name: str) -> None:
    with pytest.warns(EmptyRowWarning):
        assert NORMALIZERS[name](np.empty((2, 0)), 1.0)[0].shape == (2, 0)


@BOTH
def test_gradients_agree_with_differences(name: str) -> None:
    random = np.random.default_rng(0)
    scores, direction = random.standard_normal((2, 3, 4, 5))
    normalize = NORMALIZERS[name]
    d_scores, d_temperature = normalize(scores, 0.7)[1](direction)
    check_gradients(
        lambda at: float((normalize(at["scores"], float(at["t"]))[0] * direction).sum()),
        {"scores": scores, "t": np.array(0.7)},
        {"scores": d_scores, "t": np.array(d_temperature)},
    )


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_cannot_be_weighed_are_refused(name: str, bad: float) -> None:
    with pytest.raises(ShapeError, match=r"row \[1\] is not"):
        NORMALIZERS[name](np.array([[0.0, 1.0], [bad, 0.0]]), 1.0)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf])
def test_a_temperature_must_be_above_zero(bad: float) -> None:
    with pytest.raises(OptionError, match="temperature must be a finite number above 0"):
        softmax([1.0], bad)


def test_a_temperature_must_be_a_number() -> None:
    warm: Any = "warm"
    with pytest.raises(ArgumentTypeError, match="temperature must be a finite number.*'warm'"):  # noqa: RUF043
        sparsemax([1.0], warm)


def test_a_single_number_is_no_row() -> None:
    with pytest.raises(ShapeError, match="single number"):
        softmax(3.0)


@pytest.mark.parametrize("name", ["softmin", None])
def test_an_unknown_normalizer_lists_the_known_ones(name: Any) -> None:
    with pytest.raises(OptionError, match="one of softmax, sparsemax"):
        as_normalizer(name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1e-30, 1e-39, 1e-320])
def test_a_very_low_temperature_leaves_the_best_alone(dtype: type, temperature: float) -> None:
    scores: Any = np.array([[-3.0, -1.0, -2.0], [-0.5, -np.inf, -0.5]], dtype)
    for normalize in (softmax, sparsemax):
        np.testing.assert_array_equal(normalize(scores, temperature), [[0, 1, 0], [0.5, 0, 0.5]])
