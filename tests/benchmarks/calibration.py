"""Fits the weights of the default score, and shows what its probabilities and cutoff are worth.

The questions are made from codespell's lists and from WordNet, less what is excluded: to
dictionaries of words drawn at random, and to small ones of one field. To these come the questions
of `everyday_questions.json`, written by hand for dictionaries of 44 fields. Half of the
dictionaries are fitted on, and the other half is measured.

    python -m tests.benchmarks.calibration [--exclude FILE...] [--measured FILE...] [--encoder]
"""

from __future__ import annotations

import argparse
import json
import random
import string
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzzydict import Brown, FuzzyDictError
from fuzzydict.embedding.base import Embedding
from fuzzydict.embedding.calibration import Calibration, Evidence
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.projections import NAMES, as_projections, with_projections
from fuzzydict.evaluation.datasets import Dictionary, RetrievalSet, read_sets
from fuzzydict.evaluation.datasets import Query as AskedQuery
from fuzzydict.evaluation.evaluate import auroc, expected_calibration_error, shown_command
from fuzzydict.evaluation.systems import sentence_encoder
from fuzzydict.search.features import Query, encode
from fuzzydict.search.key_index import Keys
from fuzzydict.search.score import DefaultScore, log_odds, log_probabilities

from .development import pairs_in, pairs_of, pairs_of_query
from .fields import FIELD_KINDS, field_sets
from .likelihood import Question, calibrate
from .questions import KINDS, question_sets
from .report import print_report

__all__ = ["main"]

_COMMAND = "python -m tests.benchmarks.calibration"
_CUTOFFS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 0.9)
_WEIGHTS = {**KINDS, **FIELD_KINDS}
_MOST = 100  # queries of a kind, drawn at random
_EVERYDAY = "everyday"
_OF_EVERYDAY = 1.0  # what everyday questions count, where all others together count 1
_GIBBERISH, _NOISE = 300, 0.5  # queries of random letters, and what all of them count
_MANY, _LARGE = 1000, 3.0  # so many keys are the harder case, of which there are few dictionaries
# Where the fit starts: spelling that must be close, meaning that says little.
_START = Calibration(
    known=Evidence((-5, 9, 0.5, 0), (-5, 0, 1, 0), (-4, 10, 0.2, 0)),
    unknown=Evidence((-7, 17, 0, 0), (-7, 0, 1, 0), (-3, 13, 0, 0)),
    growth=0.7,
)


class Asked(NamedTuple):
    """A question, and what it was made from."""

    question: Question
    kind: str
    is_fitted: bool


class Best(NamedTuple):
    """The best score of each of n queries, (n,), and whether its key is right, (n,)."""

    scores: np.ndarray[Any, np.dtype[np.float64]]
    right: np.ndarray[Any, np.dtype[np.bool_]]


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, and print the weights and what they are worth."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        sets = _sets(pairs_of(read_sets(options.exclude)), pairs_in(options.measured))
        embedding = _embedding(options)
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    asked = [question for one in sets for question in _asked(_some(one), embedding)]
    asked += _everyday(embedding, sum(one.question.weight for one in asked))
    noise = _gibberish(sets, embedding, seed=2)
    start = replace(_START, reach=embedding.calibration.reach)
    fitted = [*(a.question for a in asked if a.is_fitted), *noise]
    if options.encoder:  # the same line of meaning for all words
        meaning = start.known.meaning
        start = replace(start, unknown=replace(start.unknown, meaning=meaning), nesting=0.5)
    calibration = calibrate(
        fitted, start, with_growth=True, with_nesting=True, of_texts=options.encoder
    )

    for name in ("known", "unknown"):
        print(f"{name}={_rounded(getattr(calibration, name))},")
    print(f"growth={calibration.growth:.2f},")
    print(f"nesting={calibration.nesting:.2f},")
    held_out = [a for a in asked if not a.is_fitted]
    command = shown_command(*_COMMAND.split(), *_shown(options))
    print_report(
        f"What the score is worth on the other half of the questions. Made by `{command}`",
        ("questions", "queries", "hit@1", "AUROC", "calibration error"),
        [
            _worth(kind, [a for a in held_out if a.kind == kind], calibration)
            for kind in (*_WEIGHTS, _EVERYDAY)
        ]
        + [_worth("all", held_out, calibration)],
    )
    print_report(
        "What a cutoff costs: shares of the best keys that it refuses",
        ("cutoff", "right", "wrong, a right key is there", "wrong, none is", "gibberish"),
        _cutoffs(held_out, calibration, _gibberish(sets, embedding, seed=1)),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_COMMAND,
        description="Fit the weights of the default score.",
    )
    parser.add_argument(
        "--exclude",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="retrieval sets (or folders of them) whose pairs are not asked, in either direction",
    )
    parser.add_argument(
        "--measured",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="more sets (or folders) whose pairs are not asked, left out of the finished questions",
    )
    parser.add_argument(
        "--projections",
        choices=NAMES,
        default="english",
        help="what the vectors are seen through",
    )
    parser.add_argument(
        "--english", action="store_true", help="fit the weights for the table of words alone"
    )
    parser.add_argument(
        "--encoder", action="store_true", help="fit the weights for a sentence encoder"
    )
    return parser


def _shown(options: argparse.Namespace) -> list[str | Path]:
    exclude = ["--exclude", *options.exclude] if options.exclude else []
    exclude += ["--measured", *options.measured] if options.measured else []
    seen = [] if options.projections == "english" else ["--projections", options.projections]
    of = [f"--{name}" for name in ("encoder", "english") if getattr(options, name)]
    return [*exclude, *seen, *of]


def _sets(
    excluded: set[frozenset[str]], measured: Collection[frozenset[str]]
) -> list[RetrievalSet]:
    sets = list(question_sets(excluded))
    # The projections were learned without the pairs of these.
    synonyms = pairs_of(one for one in sets if one.name in ("synonyms", "phrases"))
    return [_without(one, measured) for one in (*sets, *field_sets(excluded, synonyms))]


def _some(one: RetrievalSet) -> RetrievalSet:
    """Return a set with at most `_MOST` of its queries."""
    rng, share = random.Random(1), _MOST / len(one.queries)
    some = [
        Dictionary(keys, [query for query in queries if rng.random() < share])
        for keys, queries in one.dictionaries
    ]
    return RetrievalSet(one.name, [dictionary for dictionary in some if dictionary.queries])


def _everyday(embedding: Embedding, others: float) -> Iterable[Asked]:
    """Yield the everyday questions; every second dictionary is fitted on."""
    given = json.loads((Path(__file__).parent / "everyday_questions.json").read_text("utf-8"))
    dictionaries = given["dictionaries"]
    weight = _OF_EVERYDAY * others / sum(len(one["queries"]) for one in dictionaries)
    for i, one in enumerate(dictionaries):
        queries = [AskedQuery(q["query"], frozenset(q["accept"])) for q in one["queries"]]
        for question in _questions(Dictionary(one["keys"], queries), embedding, weight):
            yield Asked(question._replace(absent=False), _EVERYDAY, i % 2 == 0)


def _without(one: RetrievalSet, pairs: Collection[frozenset[str]]) -> RetrievalSet:
    """Return a set without the queries that ask one of the pairs."""
    dictionaries = []
    for keys, queries in one.dictionaries:
        some = [q for q in queries if pairs_of_query(q).isdisjoint(pairs)]
        if some:
            dictionaries.append(Dictionary(keys, some))
    return RetrievalSet(one.name, dictionaries)


def _embedding(options: argparse.Namespace) -> Embedding:
    if options.encoder:
        return as_embedding(sentence_encoder())
    if options.english:
        return as_embedding("english")
    return with_projections(Brown(), as_projections(options.projections))


def _asked(one: RetrievalSet, embedding: Embedding) -> Iterable[Asked]:
    """Yield the questions of a set, of which those of about half the dictionaries are fitted on."""
    weight = _WEIGHTS[one.name] / len(one.queries)
    for dictionary in one.dictionaries:
        # By its keys, since dictionaries of a field are asked questions of several kinds.
        is_fitted = sum(map(len, dictionary.keys)) % 2 == 0
        times = _LARGE if len(dictionary.keys) >= _MANY else 1.0
        for question in _questions(dictionary, embedding, times * weight):
            # Without the word, the phrase of it that is beside it would be right. What is asked
            # of a field has absent keys already.
            is_twice = "beside" not in one.name and one.name not in FIELD_KINDS
            yield Asked(question._replace(absent=is_twice), one.name, is_fitted)


def _questions(
    dictionary: Dictionary, embedding: Embedding, weight: float = 1.0
) -> Iterable[Question]:
    keys = Keys.of(embedding, list(dictionary.keys), *embedding.encode_with_trust(dictionary.keys))
    queries = [Query.of(query.text, embedding) for query in dictionary.queries]
    encode(queries, embedding)
    features = DefaultScore().features(queries, keys)
    for i, (query, asked) in enumerate(zip(queries, dictionary.queries, strict=True)):
        slots = sorted(keys.slots.get(key, -1) for key in asked.accept)
        yield Question(features.of([i]), query.known, np.array(slots, np.intp), weight)


def _gibberish(sets: Sequence[RetrievalSet], embedding: Embedding, seed: int) -> list[Question]:
    """Return questions of random letters to the dictionaries, small and large; no key is right."""
    rng = random.Random(seed)
    every = [dictionary for one in sets for dictionary in one.dictionaries]
    questions = list[Question]()
    for dictionary in rng.sample(every, min(_GIBBERISH, len(every))):
        text = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 10)))
        asked = dictionary.queries[0]._replace(text=text, accept=frozenset())
        weight = _NOISE / _GIBBERISH
        questions.extend(_questions(dictionary._replace(queries=[asked]), embedding, weight))
    return questions


def _best(questions: Iterable[Question], calibration: Calibration, *, gone: bool = False) -> Best:
    scores, right = list[float](), list[bool]()
    for question in questions:
        (odds,) = log_odds(question.features, [question.known], calibration)
        if gone:
            odds[question.right] = -np.inf
        logs = log_probabilities(odds, calibration.growth, nesting=calibration.nesting)
        scores.append(float(np.exp(logs.max())))
        right.append(not gone and int(logs.argmax()) in question.right)
    return Best(np.array(scores), np.array(right))


def _worth(kind: str, asked: Sequence[Asked], calibration: Calibration) -> list[object]:
    here = _best([a.question for a in asked], calibration)
    gone = _best([a.question for a in asked if a.question.absent], calibration, gone=True)
    error = expected_calibration_error(
        [*here.scores.tolist(), *gone.scores.tolist()], [*here.right.tolist(), *gone.right.tolist()]
    )
    hits = float(here.right.mean())
    parted = auroc(here.scores.tolist(), gone.scores.tolist()) if len(gone.scores) else None
    return [kind, len(asked), hits, parted, error]


def _cutoffs(
    asked: Sequence[Asked], calibration: Calibration, gibberish: Sequence[Question]
) -> list[list[object]]:
    questions = [a.question for a in asked if a.question.absent]
    here, gone = (_best(questions, calibration, gone=gone) for gone in (False, True))
    weights = np.array([question.weight for question in questions])
    noise = _best(gibberish, calibration).scores

    def refused(scores: Any, weights: Any, cutoff: float) -> float:
        return float(weights[scores < cutoff].sum() / weights.sum())

    return [
        [
            str(cutoff),
            refused(here.scores[here.right], weights[here.right], cutoff),
            refused(here.scores[~here.right], weights[~here.right], cutoff),
            refused(gone.scores, weights, cutoff),
            float((noise < cutoff).mean()),
        ]
        for cutoff in _CUTOFFS
    ]


def _rounded(evidence: Evidence) -> Evidence:
    return Evidence(*(tuple(round(w, 2) for w in getattr(evidence, name)) for name in _NAMES))


_NAMES = ("spelling", "meaning", "words")


if __name__ == "__main__":
    main()
