"""The n-grams of strings, and an index of them: which strings share the most with a query."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np

from fuzzydict._arrays import different

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NgramIndex", "Postings", "ngram_buckets", "ngram_buckets_of_each"]

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
