"""Reads that spelling settles: which key wins, told without comparing what all of them mean."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.calibration import SAME, Likeness, line
from fuzzydict.search.features import (
    MEANT_ALIKE,
    MEANT_LIKENESS,
    looks_alike,
    nearness,
    spelled_alike,
    words_alike,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration, Evidence
    from fuzzydict.search.key_index import KeyIndex

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

    >>> from fuzzydict.embedding.word_vectors import Brown
    >>> from fuzzydict.search.key_index import KeyIndex
    >>> from fuzzydict.embedding.projections import seen_through
    >>> index = KeyIndex(seen_through(Brown(), None))
    >>> index.add("color"); index.add("brand"); index.sync()
    >>> settled("colour", "colour", index, 0.02), settled("hue", "hue", index, 0.02)
    (0, None)
    """
    contest = _Contest(query, text, index)
    if contest.may_settle(contest.farthest):
        found = contest.winner(*contest.bounds(), cutoff)
        if found is not None:
            return found
    if index.count > _MANY and contest.may_settle(contest.nearest):
        odds = contest.odds()
        return contest.winner(odds, odds, cutoff)
    return None


class _Contest:
    """A query, the c keys that share the most n-grams with it, and bounds for all other keys."""

    def __init__(self, query: str, text: str, index: KeyIndex) -> None:
        self._query, self._text, self._index = query, text, index
        self._calibration = index.embedding.calibration
        self._known = index.embedding.vocabulary.known_share(query)
        mean, spread = index.background
        self.farthest, self.nearest = min((-1 - mean) / spread, 0.0), self._calibration.reach
        self._several = index.has_phrases or " " in text  # a text may have several words
        told = _others(self._calibration, self._known, self._several)
        self._evidence, self._most, self._meant = told

    @cached_property
    def _slots(self) -> NDArray[np.intp]:
        slots = spelled_alike(self._text, self._index, self._index.dead)
        return slots[self._index.alive[slots]]

    @cached_property
    def _strings(self) -> list[str]:
        plain = self._index.plain
        return [plain[slot] for slot in self._slots.tolist()]

    @cached_property
    def _alike(self) -> NDArray[np.float32]:
        return looks_alike(self._text, self._strings, self._index)

    def may_settle(self, near: float) -> bool:
        """Tell whether a key that is all but equal would win at this nearness."""
        return bool(line(self._evidence.spelling, 1.0, near) > self._most + _MARGIN)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return between what the log-odds of the c keys lie, (c,) each, by their spelling."""
        alike = self._alike
        low = np.where(alike == 1, SAME, line(self._evidence.spelling, alike, self.farthest))
        words = np.full(len(alike), -np.inf)
        if self._several:
            words[[" " in self._text or " " in string for string in self._strings]] = 1.0
        return low, _high(self._evidence, self.nearest, alike, words)

    def odds(self) -> NDArray[np.float64]:
        """Return the log-odds of the c keys, (c,)."""
        vectors = self._index.embedding.encode_queries([self._query])
        (near,) = nearness([self._query], vectors, self._index, self._slots)
        words = words_alike(self._text, self._strings, self._index)
        alike = Likeness(near, np.arange(len(near)), self._alike, words)
        return self._calibration.log_odds(alike, known=self._known)

    def winner(
        self, low: NDArray[np.float64], high: NDArray[np.float64], cutoff: float
    ) -> int | None:
        """Return the slot that wins wherever log-odds, each (c,), lie between the bounds."""
        best = int(low.argmax())
        least, rivals = low[best] - _MARGIN, high.copy()
        rivals[best] = -np.inf
        others = self._index.count - len(low)
        one, together = -math.inf, -math.inf
        if others:
            one, few = self._most, self._most + math.log(MEANT_ALIKE)
            together = np.logaddexp(few, self._meant + math.log(others))
        if least <= rivals.max(initial=one):
            return None
        most = np.logaddexp(np.logaddexp.reduce(rivals), together)
        most = np.logaddexp(most, math.log(self._index.count))
        reaches = cutoff <= 0 or least - np.logaddexp(least, most) >= math.log(cutoff)
        return int(self._slots[best]) if reaches else None


@lru_cache(maxsize=64)
def _others(calibration: Calibration, known: float, several: bool) -> tuple[Evidence, float, float]:
    """Return the evidence, and what the log-odds of keys that share few n-grams are at most.

    The first is of those that are compared as strings, for they mean the most alike; the other
    of those that are not.
    """
    evidence, reach = calibration.mixed(known), calibration.reach
    alike, words = np.array(MEANT_LIKENESS), np.array(MEANT_LIKENESS if several else -np.inf)
    most = float(_high(evidence, reach, alike, words))
    return evidence, most, float(line(evidence.meaning, 0.0, reach))


def _high(
    evidence: Evidence, nearest: float, alike: NDArray[Any], words: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the log-odds if keys mean as much the same as can be, for all their surface."""
    spelled = np.where(alike == 1, SAME, line(evidence.spelling, alike, nearest))
    meant = line(evidence.meaning, 0.0, nearest)
    worded = np.full(words.shape, -np.inf)
    some = words >= 0
    worded[some] = line(evidence.words, words[some], nearest)
    return np.asarray(np.logaddexp(np.logaddexp(spelled, meant), worded))
