"""The n-grams of texts, and which of many texts share them with a query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import different, slices

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


class Inverted(NamedTuple):
    """Which of some texts have each n-gram.

    Attributes:
        present: the n-grams that a text has, (P,), rising.
        starts: where the texts of each of these begin, (P + 1,).
        owners: the texts that have it, one n-gram after the other, (N,).
        size: the number of the last text, plus one.
    """

    present: NDArray[np.uint16]
    starts: NDArray[np.int64]
    owners: NDArray[np.int32]
    size: int

    @classmethod
    def of(cls, flat: NDArray[np.uint16], counts: NDArray[np.int64], first: int = 0) -> Inverted:
        """Invert the n-grams of texts, as of `ngrams_of_each`.

        Args:
            flat: of all texts, one after the other, (N,).
            counts: how many each has, (n,).
            first: the number of the first text.
        """
        order = np.argsort(flat, kind="stable")
        ordered, end = flat[order], first + len(counts)
        is_first = np.ones(len(flat), np.bool_)
        is_first[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(is_first)
        owners = np.repeat(np.arange(first, end, dtype=np.int32), counts)[order]
        return cls(ordered[starts], np.append(starts, len(flat)), owners, end)

    def texts(self, ngram: int) -> NDArray[np.int32]:
        """Return the texts that have an n-gram, rising."""
        place = int(np.searchsorted(self.present, ngram))
        is_here = place < len(self.present) and self.present[place] == ngram
        return self.owners[slice(*self.starts[place : place + 2])] if is_here else self.owners[:0]


#: As many texts, or one in as many, are inverted again when others are appended.
_LAST = 64


class Postings:
    """Which of n texts have each n-gram. The rarer an n-gram is among them, the more it weighs.

    The likeness of two texts is the cosine of their n-grams, each weighted by its inverse document
    frequency (K. Spärck Jones, 1972).

    Args:
        flat: the n-grams of the texts one after the other, as of `ngrams_of_each`, (N,).
        counts: how many each text has, one or more, (n,).
        alive: which texts count, (n,); the others are like nothing. By default all.
        of_all: if these are some of more texts, how many of those have each n-gram, (65536,), and
            how many there are.
        known: the n-grams of the first of these texts, inverted before, if they were.

    >>> postings = Postings(*ngrams_of_each(["color", "brand", "model"]))
    >>> [round(float(one), 2) for one in postings.likeness([ngrams("colour")])[0]]
    [0.67, 0.0, 0.0]
    """

    def __init__(
        self,
        flat: NDArray[np.uint16],
        counts: NDArray[np.int64],
        alive: NDArray[np.bool_] | None = None,
        of_all: tuple[NDArray[np.int64], int] | None = None,
        known: Inverted | None = None,
    ) -> None:
        self.size = total = len(counts)
        if known is None or not 0 <= total - known.size <= max(_LAST, known.size // _LAST):
            known = Inverted.of(flat, counts)
        #: Most of the texts, for the `Postings` of more.
        self.known = known
        self._parts = [known]
        if known.size < total:
            start = int(counts[: known.size].sum())
            self._parts.append(Inverted.of(flat[start:], counts[known.size :], known.size))
        present = np.concatenate([part.present for part in self._parts])
        self._present = different(present.astype(np.int64)) if len(self._parts) > 1 else present
        self._here = np.zeros(len(self._present), np.int64)
        for part in self._parts:
            self._here[np.searchsorted(self._present, part.present)] += np.diff(part.starts)
        dead = None if alive is None or alive.all() else ~alive
        if dead is not None:
            gone = np.bincount(flat[np.repeat(dead, counts)], minlength=BUCKETS)
            self._here -= gone[self._present]
            total -= int(np.count_nonzero(dead))
        self._of_all: NDArray[np.int64] | None = None if of_all is None else of_all[0]
        self._total: int = total if of_all is None else of_all[1]
        self._squares = self._squared_weights(self._present, self._here)
        squares = np.zeros(BUCKETS, np.float32)
        squares[self._present] = self._squares
        of_each = squares.take(flat, mode="clip")  # which is quicker than a check of the bounds
        lengths = np.sqrt(np.add.reduceat(of_each, np.cumsum(counts) - counts))
        self._scale = 1 / np.maximum(lengths, 1e-30)
        if dead is not None:
            self._scale[dead] = 0
        self._seen: dict[int, tuple[float, NDArray[np.int32]]] = {}

    @property
    def frequency(self) -> NDArray[np.int64]:
        """How many texts have each n-gram, (65536,): of all, if these are some of them."""
        if self._of_all is not None:
            return self._of_all
        frequency = np.zeros(BUCKETS, np.int64)
        frequency[self._present] = self._here
        return frequency

    def likeness(self, asked: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Return the likeness of each text to L queries, given the n-grams of these, (L, n)."""
        seen, L, n = self._seen, len(asked), self.size
        found = [seen.get(one) or self._of(one) for ngrams in asked for one in ngrams]
        squares = np.array([square for square, _ in found])
        counts = [len(owners) for _, owners in found]
        texts = np.concatenate([owners for _, owners in found])
        if not len(texts):
            return np.zeros((L, n))
        rows = np.repeat(np.arange(L), [*map(len, asked)])
        lengths = np.bincount(rows, squares, L)[:, None]
        if L > 1:
            texts = texts + np.repeat(rows * n, counts)
        sums = np.bincount(texts, np.repeat(squares, counts), L * n).reshape(L, n)
        likeness: NDArray[np.float64] = sums * self._scale  # 0 for a dead text
        likeness /= np.sqrt(np.maximum(lengths, 1e-30))
        return likeness

    def _of(self, ngram: int) -> tuple[float, NDArray[np.int32]]:
        """Return the squared weight of an n-gram, and the texts that have it."""
        owners = [part.texts(ngram) for part in self._parts]
        texts = owners[0] if len(owners) == 1 else np.concatenate(owners)
        place = int(np.searchsorted(self._present, ngram))
        if len(texts):
            square = self._squares[place]
        else:
            square = self._squared_weights(np.array(ngram), np.array(0))
        found = self._seen[ngram] = float(square), texts
        return found

    def _squared_weights(self, ngrams: NDArray[Any], here: NDArray[Any]) -> NDArray[np.float64]:
        """Return the squared weights of n-grams, given how many of these texts have each."""
        frequency = here if self._of_all is None else self._of_all[ngrams]
        weights: NDArray[np.float64] = np.log1p(self._total / np.maximum(frequency, 1))
        return weights * weights
