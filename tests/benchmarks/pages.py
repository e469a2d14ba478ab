"""How well and how fast the page of `fuzzydict explore` answers, beside the dict that it is of.

Its scripts are run by a browser, or by node where there is none.

    python -m tests.benchmarks.pages [--keys N] [--queries N] [--words N]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from statistics import median
from string import ascii_lowercase
from typing import Any

from fuzzydict import Brown, FuzzyDict
from fuzzydict.io.explore import WORDS, explore_page

from ..javascript import BROWSER, NODE, in_browser, in_node
from .report import print_report

__all__ = ["main"]

_NAMES = ("Porsche", "Taycan", "iPhone 15", "São Tomé", "C++", "topSpeed", "kWh", "ISBN-13")
_SEED = 11
_CLOSE = 0.02  # a difference of probabilities that is seen

# In the page: the best key of each query, its probability, and the milliseconds that it took.
_ASK = """return QUERIES.map((queries) => queries.map((query) => {
    const start = performance.now();
    const judged = view.matching.judge(query);
    const slot = judged.order[0];
    const told = [view.matching.names[slot], Math.exp(judged.logs[slot])];
    return [...told, performance.now() - start];
}));"""


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.pages", description="Compare a page with its dict."
    )
    parser.add_argument("--keys", type=int, default=1000, help="1000 by default")
    parser.add_argument("--queries", type=int, default=200, help="of each kind; 200 by default")
    parser.add_argument("--words", type=int, default=WORDS, help=f"{WORDS} by default")
    given = parser.parse_args(argv)
    if min(given.keys, given.queries, given.words) < 1:
        parser.error("--keys, --queries, --words: 1 or more")
    if not (BROWSER or NODE):
        parser.error("there is neither a chromium nor node; install one of them")
    draw = random.Random(_SEED)
    d = _dict(draw, given.keys)
    start = time.perf_counter()
    page = explore_page(d, words=given.words)
    took = time.perf_counter() - start
    kinds = _queries(draw, list(d), given.queries, given.words)
    code = _ASK.replace("QUERIES", json.dumps(list(kinds.values())))
    told = in_browser(page, code) if BROWSER else in_node(page, code)
    print_report(
        f"A page of {len(d)} keys and {given.words} words: {len(page) / 1e6:.1f} MB, made in "
        f"{took:.1f} s, its scripts run by {'a browser' if BROWSER else 'node'}",
        ["queries", "of them", "same best key", f"probability within {_CLOSE}", "farthest", "ms"],
        [_row(kind, kinds[kind], answers, d) for kind, answers in zip(kinds, told, strict=True)],
    )


def _dict(draw: random.Random, size: int) -> FuzzyDict[int]:
    """Return a dict of words, phrases of two or three words, and names never seen."""
    words = [word for word in Brown().words[50:] if word.isalpha()]
    keys = [*_NAMES, *draw.sample(words, size)]
    keys[len(_NAMES) :: 3] = [_phrase(draw, words[:6000]) for _ in keys[len(_NAMES) :: 3]]
    return FuzzyDict({key: i for i, key in enumerate(dict.fromkeys(keys[:size]))})


def _queries(draw: random.Random, keys: list[str], count: int, words: int) -> dict[str, list[str]]:
    known = [word for word in Brown().words[50:words] if word.isalpha()]
    rare = [word for word in Brown().words[words:] if word.isalpha()]
    kinds = {
        "words of the page": [draw.choice(known) for _ in range(count)],
        "phrases of them": [_phrase(draw, known) for _ in range(count)],
        "identifiers of them": [_identifier(draw, known) for _ in range(count)],
        "keys with a slip": [_slip(draw, draw.choice(keys)) for _ in range(count)],
        "gibberish": ["".join(draw.choices(ascii_lowercase, k=7)) for _ in range(count)],
    }
    left_out = [draw.choice(rare) for _ in range(count)] if rare else []
    return kinds | ({"words left out of the page": left_out} if rare else {})


def _phrase(draw: random.Random, words: list[str]) -> str:
    return " ".join(draw.sample(words, draw.choice([2, 3])))


def _identifier(draw: random.Random, words: list[str]) -> str:
    first, second = draw.sample(words, 2)
    return draw.choice([f"{first}_{second}", f"{first}{second.title()}"])


def _slip(draw: random.Random, key: str) -> str:
    """Leave a letter out, double it, replace it, or swap it with the next."""
    i, letter = draw.randrange(len(key)), draw.choice(ascii_lowercase)
    before, here, after = key[:i], key[i], key[i + 1 :]
    swapped = before + after[:1] + here + after[1:]
    return draw.choice(
        [before + after, before + here + here + after, before + letter + after, swapped]
    )


def _row(kind: str, queries: list[str], told: list[Any], d: FuzzyDict[Any]) -> list[object]:
    best = [ranked[0] for ranked in d.most_similar(queries, topn=1)]
    same = sum(key == match.key for (key, _, _), match in zip(told, best, strict=True))
    apart = [abs(p - match.score) for (_, p, _), match in zip(told, best, strict=True)]
    near = sum(difference <= _CLOSE for difference in apart)
    ms = median(taken for _, _, taken in told)
    shares = [f"{n / len(queries):.3f}" for n in (same, near)]
    return [kind, len(queries), *shares, f"{max(apart):.4f}", f"{ms:.1f}"]


if __name__ == "__main__":
    main()
