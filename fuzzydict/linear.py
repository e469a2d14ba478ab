"""A linear layer, ``y = x W' + b``, and its way back."""

from __future__ import annotations

import numpy as np

from fuzzydict.arrays import Array

__all__ = ["linear", "linear_backward"]


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
