"""Strings that share n-grams with each of many queries: what is counted often is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.text.ngrams import ngram_buckets_of_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.text.ngrams import NgramIndex, Postings

__all__ = ["shared_by_each"]

_FREQUENT = 32  # an n-gram of more than one string in so many is counted for all of them at once
_ROOM = 1 << 24  # bytes for these rows; of millions of strings not all frequent ones have one
_BLOCK = 1024  # queries taken apart at a time, so that memory stays bounded
_SLACK = 1e-3  # more than what rounding does to a number of n-grams


def shared_by_each(
    ngrams: NgramIndex, queries: Sequence[str], least: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
    """Yield for each query the strings with a cosine of ``least`` or more, and these, (c,) each.

    They are those of `NgramIndex.similarities`, to the bit, and ``least`` is above 0.

    >>> from fuzzydict.text.ngrams import NgramIndex
    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> [places.tolist() for places, _ in shared_by_each(index, ["colour", "mode"], 0.2)]
    [[0, 3], [2]]
    """
    counters, start = [], 0
    for part in ngrams.parts():
        counters.append(_Counter(part, start, least))
        start += part.size
    none = np.zeros(0, np.intp), np.zeros(0, np.float32)
    for some in slices(len(queries), _BLOCK):
        for buckets in ngram_buckets_of_each(queries[some]):
            places, cosines = zip(none, *(one.shared(buckets) for one in counters), strict=True)
            yield np.concatenate(places), np.concatenate(cosines)


class _Counter:
    """How many n-grams the strings of one part of an index share with a query.

    A frequent n-gram is kept as a row of ones and zeros: to add these costs less than to count.
    """

    def __init__(self, part: Postings, start: int, least: float) -> None:
        self._part, self._start, self._least = part, start, np.float32(least)
        self._rows: dict[int, NDArray[np.uint8]] = {}
        self._enough: dict[int, NDArray[Any]] = {}

    def shared(self, buckets: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the strings that share enough, rising, and their cosines."""
        asked = len(buckets)
        if asked not in self._enough:
            self._enough[asked] = self._fewest(asked)
        enough = self._enough[asked]
        counts = self._counts(buckets, enough.dtype.type)
        places = np.flatnonzero(counts >= enough)
        cosines = self._part.cosines(counts[places], places, asked)
        near = cosines >= self._least
        return places[near] + self._start, cosines[near]

    def _fewest(self, asked: int) -> NDArray[Any]:
        """Return how many n-grams each string must share at least, or one less, (size,)."""
        kind = np.uint8 if asked < 256 else np.uint16  # which hold what is counted
        fewest = np.ceil(self._least * self._part.norms * asked**0.5 - _SLACK)
        return np.asarray(np.clip(fewest, 1, np.iinfo(kind).max), kind)

    def _counts(self, buckets: NDArray[np.int64], kind: Any) -> NDArray[Any]:
        part, rare, frequent = self._part, [], []
        for place in part.places(buckets):
            row = part.row(place)
            ones = self._ones(place, row)
            if ones is None:
                rare.append(row)
            else:
                frequent.append(ones)
        counts = np.zeros(part.size, kind)
        if rare:
            np.add.at(counts, np.concatenate(rare, dtype=np.intp), kind(1))
        for ones in frequent:
            counts += ones
        return counts

    def _ones(self, place: int, row: NDArray[np.int32]) -> NDArray[np.uint8] | None:
        size, rows = self._part.size, self._rows
        if place not in rows and len(row) * _FREQUENT > size and (len(rows) + 1) * size <= _ROOM:
            rows[place] = np.zeros(size, np.uint8)
            rows[place][row] = 1
        return rows.get(place)
