"""A linear layer, ``y = x W' + b``: its way back, and its first weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError

__all__ = ["glorot", "linear", "linear_backward"]


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return ``x W' + b`` for x (..., N, I), weight (J, I) and bias (J,): (..., N, J).

    The dtype is that of x. What overflows is infinite, without a warning.

    Example:
        >>> linear(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([5.0]))
        array([[16.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        y: Array = x @ weight.T.astype(x.dtype, copy=False)
    return y if bias is None else y + bias.astype(x.dtype, copy=False)


def linear_backward(d_y: Array, x: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Return the gradients for x (..., N, I), weight (J, I) and bias (J,), from that for y."""
    rows = d_y.reshape(-1, d_y.shape[-1])  # (N of all batches, J)
    d_weight: Array = rows.T @ x.reshape(-1, x.shape[-1])
    d_x: Array = d_y @ weight.astype(x.dtype, copy=False)
    return d_x, d_weight, rows.sum(0)


def glorot(random: np.random.Generator, rows: int, columns: int, dtype: DTypeLike) -> Array:
    """Draw a matrix (rows, columns) that keeps the spread (Glorot and Bengio 2010, equation 16).

    Raises:
        ArgumentTypeError: The dtype is not floating (as whole numbers, all would be 0).
    """
    if np.dtype(dtype).kind != "f":
        raise ArgumentTypeError(f"dtype must be a floating one such as float32, got {dtype!r}")
    limit = (6 / (rows + columns)) ** 0.5
    return random.uniform(-limit, limit, (rows, columns)).astype(dtype)
