"""What the default temperature and the default cutoff of pooling do.

The weight that an exact key takes among 1,000 keys; and, of retrieval sets, the share of the right
answers that the cutoff loses, beside the share of random letter strings that it refuses.

    python -m tests.benchmarks.pooling FILE or FOLDER...
"""

from __future__ import annotations

import argparse
import random
import string
from pathlib import Path

import numpy as np

from fuzzydict import Brown, FuzzyDict
from fuzzydict.evaluation.datasets import read_sets

from .measuring import command, print_report

_CUTOFF = 0.02  # of reads that pool
_KEYS, _BLOCK = 1000, 100  # queries attended to at a time
_STRINGS = 200  # random ones, for each dictionary
_SHORTEST, _LONGEST = 4, 10


def main() -> None:
    """Measure and print both."""
    parser = argparse.ArgumentParser(description="Measure the default temperature and cutoff.")
    parser.add_argument("sets", metavar="FILE or FOLDER", nargs="+", type=Path)
    sets = read_sets(parser.parse_args().sets)
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
