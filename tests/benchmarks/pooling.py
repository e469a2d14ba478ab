"""What the default temperature and the default cutoff of pooling do, and when a pool is doubtful.

The weight that an exact key takes among 1,000 keys; of retrieval sets, the share of the right
answers that the cutoff loses, beside the share of random letter strings that it refuses; and, of
tables of numbers whose right values are known, how often a pool is of use.

    python -m tests.benchmarks.pooling [FILE or FOLDER...]
"""

from __future__ import annotations

import argparse
import json
import random
import string
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import Brown, FuzzyDict
from fuzzydict.evaluation.datasets import read_sets

from .measuring import command, print_report

_CUTOFF = 0.02  # of reads that pool
_KEYS, _BLOCK = 1000, 100  # queries attended to at a time
_STRINGS = 200  # random ones, for each dictionary
_SHORTEST, _LONGEST = 4, 10
#: Numbers of things, and of others as people might ask for them; written before any was measured.
_TABLES = Path(__file__).with_name("pooled.json")
_NEARER = 0.25  # share of the values that may be nearer to the right one than a pool of use
_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def main() -> None:
    """Measure and print all three."""
    parser = argparse.ArgumentParser(description="Measure the defaults of pooling.")
    parser.add_argument("sets", metavar="FILE or FOLDER", nargs="*", type=Path)
    paths = parser.parse_args().sets
    _print_doubt(json.loads(_TABLES.read_text("utf-8")))
    if paths:
        _print_defaults(paths)


def _print_doubt(tables: dict[str, Any]) -> None:
    """Print how often pools are of use, by the probability that no key is right.

    A pool is of use if it is nearer to the right value than three in four of the values are.
    """
    pools: list[tuple[float, float, bool]] = []
    for table in tables.values():
        d, values = FuzzyDict(table["values"]), np.array([*table["values"].values()])
        asked = [query for query in table["queries"] if query not in d]
        for query, attention in zip(asked, d.attend(asked), strict=True):
            right = table["queries"][query]
            nearer = np.abs(values - right) < abs(float(attention.output) - right)
            score = (1 - float(attention.none)) * float(attention.weights.max())
            pools.append((float(attention.none), score, bool(nearer.mean() <= _NEARER)))
    none, best, of_use = (np.array(column) for column in zip(*pools, strict=True))
    rows: list[list[object]] = []
    for what, doubt in (("no key is right", none), ("the best key is not", 1 - best)):
        for threshold in _THRESHOLDS:
            is_warned = doubt > threshold
            caught, spared = is_warned[~of_use].mean(), (~is_warned)[of_use].mean()
            shares = of_use[~is_warned].mean(), of_use[is_warned].mean(), caught, spared
            rows.append([f"{what}: above {threshold}", *shares, caught + spared - 1])
    title = f"{len(pools)} pools of numbers, {of_use.mean():.2f} of use, by when they are doubtful"
    header = ["probability that", "of use without doubt", "of use in doubt"]
    print_report(title, [*header, "useless in doubt", "useful without", "both, less 1"], rows)


def _print_defaults(paths: list[Path]) -> None:
    """Print what the default temperature and the default cutoff do."""
    sets = read_sets(paths)
    keys = random.Random(0).sample(Brown().words, _KEYS)
    weights = _own_weights(FuzzyDict(dict.fromkeys(keys, 0.0)), keys)
    quantiles = [f"{1 - np.quantile(weights, share):.1e}" for share in (0, 0.01, 0.5)]
    title = f"The weight of all others where an exact key is asked for, among {_KEYS} keys"
    print_report(title, ["at most", "99 % quantile", "median"], [quantiles])

    chance, rows, noise = random.Random(0), list[list[object]](), list[float]()
    for one in sets:
        right = list[float]()
        for dictionary in one.dictionaries:
            d = FuzzyDict(dict.fromkeys(dictionary.keys))
            found = d.most_similar([query.text for query in dictionary.queries], 1)
            answers = zip(dictionary.queries, found, strict=True)
            right += [
                best.score for query, some in answers for best in some if best.key in query[1]
            ]
            noise += [best.score for (best,) in d.most_similar(_random_letters(chance), 1)]
        rows.append(
            [f"right answers lost, {one.name}", len(right), np.mean(np.array(right) < _CUTOFF)]
        )
    refused = np.mean(np.array(noise) < _CUTOFF)
    rows.append(
        [f"random strings of {_SHORTEST} to {_LONGEST} letters refused", len(noise), refused]
    )
    print_report(f"At the cutoff {_CUTOFF:g}", ["what", "of", "share"], rows)


def _own_weights(d: FuzzyDict[float], keys: list[str]) -> list[float]:
    """Return the weight of each key when it is itself the query."""
    return [
        float(attention.weights[start + place])
        for start in range(0, len(keys), _BLOCK)
        for place, attention in enumerate(d.attend(keys[start : start + _BLOCK]))
    ]


def _random_letters(chance: random.Random) -> list[str]:
    return [
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(_SHORTEST, _LONGEST)))
        for _ in range(_STRINGS)
    ]


if __name__ == "__main__":
    command(main)
