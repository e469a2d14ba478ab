"""Let the table of English words learn what people ask for, and the other names of things.

    python -m tools.asked data/english.vectors --exclude FILE... -o data/english.vectors

The table knows texts as a sentence encoder does, and people ask for a key in other words than
definitions have. A question of `everyday_questions.json` learns to lie near its key, among the keys
of its field and of three others; of each line of `data/terms.txt` one name learns to find another.
Pairs of WordNet are repeated, so that these are not lost, and each row is drawn back to where it
was. With --fold K it learns no everyday question of a fourth of the
fields, of which `tools.judge` learns with it, so that these are as new as those of a user.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict import WordVectors
from fuzzydict._arrays import Array
from fuzzydict.search.keys import WordTable
from fuzzydict.text.words import plain, word_list

from .english import Adam, Sums, added, batches_of_pairs, pair_gradient
from .wordnet import Synset, pairs_in, wordnet_synsets

FIELDS = Path(__file__).with_name("everyday_questions.json")
FOLDS = 4
_TOGETHER, _LINES, _PAIRS = 4, 64, 256  # fields, lines of terms and pairs of a step


class Recipe(NamedTuple):
    """Hyper-parameters."""

    passes: int = 8  # over the fields
    learning_rate: float = 0.01  # Adam's; it falls to 0
    terms: float = 0.3  # the weight of the loss of terms
    pairs: float = 0.5  # the weight of the loss of WordNet's pairs
    hold: float = 2e-3  # the weight of the squares of what rows have moved
    temperature: float = 0.1  # the divisor of cosines before the softmax


#: The keys of a dict, and each query with the keys that are right.
Dictionary: TypeAlias = tuple[list[str], list[tuple[str, list[str]]]]


class Field(NamedTuple):
    """The texts of a dict and of what is asked of it, by their numbers."""

    queries: NDArray[np.intp]
    keys: NDArray[np.intp]
    right: NDArray[np.intp]  # the number of a query, and that of a key among those of the field


class Numbered:
    """Different texts, each with the rows of its words; a text without any is left out.

    What stands in for a slip is none of its words: it must not learn what the slip means.
    """

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors, self._table = vectors, WordTable(vectors)
        self._numbers: dict[str, int] = {}
        self.rows: list[list[int]] = []

    def number(self, text: str) -> int:
        """Return the number of a text, -1 if it is left out."""
        if text not in self._numbers:
            (query,) = self._table.queries([text])
            found = [self._vectors.find(word.text) for word in query.words]
            rows = [one.row for one in found if one.is_known]
            self._numbers[text] = len(self.rows) if rows else -1
            if rows:
                self.rows.append(rows)
        return self._numbers[text]


def questions_of(path: Path) -> list[Dictionary]:
    """Return the dicts of a file of questions: the keys, and each query with its right keys."""
    dictionaries = json.loads(path.read_text("utf-8"))["dictionaries"]
    return [
        (one["keys"], [(asked["query"], asked["accept"]) for asked in one["queries"]])
        for one in dictionaries
    ]


def pairs_of(asked: Iterable[tuple[str, Sequence[str]]]) -> set[frozenset[str]]:
    """Return the pairs of plain texts that are asked, as `pairs_in` does."""
    return {
        frozenset((plain(query.lower()), plain(key.lower())))
        for query, accepted in asked
        for key in accepted
    }


def field_of(
    keys: Sequence[str],
    asked: Sequence[tuple[str, Sequence[str]]],
    texts: Numbered,
    excluded: set[frozenset[str]],
) -> Field:
    """Return a dict and what is asked of it, without what is excluded."""
    numbers = {key: number for key in keys if (number := texts.number(key)) >= 0}
    places = dict(zip(numbers, range(len(numbers)), strict=True))
    queries, right = list[int](), list[tuple[int, int]]()
    for query, accepted in asked:
        found = sorted(places[key] for key in accepted if key in places)
        is_excluded = not excluded.isdisjoint(pairs_of([(query, accepted)]))
        if found and not is_excluded and (number := texts.number(query)) >= 0:
            right += [(len(queries), place) for place in found]
            queries.append(number)
    return Field(*map(np.array, (queries, list(numbers.values()), right)))


def learned(
    rows: Array,
    fields: Sequence[Field],
    lines: Sequence[Sequence[int]],
    texts: Sums,
    pairs: Iterator[Any],
    recipe: Recipe,
) -> Array:
    """Return the rows of V words, (V, E), once they learned from fields, terms and pairs."""
    rng, together, moved = np.random.default_rng(1), min(_TOGETHER, len(fields)), rows.copy()
    steps = recipe.passes * (len(fields) // together)
    adam, waiting = Adam(moved, recipe.learning_rate, steps), np.zeros(0, np.intp)
    for _ in range(steps):
        if len(waiting) < together:
            waiting = rng.permutation(len(fields))
        some, waiting = [fields[i] for i in waiting[:together]], waiting[together:]
        drawn = rng.permutation(len(lines))[:_LINES]
        names = np.array([rng.choice(lines[i], 2, replace=False) for i in drawn])
        of_pairs, right_pairs = next(pairs)
        losses = [
            (1.0, *_joined(some, texts)),
            (recipe.terms, texts.take(names.T.ravel()), len(names), (np.arange(len(names)),) * 2),
            (recipe.pairs, of_pairs, _PAIRS, right_pairs),
        ]
        parts = []
        for weight, sums, count, right in losses:
            places, gradient = pair_gradient(moved, sums, count, right, recipe.temperature)
            parts.append((places, np.float32(weight) * gradient))
        places, gradient = added(parts)
        gradient += np.float32(2 * recipe.hold) * (moved[places] - rows[places])
        adam.step(places, gradient)
    return moved


def _joined(fields: Sequence[Field], texts: Sums) -> tuple[Any, int, Any]:
    """Return the texts of several fields, how many are queries, and which keys are right."""
    asked = np.concatenate([one.queries for one in fields])
    keys = np.concatenate([one.keys for one in fields])
    sizes = [(len(one.queries), len(one.keys)) for one in fields]
    starts = np.cumsum([(0, 0), *sizes[:-1]], axis=0)
    right = np.concatenate([one.right + start for one, start in zip(fields, starts, strict=True)])
    return texts.take(np.append(asked, keys)), len(asked), tuple(right.T)


def taught(
    table: WordVectors,
    fields: Sequence[Dictionary],
    lines: Sequence[Sequence[str]],
    synsets: Sequence[Synset],
    excluded: set[frozenset[str]],
    recipe: Recipe,
) -> WordVectors:
    """Return the table after it learned from fields, lines of names of one thing, and WordNet."""
    texts = Numbered(table)
    every = [field_of(keys, asked, texts, excluded) for keys, asked in fields]
    allowed = [
        line
        for line in lines
        if excluded.isdisjoint(map(frozenset, combinations(map(plain, line), 2)))
    ]
    numbered = [
        [number for name in line if (number := texts.number(name)) >= 0] for line in allowed
    ]
    places = {word: row for row, word in enumerate(table.words)}
    pairs = batches_of_pairs(synsets, places, excluded, _PAIRS)
    weights = np.array([table.find(word).weight for word in table.words], np.float32)[:, None]
    rows = learned(
        table.vectors * weights,
        [field for field in every if len(field.queries)],
        [line for line in numbered if len(line) > 1],
        Sums(texts.rows, len(table)),
        pairs,
        recipe,
    )
    return WordVectors(table.words, rows / weights, table.counts)


def main(argv: Sequence[str] | None = None) -> None:
    """Let a table learn, and write it to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.asked", description="Let the table of English words learn questions."
    )
    parser.add_argument("table", metavar="FILE", type=Path)
    parser.add_argument("--exclude", metavar="FILE", type=Path, nargs="+", default=[])
    parser.add_argument(
        "--fold", type=int, choices=range(FOLDS), help="learn nothing of this fourth of the fields"
    )
    for name, value in Recipe()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    given = parser.parse_args(argv)
    recipe = Recipe._make(getattr(given, name) for name in Recipe._fields)
    fields, excluded = questions_of(FIELDS), pairs_in(given.exclude)
    if given.fold is not None:
        for _, asked in fields[given.fold :: FOLDS]:
            excluded |= pairs_of(asked)  # other fields, or terms, may have such a pair as well
        del fields[given.fold :: FOLDS]
    lines = list(word_list("terms", " = "))
    table = WordVectors.load(given.table)
    after = taught(table, fields, lines, wordnet_synsets(), excluded, recipe)
    after.save(given.output, dtype="int8")


if __name__ == "__main__":
    main()
