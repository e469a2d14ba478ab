"""Attention over many keys in bounded memory: parts of it, and how two parts become one.

The softmax-weighted mean over a set of keys follows from three numbers for each query: the largest
score, the sum of the weights relative to it, and the weighted sum of the values. Those of two sets
of keys give those of their union (Milakov and Gimelshein 2018, section 3.1; Rabe and Staats 2021),
in any order: so the keys may come in blocks, or from several machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, broadcast_lead, require_finite, slices
from fuzzydict.nn.base import Scorer
from fuzzydict.nn.masks import Mask
from fuzzydict.nn.softmax import finite_tops, warn_of_empty_rows

__all__ = ["EMPTY", "Partial", "finish", "merge", "partial", "stream"]

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
