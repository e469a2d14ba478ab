"""Evaluation: its figures are those of asking each query by hand, with and without its keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fuzzydict import FuzzyDict, NoMatchError, OptionError
from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet
from fuzzydict.evaluation.evaluate import evaluate
from fuzzydict.evaluation.metrics import expected_calibration_error
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
    "boats", [dictionary("boat", boot="boat"), dictionary("ship lake", shp="ship")]
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
                hits.append(key in query.accept)
                present.append(score)
                absent.append(best([k for k in keys if k not in query.accept], query.text)[1])
        assert (row.name, row.system, row.queries) == (one.name, "FuzzyDict", len(hits))
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


def test_progress_is_told_by_queries() -> None:
    told: list[tuple[int, int]] = []
    systems = [PEERS["rapidfuzz"](), PEERS["difflib"]()]
    evaluate(systems, [CARS, BOATS], progress=lambda *done: told.append(done))
    assert told == [(6, 16), (12, 16), (14, 16), (16, 16)]


class Model:
    """An encoder that keeps how many texts it was asked for at a time."""

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


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(OptionError, match="'FuzzyDict', 'FuzzyDict'"):
        evaluate([fuzzy_dict(), fuzzy_dict()], [BOATS])
