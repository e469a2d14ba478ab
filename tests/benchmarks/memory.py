"""What a dict holds in memory beside a plain dict of the same items, as Python asked for it.

python -m tests.benchmarks.memory
"""

from __future__ import annotations

import tracemalloc

from fuzzydict import Brown, FuzzyDict

from .measuring import print_report
from .queries import key_texts

_KEYS = 100_000


def main() -> None:
    tracemalloc.start()  # first, so that what caches give up for these keys counts as well
    words = FuzzyDict(dict.fromkeys(Brown().words, 0))
    for query in ("colour", "maximum speed"):
        words.most_similar(query)  # reads in what all dicts share; no read that is settled
    d = FuzzyDict(dict.fromkeys(key_texts(_KEYS), 0))
    before, rows = _traced(), list[list[object]]()  # with the table that a plain dict has as well
    matrix = _KEYS * len(FuzzyDict({"color": 0}).attend("colour").query) * 4
    for when in ("after the first read", "after one more write and read"):
        d.get("colour")
        used = _traced() - before
        rows.append([when, f"{used / 1e6:.1f}", round(used / _KEYS), used / matrix])
        d["one key more"] = 1
    header = ["when", "MB", "bytes a key", "times the matrix"]
    print_report(f"{_KEYS:,} keys, memory asked for, beside the plain dict", header, rows)


def _traced() -> int:
    return tracemalloc.get_traced_memory()[0]


if __name__ == "__main__":
    main()
