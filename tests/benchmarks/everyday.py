"""How often the first key is right in small dicts as people have them, and at which cutoff.

The sets are JSON files like retrieval sets, in which a query may have a ``kind`` as well, and an
empty ``accept`` if no key is right. With ``--joins`` the queries of a dict are a frame and its keys
another, which `fuzzydict.join` joins, and skrub's ``fuzzy_join``.

    python -m tests.benchmarks.everyday [--encoder] everyday.json
    python -m tests.benchmarks.everyday tests/benchmarks/near_misses.json
    python -m tests.benchmarks.everyday --joins everyday.json medical.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process, utils

from fuzzydict import FuzzyDict, FuzzyDictError, evaluation, join
from fuzzydict.evaluation import ENCODER_NAME, Dictionary, read_sets

from .measuring import optional, print_report

_CUTOFFS = (0.02, 0.3, 0.5, 0.9)
_REFUSED = ("", -1.0)

Scored = tuple[str, float]


class System(NamedTuple):
    name: str
    ask: Callable[[list[str], list[str]], list[Scored]]  # the best key of each query
    cutoffs: tuple[float, ...]
    is_probability: bool = True  # whether a score claims to be one


class Answer(NamedTuple):
    """The best key for a query: its score, and whether it is right."""

    kind: str
    present: bool  # whether some key is right
    score: float
    right: bool


def main() -> None:
    """Measure and print hit@1 by kind of query, answers by cutoff, and calibration errors."""
    parser = argparse.ArgumentParser(description="Measure everyday queries, or joins.")
    parser.add_argument("paths", metavar="SET", type=Path, nargs="+", help="a JSON file")
    parser.add_argument("--encoder", action="store_true", help=f"with {ENCODER_NAME} as well")
    parser.add_argument("--joins", action="store_true", help="join frames")
    given = parser.parse_args()
    try:
        sets = read_sets(given.paths)
        systems = list(_joins() if given.joins else _systems(given.encoder))
    except (FuzzyDictError, OSError) as error:
        parser.exit(2, f"error: {error}; tests/benchmarks has sets, such as near_misses.json\n")
    for one in sets:
        answers = {system: list(_answers(system, one.dictionaries)) for system in systems}
        if not given.joins:
            _print_hits(one.name, answers)
        absent = sum(not answer.present for answer in answers[systems[0]])
        without = f"answered of {absent} without a key"
        header = ["system", "cutoff", "right", "wrong", "refused", without]
        rows = []
        for system, found in answers.items():
            for cutoff in system.cutoffs:
                sure = [answer for answer in found if answer.score >= cutoff]
                present = [answer for answer in sure if answer.present]
                right = sum(answer.right for answer in present)
                refused = len(found) - absent - len(present)
                counts = right, len(present) - right, refused, len(sure) - len(present)
                rows.append([system.name, f"{cutoff:g}", *counts])
        print_report(f"{one.name}: answers by cutoff", header, rows)


def _systems(encoder: bool) -> Iterator[System]:
    yield System("rapidfuzz WRatio", _by_rapidfuzz, (0.8, 0.9), False)
    yield System("FuzzyDict", _by_dict, _CUTOFFS)
    for name, value in (("embedding", "english"), ("scorer", "spelling")):
        option: dict[str, Any] = {name: value}
        yield System(f'FuzzyDict, {name}="{value}"', partial(_by_dict, **option), _CUTOFFS)
    if encoder:
        model = evaluation.sentence_encoder()
        of_model = partial(_by_dict, embedding=model)
        cosine = partial(of_model, scorer="cosine")
        yield System(f"{ENCODER_NAME}, cosine", cosine, (0.4, 0.6), False)
        yield System(f"FuzzyDict, {ENCODER_NAME}", of_model, (0.02, 0.5, 0.9))


def _joins() -> Iterator[System]:
    for cutoff in (0.0, *_CUTOFFS[1:]):
        ours = partial(_by_join, partial(join, on="text", score_cutoff=cutoff))
        yield System(f"fuzzydict.join, score_cutoff={cutoff:g}", ours, (0.0,))
    if (skrub := optional("skrub")) is not None:
        theirs = partial(skrub.fuzzy_join, on="text", suffix="_right")  # it refuses nothing
        yield System("skrub.fuzzy_join", partial(_by_join, theirs), (0.0,))
        for most in (0.9, 0.8, 0.7, 0.5):
            refusing = partial(_by_join, partial(theirs, max_dist=most))
            yield System(f"skrub.fuzzy_join, max_dist={most:g}", refusing, (0.0,))


def _by_rapidfuzz(keys: list[str], queries: list[str]) -> list[Scored]:
    options: dict[str, Any] = {"scorer": fuzz.WRatio, "processor": utils.default_process}
    found = [process.extract(query, keys, **options, limit=1) for query in queries]
    return [(key, score / 100) for [(key, score, _)] in found]


def _by_dict(keys: list[str], queries: list[str], **options: Any) -> list[Scored]:
    d = FuzzyDict(dict.fromkeys(keys), **options)
    found = d.most_similar(queries, topn=1)  # texts without words have none
    return [(row[0].key, row[0].score) if row else _REFUSED for row in found]


def _by_join(join_frames: Callable[..., Any], keys: list[str], queries: list[str]) -> list[Scored]:
    import pandas as pd

    left, right = pd.DataFrame({"text": queries}), pd.DataFrame({"text": keys})
    found = join_frames(left, right)["text_right"]
    return [_REFUSED if no else (key, 1) for key, no in zip(found, found.isna(), strict=True)]


def _answers(system: System, dictionaries: list[Dictionary]) -> Iterator[Answer]:
    for keys, queries in dictionaries:
        asked = {query.text: query for query in queries}
        found = system.ask(keys, list(asked))
        for query, (key, score) in zip(asked.values(), found, strict=True):
            yield Answer(query.kind, bool(query.accept), score, key in query.accept)


def _print_hits(name: str, answers: dict[System, list[Answer]]) -> None:
    """Print hit@1 by kind, and how well the scores that are probabilities are calibrated."""
    (first, *_), rows = answers.values(), []
    kinds = list(dict.fromkeys(answer.kind for answer in first if answer.present))
    for system, found in answers.items():
        present = [answer for answer in found if answer.present]
        groups = [present, *([a for a in present if a.kind == kind] for kind in kinds)]
        shares = [sum(answer.right for answer in group) / len(group) for group in groups]
        scores = [max(answer.score, 0.0) for answer in found]
        error = evaluation.expected_calibration_error(scores, [answer.right for answer in found])
        rows.append([system.name, *shares, error if system.is_probability else None])
    print_report(f"{name}: hit@1", ["system", "all", *kinds, "calibration error"], rows)


if __name__ == "__main__":
    main()
