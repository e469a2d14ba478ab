"""The benchmark of everyday queries: what it counts, on a set that tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import everyday

_SET = {
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
