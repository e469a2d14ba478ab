"""What a version answers on retrieval sets, to be compared with what another version answers.

    python -m tests.benchmarks.answers -o before.json everyday.json typos.json
    python -m tests.benchmarks.answers -o after.json everyday.json typos.json
    python -m tests.benchmarks.answers --compare before.json after.json

Run the first command with one version installed and the second with the other. (It needs nothing
of the project but ``fuzzydict`` itself.) The third prints of how many queries the best keys differ,
and the largest difference of numbers where they do not.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzzydict import FuzzyDict

__all__ = ["answers", "differences", "main"]

Answer = tuple[list[str], list[float]]  # keys, and numbers that belong to them
_TOPN = 5
_EVERY = 5  # of the options that are not the default every fifth query is asked


def _hashed(texts: list[str]) -> Any:
    """Return vectors (n, 24) that say nothing, as another encoder's."""
    seeds = [zlib.crc32(text.lower().encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=24) for seed in seeds], np.float32)


_OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "identity": {"projections": "identity"},
    "cosine": {"scorer": "cosine"},
    "encoder": {"embedding": _hashed},
    "usearch": {"index": "usearch"},
}


def answers(keys: Sequence[str], queries: list[str], options: Mapping[str, Any]) -> list[Answer]:
    """Return the best keys and scores, what a single read finds, and what it is explained by."""
    d = FuzzyDict({key: float(i) for i, key in enumerate(keys)}, **options)
    found = []
    for query, best in zip(queries, d.most_similar(queries, topn=_TOPN), strict=True):
        explained, attended = d.explain(query), d.attend(query)
        numbers = [match.score for match in best] + [explained.best.score]
        numbers += [d.get(query, -1.0), *(part or 0.0 for part in explained.best_parts or ())]
        numbers += [float(attended.output), float(attended.weights.max())]
        found.append(([match.key for match in best], list(map(float, numbers))))
    return found


class Difference(NamedTuple):
    """How far the answers to some queries are apart; relative to numbers beyond 1."""

    queries: int
    other_keys: int
    largest: float


def differences(one: Sequence[Answer], other: Sequence[Answer]) -> Difference:
    """Compare the answers of two versions."""
    pairs = list(zip(one, other, strict=True))
    same = [(a, b) for (keys, a), (others, b) in pairs if keys == others]
    largest = max(
        (
            abs(x - y) / max(1.0, abs(x))
            for a, b in same
            for x, y in zip(a, b, strict=True)
            if x != y
        ),
        default=0.0,
    )
    return Difference(len(pairs), len(pairs) - len(same), largest)


def main(argv: Sequence[str] | None = None) -> None:
    """Write answers to a file, or compare two such files."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.answers")
    parser.add_argument("sets", type=Path, nargs="*", help="retrieval sets, JSON files")
    parser.add_argument("-o", "--output", type=Path, help="write what is answered to this file")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="compare files")
    given = parser.parse_args(argv)
    if given.compare:
        _compare(*given.compare)
    elif given.output and given.sets:
        given.output.write_text(json.dumps(dict(map(_answered, given.sets))), "utf-8")
    else:
        parser.error("expected --compare A B, or -o FILE and retrieval sets")


def _answered(path: Path) -> tuple[str, dict[str, list[Answer]]]:
    dictionaries = json.loads(path.read_text("utf-8"))["dictionaries"]
    found: dict[str, list[Answer]] = {}
    for name, options in _OPTIONS.items():
        if name == "usearch" and importlib.util.find_spec("usearch") is None:
            continue
        print(f"{path.stem}, {name}", file=sys.stderr)
        step = 1 if name == "default" else _EVERY
        for one in dictionaries:
            texts = [query["query"] for query in one["queries"]][::step]
            queries = [text for text in texts if any(map(str.isalnum, text))]  # others find none
            found[name] = found.get(name, []) + answers(one["keys"], queries, options)
    return path.stem, found


def _compare(first: Path, second: Path) -> None:
    before, after = (json.loads(path.read_text("utf-8")) for path in (first, second))
    print(f"{'':24} {'queries':>8} {'other keys':>11} {'largest difference':>19}")
    for name, found in before.items():
        for options in sorted(found.keys() & after[name].keys()):
            told = differences(found[options], after[name][options])
            label = f"{name}, {options}"
            print(f"{label:24} {told.queries:8,} {told.other_keys:11,} {told.largest:19.1e}")


if __name__ == "__main__":
    main()
