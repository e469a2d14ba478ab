"""Attention: scores become weights, and weights pool the values.

output = softmax((score(query, key) + mask) / temperature) @ value
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import (
    Array,
    as_floats,
    broadcast_lead,
    check_matrices,
    positive,
    require_finite,
    slices,
    unbroadcast,
)
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.base import Scorer
from fuzzydict.nn.scorers import ScaledDot, ScorerLike, as_scorer
from fuzzydict.nn.softmax import Normalize, as_normalizer, finite_tops, warn_of_empty_rows

__all__ = [
    "EMPTY",
    "AttentionBackward",
    "AttentionGradients",
    "Mask",
    "Partial",
    "attention",
    "attention_forward",
    "finish",
    "merge",
    "partial",
    "pool",
    "stream",
]


_ALL = slice(None)


@dataclass(frozen=True)
class Mask:
    """What is added to the scores (..., L, S), or takes them away.

    Attributes:
        allowed: Bools that broadcast to (..., L, S), True to attend; or None.
        bias: Numbers that broadcast to (..., L, S), added to the scores; or None.
        lengths: Integers (..., L or 1, 1), how many keys from the first are valid; or None.
        is_causal: Whether query i sees the keys 0 to i alone.
    """

    allowed: NDArray[np.bool_] | None = None
    bias: Array | None = None
    lengths: NDArray[np.integer[Any]] | None = None
    is_causal: bool = False

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        attn_mask: ArrayLike | None = None,
        is_causal: bool = False,
        valid_lens: ArrayLike | None = None,
    ) -> Mask:
        """Check the arguments of an attention whose scores have this shape (..., L, S).

        Raises:
            ArgumentTypeError: attn_mask is neither bool nor float, or valid_lens no integers.
            ShapeError: One does not fit the scores, or holds a number that it must not.
        """
        mask = None if attn_mask is None else _checked_mask(attn_mask, shape)
        is_bool = mask is not None and mask.dtype.kind == "b"
        return cls(
            allowed=mask if is_bool else None,
            bias=None if is_bool else mask,
            lengths=None if valid_lens is None else _checked_lengths(valid_lens, shape),
            is_causal=bool(is_causal),
        )

    def apply(self, scores: Array, rows: slice = _ALL, columns: slice = _ALL) -> Array:
        """Return the masked scores of these rows (queries) and columns (keys).

        The scores are those of the block alone, (..., rows, columns).
        """
        out = np.array(-np.inf, scores.dtype)
        if self.bias is not None:
            bias = _cut(self.bias, rows, columns)
            scores = scores + bias.astype(scores.dtype, copy=False)
        if self.allowed is not None:
            scores = np.where(_cut(self.allowed, rows, columns), scores, out)
        if self.lengths is None and not self.is_causal:
            return scores
        start = columns.start or 0
        keys = np.arange(start, start + scores.shape[-1])
        if self.lengths is not None:
            scores = np.where(keys < _cut(self.lengths, rows, _ALL), scores, out)
        if self.is_causal:
            start = rows.start or 0
            queries = np.arange(start, start + scores.shape[-2])
            scores = np.where(keys <= queries[:, None], scores, out)
        return scores


def _cut(array: NDArray[Any], rows: slice, columns: slice) -> NDArray[Any]:
    """Cut rows and columns out of an array (..., L, S), but not from an axis that broadcasts."""
    if array.ndim and array.shape[-1] > 1:
        array = array[..., columns]
    if array.ndim > 1 and array.shape[-2] > 1:
        array = array[..., rows, :]
    return array


def _checked_mask(attn_mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    mask = np.asarray(attn_mask)
    if mask.dtype.kind not in "bf":
        raise ArgumentTypeError(
            f"attn_mask must be bool (True = attend) or float (added to the scores), got "
            f"dtype {mask.dtype}; for zeros and ones pass attn_mask.astype(bool)"
        )
    if not _broadcasts(mask.shape, shape):
        raise ShapeError(
            f"attn_mask of shape {mask.shape} does not broadcast to the scores (..., L, S) {shape}"
        )
    if mask.dtype.kind == "f" and not (mask < np.inf).all():
        raise ShapeError("attn_mask must not hold NaN or +inf; -inf takes a key away")
    return mask


def _checked_lengths(valid_lens: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the lengths as (..., L or 1, 1), whether they came by batch (...) or row (..., L)."""
    lengths = np.asarray(valid_lens)
    if lengths.dtype.kind not in "iu":
        raise ArgumentTypeError(f"valid_lens must be integers, got dtype {lengths.dtype}")
    by_row = lengths.ndim == len(shape) - 1
    if not _broadcasts(lengths.shape, shape[:-1] if by_row else shape[:-2]):
        raise ShapeError(
            f"valid_lens of shape {lengths.shape} must have the shape {shape[:-2]} (a number "
            f"for each batch) or {shape[:-1]} (for each query) of the scores {shape}"
        )
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= shape[-1]:
        raise ShapeError(
            f"valid_lens must lie between 0 and S = {shape[-1]}, "
            f"got {lengths.min()} to {lengths.max()}"
        )
    return lengths[..., None] if by_row else lengths[..., None, None]


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


# How much is held at a time, by measurement: fewer keys cost calls, more leave the cache.
_ROWS = 256
_KEYS = 1 << 15
_SCORES = 1 << 21
# BLAS multiplies one query with this many numbers on one core: memory is the limit, so a second
# gains little, and waiting for it when the machine is busy costs a hundred times the product.
_NUMBERS = 3 << 17


class Partial(NamedTuple):
    """Attention over some of the keys, ready to be merged with that over others."""

    max: Array  # (..., L, 1), the largest score; -inf without any
    sum: Array  # (..., L, 1), of exp(score - max)
    weighted: Array  # (..., L, Ev), the sum of exp(score - max) * value


#: Attention over no keys, which changes nothing when merged.
EMPTY = Partial(np.array(-np.inf, np.float32), np.array(0, np.float32), np.array(0, np.float32))


def partial(scores: ArrayLike, value: ArrayLike) -> Partial:
    """Return the part of attention that these scores (..., L, S) and values (..., S, Ev) make.

    Raises:
        ShapeError: A score is NaN or +inf.

    Example:
        >>> left, right = partial([[0.0]], [[1.0]]), partial([[0.0, 0.0]], [[4.0], [7.0]])
        >>> finish(merge(left, right))
        array([[4.]])
    """
    return _partial(*as_floats(scores=scores, value=value))


def _partial(scores: Array, value: Array) -> Partial:
    tops = finite_tops(scores)
    weights = scores - tops
    np.exp(weights, out=weights)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        weighted = weights @ value
    return Partial(np.where(total == 0, tops.dtype.type(-np.inf), tops), total, weighted)


def merge(a: Partial, b: Partial) -> Partial:
    """Return attention over the keys of both parts; associative and commutative.

    Example:
        >>> part = partial([[1.0, 2.0]], [[10.0], [20.0]])
        >>> finish(merge(part, EMPTY)) == finish(part)
        array([[ True]])
    """
    top = np.maximum(a.max, b.max)
    base = np.where(np.isneginf(top), top.dtype.type(0), top)
    to_a, to_b = np.exp(a.max - base), np.exp(b.max - base)
    return Partial(top, a.sum * to_a + b.sum * to_b, a.weighted * to_a + b.weighted * to_b)


def finish(part: Partial) -> Array:
    """Return the output (..., L, Ev) of attention over all keys that were merged.

    A query without keys has the output 0, and an EmptyRowWarning tells of it.
    """
    warn_of_empty_rows(part.sum)
    output: Array = part.weighted / np.where(part.sum == 0, part.sum.dtype.type(1), part.sum)
    return output


def stream(
    query: Array, key: Array, value: Array, scorer: Scorer, mask: Mask, temperature: float = 1.0
) -> Array:
    """Attend with queries (..., L, E) to keys (..., S, E) and values (..., S, Ev), in blocks.

    The arrays fit together and are of one dtype.

    Returns:
        The output (..., L, Ev) of softmax attention.
    """
    step = _keys_at_a_time(query, key, value)

    def attend(rows: slice) -> Array:
        def parts() -> Iterator[Partial]:
            for keys in slices(key.shape[-2], step):
                scores = scorer.score_checked(query[..., rows, :], key[..., keys, :])
                scores = mask.apply(scores, rows, keys)
                scores = scores if temperature == 1 else scores / temperature
                yield _partial(scores, value[..., keys, :])

        return finish(reduce(merge, parts()))

    outputs = [attend(rows) for rows in slices(query.shape[-2], _ROWS)]
    output = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=-2)
    require_finite(output, value=value)
    return output


def _keys_at_a_time(query: Array, key: Array, value: Array) -> int:
    """Return how many keys make a block."""
    lead = math.prod(broadcast_lead(query=query, key=key))
    rows = max(1, lead * min(query.shape[-2], _ROWS))
    count: int = min(_KEYS, _SCORES // rows)
    if query.shape[-2] == 1:
        count = min(count, _NUMBERS // max(key.shape[-1], value.shape[-1]))
    return max(count, 256)


class AttentionGradients(NamedTuple):
    """Gradients of a loss with respect to all that attention takes, each shaped like it."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    value: Array  # (..., S, Ev)
    parameters: dict[str, Array]  # of the scorer
    temperature: float


#: From the gradient for the output (..., L, Ev) to those for the inputs.
AttentionBackward: TypeAlias = Callable[[Array], AttentionGradients]


@overload
def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scorer: ScorerLike = ...,
    attn_mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    scale: float | None = ...,
    temperature: float = ...,
    normalizer: str = ...,
    need_weights: Literal[False] = ...,
    valid_lens: ArrayLike | None = ...,
) -> Array: ...


@overload
def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scorer: ScorerLike = ...,
    attn_mask: ArrayLike | None = ...,
    is_causal: bool = ...,
    scale: float | None = ...,
    temperature: float = ...,
    normalizer: str = ...,
    need_weights: Literal[True],
    valid_lens: ArrayLike | None = ...,
) -> tuple[Array, Array]: ...


def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scorer: ScorerLike = "scaled_dot",
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    temperature: float = 1.0,
    normalizer: str = "softmax",
    need_weights: bool = False,
    valid_lens: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """Answer each query with the mean of the values, weighted by how well it fits their keys.

    With its defaults this is equation 1 of Vaswani et al. 2017, ``softmax(Q K' / sqrt(E)) V``.
    If no weights are asked for, long rows stream in blocks, in bounded memory (softmax only).

    Args:
        query: Queries (..., L, E).
        key: Keys (..., S, E).
        value: Values (..., S, Ev), one for each key.
        scorer: A Scorer, the name of one, or a function (..., L, E), (..., S, E) -> (..., L, S).
        attn_mask: Broadcasts to (..., L, S): bools (True = attend), or floats, which are added.
        is_causal: Query i attends to the keys 0 to i alone.
        scale: For the scaled dot product, what to use instead of ``1 / sqrt(E)``.
        temperature: The scores are divided by it.
        normalizer: "softmax", or "sparsemax" for weights most of which are exactly 0.
        need_weights: Whether to return the weights too.
        valid_lens: How many keys, from the first, are valid, by batch (...) or query (..., L).

    Returns:
        The output (..., L, Ev); with ``need_weights``, the pair of it and the weights (..., L, S).
        Both are 0 for a query with nothing to attend to, and an EmptyRowWarning tells of it.

    Raises:
        ShapeError: The shapes do not fit together, or an array holds NaN or infinity.
        ArgumentTypeError: An argument is of a type that it cannot be.
        OptionError: A scorer, normalizer, scale or temperature that does not exist or fit.

    Example:
        >>> key = [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
        >>> attention([[1, 0, 2]], key, [[1], [2], [8]], scorer="dot").round(2)
        array([[4.75]])
    """
    call = _Call.of(
        query, key, value, scorer, scale, temperature, normalizer, attn_mask, is_causal, valid_lens
    )
    if need_weights or normalizer != "softmax":
        output, weights, _ = _forward(call)
        return (output, weights) if need_weights else output
    return stream(call.query, call.key, call.value, call.scorer, call.mask, call.temperature)


def attention_forward(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scorer: ScorerLike = "scaled_dot",
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    temperature: float = 1.0,
    normalizer: str = "softmax",
    valid_lens: ArrayLike | None = None,
) -> tuple[Array, Array, AttentionBackward]:
    """Attend as ``attention`` does, and return also the way back.

    Returns:
        The output (..., L, Ev), the weights (..., L, S), and a function from the gradient of a
        loss with respect to the output to its ``AttentionGradients``.

    Raises:
        FuzzyDictError: As ``attention`` does.

    Example:
        >>> output, weights, backward = attention_forward([[1.0]], [[0.0], [1.0]], [[0.0], [2.0]])
        >>> backward(np.ones_like(output)).value.round(3)
        array([[0.269],
               [0.731]])
    """
    return _forward(
        _Call.of(
            query,
            key,
            value,
            scorer,
            scale,
            temperature,
            normalizer,
            attn_mask,
            is_causal,
            valid_lens,
        )
    )


def _forward(call: _Call) -> tuple[Array, Array, AttentionBackward]:
    scores, scorer_backward = call.scorer.forward(call.query, call.key)
    weights, normalizer_backward = call.normalize(call.mask.apply(scores), call.temperature)
    output = pool(weights, call.value)

    def backward(d_output: Array) -> AttentionGradients:
        d_weights = unbroadcast(d_output @ call.value.swapaxes(-1, -2), weights.shape)
        d_value = unbroadcast(weights.swapaxes(-1, -2) @ d_output, call.value.shape)
        d_scores, d_temperature = normalizer_backward(d_weights)
        d_query, d_key, d_parameters = scorer_backward(d_scores)
        return AttentionGradients(d_query, d_key, d_value, d_parameters, d_temperature)

    return output, weights, backward


def pool(weights: ArrayLike, value: ArrayLike) -> Array:
    """Return the sums of the values (..., S, Ev), weighted by weights (..., L, S): (..., L, Ev).

    Raises:
        ShapeError: The shapes do not fit together, or an array holds NaN or infinity.

    Example:
        >>> pool([[0.25, 0.75]], [[0.0, 8.0], [4.0, 0.0]])
        array([[3., 2.]])
    """
    w, v = as_floats(weights=weights, value=value)
    if w.ndim < 2 or v.ndim < 2 or w.shape[-1] != v.shape[-2]:
        raise ShapeError(
            f"weights (..., L, S) and value (..., S, Ev) must have the same S, got weights "
            f"{w.shape} and value {v.shape}"
        )
    broadcast_lead(weights=w, value=v)
    with np.errstate(over="ignore", invalid="ignore"):
        output: Array = w @ v
    require_finite(output, weights=w, value=v)
    return output


class _Call(NamedTuple):
    """The arguments of one attention, checked and of one dtype."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    value: Array  # (..., S, Ev)
    scorer: Scorer
    temperature: float
    normalize: Normalize
    mask: Mask

    @classmethod
    def of(
        cls,
        query: ArrayLike,
        key: ArrayLike,
        value: ArrayLike,
        scorer: ScorerLike,
        scale: float | None,
        temperature: float,
        normalizer: str,
        attn_mask: ArrayLike | None,
        is_causal: bool,
        valid_lens: ArrayLike | None,
    ) -> _Call:
        q, k, v = as_floats(query=query, key=key, value=value)
        scorer = _scaled_scorer(scorer, scale)
        check_matrices(q, k, same_size=scorer.same_size)
        if v.ndim < 2 or v.shape[-2] != k.shape[-2]:
            raise ShapeError(
                f"value must have shape (..., S, Ev) with one row for each key: key {k.shape} has "
                f"S = {k.shape[-2]}, got value {v.shape}"
            )
        broadcast_lead(query=q, key=k, value=v)
        shape = (*broadcast_lead(query=q, key=k), q.shape[-2], k.shape[-2])
        return cls(
            *(q, k, v, scorer, positive("temperature", temperature)),
            normalize=as_normalizer(normalizer),
            mask=Mask.of(shape, attn_mask, is_causal, valid_lens),
        )


def _scaled_scorer(scorer: ScorerLike, scale: float | None) -> Scorer:
    resolved = as_scorer(scorer)
    if scale is None:
        return resolved
    if not isinstance(resolved, ScaledDot):
        raise OptionError(
            f"scale is for the scorer 'scaled_dot'; {resolved!r} has none: use temperature"
        )
    return ScaledDot(scale)
