"""Read and write dicts in several threads: `python -m tests.benchmarks.threads 600`.

Each value tells its key and how often the key had been written. A read must give a value that its
key had at some moment of the read, and no worse a key than those that were there all the time. At
the end of each round, the dict must answer as a new one of the same items.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from fuzzydict import DoubtfulPoolWarning, FuzzyDict

KEYS = [f"{word} {n}" for word in ("color", "price", "top speed") for n in range(12)]
NUMBERS = {key: number for number, key in enumerate(KEYS)}
STAYING = KEYS[::12]  # which are never removed
QUERIES = [
    f"{word} {n}" for word in ("colour", "prize", "speed", "COLOR", "brnd") for n in range(9)
]
SWITCH = 1e-5  # seconds, after which Python lets another thread go on
PAUSE = 0.002  # seconds, after some writes, for readers are slower
ROUND = 5.0  # seconds, after which another dict is made
WRITERS, READERS = 2, 3


def encode(texts: list[str]) -> Any:
    """Return vectors (n, 6) that depend on the letters alone."""
    sums = np.array([sum(map(ord, text)) for text in texts], np.float64).reshape(-1, 1)
    return np.sin(np.arange(1, 7) * sums)


OPTIONS: list[dict[str, Any]] = [
    {"embedding": encode, "scorer": "cosine"},
    {"embedding": encode, "score_cutoff": 0.0},
    {"scorer": "spelling", "score_cutoff": 0.0},
    *(
        [{"embedding": encode, "scorer": "cosine", "index": "usearch"}]
        if find_spec("usearch")
        else []
    ),
]
Versions = dict[str, int]


class Campaign:
    """Threads that read and write one dict, and what they saw that cannot be.

    Each key is written by one thread: its versions rise, and the odd ones are there.

    Args:
        chance: decides what is done, though not what other threads do meanwhile.
        options: of the dict.
    """

    def __init__(self, chance: random.Random, options: dict[str, Any]) -> None:
        self.chance, self.options = chance, options
        self.d: FuzzyDict[Any] = FuzzyDict(**options)
        self.begun: Versions = dict.fromkeys(KEYS, 0)  # the version that is being written
        self.done: Versions = dict.fromkeys(KEYS, 0)  # and the one that is there
        self.counts, self.wrong = Counter[str](), list[str]()
        for key in KEYS:
            self._put(key)
        scored = FuzzyDict(self.d, **{**options, "index": "exact"})
        self.scores = {q: {m.key: m.score for m in scored.most_similar(q, None)} for q in QUERIES}
        self.scores_stay = options.get("scorer") == "cosine"  # others depend on all keys

    def run(self, seconds: float) -> None:
        """Act for so many seconds."""
        end = time.monotonic() + seconds
        acts = [lambda c, n=n: self._write(c, n) for n in range(WRITERS)] + [self._read] * READERS
        threads = [
            threading.Thread(target=self._act, args=(act, random.Random(self.chance.random()), end))
            for act in acts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._compare_with_new()

    def _act(self, act: Callable[[random.Random], None], chance: random.Random, end: float) -> None:
        while time.monotonic() < end and not self.wrong:
            try:
                act(chance)
            except Exception as error:  # whatever it is, it is wrong
                self.wrong.append(repr(error))

    # ---- writes -----------------------------------------------------------------------------

    def _put(self, key: str) -> None:
        self.begun[key] += 1 if self.begun[key] % 2 == 0 else 2
        self.d[key] = NUMBERS[key], self.begun[key]
        self.done[key] = self.begun[key]

    def _write(self, chance: random.Random, writer: int) -> None:
        self.counts["write"] += 1
        time.sleep(chance.choice([0, PAUSE]))
        key = chance.choice(KEYS[writer::WRITERS])
        if chance.random() < 0.5 and key not in STAYING and self.done[key] % 2:
            self.begun[key] += 1
            if chance.random() < 0.5:
                del self.d[key]
            else:
                self.d.pop(key)
            self.done[key] = self.begun[key]
        else:
            self._put(key)
        if chance.random() < 0.1:
            self.d.aliases[f"name {writer}"] = key if key in STAYING else None

    # ---- reads ------------------------------------------------------------------------------

    def _read(self, chance: random.Random) -> None:
        read = chance.choice(READS)
        self.counts[read.__name__] += 1
        queries = [chance.choice(QUERIES) for _ in range(chance.choice([1, 3, 20]))]
        before = self.done.copy()
        found = read(self.d, queries)
        after = self.begun.copy()
        for query, answers in zip(queries, found, strict=True):
            self._check_answers(query, answers, before, after)

    def _check_answers(self, query: str, answers: Any, before: Versions, after: Versions) -> None:
        """Note what of the answers (value, score or None), best first, cannot be."""
        keys = []
        for (number, version), score in answers:
            key = KEYS[int(number)]
            keys.append(key)
            if not (before[key] <= version <= after[key] and version % 2):
                self.wrong.append(f"{query}: {key} had no version {version}")
            if (
                self.scores_stay
                and score is not None
                and abs(score - self.scores[query][key]) > 1e-4
            ):
                self.wrong.append(f"{query}: {key} scored {score}")
        if len(set(keys)) < len(keys):
            self.wrong.append(f"{query}: a key comes twice")
        there = {key for key in KEYS if before[key] == after[key] and before[key] % 2}
        if len(keys) > 1 and not there <= set(keys):
            self.wrong.append(f"{query}: {there - set(keys)} is missing")
        if self.scores_stay and keys:
            of_query = self.scores[query]
            if of_query[keys[0]] < max((of_query[key] for key in there), default=-9) - 1e-4:
                self.wrong.append(f"{query}: {keys[0]} is not the best")

    def _compare_with_new(self) -> None:
        new = FuzzyDict(dict(self.d), **self.options)
        for query in QUERIES:
            found, expected = self.d.most_similar(query, None), new.most_similar(query, None)
            scores = {match.key: match.score for match in expected}
            if len(found) != len(expected) or any(
                abs(scores.get(match.key, -9) - match.score) > 1e-4 for match in found
            ):
                self.wrong.append(f"{query}: other answers than those of a new dict")
        self.d._check()


def get(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Read each query alone."""
    return [[(d[query], None)] for query in queries]


def get_many(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Read all queries."""
    return [[(value, None)] for value in d.get_many(queries)]


def nearest(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Match all queries."""
    return [[match[1:]] for match in d.nearest(queries)]


def most_similar(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Rank all keys."""
    return [[match[1:] for match in some] for some in d.most_similar(queries, None)]


def explain(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Explain all queries."""
    return [[told.best[1:]] for told in d.explain(queries)]


def attend(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Attend to all keys, whose order is the dict's."""
    found = []
    for one in d.attend(queries):
        assert abs(one.weights.sum() - 1) < 1e-6
        best = int(one.scores.argmax())
        rows = list(zip(one.values, one.scores.tolist(), strict=True))
        found.append(
            [(rows[best][0], None), *[(v, None) for v, _ in rows[:best] + rows[best + 1 :]]]
        )
    return found


def pool(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Pool all values."""
    pooled = d.pool(queries, attn_mask=lambda key: key in STAYING)
    assert pooled.shape == (len(queries), 2)
    assert (pooled[:, 0] <= max(NUMBERS[key] for key in STAYING) + 1e-6).all()
    return [[] for _ in queries]


def copies(d: FuzzyDict[Any], queries: list[str]) -> Any:
    """Copy the dict, and read the copy."""
    return get_many(d.copy(), queries)


READS: list[Callable[[FuzzyDict[Any], list[str]], Any]] = [
    *(get, get_many, nearest, most_similar, explain, attend, pool, copies),
]


def campaign(seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how often each act was done in so many seconds, and what was wrong."""
    chance, counts, wrong = random.Random(seed), Counter[str](), list[str]()
    end, before = time.monotonic() + seconds, sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        while not wrong and (left := end - time.monotonic()) > 0:
            options = OPTIONS[len(counts) and chance.randrange(len(OPTIONS))]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DoubtfulPoolWarning)
                one = Campaign(chance, options)
                one.run(min(ROUND, left))
            counts += one.counts
            wrong += [f"{sorted(map(str, options.items()))}: {text}" for text in one.wrong]
    finally:
        sys.setswitchinterval(before)
    return counts, wrong


def main() -> None:
    """Print what was done, and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts, wrong = campaign(options.seconds, options.seed)
    print(*wrong, sep="\n")
    print(
        f"{counts.total()} acts in threads, seed {options.seed}: {len(wrong)} wrong", dict(counts)
    )


if __name__ == "__main__":
    main()
