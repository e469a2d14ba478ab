"""N-grams of characters, and an index of strings by their n-grams."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import different, slices

_SIZES = (2, 3)  # an n-gram has two or three characters
# Odd multipliers spread the characters of an n-gram over 32 bits; the upper 16 are its bucket.
_MULTIPLIERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)
_BLOCK = 4096  # strings indexed at a time, to save memory
_REMEMBERED = 1 << 16  # n-grams whose bucket is remembered


class _Buckets(dict[tuple[str, ...], int]):
    """The bucket of each n-gram of a query, computed when it is first asked for."""

    def __missing__(self, ngram: tuple[str, ...]) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        mixed = sum(ord(c) * m for c, m in zip(ngram, _MULTIPLIERS.tolist(), strict=False))
        self[ngram] = bucket = int(mixed & 0xFFFFFFFF) >> 16
        return bucket


_BUCKETS = _Buckets()


def _bucket_set(string: str) -> set[int]:
    """Return the numbers of the different n-grams of a string."""
    padded = f" {string} "
    bucket, after = _BUCKETS.__getitem__, padded[1:]
    buckets = set(map(bucket, zip(padded, after, strict=False)))
    buckets.update(map(bucket, zip(padded, after, padded[2:], strict=False)))
    return buckets


@lru_cache(maxsize=256)  # a query is compared with the keys and with the vocabulary
def ngram_buckets(string: str) -> NDArray[np.int64]:
    """Return the numbers, below 65536, of the different n-grams of ``string``, in order.

    The array is shared between callers, and is read-only.
    """
    buckets = np.array(sorted(_bucket_set(string)), np.int64)
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
        self.strings = list(strings)
        self._size = len(self.strings)
        self._parts: list[Postings] = []

    @classmethod
    def of_part(cls, strings: list[str], part: Postings) -> Self:
        """Return an index of these strings, which were indexed before."""
        new = cls()
        new.strings, new._size, new._parts = strings, len(strings), [part]
        return new

    def __len__(self) -> int:
        return self._size

    def __copy__(self) -> Self:
        new = type(self)(self.strings[: self._size])
        new._parts = self._parts.copy()  # a part never changes
        return new

    def extended(self, strings: Sequence[str]) -> Self:
        """Return an index that has more strings; they are indexed by its next search.

        They are appended to the same list, of which this index goes on to use the first ones.
        """
        new = type(self)()
        self.strings.extend(strings)
        new.strings, new._size, new._parts = self.strings, len(self.strings), self._parts
        return new

    def similarities(self, query: str) -> NDArray[np.float32]:
        """Return the cosine of the n-grams of ``query`` with those of each string, (S,)."""
        buckets = _bucket_set(query)
        found = [part.similarities(buckets) for part in self.parts()]
        return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.float32), *found])

    def parts(self) -> list[Postings]:
        """Index the new strings, and return the parts of the index, in order.

        A part is merged with what follows unless it is at least twice as large. The sizes at
        least halve from one part to the next, so that there are few parts, and each string is
        indexed O(log n) times.
        """
        parts = self._parts
        size = self._size - sum([part.size for part in parts])
        if size > 0:
            parts = parts.copy()  # two threads may do this at once, with the same result
            while parts and parts[-1].size < 2 * size:
                size += parts.pop().size
            parts.append(Postings.of(self.strings[self._size - size : self._size]))
            self._parts = parts
        return parts

    def check(self) -> None:
        """Assert that the parts cover the strings, and that their sizes at least halve."""
        sizes = [part.size for part in self.parts()]
        assert sum(sizes) == self._size <= len(self.strings)
        assert all(2 * later <= size for size, later in itertools.pairwise(sizes))


class Table(Protocol):
    """Which strings have each n-gram."""

    @property
    def buckets(self) -> NDArray[Any]:
        """The n-grams that any string has, rising."""

    def row(self, bucket: int) -> NDArray[np.int32]:
        """Return the strings that have an n-gram, rising."""


class Postings:
    """For each n-gram, the strings that contain it: a part of an index, which never changes.

    Args:
        table: the strings that have each n-gram.
        counts: the number of n-grams of each string, (size,).

    Attributes:
        size: the number of strings.
        norms: the square root of the number of n-grams of each string, (size,).
        table: as given.
        rows: the rows of the table by their buckets.
    """

    def __init__(self, table: Table, counts: NDArray[Any]) -> None:
        self.size, self.table, self.rows = len(counts), table, _Rows(table)
        self.norms: NDArray[np.float32] = np.sqrt(np.maximum(counts, 1), dtype=np.float32)

    @classmethod
    def of(cls, strings: Sequence[str]) -> Postings:
        """Index strings."""
        pairs = _pairs(strings)
        owners = pairs.astype(np.int32)  # the lower half
        pairs >>= 32
        starts = np.append(0, np.flatnonzero(pairs[1:] != pairs[:-1]) + 1)
        table = _Sorted(pairs[starts], np.append(starts, len(pairs)), owners)
        return cls(table, np.bincount(owners, minlength=len(strings)))

    def cosines(
        self, shared: NDArray[Any], places: NDArray[np.intp], asked: int
    ) -> NDArray[np.float32]:
        """Return the cosines of c strings that share ``shared`` of ``asked`` n-grams, (c,)."""
        return np.asarray(shared, np.float32) / (self.norms[places] * np.float32(asked**0.5))

    def similarities(self, buckets: Collection[int]) -> NDArray[np.float32]:
        """Return the cosine of these n-grams with those of each string, (size,)."""
        named = np.concatenate(list(map(self.rows.__getitem__, buckets)))
        cosines = np.bincount(named, minlength=self.size).astype(np.float32)
        cosines /= self.norms * np.float32(len(buckets) ** 0.5)
        return cosines


_KEPT_ROWS = 1 << 13
_NO_ROW = np.zeros(0, np.int32)


class _Rows(dict[int, NDArray[np.int32]]):
    """The rows of a table by their buckets; each is found when it is first asked for."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, bucket: int) -> NDArray[np.int32]:
        if len(self) >= _KEPT_ROWS:
            self.clear()
        row = self._table.row(bucket)
        self[bucket] = row if len(row) else _NO_ROW
        return self[bucket]


class _Sorted(NamedTuple):
    """A table in memory.

    Attributes:
        buckets: see `Table`, (B,).
        starts: where the row of each begins, and where the last one ends, (B + 1,).
        owners: the rows, one after the other.
    """

    buckets: NDArray[np.int64]
    starts: NDArray[np.int64]
    owners: NDArray[np.int32]

    def row(self, bucket: int) -> NDArray[np.int32]:
        start, end = row_bounds(self.buckets, self.starts, bucket)
        return self.owners[start:end]


def row_bounds(buckets: NDArray[Any], starts: NDArray[np.int64], bucket: int) -> tuple[int, int]:
    """Return where the row of a bucket begins and ends; it is empty if there is none."""
    place = int(buckets.searchsorted(buckets.dtype.type(bucket)))
    if place < len(buckets) and buckets[place] == bucket:
        return int(starts[place]), int(starts[place + 1])
    return 0, 0


def _pairs(strings: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each different n-gram of each string, sorted: bucket, then owner."""
    pairs = np.empty(sum(2 * len(string) + 1 for string in strings), np.int64)
    used = 0
    for start in range(0, len(strings), _BLOCK):
        buckets, owners = _ngrams(strings[start : start + _BLOCK])
        new = different((buckets << 32) + (owners + start))
        pairs[used : used + len(new)] = new
        used += len(new)
    pairs = pairs[:used]
    pairs.sort()
    return pairs


_SORTED = 1 << 13  # values that are sorted faster than partitioned


def largest(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` largest values, rising; of equal values the first.

    >>> largest(np.array([0.5, 0.25, 0.5, 0.75, 0.5]), 3).tolist()
    [0, 2, 3]
    """
    if len(values) <= count:
        return np.arange(len(values))
    few = len(values) < _SORTED
    least = (np.sort(values) if few else np.partition(values, -count))[-count]
    is_kept = values >= least
    found: NDArray[np.intp] = is_kept.nonzero()[0]
    if len(found) > count:
        equal = found[values[found] == least]
        is_kept[equal[count - len(found) :]] = False
        found = is_kept.nonzero()[0]
    return found


# ---- one query ---------------------------------------------------------------------------------

_MANY = 1 << 16  # strings from which on those that share only frequent n-grams are not counted
_FREQUENT_SHARE = 0.2  # of the n-grams of a query, those that are only looked up
_RESOLVED = 16  # they are for at most one string in so many
_SLACK = 1e-3  # more than the rounding error of a number of n-grams


def most_alike(
    ngrams: NgramIndex, query: str, count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the ``count`` living strings most like a query, rising, and their cosines, (c,).

    They are those that `NgramIndex.similarities` ranks first; of equal ones the first. There are
    fewer only if fewer are alive.

    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> places, cosines = most_alike(index, "colour", 3, np.ones(4, np.bool_))
    >>> places.tolist(), [round(float(c), 2) for c in cosines]
    ([0, 1, 3], [0.67, 0.0, 0.54])
    """
    buckets, parts = _bucket_set(query), ngrams.parts()
    if len(parts) == 1:
        return _most_alike(parts[0], buckets, count, alive)
    places, cosines, start = [np.zeros(0, np.intp)], [np.zeros(0, np.float32)], 0
    for part in parts:
        some, alike = _most_alike(part, buckets, count, alive[start : start + part.size])
        places.append(some + start)
        cosines.append(alike)
        start += part.size
    found, alike = np.concatenate(places), np.concatenate(cosines)
    best = largest(alike, count)
    return found[best], alike[best]


def _most_alike(
    part: Postings, buckets: Collection[int], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return what `most_alike` does, of one part of an index."""
    if part.size >= _MANY:
        found = _by_rare_ngrams(part, buckets, count, alive)
        if found is not None:
            return found
    cosines = part.similarities(buckets)
    if alive.all():
        best = largest(cosines, count)
    else:
        cosines[~alive] = -1
        best = largest(cosines, count)
        best = best[cosines[best] >= 0]
    return best, cosines[best]


def _by_rare_ngrams(
    part: Postings, buckets: Collection[int], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]] | None:
    """Return what `most_alike` does, or None if that takes more than a count of all n-grams.

    The k most frequent n-grams of a query are in more strings than all others. They are looked up
    only for the strings that may be among the best, those that share enough of the others. (H.
    Turtle and J. Flood, 1995, "Query evaluation: strategies and optimizations".)
    """
    asked = len(buckets)
    rows = sorted([part.rows[bucket] for bucket in buckets], key=len)
    rare = len(rows) - int(asked * _FREQUENT_SHARE)
    kind = _kind(asked)
    shared: NDArray[Any] = np.zeros(part.size, kind)
    np.add.at(shared, np.concatenate(rows[:rare], dtype=np.intp), kind(1))
    return _best_counted(part, shared, rows[rare:], asked, count, alive)


def _best_counted(
    part: Postings,
    shared: NDArray[Any],
    left: list[NDArray[np.int32]],
    asked: int,
    count: int,
    alive: NDArray[np.bool_],
) -> tuple[NDArray[np.intp], NDArray[np.float32]] | None:
    """Return what `most_alike` does, or None if too many strings may be among the best.

    Args:
        part: the strings, (size,).
        shared: how many n-grams of the query each has, but for those left, (size,); overwritten.
        left: the strings that have each n-gram left, rising.
        asked: the number of n-grams of the query.
        count: how many strings are wanted.
        alive: which may be among them, (size,).
    """
    if not alive.all():
        shared[~alive] = 0
    fewest = _fewest_of_best(shared, count, asked - len(left))
    places = (shared >= fewest).nonzero()[0]
    if not fewest or len(places) * _RESOLVED > part.size:
        return None
    cosines = part.cosines(_in_all(left, shared, places), places, asked)
    least = float(np.partition(cosines, -count)[-count])
    needed = part.norms * np.float32(least * asked**0.5)
    needed -= len(left) + _SLACK
    places = ((shared >= needed) & alive).nonzero()[0]
    if len(places) * _RESOLVED > part.size:
        return None
    cosines = part.cosines(_in_all(left, shared, places), places, asked)
    best = largest(cosines, count)
    return places[best], cosines[best]


def _kind(most: int) -> Any:
    """Return a type of whole numbers, up to ``most``."""
    return np.uint8 if most < 256 else np.uint16


def _fewest_of_best(shared: NDArray[Any], count: int, most: int) -> int:
    """Return the largest number, at most ``most``, that ``count`` strings reach; else 0."""
    below, above = 0, most + 1
    while above - below > 1:
        middle = (below + above) // 2
        if np.count_nonzero(shared >= middle) >= count:
            below = middle
        else:
            above = middle
    return below


def _in_all(
    rows: list[NDArray[np.int32]], shared: NDArray[Any], places: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Return how many n-grams c strings share: those counted, and those of these rows, (c,)."""
    total, strings = shared[places].astype(np.int32), places.astype(np.int32)
    for row in rows:
        total += row.take(row.searchsorted(strings), mode="clip") == strings
    return total


# ---- many queries -----------------------------------------------------------------------------

_FEW = 8  # queries that are answered one by one
_DENSE = 1 << 13  # strings up to which their n-grams are counted by a matrix product
_CELLS = 1 << 16  # counts at a time, which stay in the processor's cache
_FREQUENT = 32  # an n-gram of more than 1/32 of the strings is counted for all strings at once
_ROOM = 1 << 24  # bytes for the rows of frequent n-grams
_QUERIES = 1024  # queries whose n-grams are made at a time, to save memory


def most_alike_of_each(
    ngrams: NgramIndex, queries: Sequence[str], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return what `most_alike` does for each of L queries, (L, count) and (L, count).

    Where fewer strings are alive, the rest of the places is -1, and of the cosines 0.

    >>> index = NgramIndex(["color", "brand", "model", "colors"])
    >>> places, cosines = most_alike_of_each(index, ["colour", "mode"], 2, np.ones(4, np.bool_))
    >>> places.tolist(), np.round(cosines.astype(float), 2).tolist()
    ([[0, 3], [0, 2]], [[0.67, 0.54], [0.0, 0.7]])
    """
    places = np.full((len(queries), count), -1, np.intp)
    cosines = np.zeros((len(queries), count), np.float32)
    if len(queries) <= _FEW:
        for row, query in enumerate(queries):
            found, alike = most_alike(ngrams, query, count, alive)
            places[row, : len(found)], cosines[row, : len(found)] = found, alike
        return places, cosines
    for some in slices(len(queries), _QUERIES):
        found, alike = _of_all_parts(ngrams, queries[some], count, alive)
        places[some, : found.shape[1]], cosines[some, : found.shape[1]] = found, alike
    return places, cosines


def _of_all_parts(
    ngrams: NgramIndex, queries: Sequence[str], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return what `most_alike_of_each` does, in at most ``count`` columns."""
    places: list[NDArray[np.intp]] = [np.zeros((len(queries), 0), np.intp)]
    cosines: list[NDArray[np.float32]] = [np.zeros((len(queries), 0), np.float32)]
    start = 0
    for part in ngrams.parts():
        search = _by_products if part.size <= _DENSE else _by_counters
        found, alike = search(part, queries, count, alive[start : start + part.size])
        places.append(found + start)
        cosines.append(alike)
        start += part.size
    found, alike = np.hstack(places), np.hstack(cosines)
    columns = largest_of_each(alike, count)
    found, alike = np.take_along_axis(found, columns, 1), np.take_along_axis(alike, columns, 1)
    missing = alike < 0
    if missing.any():
        order = np.argsort(np.where(missing, len(ngrams), found), axis=1)
        found = np.take_along_axis(np.where(missing, -1, found), order, 1)
        alike = np.take_along_axis(np.where(missing, 0, alike), order, 1)
    return found, alike


def largest_of_each(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return `largest` of each row of values, (L, n): (L, count), or (L, n) if that is less.

    >>> largest_of_each(np.array([[0.5, 0.25, 0.5], [0.0, -1.0, 0.0]], np.float32), 2).tolist()
    [[0, 2], [0, 2]]
    """
    size = values.shape[1]
    if size <= count:
        return np.broadcast_to(np.arange(size), values.shape)
    # The bits of positive numbers are ordered as these are; place by place no two are equal.
    ranks = np.ascontiguousarray(values, np.float32).view(np.int32).astype(np.int64)
    ranks <<= 32
    ranks -= np.arange(size)
    ranks.partition(size - count, axis=1)
    best: NDArray[np.intp] = -ranks[:, size - count :] & 0xFFFFFFFF
    best.sort(axis=1)
    return best


def _by_products(
    part: Postings, queries: Sequence[str], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the strings of a part most like each query and the cosines, -1 for dead strings.

    The counts are a product of matrices of zeros and ones: of the n-grams of the queries, and of
    those of the strings.
    """
    from scipy.sparse import csr_array

    buckets, owners = _ngrams(queries)
    pairs = different((owners << 16) + buckets)
    asked = np.bincount(pairs >> 16, minlength=len(queries))
    used, columns = np.unique(pairs & 0xFFFF, return_inverse=True)
    kind = _kind(int(asked.max()))

    def ones(columns: NDArray[Any], starts: NDArray[Any], size: int) -> Any:
        filled = np.ones(len(columns), kind)
        return csr_array((filled, columns, starts), shape=(len(starts) - 1, size))

    rows = [part.rows[bucket] for bucket in used.tolist()]
    ends = np.append(0, np.cumsum(list(map(len, rows))))
    strings = ones(np.concatenate(rows), ends, part.size).toarray()
    starts, dead = np.append(0, np.cumsum(asked)), np.flatnonzero(~alive)
    places, cosines = [], []
    for some in slices(len(queries), max(_CELLS // part.size, 1)):
        first, last = starts[some.start], starts[some.stop]
        block = ones(columns[first:last], starts[some.start : some.stop + 1] - first, len(used))
        norms = part.norms * np.sqrt(asked[some], dtype=np.float32)[:, None]
        alike = np.divide(block @ strings, norms, out=norms)
        if len(dead):
            alike[:, dead] = -1
        places.append(largest_of_each(alike, count))
        cosines.append(np.take_along_axis(alike, places[-1], 1))
    return np.concatenate(places), np.concatenate(cosines)


def _by_counters(
    part: Postings, queries: Sequence[str], count: int, alive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the strings of a part most like each query and the cosines, -1 if there are fewer."""
    counter = _Counter(part)
    places = np.full((len(queries), count), -1, np.intp)
    cosines = np.full((len(queries), count), -1, np.float32)
    for row, buckets in enumerate(ngram_buckets_of_each(queries)):
        asked = buckets.tolist()
        shared = counter.counts(asked)
        best = _best_counted(part, shared, [], len(asked), count, alive)
        found, alike = best or _most_alike(part, asked, count, alive)
        places[row, : len(found)], cosines[row, : len(found)] = found, alike
    return places, cosines


class _Counter:
    """Counts how many n-grams the strings of one part of an index share with a query.

    A frequent n-gram is kept as a row of ones and zeros, which is faster to add than to count.
    """

    def __init__(self, part: Postings) -> None:
        self._part = part
        self._rows: dict[int, NDArray[np.uint8]] = {}

    def counts(self, buckets: Collection[int]) -> NDArray[Any]:
        """Return how many of these n-grams each string has, (size,)."""
        part, known, rare, frequent = self._part, self._rows, [], []
        most = part.size // _FREQUENT
        for bucket in buckets:
            ones = known.get(bucket)
            if ones is None:
                row = part.rows[bucket]
                if len(row) <= most or (ones := self._ones(bucket, row)) is None:
                    rare.append(row)
                    continue
            frequent.append(ones)
        kind = _kind(len(buckets))
        counts: NDArray[Any] = frequent[0].astype(kind) if frequent else np.zeros(part.size, kind)
        if rare:
            np.add.at(counts, np.concatenate(rare, dtype=np.intp), kind(1))
        for ones in frequent[1:]:
            counts += ones
        return counts

    def _ones(self, bucket: int, row: NDArray[np.int32]) -> NDArray[np.uint8] | None:
        size, rows = self._part.size, self._rows
        if (len(rows) + 1) * size > _ROOM:
            return None
        ones = np.zeros(size, np.uint8)
        ones[row] = 1
        rows[bucket] = ones
        return ones


# ---- strings that never change --------------------------------------------------------------

_LIKELY = 0.27  # most queries have so near strings, as many as are wanted


class NgramSearch:
    """Strings that never change, to find those most like a query, for one query after another.

    It keeps the rows of frequent n-grams, a byte for each string.

    Args:
        strings: n strings.
        least: the least cosine of the n-grams of a query and a string, above 0.

    >>> NgramSearch(["color", "brand", "model", "colors"], least=0.2).most_alike("colour", 3)
    array([0, 3])
    """

    def __init__(self, strings: list[str], least: float) -> None:
        self.strings, self._levels = strings, (max(least, _LIKELY), least)
        self._fewest_by_size: dict[tuple[float, int], NDArray[Any]] = {}

    def most_alike(self, query: str, count: int) -> NDArray[np.intp]:
        """Return the places of the strings most like a query, at most ``count``, rising.

        Of equally near ones they are the first.
        """
        if not self.strings:
            return np.zeros(0, np.intp)
        buckets, (part, counter) = _bucket_set(query), self._counter
        counts = counter.counts(buckets)
        for least in self._levels:
            places: NDArray[np.intp] = (counts >= self._fewest(least, len(buckets))).nonzero()[0]
            cosines = part.cosines(counts[places], places, len(buckets))
            if np.count_nonzero(cosines >= np.float32(least)) >= count:
                return places[largest(cosines, count)]
        return places[cosines >= np.float32(least)]

    def _fewest(self, least: float, asked: int) -> NDArray[Any]:
        """Return how many n-grams each string must share, or one less, (n,)."""
        known = self._fewest_by_size
        if (least, asked) not in known:
            kind, (part, _) = _kind(asked), self._counter
            fewest = np.ceil(np.float32(least) * part.norms * asked**0.5 - _SLACK)
            known[least, asked] = np.clip(fewest, 1, np.iinfo(kind).max).astype(kind)
        return known[least, asked]

    @cached_property
    def _counter(self) -> tuple[Postings, _Counter]:
        part = Postings.of(self.strings)
        return part, _Counter(part)
