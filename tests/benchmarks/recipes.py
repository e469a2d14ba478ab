"""What different recipes of word2vec give on the Brown corpus.

For each recipe: its words and numbers a word, the size of its file, the seconds of one core that
training took, the rank correlation with people's judgement of pairs of words, how often the
nearest key by plain cosine is a synonym (WordNet's, that spelling cannot find), and the rank
correlation with how near two nouns or two verbs stand in WordNet's tree.

    python -m tests.benchmarks.recipes [--exclude FILE...] [--only NAME...] [--cache DIR]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fuzzydict import FuzzyDictError, MissingCorpusError, WordVectors
from fuzzydict.embedding.word2vec import POWER, RECIPE, SIZE, Model
from fuzzydict.evaluation.datasets import JudgedPair, RetrievalSet, read_sets, similarity_pairs
from fuzzydict.evaluation.evaluate import (
    hit_at_1,
    mean_reciprocal_rank,
    rank_correlation,
    shown_command,
)
from fuzzydict.evaluation.systems import by_cosine

from .development import development_set, pairs_of, wordnet_synonyms
from .graded import graded_pairs
from .report import print_report
from .single_models import Corpus, Part, Trainer, brown_corpus, join

__all__ = ["RECIPES", "Recipe", "main"]

_HEADER = (
    *("recipe", "words", "dims", "MB", "seconds", "WordSim-353", "SimLex-999"),
    *("synonyms hit@1", "synonyms MRR", "nouns", "verbs"),
)
_FREQUENT = 5  # the development set asks for words that occur so often
_TOPN = 10
_COMMAND = "python -m tests.benchmarks.recipes"

_DEFAULTS = Model(sg=False, window=5, vector_size=100, epochs=5, sample=1e-3, negative=5)
_SINGLE = {
    "skip-gram 5, words": RECIPE[0],
    "skip-gram 10, stems": RECIPE[1],
    "CBOW 2, stems": RECIPE[2],
    "CBOW 2, words": RECIPE[3],
}
_DOCUMENTS = Part(
    Model(sg=False, window=10, vector_size=200, epochs=100, sample=1e-5), text="documents"
)


@dataclass(frozen=True)
class Recipe:
    """Models side by side, less a share of their mean vector, combined to ``size`` numbers."""

    parts: tuple[Part, ...]
    centred: float = 0.0
    size: int | None = None
    power: float = POWER


class Judges(NamedTuple):
    """What a recipe is judged by; no synonyms and no graded pairs where WordNet is missing."""

    pairs: Mapping[str, list[JudgedPair]]
    synonyms: RetrievalSet | None
    graded: Sequence[list[JudgedPair]]


def _recipes() -> dict[str, Recipe]:
    single = {name: _copies(model, 1)[0] for name, model in _SINGLE.items()}
    three = tuple(single.values())[:3]
    shipped = Recipe(tuple(part for m in RECIPE for part in _copies(m, m.copies)), size=SIZE)
    pairs = Recipe(tuple(part for m in RECIPE[:3] for part in _copies(m, m.copies)), size=SIZE)
    found = {
        "gensim's defaults, tokens as they are": Recipe((Part(_DEFAULTS, "tokens", 5),)),
        "gensim's defaults, words in lower case": Recipe((Part(_DEFAULTS, min_count=5),)),
    }
    found |= {name: Recipe((part,)) for name, part in single.items()}
    found["the first three side by side"] = Recipe(three)
    found["the three, less half their mean"] = Recipe(three, centred=0.5)
    found["the three + CBOW 10, documents"] = Recipe((*three, _DOCUMENTS))
    found["the three, combined"] = Recipe(three, size=SIZE)
    found["all four, combined"] = Recipe(tuple(single.values()), size=SIZE)
    found["two of each of the three, side by side"] = replace(pairs, size=None)
    found["two of each of the three, combined"] = pairs
    found["**shipped**: those and CBOW 2, words"] = shipped
    found["shipped, side by side"] = replace(shipped, size=None)
    found |= {f"shipped, power {power}": replace(shipped, power=power) for power in (1.0, 0.5)}
    found |= {f"shipped, {size} numbers": replace(shipped, size=size) for size in (200, 500)}
    found["shipped, less a quarter of its mean"] = replace(shipped, centred=0.25)
    found["shipped, less half its mean"] = replace(shipped, centred=0.5)
    found["shipped, two of CBOW 2, words"] = replace(
        shipped, parts=(*shipped.parts, *_copies(RECIPE[3], 2)[1:])
    )
    found["shipped + skip-gram 5, stems"] = replace(
        shipped, parts=(*shipped.parts, Part(replace(RECIPE[0], stems=True, copies=1)))
    )
    found["shipped, windows 2 and 5 from seed 2"] = replace(
        shipped,
        parts=tuple(replace(p, seed=p.seed + (p.model.window < 10)) for p in shipped.parts),
    )
    return found


def _copies(model: Model, copies: int) -> tuple[Part, ...]:
    """Return the models that training makes of one, each from its own seed."""
    return tuple(Part(replace(model, copies=1), seed=1 + copy) for copy in range(copies))


#: The recipes to compare, by name.
RECIPES: Mapping[str, Recipe] = _recipes()


def main(
    argv: Sequence[str] | None = None,
    *,
    recipes: Mapping[str, Recipe] = RECIPES,
    corpus: Callable[[], Corpus] = brown_corpus,
) -> None:
    """Train the recipes, or those named, and print the table."""
    parser = _parser()
    options = parser.parse_args(argv)
    names = options.only or list(recipes)
    unknown = [name for name in names if name not in recipes]
    if unknown:
        parser.error(f"no recipe {unknown[0]!r}; there are: {'; '.join(recipes)}")
    try:
        excluded = pairs_of(read_sets(options.exclude))
        text = corpus()
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    judges = _judges(text, excluded)
    trainer = Trainer(text, options.cache, partial(print, file=sys.stderr, flush=True))
    rows = [_row(name, recipes[name], trainer, judges) for name in names]
    print_report(_title(text, judges, len(excluded), options), _HEADER, rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_COMMAND, description="Compare recipes of word2vec.")
    parser.add_argument(
        "--exclude",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="retrieval sets (or folders of them) whose pairs are not asked, in either direction",
    )
    parser.add_argument("--only", metavar="NAME", nargs="+", help="compare these recipes alone")
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=Path,
        help="keep each trained model here, so that an interrupted run goes on",
    )
    return parser


def _judges(corpus: Corpus, excluded: set[frozenset[str]]) -> Judges:
    pairs = similarity_pairs()
    counts = Counter(word for sentence in corpus.sentences for word in sentence)
    common = {word: n for word, n in counts.items() if n >= _FREQUENT and word.isalpha()}
    judged = {word.lower() for judged in pairs.values() for pair in judged for word in pair[:2]}
    unjudged = {word: n for word, n in common.items() if word not in judged}
    try:
        synonyms = development_set(list(common), wordnet_synonyms(list(common)), excluded)
        return Judges(pairs, synonyms, [graded_pairs(unjudged, pos, excluded) for pos in "nv"])
    except MissingCorpusError as error:
        print(f"no measure by WordNet: {error}", file=sys.stderr)
        return Judges(pairs, None, [])


def _row(name: str, recipe: Recipe, trainer: Trainer, judges: Judges) -> list[object]:
    timed = [trainer(part) for part in recipe.parts]
    vectors = join(
        [part.trained for part in timed],
        size=recipe.size,
        power=recipe.power,
        centred=recipe.centred,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recipe.vectors"
        vectors.save(file, dtype="int8")
        megabytes = f"{file.stat().st_size / 1e6:.1f}"
    correlations = [rank_correlation(vectors, pairs) for pairs in judges.pairs.values()]
    found: tuple[object, ...] = ("",) * 4
    if judges.synonyms is not None:
        graded = [rank_correlation(vectors, pairs) for pairs in judges.graded]
        found = (*_by_cosine(vectors, judges.synonyms), *graded)
    seconds = round(sum(part.seconds for part in timed))
    return [name, len(vectors), vectors.size, megabytes, seconds, *correlations, *found]


def _by_cosine(vectors: WordVectors, synonyms: RetrievalSet) -> tuple[float, float]:
    """Return hit@1 and the mean reciprocal rank over ten, by plain cosine."""
    system = by_cosine("recipe", vectors)
    ranked: list[list[str]] = []
    for dictionary in synonyms.dictionaries:
        ranker = system.over(dictionary.keys)
        found = ranker.ranked([query.text for query in dictionary.queries], _TOPN)
        ranked += [[key for key, _ in matches] for matches in found]
    accepted = [query.accept for query in synonyms.queries]
    first = [keys[0] if keys else None for keys in ranked]
    return hit_at_1(first, accepted), mean_reciprocal_rank(ranked, accepted, topn=_TOPN)


def _title(corpus: Corpus, judges: Judges, excluded: int, options: argparse.Namespace) -> str:
    tokens = sum(map(len, corpus.tokens))
    pairs = " and ".join(f"{name} ({len(judged)} pairs)" for name, judged in judges.pairs.items())
    asked = "WordNet was not there"
    if judges.synonyms is not None:
        dictionaries = judges.synonyms.dictionaries
        keys = max((len(dictionary.keys) for dictionary in dictionaries), default=0)
        asked = (
            f"synonyms: {len(judges.synonyms.queries)} queries to {len(dictionaries)} dictionaries "
            f"of {keys} keys, nearest by plain cosine, {excluded} pairs left out; rank correlation "
            f"with WordNet's tree on {' and '.join(str(len(pairs)) for pairs in judges.graded)} "
            f"pairs of nouns and of verbs that the judged pairs do not have"
        )
    exclude = ["--exclude", *options.exclude] if options.exclude else []
    only = ["--only", *options.only] if options.only else []
    return (
        f"Recipes of word2vec on {tokens} tokens. Spearman's rank correlation on {pairs}, all of "
        f"them; {asked}. MB: as int8, in one file. Seconds: of one core, its models one after "
        f"another. Made by `{shown_command(*_COMMAND.split(), *exclude, *only)}`"
    )


if __name__ == "__main__":
    main()
