"""What ``fuzzydict map`` takes for a folder of Parquet: lookups by processes, and all else.

    python -m tests.benchmarks.folders [--rows 2000000] [--distinct 20000] [--jobs 1 2]
    python -m tests.benchmarks.folders --rows 50000000 --distinct 50000 --jobs 1 --given

The texts are made-up words with a slip, in a random order, against a dict of 2,000 such words. Each
part has a million rows: a number, a text and an amount. ``--given`` measures all but lookups: any
key is the answer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path
from string import ascii_lowercase

from fuzzydict import FuzzyDict, Match, Matcher
from fuzzydict.io import columns, folders
from fuzzydict.io.columns import Source
from fuzzydict.io.folders import Workers

from .measuring import print_report, resident
from .queries import changed

_KEYS = 2000
_PART = 1_000_000  # rows
_HEADER = ["looked up by", "on the wall", "processor of the main process"]
_HEADER += ["processor of the workers", "memory of the main process"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure `fuzzydict map` of a folder.")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--distinct", type=int, default=20_000, help="different texts")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="numbers of processes")
    parser.add_argument("--given", action="store_true", help="look nothing up")
    options = parser.parse_args()
    if options.given:
        vars(columns)["best_keys"] = _any_keys
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
            shutil.rmtree(folder / f"out{jobs}")
    what = f"a folder of {options.rows:,} rows with {options.distinct:,} texts"
    print_report(f"`fuzzydict map` of {what}", _HEADER, rows)


def _make(folder: Path, rows: int, distinct: int) -> None:
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
    """Map the folder; return what that took."""
    file, used = folder / "d.fuzzydict", resource.getrusage(resource.RUSAGE_CHILDREN)
    d: FuzzyDict[int] = FuzzyDict.load(file)
    wall, processor = time.perf_counter(), time.process_time()
    workers = Workers(jobs, matcher=Matcher(file))
    source = Source(folder / "in", "word")
    folders.map_parts(d, source, folder / f"out{jobs}", workers=workers)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [
        f"{wall:.1f} s",
        f"{processor:.1f} s",
        f"{now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime:.1f} s",
        f"{resident('VmHWM'):.0f} MB",
    ]


if __name__ == "__main__":
    main()
