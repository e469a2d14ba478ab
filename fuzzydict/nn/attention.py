"""Attention: scores become weights, and weights pool the values.

output = softmax((score(query, key) + mask) / temperature) @ value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import (
    Array,
    as_floats,
    broadcast_lead,
    check_matrices,
    positive,
    require_finite,
    unbroadcast,
)
from fuzzydict.errors import OptionError, ShapeError
from fuzzydict.nn.masks import Mask
from fuzzydict.nn.scorers import ScaledDot, Scorer, ScorerLike, as_scorer
from fuzzydict.nn.softmax import Normalize, as_normalizer
from fuzzydict.nn.streaming import stream

__all__ = ["AttentionBackward", "AttentionGradients", "attention", "attention_forward", "pool"]


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
