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
from fuzzydict.nn.softmax import NORMALIZERS, normalize, softmax, sparsemax
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
def test_weights_are_those_of_the_definition(scores: Array, temperature: float) -> None:
    soft, sparse = softmax(scores, temperature), sparsemax(scores)
    np.testing.assert_allclose(soft, [slow_softmax(r, temperature) for r in scores], atol=1e-12)
    np.testing.assert_allclose(sparse, [slow_sparsemax(row) for row in scores], atol=1e-9)


@BOTH
def test_an_empty_row_is_zero(name: str) -> None:
    scores = np.array([[1.0, -np.inf, 1.0], [-np.inf] * 3])
    with pytest.warns(EmptyRowWarning, match="1 of 2 queries have nothing to attend to"):
        weights, backward = normalize(scores, 2.0, name)
    np.testing.assert_allclose(weights, [[0.5, 0.0, 0.5], [0.0] * 3])
    d_scores, d_temperature = backward(np.arange(6.0).reshape(2, 3))
    assert np.isfinite(d_scores).all()
    assert math.isfinite(d_temperature)
    assert not d_scores[1].any()
    with pytest.warns(EmptyRowWarning):
        assert normalize(np.empty((2, 0)), 1.0, name)[0].shape == (2, 0)


@BOTH
def test_gradients_agree_with_differences(name: str) -> None:
    scores, direction = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    d_scores, d_temperature = normalize(scores, 0.7, name)[1](direction)
    check_gradients(
        lambda at: float((normalize(at["scores"], float(at["t"]), name)[0] * direction).sum()),
        {"scores": scores, "t": np.array(0.7)},
        {"scores": d_scores, "t": np.array(d_temperature)},
    )


@BOTH
@pytest.mark.parametrize(
    ("scores", "temperature", "kind", "message"),
    [
        *[([[0, 1], [x, 0]], 1.0, ShapeError, r"row \[1\] is not") for x in (np.nan, np.inf)],
        (3.0, 1.0, ShapeError, "single number"),
        *[([1.0], t, OptionError, "must be a finite number above 0") for t in (0, -1, np.inf)],
        ([1.0], "warm", ArgumentTypeError, "temperature must be a finite number.*'warm'"),
    ],
)
def test_what_cannot_be_weighed_is_refused(
    name: str, scores: Any, temperature: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        normalize(scores, temperature, name)
