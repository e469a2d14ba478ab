"""How often a pool of numbers is of use, by the probability that no key is right.

The numbers are of tables whose right values are known. A pool is of use if it is nearer to the
right value than three in four of the values are.

    python -m tests.benchmarks.pooling
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fuzzydict import FuzzyDict

from .measuring import print_report

_NEARER = 0.25  # share of the values that may be nearer to the right one than a pool of use


def main() -> None:
    # Numbers of things, and of others as people might ask for them; written before any measurement.
    tables = json.loads(Path(__file__).with_name("pooled.json").read_text("utf-8"))
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
        for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
            is_warned = doubt > threshold
            caught, spared = is_warned[~of_use].mean(), (~is_warned)[of_use].mean()
            shares = of_use[~is_warned].mean(), of_use[is_warned].mean(), caught, spared
            rows.append([f"{what}: above {threshold}", *shares, caught + spared - 1])
    title = f"{len(pools)} pools of numbers, {of_use.mean():.2f} of use, by when they are doubtful"
    header = ["probability that", "of use without doubt", "of use in doubt"]
    print_report(title, [*header, "useless in doubt", "useful without", "both, less 1"], rows)


if __name__ == "__main__":
    main()
