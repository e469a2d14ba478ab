"""What the long runs of random acts have in common: their arguments, and their processes."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable


def count_and_seed(about: str | None, most: int) -> tuple[int, int]:
    """Return how many acts the command line asks for, ``most`` by default, and the seed."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("count", type=int, nargs="?", default=most)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    return options.count, options.seed


def forked(act: Callable[[], int]) -> int:
    """Fork, and return the id of the child, which ends with the status that ``act`` returns.

    The status is 1 if it raises an exception.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork beside threads
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        status = act()
    finally:
        os._exit(status)
