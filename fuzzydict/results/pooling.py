"""Pooling of values: numbers, arrays, lists of numbers, and texts as their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from numbers import Number
from operator import is_
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.embedding.encoder import Embedding
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import DoubtfulPoolWarning, PoolingError, quoted, warn
from fuzzydict.nn.attention import pool
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.lookup import Attended, Scored

_WEIGHTS = 1 << 19  # weights at a time: 4 MB, which fit into a processor's cache


def weights_of(scores: NDArray[np.float32], temperature: float) -> Iterator[NDArray[np.float64]]:
    """Yield the softmax of scores (L, S), some rows (l, S) at a time.

    The weights are float64, so that equal values pool to themselves.
    """
    for rows in slices(len(scores), max(1, _WEIGHTS // scores.shape[1])):
        yield softmax(scores[rows].astype(np.float64), temperature).astype(np.float64, copy=False)


def pooled(
    scores: NDArray[Any],
    weights: Iterable[NDArray[Any]],
    values: StackedValues,
    projections: Projections | None,
) -> NDArray[np.float64]:
    """Return the weighted sums of S values of one ``shape`` for L queries, (L, *shape).

    Keys whose ``scores``, (L, S), are -inf for all queries may have values of any kind. ``weights``
    come some rows at a time, as from `weights_of`. V is applied to the sums, which equals applying
    it to the values. A PoolingError names the key whose value cannot be pooled.
    """
    reached = None
    if scores.min(initial=0) == -np.inf:
        reached = np.flatnonzero(~np.isneginf(scores).all(axis=0))
        weights = (rows[:, reached] for rows in weights)
    stacked = values.array(reached)
    flat = stacked.reshape(len(stacked), -1)
    sums = np.concatenate([pool(rows, flat) for rows in weights])
    return shaped(sums, stacked.shape[1:], projections)


def shaped(
    sums: NDArray[Any], shape: tuple[int, ...], projections: Projections | None
) -> NDArray[np.float64]:
    """Return pooled values (L, Ev) in the shape of values, (L, *shape), or as V projects them."""
    projected = sums if projections is None else projections.project_values(sums)
    new = (len(sums), *shape) if projected.shape == sums.shape else projected.shape
    return projected.reshape(new).astype(np.float64, copy=False)


#: A pool is doubtful if no key is right with a probability above this; one of numbers also if the
#: best key is with one below. `tests.benchmarks.pooling` measures what this tells apart.
DOUBTFUL = 0.5
#: The best key of a query, and the probability that no key is right, if it is known.
Doubt: TypeAlias = tuple["Scored", float | None]


def doubts_about(attended: Iterable[Attended]) -> list[Doubt]:
    """Return the doubt about each query, in order."""
    return [pair for some in attended for pair in zip(some.best, some.none, strict=True)]


def warn_of_doubt(queries: Sequence[str], doubts: Sequence[Doubt], *, of_numbers: bool) -> None:
    """Warn once of queries for which a pool means little; ``of_numbers`` if values are these."""
    doubtful = [
        (query, best, none)
        for query, (best, none) in zip(queries, doubts, strict=True)
        # A number stands between others by chance, too.
        if none is not None and (none > DOUBTFUL or (of_numbers and best.score < DOUBTFUL))
    ]
    if not doubtful:
        return
    first, best, none = doubtful[0]
    query, why = quoted(first), f"none is right with probability {none:.2f}"
    if none is None or none <= DOUBTFUL:
        why = f"the best, {quoted(best.name)}, is right with probability {best.score:.2f}"
    others = f", nor like {len(doubtful) - 1} more of the queries" if doubtful[1:] else ""
    message = (
        f"pool: no key is like {query} ({why}){others}; "
        f"such a pool means little: see d.attend({query}), or raise score_cutoff to refuse it"
    )
    warn(message, DoubtfulPoolWarning, stacklevel=4)


def as_output(pooled_value: NDArray[np.float64]) -> Any:
    """Return the pooled value of one query: a float for pooled numbers, else an array."""
    return float(pooled_value) if pooled_value.ndim == 0 else pooled_value


def joined_outputs(outputs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return pooled values as one array, (L, *shape), unless a thread replaced values by others."""
    first, *others = dict.fromkeys(output.shape[1:] for output in outputs)
    if others:
        what = f"values of shape {first} were replaced by some of shape {others[0]}"
        raise PoolingError(f"{what} while a list of queries was pooled; pool it again")
    return np.concatenate(outputs)


class StackedValues:
    """S values, stacked to one array when it is first needed."""

    def __init__(self, keys: Sequence[str], values: Sequence[Any], embedding: Embedding) -> None:
        self._keys, self._values, self._embedding = keys, values, embedding
        self._array: NDArray[np.float64] | None = None

    def or_same(self, other: StackedValues | None) -> StackedValues:
        """Return ``other`` if it holds the same, immutable values; else return self."""
        if other is None or other._array is None or len(other._values) != len(self._values):
            return self
        kinds = set(map(type, self._values))
        if kinds == {tuple}:
            kinds = set(map(type, chain.from_iterable(self._values)))
        is_same = kinds <= {int, float, bool, str} and all(map(is_, other._values, self._values))
        return other if is_same else self

    def are_texts(self, places: NDArray[np.intp] | None = None) -> bool:
        """Tell whether all values, or those at some places, are texts."""
        some = range(len(self._values)) if places is None else places.tolist()
        return all(isinstance(self._values[place], str) for place in some)

    def array(self, places: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Return all values or those at some places, (S, *shape), with texts as vectors (S, E)."""
        if self._array is None and places is not None:  # others may be of any kind
            keys, values = ([some[i] for i in places] for some in (self._keys, self._values))
            return self._stacked(keys, values)
        if self._array is None:
            self._array = self._stacked(self._keys, self._values)
        return self._array if places is None else self._array[places]

    def _stacked(self, keys: Sequence[str], values: Sequence[Any]) -> NDArray[np.float64]:
        kinds = set(map(type, values))
        if all(issubclass(kind, str) for kind in kinds):
            if _say_numbers(values):
                got = f"got the text {quoted(values[0])}, and all texts say numbers"
                raise PoolingError(f"the value of {quoted(keys[0])}: {got}; make floats of them")
            return self._embedding.encode(list(values)).astype(np.float64)
        are_arrays = kinds == {np.ndarray} and len({value.shape for value in values}) == 1
        if kinds <= {int, float} or (are_arrays and {v.dtype.kind for v in values} <= set("biuf")):
            # Quickly, if none is to be named below.
            with np.errstate(over="ignore"), suppress(OverflowError):
                stacked = np.array(values, np.float64)
                if np.isfinite(stacked).all():
                    return stacked
        rows = list[NDArray[np.float64]]()
        for key, value in zip(keys, values, strict=True):
            rows.append(row := _numbers(key, value))
            if row.shape != rows[0].shape:
                shapes = f"shape {row.shape}, that of {quoted(keys[0])} {rows[0].shape}"
                raise PoolingError(f"the value of {quoted(key)} has {shapes}; give all one shape")
            if not np.isfinite(row).all():
                what = "has NaN or infinity, which would be pooled whatever its weight"
                raise PoolingError(f"the value of {quoted(key)} {what}; replace it")
        return np.array(rows, np.float64)


def _say_numbers(texts: Sequence[str]) -> bool:
    """Tell whether there are texts, and each is a number."""
    with suppress(ValueError):
        return bool(list(map(float, texts)))
    return False


def _numbers(key: str, value: Any) -> NDArray[np.float64]:
    """Return one value as an array, (*shape)."""
    is_real = isinstance(value, Number) and not isinstance(value, complex | np.complexfloating)
    if is_real or isinstance(value, list | tuple | np.ndarray):
        # Ragged, not numbers, too large, or whatever a class of numbers raises.
        with np.errstate(over="ignore"), suppress(Exception):
            array = np.asarray(value)
            if is_real or array.dtype.kind in "biuf":
                return array.astype(np.float64)
    got = f"got {type(value).__name__} {quoted(value)}"
    what = "expected a number, an array, or a list or tuple of numbers (or only texts)"
    raise PoolingError(f"the value of {quoted(key)} cannot be pooled: {what}, {got}")
