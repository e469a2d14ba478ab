"""What the long runs of random acts have in common: their arguments."""

from __future__ import annotations

import argparse


def count_and_seed(about: str | None, most: int) -> tuple[int, int]:
    """Return how many acts the command line asks for, ``most`` by default, and the seed."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("count", type=int, nargs="?", default=most)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    return options.count, options.seed
