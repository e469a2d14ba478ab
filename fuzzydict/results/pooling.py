"""What can be pooled, and how: numbers, arrays, lists of numbers, and texts by their vectors."""

from __future__ import annotations

from itertools import chain
from numbers import Number
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import PoolingError, quoted
from fuzzydict.nn.attention import pool
from fuzzydict.nn.softmax import softmax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.projections import Projections

__all__ = ["StackedValues", "as_output", "pooled", "weights_of"]

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
    values: StackedValues,
    projections: Projections | None = None,
) -> NDArray[np.float64]:
    """Return the sums of S values of one ``shape``, by weights (L, S): (L, *shape).

    Keys that are masked, or beyond a kernel's width, for all queries (their scores, (L, S), are
    -inf) are left out: their values need not be such as can be pooled. V of the projections is
    applied to the sums, which is the same as to the values: (L, Ev') if it changes their size.

    Args:
        scores: the logits of the weights, (L, S).
        weights: the weights, some rows at a time, as `weights_of` yields them.
        values: the values.
        projections: what was learned.

    Raises:
        PoolingError: a value cannot be pooled; it names the key.
        ShapeError: V takes values of another size.
    """
    reached = None
    if scores.min(initial=0) == -np.inf:
        reached = np.flatnonzero(~np.isneginf(scores).all(axis=0))
        weights = (rows[:, reached] for rows in weights)
    stacked = values.array(reached)
    flat = stacked.reshape(len(stacked), -1)
    sums = np.concatenate([pool(rows, flat) for rows in weights])
    projected = sums if projections is None else projections.project_values(sums)
    same = projected.shape == sums.shape
    shape = (len(sums), *stacked.shape[1:]) if same else projected.shape
    return projected.reshape(shape).astype(np.float64, copy=False)


def as_output(pooled_value: NDArray[np.float64]) -> Any:
    """Return what one query is answered with: a float for pooled numbers, else the array."""
    return float(pooled_value) if pooled_value.ndim == 0 else pooled_value


class StackedValues:
    """S values as one array, which is made when it is asked for, and kept.

    >>> StackedValues(["a", "b"], [1, 2.5], None).array().tolist()
    [1.0, 2.5]
    """

    def __init__(self, keys: Sequence[str], values: Sequence[Any], embedding: Any) -> None:
        self._keys, self._values, self._embedding = keys, values, embedding
        self._array: NDArray[np.float64] | None = None

    def or_same(self, other: StackedValues | None) -> StackedValues:
        """Return ``other`` if it has the same values, and none of them can change."""
        if other is None or other._array is None or len(other._values) != len(self._values):
            return self
        same = all(map(is_, other._values, self._values)) and _never_change(self._values)
        return other if same else self

    def array(self, places: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Return the values, or those at these places, (S, *shape); texts as vectors, (S, E).

        Raises:
            PoolingError: a value is no number, array or list of finite numbers, or has another
                shape than the first; it names the key.
        """
        if self._array is None and places is None:
            self._array = _stacked(self._keys, self._values, self._embedding)
        if self._array is not None:
            return self._array if places is None else self._array[places]
        assert places is not None
        keys, values = ([some[i] for i in places.tolist()] for some in (self._keys, self._values))
        return _stacked(keys, values, self._embedding)


def _never_change(values: Sequence[Any]) -> bool:
    kinds = set(map(type, values))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(values)))
    return kinds <= {int, float, bool, str}


def _stacked(keys: Sequence[str], values: Sequence[Any], embedding: Any) -> NDArray[np.float64]:
    if all(isinstance(value, str) for value in values):
        encoded: NDArray[np.float32] = embedding.encode(list(values))
        return encoded.astype(np.float64)
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
