"""How fast everything is beside its peers, in one run: each thing and its peers take turns.

    python -m tests.benchmarks [--only NAME]... [--quick] [--format text|markdown|json]

Peers come with ``pip install '.[bench]'``; one that is not installed is left out, with a note. What
is told are medians with their quartiles, and ratios of medians. Set ``OMP_NUM_THREADS=1``, which
all of them heed: threads of several libraries in one process wait for each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from fuzzydict.evaluation.evaluate import environment, markdown_table, shown_command, text_table

from . import speed_commands, speed_given, speed_reads, speed_writes
from .speed_data import QUICK, Sizes
from .turns import Case, Row, measured, shown

__all__ = ["BENCHMARKS", "main"]

Benchmark = Callable[[Sizes], Iterator[Case | Row]]

#: What is measured, by the name that ``--only`` takes.
BENCHMARKS: Mapping[str, Benchmark] = {
    "exact": speed_reads.exact,
    "first": speed_reads.first,
    "repeated": speed_reads.repeated,
    "millions": speed_reads.millions,
    "similar": speed_reads.similar,
    "several": speed_reads.several,
    "pooling": speed_reads.pooling,
    "given": speed_given.given,
    "build": speed_writes.build,
    "writes": speed_writes.writes,
    "files": speed_writes.files,
    "memory": speed_writes.bytes_a_key,
    "import": speed_commands.importing,
    "command": speed_commands.command,
    "map": speed_commands.mapping,
    "fit": speed_commands.fitting,
}
_PEERS = ("rapidfuzz", "faiss-cpu", "usearch", "hnswlib", "torch", "semantic-dictionary")
_THREADS = "OMP_NUM_THREADS"
_HEADER = ("what", "fuzzydict", "beside it", "", "ratio", "measured")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Measure speed beside the peers'."
    )
    parser.add_argument("--only", metavar="NAME", action="append", choices=BENCHMARKS)
    parser.add_argument("--quick", action="store_true", help="little of everything, in a minute")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args(argv)
    sizes = QUICK if options.quick else Sizes()
    rows, notes = [], []
    for name in options.only or BENCHMARKS:
        try:
            for found in BENCHMARKS[name](sizes):
                rows += [found] if isinstance(found, Row) else list(measured(found))
                notes += [] if isinstance(found, Row) else _left_out(found)
        except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
            notes.append(f"{name}: {error}")
    words = sys.argv[1:] if argv is None else argv
    made_by = shown_command("python", "-m", "tests.benchmarks", *words)
    _print(rows, list(dict.fromkeys(notes)), made_by, options.format)


def _left_out(case: Case) -> list[str]:
    return [f"{name} is not installed, and left out" for name, run in case.peers.items() if not run]


def _print(rows: Sequence[Row], notes: Sequence[str], made_by: str, kind: str) -> None:
    machine = f"{environment(*_PEERS)}, {_THREADS}={os.environ.get(_THREADS, '')}"
    if kind == "json":
        told = [{**row._asdict(), "ratio": row.ratio} for row in rows]
        about = {"command": made_by, "environment": machine, "notes": notes}
        print(json.dumps({**about, "rows": told}, indent=2))
        return
    table = (text_table if kind == "text" else markdown_table)(_HEADER, list(map(_cells, rows)))
    print("\n\n".join([table, *notes, f"Made by `{made_by}` ({machine})."]))


def _cells(row: Row) -> list[str | None]:
    theirs = row.theirs and shown(row.theirs, row.unit)
    ratio = None if row.ratio is None else f"{row.ratio:.2f}"
    often = f"{row.samples} of {row.times:,}"
    often += f", theirs of {row.peer_times:,}" if row.peer_times else ""
    return [row.what, shown(row.ours, row.unit), row.peer, theirs, ratio, often]


if __name__ == "__main__":
    main()
