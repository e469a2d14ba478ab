"""What ``fuzzydict map`` takes for tables of growing length: seconds, and memory at most.

    python -m tests.benchmarks.tables [--rows 10000 100000 1000000] [--distinct 2000]

The queries are made-up words with a letter changed, in a random order, against a dict of 2,000 such
words; ``--distinct`` says how many different ones there are. With a million of them each row is
looked up, and a review is written that lists them all: it is kept on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase

from .report import print_report

__all__ = ["main"]

_KEYS = 2000


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.tables", description="Measure `fuzzydict map`."
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--distinct", type=int, default=2000, help="different queries")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chance = random.Random(0)
        words = ["".join(chance.choices(ascii_lowercase, k=8)) for _ in range(_KEYS)]
        (folder / "dict.json").write_text(json.dumps(dict.fromkeys(words, 1)))
        queries = [_changed(chance.choice(words), chance) for _ in range(options.distinct)]
        rows = []
        for count in options.rows:
            with (folder / "table.csv").open("w") as file:
                file.write("row,word\n")
                file.writelines(f"{row},{chance.choice(queries)}\n" for row in range(count))
            seconds, megabytes = _mapped(folder)
            rows.append([f"{count:,} rows", f"{seconds:.1f} s", f"{megabytes:.0f} MB"])
    print_report(
        f"`fuzzydict map` of {options.distinct:,} different queries, {_KEYS:,} keys",
        ["table", "time", "memory at most"],
        rows,
    )


def _changed(word: str, chance: random.Random) -> str:
    place = chance.randrange(len(word))
    return word[:place] + chance.choice(ascii_lowercase) + word[place + 1 :]


def _mapped(folder: Path) -> tuple[float, float]:
    """Run the command in a process of its own; return seconds, and megabytes at most."""
    script = str(Path(sysconfig.get_path("scripts")) / "fuzzydict")
    (folder / "review.csv").unlink(missing_ok=True)
    files = ["dict.json", "table.csv", "-o", "out.csv", "--review", "review.csv"]
    start = time.perf_counter()
    process = subprocess.Popen([script, "map", *files, "--column", "word"], cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"`fuzzydict map` ended with exit code {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024  # of what the system tells
    return time.perf_counter() - start, usage.ru_maxrss * unit / 1e6


if __name__ == "__main__":
    main()
