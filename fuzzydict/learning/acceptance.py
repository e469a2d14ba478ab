"""Queries asked of a dict before and after it learns, by the default score or a named scorer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.learning.calibration import Question, calibrate
from fuzzydict.learning.candidate import Learned, Outcome, Subject, answered
from fuzzydict.learning.slips import slips_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.learning.examples import KeyExamples

__all__ = ["Answers", "Exam", "ExamOfScore"]

_PRIOR = 4.0  # how strongly weights of the score are held, as if by so many examples
_SLIPS = 32  # keys that are asked with a slip, to see that nothing breaks
_SIDES = 4  # of the examples: what the score says of one was fitted to the others
_TIMES = 8  # that a key is asked, each time with another
_SLIP_WEIGHT = 0.5  # all slips together, in parts of the examples

#: What was learned, and the rows of examples that it had not seen.
Turns = Sequence[tuple[Learned, "NDArray[np.intp]"]]


class Answers(NamedTuple):
    """What examples are answered before and after a dict learns."""

    rows: NDArray[np.intp]  # of the examples, (n,); some more than once, if asked in rounds
    before: list[Outcome]
    after: list[Outcome]

    @property
    def first_round(self) -> Answers:
        """The answers with each example once."""
        places = np.sort(np.unique(self.rows, return_index=True)[1]).tolist()
        before, after = ([side[i] for i in places] for side in (self.before, self.after))
        return Answers(self.rows[places], before, after)


class Exam:
    """Asks a dict whose scorer is named, before and after it learned.

    Args:
        subject: the dict.
        examples: L queries, and the keys that are right.
        x: the queries' vectors, (L, E), before anything is learned.
        learned: what was learned in the end.
        random: draws the slips.
    """

    calibration: Calibration | None = None

    def __init__(
        self,
        subject: Subject,
        examples: KeyExamples,
        x: Array,
        learned: Learned,
        random: np.random.Generator,
    ) -> None:
        self.subject, self.examples, self.x = subject, examples, x
        self.before, self.after = subject.trial(subject.unfitted), subject.trial(learned)
        # The score is fitted to some slips, and asked others, of few keys several each.
        keys, start = subject.keys, subject.start
        self.fitted_slips = slips_of(keys, start, _SLIPS, random)
        fitted = self.fitted_slips.queries
        self.slips = slips_of(keys, start, _SLIPS, random, times=_TIMES, apart_from=fitted)

    def held_out(self, turns: Turns) -> Answers:
        """Return what was answered before, and by what had not seen what it is asked."""
        before = [o for _, rows in turns for o in self.before.outcomes(*self._these(rows))]
        after = [
            o for of, rows in turns for o in self.subject.trial(of).outcomes(*self._these(rows))
        ]
        return Answers(_rows(turns), before, after)

    def learned_from(self, rows: NDArray[np.intp]) -> Answers:
        """Return what was answered before, and by what was learned in the end."""
        these = self._these(rows)
        return Answers(rows, self.before.outcomes(*these), self.after.outcomes(*these))

    def broken(self) -> tuple[int, int]:
        """Return how many slips found their key and do no more, and how many there are."""
        if not self.slips.queries:
            return 0, 0
        return _broken(self.before.outcomes(*self.slips), self.after.outcomes(*self.slips))

    def _these(self, rows: NDArray[np.intp]) -> tuple[list[str], Array, list[NDArray[np.intp]]]:
        some = self.examples.some(rows)
        return some.queries, self.x[rows], some.right


class ExamOfScore(Exam):
    """Asks a dict of the default score, and fits what its score says to what it has learned."""

    calibration: Calibration

    def held_out(self, turns: Turns) -> Answers:
        """Return what was answered before, and by what had not seen what it is asked."""
        rows = _rows(turns)
        first = [q for _, part in turns for q in self.before.questions(*self._these(part))]
        now = [
            q for of, part in turns for q in self.subject.trial(of).questions(*self._these(part))
        ]
        asked, once = np.unique(rows, return_index=True)
        self.calibration = self._calibrated([now[i] for i in once.tolist()])
        # What a question is measured with was fitted to other examples.
        side = np.argsort(np.argsort(once)) % _SIDES  # of each example, as they were drawn
        others = [[now[i] for i in once[side != number].tolist()] for number in range(_SIDES)]
        fitted = [self._calibrated(questions) for questions in others]
        sides = side[np.searchsorted(asked, rows)].tolist()
        after = [answered([q], fitted[n])[0] for q, n in zip(now, sides, strict=True)]
        return Answers(rows, answered(first, self.subject.calibration), after)

    def learned_from(self, rows: NDArray[np.intp]) -> Answers:
        """Return what was answered before, and by what was learned in the end."""
        these = self._these(rows)
        before = answered(self.before.questions(*these), self.subject.calibration)
        return Answers(rows, before, answered(self.after.questions(*these), self.calibration))

    def broken(self) -> tuple[int, int]:
        """Return how many slips found their key and do no more, and how many there are."""
        if not self.slips.queries:
            return 0, 0
        before = answered(self.before.questions(*self.slips), self.subject.calibration)
        return _broken(before, answered(self.after.questions(*self.slips), self.calibration))

    @cached_property
    def _slips_now(self) -> list[Question]:
        slips = self.fitted_slips
        return self.after.questions(*slips) if slips.queries else []

    def _calibrated(self, questions: Sequence[Question]) -> Calibration:
        if not questions:
            return self.subject.calibration
        slips = self._slips_now
        weight = min(_SLIP_WEIGHT * len(questions) / max(len(slips), 1), 1.0)
        weighed = [slip._replace(weight=weight) for slip in slips]
        pull = _PRIOR / (len(questions) + weight * len(slips))
        return calibrate([*questions, *weighed], self.subject.calibration, pull=pull)


def _rows(turns: Turns) -> NDArray[np.intp]:
    return np.concatenate([np.zeros(0, np.intp), *(rows for _, rows in turns)])


def _broken(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[int, int]:
    lost = sum(a.hit and not b.hit for a, b in zip(before, after, strict=True))
    return lost, len(before)
