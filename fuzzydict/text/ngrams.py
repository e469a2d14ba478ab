"""The n-grams of texts, and which of many texts share them with a query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import slices

#: Every n-gram has one of so many numbers; few share one.
BUCKETS = 1 << 16
_FIRST, _SECOND, _THIRD = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D  # odd, so that they mix
_FEW = 8  # texts whose n-grams are made sooner one by one than as arrays
_TEXTS = 1 << 14  # texts whose n-grams are looked at together
_LAST = 64  # as many texts, or one in as many, are inverted again when others are appended


def ngrams(text: str) -> list[int]:
    """Return the numbers, below 65536, of the different n-grams of a text, rising.

    They are pairs of characters, and triples in whichever order, so that a text with two letters
    exchanged has most of them. The text is padded with a blank on both sides, so that its first and
    last letters count.

    >>> len(ngrams("color")), len({*ngrams("color")} & {*ngrams("colour")})
    (11, 8)
    """
    return ngrams_of_several([text])[0]


@lru_cache(maxsize=1024)
def _mixed(code: int) -> int:
    """Return the number of a character that is added up in triples."""
    return code * (code * (code * _THIRD + _SECOND) + _FIRST) & 0xFFFFFFFF


def ngrams_of_each(texts: Sequence[str]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return the `ngrams` of n texts one after the other, (N,), and how many each has, (n,)."""
    flat, counts = [np.zeros(0, np.uint16)], [np.zeros(0, np.int64)]
    for some in slices(len(texts), _TEXTS) if texts else ():
        padded = f" {'  '.join(texts[some])} "
        codes = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, texts[some]), np.int64) + 2
        owners = np.repeat(np.arange(len(lengths)), lengths)
        first, second, third = np.array([_FIRST, _SECOND, _THIRD], np.uint32)
        each = codes * (codes * (codes * third + second) + first)
        twos = codes[:-1] * first + codes[1:] * second
        threes = each[:-2] + each[1:-1] + each[2:]
        pairs = []
        for mixed in (twos, threes):
            inside = np.flatnonzero(owners[: len(mixed)] == owners[len(owners) - len(mixed) :])
            pairs.append((owners[inside] << 16) + (mixed[inside] >> np.uint32(16)))
        found = np.sort(np.concatenate(pairs))
        found = found[np.diff(found, prepend=-1) > 0]  # several times as fast as np.unique
        flat.append((found & 0xFFFF).astype(np.uint16))
        counts.append(np.bincount(found >> 16, minlength=len(lengths)))
    return np.concatenate(flat), np.concatenate(counts)


def ngrams_of_several(texts: Sequence[str]) -> list[list[int]]:
    """Return the `ngrams` of each of several texts.

    >>> ngrams_of_several(["red", "", "blue"]) == [ngrams("red"), ngrams(""), ngrams("blue")]
    True
    """
    if len(texts) > _FEW:
        flat, counts = ngrams_of_each(texts)
        numbers, ends = flat.tolist(), counts.cumsum().tolist()
        return [numbers[start:end] for start, end in pairwise([0, *ends])]
    found = list[list[int]]()
    for text in texts:
        codes = [32, *map(ord, text), 32]
        each = [*map(_mixed, codes)]
        twos = [one * _FIRST + two * _SECOND for one, two in pairwise(codes)]
        threes = [a + b + c for a, b, c in zip(each, each[1:], each[2:], strict=False)]
        found.append(sorted({(mixed & 0xFFFFFFFF) >> 16 for mixed in twos + threes}))
    return found


class Inverted(NamedTuple):
    """Which of some texts have each n-gram."""

    present: NDArray[np.uint16]  # the n-grams that a text has, (P,), rising
    starts: NDArray[np.int64]  # where the texts of each of these begin, (P + 1,)
    owners: NDArray[np.int32]  # the texts that have it, one n-gram after the other, (N,)
    size: int  # the number of the last text, plus one

    @classmethod
    def of(cls, flat: NDArray[np.uint16], counts: NDArray[np.int64], first: int = 0) -> Inverted:
        """Invert n-grams as of `ngrams_of_each`, given the number of the first of their texts."""
        order, end = np.argsort(flat, kind="stable"), first + len(counts)
        ordered, is_first = flat[order], np.ones(len(flat), np.bool_)
        is_first[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(is_first)
        owners = np.repeat(np.arange(first, end, dtype=np.int32), counts)[order]
        return cls(ordered[starts], np.append(starts, len(flat)), owners, end)

    def texts(self, ngrams: list[int]) -> list[NDArray[np.int32]]:
        """Return the texts that have each of some n-grams, rising."""
        sought = np.array(ngrams, np.uint16)  # of the type of the others, which are not converted
        sides = [self.present.searchsorted(sought, side) for side in ("left", "right")]
        ranges = zip(*[self.starts[places].tolist() for places in sides], strict=True)
        return [self.owners[start:end] for start, end in ranges]


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
        self.size = len(counts)
        if known is None or not 0 <= self.size - known.size <= max(_LAST, known.size // _LAST):
            known = Inverted.of(flat, counts)
        #: Most of the texts, for the `Postings` of more.
        self.known = known
        self._parts = [known]
        if known.size < self.size:
            start = int(counts[: known.size].sum())
            self._parts.append(Inverted.of(flat[start:], counts[known.size :], known.size))
        self._alive, self._total, self._gone = alive, self.size, flat[:0]
        if alive is not None:
            self._total = int(np.count_nonzero(alive))
            self._gone = flat[np.repeat(~alive, counts)]  # the n-grams of the dead
        self._of_all: NDArray[np.int64] | None = None
        if of_all is not None:
            self._of_all, self._total = of_all
        frequency, squares = self.frequency, np.zeros(BUCKETS, np.float32)
        for part in self._parts:
            squares[part.present] = self._squared_weights(frequency[part.present])
        of_each = squares.take(flat, mode="clip")  # which is quicker than a check of the bounds
        lengths = np.sqrt(np.add.reduceat(of_each, np.cumsum(counts) - counts))
        self._scale = 1 / np.maximum(lengths, 1e-30)
        if alive is not None:
            self._scale[~alive] = 0
        self._seen: dict[int, tuple[float, NDArray[np.int32]]] = {}

    @property
    def frequency(self) -> NDArray[np.int64]:
        """How many texts have each n-gram, (65536,): of all, if these are some of them."""
        if self._of_all is not None:
            return self._of_all
        frequency = np.zeros(BUCKETS, np.int64)
        for part in self._parts:
            frequency[part.present] += np.diff(part.starts)
        if len(self._gone):
            frequency -= np.bincount(self._gone, minlength=BUCKETS)
        return frequency

    def _squared_weights(self, frequency: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(np.log1p(self._total / np.maximum(frequency, 1)) ** 2)

    def likeness(self, asked: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the likeness of each text to L queries, given the n-grams of these, (L, n)."""
        seen, likeness = self._seen, np.empty((len(asked), self.size), np.float32)
        for row, of_query in zip(likeness, asked, strict=True):
            if new := [one for one in of_query if one not in seen]:
                self._look_up(new)
            squares, texts = zip(*[seen[one] for one in of_query], strict=True)
            weights = np.array(squares).repeat([*map(len, texts)])
            sums = np.bincount(np.concatenate(texts), weights, self.size)
            np.multiply(sums, self._scale, out=row)  # 0 for a dead text
            row /= math.sqrt(max(sum(squares), 1e-30))
        return likeness

    def _look_up(self, ngrams: list[int]) -> None:
        """Keep the squared weight of each of some n-grams, and the texts that have it."""
        of_parts = [part.texts(ngrams) for part in self._parts]
        for ngram, texts, *last in zip(ngrams, *of_parts, strict=True):
            having = np.concatenate([texts, *last]) if last else texts
            living = having if self._alive is None else having[self._alive[having]]
            frequency = len(living) if self._of_all is None else int(self._of_all[ngram])
            square = math.log1p(self._total / max(frequency, 1)) ** 2  # as `_squared_weights`
            self._seen[ngram] = square, having
