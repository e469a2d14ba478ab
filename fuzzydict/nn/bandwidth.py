"""Learning how wide a kernel should be, from how well each example is predicted by the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzydict._arrays import Array, slices
from fuzzydict.nn.attention import pool
from fuzzydict.nn.scorers import Kernel, squared_distances
from fuzzydict.nn.softmax import softmax_forward

__all__ = ["LeaveOneOut", "learn_bandwidth", "leave_one_out"]

_ROWS = 512  # examples held out at a time, each beside all N
_WIDTHS = 24  # of the first search
_STEPS = 16  # of the second, between two of them


class LeaveOneOut(NamedTuple):
    """How far each example is from what the others predict for it."""

    error: float  # mean squared
    slope: float  # its derivative with respect to the logarithm of the width


def learn_bandwidth(kernel: type[Kernel], x: Array, y: Array) -> float:
    """Return the width with the least leave-one-out error, for x (N, E) and y (N, Ev).

    The error has several minima, and jumps where a compact kernel reaches one more example. So a
    coarse search over all sensible widths finds the valley, and within it the sign of the gradient
    halves the interval. Where there is no gradient (the boxcar's error is a staircase), a second,
    finer search takes its place.

    Args:
        kernel: The kernel to widen.
        x: Two examples or more.
        y: What to predict.

    Returns:
        The width; 1.0 if all x are equal, for then it makes no difference.
    """
    widths = [float(width) for width in _sensible_widths(x)]
    if not widths:
        return 1.0
    errors: dict[float, float] = {}

    def slope_at(width: float) -> float:
        errors[width], slope = leave_one_out(kernel(width), x, y)
        return slope

    slopes = {width: slope_at(width) for width in widths}
    middle = min(errors, key=errors.__getitem__)
    low, high = _neighbours(widths, middle)
    slope = slopes[middle]
    for _ in range(_STEPS if slope else 0):
        low, high = (low, middle) if slope > 0 else (middle, high)
        middle = (low * high) ** 0.5
        slope = slope_at(middle)
    for width in np.geomspace(low, high, _STEPS) if not slope else ():
        slope_at(float(width))
    return min(errors, key=errors.__getitem__)


def _neighbours(widths: list[float], width: float) -> tuple[float, float]:
    """Return the widths before and after this one, or itself at an end."""
    i = widths.index(width)
    return widths[max(i - 1, 0)], widths[min(i + 1, len(widths) - 1)]


def leave_one_out(kernel: Kernel, x: Array, y: Array) -> LeaveOneOut:
    """Return the error of predicting each y (N, Ev) from all others, and its slope.

    An example that the kernel brings no other near is predicted by the mean of the others: so
    a narrow kernel does not look good by answering nothing.

    Example:
        >>> from fuzzydict.nn.scorers import Boxcar
        >>> leave_one_out(Boxcar(1.5), np.arange(3.0)[:, None], np.array([[0.0], [3.0], [6.0]]))
        LeaveOneOut(error=6.0, slope=0.0)
    """
    error, slope = 0.0, 0.0
    for rows in slices(len(x), _ROWS):
        scores, kernel_backward = kernel.forward(x[rows], x)
        self_pairs = (np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop))
        others = scores.copy()  # (rows, N)
        others[self_pairs] = -np.inf
        others[np.isneginf(others).all(-1)] = 0
        others[self_pairs] = -np.inf
        weights, softmax_backward = softmax_forward(others)
        residual = pool(weights, y) - y[rows]  # (rows, Ev)
        d_scores, _ = softmax_backward(2 * residual @ y.T)
        error += float((residual**2).sum())
        # The kernel takes no gradient where its score is -inf, so neither do lonely examples.
        slope += float(kernel_backward(d_scores).parameters["width"])
    width = float(kernel.parameters["width"])
    return LeaveOneOut(error / y.size, slope * width / y.size)


def _sensible_widths(x: Array) -> Array:
    """Return widths from less than the usual gap between x (N, E) to more than their extent."""
    gaps, extent = [], 0.0
    for rows in slices(len(x), _ROWS):
        squared = squared_distances(x[rows], x)  # (rows, N)
        extent = max(extent, float(squared.max()))
        gaps.append(np.where(squared > 0, squared, np.inf).min(-1))
    nearest = np.concatenate(gaps)  # (N,)
    nearest = nearest[np.isfinite(nearest)]
    if not nearest.size:
        return np.empty(0)
    widths: Array = np.geomspace(np.median(nearest) ** 0.5 / 4, 2 * extent**0.5, _WIDTHS)
    return widths
