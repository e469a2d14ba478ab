"""Reports as tables and JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from fuzzydict.evaluation.evaluate import (
    Correlation,
    Report,
    Retrieval,
    as_json,
    as_tables,
    environment,
    markdown_table,
    shown_command,
    text_table,
)

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


def test_a_report_in_markdown() -> None:
    sets, pairs = as_tables(REPORT, markdown_table)
    header, rule, *rows = map(cells, sets.splitlines())
    assert rule == ["---"] * 2 + ["---:"] * (len(header) - 2)
    assert {len(row) for row in rows} == {len(header)}
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["system"] for row in found] == ["FuzzyDict", "difflib", "FuzzyDict"]
    assert [row["hit@1"] for row in found] == ["0.667", "0.500", "-"]
    assert [row["calibration error"] for row in found] == ["0.050", "-", "0.062"]
    assert [row["µs a lookup"] for row in found] == ["310", "15000", "-"]
    assert found[-1]["set"] == "all together"
    _, _, *rows = map(cells, pairs.splitlines())
    assert rows == [
        ["WordSim-353", "FuzzyDict", "353", "40", "0.472"],
        ["WordSim-353", "other", "353", "-", "-"],
    ]


def test_a_report_for_a_terminal_has_columns() -> None:
    for table in as_tables(REPORT):
        lines = table.splitlines()
        assert len({len(line) for line in lines}) == 1  # numbers end where their header ends
        starts = {line.index("FuzzyDict") for line in lines if "FuzzyDict" in line}
        assert starts == {lines[0].index("system")}


def test_what_was_not_measured_has_no_table() -> None:
    assert as_tables(Report()) == []
    (only,) = as_tables(Report(correlations=REPORT.correlations))
    assert only.startswith("pairs of words")


def test_json_has_all_figures_and_no_nan() -> None:
    content = json.loads(as_json(REPORT, command="evaluate", environment="here"))
    assert list(content)[:2] == ["command", "environment"]
    first, second = content["retrieval"]
    assert first["hit_at_1"] == 2 / 3
    assert (first["microseconds"], second["calibration_error"]) == (310.4, None)
    assert content["calibration_errors"] == {"FuzzyDict": 0.0625}
    assert [row["spearman"] for row in content["correlations"]] == [0.4725, None]


def test_an_empty_table_is_its_header() -> None:
    assert markdown_table(["set", "hit@1"], []) == "| set | hit@1 |\n|---|---:|"
    assert text_table(["set", "hit@1"], []) == "set  hit@1"


def test_the_machine_and_the_versions_are_named() -> None:
    line = environment("rapidfuzz", "no-such-package")
    assert "cores" in line
    assert "\n" not in line
    assert "rapidfuzz 3" in line
    assert "no-such-package not installed" in line


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("evaluate", Path("/far/away/typos.json")), "evaluate typos.json"),
        (("evaluate", Path("/far/away/sets/")), "evaluate sets"),
        (("evaluate", Path()), "evaluate ."),
        (("evaluate", Path("two words.json")), "evaluate 'two words.json'"),
    ],
)
def test_a_command_is_shown_with_the_names_of_its_files(
    words: tuple[str | Path, ...], shown: str
) -> None:
    assert shown_command(*words) == shown
