"""Cells that say nothing, and matches that a person should look at."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.columns import Cleaned
from tests.io.test_cleaning import COUNTRIES, MESSY, cleaned, reference, write_csv


@pytest.mark.parametrize("cell", ["n/a", "NA", " none", "Null", "unknown", "-", "?", "N/A "])
def test_a_cell_that_says_nothing_finds_only_a_key_that_says_the_same(
    tmp_path: Path, cell: str
) -> None:
    table = write_csv(tmp_path / "t.csv", [["c"], [cell]])
    sofa = FuzzyDict({"sofa": 1, "no name": 2, "unknowns": 3, "n a b": 4}, score_cutoff=0.0)
    data, counts = cleaned(table, "c", sofa)
    assert data.decode().splitlines()[1] == f"{cell},,,"
    assert counts == Cleaned(matched=0, unmatched=0, blank=1)
    said = FuzzyDict({**sofa, "Unknown": "U", "Na": "sodium", cell: "said"})
    data, counts = cleaned(table, "c", said)
    assert data.decode().splitlines()[1].startswith(f"{cell},{cell},said,1.0")
    assert counts == Cleaned(matched=1, unmatched=0, blank=0)


def test_a_key_that_says_nothing_is_found_however_it_is_written(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["c"], ["unknown"], ["na"], ["none"]])
    data, counts = cleaned(table, "c", FuzzyDict({"Unknown": "U", "NA": "Namibia"}))
    assert [row[1] for row in csv.reader(data.decode().splitlines())] == [
        *("c_key", "Unknown", "NA", "")
    ]
    assert counts[:3] == (2, 0, 1)


def test_matches_below_sure_are_counted(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], *([cell] for cell in MESSY)])
    for sure in (0.0, 0.9, 0.9999, 2.0):
        _, counts = cleaned(table, sure=sure)
        matches = [reference(COUNTRIES, cell)[0] and COUNTRIES.nearest(cell) for cell in MESSY]
        doubtful = [m for m, c in zip(matches, MESSY, strict=True) if m and m.key != c]
        assert counts.doubtful == sum(m.score < sure for m in doubtful)
