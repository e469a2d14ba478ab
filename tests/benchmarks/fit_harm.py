"""What `fit` does to queries that are not among its examples: better, worse, or the same.

Examples are drawn from the queries of a dict, and the others are asked before and after, at the
default cutoff or another. Small dicts are joined until there are twice as many queries as examples.

    python -m tests.benchmarks.fit_harm [--examples 5 12 30] [--draws 20] [--cutoff C]
        [--validation SHARE] SET.json...
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fuzzydict import FuzzyDict

from .report import print_report

__all__ = ["main"]

#: Queries, each with the keys that are right, maybe none.
Queries = Mapping[str, set[str]]


class Joined(NamedTuple):
    """The keys of one or several dicts, and their queries."""

    keys: dict[str, None]
    queries: dict[str, set[str]]


class Counts(NamedTuple):
    """How many queries were answered right, wrong or not at all, and had a right key first."""

    right: int
    wrong: int
    refused: int
    false: int  # answered, though no key is right
    hits: int

    def plus(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Side(NamedTuple):
    """Counts before or after `fit`, and how many of its examples were answered as shown."""

    others: Counts = Counts(0, 0, 0, 0, 0)
    as_shown: int = 0

    def plus(self, d: FuzzyDict[Any], others: Queries, shown: Queries) -> Side:
        counts = _counts(d, shown)
        as_shown = counts.right + sum(not keys for keys in shown.values()) - counts.false
        return Side(self.others.plus(_counts(d, others)), self.as_shown + as_shown)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.fit_harm", description="Measure what fit does to others."
    )
    parser.add_argument("paths", type=Path, nargs="+", help="sets of dicts, JSON files")
    parser.add_argument("--examples", type=int, nargs="+", default=[5, 12, 30])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--cutoff", type=float, help="by default that of the dict")
    parser.add_argument("--validation", type=float, help="as fit takes it; 0 learns from a few")
    given = parser.parse_args(argv)
    print_report(
        "Queries that were not among the examples, before and after fit",
        [
            *("set", "examples", "", "right", "wrong", "refused", "answered without a key"),
            *("hit@1", "examples right", "kept", "seconds"),
        ],
        [
            row
            for path in given.paths
            for count in given.examples
            for row in _rows(path, count, given)
        ],
    )


def _rows(path: Path, count: int, given: argparse.Namespace) -> Iterator[list[object]]:
    draws = given.draws
    dictionaries = json.loads(path.read_text("utf-8"))["dictionaries"]
    before, after, asked, kept, seconds = Side(), Side(), 0, 0, 0.0
    for draw in range(draws):
        keys, queries = _joined(dictionaries, 2 * count, random.Random(draw))
        order = list(queries)
        random.Random(draw).shuffle(order)
        shown, others = ({q: queries[q] for q in part} for part in (order[:count], order[count:]))
        d = FuzzyDict(keys, score_cutoff=given.cutoff)
        before = before.plus(d, others, shown)
        start = time.perf_counter()
        examples = {query: sorted(right) or None for query, right in shown.items()}
        kept += d.fit(examples, validation=given.validation).kept
        seconds += time.perf_counter() - start
        after, asked = after.plus(d, others, shown), asked + len(shown)
    for when, (counts, as_shown) in (("before", before), ("after", after)):
        right, wrong, refused, false, hits = counts
        row = [path.stem, count, when, right, wrong, refused, false]
        row += [f"{hits / max(right + wrong + refused, 1):.3f}", f"{as_shown}/{asked}"]
        yield row + ([f"{kept}/{draws}", f"{seconds / draws:.2f}"] if when == "after" else ["", ""])


def _joined(dictionaries: list[dict[str, Any]], size: int, draw: random.Random) -> Joined:
    """Return some dicts as one, with so many queries or more."""
    joined = Joined({}, {})
    for one in draw.sample(dictionaries, len(dictionaries)):
        if len(joined.queries) >= size:
            break
        joined.keys.update(dict.fromkeys(one["keys"]))
        for query in one["queries"]:
            joined.queries.setdefault(query["query"], set()).update(query["accept"])
    for key in joined.keys:
        joined.queries.pop(key, None)
    return joined


def _counts(d: FuzzyDict[Any], queries: Queries) -> Counts:
    answers = list(zip(d.most_similar(list(queries), topn=1), queries.values(), strict=True))
    first = [(best.matches, best.key in right) for (best,), right in answers if right]
    return Counts(
        right=sum(matches and hit for matches, hit in first),
        wrong=sum(matches and not hit for matches, hit in first),
        refused=sum(not matches for matches, _ in first),
        false=sum(best.matches for (best,), right in answers if not right),
        hits=sum(hit for _, hit in first),
    )


if __name__ == "__main__":
    main()
