"""What `fit` does to queries that are not among its examples: better, worse, or the same.

Examples are drawn from the queries of a dict, and the others are asked before and after. Small
dicts are joined until there are twice as many queries as examples.

    python -m tests.benchmarks.fit_harm [--examples 5 12 30] [--draws 20] [--validation SHARE]
                                        SET.json...
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzydict import FuzzyDict
from fuzzydict.evaluation import Dictionary, read_sets

from .measuring import print_report

#: Queries, each with the keys that are right, maybe none.
Queries = Mapping[str, set[str]]

_COUNTS = ("right", "wrong", "refused", "answered without a key")
_HEADER = ["set", "examples", "", *_COUNTS, "hit@1", "examples right", "kept", "seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what fit does to others.")
    parser.add_argument("paths", type=Path, nargs="+", help="sets of dicts, JSON files")
    parser.add_argument("--examples", type=int, nargs="+", default=[5, 12, 30])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--validation", type=float, help="as fit takes it; 0 learns from a few")
    given = parser.parse_args()
    rows = []
    for one in read_sets(given.paths):
        for count in given.examples:
            told = {"before": Counter[str](), "after": Counter[str]()}
            kept, seconds = 0, 0.0
            for draw in range(given.draws):
                keys, queries = _joined(one.dictionaries, 2 * count, random.Random(draw))
                order = list(queries)
                random.Random(draw).shuffle(order)
                parts = order[:count], order[count:]
                shown, others = ({query: queries[query] for query in part} for part in parts)
                d = FuzzyDict(dict.fromkeys(keys))
                _tell(d, others, shown, told["before"])
                start = time.perf_counter()
                examples = {query: sorted(right) or None for query, right in shown.items()}
                kept += d.fit(examples, validation=given.validation).kept
                seconds += time.perf_counter() - start
                _tell(d, others, shown, told["after"])
            for when, found in told.items():
                hits = found["hits"] / max(found["present"], 1)
                row = [one.name, count, when, *(found[name] for name in _COUNTS), hits]
                row.append(f"{found['as shown']}/{found['shown']}")
                fit = [f"{kept}/{given.draws}", seconds / given.draws]
                rows.append([*row, *(fit if when == "after" else ["", ""])])
    print_report("Queries that were not among the examples, before and after fit", _HEADER, rows)


def _joined(
    dictionaries: list[Dictionary], size: int, draw: random.Random
) -> tuple[list[str], Queries]:
    """Return the keys and queries of some dicts as those of one, with so many queries or more."""
    keys, queries = dict[str, None](), dict[str, set[str]]()
    for one in draw.sample(dictionaries, len(dictionaries)):
        if len(queries) >= size:
            break
        keys.update(dict.fromkeys(one.keys))
        for query in one.queries:
            queries.setdefault(query.text, set()).update(query.accept)
    return list(keys), {query: right for query, right in queries.items() if query not in keys}


def _tell(d: FuzzyDict[Any], others: Queries, shown: Queries, told: Counter[str]) -> None:
    """Count how the others are answered, and how many of the examples as they are shown."""
    for (best,), right in zip(d.most_similar(list(others), topn=1), others.values(), strict=True):
        told["present"] += bool(right)
        told["hits"] += best.key in right
        if right:
            told["right" if best.key in right else "wrong"] += best.matches
            told["refused"] += not best.matches
        else:
            told["answered without a key"] += best.matches
    for (best,), right in zip(d.most_similar(list(shown), topn=1), shown.values(), strict=True):
        told["as shown"] += (best.matches and best.key in right) if right else not best.matches
    told["shown"] += len(shown)


if __name__ == "__main__":
    main()
