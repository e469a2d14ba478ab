"""The benchmark of joins: what it counts, on a set that tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import joined

_SET = {
    "dictionaries": [
        {
            "keys": ["color", "brand", "price"],
            "queries": [
                {"query": "colour", "accept": ["color"]},
                {"query": "brnad", "accept": ["brand"]},
                {"query": "colr", "accept": ["price"]},
                {"query": "qwzzt", "accept": []},
            ],
        }
    ]
}


def test_answers_by_cutoff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "everyday.json"
    path.write_text(json.dumps(_SET), "utf-8")
    joined.main([str(path)])
    printed = capsys.readouterr().out
    assert "| join | right | wrong | refused | answered of 1 without a key |" in printed
    assert "| fuzzydict.join, score_cutoff=0 | 2 | 1 | 0 | 1 |" in printed
    assert "| fuzzydict.join, score_cutoff=0.5 | 2 | 1 | 0 | 0 |" in printed
