"""Which few keys are worth a look: one product of vectors, one pass over n-grams.

L queries, n keys, C candidates of each, E numbers of a vector
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.search.align import Found, Query
from fuzzydict.text.ngrams import ngrams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.keys import Keys, WordTable
    from fuzzydict.text.ngrams import Postings


#: Keys that are compared with a query in detail.
CANDIDATES = 24
#: What is seen of each key at a glance; the judge weighs it.
GLANCE = ("n-grams", "n-grams squared", "nearness above the usual", "nearness by the encoder")


def query_of(asked: str, table: WordTable) -> Query:
    """Return a query as it is compared; it may have no words."""
    words = table.words_of(asked)
    return Query(asked, " ".join(words), [table[word] for word in words])


class Glance(NamedTuple):
    """What is seen of all keys at a glance.

    Attributes:
        odds: how much each key is worth a look, (L, n).
        likeness: the cosines of n-grams, (L, n).
        near: the cosines of vectors, (L, n).
        above: in standard deviations above the usual, (L, n).
    """

    odds: NDArray[np.float32]
    likeness: NDArray[np.float32]
    near: NDArray[np.float32]
    above: NDArray[np.float32]


def vectors_of(queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
    """Return the vectors of queries, (L, E): words weigh more that few of the keys have."""
    vectors = [vector_of(query, keys.weights_of(query.words)) for query in queries]
    return np.array(vectors, np.float32).reshape(len(queries), keys.table.size)


def vector_of(query: Query, weights: Sequence[float]) -> NDArray[np.float32]:
    """Return the vector of a query, (E,), given the weights of its words among the keys."""
    words = query.words
    vector = words[0].unit * np.float32(words[0].length * weights[0])
    for word, weight in zip(words[1:], weights[1:], strict=True):
        vector += word.unit * np.float32(word.length * weight)
    return vector


def glance(
    queries: Sequence[Query],
    keys: Keys,
    vectors: NDArray[np.float32],
    weights: NDArray[np.float32],
    *,
    is_encoded: bool = False,
    slots: NDArray[np.intp] | None = None,
) -> Glance:
    """Return what is seen of all keys at a glance, or of n in some slots.

    Args:
        queries: L queries.
        keys: n keys.
        vectors: those of the queries, as the keys have theirs, (L, E).
        weights: how to weigh what `GLANCE` names, (4,).
        is_encoded: whether the vectors are those of an encoder of whole texts.
        slots: those that are looked at; all if None.
    """
    some = slice(None) if slots is None else slots
    L, n = len(queries), len(keys) if slots is None else len(slots)
    likeness = np.empty((L, n), np.float32)
    for row, query in zip(likeness, queries, strict=True):
        row[:] = keys.postings.likeness(ngrams(query.text))[some]
    near = np.zeros((L, n), np.float32)
    if vectors.shape[1]:
        lengths = np.sqrt(np.einsum("le,le->l", vectors, vectors))[:, None]
        near = (vectors / np.maximum(lengths, np.float32(1e-9))) @ keys.vectors[some].T
        near *= keys.inverse_lengths[some]
    above = keys.background.above(near)
    if is_encoded:
        by_meaning = weights[3] * np.maximum(above, 0)
    else:
        trust = np.array([[_trust(query, keys)] for query in queries], np.float32)
        by_meaning = (weights[2] * trust) * np.maximum(above, 0)
    odds = weights[0] * likeness + weights[1] * likeness * likeness + by_meaning
    if len(keys.dead):
        odds[:, ~keys.alive[some]] = -np.inf
    return Glance(odds, likeness, near, above)


def _trust(query: Query, keys: Keys) -> float:
    weights = keys.weights_of(query.words)
    trusts = [word.trust for word in query.words]
    total = sum(weights)
    return sum(w * t for w, t in zip(weights, trusts, strict=True)) / total if total else 0.0


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


def most_alike(postings: Postings, text: str, count: int) -> NDArray[np.intp]:
    """Return the slots of at most ``count`` keys that share the most n-grams with a text."""
    likeness = postings.likeness(ngrams(text))
    count = min(count, len(likeness))
    best = np.argpartition(likeness, len(likeness) - count)[len(likeness) - count :]
    return best[likeness[best] > 0]
