"""The n-grams of strings, and an index of them: which strings share the most with a query."""

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

__all__ = [
    "NgramIndex",
    "Postings",
    "most_alike",
    "ngram_buckets",
    "ngram_buckets_of_each",
    "shared_by_each",
]


_SHORT = 40  # characters of a string whose n-grams are kept, so that the cache is small
_BLOCK = 4096  # strings indexed at a time, so that little memory is taken in passing


_SIZES = (2, 3)  # an n-gram has two or three characters


# Odd multipliers spread the characters of an n-gram over 32 bits; the upper 16 are its bucket.
_MULTIPLIERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)


def ngram_buckets(string: str) -> NDArray[np.int64]:
    """Return the numbers, below 65536, of the different n-grams of ``string``, in order.

    They are not to be written to, for the same ones may be returned again.
    """
    return _short_buckets(string) if len(string) <= _SHORT else _buckets(string)


def _buckets(string: str) -> NDArray[np.int64]:
    buckets = different(_ngrams([string])[0])
    buckets.flags.writeable = False
    return buckets


@lru_cache(maxsize=256)  # a query is compared with keys, and with the vocabulary
def _short_buckets(string: str) -> NDArray[np.int64]:
    return _buckets(string)


def ngram_buckets_of_each(strings: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return the `ngram_buckets` of each of n strings."""
    buckets, owners = _ngrams(strings)
    pairs = different((owners << 16) + buckets)
    ends = np.searchsorted(pairs, np.arange(1, len(strings)) << 16)
    return np.split(pairs & 0xFFFF, ends)[: len(strings)]


class NgramIndex:
    """Strings by their n-grams of characters: which of them resemble a query at all.

    Comparing a query with every string costs a string comparison each. The cosine between two
    strings' sets of n-grams costs one pass over the strings that share an n-gram; it is rougher,
    so the best few by it are then compared by `likeness`.

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
        """Append ``strings``, which are indexed once they are asked for."""
        self.strings.extend(strings)

    def similarities(self, query: str) -> NDArray[np.float32]:
        """Return the cosine of the n-grams of ``query`` with those of each string, (S,)."""
        parts = self.parts()
        if not parts:
            return np.zeros(0, np.float32)
        buckets = ngram_buckets(query)
        return np.concatenate([part.similarities(buckets) for part in parts])

    def parts(self) -> list[Postings]:
        """Index what is new, and return the parts of the index, in order.

        A part that is not twice as large as what follows is merged with it.

        So the parts' sizes at least halve from one to the next: there are few of them, and as a
        part grows by half or more when it is merged, each string is indexed but log(n) times.
        """
        parts = self._parts
        size = len(self.strings) - sum(part.size for part in parts)
        if size > 0:
            parts = parts.copy()  # two threads may do this at once, and come to the same
            while parts and parts[-1].size < 2 * size:
                size += parts.pop().size
            parts.append(Postings(self.strings[len(self.strings) - size :]))
            self._parts = parts
        return parts

    def _check(self) -> None:
        """Assert that the parts cover the strings, each at least halving from the one before."""
        sizes = [part.size for part in self.parts()]
        assert sum(sizes) == len(self.strings)
        assert all(2 * later <= size for size, later in itertools.pairwise(sizes))


class Postings:
    """For each n-gram, the strings that have it: compressed rows, built once."""

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
        """Return where the n-grams stand that any string has, rising."""
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
        """Return the cosines of strings that share so many n-grams with so many, (c,)."""
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


def _ngrams(strings: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bucket and the owner of every n-gram of ``strings``, (N,) and (N,).

    Each string stands between two blanks, so that its first and last letters count as such.
    """
    padded = "".join(f" {string} " for string in strings)
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings)) + 2
    owners = np.repeat(np.arange(len(strings)), lengths)
    buckets, places = [], []
    for size in _SIZES:
        starts = max(len(codes) - size + 1, 0)
        mixed = sum(codes[i : i + starts] * _MULTIPLIERS[i] for i in range(size))
        inside = np.flatnonzero(owners[:starts] == owners[size - 1 :])
        buckets.append((mixed[inside] >> np.uint32(16)).astype(np.int64))
        places.append(owners[inside])
    return np.concatenate(buckets), np.concatenate(places)


_FREQUENT = 32  # an n-gram of more than one string in so many is counted for all of them at once
_ROOM = 1 << 24  # bytes for these rows; of millions of strings not all frequent ones have one
_BLOCK_OF_NGRAM_COUNTS = 1024  # queries taken apart at a time, so that memory stays bounded
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
    for some in slices(len(queries), _BLOCK_OF_NGRAM_COUNTS):
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
