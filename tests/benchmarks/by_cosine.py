"""Measures word vectors by the cosine alone, without spelling.

    python -m tests.benchmarks.by_cosine [--beside-english] VECTORS... --sets FILE...

For each file of vectors it prints the hit@1 of retrieval sets, over the queries that have a right
key, and the rank correlation with what people say of WordSim-353 and SimLex-999. With
--beside-english each stands beside the table of English words, as Brown's part does by default.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import units
from fuzzydict.embedding.word_vectors import English, side_by_side
from fuzzydict.evaluation.datasets import similarity_pairs
from fuzzydict.evaluation.evaluate import rank_correlation

from .measuring import print_report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure vectors by the cosine.")
    parser.add_argument("vectors", metavar="VECTORS", type=Path, nargs="+")
    parser.add_argument("--beside-english", action="store_true")
    parser.add_argument("--sets", metavar="FILE", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    rows, judged = list[list[Any]](), similarity_pairs()
    for path in given.vectors:
        vectors = WordVectors.load(path)
        if given.beside_english:
            vectors = side_by_side(English(), vectors)
        hits = [_hit_rate(vectors, one) for one in given.sets]
        correlations = [rank_correlation(vectors, pairs) for pairs in judged.values()]
        rows.append([path.stem, *hits, *correlations])
    names = [path.stem for path in given.sets]
    print_report("By the cosine", ["vectors", *names, *judged], rows)


def _hit_rate(vectors: WordVectors, path: Path) -> float:
    """Return the share of queries whose nearest key is right."""
    hits = list[bool]()
    for dictionary in json.loads(path.read_text("utf-8"))["dictionaries"]:
        asked = [query for query in dictionary["queries"] if query["accept"]]
        if asked:
            keys = units(vectors.encode(dictionary["keys"]))
            best = units(vectors.encode([one["query"] for one in asked])) @ keys.T
            found = [dictionary["keys"][slot] for slot in best.argmax(axis=1).tolist()]
            hits += [key in one["accept"] for key, one in zip(found, asked, strict=True)]
    return float(np.mean(hits))


if __name__ == "__main__":
    main()
