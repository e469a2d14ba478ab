"""The n-grams of texts, and which of many texts share them with a query."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import different, slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


#: Every n-gram has one of so many numbers; few share one.
BUCKETS = 1 << 16
_SIZES = (2, 3)
_MULTIPLIERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)  # odd, so that they mix
_FIRST, _SECOND, _THIRD = _MULTIPLIERS.tolist()
_TEXTS = 1 << 14  # texts whose n-grams are looked at together


def ngrams(text: str) -> list[int]:
    """Return the numbers, below 65536, of the different n-grams of a text, rising.

    The text is padded with a blank on both sides, so that its first and last letters count.

    >>> len(ngrams("color")), len({*ngrams("color")} & {*ngrams("colour")})
    (11, 8)
    """
    codes = [32, *map(ord, text), 32]
    twos = [one * _FIRST + two * _SECOND for one, two in pairwise(codes)]
    threes = [two + three * _THIRD for two, three in zip(twos, codes[2:], strict=False)]
    return sorted({(mixed & 0xFFFFFFFF) >> 16 for mixed in twos + threes})


def ngrams_of_each(texts: Sequence[str]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return the `ngrams` of n texts one after the other, (N,), and how many each has, (n,)."""
    if not texts:
        return np.zeros(0, np.uint16), np.zeros(0, np.int64)
    blocks = [_ngrams_of_some(texts[some]) for some in slices(len(texts), _TEXTS)]
    flat, counts = zip(*blocks, strict=True)
    return np.concatenate(flat), np.concatenate(counts)


def _ngrams_of_some(texts: Sequence[str]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    padded = f" {'  '.join(texts)} "
    codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 2
    owners = np.repeat(np.arange(len(texts)), lengths)
    pairs = []
    for size in _SIZES:
        count = max(len(codes) - size + 1, 0)
        mixed = codes[:count] * _MULTIPLIERS[0]
        for i in range(1, size):
            mixed += codes[i : i + count] * _MULTIPLIERS[i]
        inside = np.flatnonzero(owners[:count] == owners[size - 1 :])
        pairs.append((owners[inside] << 16) + (mixed[inside] >> np.uint32(16)))
    found = different(np.concatenate(pairs))
    counts = np.bincount(found >> 16, minlength=len(texts))
    return (found & 0xFFFF).astype(np.uint16), counts


class Postings:
    """Which of n texts have each n-gram. The rarer an n-gram is among them, the more it weighs.

    The likeness of two texts is the cosine of their n-grams, each weighted by its inverse document
    frequency (K. Spärck Jones, 1972).

    Args:
        flat: the n-grams of the texts one after the other, as of `ngrams_of_each`, (N,).
        counts: how many each text has, (n,).
        alive: which texts count, (n,); the others are like nothing. By default all.
        of_all: if these are some of more texts, how many of those have each n-gram, (65536,), and
            how many there are.

    >>> postings = Postings(*ngrams_of_each(["color", "brand", "model"]))
    >>> [round(float(one), 2) for one in postings.likeness(ngrams("colour"))]
    [0.67, 0.0, 0.0]
    """

    def __init__(
        self,
        flat: NDArray[np.uint16],
        counts: NDArray[np.int64],
        alive: NDArray[np.bool_] | None = None,
        of_all: tuple[NDArray[np.int64], int] | None = None,
    ) -> None:
        self.size = len(counts)
        total = self.size
        if alive is not None and not alive.all():
            flat, counts = flat[np.repeat(alive, counts)], np.where(alive, counts, 0)
            total = int(np.count_nonzero(alive))
        here = np.bincount(flat, minlength=BUCKETS)
        present = np.flatnonzero(here)  # a small dict has few of them
        counts_here = here[present]
        self._present, self._starts = present, np.append(0, np.cumsum(counts_here))
        self._of_all: NDArray[np.int64] | None = None if of_all is None else of_all[0]
        self._total: int = total if of_all is None else of_all[1]
        frequency = counts_here if self._of_all is None else self._of_all[present]
        self._squares = _squared_weights(frequency, self._total)
        places = np.zeros(BUCKETS, np.uint16)
        places[present] = np.arange(len(present))
        free = self._starts[:-1].copy()
        self._owners, self._shares = _inverted(places[flat], counts, self._squares, free)
        self._seen: dict[int, tuple[float, NDArray[np.int32], NDArray[np.float32]]] = {}

    @property
    def frequency(self) -> NDArray[np.int64]:
        """How many texts have each n-gram, (65536,): of all, if these are some of them."""
        if self._of_all is not None:
            return self._of_all
        frequency = np.zeros(BUCKETS, np.int64)
        frequency[self._present] = np.diff(self._starts)
        return frequency

    def likeness(self, asked: Sequence[int]) -> NDArray[np.float64]:
        """Return the likeness of each text to a query, given the n-grams of this, (n,)."""
        seen = self._seen
        found = [seen.get(one) or self._of(one) for one in asked]
        squares, owners, shares = zip(*found, strict=True)
        texts = np.concatenate(owners)
        if not len(texts):
            return np.zeros(self.size)
        sums: NDArray[Any] = np.bincount(texts, np.concatenate(shares), self.size)
        sums /= math.sqrt(sum(squares))
        return sums

    def _of(self, ngram: int) -> tuple[float, NDArray[np.int32], NDArray[np.float32]]:
        """Return the squared weight of an n-gram, the texts that have it, and its shares."""
        place = int(np.searchsorted(self._present, ngram))
        if place < len(self._present) and self._present[place] == ngram:
            some, square = slice(*self._starts[place : place + 2]), self._squares[place]
        else:
            some, count = slice(0), 0 if self._of_all is None else self._of_all[ngram]
            square = _squared_weights(np.asarray(count), self._total)
        found = self._seen[ngram] = float(square), self._owners[some], self._shares[some]
        return found


def _squared_weights(frequency: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.log1p(total / np.maximum(frequency, 1))
    return weights * weights


def _inverted(
    flat: NDArray[np.uint16],
    counts: NDArray[np.int64],
    squares: NDArray[np.float64],
    free: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return which texts have each n-gram, (N,), and the n-gram's share in each of them, (N,).

    Some texts are sorted at a time, so that little memory is used beside the result.

    Args:
        flat: the places of the n-grams of n texts among these P, (N,).
        counts: how many each text has, (n,).
        squares: the squared weight of each of P n-grams, (P,).
        free: where the texts of each n-gram begin, (P,); it is changed.
    """
    owners, shares = np.empty(len(flat), np.int32), np.empty(len(flat), np.float32)
    ends = np.append(0, np.cumsum(counts))
    for some in slices(len(counts), _TEXTS):
        part = flat[ends[some.start] : ends[some.start + len(counts[some])]]
        own = np.repeat(np.arange(len(counts[some])), counts[some])
        of_each = squares[part]
        lengths = np.sqrt(np.bincount(own, of_each, len(counts[some])))
        order = np.argsort(part, kind="stable")
        ordered, own = part[order], own[order]
        sizes = np.bincount(part, minlength=len(free))
        places = np.arange(len(part)) + (free - (np.cumsum(sizes) - sizes))[ordered]
        owners[places] = own + some.start
        shares[places] = of_each[order] / lengths[own]
        free += sizes
    return owners, shares
