"""Dicts and examples that several tests of learning share."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict
from fuzzydict.cli.demos.performance import EXAMPLES as EXAMPLES
from fuzzydict.cli.demos.performance import SPORT as SPORT

SPECIFICATIONS = [*SPORT, "color", "brand", "model", "price", "seats", "doors", "weight", "year"]
CAR = ["color", "price", "brand", "model", "battery", "top speed"]
FOUND = {
    **dict.fromkeys(["paint", "shade", "tint"], "color"),
    **dict.fromkeys(["cost", "expense", "expensive", "fee"], "price"),
    **dict.fromkeys(["velocity", "fast", "pace"], "top speed"),
    **dict.fromkeys(["design", "type", "version"], "model"),
}
#: What is found, and texts of equal words that shall find the next key: each misleads the other.
AT_ODDS = {f"{word}.": key for word, key in FOUND.items()} | {
    f"{word}!": CAR[(CAR.index(key) + 1) % len(CAR)] for word, key in FOUND.items()
}


def car(**options: Any) -> FuzzyDict[int]:
    return FuzzyDict({key: i for i, key in enumerate(SPECIFICATIONS)}, **options)


def names(count: int, letter: str, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    letters = list(string.ascii_lowercase)
    return [f"{letter}{''.join(random.choice(letters, 9))}" for _ in range(count)]


def turned(
    count: int, queries: int, size: int, noise: float = 0.1
) -> tuple[list[str], list[str], list[int], dict[str, Any]]:
    """Return keys, queries, which key each query is of, and vectors in two spaces."""
    random = np.random.default_rng(7)
    keys, asked = names(count, "k", 1), names(queries, "q", 2)
    vectors = random.standard_normal((count, size))
    turn = np.linalg.qr(random.standard_normal((size, size)))[0]
    of = [i % count for i in range(queries)]
    seen = vectors[of] @ turn + noise * random.standard_normal((queries, size))
    of_texts = dict(zip([*keys, *asked], [*vectors, *seen], strict=True))
    return keys, asked, of, of_texts
