"""Strings that share the most n-grams with a query, found among millions by the rare ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fuzzydict.text.ngrams import ngram_buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.text.ngrams import NgramIndex

__all__ = ["most_alike"]

_READ = 1 << 16  # strings that the rarest n-grams may name
_KEPT = 1024  # of them, those that share the most of these n-grams


def most_alike(
    ngrams: NgramIndex, query: str, count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the places of the strings most like a query, rising, and their cosines, both (c,).

    What `NgramIndex.similarities` would rank first, nearly always. Strings are candidates that have
    some of the query's rarest n-grams, for a string that shares most n-grams shares some of the
    rare ones as well (R. Bayardo et al., 2007, "Scaling up all pairs similarity search"); n-grams
    that a tenth of all strings have say little. There are fewer than ``count`` if fewer share any.

    >>> from fuzzydict.text.ngrams import NgramIndex
    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> places, cosines = most_alike(index, "colour", 3, np.ones(4, np.bool_))
    >>> places.tolist(), [round(float(c), 2) for c in cosines]
    ([0, 3], [0.67, 0.54])
    """
    buckets, start = ngram_buckets(query), 0
    places, cosines = [], []
    for part in ngrams.parts():
        some, shared = _sharing(part.rows(buckets), alive[start : start + part.size])
        places.append(some + start)
        cosines.append(part.cosines(shared, some, len(buckets)))
        start += part.size
    if not places:
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    return _first(np.concatenate(places), np.concatenate(cosines), count)


def _sharing(
    rows: list[NDArray[np.int32]], alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the living strings that are in the most rows, (c,), and in how many, (c,).

    Each row is rising. What is in none of the shortest rows is left out.
    """
    rows = sorted(rows, key=len)
    read = np.cumsum([len(row) for row in rows])
    few = max(1, int(np.searchsorted(read, _READ, side="right")))
    named = np.sort(np.concatenate(rows[:few])) if rows else np.zeros(0, np.int32)
    starts = np.flatnonzero(np.append(True, named[1:] != named[:-1])[: len(named)])
    places, shared = named[starts].astype(np.intp), np.diff(np.append(starts, len(named)))
    living = alive[places]
    places, shared = places[living], shared[living]
    if few == len(rows):
        return places, shared
    places, best = _first(places, shared.astype(np.float32), _KEPT)
    shared = best.astype(np.int64)
    for row in rows[few:]:
        shared += row.take(np.searchsorted(row, places), mode="clip") == places
    return places, shared


def _first(
    places: NDArray[np.intp], values: NDArray[np.float32], count: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the ``count`` places with the largest values, and these; of equals the first ones."""
    if len(places) <= count:
        return places, values
    least = np.partition(values, -count)[-count]
    above, equal = np.flatnonzero(values > least), np.flatnonzero(values == least)
    kept = np.sort(np.concatenate([above, equal[: count - len(above)]]))
    return places[kept], values[kept]
