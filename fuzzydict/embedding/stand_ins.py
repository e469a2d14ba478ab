"""What stands in for words never seen: the known words that look like them, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.nn.softmax import softmax
from fuzzydict.text.ngrams import NgramIndex, shared_by_each
from fuzzydict.text.similarity import likenesses, sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FEW", "Spellings", "StandIns", "StandInsOfEach"]

#: Words that are asked for one by one, and remembered; more are compared together.
FEW = 256
_CANDIDATES = 64  # words that share n-grams with the unseen one, to be compared exactly
_SHARED = 0.2  # the least cosine of n-grams of a candidate
_KEPT = 4  # words that stand in
_TEMPERATURE = 0.03  # in units of likeness: how far the best stand-in outweighs the others
_PRIOR = 0.015  # likeness that a word is given for each power of ten of its frequency
_DOUBTED, _TRUSTED = 0.5, 0.9  # likeness at which a stand-in is not, or fully, taken for the word
_NOBODY = np.float32(-100)  # likeness of a candidate that is not there
_BLOCK = 256  # words compared at a time, so that memory stays bounded


class StandIns(NamedTuple):
    """Rows (n,) of the words that stand in for one never seen, best first; weights (n,), sum 1.

    ``likeness`` is how alike the best of them and the unseen word look, 0 where there is none.
    """

    rows: NDArray[np.intp]
    weights: NDArray[np.float32]
    likeness: float

    @property
    def trust(self) -> float:
        """How far they can be taken for the word: rises from 0 to 1 with the likeness."""
        return min(max((self.likeness - _DOUBTED) / (_TRUSTED - _DOUBTED), 0.0), 1.0)


class StandInsOfEach(NamedTuple):
    """The same of U words: rows and weights (U, 4), 0 where there are fewer; likeness (U,)."""

    rows: NDArray[np.intp]
    weights: NDArray[np.float32]
    likeness: NDArray[np.float64]

    @classmethod
    def of(cls, each: Sequence[StandIns]) -> StandInsOfEach:
        """Return those of words that were asked for one by one."""
        found = cls.of_none(len(each))
        for i, one in enumerate(each):
            found.rows[i, : len(one.rows)] = one.rows
            found.weights[i, : len(one.rows)] = one.weights
            found.likeness[i] = one.likeness
        return found

    @classmethod
    def of_none(cls, count: int) -> StandInsOfEach:
        """Return that nothing stands in for so many words."""
        shape = (count, _KEPT)
        return cls(np.zeros(shape, np.intp), np.zeros(shape, np.float32), np.zeros(count))

    @property
    def trust(self) -> NDArray[np.float64]:
        """How far they can be taken for the words, (U,)."""
        return np.clip((self.likeness - _DOUBTED) / (_TRUSTED - _DOUBTED), 0, 1)


class Spellings:
    """How V known words are spelled, and how often each occurs, (V,).

    >>> spellings = Spellings(["color", "speed"], np.array([140, 60]))
    >>> spellings.stand_ins("colour").rows.tolist()
    [0]
    >>> spellings.stand_ins_of_each(["colour", "spede"]).rows[:, 0].tolist()
    [0, 1]
    """

    def __init__(self, strings: Sequence[str], counts: NDArray[np.int64]) -> None:
        self._ngrams = NgramIndex(strings)
        self._prior = _PRIOR * np.log10(np.maximum(counts, 1)).astype(np.float32)

    def stand_ins(self, word: str) -> StandIns:
        """Attend to the known words by spelling: those that ``word`` may be, and how surely.

        Nothing stands in for a code or a number: 1961 is not nearly 1962.
        """
        if _is_code(word):
            return StandIns(np.zeros(0, np.intp), np.zeros(0, np.float32), 0.0)
        shared = self._ngrams.similarities(word)
        rows = np.flatnonzero(shared >= _SHARED)
        rows = _candidates(rows, shared[rows])
        if not len(rows):
            return StandIns(rows, np.zeros(0, np.float32), 0.0)
        (alike,) = likenesses([word], [self._ngrams.strings[row] for row in rows.tolist()])
        scores = alike + self._prior[rows]
        best = np.argsort(-scores, kind="stable")[:_KEPT]
        weights = softmax(scores[best], temperature=_TEMPERATURE)
        return StandIns(rows[best], weights, float(alike[best[0]]))

    def stand_ins_of_each(self, words: Sequence[str]) -> StandInsOfEach:
        """Return the `stand_ins` of many words, which are compared many at a time."""
        stand_ins, sounds = StandInsOfEach.of_none(len(words)), _Sounds(self._ngrams.strings)
        asked = np.array([i for i, word in enumerate(words) if not _is_code(word)], np.intp)
        shared = shared_by_each(self._ngrams, [words[i] for i in asked.tolist()], _SHARED)
        for some in (asked[part] for part in slices(len(asked), _BLOCK)):
            found = np.zeros((len(some), _CANDIDATES), np.intp)
            alike, scores = np.full((2, *found.shape), _NOBODY)
            for i, place in enumerate(some.tolist()):
                near = _candidates(*next(shared))
                found[i, : len(near)] = near
                alike[i, : len(near)] = self._alike(words[place], near.tolist(), sounds)
                scores[i, : len(near)] = alike[i, : len(near)] + self._prior[near]
            best = np.argsort(-scores, axis=1, kind="stable")[:, :_KEPT]
            likeness = np.take_along_axis(alike, best, 1)
            there = likeness > _NOBODY
            weights = softmax(np.take_along_axis(scores, best, 1), temperature=_TEMPERATURE)
            stand_ins.rows[some] = np.take_along_axis(found, best, 1) * there
            stand_ins.weights[some] = weights * there
            stand_ins.likeness[some] = likeness[:, 0] * there[:, 0]
        return stand_ins

    def _alike(self, word: str, rows: list[int], sounds: _Sounds) -> NDArray[np.float32]:
        if not rows:
            return np.zeros(0, np.float32)
        known = [self._ngrams.strings[row] for row in rows]
        (alike,) = likenesses([word], known, [sounds[row] for row in rows])
        return np.asarray(alike, np.float32)


class _Sounds(dict[int, str]):
    """How strings sound, by their places; told of each when it is first asked for."""

    def __init__(self, strings: Sequence[str]) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, place: int) -> str:
        heard = self[place] = sound(self._strings[place])
        return heard


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word))


def _candidates(rows: NDArray[np.intp], shared: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the rows that share the most n-grams, given the cosines of all that share some."""
    if len(rows) <= _CANDIDATES:
        return rows
    return rows[np.argpartition(-shared, _CANDIDATES)[:_CANDIDATES]]
