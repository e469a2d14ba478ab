"""Which few keys are worth a look: one product of vectors, one pass over n-grams.

L queries, n keys, C candidates of each, E numbers of a vector
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.search.align import Found
from fuzzydict.text.ngrams import ngrams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.align import Query
    from fuzzydict.search.keys import Keys


#: Keys that are compared with a query in detail.
CANDIDATES = 24
#: What is seen of each key at a glance; the judge weighs it.
GLANCE = ("n-grams", "n-grams squared", "nearness above the usual", "nearness by the encoder")


class Glance(NamedTuple):
    """What is seen of n keys at a glance, each (L, n)."""

    odds: NDArray[np.float32]  # how much each key is worth a look
    likeness: NDArray[np.float32]  # the cosines of n-grams
    near: NDArray[np.float32]  # the cosines of vectors
    above: NDArray[np.float32]  # in standard deviations above the usual


def glance(
    queries: Sequence[Query],
    keys: Keys,
    vectors: NDArray[np.float32],
    weights: NDArray[np.float32],
    *,
    is_encoded: bool = False,
) -> Glance:
    """Return what is seen of all keys at a glance.

    Args:
        queries: L queries.
        keys: n keys.
        vectors: those of the queries, as the keys have theirs, (L, E).
        weights: how to weigh what `GLANCE` names, (4,).
        is_encoded: whether the vectors are those of an encoder of whole texts.
    """
    L, n = len(queries), len(keys)
    likeness = np.empty((L, n), np.float32)
    for row, query in zip(likeness, queries, strict=True):
        row[:] = keys.postings.likeness(ngrams(query.text))
    near = np.zeros((L, n), np.float32)
    if vectors.shape[1]:
        lengths = np.sqrt(np.einsum("le,le->l", vectors, vectors))[:, None]
        near = (vectors / np.maximum(lengths, np.float32(1e-9))) @ keys.vectors.T
        near *= keys.inverse_lengths
    above = keys.background.above(near)
    weight = weights[3]
    if not is_encoded:  # the vectors count as far as those of the words can be trusted
        trust = np.zeros((L, 1), np.float32)
        for i, query in enumerate(queries):
            shares = np.array(keys.weights_of(query.words))
            trusts = [word.trust for word in query.words]
            trust[i] = shares @ trusts / max(float(shares.sum()), 1e-9)
        weight = weights[2] * trust
    odds = weights[0] * likeness + weights[1] * likeness * likeness + weight * np.maximum(above, 0)
    if len(keys.dead):
        odds[:, keys.dead] = -np.inf
    return Glance(odds, likeness, near, above)


def candidates(seen: Glance, count: int = CANDIDATES) -> Found:
    """Return the keys that are most worth a look."""
    L, n = seen.odds.shape
    slots = largest(seen.odds, count) if n > count else np.tile(np.arange(n), (L, 1))
    at = np.arange(L)[:, None], slots
    return Found(slots, seen.likeness[at], seen.near[at], seen.above[at])


def largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the largest of n values, (L, count), rising; of equal ones the first."""
    least = np.partition(values, -count, axis=1)[:, -count]
    places = np.empty((len(values), count), np.intp)
    for row, numbers, bound in zip(places, values, least, strict=True):
        found = np.flatnonzero(numbers >= bound)
        if len(found) > count:
            equal = np.flatnonzero(numbers[found] == bound)
            found = np.delete(found, equal[count - len(found) :])
        row[:] = found
    return places
