"""What was answered before and after -> whether to keep what was learned, and a report of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.learning.cutoffs import right_at
from fuzzydict.learning.report import Change, FitReport, Measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.acceptance import Answers
    from fuzzydict.learning.candidate import Outcome

__all__ = [
    "Changed",
    "Cutoffs",
    "key_changes",
    "measured",
    "missed_by",
    "reported",
    "value_changes",
    "verdict_of_keys",
    "verdict_of_values",
]

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
