"""Queries asked of a dict before and after it learns, by the default score or a named scorer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from fuzzydict.calibrating import Question, calibrate
from fuzzydict.learners import Learned, Subject
from fuzzydict.slips import slips_of
from fuzzydict.trials import Outcome, answered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fuzzydict.arrays import Array
    from fuzzydict.evidence import Calibration
    from fuzzydict.targets import KeyExamples

__all__ = ["Exam", "ExamOfScore"]

_PRIOR = 4.0  # how strongly weights of the score are held, as if by so many examples
_SLIPS = 32  # keys that are asked with a slip, to see that nothing breaks
_SLIP_WEIGHT = 0.5  # all slips together, in parts of the examples


class Exam:
    """Asks a dict whose scorer is named, before and after it learned."""

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
        self.slips = slips_of(subject.keys, subject.start, _SLIPS, random)

    def held_out(
        self, asked: Sequence[tuple[Learned, NDArray[np.intp]]]
    ) -> tuple[list[Outcome], list[Outcome]]:
        """Return what was answered before, and by what had not seen what it is asked."""
        before = [o for _, rows in asked for o in self.before.outcomes(*self._these(rows))]
        after = [
            o for of, rows in asked for o in self.subject.trial(of).outcomes(*self._these(rows))
        ]
        return before, after

    def learned_from(self, rows: NDArray[np.intp]) -> tuple[list[Outcome], list[Outcome]]:
        """Return what was answered before, and by what was learned in the end."""
        these = self._these(rows)
        return self.before.outcomes(*these), self.after.outcomes(*these)

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

    def held_out(
        self, asked: Sequence[tuple[Learned, NDArray[np.intp]]]
    ) -> tuple[list[Outcome], list[Outcome]]:
        """Return what was answered before, and by what had not seen what it is asked."""
        first = [q for _, rows in asked for q in self.before.questions(*self._these(rows))]
        now = [
            q for of, rows in asked for q in self.subject.trial(of).questions(*self._these(rows))
        ]
        self.calibration = self._calibrated(now) if now else self.subject.calibration
        # What a question is measured with was fitted to other questions.
        halves = now[::2], now[1::2]
        after: list[Outcome | None] = [None] * len(now)
        for place, (half, others) in enumerate((halves, halves[::-1])):
            if half:
                after[place::2] = answered(half, self._calibrated(others))
        return answered(first, self.subject.calibration), [o for o in after if o is not None]

    def learned_from(self, rows: NDArray[np.intp]) -> tuple[list[Outcome], list[Outcome]]:
        """Return what was answered before, and by what was learned in the end."""
        these = self._these(rows)
        before = answered(self.before.questions(*these), self.subject.calibration)
        return before, answered(self.after.questions(*these), self.calibration)

    def broken(self) -> tuple[int, int]:
        """Return how many slips found their key and do no more, and how many there are."""
        if not self.slips.queries:
            return 0, 0
        before = answered(self.before.questions(*self.slips), self.subject.calibration)
        return _broken(before, answered(self._slips_now, self.calibration))

    @cached_property
    def _slips_now(self) -> list[Question]:
        return self.after.questions(*self.slips) if self.slips.queries else []

    def _calibrated(self, questions: Sequence[Question]) -> Calibration:
        if not questions:
            return self.subject.calibration
        slips = self._slips_now
        weight = min(_SLIP_WEIGHT * len(questions) / max(len(slips), 1), 1.0)
        weighed = [slip._replace(weight=weight) for slip in slips]
        pull = _PRIOR / (len(questions) + weight * len(slips))
        return calibrate([*questions, *weighed], self.subject.calibration, pull=pull)


def _broken(before: Sequence[Outcome], after: Sequence[Outcome]) -> tuple[int, int]:
    lost = sum(a.hit and not b.hit for a, b in zip(before, after, strict=True))
    return lost, len(before)
