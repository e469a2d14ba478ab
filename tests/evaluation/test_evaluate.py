"""Evaluation: its numbers are those of asking each query by hand; metrics beside slow ones."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from fuzzydict import (
    FuzzyDict,
    NoMatchError,
    OptionError,
)
from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet
from fuzzydict.evaluation.evaluate import (
    Correlation,
    Report,
    Retrieval,
    auroc,
    evaluate,
    expected_calibration_error,
    markdown_table,
    rank_correlation,
    report_json,
    report_tables,
    text_table,
)
from fuzzydict.evaluation.systems import PEERS, fuzzy_dict


def dictionary(keys: str, **queries: str) -> Dictionary:
    return Dictionary(
        keys.split(), [Query(text, frozenset(right.split())) for text, right in queries.items()]
    )


CARS = RetrievalSet(
    "cars",
    [
        dictionary("brand model color price", colour="color", prise="price", hue="color"),
        dictionary("doors door speed", dors="doors door", velocity="speed", __="speed"),
    ],
)
BOATS = RetrievalSet(
    "boats", [dictionary("boat", boot="boat"), dictionary("ship lake", shp="ship", tractor="")]
)
PAIRS = {"few": [JudgedPair("boat", "ship", 9), JudgedPair("boat", "cost", 1)]}


def best(keys: list[str], query: str) -> tuple[str | None, float]:
    """Return what a new dict answers, the slow way."""
    try:
        match = FuzzyDict(dict.fromkeys(keys), score_cutoff=-math.inf).nearest(query)
    except NoMatchError:
        return None, -math.inf
    return match.key, match.score


def test_the_figures_are_those_of_new_dicts_asked_one_by_one() -> None:
    report = evaluate([fuzzy_dict()], [CARS, BOATS])
    scores_of_all: list[float] = []
    rights_of_all: list[bool] = []
    for one, row in zip((CARS, BOATS), report.retrieval, strict=True):
        hits, present, absent = [], [], []
        for keys, queries in one.dictionaries:
            for query in queries:
                key, score = best(keys, query.text)
                if query.accept:
                    hits.append(key in query.accept)
                    present.append(score)
                absent.append(best([k for k in keys if k not in query.accept], query.text)[1])
        assert (row.name, row.system, row.queries) == (one.name, "FuzzyDict", len(absent))
        assert row.keys == max(len(keys) for keys, _ in one.dictionaries)
        assert row.hit_at_1 == sum(hits) / len(hits)
        assert row.hit_at_1 <= row.mean_reciprocal_rank <= 1
        labels = [True] * len(present) + [False] * len(absent)
        floored = np.nan_to_num(np.round([*present, *absent], 6), neginf=-1)
        assert row.auroc == pytest.approx(roc_auc_score(labels, floored))
        scores = [max(score, 0.0) for score in [*present, *absent]]
        rights = [*hits, *(False for _ in absent)]
        assert row.calibration_error == pytest.approx(
            expected_calibration_error(scores, rights), abs=1e-6
        )
        assert row.microseconds > 0
        scores_of_all += scores
        rights_of_all += rights
    assert report.calibration_errors == {
        "FuzzyDict": pytest.approx(
            expected_calibration_error(scores_of_all, rights_of_all), abs=1e-6
        )
    }


def test_peers_stand_beside_it_make_no_claim_and_progress_counts_queries() -> None:
    calls = list[tuple[int, int]]()
    systems = [PEERS["difflib"](), PEERS["rapidfuzz"](), fuzzy_dict("mine")]
    report = evaluate(systems, [CARS, BOATS], PAIRS, progress=lambda *done: calls.append(done))
    assert calls == [(9, 27), (18, 27), (21, 27), (27, 27)]
    boats = report.retrieval[3:]
    assert [row.system for row in boats] == ["difflib", "rapidfuzz", "mine"]
    assert [row.hit_at_1 for row in boats] == [1, 1, 1]
    assert [row.calibration_error is None for row in boats] == [True, True, False]
    assert list(report.calibration_errors) == ["mine"]
    (row,) = report.correlations
    assert (row.system, row.pairs, row.never_seen) == ("mine", 2, 0)
    assert row.spearman == pytest.approx(1)
    with pytest.raises(OptionError, match="'FuzzyDict', 'FuzzyDict'"):
        evaluate([fuzzy_dict(), fuzzy_dict()], [BOATS])


class Angles:
    """Gives a text that is a number the direction of so many degrees, others the zero vector."""

    def encode(self, texts: Any, /) -> Any:
        turns = [math.radians(float(text)) if text.isdigit() else None for text in texts]
        rows = [[0.0, 0.0] if turn is None else [math.cos(turn), math.sin(turn)] for turn in turns]
        return np.array(rows, np.float32)


# ---- metrics -----------------------------------------------------------------------------

# Few different scores, so that many are equal; the ends of bins among them.
SCORES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.31, 0.6, 0.7, 0.99, 1.0]) | st.floats(0, 1)


@given(st.lists(SCORES, min_size=1), st.lists(SCORES, min_size=1))
def test_auroc_is_that_of_scikit_learn_and_of_all_pairs(
    present: list[float], absent: list[float]
) -> None:
    labels = [True] * len(present) + [False] * len(absent)
    assert auroc(present, absent) == pytest.approx(roc_auc_score(labels, present + absent))
    wins = [(p > a) + (p == a) / 2 for p in present for a in absent]
    assert auroc(present, absent) == pytest.approx(sum(wins) / len(wins))
    assert auroc([-0.5, 0.2], [-math.inf, -math.inf]) == 1  # no answer is the least score


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
    with_blank = [JudgedPair("?!", "0", 0.0), JudgedPair("0", "45", 1.0)]
    assert rank_correlation(Angles(), with_blank) == pytest.approx(1)  # none is left out


# ---- reports -----------------------------------------------------------------------------

REPORT = Report(
    [
        Retrieval("typos", "FuzzyDict", 8, 1000, 2 / 3, 0.7, 0.9, 0.05, 310.4),
        Retrieval("typos", "difflib", 8, 1000, 0.5, 0.6, 0.8, None, 15000.2),
    ],
    {"FuzzyDict": 0.0625},
    [
        Correlation("WordSim-353", "FuzzyDict", 353, 40, 0.4725),
        Correlation("WordSim-353", "other", 353, None, math.nan),
    ],
)


TABLE = """\
set           system     queries  keys  hit@1    MRR  AUROC  calibration error  µs a lookup
typos         FuzzyDict        8  1000  0.667  0.700  0.900              0.050          310
typos         difflib          8  1000  0.500  0.600  0.800                  -        15000
all together  FuzzyDict        -     -      -      -      -              0.062            -"""


def test_a_report_in_tables_and_as_json() -> None:
    assert report_tables(Report(), text_table) == []
    sets, pairs = report_tables(REPORT, text_table)
    assert sets == TABLE
    assert pairs.splitlines()[1].split() == ["WordSim-353", "FuzzyDict", "353", "40", "0.472"]
    assert report_tables(REPORT, markdown_table)[1].splitlines()[1:] == [
        "|---|---|---:|---:|---:|",
        "| WordSim-353 | FuzzyDict | 353 | 40 | 0.472 |",
        "| WordSim-353 | other | 353 | - | - |",
    ]
    content = json.loads(report_json(REPORT, command="evaluate", environment="here"))
    assert list(content)[:2] == ["command", "environment"]
    first, second = content["retrieval"]
    assert first["hit_at_1"] == 2 / 3
    assert (first["microseconds"], second["calibration_error"]) == (310.4, None)
    assert content["calibration_errors"] == {"FuzzyDict": 0.0625}
    assert [row["spearman"] for row in content["correlations"]] == [0.4725, None]
