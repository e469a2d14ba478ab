"""Whether two versions answer alike: what one answers on retrieval sets, compared with the other.

    python -m tests.benchmarks.answers -o before.json everyday.json typos.json
    python -m tests.benchmarks.answers -o after.json everyday.json typos.json
    python -m tests.benchmarks.answers --compare before.json after.json

Run the first command with one version installed and the second with the other. The third prints of
how many queries the best keys differ, and the largest difference of numbers where they do not.
"""

from __future__ import annotations

import argparse
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict
from fuzzydict.evaluation.datasets import read_sets

from .measuring import command

Answer = tuple[list[str], list[float]]  # keys, and numbers that belong to them


def _hashed(texts: list[str]) -> Any:
    """Return vectors (n, 24) that say nothing, as another encoder's."""
    seeds = [zlib.crc32(text.lower().encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=24) for seed in seeds], np.float32)


#: Options, and that so many queries one is asked with them.
_OPTIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "default": (1, {}),
    "identity": (5, {"projections": "identity"}),
    "cosine": (5, {"scorer": "cosine"}),
    "spelling": (5, {"scorer": "spelling"}),
    "encoder": (5, {"embedding": _hashed}),
}


def main() -> None:
    """Write answers to a file, or compare two such files."""
    parser = argparse.ArgumentParser(description="Compare the answers of two versions.")
    parser.add_argument("sets", type=Path, nargs="*", help="retrieval sets, JSON files")
    parser.add_argument("-o", "--output", type=Path, help="write what is answered to this file")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="compare files")
    given = parser.parse_args()
    if given.compare:
        _compare(*(json.loads(path.read_text("utf-8")) for path in given.compare))
    elif given.output and given.sets:
        found = {
            f"{path.stem}, {name}": _answers(path, step, options)
            for path in given.sets
            for name, (step, options) in _OPTIONS.items()
        }
        given.output.write_text(json.dumps(found), "utf-8")
    else:
        parser.error("expected --compare A B, or -o FILE and retrieval sets")


def _answers(path: Path, step: int, options: dict[str, Any]) -> list[Answer]:
    """Return the best keys and scores, what a single read finds, and what it is explained by."""
    found = list[Answer]()
    for keys, asked in read_sets([path])[0].dictionaries:
        d = FuzzyDict({key: float(i) for i, key in enumerate(keys)}, **options)
        texts = [query.text for query in asked][::step]
        queries = [text for text in texts if any(map(str.isalnum, text))]  # others find none
        for query, best in zip(queries, d.most_similar(queries, topn=5), strict=True):
            explained, attended = d.explain(query), d.attend(query)
            numbers = [*(match.score for match in best), explained.best.score, d.get(query, -1.0)]
            numbers += [part or 0.0 for part in explained.best_parts or ()]
            numbers += [float(attended.output), float(attended.weights.max())]
            found.append(([match.key for match in best], list(map(float, numbers))))
    return found


def _compare(before: dict[str, list[Answer]], after: dict[str, list[Answer]]) -> None:
    print(f"{'':24} {'queries':>8} {'other keys':>11} {'largest difference':>19}")
    for name in before:
        pairs = list(zip(before[name], after[name], strict=True))
        same = [(a, b) for (keys, a), (others, b) in pairs if keys == others]
        largest = max((np.abs(np.subtract(a, b)).max() for a, b in same), default=0.0)
        print(f"{name:24} {len(pairs):8,} {len(pairs) - len(same):11,} {largest:19.1e}")


if __name__ == "__main__":
    command(main)
