"""How often the first key is right in small dicts as people have them, and at which cutoff.

The set is a JSON file like a retrieval set, in which a query has a ``kind`` as well, and an empty
``accept`` if no key is right.

    python -m tests.benchmarks.everyday [--encoder] everyday.json
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process, utils

from fuzzydict import FuzzyDict
from fuzzydict.evaluation.systems import ENCODER_NAME, sentence_encoder

from .report import print_report

__all__ = ["main"]


class Answer(NamedTuple):
    """The best key for a query: its score, and whether it is right."""

    kind: str
    present: bool  # whether some key is right
    score: float
    right: bool


class System(NamedTuple):
    """What is measured: the best key and its score for each query, and the cutoffs to try."""

    ask: Callable[[list[str], list[str]], list[tuple[str, float]]]
    cutoffs: tuple[float, ...]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print two tables: hit@1 by kind of query, and answers by cutoff."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.everyday", description="Measure everyday queries."
    )
    parser.add_argument("path", type=Path, help="the set, a JSON file")
    parser.add_argument("--encoder", action="store_true", help=f"with {ENCODER_NAME} as well")
    given = parser.parse_args(argv)
    dictionaries = json.loads(given.path.read_text("utf-8"))["dictionaries"]
    answers = {
        name: list(_answers(system, dictionaries))
        for name, system in _systems(given.encoder).items()
    }
    _print_kinds(answers)
    _print_cutoffs(answers, _systems(given.encoder))


def _systems(encoder: bool) -> dict[str, System]:
    systems = {
        "rapidfuzz WRatio": System(_by_rapidfuzz, (0.8, 0.9)),
        "FuzzyDict": System(_by_dict, (0.02, 0.3, 0.5, 0.9)),
    }
    if encoder:
        model = sentence_encoder()
        cosine = partial(_by_dict, embedding=model, scorer="cosine")
        systems[f"{ENCODER_NAME}, cosine"] = System(cosine, (0.4, 0.6))
        joined = partial(_by_dict, embedding=model)
        systems[f"FuzzyDict, {ENCODER_NAME}"] = System(joined, (0.02, 0.5))
    return systems


def _by_rapidfuzz(keys: list[str], queries: list[str]) -> list[tuple[str, float]]:
    found, clean = [], utils.default_process
    for query in queries:
        key, score, _ = process.extractOne(query, keys, scorer=fuzz.WRatio, processor=clean)
        found.append((key, score / 100))
    return found


def _by_dict(keys: list[str], queries: list[str], **options: Any) -> list[tuple[str, float]]:
    ranked = FuzzyDict(dict.fromkeys(keys), **options)
    return [(best.key, best.score) for (best,) in ranked.most_similar(queries, topn=1)]


def _answers(system: System, dictionaries: list[dict[str, Any]]) -> Iterator[Answer]:
    for dictionary in dictionaries:
        asked = dictionary["queries"]
        found = system.ask(dictionary["keys"], [one["query"] for one in asked])
        for one, (key, score) in zip(asked, found, strict=True):
            yield Answer(one["kind"], bool(one["accept"]), score, key in one["accept"])


def _print_kinds(answers: Mapping[str, list[Answer]]) -> None:
    rows, kinds = [], list(dict.fromkeys(a.kind for a in next(iter(answers.values())) if a.present))
    for name, found in answers.items():
        hits = defaultdict(list)
        for answer in found:
            if answer.present:
                hits["all"].append(answer.right)
                hits[answer.kind].append(answer.right)
        rows.append([name, *(f"{sum(hits[k]) / len(hits[k]):.3f}" for k in ["all", *kinds])])
    print_report("hit@1 of queries with a right key", ["system", "all", *kinds], rows)


def _print_cutoffs(answers: Mapping[str, list[Answer]], systems: Mapping[str, System]) -> None:
    rows = []
    for name, found in answers.items():
        present = [answer for answer in found if answer.present]
        absent = [answer for answer in found if not answer.present]
        for cutoff in systems[name].cutoffs:
            given = [answer for answer in present if answer.score >= cutoff]
            right = sum(answer.right for answer in given)
            false = sum(answer.score >= cutoff for answer in absent)
            counts = [right, len(given) - right, len(present) - len(given), false]
            rows.append([name, cutoff, *counts])
    header = ["system", "cutoff", "right", "wrong", "refused", f"answered of {len(absent)} absent"]
    print_report("Answers by cutoff", header, rows)


if __name__ == "__main__":
    main()
