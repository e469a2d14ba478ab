"""Nadaraya-Watson kernel regression: attention over examples, as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, positive, require_finite, slices
from fuzzydict.errors import NotFittedError, OptionError, ShapeError, quoted
from fuzzydict.nn.attention import attention, pool
from fuzzydict.nn.scorers import KERNELS, Kernel, squared_distances
from fuzzydict.nn.softmax import softmax


class KernelRegression:
    """Predict the mean of the examples' targets, weighted by a kernel of the distance.

    This is attention (Nadaraya 1964, Watson 1964): the examples are keys, and their targets are
    values. It is an estimator as scikit-learn has them, and computes in float64.

    Args:
        kernel: "gaussian", "boxcar", "triangular" or "epanechnikov".
        bandwidth: The width of the kernel, in the units of X; or "fit", to learn the width with
            the least leave-one-out error, in time quadratic in the number of examples.

    Attributes:
        bandwidth_: The width in use, after ``fit``.
        X_: The examples (N, E) of ``fit``.
        y_: Their targets (N,) or (N, Ev).
        n_features_in_: E.

    >>> x = np.linspace(0, 4, 9)[:, None]
    >>> model = KernelRegression(bandwidth="fit").fit(x, x[:, 0] ** 2)
    >>> model.predict([[2.0]]).round(1)
    array([4.])
    >>> model.attention([[2.0]]).shape
    (1, 9)
    """

    def __init__(self, kernel: str = "gaussian", bandwidth: float | Literal["fit"] = 1.0) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803 -- scikit-learn's names
        """Store the examples X (N, E) and their targets y (N,) or (N, Ev).

        It raises an OptionError if the kernel is unknown, or the bandwidth not above 0, and a
        ShapeError if X and y do not fit together, are not finite, or are too few.
        """
        if not isinstance(self.kernel, str) or self.kernel not in KERNELS:
            names = ", ".join(KERNELS)
            raise OptionError(f"kernel must be one of {names}, got {quoted(self.kernel)}")
        kernel, (examples, targets) = KERNELS[self.kernel], _examples(X, y)
        if not isinstance(self.bandwidth, str):
            self.bandwidth_ = positive("bandwidth", self.bandwidth)
        elif self.bandwidth != "fit":
            raise OptionError(f"bandwidth must be a number or 'fit', got {quoted(self.bandwidth)}")
        elif len(examples) < 2:
            raise ShapeError("X must have 2 rows or more to learn a bandwidth from, got 1")
        else:
            columns = targets.reshape(len(targets), -1) / _unit(targets)
            self.bandwidth_ = _learned_bandwidth(kernel, examples, columns)
        self.X_, self.y_, self.n_features_in_ = examples, targets, examples.shape[1]
        self._scorer = kernel(self.bandwidth_)
        return self

    def predict(self, X: ArrayLike) -> Array:  # noqa: N803
        """Return the predictions (M,) or (M, Ev) for X (M, E).

        A row without examples inside the kernel is predicted 0, with an EmptyRowWarning. Before
        ``fit`` it raises a NotFittedError, and a ShapeError if X does not fit the examples.
        """
        predicted: Array = attention(*self._asked(X), scorer=self._scorer)
        return predicted.reshape(len(predicted), *self.y_.shape[1:])

    def attention(self, X: ArrayLike) -> Array:  # noqa: N803
        """Return the weight (M, N) of each example in each prediction for X (M, E)."""
        weights: Array = attention(*self._asked(X), scorer=self._scorer, need_weights=True)[1]
        return weights

    def score(self, X: ArrayLike, y: ArrayLike) -> float:  # noqa: N803
        """Return the coefficient of determination of the predictions for X (M, E), at most 1.

        Several targets are averaged. A target that does not vary scores 1 if it is predicted
        exactly, and 0 otherwise.
        """
        _, targets = _examples(X, y)
        predicted = self.predict(X)
        if predicted.shape != targets.shape:
            raise ShapeError(f"y must have shape {predicted.shape}, got {targets.shape}")
        unit = _unit(targets, predicted)
        targets, predicted = targets / unit, predicted / unit
        missed = ((targets - predicted) ** 2).sum(0)
        spread = ((targets - targets.mean(0)) ** 2).sum(0)
        shares = 1 - missed / np.where(spread == 0, 1, spread)
        return float(np.where(spread == 0, missed == 0, shares).mean())

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 -- nothing is nested
        """Return the constructor's arguments by name."""
        return {"kernel": self.kernel, "bandwidth": self.bandwidth}

    def set_params(self, **params: Any) -> Self:
        """Change some of the constructor's arguments, with effect from the next ``fit``."""
        for name, value in params.items():
            if name not in self.get_params():
                raise OptionError(f"no parameter {quoted(name)}; there are kernel and bandwidth")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"KernelRegression(kernel={self.kernel!r}, bandwidth={self.bandwidth!r})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags  # which calls this

        targets = TargetTags(required=True, multi_output=True)
        return Tags("regressor", target_tags=targets, regressor_tags=RegressorTags())

    def _asked(self, X: ArrayLike) -> tuple[Array, Array, Array]:  # noqa: N803
        """Return query, key and value."""
        if not hasattr(self, "X_"):
            raise NotFittedError(f"{self!r} has seen no examples yet; call fit(X, y) first")
        query, size = _matrix(X), self.n_features_in_
        if query.shape[1] != size:
            raise ShapeError(f"X must have {size} columns, as in fit, got shape {query.shape}")
        return query, self.X_, self.y_.reshape(len(self.y_), -1)


def _matrix(X: ArrayLike) -> Array:  # noqa: N803
    """Return X as a finite matrix (N, E) in float64."""
    (matrix,) = as_floats(X=X)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        advice = "; for one feature pass X[:, None]" if matrix.ndim == 1 else ""
        raise ShapeError(f"X must have shape (N, E), with E > 0, got {matrix.shape}{advice}")
    require_finite(matrix, X=matrix)
    return matrix.astype(np.float64)


def _examples(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:  # noqa: N803
    """Return X (N, E) and y (N,) or (N, Ev), finite, in float64."""
    matrix = _matrix(X)
    (targets,) = as_floats(y=y)
    if targets.ndim not in (1, 2) or len(targets) != len(matrix) or not targets.size:
        shape = "(N,) or (N, Ev) with a row for each of X, N > 0 and Ev > 0"
        raise ShapeError(f"y must have shape {shape}; got X {matrix.shape} and y {targets.shape}")
    require_finite(targets, y=targets)
    return matrix, targets.astype(np.float64)


def _unit(*arrays: Array) -> float:
    """Return the power of 2 next to the largest number; divided by it, squares do not overflow."""
    largest = max(float(np.abs(array).max(initial=0)) for array in arrays)
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0


_ROWS = 512  # examples held out at a time, each compared with all N
_WIDTHS = 24  # of the first search
_FINER, _ROUNDS = 8, 3  # widths between the neighbours of the best one, and how often


def _learned_bandwidth(kernel: type[Kernel], x: Array, y: Array) -> float:
    """Return the width with the least leave-one-out error, for x (N, E) and y (N, Ev), N > 1."""
    gaps, extent = [], 0.0
    for rows in slices(len(x), _ROWS):
        with np.errstate(over="ignore", invalid="ignore"):  # which is told of as an error
            squared = squared_distances(x[rows], x)  # (rows, N)
        extent = max(extent, float(squared.max()))
        gaps.append(np.where(squared > 0, squared, np.inf).min(-1))
    nearest = np.concatenate(gaps)  # (N,)
    nearest = nearest[np.isfinite(nearest)]
    if not nearest.size:  # all are equal
        return 1.0
    # The error has several minima and jumps: a search from a quarter of the usual gap between
    # examples to twice their extent comes first, then finer ones between the best one's neighbours.
    widths = np.geomspace(np.median(nearest) ** 0.5 / 4, 2 * extent**0.5, _WIDTHS)
    errors: dict[float, float] = {}
    for _ in range(1 + _ROUNDS):
        errors |= {width: leave_one_out(kernel(width), x, y) for width in widths.tolist()}
        tried = sorted(errors)
        best = tried.index(min(tried, key=errors.__getitem__))
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        widths = np.geomspace(low, high, _FINER + 2)[1:-1]
    return tried[best]


def leave_one_out(kernel: Kernel, x: Array, y: Array) -> float:
    """Return the mean squared error of predicting each y (N, Ev) of x (N, E) from all others."""
    error = 0.0
    for rows in slices(len(x), _ROWS):
        self_pairs = (np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop))
        others = kernel(x[rows], x)  # (rows, N)
        others[self_pairs] = -np.inf
        # Where none is inside the kernel, all others count, so that a narrow one gains nothing.
        others[np.isneginf(others).all(-1)] = 0
        others[self_pairs] = -np.inf
        error += float(((pool(softmax(others), y) - y[rows]) ** 2).sum())
    return error / y.size
