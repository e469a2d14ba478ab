"""How long a pass of fitting takes beside the same loss in torch.

Run it with ``python -m tests.benchmarks.fitting_speed``. Both learn Q and K over cosines with a
learned temperature, by Adam, from the same batches of the same pairs; they take turns, so that
whatever else the machine does falls on both. The table shows the median of each, their ratio, and
by how much their losses differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fuzzydict._arrays import Array
from fuzzydict.learning.train import Settings, fit_retrieval

PAIRS, KEYS, SIZE = 19_000, 13_000, 300
CANDIDATES = 4096  # keys that a query is told apart from in a step; in the second line all


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fitting_speed")
    parser.add_argument("--turns", type=int, default=5, help="how often each side takes its turn")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--keys", type=int, default=KEYS)
    options = parser.parse_args(argv)
    try:
        import torch
    except ImportError:
        print("torch is missing, and there is nothing to compare with: pip install torch")
        return 1
    print(
        f"one pass over {options.pairs:,} pairs, {options.keys:,} keys of {SIZE} numbers, float32, "
        f"{torch.get_num_threads()} threads in torch; median seconds"
    )
    print(f"{'candidates':>12}{'fuzzydict':>12}{'torch':>9}{'ratio':>8}{'losses':>18}")
    for candidates in (CANDIDATES, options.keys):
        random = np.random.default_rng(0)
        queries, keys = (
            random.standard_normal((n, SIZE), dtype=np.float32)
            for n in (options.pairs, options.keys)
        )
        _report(torch, candidates, queries, keys, options.turns)
    return 0


def _report(torch: Any, candidates: int, queries: Array, keys: Array, turns: int) -> None:
    """Print the line of one case."""
    right = np.random.default_rng(0).integers(len(keys), size=len(queries))
    settings = Settings(
        epochs=1, validation=0, batch_size=256, candidates=candidates, identity_penalty=0
    )
    taken: list[tuple[float, float]] = []
    losses = (0.0, 0.0)
    for _ in range(turns):
        ours, mine = _timed(lambda: _by_fuzzydict(queries, keys, right, settings))
        theirs, other = _timed(lambda: by_torch(torch, queries, keys, right, settings))
        taken.append((ours, theirs))
        losses = (mine, other)
    a, b = (statistics.median(side) for side in zip(*taken, strict=True))
    shown = f"{losses[0]:.3f}, {losses[1]:.3f}"
    print(f"{candidates:12,}{a:12.2f}{b:9.2f}{a / b:8.2f}{shown:>18}", flush=True)


def _by_fuzzydict(queries: Array, keys: Array, right: Any, settings: Settings) -> float:
    pairs = np.stack([np.arange(len(queries)), right], axis=1)
    return fit_retrieval(queries, keys, pairs, replace(settings)).history[-1].training


def by_torch(torch: Any, queries: Array, keys: Array, right: Any, settings: Settings) -> float:
    """Do the same: return the mean loss of the pass."""
    random = np.random.default_rng(0)
    x, y, wanted = (torch.from_numpy(array) for array in (queries, keys, right))
    q, k = (torch.nn.Parameter(torch.eye(x.shape[1])) for _ in range(2))
    log_temperature = torch.nn.Parameter(torch.tensor(float(np.log(settings.start_temperature))))
    matrices = torch.optim.Adam([q, k], lr=settings.learning_rate * x.shape[1] ** -0.5)
    number = torch.optim.Adam([log_temperature], lr=settings.learning_rate)
    total = 0.0
    batches = np.array_split(random.permutation(len(x)), -(-len(x) // (settings.batch_size or 1)))
    for done, rows in enumerate(batches):
        for group in (*matrices.param_groups, *number.param_groups):
            group["lr"] *= (len(batches) - done) / (len(batches) - done + 1) if done else 1
        batch, here = torch.from_numpy(rows), wanted[rows]
        shown, shares = torch.arange(len(y)), None
        if len(y) > settings.candidates:
            drawn = random.choice(len(y), settings.candidates, replace=False, shuffle=False)
            shown, here = torch.unique(
                torch.cat([here, torch.from_numpy(drawn)]), return_inverse=True
            )
            here = here[: len(rows)]
            shares = float(np.log(settings.candidates / len(y)))
        query = torch.nn.functional.normalize(x[batch] @ q, dim=1)
        key = torch.nn.functional.normalize(y[shown] @ k, dim=1)
        logits = query @ key.T / log_temperature.exp()
        if shares is not None:  # a little less than exact, and less work, than ours
            certain = torch.full((len(rows), 1), shares)
            logits = (logits - shares).scatter_add(1, here[:, None], certain)
        loss = torch.nn.functional.cross_entropy(logits, here)
        matrices.zero_grad()
        number.zero_grad()
        loss.backward()
        matrices.step()
        number.step()
        total += float(loss.detach()) * len(rows)
    return total / len(x)


def _timed(function: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds that the function took, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    sys.exit(main())
