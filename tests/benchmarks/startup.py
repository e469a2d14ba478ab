"""What it costs to begin: import, the lookup command, the shipped vectors, an exact hit, the disk.

Each time is a median of runs in fresh processes, which take turns, and measures the installed
package, not the folder that one stands in. On a machine that others use as well, the fastest runs
tell more than the medians.

    python -m tests.benchmarks.startup [--runs N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from .report import print_report

__all__ = ["main"]

_RUNS = 21
_CAR = Path(__file__).resolve().parents[2] / "data" / "car.json"

_OPEN = """
import time, fuzzydict
start = time.perf_counter()
fuzzydict.Brown()
print(time.perf_counter() - start)
"""
_FIRST = """
import time, fuzzydict
d = fuzzydict.FuzzyDict({"brand": "Porsche", "color": "black"})
start = time.perf_counter()
d["colour"]
print(time.perf_counter() - start)
"""
_EXACT = """
import sys, timeit, fuzzydict
keys = {str(i): i for i in range(1000)}
d = fuzzydict.FuzzyDict(keys) if sys.argv[1] == "fuzzy" else dict(keys)
print(min(timeit.repeat("d['500']", globals={"d": d}, number=200_000, repeat=5)) / 200_000)
"""
_SIZE = """
from importlib import resources
packages = [resources.files(name) for name in ("fuzzydict", "fuzzydict.cli", "fuzzydict.data")]
files = {f.resolve() for package in packages for f in package.rglob("*") if f.is_file()}
print(sum(f.stat().st_size for f in files if f.suffix != ".pyc"))
"""


class Probe(NamedTuple):
    """A process, and whether it prints what it measured or is timed as a whole."""

    command: list[str]
    prints: bool


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.startup", description="Measure what it costs to begin."
    )
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"of each; {_RUNS} by default")
    runs = parser.parse_args(argv).runs
    if runs < 1:
        parser.error(f"--runs: 1 or more, got {runs}")
    try:
        with tempfile.TemporaryDirectory() as elsewhere:
            turns = _turns(_probes(), runs, elsewhere)
            size = _measured(_python(_SIZE, prints=True), elsewhere)
    except (OSError, subprocess.CalledProcessError) as error:
        parser.error(f"{error}; is the package installed here? See to it with: pip install .")
    print_report(
        f"Start of the installed package: {runs} runs of each in fresh processes, taking turns",
        ["what", "median", "beside it", "difference or ratio", "that of the fastest runs"],
        _rows(_each(median, turns), _each(min, turns), size),
    )


def _probes() -> dict[str, Probe]:
    script = Path(sysconfig.get_path("scripts")) / "fuzzydict"
    lookup = [str(script), "lookup", str(_CAR), "colour"]
    return {
        "numpy": _python("import numpy"),
        "fuzzydict": _python("import numpy, fuzzydict"),
        "click": _python("import numpy, click"),
        "lookup": Probe(lookup, prints=False),
        "open": _python(_OPEN, prints=True),
        "first": _python(_FIRST, prints=True),
        "exact": _python(_EXACT, "fuzzy", prints=True),
        "plain": _python(_EXACT, "plain", prints=True),
    }


def _python(script: str, *arguments: str, prints: bool = False) -> Probe:
    return Probe([sys.executable, "-c", script, *arguments], prints)


def _turns(probes: dict[str, Probe], runs: int, folder: str) -> list[dict[str, float]]:
    """Measure all probes in turn; the first turn fills the disk's caches, and is dropped."""
    turns = [{name: _measured(p, folder) for name, p in probes.items()} for _ in range(runs + 1)]
    return turns[1:]


def _each(
    summary: Callable[[Iterable[float]], float], turns: Sequence[dict[str, float]]
) -> dict[str, float]:
    return {name: summary([turn[name] for turn in turns]) for name in turns[0]}


def _measured(probe: Probe, folder: str) -> float:
    """Run a process in ``folder``, and return its seconds, or the number that it prints."""
    start = time.perf_counter()
    done = subprocess.run(probe.command, cwd=folder, check=True, capture_output=True, text=True)
    wall = time.perf_counter() - start
    return float(done.stdout) if probe.prints else wall


def _rows(usual: dict[str, float], fastest: dict[str, float], size: float) -> list[list[str]]:
    ms = {name: f"{value * 1e3:.1f} ms" for name, value in usual.items()}
    ns = {name: f"{value * 1e9:.1f} ns" for name, value in usual.items()}
    more, cold, slower = zip(_compared(usual), _compared(fastest), strict=True)
    command = "`fuzzydict lookup data/car.json colour`, cold"
    return [
        ["`import numpy, fuzzydict`", ms["fuzzydict"], f"`import numpy`: {ms['numpy']}", *more],
        [command, ms["lookup"], f"`import numpy, click`: {ms['click']}", *cold],
        ["open the shipped vectors: `Brown()`", ms["open"], "", "", ""],
        ['first `d["colour"]`, of two keys', ms["first"], "", "", ""],
        ["exact hit: `d[key]`, of 1,000 keys", ns["exact"], f"plain dict: {ns['plain']}", *slower],
        ["size of the installed package", f"{size / 1e6:.1f} MB", "", "", ""],
    ]


def _compared(seconds: dict[str, float]) -> tuple[str, str, str]:
    """Return what the import, the command and an exact hit cost beside what they build on."""
    return (
        f"{(seconds['fuzzydict'] - seconds['numpy']) * 1e3:.1f} ms more",
        f"{seconds['lookup'] / seconds['click']:.2f} times",
        f"{seconds['exact'] / seconds['plain']:.2f} times",
    )


if __name__ == "__main__":
    main()
