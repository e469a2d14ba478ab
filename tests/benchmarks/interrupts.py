"""Interrupt writes and reads at any line: `python -m tests.benchmarks.interrupts 50000`.

After each interrupt the items must be those before or after the act, and the dict must answer as a
new one of the same items.
"""

from __future__ import annotations

import argparse
import copy
import pickle
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fuzzydict
from fuzzydict import FuzzyDict

PACKAGE = str(Path(fuzzydict.__file__).parent)
KEYS = [f"key {letter}" for letter in "abcdefgh"]
KINDS = (KeyboardInterrupt, MemoryError)


def encode(texts: list[str]) -> Any:
    """Return vectors (n, 6) that depend on the letters alone."""
    return [np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts]


ACTS: list[Callable[[FuzzyDict[Any]], Any]] = [
    lambda d: d.__setitem__("key new", 9),
    lambda d: d.__setitem__(KEYS[0], 8),
    lambda d: d.pop(KEYS[1], None),
    lambda d: d.popitem() if d else None,
    lambda d: d.clear(),
    lambda d: d.update({"key u": 1, KEYS[2]: 2}),
    lambda d: d.__ior__({"key v": 3}),
    lambda d: d.setdefault("key s", 1),
    lambda d: d.aliases.update({"other one": None}),
    lambda d: setattr(d, "aliases", {"third one": None}),
    lambda d: setattr(d, "scorer", "cosine"),
    lambda d: setattr(d, "embedding", encode),
    lambda d: d.copy(),
    copy.deepcopy,
    lambda d: d.__reduce_ex__(4),
    lambda d: pickle.dumps(dict(d)),
    lambda d: d.get("key x"),
    lambda d: d.get_many(["key x", "key y"]),
    lambda d: d.most_similar("key z", None),
    lambda d: d.attend("key q") if d else None,
    lambda d: d.explain("key q") if d else None,
]


def interrupted(act: Callable[[], Any], after: int, kind: type[BaseException]) -> int:
    """Run an act, raise after so many lines of the package, and return how many were run."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            count += 1
            if count == after:
                raise kind
        return trace

    sys.settrace(trace)
    try:
        act()
    except KINDS:
        pass
    finally:
        sys.settrace(None)
    return count


def wrong(count: int, seed: int) -> int:
    """Return after how many of so many interrupts a dict was wrong."""
    chance, bad, done = random.Random(seed), 0, 0
    while done < count:
        d: FuzzyDict[Any] = FuzzyDict(
            dict.fromkeys(KEYS, 1), embedding=encode, scorer=chance.choice([None, "cosine"])
        )
        for act in chance.sample(ACTS, 3):
            if chance.random() < 0.5:
                d.get("warm")
            before, after = dict(d), dict(d)
            other = copy.deepcopy(d)
            lines = interrupted(lambda: act(other), 0, KeyboardInterrupt)  # noqa: B023
            after = dict(other)
            interrupted(lambda: act(d), chance.randint(1, max(lines, 1)), chance.choice(KINDS))  # noqa: B023
            done += 1
            if dict(d) not in (before, after) or not _is_like_new(d):
                bad += 1
                break
    return bad


def _is_like_new(d: FuzzyDict[Any]) -> bool:
    new = FuzzyDict(dict(d), embedding=encode, scorer=d.scorer)
    found, expected = d.most_similar("key x", None), new.most_similar("key x", None)
    scores = {match.key: match.score for match in found}
    if len(scores) != len(found) or scores.keys() != {match.key for match in expected}:
        return False
    d._check()
    return all(abs(scores[match.key] - match.score) < 1e-4 for match in expected)


def main() -> None:
    """Print how many dicts were wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bad = wrong(options.count, options.seed)
    print(f"interrupts: {options.count}, seed {options.seed}: {bad} wrong dicts")


if __name__ == "__main__":
    main()
