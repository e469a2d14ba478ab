"""The weights of the default score with which right answers are most likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.embedding.calibration import Calibration
from fuzzydict.search.features import Features
from fuzzydict.search.score import log_odds, log_odds_by_reason, log_probabilities

__all__ = ["Question", "calibrate", "question_loss"]

_PULL = 1e-4  # towards the start, for weights on which the questions have no bearing
_WEIGHTS = 12  # of an `Evidence`: four for each of three reasons
# Log-odds stay within what float32 resolves. The signs are those that `Evidence` documents.
_BIAS, _FOR, _AGAINST, _NONE = (-30.0, 30.0), (0.0, 60.0), (-60.0, 0.0), (0.0, 0.0)
_OF_SURFACE = [_BIAS, _FOR, _FOR, _NONE]
_BOUNDS = [*_OF_SURFACE, _BIAS, _AGAINST, _FOR, _FOR, *_OF_SURFACE]


class Question(NamedTuple):
    """A query to n keys, for the default score.

    Attributes:
        features: of the query and the keys.
        known: the share of the query's words that are known.
        right: the right keys, (r,); none if no key is right.
        weight: how much the question counts.
        absent: whether to ask it once more without the right keys, so that the score learns to
            tell that no key is right.
    """

    features: Features
    known: float
    right: NDArray[np.intp]
    weight: float = 1.0
    absent: bool = True


def calibrate(
    questions: Sequence[Question],
    start: Calibration,
    *,
    pull: float = _PULL,
    with_growth: bool = False,
) -> Calibration:
    """Return the calibration with the greatest likelihood of the right answers.

    The answer to a question is one of its right keys, or "none" where no key is right.
    The optimizer is L-BFGS-B.

    Args:
        questions: one or more.
        start: the weights to start from.
        pull: weight of the penalty on the squared distance from the start, relative to the mean
            loss. With few questions, give more.
        with_growth: whether to fit the growth, too. The questions should be to dicts of many sizes.
    """
    from scipy.optimize import minimize

    first = np.append(start.weights(), start.growth)
    total = sum(question.weight for question in questions)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        calibration, gradient = _calibration(weights, start.reach), np.zeros_like(weights)
        value = 0.0
        for question in questions:
            nll, d_weights, d_growth = question_loss(question, calibration)
            shares = np.repeat([question.known, 1 - question.known], _WEIGHTS)
            value += question.weight * nll / total
            gradient[:-1] += question.weight / total * shares * np.tile(d_weights, 2)
            gradient[-1] += question.weight / total * d_growth
        value += pull * float(np.square(weights - first).sum())
        return value, gradient + 2 * pull * (weights - first)

    growth = (0.0, 1.0) if with_growth else (start.growth, start.growth)
    bounds = [*_BOUNDS * 2, growth]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds)
    return _calibration(found.x, start.reach)


class Loss(NamedTuple):
    """The negative log-likelihood of the right answer to a question, and its gradients.

    Attributes:
        value: the loss.
        d_weights: for the weights of the evidence, (12,).
        d_growth: for the growth.
    """

    value: float
    d_weights: NDArray[np.float64]
    d_growth: float


def question_loss(question: Question, calibration: Calibration) -> Loss:
    """Return the loss of a question.

    The gradient for a weight is that for the log-odds, times the reason's share of the key's odds,
    times the feature.
    """
    features, right = question.features, question.right
    odds = log_odds(features, question.known, calibration)
    reasons = log_odds_by_reason(features, question.known, calibration)
    shares = np.exp(reasons - odds[features.candidates])  # (3, c)
    loss, d_odds, d_growth = _answer_loss(odds, right, calibration.growth)
    if question.absent and len(right):
        odds[right] = -np.inf
        of_none = _answer_loss(odds, right[:0], calibration.growth)
        loss, d_odds, d_growth = loss + of_none[0], d_odds + of_none[1], d_growth + of_none[2]
    return Loss(loss, _weight_gradient(features, d_odds, shares), d_growth)


def _answer_loss(
    odds: NDArray[np.float64], right: NDArray[np.intp], growth: float
) -> tuple[float, NDArray[np.float64], float]:
    """Return the negative log-likelihood of the right keys, or of "none", and its gradients.

    The gradient for a log-odds, (n,), is the key's probability less its target; that for the
    growth is the same of "none", times the logarithm of the number of keys.
    """
    logs = log_probabilities(odds, growth)
    d_odds = np.exp(logs)
    size = math.log(max(int(np.count_nonzero(odds > -np.inf)), 1))
    none = max(1 - float(d_odds.sum()), 1e-12)
    if not len(right):
        return -float(np.log(none)), d_odds, size * (none - 1)
    of_right = np.logaddexp.reduce(logs[right])
    d_odds[right] -= np.exp(logs[right] - of_right)
    return -float(of_right), d_odds, size * none


def _weight_gradient(
    features: Features, d_odds: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the gradient for the weights, (12,), from that for the log-odds, (n,)."""
    near = features.nearness[features.candidates]
    spelling, meaning, words = shares * d_odds[features.candidates]
    spelling[features.spelling == 1] = 0  # the log-odds of the very words are fixed
    all_keys = d_odds.copy()
    all_keys[features.candidates] = meaning  # for other keys, meaning is the only reason
    coverage = np.maximum(features.words, 0)
    squared_nearness = np.maximum(features.nearness, 0) * features.nearness
    return np.array(
        [
            *(spelling.sum(), spelling @ np.square(features.spelling), spelling @ near, 0.0),
            *(all_keys.sum(), meaning @ np.square(features.surface())),
            *(all_keys @ features.nearness, all_keys @ squared_nearness),
            *(words.sum(), words @ np.square(coverage), words @ near, 0.0),
        ]
    )


def _calibration(weights: NDArray[np.float64], reach: float) -> Calibration:
    return Calibration.from_array(np.append(reach, weights))
