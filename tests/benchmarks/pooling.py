"""What the default temperature and the default cutoff do.

The weight that an exact key takes among 1,000 keys, by temperature; and, for retrieval sets, the
share of right answers that a cutoff loses beside the share of random letter strings it refuses.

    python -m tests.benchmarks.pooling [FILE or FOLDER]... [--seeds N]
"""

from __future__ import annotations

import argparse
import math
import random
import string
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict import Brown, FuzzyDict, FuzzyDictError, NoMatchError
from fuzzydict.evaluation.datasets import Dictionary, RetrievalSet, read_sets
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.score import JudgedScore

from .report import print_report

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["main"]

_TEMPERATURES = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
_CUTOFFS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_KEYS = 1000
_BLOCK = 100  # queries attended to at a time
_STRINGS = 200  # random ones, for each dictionary
_SHORTEST, _LONGEST = 4, 10


def main(argv: Sequence[str] | None = None, *, keys: int = _KEYS) -> None:
    """Measure and print both tables; the second only if retrieval sets are given."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.pooling",
        description="Measure what the default temperature and the default cutoff do.",
    )
    parser.add_argument("sets", metavar="FILE or FOLDER", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=5, help="draws of keys; 5 by default")
    options = parser.parse_args(argv)
    if options.seeds < 1:
        parser.error(f"--seeds: 1 or more, got {options.seeds}")
    try:
        sets = read_sets(options.sets)
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    _report_weights(options.seeds, keys)
    if sets:
        _report_cutoffs(sets)


# ---- temperature --------------------------------------------------------------------------


def _report_weights(seeds: int, keys: int) -> None:
    words = Brown().words
    draws = [random.Random(seed).sample(words, min(keys, len(words))) for seed in range(seeds)]
    temperatures = sorted({*_TEMPERATURES, JudgedScore.temperature})
    weights = np.hstack([_own_weights(draw, temperatures) for draw in draws])
    rows = [
        [
            _marked(temperature, JudgedScore.temperature),
            *(float(np.quantile(row, share)) for share in (0, 0.01, 0.5)),
            float((row >= 0.9).mean()),
        ]
        for temperature, row in zip(temperatures, weights, strict=True)
    ]
    print_report(
        f"The weight of an exact key among {len(draws[0])} keys drawn from the {len(words)} "
        f"shipped words, each asked for in turn, {seeds} draws",
        ["temperature", "minimum", "1 % quantile", "median", "share with 0.9 or more"],
        rows,
    )


def _own_weights(keys: list[str], temperatures: Sequence[float]) -> NDArray[np.float64]:
    """Return the weight of each key when it is itself the query, (T, S)."""
    d = FuzzyDict(dict.fromkeys(keys, 0.0))
    own = []
    for start in range(0, len(keys), _BLOCK):
        queries = keys[start : start + _BLOCK]
        scores = np.stack([attention.scores for attention in d.attend(queries)])
        place = np.arange(len(queries))
        own.append([softmax(scores, t)[place, start + place] for t in temperatures])
    return np.asarray(np.hstack(own), np.float64)


# ---- cutoff -------------------------------------------------------------------------------


def _report_cutoffs(sets: Sequence[RetrievalSet]) -> None:
    right = [_scores_of_right_answers(one) for one in sets]
    noise = _scores_of_noise(dictionary for one in sets for dictionary in one.dictionaries)
    rows = [
        [
            _marked(cutoff, JudgedScore.score_cutoff),
            *(_below(cutoff, scores) for scores in right),
            _below(cutoff, np.concatenate(right)),
            _below(cutoff, noise),
        ]
        for cutoff in sorted({*_CUTOFFS, JudgedScore.score_cutoff})
    ]
    lost = [f"{one.name} ({len(scores)})" for one, scores in zip(sets, right, strict=True)]
    print_report(
        "By cutoff: of the right answers, how many each set has in brackets, the share that is "
        f"lost; and of {len(noise)} strings of {_SHORTEST} to {_LONGEST} random letters, the "
        "share that is refused",
        ["cutoff", *lost, "all lost", "random letters refused"],
        rows,
    )


def _below(cutoff: float, scores: NDArray[np.float64]) -> float:
    return float((scores < cutoff).mean()) if len(scores) else math.nan


def _scores_of_right_answers(one: RetrievalSet) -> NDArray[np.float64]:
    """Return the scores of the nearest keys that are accepted, (n,)."""
    return np.array(
        [
            match.score
            for dictionary in one.dictionaries
            for query, match in zip(
                dictionary.queries,
                _nearest(dictionary, [query.text for query in dictionary.queries]),
                strict=True,
            )
            if match is not None and match.key in query.accept
        ],
        np.float64,
    )


def _scores_of_noise(dictionaries: Iterable[Dictionary]) -> NDArray[np.float64]:
    """Return the scores of the keys nearest to random letter strings, (n,)."""
    rng = random.Random(0)
    scores = []
    for dictionary in dictionaries:
        texts = [_random_letters(rng) for _ in range(_STRINGS)]
        scores += [match.score for match in _nearest(dictionary, texts)]
    return np.array(scores, np.float64)


def _random_letters(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(_SHORTEST, _LONGEST)))


def _nearest(dictionary: Dictionary, queries: Iterable[str]) -> list[Any]:
    """Return the nearest match of each query, whatever its score; None without any."""
    d = FuzzyDict(dict.fromkeys(dictionary.keys), score_cutoff=-math.inf)
    found = []
    for query in queries:
        try:
            found.append(d.nearest(query))
        except NoMatchError:
            found.append(None)
    return found


def _marked(number: float, default: float) -> str:
    return f"**{number:g}** (default)" if number == default else f"{number:g}"


if __name__ == "__main__":
    main()
