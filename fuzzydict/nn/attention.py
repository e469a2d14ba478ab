"""Attention on arrays: ``softmax((score(query, key) + mask) / temperature) @ value``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import (
    Array,
    as_array,
    as_bool,
    as_divisor,
    as_floats,
    as_gradient,
    broadcast_lead,
    check_matrices,
    ignore_invalid,
    positive,
    require_finite,
    slices,
    unbroadcast,
)
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.scorers import ScaledDot, Scorer, ScorerLike, as_scorer
from fuzzydict.nn.softmax import centred, finite_tops, normalize, warn_of_empty_rows


class AttentionGradients(NamedTuple):
    """Gradients of a loss with respect to the inputs of attention, each shaped like its input."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    value: Array  # (..., S, Ev)
    parameters: dict[str, Array]  # of the scorer, or the heads
    temperature: float = 0.0  # which heads have none of


#: From the gradient for the output (..., L, Ev) to those for the inputs.
AttentionBackward: TypeAlias = Callable[[Array], AttentionGradients]
#: From the scores (..., rows, keys) of some queries and keys to those with -inf for a key left out.
_Masked: TypeAlias = Callable[[Array, slice, slice], Array]

# Block sizes by measurement: smaller blocks cost calls, larger ones do not fit into the cache.
_ROWS, _KEYS, _SCORES = 256, 1 << 15, 1 << 21
# BLAS multiplies one query with this many numbers on one core: waiting for a second core on a busy
# machine can take a hundred times as long as the product.
_NUMBERS = 3 << 17


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
) -> Any:
    """Return the mean of the values, weighted by how well each query matches their keys.

    The defaults are equation 1 of Vaswani et al. 2017, ``softmax(Q K' / sqrt(E)) V``.
    Softmax attention without ``need_weights`` is computed in blocks, in bounded memory.

    Args:
        query: Queries (..., L, E).
        key: Keys (..., S, E).
        value: Values (..., S, Ev), one for each key.
        scorer: A Scorer, the name of one, or a function (..., L, E), (..., S, E) -> (..., L, S).
        attn_mask: Broadcasts to (..., L, S): bool (True = attend), or float (added to the scores,
            which are then divided by the temperature).
        is_causal: Query i attends only to the keys 0 to i.
        scale: Replaces ``1 / sqrt(E)`` in the scaled dot product.
        temperature: The scores are divided by it before the softmax.
        normalizer: "softmax", or "sparsemax", which makes most weights exactly 0.
        need_weights: Whether to return the weights too.
        valid_lens: How many of the first keys are valid, by batch (...) or query (..., L).

    Returns:
        The output (..., L, Ev), or with ``need_weights`` the output and the weights (..., L, S).
        Both are 0 for a query with nothing to attend to, which raises an EmptyRowWarning.

    Raises:
        ShapeError: The shapes do not fit together, or an array holds NaN or infinity.
        ArgumentTypeError: An argument has the wrong type.
        OptionError: The scorer or normalizer is unknown, or scale or temperature not valid.

    >>> key = [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    >>> attention([[1, 0, 2]], key, [[1], [2], [8]], scorer="dot").round(2)
    array([[4.75]])
    """
    options: dict[str, Any] = {"scorer": scorer, "scale": scale, "attn_mask": attn_mask}
    options |= {"valid_lens": valid_lens, "is_causal": is_causal}
    temperature = positive("temperature", temperature)
    need_weights = as_bool("need_weights", need_weights)
    if need_weights or not isinstance(normalizer, str) or normalizer != "softmax":
        output, weights, _ = attention_forward(
            query, key, value, temperature=temperature, normalizer=normalizer, **options
        )
        return (output, weights) if need_weights else output
    by, (q, k, v), masked = _checked(query, key, value, **options)
    lead = math.prod(broadcast_lead(query=q, key=k))
    step = min(_KEYS, _SCORES // max(1, lead * min(q.shape[-2], _ROWS)))
    if q.shape[-2] == 1:
        step = min(step, _NUMBERS // max(k.shape[-1], v.shape[-1]))

    def part(rows: slice, keys: slice) -> Partial:
        scores = masked(by(q[..., rows, :], k[..., keys, :]), rows, keys)
        return partial(scores, v[..., keys, :], temperature)

    outputs = []
    for rows in slices(q.shape[-2], _ROWS):
        parts = (part(rows, keys) for keys in slices(k.shape[-2], max(step, 256)))
        _, total, weighted = reduce(lambda a, b: merge(a, b, temperature), parts)
        warn_of_empty_rows(total)
        outputs.append(weighted / np.where(total == 0, total.dtype.type(1), total))
    output = np.concatenate(outputs, axis=-2)
    require_finite(output, value=v)
    return output


def attention_forward(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    temperature: float = 1.0,
    normalizer: str = "softmax",
    **options: Any,
) -> tuple[Array, Array, AttentionBackward]:
    """Return the output (..., L, Ev) of ``attention``, the weights (..., L, S), and backward."""
    scorer, (q, k, v), masked = _checked(query, key, value, **options)
    scores, scorer_backward = scorer.forward(q, k)
    whole = masked(scores, slice(0, None), slice(0, None))
    weights, normalizer_backward = normalize(whole, temperature, normalizer)
    output = pool(weights, v)

    @ignore_invalid
    def backward(d_output: ArrayLike) -> AttentionGradients:
        d_output = as_gradient("d_output", d_output, output)
        d_weights = unbroadcast(d_output @ v.swapaxes(-1, -2), weights.shape)
        d_value = unbroadcast(weights.swapaxes(-1, -2) @ d_output, v.shape)
        d_scores, d_temperature = normalizer_backward(d_weights)
        d_query, d_key, d_parameters = scorer_backward(d_scores)
        return AttentionGradients(d_query, d_key, d_value, d_parameters, d_temperature)

    return output, weights, backward


def _checked(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    scorer: ScorerLike = "scaled_dot",
    scale: float | None = None,
    attn_mask: ArrayLike | None = None,
    valid_lens: ArrayLike | None = None,
    is_causal: bool = False,
) -> tuple[Scorer, tuple[Array, ...], _Masked]:
    """Return the scorer, the query, key and value as arrays that fit, and what masks scores."""
    by = as_scorer(scorer)
    if scale is not None:
        if not isinstance(by, ScaledDot):
            why = f"scale is for the scorer 'scaled_dot'; {by!r} has none"
            raise OptionError(f"{why}: use temperature")
        by = ScaledDot(scale)
    q, k, v = as_floats(query=query, key=key, value=value)
    check_matrices(q, k, same_size=by.same_size)
    if v.ndim < 2 or v.shape[-2] != k.shape[-2]:
        what = f"(..., S, Ev) with a row for each key, of which there are S = {k.shape[-2]}"
        raise ShapeError(f"value must have shape {what}, got value {v.shape}")
    broadcast_lead(query=q, key=k, value=v)
    shape = (*broadcast_lead(query=q, key=k), q.shape[-2], k.shape[-2])
    mask = None if attn_mask is None else _checked_mask(attn_mask, shape)
    # How many of the first keys each query may see, (..., L, 1).
    limits = None if valid_lens is None else _checked_lengths(valid_lens, shape)
    if as_bool("is_causal", is_causal):
        limits = np.minimum(shape[-1] if limits is None else limits, np.c_[1 : shape[-2] + 1])

    def masked(scores: Array, rows: slice, keys: slice) -> Array:
        out = scores.dtype.type(-np.inf)
        if mask is not None and mask.dtype.kind == "b":
            scores = np.where(mask[..., rows, keys], scores, out)
        elif mask is not None:
            with np.errstate(over="ignore"):  # softmax refuses +inf
                added = mask[..., rows, keys].astype(scores.dtype, copy=False)
                scores = np.add(scores, added, order="C")
        if limits is not None:
            places = keys.start + np.arange(scores.shape[-1])
            scores = np.where(places < limits[..., rows, :], scores, out)
        return scores

    return by, (q, k, v), masked


def _checked_mask(attn_mask: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Return a mask of bools or numbers as one (..., L, S)."""
    mask = as_array("attn_mask", attn_mask)
    if mask.dtype.kind not in "bf":
        raise ArgumentTypeError(
            f"attn_mask must be bool (True = attend) or float (added to the scores), got "
            f"dtype {mask.dtype}; for zeros and ones pass np.array(attn_mask, bool), and for the "
            f"keys up to a query's place is_causal=True"
        )
    if mask.dtype.kind == "f" and not (mask < np.inf).all():
        raise ShapeError("attn_mask must not hold NaN or +inf; -inf excludes a key")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ShapeError(
            f"attn_mask of shape {mask.shape} does not broadcast to the scores (..., L, S) {shape}"
        ) from None


def _checked_lengths(valid_lens: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Return lengths given by batch (...) or by query (..., L) as (..., L, 1)."""
    lengths = as_array("valid_lens", valid_lens)
    if lengths.dtype.kind not in "iu":
        raise ArgumentTypeError(f"valid_lens must be integers, got dtype {lengths.dtype}")
    by_query = lengths.ndim == len(shape) - 1
    try:
        each = np.broadcast_to(lengths if by_query else lengths[..., None], shape[:-1])
    except ValueError:
        what = f"{shape[:-2]} (one for each batch) or {shape[:-1]} (for each query)"
        raise ShapeError(f"valid_lens must have the shape {what}, got {lengths.shape}") from None
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= shape[-1]:
        got = " to ".join(map(str, sorted({int(lengths.min()), int(lengths.max())})))
        raise ShapeError(f"valid_lens must be between 0 and S = {shape[-1]}, got {got}")
    return each[..., None]


# ---- weighted sums, of all keys or of some -------------------------------------------------


def pool(weights: Array, value: Array) -> Array:
    """Return the weighted sums (..., L, Ev) of the values (..., S, Ev), by weights (..., L, S)."""
    with np.errstate(over="ignore", invalid="ignore"):
        output: Array = weights @ value
    require_finite(output, weights=weights, value=value)
    return output


class Partial(NamedTuple):
    """Attention over some of the keys, which can be merged with attention over others."""

    max: Array  # (..., L, 1), the largest score; -inf without keys
    sum: Array  # (..., L, 1), of exp((score - max) / temperature)
    weighted: Array  # (..., L, Ev), the sum of exp((score - max) / temperature) * value


def partial(scores: Array, value: Array, temperature: float = 1.0) -> Partial:
    """Return softmax attention over some keys, from scores (..., L, S) and values (..., S, Ev)."""
    tops = finite_tops(scores)
    weights = centred(scores, tops, as_divisor(temperature, scores.dtype))
    np.exp(weights, out=weights)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        weighted = weights @ value
    return Partial(np.where(total == 0, tops.dtype.type(-np.inf), tops), total, weighted)


def merge(a: Partial, b: Partial, temperature: float = 1.0) -> Partial:
    """Return attention over the keys of both; associative and commutative."""
    top = np.maximum(a.max, b.max)
    base = np.where(np.isneginf(top), top.dtype.type(0), top)
    divisor = as_divisor(temperature, top.dtype)
    to_a, to_b = (np.exp(centred(one.max, base, divisor)) for one in (a, b))
    return Partial(top, a.sum * to_a + b.sum * to_b, a.weighted * to_a + b.weighted * to_b)
