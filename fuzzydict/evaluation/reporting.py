"""Figures for people and programs: tables, JSON, and the machine they were measured on."""

from __future__ import annotations

import json
import math
import os
import platform
import shlex
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzzydict.evaluation.evaluate import Report

__all__ = [
    "as_json",
    "as_tables",
    "environment",
    "markdown_table",
    "shown_command",
    "text_table",
]

_CPU_INFO = Path("/proc/cpuinfo")
_PACKAGES = ("numpy", "gensim", "fuzzydict")
_SETS = (
    *("set", "system", "queries", "keys"),
    *("hit@1", "MRR", "AUROC", "calibration error", "µs a lookup"),
)
_PAIRS = ("pairs of words", "system", "pairs", "with a word never seen", "Spearman")
_NOTHING = "-"


# ---- what was run, and where --------------------------------------------------------------


def environment(*packages: str) -> str:
    """Return the machine and the versions that numbers depend on, in a line."""
    versions = ", ".join(f"{name} {_version(name)}" for name in (*_PACKAGES, *packages))
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({_cpu_model()}), {python}, {versions}"


def shown_command(*words: str | Path) -> str:
    """Return a command as it can be run again, its files by their names alone.

    >>> shown_command("fuzzydict", "evaluate", Path("there/my typos.json"))
    "fuzzydict evaluate 'my typos.json'"
    """
    return shlex.join(
        (word.name or str(word)) if isinstance(word, Path) else word for word in words
    )


def _cpu_model() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


# ---- tables -------------------------------------------------------------------------------


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1
) -> str:
    """Return a table whose first columns hold ``names``, and the others numbers.

    >>> print(markdown_table(["set", "hit@1"], [["typos", 0.97512]]))
    | set | hit@1 |
    |---|---:|
    | typos | 0.975 |
    """
    rules = ["---"] * names + ["---:"] * (len(header) - names)
    lines = [f"| {' | '.join(map(_shown, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1) -> str:
    """Return a table for a terminal; ``names`` stand at the left of their columns, numbers right.

    >>> print(text_table(["set", "hit@1"], [["typos", 0.97512], ["all", None]]))
    set    hit@1
    typos  0.975
    all        -
    """
    shown = [list(map(_shown, cells)) for cells in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in shown
    )


def _shown(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return _NOTHING
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


# ---- a report -----------------------------------------------------------------------------


def as_tables(report: Report, table: Callable[..., str] = text_table) -> list[str]:
    """Return a table of the retrieval sets, and one of the pairs of words, if measured."""
    sets: list[list[object]] = [
        [
            *(row.name, row.system, row.queries, row.keys, row.hit_at_1),
            *(row.mean_reciprocal_rank, row.auroc, row.calibration_error),
            f"{row.microseconds:.0f}",
        ]
        for row in report.retrieval
    ]
    sets += [
        ["all together", system, *[None] * 5, error, None]
        for system, error in report.calibration_errors.items()
    ]
    pairs = [
        [row.name, row.system, row.pairs, row.never_seen, row.spearman]
        for row in report.correlations
    ]
    found = ((_SETS, sets), (_PAIRS, pairs))
    return [table(header, rows, names=2) for header, rows in found if rows]


def as_json(report: Report, **about: Any) -> str:
    """Return a report as JSON, all figures unrounded, NaN as null; ``about`` comes first."""
    return json.dumps(_finite({**about, **asdict(report)}), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
