"""Examples -> what a dict learns: fitted, asked what it has not seen, and kept if it is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.learning.acceptance import (
    Answers,
    Cutoffs,
    Exam,
    ExamOfScore,
    best_cutoff,
    key_changes,
    measured,
    missed_by,
    reported,
    value_changes,
    verdict_of_keys,
    verdict_of_values,
)
from fuzzydict.learning.candidate import Learned, Subject, learn_keys, learn_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.learning.candidate import Trial
    from fuzzydict.learning.examples import KeyExamples
    from fuzzydict.learning.gradient_descent import Settings
    from fuzzydict.learning.report import FitReport

__all__ = ["FEW", "Lesson", "Stages", "lesson_of_keys", "lesson_of_values", "parted", "taught"]


FEW = 100  # examples, of which each is held out in turn, in
_FOLDS = 5  # parts;
_TOO_FEW = 4  # and of fewer than these none is


def parted(
    groups: Sequence[NDArray[np.intp]],
    share: float,
    most: int,
    random: np.random.Generator,
    rounds: int = 1,
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part.

    Of many examples it is one part. A few are each held out in turn, as many times as there are
    rounds, in other company each time. Each part has its share of every group.

    >>> random = np.random.default_rng(0)
    >>> parts = parted([np.arange(4), np.arange(4, 6)], 0.2, 256, random)
    >>> sorted(np.concatenate(parts).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    count = sum(map(len, groups))
    if count < _TOO_FEW or not share:
        return []
    if count >= FEW:
        share = min(share, most / count)
        held = [random.permutation(g)[: _share_of(len(g), share)] for g in groups]
        return [np.concatenate(held)]
    folds = min(count, _FOLDS)
    orders = [np.concatenate([random.permutation(g) for g in groups]) for _ in range(rounds)]
    return [order[place::folds] for order in orders for place in range(folds)]


def _share_of(count: int, share: float) -> int:
    """Return how many to hold out: one at least, but not the only one there is."""
    return min(round(share * count) or 1, count - 1) if count else 0


def taught(
    learn: Callable[[NDArray[np.intp], Settings], Learned],
    parts: Sequence[NDArray[np.intp]],
    count: int,
    settings: Settings,
    stages: Stages,
) -> tuple[Learned, list[tuple[Learned, NDArray[np.intp]]]]:
    """Return what is learned in the end, and for each part what was learned without it.

    In the end it is learned from all examples; but of many, what was asked is what is kept.
    """
    rows = [np.setdiff1d(np.arange(count), part) for part in parts]
    if len(parts) != 1:
        rows.append(np.arange(count))
    found = [learn(some, replace(settings, progress=stages.next())) for some in rows]
    return found[-1], list(zip(found, parts, strict=False))


class Stages:
    """Progress in several stages, told as one, in thousandths of each.

    Args:
        progress: is told ``(done, total)``; None tells nobody.
        count: of the stages, at most.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, count: int) -> None:
        self._progress, self._count, self._stage = progress, count, -1

    def next(self) -> Callable[[int, int], None] | None:
        """Return what is told of the next stage."""
        self._stage += 1
        tell, first, whole = self._progress, 1000 * self._stage, 1000 * self._count
        if tell is None:
            return None
        return lambda done, total: tell(first + 1000 * done // total, whole)

    def finish(self) -> None:
        """Tell that all is done, where stages were left out."""
        if self._progress is not None and self._stage + 1 < self._count:
            self._progress(1000 * self._count, 1000 * self._count)


_ROUNDS = 3  # in which a few examples are held out in turn, so that no one split decides
_GENTLY = (4.0, 16.0)  # how much more strongly a few hold at the identity, in one try and the next
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

    By the default score and from few examples it is tried once more, more gently, if what is
    learned would not be kept. That is a second look at the examples held out: what is measured of
    them is then the better of two, if only as to whether they come to harm.

    Args:
        subject: the dict.
        examples: the queries, and the keys that are right.
        x: the queries' vectors, as they are seen before anything is learned.
        settings: how to learn; the progress told is that of all tries.
        share: of the examples that are held out, where there are many.
    """
    keyed = np.array([len(keys) > 0 for keys in examples.right])
    groups = [np.flatnonzero(keyed), np.flatnonzero(~keyed)]
    random = np.random.default_rng(settings.seed)
    tries, rounds = (_GENTLY, _ROUNDS) if _is_gentle(subject, len(x)) else ((1.0,), 1)
    parts = parted(groups, share, _most(subject), random, rounds)
    stages = Stages(settings.progress, len(tries) * (len(parts) + 1))
    lessons: list[Lesson] = []
    for times in tries:
        gently = replace(settings, pull=times * settings.pull)
        lessons.append(_tried(subject, examples, x, gently, parts, stages))
        if lessons[-1].report.kept:
            break
    stages.finish()
    return lessons[-1] if lessons[-1].report.kept else lessons[0]


def _tried(
    subject: Subject,
    examples: KeyExamples,
    x: Array,
    settings: Settings,
    parts: Sequence[NDArray[np.intp]],
    stages: Stages,
) -> Lesson:
    """Learn, with and without each part of the examples, and report what was answered."""
    pairs = examples.pairs

    def learn(rows: NDArray[np.intp], settings: Settings) -> Learned:
        return learn_keys(subject, examples.queries, x, pairs[np.isin(pairs[:, 0], rows)], settings)

    learned, turns = taught(learn, parts, len(x), settings, stages)
    random = np.random.default_rng([settings.seed, 1])  # so that each try is asked the same
    kind = ExamOfScore if subject.scorer is None else Exam
    exam = kind(subject, examples, x, learned, random)
    held_out = exam.held_out(turns)
    learned_from = exam.learned_from(random.permutation(len(x))[: _most(subject)])
    # Many examples speak for themselves; by a scorer that is named a slip is but another text.
    slips = exam.broken() if len(x) < FEW or subject.scorer is None else (0, 0)
    report = _report_of_keys(subject, examples, learned, held_out, learned_from, slips)
    return Lesson(learned, exam.calibration, report)


def _report_of_keys(
    subject: Subject,
    examples: KeyExamples,
    learned: Learned,
    held_out: Answers,
    learned_from: Answers,
    slips: tuple[int, int],
) -> FitReport:
    once = held_out.first_round
    options, usual = _options(subject, learned), subject.cutoff
    cutoff = best_cutoff(once.after, learned_from.after, usual)
    if cutoff is not None:
        options["score_cutoff"] = cutoff
    cutoffs = Cutoffs(subject.cutoff, usual if cutoff is None else cutoff)
    must_gain = not _is_gentle(subject, len(examples.queries))
    kept, reason = verdict_of_keys(held_out, learned_from, cutoffs, slips, must_gain=must_gain)
    sides = [(side.before, side.after) for side in (learned_from, held_out)]
    measures = [measured(o, at) for side in sides for o, at in zip(side, cutoffs, strict=True)]
    asked = held_out if held_out.before else learned_from
    return reported(
        measures,
        key_changes(asked, examples.queries, subject.keys.names),
        kept=kept,
        reason=reason,
        examples=len(examples.queries),
        validated=len(once.before),
        history=learned.history,
        options=options,
    )


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
    most = _most(subject)

    def learn(rows: NDArray[np.intp], settings: Settings) -> Learned:
        return learn_values(subject, x[rows], values, targets[rows], settings)

    def missed(trial: Trial, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        if not len(rows):
            return np.zeros(0)
        pooled = trial.pooled([queries[i] for i in rows.tolist()], x[rows], values)
        return np.asarray(np.sqrt(np.square(pooled - targets[rows]).mean(axis=1)))

    parts = parted([np.arange(len(x))], share, most, random)
    stages = Stages(settings.progress, len(parts) + 1)
    learned, turns = taught(learn, parts, len(x), settings, stages)
    stages.finish()
    first, last = subject.trial(subject.unfitted), subject.trial(learned)
    some = random.permutation(len(x))[:most]
    learned_from = _Missed(some, missed(first, some), missed(last, some))
    held = np.concatenate([some[:0], *(rows for _, rows in turns)])
    errors = [missed(subject.trial(of), rows) for of, rows in turns]
    held_out = _Missed(held, missed(first, held), np.concatenate([np.zeros(0), *errors]))
    report = _report_of_values(subject, queries, learned, held_out, learned_from)
    return Lesson(learned, None, report)


class _Missed(NamedTuple):
    """By how much examples, (n,), miss their values before and after, (n,) each."""

    rows: NDArray[np.intp]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


def _report_of_values(
    subject: Subject,
    queries: Sequence[str],
    learned: Learned,
    held_out: _Missed,
    learned_from: _Missed,
) -> FitReport:
    sides = learned_from, held_out
    measures = [missed_by(errors) for side in sides for errors in (side.before, side.after)]
    asked = held_out if len(held_out.rows) else learned_from
    kept, reason = verdict_of_values(
        missed_by(asked.before), missed_by(asked.after), held_out=asked is held_out
    )
    return reported(
        measures,
        value_changes([queries[row] for row in asked.rows.tolist()], asked.before, asked.after),
        kept=kept,
        reason=reason,
        examples=len(queries),
        validated=len(held_out.rows),
        history=learned.history,
        options=_options(subject, learned),
    )


def _is_gentle(subject: Subject, count: int) -> bool:
    """Tell whether so many examples are taught, not asked for a proof of more than no harm.

    A few words say little of words to come, so that a gain in those held out is chance. By the
    default score, which knew something before, harm shows. By a scorer that is named the
    temperature alone makes the right keys more probable, so that all may seem better.
    """
    return subject.scorer is None and count < FEW


def _most(subject: Subject) -> int:
    """Return how many examples to ask, so that memory stays bounded whatever the keys are."""
    return int(np.clip(_LIKENESSES // len(subject.keys.names), _LEAST_ASKED, _ASKED))


def _options(subject: Subject, learned: Learned) -> dict[str, Any]:
    """Return the options that are set, but for projections and a cutoff that was learned."""
    options: dict[str, Any] = {}
    if learned.scorer is not subject.scorer:
        options["scorer"] = learned.scorer
        options["score_cutoff"] = None  # the one that was set is of another scale
    if learned.temperature is not None:
        options["temperature"] = learned.temperature
    return options
