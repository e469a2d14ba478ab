"""What can be pooled, and how: numbers, arrays, lists of numbers, and texts by their vectors."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import PoolingError, quoted
from fuzzydict.nn.attention import pool
from fuzzydict.nn.softmax import softmax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.embedding.projections import Projections

__all__ = ["as_output", "pooled", "stack", "weights_of"]

_WEIGHTS = 1 << 19  # made at a time: 4 MB, which a processor's cache holds


def weights_of(scores: NDArray[np.float32], temperature: float) -> Iterator[NDArray[np.float64]]:
    """Yield the softmax of scores (L, S) some rows at a time, (l, S).

    In 64 bits, by which equal values pool to themselves.
    """
    for rows in slices(len(scores), max(1, _WEIGHTS // scores.shape[1])):
        yield softmax(scores[rows].astype(np.float64), temperature).astype(np.float64, copy=False)


def pooled(
    scores: NDArray[Any],
    weights: Iterable[NDArray[Any]],
    keys: Sequence[str],
    values: Sequence[Any],
    embedding: Embedding,
    projections: Projections | None = None,
) -> NDArray[np.float64]:
    """Return the sums of S values of one ``shape``, by weights (L, S): (L, *shape).

    The weights come some rows at a time, as `weights_of` yields them.

    Keys that are masked, or beyond a kernel's width, for all queries (their scores, (L, S), are
    -inf) are left out: their values need not be such as can be pooled. V of the projections is
    applied to the sums, which is the same as to the values: (L, Ev') if it changes their size.

    Raises:
        PoolingError: a value cannot be pooled; it names the key.
        ShapeError: V takes values of another size.
    """
    if scores.min(initial=0) == -np.inf:
        reached = np.flatnonzero(~np.isneginf(scores).all(axis=0)).tolist()
        if reached:
            keys, values = [keys[i] for i in reached], [values[i] for i in reached]
            weights = (rows[:, reached] for rows in weights)
    stacked = stack(keys, values, embedding)
    flat = stacked.reshape(len(stacked), -1)
    sums = np.concatenate([pool(rows, flat) for rows in weights])
    projected = sums if projections is None else projections.project_values(sums)
    same = projected.shape == sums.shape
    shape = (len(sums), *stacked.shape[1:]) if same else projected.shape
    return projected.reshape(shape).astype(np.float64, copy=False)


def as_output(pooled_value: NDArray[np.float64]) -> Any:
    """Return what one query is answered with: a float for pooled numbers, else the array."""
    return float(pooled_value) if pooled_value.ndim == 0 else pooled_value


def stack(keys: Sequence[str], values: Sequence[Any], embedding: Embedding) -> NDArray[np.float64]:
    """Return the values as one array (S, *shape); texts as their vectors, (S, E).

    Raises:
        PoolingError: a value is no number, array or list of finite numbers, or has another shape
            than the first; it names the key.
    """
    if all(isinstance(value, str) for value in values):
        return embedding.encode(list(values)).astype(np.float64)
    at_once = _stacked_at_once(values)
    if at_once is not None:
        return at_once
    rows = [_numbers(key, value) for key, value in zip(keys, values, strict=True)]
    shape = rows[0].shape
    for key, row in zip(keys, rows, strict=True):
        if row.shape != shape:
            raise PoolingError(
                f"the value of {quoted(key)} has shape {row.shape}, that of {quoted(keys[0])} "
                f"{shape}; values can be pooled if all have one shape"
            )
        if not np.isfinite(row).all():
            raise PoolingError(
                f"the value of {quoted(key)} has NaN or infinity, which would be the pooled value "
                f"whatever its weight; replace it"
            )
    return np.array(rows, np.float64)


def _stacked_at_once(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return values that are all numbers of Python, or all arrays of one shape, as one array.

    None if they are others, or one is not finite: one by one it is then found out which.
    """
    kinds = set(map(type, values))
    if kinds == {np.ndarray}:
        shapes, dtypes = {value.shape for value in values}, {value.dtype for value in values}
        if len(shapes) > 1 or not {dtype.kind for dtype in dtypes} <= set("biuf"):
            return None
    elif not kinds <= {int, float}:
        return None
    try:
        stacked = np.array(values, np.float64)
    except OverflowError:  # a whole number too large
        return None
    return stacked if np.isfinite(stacked).all() else None


def _numbers(key: str, value: Any) -> NDArray[np.float64]:
    """Return one value as an array of numbers, (*shape)."""
    is_real = isinstance(value, Number) and not isinstance(value, complex | np.complexfloating)
    if is_real or isinstance(value, list | tuple | np.ndarray):
        try:
            array = np.asarray(value)
            if is_real or array.dtype.kind in "biuf":
                return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass  # ragged, or not of numbers, or too large: told below
    raise PoolingError(
        f"the value of {quoted(key)} cannot be pooled: expected a number, an array, or a list or "
        f"tuple of numbers (or texts as all values), got {type(value).__name__} {quoted(value)}"
    )
