"""How far a query walks: the files of the package that it visits, and the Python calls in them.

    python -m tests.benchmarks.walk [--verbose]

The dict has 1,000 keys. Other queries were asked before, and each query once by ``nearest``, so
that indexes and caches are filled; what ``d[query]`` itself remembers is not. Comprehensions count
as part of the function that they stand in, as Python 3.12 runs them. With ``--verbose`` each
function that is called is printed, in order and indented by its depth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import fuzzydict
from fuzzydict import Brown, FuzzyDict, NoMatchError

from .measuring import print_report

_CAR = ["brand", "model", "color", "price", "top speed", "seats", "fuel"]
#: What is asked, and the most calls and files that it may take.
READS = {
    "two known words": ("maximum speed", 80, 12),
    "a slip": ("commtitee", 62, 12),
    "another slip": ("univresity", 62, 12),
    "a known word": ("residence", 62, 12),
    "a word never seen": ("xylotomic", 62, 12),
}


#: The calls of functions, in order: how deep, in which file, which function.
Walk = list[tuple[int, str, str]]


def files_of(walk: Walk) -> list[str]:
    return list(dict.fromkeys(file for _, file, _ in walk))


def walked(action: Callable[[], Any]) -> Walk:
    """Do something, and return which functions of the package that called."""
    calls: Walk = []
    prefix, depth = f"{Path(str(fuzzydict.__file__)).parent}/", 0
    not_counted = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>"}

    def record(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(prefix):
            return
        if event == "call" and code.co_name not in not_counted:
            calls.append((depth, code.co_filename.removeprefix(prefix), code.co_qualname))
        depth += 1 if event == "call" else -1

    sys.setprofile(record)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def dict_of_words() -> FuzzyDict[int]:
    """Return a dict of 1,000 keys, twenty of two words, that answers whatever is asked."""
    words = Brown().words[200:1200]
    phrases = [f"{a} {b}" for a, b in pairwise(words[:21])]
    keys = list(dict.fromkeys([*_CAR, *phrases, *words]))[:1000]
    return FuzzyDict({key: i for i, key in enumerate(keys)})


def read(d: FuzzyDict[int], query: str) -> Walk:
    """Return the walk of ``d[query]``, whether or not a key matches."""
    for one in ("some other query", "anothr", query):
        d.nearest(one, score_cutoff=0)
    d._current_reader().best.clear()  # so that it is not remembered

    def ask() -> None:
        with suppress(NoMatchError):
            d[query]

    return walked(ask)


def main() -> None:
    parser = argparse.ArgumentParser(description="Print how far a query walks.")
    parser.add_argument("--verbose", action="store_true", help="print each call, in order")
    verbose = parser.parse_args().verbose
    d, car = dict_of_words(), FuzzyDict(dict.fromkeys(_CAR, 0))
    car.get("colour")
    walks = {f"{name}: {query!r}": read(d, query) for name, (query, *_) in READS.items()}
    examples = {"hue": "color", "make": "brand", "maximum speed": "top speed", "cost": "price"}
    walks_and_fit = {**walks, "fit": walked(lambda: car.fit(examples))}
    rows = [[name, len(walk), len(files_of(walk))] for name, walk in walks_and_fit.items()]
    print_report("A walk", ["what", "calls", "files"], rows)
    for name, walk in walks.items() if verbose else ():
        print(f"\n{name}\n  {', '.join(files_of(walk))}")
        print(*(f"{'  ' * depth}  {file}: {call}" for depth, file, call in walk), sep="\n")


if __name__ == "__main__":
    main()
