"""Fork while threads read and write a dict: `python -m tests.benchmarks.forks 200`.

Each child reads and writes the dict, and compares it with a new one of the same items.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
from functools import partial

from fuzzydict import FuzzyDict
from tests.benchmarks.campaigns import count_and_seed, forked

KEYS = {"color": 1.0, "price": 2.0, "top speed": 3.0, "brand": 4.0}
PATIENCE = 60  # seconds after which a child is said to hang


def failed(count: int, seed: int) -> int:
    """Return how many of so many children hung, failed, or answered otherwise than a new dict."""
    d: FuzzyDict[float] = FuzzyDict(KEYS)
    d.get("colour")
    done = threading.Event()
    threads = [threading.Thread(target=act, args=(d, done)) for act in (_read, _read, _write)]
    for thread in threads:
        thread.start()
    chance, bad = random.Random(seed), 0
    try:
        for _ in range(count):
            time.sleep(chance.uniform(0, 0.02))
            bad += os.waitpid(forked(partial(_check, d)), 0)[1] != 0
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return bad


def _read(d: FuzzyDict[float], done: threading.Event) -> None:
    for i in itertools.count():
        if done.is_set():
            return
        d.get(f"colour {i}")
        d.get_many(["prize", f"brnd {i}"])


def _write(d: FuzzyDict[float], done: threading.Event) -> None:
    for i in itertools.count():
        if done.is_set():
            return
        d[f"new key {i % 50}"] = float(i)
        d.pop(f"new key {(i + 25) % 50}", None)


def _check(d: FuzzyDict[float]) -> int:
    signal.alarm(PATIENCE)
    d["made by the child"] = 9.0
    new = FuzzyDict(dict(d))
    for query in ("colour", "prize", "made by a child", "new key"):
        found, expected = d.most_similar(query, None), new.most_similar(query, None)
        scores = {match.key: match.score for match in found}
        if len(found) != len(expected) or scores.keys() != dict(d).keys():
            return 2
        if any(abs(scores[match.key] - match.score) > 1e-4 for match in expected):
            return 3
    return 0


def main() -> None:
    """Print how many children failed."""
    count, seed = count_and_seed(__doc__, 200)
    bad = failed(count, seed)
    print(f"forks: {count}, seed {seed}: {bad} hung, failed or answered otherwise")


if __name__ == "__main__":
    main()
