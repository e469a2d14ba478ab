"""How often a join of two frames is right: `fuzzydict.join` beside skrub's ``fuzzy_join``.

The sets are JSON files like a retrieval set; ``accept`` is empty where no key is right. The queries
of a dict are the left frame, its keys the right one.

    python -m tests.benchmarks.joined everyday.json medical.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from fuzzydict import join

from .report import print_report
from .turns import optional

__all__ = ["main"]

Join = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]
_CUTOFFS = (0.0, 0.3, 0.5, 0.9)
_DISTANCES = (None, 0.9, 0.8, 0.7, 0.5)  # skrub's max_dist; by default, it refuses nothing


def main(argv: Sequence[str] | None = None) -> None:
    """Count right, wrong and refused answers, by system and cutoff, and print them for each set."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.joined", description="Measure joins."
    )
    parser.add_argument("paths", type=Path, nargs="+", help="retrieval sets, JSON files")
    for path in parser.parse_args(argv).paths:
        dictionaries = json.loads(path.read_text("utf-8"))["dictionaries"]
        rows = [[name, *_counts(of, dictionaries)] for name, of in _systems().items()]
        absent = sum(not one["accept"] for d in dictionaries for one in d["queries"])
        header = ["join", "right", "wrong", "refused", f"answered of {absent} without a key"]
        print_report(path.stem, header, rows)


def _systems() -> Mapping[str, Join]:
    found: dict[str, Join] = {
        f"fuzzydict.join, score_cutoff={cutoff:g}": partial(join, on="text", score_cutoff=cutoff)
        for cutoff in _CUTOFFS
    }
    if (skrub := optional("skrub")) is not None:
        for most in _DISTANCES:
            by_skrub = partial(skrub.fuzzy_join, on="text", suffix="_right")
            if most is None:
                found["skrub.fuzzy_join"] = by_skrub
            else:
                found[f"skrub.fuzzy_join, max_dist={most:g}"] = partial(by_skrub, max_dist=most)
    return found


def _counts(system: Join, dictionaries: list[dict[str, Any]]) -> Iterator[int]:
    """Yield how many answers are right, wrong and refused, and how many had better be refused."""
    right = wrong = refused = answered = 0
    for d in dictionaries:
        asked = {one["query"]: one["accept"] for one in d["queries"]}
        left = pd.DataFrame({"text": list(asked)})
        found = system(left, pd.DataFrame({"text": d["keys"]}))["text_right"]
        for accept, key, is_none in zip(asked.values(), found, found.isna(), strict=True):
            if not accept:
                answered += not is_none
            elif is_none:
                refused += 1
            else:
                right, wrong = right + (key in accept), wrong + (key not in accept)
    yield from (right, wrong, refused, answered)


if __name__ == "__main__":
    main()
