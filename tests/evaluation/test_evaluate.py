"""Evaluation: its numbers are those of asking each query by hand; metrics beside slow ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
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
    WordVectors,
)
from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet
from fuzzydict.evaluation.evaluate import (
    Correlation,
    Report,
    Retrieval,
    auroc,
    environment,
    evaluate,
    expected_calibration_error,
    markdown_table,
    rank_correlation,
    report_json,
    report_tables,
    shown_command,
    text_table,
)
from fuzzydict.evaluation.systems import PEERS, Remembering, by_cosine, fuzzy_dict


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


def test_peers_stand_beside_it_and_make_no_claim() -> None:
    systems = [PEERS["difflib"](), PEERS["rapidfuzz"](), fuzzy_dict("mine")]
    report = evaluate(systems, [BOATS], PAIRS)
    assert [row.system for row in report.retrieval] == ["difflib", "rapidfuzz", "mine"]
    assert [row.hit_at_1 for row in report.retrieval] == [1, 1, 1]
    assert [row.calibration_error is None for row in report.retrieval] == [True, True, False]
    assert list(report.calibration_errors) == ["mine"]
    assert [(row.system, row.pairs, row.never_seen) for row in report.correlations] == [
        ("mine", 2, 0)
    ]


def test_progress_counts_queries() -> None:
    calls: list[tuple[int, int]] = []
    systems = [PEERS["rapidfuzz"](), PEERS["difflib"]()]
    evaluate(systems, [CARS, BOATS], progress=lambda *done: calls.append(done))
    assert calls == [(6, 18), (12, 18), (14, 18), (18, 18)]


class Model:
    """An encoder that records the sizes of its batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def encode(self, texts: Any) -> Any:
        self.batches.append(len(texts))
        return np.array([[len(text), ord(text[0]), 1] for text in texts], np.float32)


def test_a_model_is_asked_once_for_keys_and_queries_and_alone_where_time_is_taken() -> None:
    keys = [f"key {i}" for i in range(200)]
    queries = [Query(f"query {i}", frozenset({keys[i]})) for i in range(150)]
    model = Model()
    encoder = Remembering(model)
    systems = [by_cosine("cosine", encoder), fuzzy_dict("fuzzy", encoder)]
    evaluate(systems, [RetrievalSet("many", [Dictionary(keys, queries)])])
    large = [size for size in model.batches if size > 1]
    assert large == [200, 150]
    assert 50 <= model.batches.count(1) <= 2 * 60


def test_without_sets_there_are_pairs_alone_and_without_both_nothing() -> None:
    report = evaluate([fuzzy_dict(), by_cosine("lengths", Remembering(Model()))], pairs=PAIRS)
    assert report.retrieval == []
    assert report.calibration_errors == {}
    fuzzy, lengths = report.correlations
    assert (fuzzy.name, lengths.never_seen) == ("few", None)
    assert fuzzy.spearman == pytest.approx(1)
    assert evaluate([fuzzy_dict()]) == evaluate([])
    with pytest.raises(OptionError, match="'FuzzyDict', 'FuzzyDict'"):
        evaluate([fuzzy_dict(), fuzzy_dict()], [BOATS])


# ---- metrics -----------------------------------------------------------------------------

# Few different scores, so that many are equal; the ends of bins among them.
SCORES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.31, 0.6, 0.7, 0.99, 1.0]) | st.floats(0, 1)


def test_hits_and_ranks_by_hand() -> None:
    keys = "abcd abce abcf wxyz"
    asked = dictionary(keys, abcd="abcd", abcdd="abce", wxy="abcd", wxyzz="wxyz abcd")
    (row,) = evaluate([PEERS["rapidfuzz"]()], [RetrievalSet("few", [asked])]).retrieval
    assert row.hit_at_1 == 2 / 4
    first, second, fourth = 1, 2, 2  # "wxy" is nearest to "wxyz"; the others are equal, in order
    assert row.mean_reciprocal_rank == (1 / first + 1 / second + 1 / fourth + 1) / 4
    many = dictionary(" ".join(f"key{n}" for n in range(30)), key1="key25")
    (row,) = evaluate([PEERS["rapidfuzz"]()], [RetrievalSet("many", [many])]).retrieval
    assert (row.hit_at_1, row.mean_reciprocal_rank) == (0, 0)  # not among the first ten


def test_of_nothing_there_is_no_measure() -> None:
    assert math.isnan(auroc([], [0.5]))
    assert math.isnan(auroc([0.5], []))
    assert math.isnan(expected_calibration_error([], []))
    pairs = [JudgedPair("?!", "0", 0.0), JudgedPair("0", "?!", 1.0)]
    assert math.isnan(rank_correlation(Angles(), pairs))  # all cosines are equal
    nobody = RetrievalSet("none", [dictionary("boat", tractor="")])
    (row,) = evaluate([PEERS["rapidfuzz"]()], [nobody]).retrieval
    assert [row.queries, *map(math.isnan, (row.hit_at_1, row.auroc))] == [1, True, True]


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


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_report_in_tables() -> None:
    sets, pairs = report_tables(REPORT, markdown_table)
    header, rule, *rows = map(cells, sets.splitlines())
    assert rule == ["---"] * 2 + ["---:"] * (len(header) - 2)
    assert {len(row) for row in rows} == {len(header)}
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["system"] for row in found] == ["FuzzyDict", "difflib", "FuzzyDict"]
    assert [row["hit@1"] for row in found] == ["0.667", "0.500", "-"]
    assert [row["calibration error"] for row in found] == ["0.050", "-", "0.062"]
    assert [row["µs a lookup"] for row in found] == ["310", "15000", "-"]
    assert found[-1]["set"] == "all together"
    assert report_tables(Report(), text_table) == []
    for table in report_tables(REPORT, text_table):
        lines = table.splitlines()
        assert len({len(line) for line in lines}) == 1  # numbers end where their header ends
        starts = {line.index("FuzzyDict") for line in lines if "FuzzyDict" in line}
        assert starts == {lines[0].index("system")}
    _, _, *rows = map(cells, pairs.splitlines())
    assert rows == [
        ["WordSim-353", "FuzzyDict", "353", "40", "0.472"],
        ["WordSim-353", "other", "353", "-", "-"],
    ]


def test_json_has_all_figures_and_no_nan() -> None:
    content = json.loads(report_json(REPORT, command="evaluate", environment="here"))
    assert list(content)[:2] == ["command", "environment"]
    first, second = content["retrieval"]
    assert first["hit_at_1"] == 2 / 3
    assert (first["microseconds"], second["calibration_error"]) == (310.4, None)
    assert content["calibration_errors"] == {"FuzzyDict": 0.0625}
    assert [row["spearman"] for row in content["correlations"]] == [0.4725, None]


def test_the_machine_the_versions_and_the_command_are_named() -> None:
    line = environment("rapidfuzz", "no-such-package")
    assert "cores" in line
    assert "\n" not in line
    assert "rapidfuzz 3" in line
    assert "no-such-package not installed" in line
    words = ("evaluate", Path("/far/away/two words.json"), Path("/far/away/sets/"), Path())
    assert shown_command(*words) == "evaluate 'two words.json' sets ."
