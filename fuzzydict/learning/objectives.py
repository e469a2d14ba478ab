"""What fitted projections are to make small, with gradients: keys not found, values missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import Array

__all__ = ["Slopes", "lengths_forward", "pooling_loss", "retrieval_loss"]


class Slopes(NamedTuple):
    """Gradients of a loss, each shaped like what it belongs to."""

    query: Array  # (L, E)
    key: Array  # (S, E)
    log_temperature: float
    value: Array | None = None  # (S, Ev)


def retrieval_loss(
    query: Array,
    key: Array,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    temperature: float,
    log_shares: Array | None = None,
) -> tuple[float, Slopes]:
    """Return how surprising the right keys are: the mean of ``-log sum of their probabilities``.

    A key's probability is the softmax of ``query.key / temperature`` over all keys. It is enough
    to be given some of them: a key that was drawn with the probability ``p`` then counts ``1 / p``
    times (Bengio and Senécal 2008; with ``p`` the probability to be drawn at all, this is the
    estimator of Horvitz and Thompson 1952, and the sum of the softmax has no bias).

    Args:
        query: (L, E).
        key: (S, E), among them all that are right for any of the queries.
        rows: (n,), queries in order; each has one right key or more,
        columns: and which keys these are, (n,).
        temperature: Above 0.
        log_shares: (S,), the logarithm of each key's probability to be among these; None if all
            are. For the query that a key is right for it is certain, whatever stands here.

    Example:
        >>> query, key = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> loss, _ = retrieval_loss(query, key, np.array([0]), np.array([0]), temperature=0.5)
        >>> round(loss, 3)  # log(1 + exp(-2))
        0.127
    """
    heat = query.dtype.type(temperature)
    cold = query / heat
    logits: Array = cold @ key.T  # (L, S), turned into the gradient step by step, in place
    right = logits[rows, columns]  # (n,)
    if log_shares is not None:
        logits -= log_shares
        logits[rows, columns] = right
    losses = _surprises(logits, right, rows, columns)
    d_cold = logits @ key
    slope = -float(np.vdot(d_cold, cold))
    return float(losses.mean()), Slopes(d_cold / heat, logits.T @ cold, slope)


def _surprises(
    logits: Array, right: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> Array:
    """Return the negative logarithm of the share of each query's right keys, (L,).

    What comes as logits, (L, S), goes as the gradient of the mean by them.
    """
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    top = logits.max(axis=1)
    logits -= top[:, None]
    np.exp(logits, out=logits)
    total = logits.sum(axis=1)
    # The right ones by their own maximum, for beside the others' they may be too small to see.
    right_top = np.maximum.reduceat(right, starts)
    among = np.exp(right - right_top[rows])
    right_total = np.add.reduceat(among, starts)
    logits /= total[:, None] * len(logits)
    logits[rows, columns] -= among / (right_total[rows] * len(logits))
    losses: Array = (top + np.log(total)) - (right_top + np.log(right_total))
    return losses


def pooling_loss(
    query: Array, key: Array, value: Array, target: Array, temperature: float
) -> tuple[float, Slopes]:
    """Return the mean squared error of ``softmax(query.key / temperature) value``.

    Args:
        query: (L, E).
        key: (S, E).
        value: (S, Ev).
        target: (L, Ev), what the queries should pool.
        temperature: Above 0.

    Example:
        >>> query, key = np.zeros((1, 2)), np.ones((2, 2))
        >>> pooling_loss(query, key, np.array([[1.0], [3.0]]), np.array([[5.0]]), 1.0)[0]
        9.0
    """
    heat = query.dtype.type(temperature)
    cold = query / heat
    weights: Array = cold @ key.T  # (L, S)
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    missed = weights @ value - target  # (L, Ev)
    d_output = missed * missed.dtype.type(2 / missed.size)
    d_value = weights.T @ d_output
    d_logits = d_output @ value.T
    d_logits -= (d_logits * weights).sum(axis=1, keepdims=True)
    d_logits *= weights
    d_cold = d_logits @ key
    slope = -float(np.vdot(d_cold, cold))
    return float((missed**2).mean()), Slopes(d_cold / heat, d_logits.T @ cold, slope, d_value)


def lengths_forward(x: Array, scorer: str) -> tuple[Array, Callable[[Array], Array]]:
    """Scale x (..., E) so that a dot product is what the scorer says; return also the way back.

    Args:
        x: Queries, or keys.
        scorer: "cosine" makes each length 1 (the zero vector stays), "scaled_dot" divides all by
            the fourth root of E, of which queries and keys have one each.
    """
    if scorer == "scaled_dot":
        scale = x.dtype.type(x.shape[-1] ** -0.25)
        return x * scale, lambda d_y: d_y * scale
    lengths = np.sqrt(np.einsum("...e,...e->...", x, x))[..., None]
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    unit = x * inverse

    def backward(d_unit: Array) -> Array:
        along = np.einsum("...e,...e->...", unit, d_unit)[..., None]
        d_x: Array = along * unit
        np.subtract(d_unit, d_x, out=d_x)
        d_x *= inverse
        return d_x

    return unit, backward
