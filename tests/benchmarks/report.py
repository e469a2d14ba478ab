"""What every measurement prints: what was measured, on what, and a table in Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["environment", "markdown_table", "print_report", "shown_command"]

_CPU_INFO = Path("/proc/cpuinfo")


def environment() -> str:
    """Return the machine and the versions that numbers depend on, in a line."""
    versions = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "gensim", "fuzzydict"))
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({_cpu_model()}), {python}, {versions}"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table whose first column holds names, and the others numbers.

    >>> print(markdown_table(["set", "hit@1"], [["typos", 0.97512]]))
    | set | hit@1 |
    |---|---:|
    | typos | 0.975 |
    """
    rules = ["---", *["---:"] * (len(header) - 1)]
    lines = [_line(header), "|" + "|".join(rules) + "|"]
    return "\n".join(lines + [_line(row) for row in rows])


def print_report(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table below a line that says what was measured and on what."""
    print(f"{title} ({environment()})\n\n{markdown_table(header, rows)}\n", flush=True)


def shown_command(name: str, options: Sequence[str | Path]) -> str:
    """Return the command that makes a table again, its files by their names alone.

    >>> shown_command("quality", [Path("there/typos.json")])
    'python -m tests.benchmarks.quality typos.json'
    """
    words = [option.name if isinstance(option, Path) else option for option in options]
    return " ".join(["python -m", f"tests.benchmarks.{name}", *words])


def _line(cells: Sequence[object]) -> str:
    shown = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"| {' | '.join(shown)} |"


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
