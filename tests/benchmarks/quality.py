"""How often the nearest key is right, and how well the vectors agree with people.

hit@1 of FuzzyDict as shipped, without a cutoff, beside difflib and rapidfuzz on retrieval sets;
and Spearman's rank correlation of the vectors' cosines with WordSim-353 and SimLex-999.

    python -m tests.benchmarks.quality [FILE or FOLDER]... [--embedding PATH]
        [--projections NAME or PATH]
"""

from __future__ import annotations

import argparse
import difflib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from rapidfuzz import fuzz, process

from fuzzydict import Brown, FuzzyDict, FuzzyDictError, NoMatchError, WordVectors

from .measures import (
    Dictionary,
    JudgedPair,
    RetrievalSet,
    hit_at_1,
    rank_correlation,
    read_sets,
    similarity_pairs,
)
from .projected import Projected, open_projections
from .report import print_report

__all__ = ["main"]

#: Answers a query with a key, or with None.
Lookup = Callable[[str], str | None]
#: Makes a lookup of keys.
Method = Callable[[Sequence[str]], Lookup]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print both tables; the first only if retrieval sets are given."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.quality",
        description="Measure hit@1 on retrieval sets, and rank correlation with people.",
    )
    parser.add_argument("sets", metavar="FILE or FOLDER", nargs="*", type=Path)
    parser.add_argument(
        "--embedding", metavar="PATH", type=Path, help="saved vectors, instead of those shipped"
    )
    parser.add_argument(
        "--projections", metavar="NAME or PATH", help="project queries and keys before comparing"
    )
    options = parser.parse_args(argv)
    try:
        sets = read_sets(options.sets)
        vectors = Brown() if options.embedding is None else WordVectors.load(options.embedding)
        if options.projections is not None:
            vectors = Projected(vectors, open_projections(options.projections))
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    if sets:
        _report_retrieval(sets, vectors)
    _report_correlation(similarity_pairs(), vectors)


def _report_retrieval(sets: Sequence[RetrievalSet], vectors: WordVectors) -> None:
    methods = _methods(vectors)
    rows = [_retrieval_row(one, methods) for one in sets]
    print_report(
        "hit@1 without a cutoff, and microseconds a lookup (median, one query at a time, the "
        "dictionary being ready)",
        ["set", "queries", "keys", *methods, *(f"{name}, µs" for name in methods)],
        rows,
    )


def _report_correlation(pairs: Mapping[str, list[JudgedPair]], vectors: WordVectors) -> None:
    rows = [
        [name, len(judged), _never_seen(judged, vectors), rank_correlation(vectors, judged)]
        for name, judged in pairs.items()
    ]
    print_report(
        f"Spearman's rank correlation of cosines with people's judgement, over all pairs: "
        f"{len(vectors)} words, vectors of {vectors.size}",
        ["pairs of words", "pairs", "with a word never seen", "Spearman"],
        rows,
    )


def _methods(vectors: WordVectors) -> dict[str, Method]:
    def fuzzy(keys: Sequence[str]) -> Lookup:
        d = FuzzyDict(zip(keys, keys, strict=True), embedding=vectors, score_cutoff=-math.inf)

        def answer(query: str) -> str | None:
            try:
                return d.nearest(query).key  # type: ignore[no-any-return]
            except NoMatchError:
                return None

        return answer

    return {"FuzzyDict": fuzzy, "difflib": _by_difflib, "rapidfuzz": _by_rapidfuzz}


def _by_difflib(keys: Sequence[str]) -> Lookup:
    return lambda query: next(iter(difflib.get_close_matches(query, keys, n=1, cutoff=0)), None)


def _by_rapidfuzz(keys: Sequence[str]) -> Lookup:
    return lambda query: process.extractOne(query, keys, scorer=fuzz.ratio)[0]


def _retrieval_row(one: RetrievalSet, methods: Mapping[str, Method]) -> list[object]:
    keys = max(len(dictionary.keys) for dictionary in one.dictionaries)
    accepted = [query.accept for query in one.queries]
    hits: list[float] = []
    times: list[str] = []
    for method in methods.values():
        answered = [pair for d in one.dictionaries for pair in _answers(method(d.keys), d)]
        hits.append(hit_at_1([answer for answer, _ in answered], accepted))
        times.append(f"{median(seconds for _, seconds in answered) * 1e6:.0f}")
    return [one.name, len(accepted), keys, *hits, *times]


def _answers(lookup: Lookup, dictionary: Dictionary) -> list[tuple[str | None, float]]:
    """Return each query's answer, and the seconds that it took."""
    lookup(dictionary.queries[0].text)  # what is made at the first lookup is not counted
    answered = []
    for query in dictionary.queries:
        start = time.perf_counter()
        answer = lookup(query.text)
        answered.append((answer, time.perf_counter() - start))
    return answered


def _never_seen(pairs: Sequence[JudgedPair], vectors: WordVectors) -> int:
    """Return the number of pairs with a word that the vocabulary does not have."""
    known = vectors.vocabulary
    both = ((*known.tokens(pair.first), *known.tokens(pair.second)) for pair in pairs)
    return sum(any(known.row(token) is None for token in tokens) for tokens in both)


if __name__ == "__main__":
    main()
