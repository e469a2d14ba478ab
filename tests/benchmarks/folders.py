"""What ``fuzzydict map`` takes for a folder of Parquet: lookups by processes, and all else.

    python -m tests.benchmarks.folders [--rows 2000000] [--distinct 20000] [--jobs 1 2]
    python -m tests.benchmarks.folders --rows 50000000 --distinct 50000 --jobs 1 --given

The texts are made-up words with a slip, in a random order, against a dict of 2,000 such words. Each
part has a million rows: a number, a text and an amount. The seconds of a step are those on the
wall, and in brackets those that processors work in the main process. ``--alike`` compares each part
with what the local ``fuzzydict map`` of it writes. ``--given`` measures all but lookups: any key is
the answer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

from fuzzydict import FuzzyDict, Match, Matcher
from fuzzydict.io import folders
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.folders import Workers

from .measuring import command, print_report
from .queries import changed

_KEYS = 2000
_PART = 1_000_000  # rows
_HEADER = ["looked up by", "read", "looked up", "written"]
_HEADER += ["texts looked up", "processor of the busiest", "memory of the main process"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Measure `fuzzydict map` of a folder.")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--distinct", type=int, default=20_000, help="different texts")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="numbers of processes")
    parser.add_argument("--alike", action="store_true", help="compare with the local map")
    parser.add_argument("--given", action="store_true", help="look nothing up")
    options = parser.parse_args()
    if options.given:
        vars(folders)["best_keys"] = _any_keys
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name), []
        # In another process, so that the memory of this one is that of the map.
        context = multiprocessing.get_context("spawn")
        maker = context.Process(target=_make, args=(folder, options.rows, options.distinct))
        maker.start()
        maker.join()
        for jobs in options.jobs:
            who = "this process" if jobs == 1 else f"{jobs} processes"
            rows.append([who, *_measured(folder, jobs)])
            if options.alike:
                print(f"parts that differ from the local map: {_differing(folder, jobs)}")
            shutil.rmtree(folder / f"out{jobs}")
    what = f"a folder of {options.rows:,} rows with {options.distinct:,} texts"
    print_report(f"`fuzzydict map` of {what}", _HEADER, rows)


def _make(folder: Path, rows: int, distinct: int) -> None:
    """Write a dict, and a folder of Parquet files."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    chance, numbers = random.Random(0), np.random.default_rng(0)
    words = ["".join(chance.choices(ascii_lowercase, k=8)) for _ in range(_KEYS)]
    FuzzyDict({word: place for place, word in enumerate(words)}).save(folder / "d.fuzzydict")
    texts: dict[str, None] = {}
    while len(texts) < distinct:
        texts[changed(chance.choice(words), chance)] = None
    column = pa.array(list(texts))
    (folder / "in").mkdir()
    for part, first in enumerate(range(0, rows, _PART)):
        count = min(_PART, rows - first)
        columns = {
            "number": pa.array(np.arange(first, first + count)),
            "word": column.take(pa.array(numbers.integers(0, distinct, count))),
            "amount": pa.array(numbers.random(count)),
        }
        parquet.write_table(pa.table(columns), folder / f"in/part-{part:04}.parquet")


def _any_keys(d: FuzzyDict[int], texts: list[str]) -> list[Match | None]:
    keys = list(d)
    return [Match(keys[hash(text) % len(keys)], 0, 0.8765, query=text) for text in texts]


def _measured(folder: Path, jobs: int) -> list[str]:
    """Map the folder; return what each step took."""
    ended: dict[str, tuple[float, float]] = {}
    looked_up = 0

    def note(step: str, _done: int, total: int) -> None:
        nonlocal looked_up
        ended[step] = time.perf_counter(), time.process_time()
        looked_up = total if step == "looking up" else looked_up

    file = folder / "d.fuzzydict"
    d: FuzzyDict[int] = FuzzyDict.load(file)
    start = time.perf_counter(), time.process_time()
    with _processor_of_workers() as seconds:
        folders.map_parts(
            d,
            Source(folder / "in", "word"),
            folder / f"out{jobs}",
            workers=Workers(jobs, matcher=Matcher(file)),
            progress=note,
        )
    ends = [start]  # one process looks texts up as it writes
    for step in ("reading", "looking up", "matching"):
        ends.append(ended.get(step, ends[-1]))
    steps = pairwise(ends)
    unit = 1 if sys.platform == "darwin" else 1024  # of what the system tells
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return [
        *(f"{after[0] - before[0]:.1f} s ({after[1] - before[1]:.1f})" for before, after in steps),
        f"{looked_up:,}" if looked_up else "-",
        f"{max(seconds.values(), default=0):.1f} s",
        f"{memory:.0f} MB",
    ]


@contextmanager
def _processor_of_workers() -> Iterator[dict[int, float]]:
    """Yield the seconds that processors worked for each process that this one started."""
    seconds: dict[int, float] = {}
    stop, ticks = threading.Event(), os.sysconf("SC_CLK_TCK")

    def look() -> None:
        while not stop.wait(0.05):
            for child in multiprocessing.active_children():
                with suppress(OSError):
                    fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
                    seconds[child.pid or 0] = (int(fields[11]) + int(fields[12])) / ticks

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seconds
    finally:
        stop.set()
        thread.join()


def _differing(folder: Path, jobs: int) -> int:
    """Return how many parts differ from what the local map writes."""
    from pyarrow import parquet

    d: FuzzyDict[int] = FuzzyDict.load(folder / "d.fuzzydict")
    different = 0
    for part in sorted((folder / "in").iterdir()):
        clean_column(d, Source(part, "word"), folder / "local.parquet")
        written = parquet.read_table(folder / f"out{jobs}" / part.name)
        different += not parquet.read_table(folder / "local.parquet").equals(written)
    return different


if __name__ == "__main__":
    command(main)
