"""N-grams of characters, and an index of strings by their n-grams."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fuzzydict._arrays import different, slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


_SIZES = (2, 3)  # an n-gram has two or three characters
# Odd multipliers spread the characters of an n-gram over 32 bits; the upper 16 are its bucket.
_MULTIPLIERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)
_BLOCK = 4096  # strings indexed at a time, to save memory


@lru_cache(maxsize=256)  # a query is compared with the keys and with the vocabulary
def ngram_buckets(string: str) -> NDArray[np.int64]:
    """Return the numbers, below 65536, of the different n-grams of ``string``, in order.

    The array is shared between callers, and is read-only.
    """
    buckets = np.array(sorted(set(_ngrams([string])[0].tolist())), np.int64)
    buckets.flags.writeable = False
    return buckets


def ngram_buckets_of_each(strings: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return the `ngram_buckets` of each of n strings."""
    buckets, owners = _ngrams(strings)
    pairs = different((owners << 16) + buckets)
    ends = np.searchsorted(pairs, np.arange(1, len(strings)) << 16)
    return np.split(pairs & 0xFFFF, ends)[: len(strings)]


def _ngrams(strings: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bucket and the owner of every n-gram of ``strings``, (N,) and (N,).

    Each string is padded with a blank on both sides, so that its first and last letters count.
    """
    padded = f" {'  '.join(strings)} "
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings)) + 2
    owners = np.repeat(np.arange(len(strings)), lengths)
    buckets, places = [], []
    mixed = codes[:0]
    for size in _SIZES:
        starts = max(len(codes) - size + 1, 0)
        mixed = codes[:starts] * _MULTIPLIERS[0]
        for i in range(1, size):
            mixed += codes[i : i + starts] * _MULTIPLIERS[i]
        inside = np.flatnonzero(owners[:starts] == owners[size - 1 :])
        buckets.append((mixed[inside] >> np.uint32(16)).astype(np.int64))
        places.append(owners[inside])
    return np.concatenate(buckets), np.concatenate(places)


# ---- an index of strings ---------------------------------------------------------------------


class NgramIndex:
    """Strings indexed by their n-grams, to find those that resemble a query.

    The similarity is the cosine between the sets of n-grams of two strings. It is less exact than
    `text.similarity.likenesses`, which is computed for the best strings only, and costs one pass
    over the strings that share an n-gram with the query.

    >>> index = NgramIndex(["color", "brand", "model"])
    >>> [round(float(similarity), 2) for similarity in index.similarities("colour")]
    [0.67, 0.0, 0.0]
    """

    def __init__(self, strings: Sequence[str] = ()) -> None:
        self.strings: list[str] = []
        self._parts: list[Postings] = []
        self.extend(strings)

    def __len__(self) -> int:
        return len(self.strings)

    def __copy__(self) -> Self:
        new = type(self)()
        new.strings, new._parts = self.strings.copy(), self._parts.copy()  # a part never changes
        return new

    def extend(self, strings: Sequence[str]) -> None:
        """Append ``strings``; they are indexed by the next search."""
        self.strings.extend(strings)

    def similarities(self, query: str) -> NDArray[np.float32]:
        """Return the cosine of the n-grams of ``query`` with those of each string, (S,)."""
        parts, buckets = self.parts(), ngram_buckets(query)
        if len(parts) == 1:
            return parts[0].similarities(buckets)
        found = [part.similarities(buckets) for part in parts]
        return np.concatenate([np.zeros(0, np.float32), *found])

    def parts(self) -> list[Postings]:
        """Index the new strings, and return the parts of the index, in order.

        A part is merged with what follows unless it is at least twice as large. The sizes at
        least halve from one part to the next, so that there are few parts, and each string is
        indexed O(log n) times.
        """
        parts = self._parts
        size = len(self.strings) - sum([part.size for part in parts])
        if size > 0:
            parts = parts.copy()  # two threads may do this at once, with the same result
            while parts and parts[-1].size < 2 * size:
                size += parts.pop().size
            parts.append(Postings(self.strings[len(self.strings) - size :]))
            self._parts = parts
        return parts

    def check(self) -> None:
        """Assert that the parts cover the strings, and that their sizes at least halve."""
        sizes = [part.size for part in self.parts()]
        assert sum(sizes) == len(self.strings)
        assert all(2 * later <= size for size, later in itertools.pairwise(sizes))


class Postings:
    """For each n-gram, the strings that contain it: compressed rows, built once."""

    def __init__(self, strings: Sequence[str]) -> None:
        self.size = len(strings)
        pairs = self._pairs(strings)
        self._owners = pairs.astype(np.int32)  # the lower half
        pairs >>= 32
        starts = np.append(0, np.flatnonzero(pairs[1:] != pairs[:-1]) + 1)
        self._buckets = pairs[starts]
        self._starts = starts.astype(np.int32)
        self._ends = np.append(starts[1:], len(pairs)).astype(np.int32)
        counts = np.bincount(self._owners, minlength=self.size)
        self.norms = np.sqrt(np.maximum(counts, 1)).astype(np.float32)

    def _pairs(self, strings: Sequence[str]) -> NDArray[np.int64]:
        """Return a number for each different n-gram of each string, sorted: bucket, then owner."""
        pairs = np.empty(sum(2 * len(string) + 1 for string in strings), np.int64)
        used = 0
        for start in range(0, self.size, _BLOCK):
            buckets, owners = _ngrams(strings[start : start + _BLOCK])
            new = different((buckets << 32) + (owners + start))
            pairs[used : used + len(new)] = new
            used += len(new)
        pairs = pairs[:used]
        pairs.sort()
        return pairs

    def places(self, buckets: NDArray[np.int64]) -> list[int]:
        """Return the rows of those n-grams that any string has, rising."""
        places = np.searchsorted(self._buckets, buckets)
        return places[self._buckets.take(places, mode="clip") == buckets].tolist()  # type: ignore[no-any-return]

    def row(self, place: int) -> NDArray[np.int32]:
        """Return the strings that have an n-gram, rising."""
        return self._owners[self._starts[place] : self._ends[place]]

    def rows(self, buckets: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """Return the strings that have each n-gram which any of them has, rising."""
        places = self.places(buckets)
        ends = zip(self._starts[places].tolist(), self._ends[places].tolist(), strict=True)
        return [self._owners[start:end] for start, end in ends]

    def cosines(
        self, shared: NDArray[np.int64], places: NDArray[np.intp], asked: int
    ) -> NDArray[np.float32]:
        """Return the cosines of c strings that share ``shared`` of ``asked`` n-grams, (c,)."""
        norms = self.norms[places] * np.float32(asked**0.5)
        return np.asarray(shared / norms, np.float32)

    def similarities(self, buckets: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the cosine of these n-grams with those of each string, (size,)."""
        rows = self.rows(buckets)
        if not rows:
            return np.zeros(self.size, np.float32)
        shared = np.bincount(np.concatenate(rows), minlength=self.size)
        cosines: NDArray[np.float32] = shared.astype(np.float32)
        cosines /= self.norms * np.float32(len(buckets) ** 0.5)
        return cosines


def largest(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` largest values, rising; of equal values the first.

    >>> largest(np.array([0.5, 0.25, 0.5, 0.75, 0.5]), 3).tolist()
    [0, 2, 3]
    """
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))


# ---- one query, millions of strings ----------------------------------------------------------

_NAMED = 1 << 16  # strings that the rarest n-grams of a query may name
_KEPT = 1024  # strings kept of them, those that share the most of these n-grams


def most_alike(
    ngrams: NgramIndex, query: str, count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the places of the living strings most like a query, rising, and their cosines, (c,).

    The result is nearly always what `NgramIndex.similarities` ranks first. Only strings that have
    some of the rarest n-grams of the query are compared, since a string that shares most n-grams
    also shares some rare ones (R. Bayardo et al., 2007, "Scaling up all pairs similarity
    search"). There are fewer than ``count`` if fewer strings share an n-gram.

    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> places, cosines = most_alike(index, "colour", 3, np.ones(4, np.bool_))
    >>> places.tolist(), [round(float(c), 2) for c in cosines]
    ([0, 3], [0.67, 0.54])
    """
    buckets, start = ngram_buckets(query), 0
    places, cosines = [np.zeros(0, np.intp)], [np.zeros(0, np.float32)]
    for part in ngrams.parts():
        some, shared = _sharing(part.rows(buckets), alive[start : start + part.size])
        places.append(some + start)
        cosines.append(part.cosines(shared, some, len(buckets)))
        start += part.size
    found, alike = np.concatenate(places), np.concatenate(cosines)
    best = largest(alike, count)
    return found[best], alike[best]


def _sharing(
    rows: list[NDArray[np.int32]], alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the living strings that are in the most rows, (c,), and in how many, (c,).

    Each row is rising. A string that is in none of the shortest rows is left out.
    """
    rows = sorted(rows, key=len)
    read = np.cumsum([len(row) for row in rows])
    few = max(1, int(np.searchsorted(read, _NAMED, side="right")))
    named = np.sort(np.concatenate(rows[:few])) if rows else np.zeros(0, np.int32)
    starts = np.flatnonzero(np.append(True, named[1:] != named[:-1])[: len(named)])
    places, shared = named[starts].astype(np.intp), np.diff(np.append(starts, len(named)))
    living = alive[places]
    places, shared = places[living], shared[living]
    if few == len(rows):
        return places, shared
    best = largest(shared.astype(np.float32), _KEPT)
    places, shared = places[best], shared[best].astype(np.int64)
    for row in rows[few:]:
        shared += row.take(np.searchsorted(row, places), mode="clip") == places
    return places, shared


# ---- many queries -----------------------------------------------------------------------------

_FREQUENT = 32  # an n-gram of more than 1/32 of the strings is counted for all strings at once
_ROOM = 1 << 24  # bytes for the rows of frequent n-grams
_QUERIES = 1024  # queries whose n-grams are made at a time, to save memory
_SLACK = 1e-3  # more than the rounding error of a number of n-grams


def shared_by_each(
    ngrams: NgramIndex, queries: Sequence[str], least: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
    """Yield, for each query, the strings with a cosine of at least ``least``, and the cosines.

    Both arrays are (c,). The cosines are exactly those of `NgramIndex.similarities`; ``least`` is
    above 0.

    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> [places.tolist() for places, _ in shared_by_each(index, ["colour", "mode"], 0.2)]
    [[0, 3], [2]]
    """
    counters, start = [], 0
    for part in ngrams.parts():
        counters.append(_Counter(part, start, least))
        start += part.size
    none = np.zeros(0, np.intp), np.zeros(0, np.float32)
    for some in slices(len(queries), _QUERIES):
        for buckets in ngram_buckets_of_each(queries[some]):
            places, cosines = zip(none, *(one.shared(buckets) for one in counters), strict=True)
            yield np.concatenate(places), np.concatenate(cosines)


class _Counter:
    """Counts how many n-grams the strings of one part of an index share with a query.

    A frequent n-gram is kept as a row of ones and zeros, which is faster to add than to count.
    """

    def __init__(self, part: Postings, start: int, least: float) -> None:
        self._part, self._start, self._least = part, start, np.float32(least)
        self._rows: dict[int, NDArray[np.uint8]] = {}
        self._fewest_by_size: dict[int, NDArray[Any]] = {}

    def shared(self, buckets: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the strings that share enough n-grams, rising, and their cosines."""
        asked = len(buckets)
        if asked not in self._fewest_by_size:
            self._fewest_by_size[asked] = self._fewest(asked)
        fewest = self._fewest_by_size[asked]
        counts = self._counts(buckets, fewest.dtype.type)
        places = np.flatnonzero(counts >= fewest)
        cosines = self._part.cosines(counts[places], places, asked)
        near = cosines >= self._least
        return places[near] + self._start, cosines[near]

    def _fewest(self, asked: int) -> NDArray[Any]:
        """Return how many n-grams each string must share, or one less, (size,)."""
        kind = np.uint8 if asked < 256 else np.uint16  # large enough for the counts
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
