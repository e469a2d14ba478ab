"""How often the first key is right in small dicts as people have them, and at which cutoff.

The set is a JSON file like a retrieval set, in which a query has a ``kind`` as well, and an empty
``accept`` if no key is right.

    python -m tests.benchmarks.everyday [--encoder] everyday.json
    python -m tests.benchmarks.everyday traps.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process, utils

from fuzzydict import FuzzyDict
from fuzzydict.evaluation.evaluate import expected_calibration_error
from fuzzydict.evaluation.systems import ENCODER_NAME, sentence_encoder

from .report import print_report

__all__ = ["main"]

Scored = tuple[str, float]


class System(NamedTuple):
    """What is measured.

    Attributes:
        name: of the system.
        ask: returns the best key and its score for each query.
        cutoffs: those to try.
        is_probability: whether a score claims to be the probability that the key is right.
    """

    name: str
    ask: Callable[[list[str], list[str]], list[Scored]]
    cutoffs: tuple[float, ...]
    is_probability: bool = True


class Answer(NamedTuple):
    """The best key for a query: its score, and whether it is right."""

    kind: str
    present: bool  # whether some key is right
    score: float
    right: bool


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print hit@1 by kind of query, answers by cutoff, and calibration errors."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.everyday", description="Measure everyday queries."
    )
    parser.add_argument("path", type=Path, help="the set, a JSON file")
    parser.add_argument("--encoder", action="store_true", help=f"with {ENCODER_NAME} as well")
    given = parser.parse_args(argv)
    dictionaries = json.loads(given.path.read_text("utf-8"))["dictionaries"]
    answers = {system: list(_answers(system, dictionaries)) for system in _systems(given.encoder)}
    first = next(iter(answers.values()))
    kinds = list(dict.fromkeys(answer.kind for answer in first if answer.present))
    print_report(
        "hit@1 of queries that have a right key",
        ["system", "all", *kinds],
        [_hits(system, found, kinds) for system, found in answers.items()],
    )
    absent = sum(not answer.present for answer in first)
    print_report(
        "Answers by cutoff",
        ["system", "cutoff", "right", "wrong", "refused", f"answered of {absent} without a key"],
        [row for system, found in answers.items() for row in _counts(system, found)],
    )
    print_report(
        "How far scores are from the share that is right, over all queries",
        ["system", "calibration error"],
        [[s.name, _error(found)] for s, found in answers.items() if s.is_probability],
    )


def _systems(encoder: bool) -> Iterator[System]:
    yield System("rapidfuzz WRatio", _by_rapidfuzz, (0.8, 0.9), False)
    yield System("FuzzyDict", _by_dict, (0.02, 0.3, 0.5, 0.9))
    of_english = partial(_by_dict, embedding="english")
    yield System('FuzzyDict, embedding="english"', of_english, (0.02, 0.3, 0.5, 0.9))
    by_spelling = partial(_by_dict, scorer="spelling")
    yield System('FuzzyDict, scorer="spelling"', by_spelling, (0.02, 0.3, 0.5, 0.9))
    if encoder:
        model = sentence_encoder()
        cosine = partial(_by_dict, embedding=model, scorer="cosine")
        yield System(f"{ENCODER_NAME}, cosine", cosine, (0.4, 0.6), False)
        yield System(
            f"FuzzyDict, {ENCODER_NAME}", partial(_by_dict, embedding=model), (0.02, 0.5, 0.9)
        )


def _by_rapidfuzz(keys: list[str], queries: list[str]) -> list[Scored]:
    found = []
    for query in queries:
        [(key, score, _)] = process.extract(
            query, keys, scorer=fuzz.WRatio, processor=utils.default_process, limit=1
        )
        found.append((key, score / 100))
    return found


def _by_dict(keys: list[str], queries: list[str], **options: Any) -> list[Scored]:
    d = FuzzyDict(dict.fromkeys(keys), **options)
    found = d.most_similar(queries, topn=1)  # texts without words have none
    return [(row[0].key, row[0].score) if row else ("", 0.0) for row in found]


def _answers(system: System, dictionaries: list[dict[str, Any]]) -> Iterator[Answer]:
    for dictionary in dictionaries:
        asked = dictionary["queries"]
        found = system.ask(dictionary["keys"], [one["query"] for one in asked])
        for one, (key, score) in zip(asked, found, strict=True):
            yield Answer(one["kind"], bool(one["accept"]), score, key in one["accept"])


def _hits(system: System, found: list[Answer], kinds: list[str]) -> list[object]:
    present = [answer for answer in found if answer.present]
    groups = [present, *([a for a in present if a.kind == kind] for kind in kinds)]
    shares = [sum(answer.right for answer in group) / len(group) for group in groups]
    return [system.name, *(f"{share:.3f}" for share in shares)]


def _counts(system: System, found: list[Answer]) -> Iterator[list[object]]:
    for cutoff in system.cutoffs:
        given = [answer for answer in found if answer.present and answer.score >= cutoff]
        right = sum(answer.right for answer in given)
        refused = sum(answer.present for answer in found) - len(given)
        false = sum(answer.score >= cutoff for answer in found if not answer.present)
        yield [system.name, f"{cutoff:g}", right, len(given) - right, refused, false]


def _error(found: list[Answer]) -> float:
    """Return the calibration error, where the best key of a query without a key is wrong."""
    return expected_calibration_error([a.score for a in found], [a.right for a in found])


if __name__ == "__main__":
    main()
