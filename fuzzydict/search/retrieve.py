"""Which few keys are worth a look: one product of vectors, one pass over n-grams.

L queries, n keys, C candidates of each, E numbers of a vector
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import ignore_invalid, units
from fuzzydict.search.align import Found, Query, by_share
from fuzzydict.search.keys import Keys, shares_of
from fuzzydict.text.ngrams import ngrams

#: Keys that are compared with a query in detail.
CANDIDATES = 24
#: What is seen of each key at a glance; the judge weighs it.
GLANCE = ("n-grams", "n-grams squared", "nearness above the usual", "nearness by the encoder")


class Glance(NamedTuple):
    """What is seen of n keys at a glance, each (L, n)."""

    odds: NDArray[np.float32]  # log-odds that tell how much each key is worth a look
    of_ngrams: NDArray[np.float32]  # the cosines of n-grams
    near: NDArray[np.float32]  # the cosines of the vectors of words
    above: NDArray[np.float32]  # in standard deviations above the usual
    encoded: NDArray[np.float32]  # the cosines by an encoder; zeros without one
    encoded_above: NDArray[np.float32]


@ignore_invalid
def glance(
    queries: Sequence[Query],
    keys: Keys,
    vectors: NDArray[np.float32],
    weights: NDArray[np.float32],
    *,
    is_encoded: bool = False,
) -> Glance:
    """Return what is seen of all keys at a glance, given the vectors of the queries, (L, E).

    What `GLANCE` names is weighed by ``weights``, (4,); the vectors are those of words or, if
    ``is_encoded``, those of an encoder of whole texts.
    """
    L, n = len(queries), len(keys)
    likeness = keys.postings.likeness([ngrams(query.text) for query in queries])
    of_ngrams = likeness.astype(np.float32)
    near = units(vectors) @ keys.vectors.T * keys.inverse_lengths
    above = keys.background.above(near)
    odds = weights[0] * of_ngrams + weights[1] * of_ngrams * of_ngrams
    shares = [shares_of(np.array(keys.weights_of(query.words))) for query in queries]
    encoded = encoded_above = np.broadcast_to(np.float32(0), (L, n))
    if is_encoded:
        encoded, encoded_above = near, above
        odds += weights[3] * np.maximum(above, 0)
        near = keys.near_by_words(np.array(list(map(by_share, queries, shares))))
        above = keys.table.background.above(near)
    trust = np.zeros((L, 1), np.float32)  # how far the vectors of the words can be trusted
    for i, (query, share) in enumerate(zip(queries, shares, strict=True)):
        trust[i] = share @ [word.trust for word in query.words]
    odds += weights[2] * trust * np.maximum(above, 0)
    if len(keys.dead):
        odds[:, keys.dead] = -np.inf
    return Glance(odds, of_ngrams, near, above, encoded, encoded_above)


def candidates(seen: Glance, count: int = CANDIDATES) -> Found:
    """Return the keys that are most worth a look."""
    L, n = seen.odds.shape
    slots = largest(seen.odds, count) if n > count else np.tile(np.arange(n), (L, 1))
    at = np.arange(L)[:, None], slots
    return Found(slots, *(seen_of[at] for seen_of in seen[1:]))


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
