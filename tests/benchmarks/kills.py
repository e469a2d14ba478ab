"""Kill processes that save a dict, at random moments: `python -m tests.benchmarks.kills 200`.

The file must be whole each time: the dict that was saved last, or the next one.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np

from fuzzydict import FuzzyDict
from tests.benchmarks.campaigns import count_and_seed, forked

KEYS = [f"key {n}" for n in range(300)]
LONGEST = 0.05  # seconds, after which a process is killed


def encode(texts: list[str]) -> object:
    """Return vectors (n, 32) that depend on the letters alone."""
    return [np.sin(np.arange(1, 33) * sum(map(ord, text))) for text in texts]


def lost(count: int, seed: int) -> int:
    """Return how many of so many kills left another file than one of two dicts saved in turn."""
    chance, bad = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        several = [FuzzyDict(dict.fromkeys(KEYS, n), embedding=encode) for n in range(2)]
        for d in several:
            d.save(path)
        for _ in range(count):
            child = forked(partial(_save_for_ever, several, path))
            time.sleep(chance.uniform(0, LONGEST))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            bad += not _is_whole(path)
    return bad


def _save_for_ever(several: list[FuzzyDict[int]], path: Path) -> NoReturn:
    while True:
        for d in several:
            d.save(path)


def _is_whole(path: Path) -> bool:
    try:
        d: FuzzyDict[int] = FuzzyDict.load(path, embedding=encode)
        assert list(d) == KEYS
        assert d.get(KEYS[7].upper()) == d[KEYS[7]]
        d._check()
    except Exception as error:  # whatever it is, the file is damaged
        print(error)
        return False
    return set(d.values()) in ({0}, {1})


def main() -> None:
    """Print how many files were not whole."""
    count, seed = count_and_seed(__doc__, 200)
    bad = lost(count, seed)
    print(f"kills: {count}, seed {seed}: {bad} files lost")


if __name__ == "__main__":
    main()
