"""What a dict holds in memory, and whether that grows with the queries it is asked.

    python -m tests.benchmarks.memory [--keys 100000] [--queries 100000]

Each table is measured in a fresh process. The bound that the first one is held to: the whole dict
takes at most 1.3 times its matrix, plus what a plain dict of the same items takes. The second one
asks ever more different queries; what a million would add follows from its last two rows, or is
measured with ``--queries 1000000``, which takes half an hour.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fuzzydict import Brown, FuzzyDict

from .report import print_report

__all__ = ["main"]

BOUND = 4.5  # times the matrix, where each key has words of its own
_MB = 1e6
_STATUS = Path("/proc/self/status")


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
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / _MB


def traced() -> float:
    """Return the memory that Python and numpy have asked for and not returned, in megabytes."""
    return tracemalloc.get_traced_memory()[0] / _MB


def key_texts(count: int, seed: int = 0) -> list[str]:
    """Return different keys of two words each."""
    chance, words = random.Random(seed), [word for word in Brown().words if word.isalpha()]
    keys: dict[str, None] = {}
    while len(keys) < count:
        keys[f"{chance.choice(words)} {chance.choice(words)}"] = None
    return list(keys)


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


def queries_measured(count: int, keys: int = 1000) -> list[tuple[int, float, float]]:
    """Return the memory after 10, 100, ... and ``count`` different queries: traced, resident."""
    warm_up()
    d = FuzzyDict(dict.fromkeys(key_texts(keys), 0))
    d.get("colour")
    tracemalloc.start()
    before = resident()
    marks = {10**power for power in range(1, 9) if 10**power < count} | {count}
    rows = []
    for number, query in enumerate(query_texts(), start=1):
        d.get(query)
        if number in marks:
            rows.append((number, traced(), resident() - before))
        if number == count:
            return rows
    raise AssertionError("queries never end")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.memory", description="Measure what dicts hold in memory."
    )
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--part", choices=["resident", "traced", "queries"], help="one table only")
    options = parser.parse_args(argv)
    if options.part is None:
        for part in ("resident", "traced", "queries"):
            command = [sys.executable, "-m", __spec__.name if __spec__ else __name__]
            command += ["--keys", str(options.keys), "--queries", str(options.queries)]
            subprocess.run([*command, "--part", part], check=True)
    elif options.part == "queries":
        _print_queries(queries_measured(options.queries))
    else:
        traces = options.part == "traced"
        how = "asked for by Python and numpy" if traces else "resident"
        _print_keys(
            f"{options.keys} keys, memory {how}", keys_measured(options.keys, traces=traces)
        )


def _print_keys(title: str, rows: Sequence[Row]) -> None:
    print_report(
        f"{title}, beside the plain dict; bound {BOUND} times the matrix",
        ["when", "MB", "matrix MB", "times the matrix"],
        [[row.what, f"{row.used:.1f}", f"{row.matrix:.1f}", f"{row.ratio:.2f}"] for row in rows],
    )


def _print_queries(rows: Sequence[tuple[int, float, float]]) -> None:
    print_report(
        "A dict of 1000 keys: memory that different queries left behind",
        ["different queries", "MB asked for", "MB resident"],
        [[count, f"{asked:.2f}", f"{held:.1f}"] for count, asked, held in rows],
    )
    if len(rows) > 1 and rows[-1][0] < 1_000_000:
        (few, less, _), (many, more, _) = rows[-2:]
        slope = (more - less) / (many - few)
        print(
            f"By the last two rows, a million would leave {more + slope * (1e6 - many):.1f} MB.\n"
        )


if __name__ == "__main__":
    main()
