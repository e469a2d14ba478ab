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
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import fuzzydict
from fuzzydict import Brown, FuzzyDict, NoMatchError

__all__ = ["READS", "Walk", "dict_of_words", "main", "read", "walked"]

_FOLDER = Path(str(fuzzydict.__file__)).parent
_KEYS, _PHRASES = 1000, 20  # of the keys so many are of two words
_EXAMPLES = {
    "hue": "color",
    "make": "brand",
    "maximum speed": "top speed",
    "cost": "price",
    "vehicle type": "model",
}
_CAR = ["brand", "model", "color", "price", "top speed", "seats", "fuel"]
#: What is asked, and the most calls and files that it may take.
READS = {
    "two known words": ("maximum speed", 95, 18),
    "a slip": ("commtitee", 80, 17),
    "another slip": ("univresity", 80, 17),
    "a known word": ("velocity", 80, 17),
    "a word never seen": ("xylotomic", 80, 17),
}
_FIT_FILES = 27
_NO_FUNCTIONS = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>"}


class Walk(NamedTuple):
    """The calls of functions in files, in order: how deep, which file, which function."""

    calls: list[tuple[int, str, str]]

    @property
    def files(self) -> list[str]:
        """The files, in the order of the first visit."""
        return list(dict.fromkeys(file for _, file, _ in self.calls))


def walked(action: Callable[[], Any]) -> Walk:
    """Do something, and return which functions of the package that called."""
    calls: list[tuple[int, str, str]] = []
    prefix, depth = f"{_FOLDER}/", 0

    def record(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(prefix):
            return
        if event == "call" and code.co_name not in _NO_FUNCTIONS:
            calls.append((depth, code.co_filename.removeprefix(prefix), code.co_qualname))
        depth += 1 if event == "call" else -1

    sys.setprofile(record)
    try:
        action()
    finally:
        sys.setprofile(None)
    return Walk(calls)


def dict_of_words() -> FuzzyDict[int]:
    """Return a dict of 1,000 keys, some of two words."""
    words = Brown().words[200:]
    phrases = [f"{a} {b}" for a, b in pairwise(words[: _PHRASES + 1])]
    keys = list(dict.fromkeys([*_CAR, *phrases, *words]))[:_KEYS]
    return FuzzyDict({key: i for i, key in enumerate(keys)})


def read(d: FuzzyDict[int], query: str) -> Walk:
    """Return the walk of ``d[query]``, whether or not a key matches."""
    for one in ("some other query", "anothr", query):
        with suppress(NoMatchError):
            d.nearest(one)
    return walked(lambda: _ask(d, query))


def _ask(d: FuzzyDict[int], query: str) -> None:
    with suppress(NoMatchError):
        d[query]


def _fit() -> Walk:
    d = FuzzyDict(dict.fromkeys(_CAR, 0))
    d.get("colour")
    return walked(lambda: d.fit(_EXAMPLES))


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table, or each walk."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.walk")
    parser.add_argument("--verbose", action="store_true", help="print each call, in order")
    verbose = parser.parse_args(argv).verbose
    d = dict_of_words()
    rows: list[tuple[str, Walk, int | None, int]] = [
        (f"{name}: {query!r}", read(d, query), calls, files)
        for name, (query, calls, files) in READS.items()
    ]
    rows.append((f"fit with {len(_EXAMPLES)} examples", _fit(), None, _FIT_FILES))
    print(f"{'':44} {'calls':>7} {'at most':>8} {'files':>6} {'at most':>8}")
    for name, walk, calls, files in rows:
        most = "" if calls is None else calls
        print(f"{name:44} {len(walk.calls):7,} {most:>8} {len(walk.files):6} {files:8}")
    for name, walk, calls, _ in rows if verbose else ():
        print(f"\n{name}\n  {', '.join(walk.files)}")
        if calls is not None:  # fit has too many to be read
            print(
                *(f"{'  ' * depth}  {file}: {call}" for depth, file, call in walk.calls), sep="\n"
            )


if __name__ == "__main__":
    main()
