"""Make `data/brown.vectors`, Brown's part of the default vectors.

    python -m tools.brown --exclude FILE... -o data/brown.vectors

1. Seven word2vec models learn from the Brown corpus, and are combined (`WordVectors.train`).
2. Texts that WordNet relates learn to find each other: to the vector `x` of a text, of length
   one, 64 numbers are added, `x A + f(text) C`, where `f` counts the n-grams of its words.
3. What that gives for each word is baked into its vector, reduced to 64 numbers by a singular
   value decomposition, made as long as counts beside the table of English words, and rounded.

All vectors are for non-commercial use, since the corpus is. ``data/README.md`` compares recipes.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict import FuzzyDictError, WordVectors
from fuzzydict._arrays import Array, units
from fuzzydict.embedding.word2vec import brown_sentences, combine
from fuzzydict.learning.train import Adam, NamedGradients

from .wordnet import (
    WEIGHTS,
    Pair,
    RightKeys,
    loss_gradient,
    pairs_in,
    related_pairs,
    unit_forward,
    weighted_draw,
    wordnet_synsets,
)

__all__ = ["Recipe", "baked", "main", "reduced"]

_SIZE = 64  # numbers of a vector
_LENGTH = 0.65  # of a vector; in the table of English words, half are between 1.06 and 1.23
_WARM_UP = 50  # steps in which the learning rate rises
_FULL_WEIGHT = 0.9  # words with this weight or more count as 1
_START = 0.3  # length of the learned part of a vector at the start; the other part has length 1
_NGRAMS = (3, 4, 5)  # letters of an n-gram; the whole word is one more


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Hyper-parameters of what is learned from WordNet."""

    buckets: int = 12288  # rows of the table of hashed n-grams
    size: int = 64  # learned numbers beside those of the vector
    steps: int = 4000
    batch: int = 1024  # pairs a step; each is told apart from all others
    temperature: float = 0.07  # divisor of the cosines before the softmax
    keep: float = 0.1  # weight of the penalty on changes of the cosines between words
    kept_words: int = 384  # drawn for that penalty in each step
    decay: float = 1e-4  # of weights
    learning_rate: float = (
        5e-3  # Adam's, after the warm-up; it falls with the root of the steps left
    )
    seed: int = 1  # of the start and of the batches


# ---- from WordNet to vectors -----------------------------------------------------------------


def baked(vectors: WordVectors, pairs: Sequence[Pair], recipe: Recipe | None = None) -> Array:
    """Return the vectors of all words with what pairs of texts teach, of length one, (V, E + r).

    The loss of a pair is `retrieval_loss` over the other pairs of its batch (Henderson et al.
    2017); every text paired with a query counts as right for it. A penalty on changed cosines
    keeps words where they were, as in Faruqui et al. 2015, "Retrofitting Word Vectors to Semantic
    Lexicons".
    """
    recipe = recipe or Recipe()
    random = np.random.default_rng(recipe.seed)
    number = {text: i for i, text in enumerate(sorted({t for p in pairs for t in p[:2]}))}
    rows = np.array([[number[pair.first], number[pair.second]] for pair in pairs])
    texts = _inputs(vectors, list(number), recipe.buckets)
    words = _inputs(vectors, vectors.words, recipe.buckets)
    parameters: dict[str, Array] = {}
    sizes = (("matrix", texts.unit.shape[1]), ("table", recipe.buckets))
    for (name, size), inputs in zip(sizes, (texts.unit.shape[1], recipe.size), strict=True):
        drawn = random.standard_normal((size, recipe.size), dtype=np.float32)
        parameters[name] = drawn * np.float32(_START / inputs**0.5)
    adam = Adam(parameters)

    def forward(of: _Inputs) -> tuple[Array, Callable[[Array], NamedGradients]]:
        """Return the vectors of texts, scaled to length 1, and the backward function."""
        added = of.unit @ parameters["matrix"] + of.ngrams @ parameters["table"]
        unit, lengths_back = unit_forward(np.concatenate([of.unit, added], 1))

        def back(d_unit: Array) -> NamedGradients:
            d_added = lengths_back(d_unit)[:, -recipe.size :]
            return {"matrix": of.unit.T @ d_added, "table": of.ngrams.T @ d_added}

        return unit, back

    draw_words = weighted_draw(np.sqrt(vectors.counts.astype(np.float64)), random)
    draw = weighted_draw(np.array([WEIGHTS[pair.kind] for pair in pairs]), random)
    right_keys = RightKeys(rows, len(number))
    for step in range(recipe.steps):
        batch = rows[draw(recipe.batch)]
        swapped = random.random(len(batch)) < 0.5  # either text may be the query
        batch[swapped] = batch[swapped, ::-1]
        unit, back = forward(texts.take(batch.T.ravel()))
        query, key = np.split(unit, 2)
        gradients = back(loss_gradient(query, key, right_keys.of(batch), recipe.temperature))
        before = words.take(draw_words(recipe.kept_words))
        unit, back = forward(before)
        change = unit @ unit.T - before.unit @ before.unit.T
        scale = np.float32(4 * recipe.keep / recipe.kept_words)
        for name, gradient in back(change @ unit * scale).items():
            gradients[name] += gradient
            gradients[name] += np.float32(recipe.decay) * parameters[name]
        left = (1 - step / recipe.steps) ** 0.5
        adam.learning_rate = recipe.learning_rate * left * min(1, (step + 1) / _WARM_UP)
        adam.step(gradients)
    return forward(words)[0]


class _Inputs(NamedTuple):
    """What is known of T texts."""

    unit: Array  # (T, E), vectors of length 1
    ngrams: Any  # sparse (T, buckets), f(text)

    def take(self, rows: NDArray[np.intp]) -> _Inputs:
        return _Inputs(self.unit[rows], self.ngrams[rows])


# ---- texts as vectors and n-grams ------------------------------------------------------------


def _inputs(vectors: WordVectors, texts: Sequence[str], buckets: int) -> _Inputs:
    """Return the vectors of length 1 and the n-grams of texts: the weighted mean of its words'."""
    split = [text.split() for text in texts]
    words = {word: i for i, word in enumerate(dict.fromkeys(w for s in split for w in s))}
    rows = [_ngrams(word, buckets) for word in words]
    of_words = _sparse_rows(rows, [np.full(len(r), len(r) ** -0.5) for r in rows], buckets)
    find = cache(vectors.find)
    shares = []
    for some in split:
        weights = np.array([w if (w := find(word).weight) < _FULL_WEIGHT else 1.0 for word in some])
        shares.append(weights / weights.sum())
    of_texts = _sparse_rows([[words[word] for word in s] for s in split], shares, len(words))
    return _Inputs(units(vectors.encode(texts)), (of_texts @ of_words).tocsr())


def _ngrams(word: str, buckets: int) -> list[int]:
    """Return the buckets of the n-grams of a word: different numbers below ``buckets``, rising.

    The n-grams are those of "<word>" in UTF-8, so that its first and last letters are special.
    (Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information".)
    """
    marked = f"<{word}>".encode()
    found = {zlib.crc32(marked) % buckets}
    for size in _NGRAMS:
        starts = range(len(marked) - size + 1)
        found.update(zlib.crc32(marked[start : start + size]) % buckets for start in starts)
    return sorted(found)


def _sparse_rows(
    columns: Sequence[Sequence[int]], values: Sequence[NDArray[Any]], width: int
) -> Any:
    """Return a sparse matrix with these values in these columns of each row."""
    from scipy import sparse

    starts = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate([np.zeros(0), *values]).astype(np.float32)
    places = np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64)
    return sparse.csr_matrix((flat, places, starts), shape=(len(columns), width))


# ---- the file --------------------------------------------------------------------------------


def reduced(
    words: Mapping[str, int], rows: Array, size: int = _SIZE, length: float = _LENGTH
) -> WordVectors:
    """Return the vectors of words but numbers, which mean nothing alike, on their main axes.

    Args:
        words: how often each occurs, most frequent first.
        rows: their vectors, (V, E).
        size: the numbers of a vector that are kept.
        length: of each vector.
    """
    kept = [(i, word, n) for i, (word, n) in enumerate(words.items()) if not word.isdecimal()]
    places, names, counts = zip(*kept, strict=True)
    vectors = combine(rows[list(places)], size, power=1.0) * np.float32(length)
    return WordVectors(names, vectors, counts)


def main(argv: Sequence[str] | None = None) -> None:
    """Make the vectors, and write them to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.brown", description="Make Brown's part of the default vectors."
    )
    parser.add_argument("--exclude", metavar="FILE", type=Path, nargs="+", default=[])
    parser.add_argument("--trained", metavar="FILE", type=Path, help="as fuzzydict train wrote it")
    parser.add_argument("--size", type=int, default=_SIZE)
    parser.add_argument("--length", type=float, default=_LENGTH)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    given = parser.parse_args(argv)
    try:
        if given.trained:
            vectors = WordVectors.load(given.trained)
        else:
            vectors = WordVectors.train(
                brown_sentences(), progress=lambda *done: print(*done, end="\r", flush=True)
            )
        excluded = pairs_in(given.exclude)
        pairs = related_pairs(wordnet_synsets(), set(vectors.words), excluded=excluded)
    except FuzzyDictError as error:
        parser.error(str(error))
    words = dict(zip(vectors.words, vectors.counts.tolist(), strict=True))
    made = reduced(words, baked(vectors, pairs), given.size, given.length)
    made.save(given.output, dtype="int8")
    print(f"{given.output}: {len(made)} words, {made.size} numbers each")


if __name__ == "__main__":
    main()
