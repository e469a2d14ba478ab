"""The measures, beside slow and obvious ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from fuzzydict import ArgumentTypeError, ShapeError, WordVectors
from fuzzydict.evaluation.datasets import JudgedPair
from fuzzydict.evaluation.metrics import (
    auroc,
    expected_calibration_error,
    hit_at_1,
    mean_reciprocal_rank,
    rank_correlation,
)

# Few different scores, so that many are equal; the ends of bins among them.
SCORES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.31, 0.6, 0.7, 0.99, 1.0]) | st.floats(0, 1)


def test_hits_and_ranks_by_hand() -> None:
    accepted = [{"a"}, {"b", "c"}, {"d"}, {"e"}]
    assert hit_at_1(["a", "c", "a", None], accepted) == 0.5
    ranked = [["a"], ["x", "c"], ["x", "y", "z"], []]
    assert mean_reciprocal_rank(ranked, accepted) == (1 + 1 / 2) / 4
    assert mean_reciprocal_rank([["x", "a"]], [{"a"}], topn=1) == 0


def test_of_nothing_there_is_no_measure() -> None:
    assert math.isnan(hit_at_1([], []))
    assert math.isnan(mean_reciprocal_rank([], []))
    assert math.isnan(auroc([], [0.5]))
    assert math.isnan(auroc([0.5], []))
    assert math.isnan(expected_calibration_error([], []))


@given(st.lists(SCORES, min_size=1), st.lists(SCORES, min_size=1))
def test_auroc_is_that_of_scikit_learn_and_of_all_pairs(
    present: list[float], absent: list[float]
) -> None:
    labels = [True] * len(present) + [False] * len(absent)
    assert auroc(present, absent) == pytest.approx(roc_auc_score(labels, present + absent))
    wins = [(p > a) + (p == a) / 2 for p in present for a in absent]
    assert auroc(present, absent) == pytest.approx(sum(wins) / len(wins))


def test_auroc_counts_no_answer_as_the_least_score() -> None:
    assert auroc([-0.5, 0.2], [-math.inf, -math.inf]) == 1
    assert auroc([-math.inf], [-math.inf]) == 0.5


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1), st.integers(1, 20))
def test_calibration_error_is_that_of_a_loop_over_bins(
    claims: list[tuple[float, bool]], bins: int
) -> None:
    error = 0.0
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = [(s, r) for s, r in claims if low < s <= high or (b == 0 and s == 0)]
        if inside:
            claimed = sum(s for s, _ in inside) / len(inside)
            right = sum(r for _, r in inside) / len(inside)
            error += len(inside) / len(claims) * abs(claimed - right)
    scores, rights = zip(*claims, strict=True)
    assert expected_calibration_error(scores, rights, bins=bins) == pytest.approx(error)


def test_scores_that_are_right_as_often_as_they_say_have_no_error() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == 0
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0
    assert expected_calibration_error([1.0, 1.0], [False, False]) == 1


@pytest.mark.parametrize(
    ("scores", "right", "message"),
    [
        ([0.5, 1.5], [True, False], r"probabilities within \[0, 1\], got 0.5 to 1.5"),
        ([-0.1], [True], "probabilities within"),
        ([math.nan], [True], "scores: .*NaN"),
        ([[0.5]], [True], r"scores: .*shape \(1, 1\)"),
        ([0.5, 0.5], [True], r"right: .*each of the 2 scores, got shape \(1,\)"),
    ],
)
def test_scores_that_are_no_probabilities_are_refused(
    scores: Any, right: Any, message: str
) -> None:
    with pytest.raises(ShapeError, match=message):
        expected_calibration_error(scores, right)


def test_auroc_refuses_what_cannot_be_ranked() -> None:
    with pytest.raises(ShapeError, match=r"absent: .*NaN"):
        auroc([0.5], [math.nan])
    with pytest.raises(ArgumentTypeError, match="present"):
        auroc(["high"], [0.5])


class Angles:
    """Gives a text that is a number the direction of so many degrees, others the zero vector."""

    def encode(self, texts: Any, /) -> Any:
        rows = [
            [math.cos(math.radians(float(text))), math.sin(math.radians(float(text)))]
            if text.isdigit()
            else [0.0, 0.0]
            for text in texts
        ]
        return np.array(rows, np.float32)


@given(st.lists(st.integers(0, 89), min_size=2, max_size=12, unique=True), st.data())
def test_rank_correlation_is_that_of_scipy_over_all_pairs(
    angles: list[int], data: st.DataObject
) -> None:
    judged = data.draw(st.lists(st.integers(0, 5), min_size=len(angles), max_size=len(angles)))
    pairs = [JudgedPair("0", str(a), float(j)) for a, j in zip(angles, judged, strict=True)]
    found = rank_correlation(Angles(), pairs)
    if len(set(judged)) == 1:
        assert math.isnan(found)
    else:  # the smaller the angle, the larger the cosine
        assert found == pytest.approx(spearmanr([-a for a in angles], judged).statistic)


def test_rank_correlation_takes_the_order_alone_and_leaves_no_pair_out() -> None:
    vectors = WordVectors(["n", "e", "ne"], [[0.0, 1.0], [1.0, 0.0], [0.9, 1.0]])
    pairs = [JudgedPair("n", "ne", 9), JudgedPair("e", "ne", 8.9), JudgedPair("n", "e", 0)]
    assert rank_correlation(vectors, pairs) == pytest.approx(1)
    assert rank_correlation(vectors, [p._replace(judged=-p.judged) for p in pairs]) < -0.99
    with_blank = [JudgedPair("?!", "0", 0.0), JudgedPair("0", "45", 1.0)]
    assert rank_correlation(Angles(), with_blank) == pytest.approx(1)


def test_rank_correlation_of_what_is_all_equal_is_no_number() -> None:
    pairs = [JudgedPair("?!", "0", 0.0), JudgedPair("0", "?!", 1.0)]
    assert math.isnan(rank_correlation(Angles(), pairs))
    pairs = [JudgedPair("0", "1", 1.0), JudgedPair("0", "45", 1.0)]
    assert math.isnan(rank_correlation(Angles(), pairs))
