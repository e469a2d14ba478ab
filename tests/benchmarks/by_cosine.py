"""Measures word vectors by the cosine alone, without spelling.

    python -m tests.benchmarks.by_cosine [--beside-english] VECTORS... --sets FILE...

For each file of vectors it prints the hit@1 of retrieval sets, over the queries that have a right
key, and the rank correlation with what people say of WordSim-353 and SimLex-999. With
--beside-english each stands beside the table of English words, as Brown's part does by default.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import units
from fuzzydict.embedding.word_vectors import English, side_by_side
from fuzzydict.evaluation.datasets import RetrievalSet, read_sets, similarity_pairs
from fuzzydict.evaluation.evaluate import rank_correlation

from .measuring import command, print_report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure vectors by the cosine.")
    parser.add_argument("vectors", metavar="VECTORS", type=Path, nargs="+")
    parser.add_argument("--beside-english", action="store_true")
    parser.add_argument("--sets", metavar="FILE", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    rows, judged, sets = list[list[object]](), similarity_pairs(), read_sets(given.sets)
    for path in given.vectors:
        vectors = WordVectors.load(path)
        if given.beside_english:
            vectors = side_by_side(English(), vectors)
        hits = [_hit_rate(vectors, one) for one in sets]
        correlations = [rank_correlation(vectors, pairs) for pairs in judged.values()]
        rows.append([path.stem, *hits, *correlations])
    print_report("By the cosine", ["vectors", *(one.name for one in sets), *judged], rows)


def _hit_rate(vectors: WordVectors, one: RetrievalSet) -> float:
    """Return the share of queries with a right key whose nearest key is right."""
    hits = list[bool]()
    for keys, queries in one.dictionaries:
        asked = [query for query in queries if query.accept]
        if asked:
            vectors_of_keys = units(vectors.encode(keys))
            best = units(vectors.encode([query.text for query in asked])) @ vectors_of_keys.T
            found = best.argmax(axis=1).tolist()
            hits += [keys[slot] in query.accept for slot, query in zip(found, asked, strict=True)]
    return float(np.mean(hits))


if __name__ == "__main__":
    command(main)
