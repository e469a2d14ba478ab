"""Whole processes, and what learns: import, a cold command, a column mapped, a fit."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from fuzzydict.learning.projections import Settings, fit_retrieval

from . import fitting_speed, turns
from .speed_data import Sizes, keys_of, misspelled
from .turns import Case, Run

__all__ = ["command", "fitting", "importing", "mapping"]

_CAR = Path(__file__).resolve().parents[2] / "data" / "car.json"
_FIT_SIZE = 300
_DISTINCT = 2_000


def importing(sizes: Sizes) -> Iterator[Case]:
    """Measure a process that imports the package."""
    ours, theirs = (_process(_python(f"import {what}")) for what in ("fuzzydict", "numpy"))
    yield Case("`import fuzzydict`, a process", ours, {"`import numpy`": theirs}, sizes.samples)


def command(sizes: Sizes) -> Iterator[Case]:
    """Measure the command that looks a query up."""
    ours = _process([_script(), "lookup", str(_CAR), "colour"])
    theirs = _process(_python("import numpy, click"))
    what = "`fuzzydict lookup data/car.json colour`, cold"
    yield Case(what, ours, {'`python -c "import numpy, click"`': theirs}, sizes.samples)


def mapping(sizes: Sizes) -> Iterator[Case]:
    """Measure `fuzzydict map`, beside a script that asks rapidfuzz once for each query."""
    keys = keys_of(min(_DISTINCT, sizes.rows))
    chance, queries = random.Random(0), list(islice(misspelled(keys), len(keys)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dict.csv").write_text("".join(f"{key},1\n" for key in keys))
        rows = "".join(f"{row},{chance.choice(queries)}\n" for row in range(sizes.rows))
        (folder / "table.csv").write_text(f"row,word\n{rows}")
        arguments = ["dict.csv", "table.csv", "-o", "out.csv", "--column", "word"]
        ours = _process([_script(), "map", *arguments], folder)
        theirs = turns.optional("rapidfuzz") and _process(_python(_BY_RAPIDFUZZ), folder)
        what = f"`fuzzydict map`, a row of {sizes.rows:,}, {len(queries):,} different queries"
        yield Case(what, ours, {"csv and rapidfuzz": theirs}, 3, sizes.rows)


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


_BY_RAPIDFUZZ = """
import csv
from functools import lru_cache
from rapidfuzz import fuzz, process
keys = [key for key, _ in csv.reader(open("dict.csv"))]
find = lru_cache(65536)(lambda query: process.extractOne(query, keys, scorer=fuzz.ratio))
with open("table.csv") as table, open("other.csv", "w") as out:
    rows, writer = csv.reader(table), csv.writer(out)
    writer.writerow([*next(rows), "word_key", "word_value", "word_score"])
    for row in rows:
        key, score, _ = find(row[1])
        writer.writerow([*row, key, 1, score])
"""


def _python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def _script() -> str:
    return str(Path(sysconfig.get_path("scripts")) / "fuzzydict")


def _process(words: Sequence[str], folder: Path | None = None) -> Run:
    """Return a run of a process, which raises OSError where it cannot be, or goes wrong."""
    where = folder or tempfile.gettempdir()  # not where the package's sources are

    def run() -> None:
        done = subprocess.run(words, cwd=where, capture_output=True, text=True)
        if done.returncode > 1:  # 1 is that of a query without a match
            raise OSError(
                f"{' '.join(words)[:80]} ended with {done.returncode}:{os.linesep}{done.stderr}"
            )

    return run
