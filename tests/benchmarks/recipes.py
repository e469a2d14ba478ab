"""What different recipes of word2vec give on the Brown corpus.

For each recipe: its words and numbers a word, the size of its file, the seconds of one core that
training took, the rank correlation with people's judgement of pairs of words, how often the
nearest key by plain cosine is a synonym (WordNet's, that spelling cannot find), and the rank
correlation with how near two nouns or two verbs stand in WordNet's tree.

    python -m tests.benchmarks.recipes [--exclude FILE...] [--only NAME...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzydict import WordVectors
from fuzzydict.embedding.word2vec import (
    POWER,
    RECIPE,
    SIZE,
    Model,
    brown_sentences,
    combine,
    train,
)
from fuzzydict.evaluation.datasets import JudgedPair, RetrievalSet, read_sets, similarity_pairs
from fuzzydict.evaluation.evaluate import evaluate, rank_correlation
from fuzzydict.evaluation.systems import by_cosine
from fuzzydict.text.words import words

from .measuring import command, print_report
from .wordnet import graded_pairs, synonym_set

_HEADER = (
    *("recipe", "words", "dims", "MB", "seconds", "WordSim-353", "SimLex-999"),
    *("synonyms hit@1", "synonyms MRR", "nouns", "verbs"),
)
_FREQUENT = 5  # the synonyms ask for words that occur so often
_DEFAULTS = Model(sg=False, window=5, vector_size=100, epochs=5, sample=1e-3, negative=5)


@dataclass(frozen=True)
class Part:
    """One model, and what it is trained on.

    ``text`` is "tokens" (as the corpus has them), "sentences" (of words in lower case, as
    `WordVectors.train` makes them), or "documents" (those words, each document one context).
    """

    model: Model
    text: str = "sentences"
    min_count: int = 2
    seed: int = 1


@dataclass(frozen=True)
class Recipe:
    """Models side by side, less a share of their mean vector, combined to ``size`` numbers."""

    parts: tuple[Part, ...]
    centred: float = 0.0
    size: int | None = None
    power: float = POWER


def _copies(model: Model, copies: int) -> tuple[Part, ...]:
    """Return the models that training makes of one, each from its own seed."""
    return tuple(Part(replace(model, copies=1), seed=1 + copy) for copy in range(copies))


def _recipes() -> dict[str, Recipe]:
    """Return the recipes to compare, by name."""
    names = ("skip-gram 5, words", "skip-gram 10, stems", "CBOW 2, stems", "CBOW 2, words")
    single = [_copies(model, 1)[0] for model in RECIPE]
    three = tuple(single[:3])
    documents = Model(sg=False, window=10, vector_size=200, epochs=100, sample=1e-5)
    shipped = Recipe(tuple(part for m in RECIPE for part in _copies(m, m.copies)), size=SIZE)
    pairs = Recipe(tuple(part for m in RECIPE[:3] for part in _copies(m, m.copies)), size=SIZE)
    second = tuple(replace(p, seed=p.seed + (p.model.window < 10)) for p in shipped.parts)
    another = Part(replace(RECIPE[0], stems=True, copies=1))
    return {
        "gensim's defaults, tokens as they are": Recipe((Part(_DEFAULTS, "tokens", 5),)),
        "gensim's defaults, words in lower case": Recipe((Part(_DEFAULTS, min_count=5),)),
        **{name: Recipe((part,)) for name, part in zip(names, single, strict=True)},
        "the first three side by side": Recipe(three),
        "the three, less half their mean": Recipe(three, centred=0.5),
        "the three + CBOW 10, documents": Recipe((*three, Part(documents, "documents"))),
        "the three, combined": Recipe(three, size=SIZE),
        "all four, combined": Recipe(tuple(single), size=SIZE),
        "two of each of the three, side by side": replace(pairs, size=None),
        "two of each of the three, combined": pairs,
        "**shipped**: those and CBOW 2, words": shipped,
        "shipped, side by side": replace(shipped, size=None),
        **{f"shipped, power {power}": replace(shipped, power=power) for power in (1.0, 0.5)},
        **{f"shipped, {size} numbers": replace(shipped, size=size) for size in (200, 500)},
        "shipped, less a quarter of its mean": replace(shipped, centred=0.25),
        "shipped, less half its mean": replace(shipped, centred=0.5),
        "shipped, two of CBOW 2, words": replace(
            shipped, parts=(*shipped.parts, *_copies(RECIPE[3], 2)[1:])
        ),
        "shipped + skip-gram 5, stems": replace(shipped, parts=(*shipped.parts, another)),
        "shipped, windows 2 and 5 from seed 2": replace(shipped, parts=second),
    }


# ---- training -----------------------------------------------------------------------------


@cache
def _corpus() -> Mapping[str, list[list[str]]]:
    """Return the Brown corpus in the three forms that `Part` tells of."""
    tokens = brown_sentences()
    from nltk.corpus import brown

    documents = [words(" ".join(brown.words(file)).lower()) for file in brown.fileids()]
    sentences = [words(" ".join(sentence).lower()) for sentence in tokens]
    return {"tokens": tokens, "sentences": sentences, "documents": documents}


@cache
def _trained(part: Part) -> tuple[WordVectors, float]:
    """Return the vectors of a part, of length one each, and the seconds of one core it took."""
    print(f"training {part}", file=sys.stderr, flush=True)
    start = time.process_time()
    trained = train(
        _corpus()[part.text], [part.model], size=None, min_count=part.min_count, seed=part.seed
    )
    return WordVectors(*trained), time.process_time() - start


def _joined(parts: Sequence[WordVectors], recipe: Recipe) -> WordVectors:
    """Put the vectors of parts with the same words side by side; all have the same say."""
    vectors = np.hstack([part.vectors for part in parts]) / np.float32(len(parts) ** 0.5)
    vectors -= np.float32(recipe.centred) * vectors.mean(axis=0)
    if recipe.size is not None:
        vectors = combine(vectors, recipe.size, power=recipe.power)
    return WordVectors(parts[0].words, vectors, parts[0].counts)


# ---- measuring ----------------------------------------------------------------------------


class Judges(NamedTuple):
    """What a recipe is judged by."""

    pairs: Mapping[str, list[JudgedPair]]
    synonyms: RetrievalSet
    graded: Sequence[list[JudgedPair]]


def main() -> None:
    """Train the recipes, or those named, and print the table."""
    recipes = _recipes()
    parser = argparse.ArgumentParser(description="Compare recipes of word2vec.")
    parser.add_argument(
        "--exclude",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="retrieval sets (or folders of them) whose pairs are not asked, in either direction",
    )
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=recipes)
    options = parser.parse_args()
    excluded = {
        frozenset((query.text, key))
        for one in read_sets(options.exclude)
        for query in one.queries
        for key in query.accept
    }
    judges = _judges(excluded)
    rows = [_row(name, recipes[name], judges) for name in options.only or recipes]
    print_report(
        f"Recipes of word2vec on {sum(map(len, _corpus()['tokens']))} tokens; synonyms: "
        f"{len(judges.synonyms.queries)} queries, {len(excluded)} pairs left out; MB: as int8; "
        "seconds: of one core, its models one after another",
        _HEADER,
        rows,
    )


def _judges(excluded: set[frozenset[str]]) -> Judges:
    pairs = similarity_pairs()
    counts = Counter(word for sentence in _corpus()["sentences"] for word in sentence)
    common = {word: n for word, n in counts.items() if n >= _FREQUENT and word.isalpha()}
    judged = {word.lower() for judged in pairs.values() for pair in judged for word in pair[:2]}
    unjudged = {word: n for word, n in common.items() if word not in judged}
    graded = [graded_pairs(unjudged, pos, excluded) for pos in "nv"]
    return Judges(pairs, synonym_set(list(common), excluded), graded)


def _row(name: str, recipe: Recipe, judges: Judges) -> list[object]:
    trained = [_trained(part) for part in recipe.parts]
    vectors = _joined([part for part, _ in trained], recipe)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recipe.vectors"
        vectors.save(file, dtype="int8")
        megabytes = f"{file.stat().st_size / 1e6:.1f}"
    correlations = [rank_correlation(vectors, pairs) for pairs in judges.pairs.values()]
    graded = [rank_correlation(vectors, pairs) for pairs in judges.graded]
    seconds = round(sum(seconds for _, seconds in trained))
    (row,) = evaluate([by_cosine("recipe", vectors)], [judges.synonyms]).retrieval
    found = [row.hit_at_1, row.mean_reciprocal_rank]
    return [name, len(vectors), vectors.size, megabytes, seconds, *correlations, *found, *graded]


if __name__ == "__main__":
    command(main)
