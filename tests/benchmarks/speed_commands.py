"""Whole processes, and what learns: import, a cold command, a fit."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from fuzzydict.learning.train import Settings, fit_retrieval

from . import fitting_speed, turns
from .speed_data import Sizes
from .turns import Case, Run

__all__ = ["command", "fitting", "importing", "run_process", "script"]

_CAR = Path(__file__).resolve().parents[2] / "data" / "car.json"
_FIT_SIZE = 300


def importing(sizes: Sizes) -> Iterator[Case]:
    """Measure a process that imports the package."""
    ours, theirs = (run_process(_python(f"import {what}")) for what in ("fuzzydict", "numpy"))
    yield Case("`import fuzzydict`, a process", ours, {"`import numpy`": theirs}, sizes.samples)


def command(sizes: Sizes) -> Iterator[Case]:
    """Measure the command that looks a query up."""
    ours = run_process([script("fuzzydict"), "lookup", str(_CAR), "colour"])
    theirs = run_process(_python("import numpy, click"))
    what = "`fuzzydict lookup data/car.json colour`, cold"
    yield Case(what, ours, {'`python -c "import numpy, click"`': theirs}, sizes.samples)


def fitting(sizes: Sizes) -> Iterator[Case]:
    """Measure a pass of learning Q and K, beside torch."""
    random_, keys = np.random.default_rng(0), 2 * sizes.pairs
    queries, targets = (
        random_.standard_normal((n, _FIT_SIZE), dtype=np.float32) for n in (sizes.pairs, keys)
    )
    right = random_.integers(keys, size=sizes.pairs)
    settings = Settings(epochs=1, validation=0, batch_size=256, identity_penalty=0)
    pairs = np.stack([np.arange(sizes.pairs), right], axis=1)
    torch = turns.optional("torch")
    theirs: Run | None = torch and partial(
        fitting_speed.by_torch, torch, queries, targets, right, settings
    )
    what = f"fit Q and K, a pass of {sizes.pairs:,} pairs over {keys:,} keys of {_FIT_SIZE} numbers"
    yield Case(
        what, partial(fit_retrieval, queries, targets, pairs, settings), {"torch": theirs}, 3
    )


def _python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def script(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def run_process(words: Sequence[str], folder: Path | None = None) -> Run:
    """Return a run of a process, which raises OSError where it cannot be, or goes wrong."""
    where = folder or tempfile.gettempdir()  # not where the package's sources are

    def run() -> None:
        done = subprocess.run(words, cwd=where, capture_output=True, text=True)
        if done.returncode > 1:  # 1 is that of a query without a match
            raise OSError(
                f"{' '.join(words)[:80]} ended with {done.returncode}:{os.linesep}{done.stderr}"
            )

    return run
