"""The benchmark of what `fit` does to other queries: what it counts, on a set that tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import fit_harm

_QUERIES = {
    "colour": "color",
    "brnad": "brand",
    "prices": "price",
    "hue": "color",
    "maker": "brand",
}
_SET = {
    "dictionaries": [
        {
            "keys": ["color", "brand", "price"],
            "queries": [
                *({"query": query, "accept": [key]} for query, key in _QUERIES.items()),
                {"query": "qwzzt", "accept": []},
            ],
        }
    ]
}


def test_examples_are_right_afterwards_and_others_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(_SET), "utf-8")
    fit_harm.main([str(path), "--examples", "3", "--draws", "2", "--cutoff", "0.5"])
    lines = capsys.readouterr().out.splitlines()
    before, after = ([c.strip() for c in line.split("|")] for line in lines if "| small |" in line)
    assert before[4:9] == after[4:9]
    assert after[9] == "6/6"
    assert after[10] == "0/2"
