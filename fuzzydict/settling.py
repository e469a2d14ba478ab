"""Reads that spelling settles: which key wins, told without comparing what all of them mean."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.comparing import MEANT_ALIKE, MEANT_LIKENESS, nearness, spelled_alike
from fuzzydict.evidence import SAME, line
from fuzzydict.spelling import likenesses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.index import KeyIndex

__all__ = ["settled"]

_MANY = 4096  # keys; the vector of a query costs less than to compare it with more of them
_MARGIN = 0.01  # in log-odds, more than what rounding to 32 bits does to them


def settled(query: str, text: str, index: KeyIndex, cutoff: float) -> int | None:
    """Return the slot that the default score puts first, where bounds prove it; else None.

    A read must know which key wins and that its probability reaches the cutoff, not what the
    probability is. Nearness has bounds, so has what it says; and if a word is misspelled, the
    spelling of a few keys often outweighs all that any key may mean. (Bounds before a search:
    A. H. Land and A. G. Doig, 1960, "An Automatic Method of Solving Discrete Programming
    Problems".)

    Args:
        query: as asked.
        text: its plain words.
        index: the keys, up to date, one or more.
        cutoff: the least probability of a match.

    >>> from fuzzydict.brown import Brown
    >>> from fuzzydict.index import KeyIndex
    >>> from fuzzydict.projected import seen_through
    >>> index = KeyIndex(seen_through(Brown(), None))
    >>> index.add("color"); index.add("brand"); index.sync()
    >>> settled("colour", "colour", index, 0.02), settled("hue", "hue", index, 0.02)
    (0, None)
    """
    contest = _Contest(query, text, index)
    if contest.may_settle(contest.farthest):
        found = contest.winner(contest.farthest, contest.nearest, cutoff)
        if found is not None:
            return found
    if index.count > _MANY and contest.may_settle(contest.nearest):
        near = contest.nearness()
        return contest.winner(near, near, cutoff)
    return None


class _Contest:
    """A query, the c keys that share the most n-grams with it, and bounds for all other keys."""

    def __init__(self, query: str, text: str, index: KeyIndex) -> None:
        self._query, self._text, self._index = query, text, index
        calibration = index.embedding.calibration
        self._evidence = calibration.mixed(index.embedding.vocabulary.known_share(query))
        mean, spread = index.background
        self.farthest, self.nearest = min((-1 - mean) / spread, 0.0), calibration.reach
        # Of the other keys a few are compared as strings, for they mean the most alike.
        self._meant = float(self._high(np.array(MEANT_LIKENESS), self.nearest))

    @cached_property
    def _slots(self) -> NDArray[np.intp]:
        slots = spelled_alike(self._text, self._index, self._index.dead)
        return slots[self._index.alive[slots]]

    @cached_property
    def _alike(self) -> NDArray[np.float64]:
        plain = self._index.plain
        (alike,) = likenesses([self._text], [plain[slot] for slot in self._slots.tolist()])
        return np.asarray(alike, np.float64)

    def may_settle(self, near: float) -> bool:
        """Tell whether a key that is all but equal would win at this nearness."""
        return bool(line(self._evidence.spelling, 1.0, near) > self._meant + _MARGIN)

    def nearness(self) -> NDArray[np.float64]:
        """Return how near the c keys are in meaning, (c,)."""
        vectors = self._index.embedding.encode_queries([self._query])
        (near,) = nearness([self._query], vectors, self._index, self._slots)
        return np.asarray(near, np.float64)

    def winner(self, farthest: Any, nearest: Any, cutoff: float) -> int | None:
        """Return the slot that wins wherever nearness, each (c,), lies between the bounds."""
        low = self._spelled(self._alike, farthest)
        best = int(low.argmax())
        high = self._high(self._alike, nearest)
        high[best] = -np.inf
        others = self._index.count - len(low)
        rival = max(float(high.max()), self._meant if others else -math.inf)
        if low[best] <= rival + _MARGIN:
            return None
        least = math.exp(low[best] - _MARGIN)
        most = float(np.exp(high).sum()) + min(others, MEANT_ALIKE) * math.exp(self._meant)
        most += others * math.exp(line(self._evidence.meaning, 0.0, self.nearest))
        reaches = least / (least + most + self._index.count) >= cutoff
        return int(self._slots[best]) if reaches else None

    def _spelled(self, alike: NDArray[np.float64], near: Any) -> NDArray[np.float64]:
        """Return what the likeness of spelling says: no more than all reasons together."""
        return np.where(alike == 1, SAME, line(self._evidence.spelling, alike, near))

    def _high(self, alike: NDArray[np.float64], near: Any) -> NDArray[np.float64]:
        """Return the log-odds if all words have their like, and nothing speaks against meaning."""
        meaning = line(self._evidence.meaning, 0.0, near)
        words = line(self._evidence.words, 1.0, near)
        spelled_or_meant = np.logaddexp(self._spelled(alike, near), meaning)
        return np.asarray(np.logaddexp(spelled_or_meant, words))
