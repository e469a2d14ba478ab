"""Examples -> what a dict learns: fitted, asked what it has not seen, and kept if it is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.exams import Exam, ExamOfScore
from fuzzydict.judging import (
    best_cutoff,
    key_changes,
    measured,
    missed_by,
    reported,
    value_changes,
    verdict_of_keys,
    verdict_of_values,
)
from fuzzydict.learners import Learned, Subject, learn_keys, learn_values, trained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.arrays import Array
    from fuzzydict.descent import Settings
    from fuzzydict.evidence import Calibration
    from fuzzydict.fit_report import FitReport
    from fuzzydict.targets import KeyExamples
    from fuzzydict.trials import Trial

__all__ = ["Lesson", "lesson_of_keys", "lesson_of_values"]

_FEW = 100  # examples, of which each is held out in turn, in
_FOLDS = 8  # parts;
_TOO_FEW = 4  # and of fewer than these none is
_GENTLY = 4.0  # how much more strongly a second try is held at the identity
_ASKED = 256  # examples that are asked, at most; fewer where there are very many keys,
_LEAST_ASKED = 32
_LIKENESSES = 2**23  # of queries and keys, that are held at once


class Lesson(NamedTuple):
    """What was learned, what its score says (None where scores are left alone), and the report."""

    learned: Learned
    calibration: Calibration | None
    report: FitReport


def lesson_of_keys(
    subject: Subject, examples: KeyExamples, x: Array, settings: Settings, share: float
) -> Lesson:
    """Learn from queries with vectors x (L, E) which keys are right.

    Args:
        subject: the dict.
        examples: the queries, and the keys that are right.
        x: the queries' vectors, as they are seen before anything is learned.
        settings: how to learn.
        share: of the examples that are held out, where there are many.

    By the default score and from few examples it is tried once more, more gently, if what is
    learned would not be kept.
    """
    lesson = _lesson_of_keys(subject, examples, x, settings, share)
    if lesson.report.kept or subject.scorer is not None or len(x) >= _FEW:
        return lesson
    gently = replace(settings, pull=_GENTLY * settings.pull, progress=None)  # it was told as done
    again = _lesson_of_keys(subject, examples, x, gently, share)
    return again if again.report.kept else lesson


def _lesson_of_keys(
    subject: Subject, examples: KeyExamples, x: Array, settings: Settings, share: float
) -> Lesson:
    random = np.random.default_rng(settings.seed)
    pairs = examples.pairs

    def learn(rows: NDArray[np.intp], settings: Settings) -> Learned:
        return learn_keys(subject, examples.queries, x, pairs[np.isin(pairs[:, 0], rows)], settings)

    parts = _parted(len(x), share, _most(subject), random)
    learned, turns = _taught(learn, parts, len(x), settings)
    kind = ExamOfScore if subject.scorer is None else Exam
    exam = kind(subject, examples, x, learned, random)
    before, after = exam.held_out(turns)
    some = random.permutation(len(x))[: _most(subject)]
    was, now = exam.learned_from(some)
    # Many examples speak for themselves; by a scorer that is named a slip is but another text.
    slips = exam.broken() if len(x) < _FEW or subject.scorer is None else (0, 0)
    kept, reason = verdict_of_keys(before or was, after or now, slips, held_out=bool(before))
    cutoff = best_cutoff(after or now)
    options = _options(subject, learned) | ({} if cutoff is None else {"score_cutoff": cutoff})
    measures = [measured(outcomes) for outcomes in (was, now, before, after)]
    asked = [examples.queries[row] for row in some.tolist()]
    changes = key_changes(asked, was, now, subject.keys.names)
    report = reported(
        measures,
        changes,
        kept=kept,
        reason=reason,
        examples=len(x),
        validated=len(before),
        history=learned.history,
        options=options,
    )
    return Lesson(learned, exam.calibration, report)


def lesson_of_values(
    subject: Subject,
    queries: Sequence[str],
    x: Array,
    values: NDArray[np.float64],
    targets: NDArray[np.float64],
    settings: Settings,
    share: float,
) -> Lesson:
    """Learn from queries with vectors x (L, E) what they shall pool, (L, Ev), of values (S, Ev)."""
    random = np.random.default_rng(settings.seed)

    def learn(rows: NDArray[np.intp], settings: Settings) -> Learned:
        return learn_values(subject, x[rows], values, targets[rows], settings)

    def missed(trial: Trial, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        pooled = trial.pooled([queries[i] for i in rows.tolist()], x[rows], values)
        return np.asarray(np.sqrt(np.square(pooled - targets[rows]).mean(axis=1)))

    parts = _parted(len(x), share, _most(subject), random)
    learned, turns = _taught(learn, parts, len(x), settings)
    first, last = subject.trial(subject.unfitted), subject.trial(learned)
    none = [np.zeros(0)]
    before = np.concatenate([missed(first, rows) for _, rows in turns] or none)
    after = np.concatenate([missed(subject.trial(of), rows) for of, rows in turns] or none)
    some = random.permutation(len(x))[: _most(subject)]
    was, now = missed(first, some), missed(last, some)
    measures = [missed_by(errors) for errors in (was, now, before, after)]
    old, new = measures[2:] if turns else measures[:2]
    kept, reason = verdict_of_values(old, new, held_out=bool(turns))
    report = reported(
        measures,
        value_changes([queries[row] for row in some.tolist()], was, now),
        kept=kept,
        reason=reason,
        examples=len(x),
        validated=len(before),
        history=learned.history,
        options=_options(subject, learned),
    )
    return Lesson(learned, None, report)


def _most(subject: Subject) -> int:
    """Return how many examples to ask, so that memory stays bounded whatever the keys are."""
    return int(np.clip(_LIKENESSES // len(subject.keys.names), _LEAST_ASKED, _ASKED))


def _parted(
    count: int, share: float, most: int, random: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out: once, of many examples, and of a few each in its turn."""
    if count < _TOO_FEW or not share:
        return []
    order = random.permutation(count)
    if count >= _FEW:
        return [order[: min(round(share * count) or 1, most)]]
    return list(np.array_split(order, min(count, _FOLDS)))


def _taught(
    learn: Callable[[NDArray[np.intp], Settings], Learned],
    parts: list[NDArray[np.intp]],
    count: int,
    settings: Settings,
) -> tuple[Learned, list[tuple[Learned, NDArray[np.intp]]]]:
    """Return what is learned in the end, and for each part what was learned without it.

    In the end it is learned from all examples; but of many, what was asked is what is kept.
    """
    rows = [np.setdiff1d(np.arange(count), part) for part in parts]
    if len(parts) != 1:
        rows.append(np.arange(count))
    stages = _Stages(settings.progress, len(rows))
    found = [learn(some, replace(settings, progress=stages.next())) for some in rows]
    return found[-1], list(zip(found, parts, strict=False))


class _Stages:
    """Progress in several stages, told as one, in thousandths of each."""

    def __init__(self, progress: Callable[[int, int], None] | None, count: int) -> None:
        self._progress, self._count, self._stage = progress, count, -1

    def next(self) -> Callable[[int, int], None] | None:
        self._stage += 1
        tell, first, whole = self._progress, 1000 * self._stage, 1000 * self._count
        if tell is None:
            return None
        return lambda done, total: tell(first + 1000 * done // total, whole)


def _options(subject: Subject, learned: Learned) -> dict[str, Any]:
    """Return the options that are set, but for projections and a cutoff."""
    options: dict[str, Any] = {}
    if learned.scorer is not subject.scorer:
        options["scorer"] = learned.scorer
    if learned.temperature is not None and trained(subject.scorer) is None:
        options["temperature"] = learned.temperature
    return options
