"""Everyday queries: how good the answers are, and what the benchmark of them counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.evaluation.evaluate import expected_calibration_error
from tests.benchmarks import everyday

_QUESTIONS = Path(__file__).parents[2] / "tools" / "everyday_questions.json"

_SET: dict[str, Any] = {
    "dictionaries": [
        {
            "keys": ["color", "brand", "price"],
            "queries": [
                {"query": "colour", "kind": "typo", "accept": ["color"]},
                {"query": "brnad", "kind": "typo", "accept": ["brand"]},
                {"query": "colr", "kind": "trap", "accept": ["price"]},
                {"query": "qwzzt", "kind": "absent", "accept": []},
            ],
        }
    ]
}


def test_hits_by_kind_and_answers_by_cutoff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "everyday.json"
    path.write_text(json.dumps(_SET), "utf-8")
    everyday.main([str(path)])
    printed = capsys.readouterr().out
    assert "| system | all | typo | trap |" in printed
    assert "| FuzzyDict | 0.667 | 1.000 | 0.000 |" in printed
    assert "| rapidfuzz WRatio | 0.667 | 1.000 | 0.000 |" in printed
    assert "| FuzzyDict | 0.5 | 2 | 1 | 0 | 0 |" in printed
    errors = printed.partition("calibration error")[2]
    assert "FuzzyDict" in errors
    assert "rapidfuzz" not in errors  # its scores are no probabilities


def test_queries_without_words_have_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "signs.json"
    asked = [{"query": "€", "kind": "sign", "accept": ["color"]}]
    (one,) = _SET["dictionaries"]
    path.write_text(json.dumps({"dictionaries": [one | {"queries": [*one["queries"], *asked]}]}))
    everyday.main([str(path)])
    printed = capsys.readouterr().out
    assert "| FuzzyDict | 0.500 | 1.000 | 0.000 | 0.000 |" in printed


@pytest.mark.parametrize(
    ("options", "hits", "answered"),
    [({}, 0.8, 0.25), ({"embedding": "english"}, 0.78, 0.25), ({"scorer": "spelling"}, 0.55, 0.1)],
    ids=["default", "english", "spelling"],
)
def test_the_answers_are_good(options: dict[str, Any], hits: float, answered: float) -> None:
    """The judge learned from these questions: if it fails here, much is wrong with it."""
    absent, probabilities, are_right = list[bool](), list[float](), list[bool]()
    for one in json.loads(_QUESTIONS.read_text("utf-8"))["dictionaries"]:
        d = FuzzyDict(dict.fromkeys(one["keys"]), **options)
        found = d.most_similar([asked["query"] for asked in one["queries"]], topn=1)
        for asked, (best,) in zip(one["queries"], found, strict=True):
            probabilities.append(best.score)
            are_right.append(best.key in asked["accept"])
            if not asked["accept"]:
                absent.append(best.score >= 0.5)
    present = len(are_right) - len(absent)
    assert sum(are_right) / present > hits
    assert sum(absent) / len(absent) < answered
    assert expected_calibration_error(probabilities, are_right) < 0.15
