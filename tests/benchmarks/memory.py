"""What a dict holds in memory, and what `fuzzydict map` takes.

    python -m tests.benchmarks.memory [--part traced|map] [--keys 100000] [--rows 10000 1000000]

Each part is measured in a fresh process. Of the keys: what a dict takes beside a plain dict of the
same items, as Python and numpy asked for it. Of the command: its seconds and its memory at most,
for tables of 2,000 different queries against 2,000 keys.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_lowercase

from fuzzydict import Brown, FuzzyDict

from .measuring import command, most_memory, print_report, run_process, script, timed
from .queries import changed, key_texts

__all__ = ["key_texts", "traced"]

_MB = 1e6
_WORDS = 2000  # keys of the table, and different queries


def traced() -> float:
    """Return the memory that Python and numpy have asked for and not returned, in megabytes."""
    return tracemalloc.get_traced_memory()[0] / _MB


def _warm_up() -> None:
    """Read in what all dicts share: the vectors, the vocabulary, and the lists of words."""
    words = FuzzyDict(dict.fromkeys(Brown().words, 0))
    for query in ("colour", "maximum speed"):
        words.most_similar(query)  # no read that is settled


def _keys(options: argparse.Namespace) -> None:
    """Print what a dict of keys takes beside the plain one, and with one key more."""
    count = options.keys
    tracemalloc.start()  # first, so that what caches give up for these keys counts as well
    _warm_up()
    d = FuzzyDict(dict.fromkeys(key_texts(count), 0))
    before = traced()  # with the table that a plain dict has as well
    d.get("colour")
    used = {"after the first read": traced() - before}
    d["one key more"] = 1
    d.get("colour")
    used["after one more write and read"] = traced() - before
    matrix = count * len(FuzzyDict({"color": 0}).attend("colour").query) * 4 / _MB
    rows = [[w, f"{mb:.1f}", round(mb * _MB / count), mb / matrix] for w, mb in used.items()]
    header = ["when", "MB", "bytes a key", "times the matrix"]
    print_report(f"{count} keys, memory asked for, beside the plain dict", header, rows)


def _map(options: argparse.Namespace) -> None:
    """Print what `fuzzydict map` of tables of so many rows takes at most."""
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(0)
        words = ["".join(chance.choices(ascii_lowercase, k=8)) for _ in range(_WORDS)]
        (folder / "dict.json").write_text(json.dumps(dict.fromkeys(words, 1)))
        queries = [changed(word, chance) for word in words]
        command = "map dict.json table.csv --column word -o out.csv --review review.csv"
        run = run_process([script("fuzzydict"), *command.split()], folder)
        for rows in sorted(options.rows):
            with (folder / "table.csv").open("w") as file:
                file.write("row,word\n")
                file.writelines(f"{row},{chance.choice(queries)}\n" for row in range(rows))
            seconds = timed(run)
            (folder / "review.csv").unlink(missing_ok=True)
            megabytes = most_memory(resource.RUSAGE_CHILDREN)
            table.append([f"{rows:,} rows", f"{seconds:.1f} s", f"{megabytes:.0f} MB"])
    title = f"`fuzzydict map` of {_WORDS:,} different queries, {_WORDS:,} keys"
    print_report(title, ["table", "time", "memory at most"], table)


_PARTS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "traced": _keys,
    "map": _map,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what is held in memory.")
    parser.add_argument("--part", choices=_PARTS, help="one table only")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    if options.part:
        _PARTS[options.part](options)
        return
    for part in _PARTS:
        again = [sys.executable, "-m", "tests.benchmarks.memory", *sys.argv[1:], "--part", part]
        subprocess.run(again, check=True)


if __name__ == "__main__":
    command(main)
