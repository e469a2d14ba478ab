"""How long attention takes beside torch's, for queries over many keys.

Run it with ``python -m tests.benchmarks.attention_speed``. The two take turns, so that whatever
else the machine does falls on both; the table shows the median of each and their ratio.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzydict.nn.attention import attention

KEYS = 100_000
#: Queries L, size E, and how often each side takes its turn.
CASES = [(1, 64, 50), (1, 300, 30), (16, 64, 30), (256, 64, 9), (256, 300, 7)]


def main() -> int:
    """Print the table; return the exit status."""
    try:
        import torch
    except ImportError:
        print("torch is missing, and there is nothing to compare with: pip install torch")
        return 1
    print(f"float32, {KEYS:,} keys, {torch.get_num_threads()} threads in torch; median ms")
    print(f"{'L':>5}{'E':>5}{'fuzzydict':>12}{'torch':>9}{'ratio':>8}{'difference':>12}")
    for rows, size, turns in CASES:
        ours, theirs, difference = _compare(torch, rows, size, turns)
        ratio = ours / theirs
        print(f"{rows:5}{size:5}{ours:12.1f}{theirs:9.1f}{ratio:8.2f}{difference:12.0e}")
    return 0


def _compare(torch: Any, rows: int, size: int, turns: int) -> tuple[float, float, float]:
    """Return both medians in milliseconds, and the largest difference of the outputs."""
    random = np.random.default_rng(0)
    query, key, value = (
        random.standard_normal((n, size), dtype=np.float32) for n in (rows, KEYS, KEYS)
    )
    # Four axes, for torch has its fast kernel for these alone.
    tensors = [torch.from_numpy(a)[None, None] for a in (query, key, value)]
    theirs = torch.nn.functional.scaled_dot_product_attention
    difference = abs(attention(query, key, value) - theirs(*tensors).numpy()[0, 0]).max()
    times = [
        (_milliseconds(attention, query, key, value), _milliseconds(theirs, *tensors))
        for _ in range(turns)
    ]
    mine, other = zip(*times, strict=True)
    return statistics.median(mine), statistics.median(other), float(difference)


def _milliseconds(function: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
