"""Examples -> projections: Q and K by which queries find their keys, V for what they pool."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import Array, as_floats, require_finite
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, ShapeError
from fuzzydict.learning.gradient_descent import Epoch, Gradients, Settings, descend
from fuzzydict.learning.objectives import pooling_loss, retrieval_loss
from fuzzydict.learning.parameters import Model

__all__ = ["Epoch", "Fitted", "Settings", "fit_pooling", "fit_retrieval"]

_HELD_OUT = 2048  # queries that tell when to stop, at most: more would take longer to no end
_ROWS = 512  # of them scored at a time, so that memory stays bounded


class Fitted(NamedTuple):
    """What was learned, and how the losses went, from before the first step on."""

    projections: Projections
    temperature: float
    history: tuple[Epoch, ...]


def fit_retrieval(
    queries: ArrayLike, keys: ArrayLike, pairs: ArrayLike, settings: Settings | None = None
) -> Fitted:
    """Learn Q and K so that queries find their keys: from pairs of a query and a right key.

    The loss is `objectives.retrieval_loss`, over all keys, or over ``settings.candidates`` of
    them. Q and K start at the identity and are pulled towards it as an example each would.

    Args:
        queries: (L, E).
        keys: (S, E).
        pairs: (n, 2), whole numbers: the row of a query, the row of a key that is right for it.
            A query may have several right keys; it is enough that it finds one.
        settings: How to learn; None for the defaults.

    Raises:
        ShapeError: Shapes do not fit together, arrays are not finite, or a pair is out of range.
        ArgumentTypeError: Arrays are not of numbers, or pairs not of whole numbers.

    Example:
        >>> keys = np.eye(4, dtype=np.float32)
        >>> turned = np.roll(keys, 1, axis=0)  # the queries of another space
        >>> fitted = fit_retrieval(turned, keys, [[i, i] for i in range(4)])
        >>> projected = fitted.projections.project_queries(turned)
        >>> (projected @ fitted.projections.project_keys(keys).T).argmax(axis=1).tolist()
        [0, 1, 2, 3]
    """
    settings = settings or Settings()
    x, y = _matrices(queries=queries, keys=keys)
    examples = _Pairs(x, y, _checked_pairs(pairs, len(x), len(y)), settings)
    model = Model(x.shape[1], settings)
    random = np.random.default_rng(settings.seed)

    def losses(rows: NDArray[np.intp], batch: _Batch) -> tuple[float, Gradients]:
        query, query_back = model.forward("query", x[rows])
        key, key_back = model.forward("key", y if batch.keys is None else y[batch.keys])
        loss, slopes = retrieval_loss(
            query, key, batch.rows, batch.columns, model.temperature, batch.log_shares
        )
        gradients = query_back(slopes.query) | key_back(slopes.key)
        return loss, gradients | model.temperature_gradient(slopes.log_temperature)

    def held_out_loss(rows: NDArray[np.intp]) -> float:
        fixed = np.random.default_rng(settings.seed)  # the same keys every time, to compare
        parts = [rows[i : i + _ROWS] for i in range(0, min(len(rows), _HELD_OUT), _ROWS)]
        return _mean([(losses(part, examples.batch(part, fixed))[0], len(part)) for part in parts])

    history = descend(
        model.parameters,
        examples.asked,
        lambda rows: losses(rows, examples.batch(rows, random)),
        held_out_loss,
        settings,
    )
    return Fitted(model.projections(), model.temperature, history)


def fit_pooling(
    queries: ArrayLike,
    keys: ArrayLike,
    values: ArrayLike,
    targets: ArrayLike,
    settings: Settings | None = None,
) -> Fitted:
    """Learn Q, K (and V, if ``settings.learn_value``) so that queries pool what they should.

    The loss is `objectives.pooling_loss`, in units of a third of the targets' spread.

    Args:
        queries: (L, E).
        keys: (S, E).
        values: (S, Ev).
        targets: (L, Ev), what each query should pool.
        settings: How to learn; None for the defaults.

    Raises:
        ShapeError: Shapes do not fit together, or arrays are not finite.
        ArgumentTypeError: Arrays are not of numbers.

    Example:
        >>> keys = np.eye(2, dtype=np.float32)
        >>> fitted = fit_pooling([[1.0, 1.0]], keys, [[1.0], [2.0]], [[2.0]])  # not 1.5
        >>> query = fitted.projections.project_queries([[1.0, 1.0]])
        >>> bool(np.diff(query @ fitted.projections.project_keys(keys).T) > 0)
        True
    """
    settings = settings or Settings()
    x, y = _matrices(queries=queries, keys=keys)
    scale = _spread(targets)
    v, wanted = (array / scale for array in _matrices(values=values, targets=targets))
    if len(v) != len(y) or len(wanted) != len(x):
        raise ShapeError(
            f"expected a value for each of {len(y)} keys and a target for each of {len(x)} "
            f"queries, got {len(v)} and {len(wanted)}"
        )
    model = Model(x.shape[1], settings, v.shape[1])

    def losses(rows: NDArray[np.intp]) -> tuple[float, Gradients]:
        query, query_back = model.forward("query", x[rows])
        key, key_back = model.forward("key", y)
        value, value_back = model.forward("value", v)
        loss, slopes = pooling_loss(query, key, value, wanted[rows], model.temperature)
        gradients = query_back(slopes.query) | key_back(slopes.key)
        if slopes.value is not None:
            gradients |= value_back(slopes.value)
        return loss, gradients | model.temperature_gradient(slopes.log_temperature)

    def held_out_loss(rows: NDArray[np.intp]) -> float:
        parts = [rows[i : i + _ROWS] for i in range(0, min(len(rows), _HELD_OUT), _ROWS)]
        return _mean([(losses(part)[0], len(part)) for part in parts])

    history = descend(model.parameters, np.arange(len(x)), losses, held_out_loss, settings)
    return Fitted(model.projections(), model.temperature, history)


class _Batch(NamedTuple):
    """Keys to be told apart, (C,), all if None; which are right for which query, (n,) and (n,)."""

    keys: NDArray[np.intp] | None
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    log_shares: Array | None


class _Pairs:
    """Which keys are right for which query, and which others a batch of queries is shown."""

    def __init__(self, x: Array, y: Array, pairs: NDArray[np.intp], settings: Settings) -> None:
        self.asked = np.unique(pairs[:, 0])  # queries with a right key
        self._keys, self._settings = len(y), settings
        self._starts = np.searchsorted(pairs[:, 0], np.arange(len(x) + 1))
        self._right = np.ascontiguousarray(pairs[:, 1])
        # How many queries each key is right for: those come into a batch more often.
        self._counts = np.bincount(self._right, minlength=len(y))

    def batch(self, queries: NDArray[np.intp], random: np.random.Generator) -> _Batch:
        """Return what the queries, (B,), are to be shown."""
        starts = self._starts[queries]
        counts = self._starts[queries + 1] - starts
        rows = np.repeat(np.arange(len(queries)), counts)
        # The places of each query's keys in turn: its start, the next one, and so on.
        behind = starts - (np.cumsum(counts) - counts)
        right = self._right[np.arange(len(rows)) + np.repeat(behind, counts)]
        drawn = self._settings.candidates
        if self._keys <= drawn:
            return _Batch(None, rows, right, None)
        others = random.choice(self._keys, drawn, replace=False, shuffle=False)
        keys = np.union1d(right, others)
        log_shares = self._log_shares(keys, len(queries), drawn)
        return _Batch(keys, rows, np.searchsorted(keys, right), log_shares)

    def _log_shares(self, keys: NDArray[np.intp], batch: int, drawn: int) -> Array:
        """Return the logarithm of each key's probability to be in a batch, (C,)."""
        passed_over = 1 - min(batch / len(self.asked), 1)  # how likely, for a query
        missed = passed_over ** self._counts[keys] * (1 - drawn / self._keys)
        shares: Array = np.log1p(-missed).astype(np.float32)
        return shares


def _matrices(**named: ArrayLike) -> tuple[Array, ...]:
    """Return matrices of 32-bit numbers, all of one width."""
    found = []
    for name, given in named.items():
        matrix = as_floats(**{name: given})[0].astype(np.float32, copy=False)
        if matrix.ndim != 2 or not matrix.size:
            raise ShapeError(f"{name} must be a matrix with a row each, got shape {matrix.shape}")
        require_finite(matrix, **{name: matrix})
        found.append(matrix)
    widths = {name: matrix.shape[1] for name, matrix in zip(named, found, strict=True)}
    if len(set(widths.values())) > 1:
        raise ShapeError(
            " and ".join(f"{name} of {width} numbers" for name, width in widths.items())
            + " do not go together: expected vectors of one size"
        )
    return tuple(found)


def _checked_pairs(pairs: ArrayLike, queries: int, keys: int) -> NDArray[np.intp]:
    """Return different pairs, (n, 2), in the order of the queries."""
    array = np.asarray(pairs)
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"pairs: expected whole numbers, got dtype {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise ShapeError(f"pairs: expected a query and a key each, (n, 2), got {array.shape}")
    limits = np.array([queries, keys])
    outside = np.flatnonzero(((array < 0) | (array >= limits)).any(axis=1))
    if len(outside):
        raise ShapeError(
            f"pairs: number {outside[0]} is {array[outside[0]].tolist()}, but there are "
            f"{queries} queries and {keys} keys"
        )
    codes = np.unique(array[:, 0].astype(np.int64) * keys + array[:, 1])
    return np.stack(np.divmod(codes, keys), axis=1).astype(np.intp, copy=False)


def _spread(targets: ArrayLike) -> np.float32:
    """Return the unit in which errors are counted: a third of the targets' standard deviation.

    An error as large as the spread then weighs as much as a key that is hard to find, so that the
    pull to the identity means the same for both.
    """
    spread = float(np.std(as_floats(targets=targets)[0])) / 3
    return np.float32(spread if np.isfinite(spread) and spread > 0 else 1.0)


def _mean(parts: list[tuple[float, int]]) -> float:
    return sum(loss * count for loss, count in parts) / max(sum(count for _, count in parts), 1)
