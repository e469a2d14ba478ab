"""What was answered before and after -> whether to keep what was learned, a cutoff, a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.fit_report import Change, FitReport, Measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.trials import Outcome

__all__ = [
    "best_cutoff",
    "key_changes",
    "measured",
    "missed_by",
    "reported",
    "value_changes",
    "verdict_of_keys",
    "verdict_of_values",
]

_BROKEN = 0.02  # share of slips that may break: none of a few
_SEEN = 0.01  # a change of an error by less, in parts of it, is none
_NAN = float("nan")


class _Changed(NamedTuple):
    """A query's answers, and by how much the second is better."""

    change: Change
    gain: float


def measured(outcomes: Sequence[Outcome]) -> Measures:
    """Return how good answers are."""
    keyed = [outcome for outcome in outcomes if outcome.rank]
    if not keyed:
        return Measures(_NAN, _NAN, _NAN, _NAN)
    logs = [o.log_probability for o in outcomes if o.log_probability == o.log_probability]
    return Measures(
        hit_at_1=float(np.mean([outcome.hit for outcome in keyed])),
        mrr=float(np.mean([1 / outcome.rank for outcome in keyed])),
        log_probability=float(np.mean(logs)),
        rmse=_NAN,
    )


def missed_by(errors: NDArray[np.float64]) -> Measures:
    """Return how good pooled values are, by the root mean squared error of each, (L,)."""
    rmse = float(np.sqrt(np.square(errors).mean())) if len(errors) else _NAN
    return Measures(_NAN, _NAN, _NAN, rmse)


def best_cutoff(outcomes: Sequence[Outcome]) -> float | None:
    """Return the score that best parts right answers from wrong; None if no query is without.

    Of several such scores it is the middle of the widest gap between an answer and the next. Where
    several keys are right for a query, each has but a share of the probability, and may be refused.
    """
    if all(outcome.rank for outcome in outcomes):
        return None
    outcomes = sorted(outcomes, key=lambda outcome: outcome.score)
    scores = np.array([outcome.score for outcome in outcomes])
    right = np.array([outcome.hit for outcome in outcomes])
    refused = np.concatenate([[0], np.cumsum(~right)])  # of the wrong, by a cutoff at this place
    lost = np.concatenate([[0], np.cumsum(right)])
    edges = np.concatenate([[scores[0] - 1e-6], scores, [scores[-1] + 1e-6]])
    good = refused - lost
    gaps = np.where(good == good.max(), np.diff(edges), -1.0)
    place = int(gaps.argmax())
    return float((edges[place] + edges[place + 1]) / 2)


def verdict_of_keys(
    before: Sequence[Outcome],
    after: Sequence[Outcome],
    broken: tuple[int, int],
    *,
    held_out: bool,
) -> tuple[bool, str]:
    """Return whether to keep what was learned, and why or why not."""
    old, new = measured(before), measured(after)
    why = (
        f"on {_where(held_out)}, the mean log-probability of what is right goes from "
        f"{old.log_probability:.3f} to {new.log_probability:.3f}, and hit@1 from "
        f"{old.hit_at_1:.3f} to {new.hit_at_1:.3f}"
    )
    lost, slips = broken
    if lost > _BROKEN * slips:
        return False, f"{lost} of {slips} keys with a slip would no longer be found; {why}"
    return new.log_probability > old.log_probability and new.hit_at_1 >= old.hit_at_1, why


def verdict_of_values(old: Measures, new: Measures, *, held_out: bool) -> tuple[bool, str]:
    """Return whether to keep what was learned, and why or why not."""
    why = (
        f"on {_where(held_out)}, the root mean squared error goes from {old.rmse:.4g} to "
        f"{new.rmse:.4g}"
    )
    return new.rmse < old.rmse, why


def _where(held_out: bool) -> str:
    return "examples held out" if held_out else "the examples themselves, as none was held out"


def key_changes(
    queries: Sequence[str], was: Sequence[Outcome], now: Sequence[Outcome], names: Sequence[str]
) -> list[_Changed]:
    """Return the queries whose right key is at another rank, by what they are answered."""
    return [
        _Changed(Change(query, _told(a, names), _told(b, names)), 1 / b.rank - 1 / a.rank)
        for query, a, b in zip(queries, was, now, strict=True)
        if a.rank != b.rank
    ]


def value_changes(
    queries: Sequence[str], was: NDArray[np.float64], now: NDArray[np.float64]
) -> list[_Changed]:
    """Return the queries that miss their value by more or by less, and by how much they do."""
    return [
        _Changed(Change(query, f"off by {a:.4g}", f"off by {b:.4g}"), a - b)
        for query, a, b in zip(queries, was.tolist(), now.tolist(), strict=True)
        if abs(a - b) > _SEEN * max(a, b)
    ]


def _told(outcome: Outcome, names: Sequence[str]) -> str:
    place = "" if outcome.hit else f" (a right key is at {outcome.rank})"
    return f"{names[outcome.answer]}{place}"


def reported(measures: Sequence[Measures], changes: Sequence[_Changed], **facts: Any) -> FitReport:
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
