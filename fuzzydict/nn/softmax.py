"""Normalizers, which turn scores into weights: softmax and sparsemax, each with its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_divisor, as_floats, positive
from fuzzydict.errors import EmptyRowWarning, OptionError, ShapeError, quoted, warn

NORMALIZERS = ("softmax", "sparsemax")
#: From the gradient for the weights to those for the scores and for the temperature.
NormalizerBackward: TypeAlias = Callable[[Array], tuple[Array, float]]
_HOT = 1e30  # a temperature over which scores are divided by it first


def softmax(scores: ArrayLike, temperature: float = 1.0) -> Array:
    """Turn scores (..., S) into weights (..., S) that sum to 1: ``exp(s / T)``, divided by its sum.

    A score of -inf gives the weight 0. A row of only -inf has weights 0, and raises an
    EmptyRowWarning. A low temperature favours the best score, a high one makes weights equal. It
    raises a ShapeError for NaN or +inf, and an OptionError for a temperature of 0 or below.

    >>> softmax([[2.0, 4.0, 4.0]]).round(3)
    array([[0.063, 0.468, 0.468]])
    """
    return normalize(scores, temperature, "softmax")[0]


def normalize(scores: ArrayLike, temperature: float, name: str) -> tuple[Array, NormalizerBackward]:
    """Return the weights (..., S) by the normalizer of this name, and the backward function."""
    if not isinstance(name, str) or name not in NORMALIZERS:
        raise OptionError(f"normalizer must be one of {', '.join(NORMALIZERS)}, got {quoted(name)}")
    (array,) = as_floats(scores=scores)
    if array.ndim == 0:
        raise ShapeError("scores must have shape (..., S), got a single number")
    divisor = as_divisor(positive("temperature", temperature), array.dtype)
    scaled = centred(array, finite_tops(array), divisor)
    if name == "softmax":
        weights = np.exp(scaled)
        total = weights.sum(-1, keepdims=True)
        weights /= np.where(total == 0, 1, total)
        support = shares = weights
    else:  # the nearest point of the simplex (Martins and Astudillo 2016, algorithm 1)
        best_first = -np.sort(-scaled, axis=-1)
        ranks = np.arange(1, scaled.shape[-1] + 1, dtype=scaled.dtype)
        with np.errstate(over="ignore"):
            sums = best_first.cumsum(-1)
            total = (1 + ranks * best_first > sums).sum(-1, keepdims=True)  # (..., 1), of keys
        top_sum = np.where(ranks <= total, best_first, 0).sum(-1, keepdims=True)
        threshold = ((top_sum - 1) / np.maximum(total, 1)).astype(scaled.dtype)
        weights = np.maximum(scaled - threshold, 0)
        support = (weights > 0).astype(weights.dtype)
        shares = support / np.maximum(support.sum(-1, keepdims=True), 1)
    warn_of_empty_rows(total)

    def backward(d_weights: Array) -> tuple[Array, float]:
        reached = np.where(np.isneginf(scaled), 0, scaled)  # 0 * -inf is NaN
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (d_weights * shares).sum(-1, keepdims=True)
            d_scores = support * (d_weights - mean) / divisor
            return d_scores, -float((d_scores * reached).sum())

    return weights, backward


def centred(scores: Array, tops: Array, temperature: float) -> Array:
    """Return ``(scores - tops) / temperature``, a divisor of their dtype; -inf if it overflows."""
    with np.errstate(over="ignore"):
        if temperature > _HOT:  # scores whose difference overflows may have a weight yet
            return scores / temperature - tops / temperature
        below: Array = scores - tops
        if temperature != 1:
            below /= temperature
    return below


def finite_tops(scores: Array) -> Array:
    """Return the largest score of each row, (..., 1), or 0 for a row of only -inf."""
    top: Array = scores.max(-1, keepdims=True, initial=-np.inf)
    if not (top < np.inf).all():
        row = np.argwhere(~(top < np.inf))[0][:-1].tolist()
        what = f"scores of shape {scores.shape} must be below infinity and not NaN"
        raise ShapeError(f"{what}, but row {row} is not; look at the scorer and its input")
    return np.where(np.isneginf(top), top.dtype.type(0), top)


def warn_of_empty_rows(total: Array) -> None:
    """Warn of the rows whose total weight (..., 1) is 0."""
    if empty := int((total == 0).sum()):
        warn(
            f"{empty} of {total.size} queries have nothing to attend to (every key is masked, or "
            f"outside the kernel's width): their weights and outputs are 0",
            EmptyRowWarning,
            stacklevel=3,
        )
