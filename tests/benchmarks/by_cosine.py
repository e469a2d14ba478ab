"""Measures word vectors by the cosine alone.

    python -m tests.benchmarks.by_cosine [--beside-english] VECTORS... --sets FILE...

It prints the hit@1 of sets, and the rank correlation with people's judgement of words. With
--beside-english vectors stand beside the table of English words, as Brown's do by default.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import units
from fuzzydict.embedding.word_vectors import English, side_by_side
from fuzzydict.evaluation import rank_correlation, read_sets, similarity_pairs

from .measuring import print_report


def main() -> None:
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
        row: list[object] = [path.stem]
        for one in sets:
            hits = list[bool]()
            for keys, queries in one.dictionaries:
                asked = [query for query in queries if query.accept]
                texts = [query.text for query in asked]
                alike = units(vectors.encode(texts)) @ units(vectors.encode(keys)).T
                best = alike.argmax(axis=1).tolist()
                hits += [
                    keys[slot] in query.accept for slot, query in zip(best, asked, strict=True)
                ]
            row.append(float(np.mean(hits)))
        rows.append([*row, *(rank_correlation(vectors, pairs) for pairs in judged.values())])
    print_report("By the cosine", ["vectors", *(one.name for one in sets), *judged], rows)


if __name__ == "__main__":
    main()
