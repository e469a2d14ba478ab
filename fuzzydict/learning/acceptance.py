"""Queries asked of a dict before and after it learns, by the default score or a named scorer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.embedding.projections import Projected
from fuzzydict.learning.calibration import Question, calibrate
from fuzzydict.learning.candidate import Learned, Outcome, Subject, answered
from fuzzydict.learning.report import Change, FitReport, Measures
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.embedding.projections import Projections
    from fuzzydict.learning.candidate import Keys
    from fuzzydict.learning.examples import KeyExamples

__all__ = [
    "Answers",
    "Changed",
    "Cutoffs",
    "Exam",
    "ExamOfScore",
    "Slips",
    "best_cutoff",
    "key_changes",
    "measured",
    "missed_by",
    "reported",
    "right_at",
    "slip_of",
    "slips_of",
    "value_changes",
    "verdict_of_keys",
    "verdict_of_values",
]


_SHORTEST = 4  # letters: a slip in fewer may make another word


class Slips(NamedTuple):
    """Queries, their vectors (n, E), and the key that is right for each."""

    queries: list[str]
    vectors: Array
    right: list[NDArray[np.intp]]


def slip_of(text: str, random: np.random.Generator) -> str:
    """Return a text with two neighbouring letters exchanged, or one left out, not the first.

    >>> slip_of("color", np.random.default_rng(0))
    'colr'
    """
    place = int(random.integers(1, len(text) - 1))
    if random.random() < 0.5:
        return text[:place] + text[place + 1 :]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def slips_of(
    keys: Keys,
    start: Projections,
    most: int,
    random: np.random.Generator,
    *,
    times: int = 1,
    apart_from: Sequence[str] = (),
) -> Slips:
    """Return some of the keys, each with a slip; none if the embedding knows no such texts.

    Args:
        keys: the keys.
        start: through which projections the slips are seen.
        most: how many to return, at most.
        random: draws keys and slips.
        times: how often each key may be drawn, with another slip each time.
        apart_from: slips that are not to be drawn.
    """
    known, found = {*keys.names, *apart_from}, dict[str, int]()
    drawn = [random.permutation(len(keys.names))[: 2 * most] for _ in range(times)]
    for place in np.concatenate(drawn)[: 2 * most].tolist():
        text = plain(keys.names[place])
        slip = slip_of(text, random) if len(text) >= _SHORTEST else ""
        if plain(slip) and slip not in known and plain(slip) != text:
            found.setdefault(slip, place)
    queries = list(found)[:most]
    try:
        vectors = Projected(keys.embedding, start).encode_with_trust(queries, of_queries=True)[0]
    except Exception:  # of a user's function, which may know its own texts alone
        return Slips([], np.zeros((0, 0), np.float32), [])
    return Slips(queries, vectors, [np.array([found[query]]) for query in queries])


_BEYOND = 1e-6  # the best score and the least, to refuse or to answer all


def right_at(outcomes: Sequence[Outcome], cutoff: float) -> NDArray[np.bool_]:
    """Return which of L queries are answered right, (L,): by a right key, or refused if none is."""
    return np.array([_is_right(outcome, cutoff) for outcome in outcomes], np.bool_)


def _is_right(outcome: Outcome, cutoff: float) -> bool:
    answered = outcome.score >= cutoff
    return answered and outcome.hit if outcome.rank else not answered


def best_cutoff(
    held_out: Sequence[Outcome], learned_from: Sequence[Outcome], usual: float
) -> float | None:
    """Return the cutoff by which the most queries are answered right; None to leave it alone.

    It is left alone if each query has a right key, and if no cutoff is as good as the usual one
    for the queries held out as well as for those learned from. Of several that are as good it is
    the middle of the widest gap between an answer and the next.

    >>> from fuzzydict.learning.candidate import Outcome
    >>> right, none = Outcome(1, 0.0, 0, 0.5), Outcome(0, 0.0, 0, 0.1)
    >>> best_cutoff([right, none], [right, none], usual=0.02)
    0.3
    """
    sides = held_out, learned_from
    outcomes = [o for side in sides for o in side if o.hit or not o.rank]
    if all(outcome.rank for outcome in outcomes):
        return None
    scores = np.unique([outcome.score for outcome in outcomes])
    edges = np.concatenate([[scores[0] - _BEYOND], scores, [scores[-1] + _BEYOND]])
    middles = (edges[:-1] + edges[1:]) / 2
    right = np.array([[right_at(side, at).sum() for side in sides] for at in middles.tolist()])
    as_good = (right >= [right_at(side, usual).sum() for side in sides]).all(axis=1)
    if not as_good.any():
        return None
    total = np.where(as_good, right.sum(axis=1), -1)
    return float(middles[np.where(total == total.max(), np.diff(edges), -1.0).argmax()])


_BROKEN = 0.04  # share of slips that may break: one of 32, none of a few
_SEEN = 0.01  # a change of an error by less, in parts of it, is none
_CHANCE = -1.28  # standard deviations: of what changes by chance alone, one in ten falls more
_NAN = float("nan")
_EITHER_WAY = "give more examples, or set validation to 0 to keep it all the same"


class Changed(NamedTuple):
    """A query's answers, and by how much the second is better."""

    change: Change
    gain: float


class Cutoffs(NamedTuple):
    """The least score of a match, before and after."""

    before: float
    after: float


def measured(outcomes: Sequence[Outcome], cutoff: float) -> Measures:
    """Return how good answers are."""
    if not outcomes:
        return Measures(_NAN, _NAN, _NAN, _NAN)
    keyed = [outcome for outcome in outcomes if outcome.rank]
    return Measures(
        hit_at_1=float(np.mean([outcome.hit for outcome in keyed])) if keyed else _NAN,
        mrr=float(np.mean([1 / outcome.rank for outcome in keyed])) if keyed else _NAN,
        log_probability=float(np.mean([outcome.log_probability for outcome in outcomes])),
        rmse=_NAN,
        right_at_cutoff=float(right_at(outcomes, cutoff).mean()),
    )


def missed_by(errors: NDArray[np.float64]) -> Measures:
    """Return how good pooled values are, by the root mean squared error of each, (L,)."""
    rmse = float(np.sqrt(np.square(errors).mean())) if len(errors) else _NAN
    return Measures(_NAN, _NAN, _NAN, rmse)


# ---- whether to keep it ---------------------------------------------------------------------


def verdict_of_keys(
    held_out: Answers,
    learned_from: Answers,
    cutoffs: Cutoffs,
    broken: tuple[int, int],
    *,
    must_gain: bool,
) -> tuple[bool, str]:
    """Return whether to keep what was learned, and why or why not.

    Args:
        held_out: maybe none.
        learned_from: these must be answered better.
        cutoffs: the least scores of a match.
        broken: how many slips found their key and do no more, and how many there are.
        must_gain: whether fewer of those held out may never be answered right; else no fewer than
            chance explains. More probably they must be in any case.
    """
    lost, slips = broken
    if lost > _BROKEN * slips:
        why = f"{lost} of {slips} keys with a slip would no longer be found"
        return False, f"{why}; give more examples, or fewer epochs"
    gains = _gains(learned_from, cutoffs)
    if min(gains) < 0 or max(gains) <= 0:
        why = f"worse by {gains.below(0)}" if min(gains) < 0 else "no better by any of these"
        return False, f"{_facts(learned_from, cutoffs)}: {why}; give more epochs, or examples"
    if not held_out.before:
        return True, f"{_facts(learned_from, cutoffs)}, as none was held out"
    facts, gains = _facts(held_out, cutoffs, "examples held out"), _gains(held_out, cutoffs)
    if gains.log_probability <= 0:
        return False, f"{facts}: no better by log-probability; {_EITHER_WAY}"
    if must_gain and min(gains) < 0:
        return False, f"{facts}: worse by {gains.below(0)}; {_EITHER_WAY}"
    if min(gains) < _CHANCE:
        why = f"worse than chance explains by {gains.below(_CHANCE)}"
        return False, f"{facts}: {why}; {_EITHER_WAY}"
    return True, facts


class _Gains(NamedTuple):
    """How much better examples are answered, in standard deviations of a sum of random signs."""

    log_probability: float
    hit: float
    right_at_cutoff: float

    def below(self, limit: float) -> str:
        """Name those that are below a limit, as they are shown."""
        names = ("log-probability", "hit@1", "right at the cutoff")
        return " and ".join(n for n, gain in zip(names, self, strict=True) if gain < limit)


def _gains(answers: Answers, cutoffs: Cutoffs) -> _Gains:
    before, after = answers.before, answers.after
    logs = [b.log_probability - a.log_probability for a, b in zip(before, after, strict=True)]
    hits = [float(b.hit) - a.hit for a, b in zip(before, after, strict=True)]
    right = right_at(after, cutoffs.after) * 1.0 - right_at(before, cutoffs.before)
    return _Gains(*(_in_deviations(answers.rows, np.array(g)) for g in (logs, hits, right)))


def _in_deviations(rows: NDArray[np.intp], gains: NDArray[np.float64]) -> float:
    """Return the sum of the gains of examples, each the mean of its rounds, by what is chance.

    If each might as well have been a loss, the sum varies by the root of their squares.
    """
    examples, places = np.unique(rows, return_inverse=True)
    each = np.bincount(places, gains, len(examples)) / np.bincount(places, minlength=len(examples))
    chance = np.sqrt(np.square(each).sum())
    return float(each.sum() / chance) if chance else 0.0


def _facts(answers: Answers, cutoffs: Cutoffs, where: str = "the examples themselves") -> str:
    before = measured(answers.before, cutoffs.before)
    after = measured(answers.after, cutoffs.after)
    both = zip(before.named(), after.named(), strict=True)
    return f"on {where}, {', '.join(f'{name} {a} -> {b}' for (name, a), (_, b) in both)}"


def verdict_of_values(old: Measures, new: Measures, *, held_out: bool) -> tuple[bool, str]:
    """Return whether to keep what was learned, and why or why not."""
    where = "examples held out" if held_out else "the examples themselves, as none was held out"
    why = f"on {where}, the root mean squared error goes from {old.rmse:.4g} to {new.rmse:.4g}"
    kept = new.rmse < old.rmse
    return kept, why if kept or not held_out else f"{why}; {_EITHER_WAY}"


# ---- what has changed -----------------------------------------------------------------------


def key_changes(answers: Answers, queries: Sequence[str], names: Sequence[str]) -> list[Changed]:
    """Return the queries whose right key is at another rank, by what they are answered.

    Of several rounds the ranks of all count, and the first answer is told that is another one.
    """
    found: dict[int, Changed] = {}
    for row, was, now in zip(answers.rows.tolist(), answers.before, answers.after, strict=True):
        if was.rank != now.rank:
            change = Change(queries[row], _told(was, names), _told(now, names))
            first = found.get(row, Changed(change, 0.0))
            found[row] = first._replace(gain=first.gain + 1 / now.rank - 1 / was.rank)
    return list(found.values())


def value_changes(
    queries: Sequence[str], was: NDArray[np.float64], now: NDArray[np.float64]
) -> list[Changed]:
    """Return the queries that miss their value by more or by less, and by how much they do."""
    return [
        Changed(Change(query, f"off by {a:.4g}", f"off by {b:.4g}"), a - b)
        for query, a, b in zip(queries, was.tolist(), now.tolist(), strict=True)
        if abs(a - b) > _SEEN * max(a, b)
    ]


def _told(outcome: Outcome, names: Sequence[str]) -> str:
    place = "" if outcome.hit else f" (a right key is at {outcome.rank})"
    return f"{names[outcome.answer]}{place}"


def reported(measures: Sequence[Measures], changes: Sequence[Changed], **facts: Any) -> FitReport:
    """Return a report: measures before and after, of what was learned from and what was not."""
    by_gain = sorted(changes, key=lambda changed: -changed.gain)
    return FitReport(
        training_before=measures[0],
        training_after=measures[1],
        held_out_before=measures[2],
        held_out_after=measures[3],
        better=tuple(changed.change for changed in by_gain if changed.gain > 0),
        worse=tuple(changed.change for changed in by_gain[::-1] if changed.gain <= 0),
        **facts,
    )


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
