"""What several heads of a query find that one cannot: keys that lie far apart.

Run it with ``python -m tests.benchmarks.heads``. Keys and queries are drawn by chance. Three keys
are right for a query, each where another turn of its vector leads, so that no one vector is near
all three. A dict is fitted to some queries and asked others, with more and more heads. The table
shows the share of queries whose best key is right, the share of the right keys that are among the
first three, and how long the fit took; all are means over several draws.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict import FuzzyDict

TURNS = 3


class Apart(NamedTuple):
    """Queries with keys that lie apart."""

    queries: NDArray[np.float32]  # (L, E)
    keys: NDArray[np.float32]  # (S, E)
    right: NDArray[np.intp]  # (L, 3), the rows of keys, of which some may be the same

    def names(self) -> tuple[list[str], list[str], list[list[str]]]:
        """Return texts for queries and keys, and the keys that are right for each query."""
        keys = [f"key{i}" for i in range(len(self.keys))]
        right = [list(dict.fromkeys(keys[i] for i in row)) for row in self.right.tolist()]
        return [f"query{i}" for i in range(len(self.queries))], keys, right

    def embedding(self) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those texts."""
        queries, keys, _ = self.names()
        return dict(zip([*queries, *keys], [*self.queries, *self.keys], strict=True))


def lying_apart(queries: int, keys: int, size: int, seed: int) -> Apart:
    """Draw queries and keys, vectors of ``size``, and three turns that lead from one to another."""
    random = np.random.default_rng(seed)
    turns = [np.linalg.qr(random.standard_normal((size, size)))[0] for _ in range(TURNS)]
    y, x = (random.standard_normal((count, size)) for count in (keys, queries))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    right = np.stack([(x @ turn @ y.T).argmax(axis=1) for turn in turns], axis=1)
    return Apart(x.astype(np.float32), y.astype(np.float32), right)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.heads")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--unseen", type=int, default=500)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--size", type=int, default=16, help="of the vectors")
    parser.add_argument("--heads", type=int, nargs="+", default=[1, 2, 3, 4])
    options = parser.parse_args(argv)
    print(
        f"{options.examples:,} queries to learn from, {options.unseen:,} others to ask, "
        f"{options.keys:,} keys, vectors of {options.size}; means of {options.draws}"
    )
    print(f"{'scorer':>9}{'heads':>7}{'hit@1':>8}{'of three':>10}{'seconds':>9}")
    for scorer in (None, "cosine"):
        for heads in options.heads:
            found = [_measured(options, scorer, heads, seed) for seed in range(options.draws)]
            hit, share, seconds = np.mean(found, axis=0)
            name = "default" if scorer is None else scorer
            print(f"{name:>9}{heads:7}{hit:8.3f}{share:10.3f}{seconds:9.1f}", flush=True)
    return 0


def _measured(
    options: argparse.Namespace, scorer: str | None, heads: int, seed: int
) -> tuple[float, float, float]:
    """Return hit@1, the share of the three keys among the first three, and seconds."""
    data = lying_apart(options.examples + options.unseen, options.keys, options.size, seed)
    queries, keys, right = data.names()
    learned, asked = queries[: options.examples], queries[options.examples :]
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=data.embedding(), scorer=scorer)
    start = time.perf_counter()
    d.fit(learned, right[: options.examples], num_heads=heads)
    seconds = time.perf_counter() - start
    hits, shares = [], []
    for row, wanted in zip(d.most_similar(asked, TURNS), right[options.examples :], strict=True):
        found = [match.key for match in row]
        hits.append(found[0] in wanted)
        shares.append(len(set(found) & set(wanted)) / len(wanted))
    return float(np.mean(hits)), float(np.mean(shares)), seconds


if __name__ == "__main__":
    sys.exit(main())
