"""A fuzz run: strange keys and queries, none of which may raise what is not expected.

    python -m tests.benchmarks.fuzz [--seed 1] [--count 100000]

Half of ``count`` are keys that are written, half are queries. Any exception but `NoMatchError`
ends the run, and names the seed and the query.
"""

from __future__ import annotations

import argparse
import random
import unicodedata
from dataclasses import dataclass
from typing import Any

from fuzzydict import FuzzyDict, Match, NoMatchError
from fuzzydict.text.words import plain

__all__ = ["run"]

_KEYS = 50  # of one dict
_RANGES = [
    *((0x20, 0x7F), (0x00, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700)),
    *((0x900, 0xE00), (0x1100, 0x1200), (0x2000, 0x2070), (0x2070, 0x2C00), (0x3000, 0x3100)),
    *((0x4E00, 0x4F00), (0xAC00, 0xAD00), (0xD800, 0xE000), (0xE000, 0xE010), (0xFB00, 0xFE00)),
    *((0xFE00, 0x10000), (0x1D400, 0x1D500), (0x1F1E6, 0x1F700), (0xE0000, 0xE01F0)),
    (0x0, 0x110000),
]
_PIECES = ["color", "colour", "topSpeed", "top_speed", "Größe", "don't", " ", "", "_", "👍"]
_PIECES += ["\u200b"]
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True)
class Report:
    """How many texts there were, how many queries matched a key, and how many did not."""

    count: int
    matched: int
    unmatched: int


def run(seed: int, count: int) -> Report:
    """Write and ask for ``count`` texts in all; raise what was not expected."""
    chance, left, matched, unmatched = random.Random(seed), count, 0, 0
    while left > 0:
        size = min(_KEYS, left // 2)
        d = FuzzyDict({_strange_text(chance): i for i in range(size)})
        queries = [_query(d, chance) for _ in range(left - size if left < 2 * _KEYS else size)]
        for query in queries:
            try:
                found = _asked(d, query)
            except Exception as error:
                raise RuntimeError(f"seed {seed}: {query!r} of {list(d)!r}") from error
            matched, unmatched = matched + found, unmatched + (not found)
        left -= size + len(queries)
    return Report(count, matched, unmatched)


def _strange_text(chance: random.Random) -> str:
    """Return a text of pieces, ranges of Unicode, repeats and normal forms."""
    parts = []
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 5])):
        if chance.random() < 0.4:
            parts.append(chance.choice(_PIECES))
        else:
            low, high = chance.choice(_RANGES)
            size = chance.choice([1, 2, 3, 8])
            parts.append("".join(chr(chance.randrange(low, high)) for _ in range(size)))
    text = "".join(parts) * chance.choice([1] * 30 + [2, 40, 400])
    form: Any = chance.choice(_FORMS)
    return unicodedata.normalize(form, text) if chance.random() < 0.2 else text


def _query(d: FuzzyDict[int], chance: random.Random) -> str:
    """Return a strange text, or a key, or a key to which something was done."""
    text = _strange_text(chance)
    if not d or chance.random() < 0.4:
        return text
    key: str = chance.choice(list(d))
    place = chance.randrange(len(key) + 1)
    return chance.choice([key, key[:place] + text + key[place:], key[:place] + key[place + 1 :]])


def _asked(d: FuzzyDict[int], query: str) -> bool:
    """Ask in every way; return whether a key matched. What the answers share is asserted."""
    try:
        match = d.nearest(query)
    except NoMatchError:
        assert query not in d, "an equal key was not found"
        assert d.get(query) is None, "get answers otherwise"
        return False
    assert query not in d or match == Match(query, dict.__getitem__(d, query), 1.0)
    assert d[query] == d.get(query) == match.value == dict.__getitem__(d, match.key)
    if plain(query):
        best = d.most_similar(query, topn=1)[0]
        alike = best.key == match.key and abs(best.score - match.score) < 1e-5
        assert query in d or alike, "the best is another"  # an equal key is certain
        assert abs(d.attend(query).weights.sum() - 1) < 1e-5
    return True


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Ask for strange texts.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000)
    options = parser.parse_args()
    print(f"fuzz: seed {options.seed}, {run(options.seed, options.count)}")


if __name__ == "__main__":
    main()
