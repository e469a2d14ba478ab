"""Examples -> projections: Q and K by which queries find their keys, V for what they pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import Array, as_floats, require_finite
from fuzzydict.embedding.maps import Factors, project_forward
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, ShapeError
from fuzzydict.learning.gradient_descent import Epoch, Gradients, Settings, descend

__all__ = [
    "Epoch",
    "Fitted",
    "Model",
    "Settings",
    "Slopes",
    "Span",
    "fit_pooling",
    "fit_retrieval",
    "lengths_forward",
    "pooling_loss",
    "retrieval_loss",
]


class Span(NamedTuple):
    """The space of some vectors, (E, r) axes of length one; None is the whole space.

    What is learned from vectors by their products changes nothing outside the space that they
    span, and inside it is the same whatever the axes. So it is learned there, in less time.

    >>> span = Span.of(np.eye(3)[:1])
    >>> span.inside(np.array([[2.0, 0.0, 0.0]])).shape
    (1, 1)
    >>> span.outside(np.array([[3.0]])).round(6).tolist()
    [[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    axes: Array | None

    @classmethod
    def of(cls, *vectors: Array) -> Span:
        """Return the space of all the vectors, (n, E) each."""
        if 2 * sum(map(len, vectors)) > vectors[0].shape[1]:
            return cls(None)
        return cls(np.linalg.qr(np.concatenate(vectors).T)[0])

    def paced(self, settings: Settings) -> Settings:
        """Return settings by which steps are as long as they are in the whole space."""
        if self.axes is None:
            return settings
        size, inside = self.axes.shape
        return replace(settings, learning_rate=settings.learning_rate * (size / inside) ** 0.5)

    def inside(self, vectors: Array) -> Array:
        """Return vectors (..., E) by these axes, (..., r)."""
        return vectors if self.axes is None else vectors @ self.axes

    def outside(self, projection: Array | Factors | None) -> Any:
        """Return a projection (r, r) of these axes as one of the whole space, (E, E)."""
        if self.axes is None or projection is None:
            return projection
        if isinstance(projection, Factors):
            return Factors(*(self.axes @ part for part in projection))
        change = projection - np.eye(len(projection), dtype=projection.dtype)
        whole = np.eye(len(self.axes), dtype=projection.dtype)
        return whole + self.axes @ change @ self.axes.T


#: The way back from the gradient of projected vectors to those of the projection's parts.
_Backward = Callable[[Array], Gradients]


class Model:
    """Parameters by name, as `Projections.arrays` names them, and the temperature's logarithm.

    Args:
        size: of the vectors, E.
        settings: how to learn.
        value_size: of the values, Ev; None where none are pooled.
    """

    def __init__(self, size: int, settings: Settings, value_size: int | None = None) -> None:
        self.settings = settings
        self.parameters: dict[str, Array] = {}
        random = np.random.default_rng(settings.seed)
        for role in (role for role in ("query", "key") if role not in settings.fixed):
            self.parameters |= _start(role, size, settings.rank, random)
        if value_size is not None and settings.learn_value:
            self.parameters |= _start("value", value_size, None, random)
        if settings.temperature is None:
            start = np.log(settings.first_temperature)
            self.parameters["log_temperature"] = np.array(start, np.float32)

    @property
    def temperature(self) -> float:
        """What scores are divided by."""
        learned = self.parameters.get("log_temperature")
        return float(self.settings.temperature or 0) if learned is None else float(np.exp(learned))

    def temperature_gradient(self, slope: float) -> Gradients:
        """Return the gradient by the temperature's logarithm, if it is learned."""
        learned = "log_temperature" in self.parameters
        return {"log_temperature": np.array(slope, np.float32)} if learned else {}

    def forward(self, role: str, vectors: Array) -> tuple[Array, _Backward]:
        """Project vectors (N, E), and make a dot product what the scorer says."""
        projected, to_projection = project_forward(vectors, self._projection(role), role)
        if role == "value":
            return projected, lambda d: _named(role, to_projection(d))
        scaled, scale_back = lengths_forward(projected, self.settings.scorer)
        return scaled, lambda d: _named(role, to_projection(scale_back(d)))

    def projections(self) -> Projections:
        """Return what was learned."""
        return Projections(*map(self._projection, ("query", "key", "value")))

    def _projection(self, role: str) -> Array | Factors | None:
        left = self.parameters.get(f"{role}.left")
        if left is None:
            return self.parameters.get(role)
        return Factors(left, self.parameters[f"{role}.right"])


def _start(role: str, size: int, rank: int | None, random: np.random.Generator) -> dict[str, Array]:
    """Return parameters that make the identity."""
    if rank is None:
        return {role: np.eye(size, dtype=np.float32)}
    left = random.standard_normal((size, min(rank, size)), dtype=np.float32)
    left /= np.float32(size**0.5)
    return {f"{role}.left": left, f"{role}.right": np.zeros_like(left)}


def _named(role: str, gradient: Array | Factors | None) -> Gradients:
    if gradient is None:
        return {}
    if isinstance(gradient, Factors):
        return {f"{role}.{name}": part for name, part in gradient._asdict().items()}
    return {role: gradient}


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
