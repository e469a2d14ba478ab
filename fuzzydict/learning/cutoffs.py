"""Which score to answer from: of examples, with the right key or none, the most answered right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.candidate import Outcome

__all__ = ["best_cutoff", "right_at"]

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
