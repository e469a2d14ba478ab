"""The weights of the default score with which right answers are most likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.embedding.calibration import Calibration
from fuzzydict.search.features import Features
from fuzzydict.search.score import log_odds, log_odds_by_reason, log_odds_of_any, log_probabilities

__all__ = ["Question", "calibrate", "question_loss"]

_PULL = 1e-4  # towards the start, for weights on which the questions have no bearing
_LEAST_NESTING = 0.05  # where the best key alone decides whether any is right
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
    of_texts: bool = False,
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
        of_texts: whether the vectors are as good for words never seen. Then the weights of meaning
            are the same for known and unknown words, as they are to be in the start, and the
            nesting is fitted, too.
    """
    from scipy.optimize import minimize

    first = np.append(start.weights(), [start.growth, start.nesting])
    total = sum(question.weight for question in questions)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        calibration, gradient = _calibration(weights, start.reach), np.zeros_like(weights)
        value = 0.0
        for question in questions:
            nll, d_weights, *d_ends = question_loss(question, calibration)
            shares = np.repeat([question.known, 1 - question.known], _WEIGHTS)
            value += question.weight * nll / total
            gradient[:-2] += question.weight / total * shares * np.tile(d_weights, 2)
            gradient[-2:] += question.weight / total * np.array(d_ends)
        if of_texts:  # equal steps from equal weights
            both = gradient[:-2].reshape(2, 3, 4)
            both[:, 1] = both[:, 1].mean(axis=0)
        value += pull * float(np.square(weights - first).sum())
        return value, gradient + 2 * pull * (weights - first)

    growth = (0.0, 1.0) if with_growth else (start.growth, start.growth)
    nesting = (_LEAST_NESTING, 1.0) if of_texts else (start.nesting, start.nesting)
    bounds = [*_BOUNDS * 2, growth, nesting]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds)
    return _calibration(found.x, start.reach)


class Loss(NamedTuple):
    """The negative log-likelihood of the right answer to a question, and its gradients.

    Attributes:
        value: the loss.
        d_weights: for the weights of the evidence, (12,).
        d_growth: for the growth.
        d_nesting: for the nesting.
    """

    value: float
    d_weights: NDArray[np.float64]
    d_growth: float
    d_nesting: float


def question_loss(question: Question, calibration: Calibration) -> Loss:
    """Return the loss of a question.

    The gradient for a weight is that for the log-odds, times the reason's share of the key's odds,
    times the feature.
    """
    features, right = question.features, question.right
    odds = log_odds(features, question.known, calibration)
    reasons = log_odds_by_reason(features, question.known, calibration)
    shares = np.exp(reasons - odds[features.candidates])  # (3, c)
    answers = [right, right[:0]] if question.absent and len(right) else [right]
    value, d_growth, d_nesting, d_odds = 0.0, 0.0, 0.0, np.zeros(len(odds))
    for there in answers:
        if len(there) < len(right):
            odds[right] = -np.inf
        found = _answer_loss(odds, there, calibration)
        value, d_odds = value + found[0], d_odds + found[1]
        d_growth, d_nesting = d_growth + found[2], d_nesting + found[3]
    return Loss(value, _weight_gradient(features, d_odds, shares), d_growth, d_nesting)


def _answer_loss(
    odds: NDArray[np.float64], right: NDArray[np.intp], calibration: Calibration
) -> tuple[float, NDArray[np.float64], float, float]:
    """Return the negative log-likelihood of the right keys, or of "none", and its gradients.

    They are for the log-odds, (n,), the growth and the nesting. With the log-odds ``o``, the
    nesting ``t`` and ``s = softmax(o / t)``, that any key is right has the log-odds
    ``t logsumexp(o / t)``, whose gradient is ``s``.
    """
    nesting, is_some = calibration.nesting, odds > -np.inf
    if not is_some.any():
        return 0.0, np.zeros(len(odds)), 0.0, 0.0
    logs = log_probabilities(odds, calibration.growth, nesting=nesting)
    size = math.log(np.count_nonzero(is_some))
    joint = log_odds_of_any(odds, nesting)
    any_right = math.exp(joint - np.logaddexp(joint, calibration.growth * size))
    none = max(1 - any_right, 1e-12)
    within = np.exp((odds - joint) / nesting)  # the keys' shares, if any is right
    unlike = float(within[is_some] @ odds[is_some])
    d_joint_nesting = (joint - unlike) / nesting
    if not len(right):
        loss, d_nesting = -math.log(none), any_right * d_joint_nesting
        return loss, any_right * within, -any_right * size, d_nesting
    of_right = np.logaddexp.reduce(logs[right])
    among = np.exp(logs[right] - of_right)
    d_odds = within * (1 / nesting - none)
    d_odds[right] -= among / nesting
    d_shares = (float(among @ odds[right]) - unlike) / nesting**2
    return -float(of_right), d_odds, size * none, d_shares - none * d_joint_nesting


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
