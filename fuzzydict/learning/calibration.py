"""Questions with their answers -> what likeness says: the weights of the default score, fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.embedding.calibration import Calibration
from fuzzydict.search.features import Features
from fuzzydict.search.score import log_odds, log_odds_by_reason, log_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Question", "calibrate"]

_PULL = 1e-4  # towards where the fit starts, for weights of which the questions say nothing
_WEIGHTS = 12  # of an `Evidence`: four for each of three reasons
# Log-odds are kept within what 32 bits can tell; which weights have a sign, `Evidence` tells.
_BIAS, _FOR, _AGAINST, _NONE = (-30.0, 30.0), (0.0, 60.0), (-60.0, 0.0), (0.0, 0.0)
_OF_SURFACE = [_BIAS, _FOR, _FOR, _NONE]
_BOUNDS = [*_OF_SURFACE, _BIAS, _AGAINST, _FOR, _FOR, *_OF_SURFACE]


class Question(NamedTuple):
    """A query to n keys.

    Attributes:
        features: of the query and the keys.
        known: the share of its words that are.
        right: which keys are right, (r,); none if no key is.
        weight: how much the question counts.
        absent: whether it is asked once more with its right keys taken out, so that "none" is
            right: the score then tells "it is here" from "it is not".
    """

    features: Features
    known: float
    right: NDArray[np.intp]
    weight: float = 1.0
    absent: bool = True


def calibrate(
    questions: Sequence[Question], start: Calibration, *, pull: float = _PULL
) -> Calibration:
    """Return the calibration under which the right answers are the most probable.

    By maximum likelihood (L-BFGS-B): of each question the probability that one of the right keys
    is right or, where no key is right, "none of them".

    Args:
        questions: one or more, not used to measure what comes out.
        start: where to start, and whereto weights are drawn of which the questions say nothing.
        pull: how strongly weights are drawn to where they start: what is added to the mean loss,
            times the sum of their squared differences. Of few questions, give more.
    """
    from scipy.optimize import minimize

    first = start.weights().ravel()
    total = sum(question.weight for question in questions)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        calibration, gradient = _calibration(weights, start.reach), np.zeros_like(weights)
        value = 0.0
        for question in questions:
            shares = np.repeat([question.known, 1 - question.known], _WEIGHTS)
            for gone in (False, True) if question.absent and len(question.right) else (False,):
                nll, back = _answered(question, calibration, gone=gone)
                value += question.weight * nll / total
                gradient += question.weight / total * shares * np.tile(back, 2)
        value += pull * float(np.square(weights - first).sum())
        return value, gradient + 2 * pull * (weights - first)

    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=_BOUNDS * 2)
    return _calibration(found.x, start.reach)


def _answered(
    question: Question, calibration: Calibration, *, gone: bool
) -> tuple[float, NDArray[np.float64]]:
    """Return the negative log-likelihood of the right answer, and its gradient by the weights.

    The gradient by a log-odds is the key's probability less what it should be; by a weight, that
    times the share of its reason in the odds of the key, times its likeness.
    """
    features, right = question.features, question.right
    odds = log_odds(features, question.known, calibration)
    whole = odds[features.candidates]
    if gone:
        odds[right] = -np.inf
    logs = log_probabilities(odds)
    probabilities = np.exp(logs)
    excess = probabilities.copy()
    if gone or not len(right):
        none = max(1 - probabilities.sum(), 1e-12)
        nll = -np.log(none)
    else:
        likely = np.logaddexp.reduce(logs[right])
        nll = -likely
        excess[right] -= np.exp(logs[right] - likely)
    reasons = log_odds_by_reason(features, question.known, calibration)
    shares = np.exp(reasons - whole)  # (3, c)
    return float(nll), _by_weights(features, excess, shares)


def _by_weights(
    features: Features, excess: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the gradient by the weights, from that by the log-odds, (n,)."""
    near = features.nearness[features.candidates]
    spelling, meaning, words = shares * excess[features.candidates]
    others = excess.copy()
    others[features.candidates] = meaning  # of all other keys the meaning is the only reason
    squared = np.square(np.maximum(features.words, 0))
    upwards = np.maximum(features.nearness, 0)
    return np.array(
        [
            *(spelling.sum(), spelling @ np.square(features.spelling), spelling @ near, 0.0),
            *(others.sum(), meaning @ np.square(features.surface())),
            *(others @ features.nearness, others @ (upwards * features.nearness)),
            *(words.sum(), words @ squared, words @ near, 0.0),
        ]
    )


def _calibration(weights: NDArray[np.float64], reach: float) -> Calibration:
    return Calibration.from_array(np.append(reach, weights))
