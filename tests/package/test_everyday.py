"""Everyday queries: how good the answers are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.evaluation.evaluate import expected_calibration_error

_QUESTIONS = Path(__file__).parents[2] / "tools" / "everyday_questions.json"


@pytest.mark.parametrize(
    ("options", "hits", "answered"),
    [({}, 0.7, 0.25), ({"embedding": "english"}, 0.7, 0.25), ({"scorer": "spelling"}, 0.5, 0.1)],
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
