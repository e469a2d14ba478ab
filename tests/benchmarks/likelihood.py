"""The weights of the default score with which right answers are most likely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.embedding.calibration import Calibration
from fuzzydict.search.features import Features
from fuzzydict.search.score import CONTRADICTED, LEAST_COVERAGE, SAME

__all__ = ["Answers", "Question", "calibrate"]

_PULL = 1e-4  # towards the start, for weights on which the questions have no bearing
_LEAST_NESTING = 0.05  # where the best key alone decides whether any is right
# Log-odds stay within what float32 resolves. The signs are those that `Evidence` documents.
_BIAS, _FOR, _AGAINST, _NONE = (-30.0, 30.0), (0.0, 60.0), (-60.0, 0.0), (0.0, 0.0)
_OF_SURFACE = [_BIAS, _FOR, _FOR, _NONE]
_BOUNDS = [*_OF_SURFACE, _BIAS, _AGAINST, _FOR, _FOR, *_OF_SURFACE]


class Question(NamedTuple):
    """A query to n keys, for the default score.

    Attributes:
        features: of the one query and the keys.
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
    with_nesting: bool = False,
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
        with_nesting: whether to fit the nesting, too.
        of_texts: whether the vectors are as good for words never seen. Then the weights of meaning
            are the same for known and unknown words, as they are to be in the start.
    """
    from scipy.optimize import minimize

    first, answers = np.append(start.weights(), [start.growth, start.nesting]), Answers(questions)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = answers.loss(_calibration(weights, start.reach))
        if of_texts:  # equal steps from equal weights
            both = gradient[:-2].reshape(2, 3, 4)
            both[:, 1] = both[:, 1].mean(axis=0)
        value += pull * float(np.square(weights - first).sum())
        return value, gradient + 2 * pull * (weights - first)

    growth = (0.0, 1.0) if with_growth else (start.growth, start.growth)
    nesting = (_LEAST_NESTING, 1.0) if with_nesting else (start.nesting, start.nesting)
    bounds = [*_BOUNDS * 2, growth, nesting]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds)
    return _calibration(found.x, start.reach)


class _Answer(NamedTuple):
    """One answer to a question: what is known of n keys, of which c are candidates."""

    near: NDArray[np.float64]  # (n,)
    right: NDArray[np.bool_]  # (n,)
    candidates: NDArray[np.bool_]  # (n,)
    likeness: NDArray[np.float64]  # squared, of `REASONS`, (3, c)
    fixed: NDArray[np.float64]  # added to the log-odds of each reason, (3, c)
    is_same: NDArray[np.bool_]  # (c,), whether the log-odds by spelling are `SAME`
    known: float
    weight: float


class Answers:
    """The answers to questions, all of them as one array of N keys of A answers.

    Args:
        questions: one or more.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        answers = [answer for question in questions for answer in _answers(question)]
        lengths = np.array([len(answer.near) for answer in answers])
        self._starts = np.cumsum(lengths) - lengths
        self._owner = np.repeat(np.arange(len(answers)), lengths)
        self._sizes = np.log(lengths)
        near, right, candidates, likeness, fixed, is_same, known, weight = zip(
            *answers, strict=True
        )
        self._near, self._right = np.concatenate(near), np.concatenate(right)
        self._candidates = np.flatnonzero(np.concatenate(candidates))
        self._likeness, self._fixed = np.concatenate(likeness, 1), np.concatenate(fixed, 1)
        self._is_same = np.concatenate(is_same)
        self._known = np.array([known, 1 - np.array(known)])  # (2, A)
        self._weight = np.array(weight) / sum(weight)
        self._has_right = np.add.reduceat(self._right, self._starts) > 0

    def loss(self, calibration: Calibration) -> tuple[float, NDArray[np.float64]]:
        """Return the mean negative log-likelihood of the answers, and its gradient, (26,).

        The gradient is for the weights of `Calibration.weights`, the growth and the nesting.
        """
        odds, parts = self._odds(calibration)
        value, d_odds, d_growth, d_nesting = self._of_odds(odds, calibration)
        shares = np.exp(parts - odds[self._candidates]) * d_odds[self._candidates]
        shares[0, self._is_same] = 0
        return value, np.append(self._weight_gradient(d_odds, shares), [d_growth, d_nesting])

    def _odds(self, calibration: Calibration) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-odds of all keys, (N,), and those of candidates by reason, (3, C)."""
        weights = np.einsum("ka,krw->raw", self._known, calibration.weights())  # (3, A, 4)
        near, square = self._near, self._near * np.maximum(self._near, 0)
        of_key = weights[1, self._owner]
        odds = of_key[:, 0] + of_key[:, 2] * near + of_key[:, 3] * square
        some = self._candidates
        of_candidate = weights[:, self._owner[some]]  # (3, C, 4)
        parts = of_candidate[..., 0] + of_candidate[..., 1] * self._likeness
        parts += of_candidate[..., 2] * near[some] + of_candidate[..., 3] * square[some]
        parts[0, self._is_same] = SAME
        parts += self._fixed
        odds[some] = np.logaddexp.reduce(parts, axis=0)
        return odds, parts

    def _of_odds(
        self, odds: NDArray[np.float64], calibration: Calibration
    ) -> tuple[float, NDArray[np.float64], float, float]:
        """Return the loss, and its gradients for log-odds (N,), the growth and the nesting.

        With the log-odds ``o``, the nesting ``t`` and ``s = softmax(o / t)``, that any key is right
        has the log-odds ``t logsumexp(o / t)``, whose gradient is ``s``.
        """
        nesting, owner = calibration.nesting, self._owner
        joint = nesting * self._log_sums(odds / nesting)
        any_right = 1 / (1 + np.exp(calibration.growth * self._sizes - joint))
        none = np.maximum(1 - any_right, 1e-12)
        within = np.exp((odds - joint[owner]) / nesting)  # the keys' shares, if any is right
        of_right = self._log_sums(np.where(self._right, odds / nesting, -np.inf))
        found = np.where(self._has_right, of_right, 0)
        among = np.where(self._right, np.exp(odds / nesting - found[owner]), 0)
        logs = np.log(np.maximum(any_right, 1e-300)) + found - joint / nesting
        losses = -np.where(self._has_right, logs, np.log(none))
        d_odds = within * np.where(self._has_right, 1 / nesting - none, any_right)[owner]
        d_odds = (d_odds - among / nesting) * self._weight[owner]
        unlike, liked = (np.add.reduceat(share * odds, self._starts) for share in (within, among))
        d_joint = (joint - unlike) / nesting
        d_nesting = np.where(
            self._has_right, (liked - unlike) / nesting**2 - none * d_joint, any_right * d_joint
        )
        d_growth = np.where(self._has_right, none, -any_right) * self._sizes
        value, of_growth, of_nesting = (
            float(self._weight @ each) for each in (losses, d_growth, d_nesting)
        )
        return value, d_odds, of_growth, of_nesting

    def _log_sums(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the sum of the exponentials for each answer, (A,)."""
        tops = np.maximum.reduceat(logs, self._starts)
        finite = np.where(np.isfinite(tops), tops, 0)
        sums = np.add.reduceat(np.exp(logs - finite[self._owner]), self._starts)
        with np.errstate(divide="ignore"):
            return np.asarray(finite + np.log(sums), np.float64)

    def _weight_gradient(
        self, d_odds: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the gradient for the weights, (24,), from those for log-odds, (N,) and (3, C)."""
        gradient = np.zeros((2, 3, 4))
        near, some, all_keys = self._near, self._candidates, d_odds.copy()
        all_keys[some] = shares[1]  # for other keys, meaning is the only reason
        for of_known, share in zip(gradient, self._known[:, self._owner], strict=True):
            known = share[some]
            for reason in (0, 2):
                d = shares[reason] * known
                of_known[reason] = d.sum(), d @ self._likeness[reason], d @ near[some], 0
            d = all_keys * share
            like = (shares[1] * known) @ self._likeness[1]
            of_known[1] = d.sum(), like, d @ near, d @ (np.maximum(near, 0) * near)
        return gradient.ravel()


def _answers(question: Question) -> Iterable[_Answer]:
    """Yield the answer to a question, and "none" for it without its right keys."""
    features = question.features
    right = np.zeros(features.nearness.shape[1], np.bool_)
    right[question.right] = True
    every = np.ones(len(right), np.bool_)
    for kept in [every, ~right] if question.absent and right.any() else [every]:
        if kept.any():
            yield _answer(features, right, kept, question)


def _answer(
    features: Features, right: NDArray[np.bool_], kept: NDArray[np.bool_], question: Question
) -> _Answer:
    # Of a slot that comes twice, the last place counts.
    slots, from_end = np.unique(features.candidates[0, ::-1], return_index=True)
    order = features.candidates.shape[1] - 1 - from_end
    order = order[kept[slots]]
    candidates = np.zeros(len(kept), np.bool_)
    candidates[slots] = True
    words = features.words[0, order].astype(np.float64)
    counts = words >= LEAST_COVERAGE * (1 - question.known)
    contradicted = features.contradicted[0, order]
    spelling, surface = features.spelling[0, order], features.surface()[0, order]
    like = [spelling, surface, np.where(counts, words, 0)]
    fixed = np.where(contradicted, -CONTRADICTED, 0.0) * np.ones((3, 1))
    fixed[2, ~counts] = -np.inf
    return _Answer(
        features.nearness[0, kept].astype(np.float64),
        right[kept],
        candidates[kept],
        np.square(np.array(like, np.float64)),
        fixed,
        (spelling == 1) & ~contradicted,
        question.known,
        question.weight,
    )


def _calibration(weights: NDArray[np.float64], reach: float) -> Calibration:
    return Calibration.from_array(np.append(reach, weights))
