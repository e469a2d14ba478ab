"""What a dict holds in memory, whether that grows with queries, and what `fuzzydict map` takes.

    python -m tests.benchmarks.memory [--part resident|traced|queries|map] [--keys 100000]
                                      [--queries 100000] [--rows 10000 1000000]

Each part is measured in a fresh process. Of the keys: what a dict takes beside a plain dict of the
same items, as the system tells and as Python and numpy asked for it. Of the queries: what ever more
different ones leave behind. Of the command: its seconds and its memory at most, for tables of 2,000
different queries against 2,000 keys.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from fuzzydict import Brown, FuzzyDict

from .measuring import command, print_report
from .queries import changed, key_texts
from .speed_rest import script

__all__ = ["BOUND", "key_texts", "keys_measured", "query_texts", "resident", "traced"]

BOUND = 4.5  # times the matrix, where each key has words of its own
_MB = 1e6
_WORDS = 2000  # keys of the table, and different queries


class Row(NamedTuple):
    """Megabytes at one moment."""

    what: str
    used: float
    matrix: float

    @property
    def ratio(self) -> float:
        """How many times its matrix a dict takes, the plain dict left out."""
        return self.used / self.matrix


def resident(field: str = "VmRSS") -> float:
    """Return the memory of this process that is in use, or was at most (VmHWM), in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) * 1024 / _MB


def traced() -> float:
    """Return the memory that Python and numpy have asked for and not returned, in megabytes."""
    return tracemalloc.get_traced_memory()[0] / _MB


def query_texts(seed: int = 1) -> Iterator[str]:
    """Yield different queries without end: words with a letter put in, so never seen."""
    chance, words = random.Random(seed), Brown().words
    number = 0
    while True:
        word = chance.choice(words)
        place = chance.randrange(len(word) + 1)
        yield f"{word[:place]}{chance.choice('abcdefghij')}{word[place:]} {number}"
        number += 1


def warm_up() -> None:
    """Read in what all dicts share: the vectors, the vocabulary, and the lists of words."""
    words = FuzzyDict(dict.fromkeys(Brown().words, 0))
    for query in ("colour", "maximum speed"):
        words.most_similar(query)  # no read that is settled


def keys_measured(count: int, *, traces: bool) -> list[Row]:
    """Return what a dict of ``count`` keys takes beside the plain one, and with one key more."""
    if traces:
        tracemalloc.start()  # first, so that what caches give up for these keys counts as well
    warm_up()
    plain = dict.fromkeys(key_texts(count), 0)
    used = traced if traces else resident
    before = used()
    d = FuzzyDict(plain)
    items = used() - before  # the dict's own table, which the plain dict has as well
    d.get("colour")
    matrix = count * len(FuzzyDict({"color": 0}).attend("colour").query) * 4 / _MB
    rows = [Row("after the first read", used() - before - items, matrix)]
    if not traces:
        rows.append(Row("at most until then", resident("VmHWM") - before - items, matrix))
    d["one key more"] = 1
    d.get("colour")
    rows.append(Row("after one more write and read", used() - before - items, matrix))
    return rows


def queries_measured(count: int) -> list[tuple[int, float, float]]:
    """Return the memory after 10, 100, ... and ``count`` different queries: traced, resident."""
    warm_up()
    d = FuzzyDict(dict.fromkeys(key_texts(1000), 0))
    d.get("colour")
    tracemalloc.start()
    before = resident()
    marks = {10**power for power in range(1, 9) if 10**power < count} | {count}
    rows = []
    for number, query in zip(range(1, count + 1), query_texts(), strict=False):
        d.get(query)
        if number in marks:
            rows.append((number, traced(), resident() - before))
    return rows


def map_measured(rows: int) -> tuple[float, float]:
    """Run `fuzzydict map` on a table of so many rows; return seconds, and megabytes at most."""
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(0)
        words = ["".join(chance.choices(ascii_lowercase, k=8)) for _ in range(_WORDS)]
        (folder / "dict.json").write_text(json.dumps(dict.fromkeys(words, 1)))
        queries = [changed(word, chance) for word in words]
        with (folder / "table.csv").open("w") as file:
            file.write("row,word\n")
            file.writelines(f"{row},{chance.choice(queries)}\n" for row in range(rows))
        files = ["dict.json", "table.csv", "-o", "out.csv", "--review", "review.csv"]
        start = time.perf_counter()
        process = subprocess.Popen(
            [script("fuzzydict"), "map", *files, "--column", "word"], cwd=folder
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            sys.exit(f"`fuzzydict map` ended with exit code {process.returncode}")
        unit = 1 if sys.platform == "darwin" else 1024  # of what the system tells
        return time.perf_counter() - start, usage.ru_maxrss * unit / _MB


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description="Measure what is held in memory.")
    parts = ["resident", "traced", "queries", "map"]
    parser.add_argument("--part", choices=parts, help="one table only")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args(argv)
    if options.part is None:
        for part in parts:
            command = [sys.executable, "-m", "tests.benchmarks.memory", *sys.argv[1:]]
            subprocess.run([*command, "--part", part], check=True)
    elif options.part == "queries":
        print_report(
            "A dict of 1000 keys: memory that different queries left behind",
            ["different queries", "MB asked for", "MB resident"],
            [[n, f"{a:.2f}", f"{b:.1f}"] for n, a, b in queries_measured(options.queries)],
        )
    elif options.part == "map":
        measured = {rows: map_measured(rows) for rows in options.rows}
        print_report(
            f"`fuzzydict map` of {_WORDS:,} different queries, {_WORDS:,} keys",
            ["table", "time", "memory at most"],
            [[f"{n:,} rows", f"{s:.1f} s", f"{mb:.0f} MB"] for n, (s, mb) in measured.items()],
        )
    else:
        rows = keys_measured(options.keys, traces=options.part == "traced")
        print_report(
            f"{options.keys} keys, memory {options.part}, beside the plain dict",
            ["when", "MB", "bytes a key", "times the matrix"],
            [
                [one.what, f"{one.used:.1f}", round(one.used * _MB / options.keys), one.ratio]
                for one in rows
            ],
        )


if __name__ == "__main__":
    command(main)
