"""Measures of retrieval: how often, how soon and how surely the right key is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from fuzzydict._arrays import as_floats
from fuzzydict.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from fuzzydict.evaluation.datasets import JudgedPair

__all__ = [
    "Encodes",
    "auroc",
    "expected_calibration_error",
    "hit_at_1",
    "mean_reciprocal_rank",
    "rank_correlation",
]


class Encodes(Protocol):
    """What gives each text a vector."""

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E)."""


def hit_at_1(answers: Iterable[str | None], accepted: Iterable[Collection[str]]) -> float:
    """Return the share of answers that are accepted; None, no answer, is never one.

    NaN if there are none.

    >>> hit_at_1(["color", None], [{"color"}, {"brand"}])
    0.5
    """
    hits = [answer in right for answer, right in zip(answers, accepted, strict=True)]
    return sum(hits) / len(hits) if hits else float("nan")


def mean_reciprocal_rank(
    ranked: Iterable[Sequence[str]], accepted: Iterable[Collection[str]], *, topn: int = 10
) -> float:
    """Return the mean of one by the rank of the first right answer, 0 if not among ``topn``.

    NaN if there are none.

    >>> mean_reciprocal_rank([["brand", "color"], ["model"]], [{"color"}, {"brand"}])
    0.25
    """
    found = []
    for answers, right in zip(ranked, accepted, strict=True):
        ranks = (rank for rank, answer in enumerate(answers[:topn], 1) if answer in right)
        found.append(1 / next(ranks, float("inf")))
    return sum(found) / len(found) if found else float("nan")


def auroc(present: ArrayLike, absent: ArrayLike) -> float:
    """Return the chance that a score of ``present``, (n,), is above one of ``absent``, (m,).

    Equal scores count half. It is the area under the ROC curve of telling the two apart by the
    score, computed from ranks (J. A. Hanley and B. J. McNeil, 1982): 1 where every present score
    is above every absent one, 0.5 where they cannot be told apart. NaN if there are none of one.

    Raises:
        ShapeError: a score is NaN, or the scores are not (n,) and (m,).

    >>> auroc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    from scipy.stats import rankdata

    high, low = _scores(present=present), _scores(absent=absent)
    n, m = len(high), len(low)
    if not n or not m:
        return float("nan")
    ranks = rankdata(np.concatenate([high, low]))[:n]
    return float((ranks.sum() - n * (n + 1) / 2) / (n * m))


def expected_calibration_error(scores: ArrayLike, right: ArrayLike, *, bins: int = 10) -> float:
    """Return how far scores, (n,), are from the share of answers that are right, (n,) of bools.

    The scores are put in bins of equal width over [0, 1], each with its upper end; the distance
    between the mean score and the share that is right in each bin is averaged, each bin counting
    by its scores (C. Guo et al., 2017, "On Calibration of Modern Neural Networks", equation 3).
    NaN if there are no scores.

    Raises:
        ShapeError: the scores are not within [0, 1], or there are as many bools as scores not.

    >>> round(expected_calibration_error([0.75, 0.75, 0.75, 0.05], [True, True, False, False]), 3)
    0.075
    """
    claimed, correct = _scores(scores=scores), np.asarray(right, np.bool_)
    if claimed.shape != correct.shape:
        raise ShapeError(
            f"right: expected a bool for each of the {len(claimed)} scores, "
            f"got shape {correct.shape}"
        )
    if len(claimed) and not 0 <= claimed.min() <= claimed.max() <= 1:
        raise ShapeError(
            f"scores: expected probabilities within [0, 1], "
            f"got {claimed.min():.3g} to {claimed.max():.3g}"
        )
    places = np.digitize(claimed, np.arange(1, bins) / bins, right=True)
    claims, rights = (np.bincount(places, weights, bins) for weights in (claimed, correct))
    return float(np.abs(claims - rights).sum() / len(claimed)) if len(claimed) else float("nan")


def rank_correlation(encoder: Encodes, pairs: Sequence[JudgedPair]) -> float:
    """Return Spearman's correlation of the pairs' cosines with people's judgement.

    No pair is left out: a word never seen counts with the vector that the encoder gives it, and
    the cosine with the zero vector is 0. NaN if all cosines or all judgements are equal.
    """
    from scipy.stats import spearmanr

    first = _unit(encoder.encode([pair.first for pair in pairs]))
    second = _unit(encoder.encode([pair.second for pair in pairs]))
    cosines = (first * second).sum(axis=1)
    judged = np.array([pair.judged for pair in pairs])
    if np.ptp(cosines) == 0 or np.ptp(judged) == 0:
        return float("nan")
    return float(spearmanr(cosines, judged).statistic)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


def _scores(**named: ArrayLike) -> NDArray[np.float64]:
    """Return scores as an array, (n,), without NaN."""
    ((name, given),) = named.items()
    (scores,) = as_floats(**{name: given})
    if scores.ndim != 1 or np.isnan(scores).any():
        got = f"shape {scores.shape}" if scores.ndim != 1 else "NaN among them"
        raise ShapeError(f"{name}: expected a list of scores, got {got}")
    return scores.astype(np.float64)
