"""Kernel regression against a loop, its learned bandwidth, and its life in scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, NotFittedError, OptionError, ShapeError
from fuzzydict.nn.kernel_regression import KernelRegression
from fuzzydict.nn.scorers import KERNELS
from tests.support.refusals import Refused, refused

ALL = pytest.mark.parametrize("kernel", KERNELS)
NEEDS = "the comparison needs scikit-learn"
FORMULAS: dict[str, Callable[[float], float]] = {  # of the distance over the width
    "gaussian": lambda u: math.exp(-u * u / 2),
    "boxcar": lambda u: float(u <= 1),
    "triangular": lambda u: max(0.0, 1 - u),
    "epanechnikov": lambda u: max(0.0, 1 - u * u),
}


def noisy(count: int = 100, seed: int = 0) -> tuple[Array, Array]:
    """Draw examples (N, 1) on [0, 4], with noise of standard deviation 0.5."""
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 4, count))
    return x[:, None], 2 * np.sin(x) + x + random.normal(0, 0.5, count)


def fit(x: Any = ((1.0,), (2.0,)), y: Any = (1.0, 2.0), **options: Any) -> KernelRegression:
    return KernelRegression(**options).fit(x, y)


def slow_predict(kernel: str, width: float, x: Array, y: Array, query: Array) -> list[float]:
    """Predict each query by its weighted mean, example by example; 0 without examples."""
    predictions = []
    for q in query:
        weights = [FORMULAS[kernel](math.dist(q, k) / width) for k in x]
        total = sum(weights)
        pooled = sum(w * t for w, t in zip(weights, y, strict=True))
        predictions.append(pooled / total if total else 0.0)
    return predictions


@ALL
@pytest.mark.parametrize("width", [0.3, 1.0, 5.0])
@pytest.mark.filterwarnings("ignore::fuzzydict.EmptyRowWarning")
def test_predictions_are_those_of_a_loop(kernel: str, width: float) -> None:
    x, y = noisy()
    query = np.linspace(-9, 13, 50)[:, None]
    model = fit(x, y, kernel=kernel, bandwidth=width)
    expected = slow_predict(kernel, width, x, y, query)
    np.testing.assert_allclose(model.predict(query), expected, atol=1e-10)
    np.testing.assert_allclose(model.attention(query) @ y, expected, atol=1e-10)
    both = fit(x, np.stack([y, -y], axis=1), kernel=kernel, bandwidth=width).predict(query)
    np.testing.assert_allclose(both.T, np.outer([1, -1], expected), atol=1e-10)


def slow_leave_one_out(kernel: str, width: float, x: Array, y: Array) -> float:
    """Return the mean squared error of each example, predicted by the others or by their mean."""
    error = 0.0
    for i in range(len(x)):
        rest, targets = np.delete(x, i, axis=0), np.delete(y, i)
        (guess,) = slow_predict(kernel, width, rest, targets, x[i : i + 1])
        is_alone = not any(FORMULAS[kernel](math.dist(x[i], one) / width) for one in rest)
        error += float((targets.mean() if is_alone else guess) - y[i]) ** 2
    return error / len(x)


@ALL
@pytest.mark.parametrize("seed", range(3))
def test_no_width_has_a_smaller_leave_one_out_error(kernel: str, seed: int) -> None:
    x, y = noisy(30, seed)
    x[-1] += 2  # which a narrow kernel finds no other near
    learned = KernelRegression(kernel, "fit").fit(x, y).bandwidth_
    errors = [slow_leave_one_out(kernel, width, x, y) for width in np.geomspace(0.05, 10, 40)]
    assert slow_leave_one_out(kernel, learned, x, y) <= 1.05 * min(errors)


FITTED = KernelRegression().fit([[1.0, 2.0]], [1.0])


REFUSED: Refused = {
    NotFittedError: {r"call fit\(X, y\) first": lambda: KernelRegression().attention([[1.0]])},
    ShapeError: {
        r"2 columns, as in fit, got .*\(1, 3\)": lambda: FITTED.predict([[1.0] * 3]),
        r"\(1,\), got \(1, 1\)": lambda: FITTED.score([[1.0, 2.0]], [[1.0]]),
        r"X must have shape \(N, E\).*X\[:, None\]": lambda: fit([1.0, 2.0]),
        r"got X \(1, 1\) and y \(2,\)": lambda: fit([[1.0]]),
        "N > 0": lambda: fit(np.empty((0, 1)), []),
        r"^X of shape .*X\[1, 0\] is nan": lambda: fit([[1.0], [np.nan]]),
        "2 rows or more": lambda: fit([[1.0]], [1.0], bandwidth="fit"),
    },
    OptionError: {
        "one of gaussian, boxcar, triangular, epan": lambda: fit(kernel="parabola"),
        "bandwidth must be a finite number above 0": lambda: fit(bandwidth=0.0),
        "a number or 'fit', got 'best'": lambda: fit(bandwidth="best"),
        "no parameter 'width'": lambda: KernelRegression().set_params(width=1),
    },
    ArgumentTypeError: {"above 0, got array": lambda: fit(bandwidth=np.ones(2))},
}


test_what_does_not_fit_is_named = refused(REFUSED)


def test_it_is_scored_as_by_scikit_learn_and_chosen_by_a_search_in_a_pipeline() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason=NEEDS)
    selection = pytest.importorskip("sklearn.model_selection", reason=NEEDS)
    pipeline = pytest.importorskip("sklearn.pipeline", reason=NEEDS)
    x, y = noisy()
    for targets in (y, np.stack([y, y**2, np.ones(100)], axis=1)):
        model = fit(x, targets)
        assert model.score(x, targets) == pytest.approx(metrics.r2_score(targets, model.predict(x)))
    folds = selection.KFold(5, shuffle=True, random_state=0)
    grid = {"regression__bandwidth": [0.3, 100.0], "regression__kernel": ["gaussian", "boxcar"]}
    steps = pipeline.Pipeline([("regression", KernelRegression())])
    search = selection.GridSearchCV(steps, grid, cv=folds).fit(x, y)
    assert search.best_params_["regression__bandwidth"] == 0.3
    assert search.best_score_ > 0.7


@ALL
def test_learning_has_an_answer_where_the_examples_say_little(kernel: str) -> None:
    twins = np.repeat(noisy(10)[0], 2, axis=0)
    same: list[tuple[Any, Any, float]] = [(np.ones((5, 2)), np.arange(5.0), 2)]
    for x, y, mean in [*same, ([[0.0], [1.0]], [3.0, 3.0], 3), (twins, np.ones(20), 1)]:
        found = KernelRegression(kernel, "fit").fit(x, y).predict(x)
        np.testing.assert_allclose(found, mean)
