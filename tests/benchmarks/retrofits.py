"""What different ways to learn from WordNet give, on what they have not seen.

A twelfth of the synsets are held out wholly, and of another twelfth the pairs of synonyms, though
not their definitions and broader words. For each try: how often the nearest key by cosine is a
synonym of either kind, among 1,000 words; the rank correlation of cosines with how alike people
find news stories (Lee, Pincombe and Welsh 2005), with how often words meet in other news stories,
and with people's judgement of pairs of words.

    python -m tests.benchmarks.retrofits [--exclude FILE...] [--only NAME...]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzydict import Brown, FuzzyDictError, WordVectors
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.word2vec import split_sentences
from fuzzydict.evaluation.datasets import (
    JudgedPair,
    RetrievalSet,
    asked_pairs,
    read_sets,
    similarity_pairs,
)
from fuzzydict.evaluation.evaluate import hit_at_1, rank_correlation, shown_command
from fuzzydict.learning.wordnet import (
    WEIGHTS,
    Recipe,
    Synset,
    related_pairs,
    retrofit,
    wordnet_synsets,
)
from fuzzydict.text.words import plain

from .development import development_set
from .projected import Projected
from .report import print_report

__all__ = ["TRIES", "Try", "main"]

_PART = 12  # one in so many synsets is held out in either way
_FREQUENT = 5  # the keys are words that occur so often
_MET = 3  # words that met so often count as met, and as many others as not
_SHORT = 1000  # steps, to see in a minute which way leads on
_SEED = 1


@dataclass(frozen=True)
class Try:
    """A recipe, and what each kind of pair weighs."""

    recipe: Recipe = field(default_factory=Recipe)
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)


def _tries() -> dict[str, Try]:
    short = Recipe(steps=_SHORT)
    synonyms = dict.fromkeys(WEIGHTS, 0.0) | {"synonym": 1.0}
    found = {"**shipped**": Try(), "short: a quarter of the steps": Try(short)}
    recipes = {
        "nothing kept": replace(short, keep=0.0),
        "ten times as much kept": replace(short, keep=1.0),
        "hardly any letters (2 buckets)": replace(short, buckets=2),
        "16,384 buckets, 48 numbers": replace(short, buckets=16384, size=48),
        "4,096 buckets, 128 numbers": replace(short, buckets=4096, size=128),
        "temperature 0.1": replace(short, temperature=0.1),
        "temperature 0.05": replace(short, temperature=0.05),
    }
    weights = {
        "synonyms alone": synonyms,
        "without definitions": {**WEIGHTS, "definition": 0.0},
        "broader words half as often": {**WEIGHTS, "broader": 0.25},
        "without broader words": {**WEIGHTS, "broader": 0.0},
    }
    found |= {f"short, {name}": Try(recipe) for name, recipe in recipes.items()}
    return found | {f"short, {name}": Try(short, kinds) for name, kinds in weights.items()}


#: What to compare, by name.
TRIES: Mapping[str, Try] = _tries()


class Split(NamedTuple):
    """Synsets of which nothing is learned, those whose synonyms are not, and those pairs."""

    meanings: frozenset[str]
    without: frozenset[frozenset[str]]
    asked: Mapping[str, RetrievalSet]


def main(
    argv: Sequence[str] | None = None,
    *,
    tries: Mapping[str, Try] = TRIES,
    vectors: Callable[[], WordVectors] = Brown,
    synsets: Callable[[], list[Synset]] = wordnet_synsets,
) -> None:
    """Learn from WordNet in the ways of the tries, or of those named, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrofits")
    parser.add_argument("--exclude", metavar="FILE", nargs="+", type=Path, default=[])
    parser.add_argument("--only", metavar="NAME", nargs="+")
    options = parser.parse_args(argv)
    unknown = [name for name in options.only or [] if name not in tries]
    if unknown:
        parser.error(f"no try {unknown[0]!r}; there are: {'; '.join(tries)}")
    try:
        sets = read_sets(options.exclude)
        excluded = asked_pairs(sets)
        known, meanings = vectors(), synsets()
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    split = split_synsets(meanings, known, excluded)
    judged = {**_news(known), **similarity_pairs()}
    asked = {**split.asked, **{one.name: one for one in sets}}
    rows: list[list[object]] = [["vectors alone", "", "", *_measured(known, asked, judged)]]
    rows += (
        [name, *_row(tries[name], known, meanings, split, asked, judged)]
        for name in options.only or tries
    )
    command = shown_command(
        *["python", "-m", "tests.benchmarks.retrofits"],
        *(["--exclude", *options.exclude] if sets else []),
    )
    header = ("try", "MB", "seconds", *asked, *judged)
    print_report(f"Learned from WordNet. Made by `{command}`", header, rows)


def split_synsets(
    synsets: Sequence[Synset], vectors: WordVectors, excluded: set[frozenset[str]]
) -> Split:
    """Hold out a part of the synsets wholly, and of another part the pairs of synonyms."""
    frequent = {
        word
        for word, count in zip(vectors.words, vectors.counts.tolist(), strict=True)
        if count >= _FREQUENT and word.isalpha()
    }
    several = sorted(s.name for s in synsets if len(frequent.intersection(s.lemmas)) > 1)
    random.Random(_SEED).shuffle(several)
    size = len(several) // _PART
    parts = {"meanings held out": several[:size], "pairs held out": several[size : 2 * size]}
    lemmas = {s.name: sorted(frequent.intersection(s.lemmas)) for s in synsets}
    every = _synonyms(lemmas.values())
    held, asked = set[frozenset[str]](), dict[str, RetrievalSet]()
    for name, names in parts.items():
        synonyms = _synonyms(lemmas[synset] for synset in names)
        pairs = {frozenset((a, b)) for a, others in synonyms.items() for b in others}
        # What is right by another synset is not asked, and is not wrong either.
        others = {frozenset((a, b)) for a, found in every.items() for b in found} - pairs
        made = development_set(sorted(frequent), every, others | excluded)
        asked[name] = made._replace(name=name)
        held |= pairs
    return Split(frozenset(parts["meanings held out"]), frozenset(held), asked)


def _synonyms(groups: object) -> dict[str, set[str]]:
    found = defaultdict[str, set[str]](set)
    for group in groups:  # type: ignore[attr-defined]
        for first, second in combinations(group, 2):
            found[first].add(second)
            found[second].add(first)
    return dict(found)


def _row(
    one: Try,
    vectors: WordVectors,
    synsets: Sequence[Synset],
    split: Split,
    asked: Mapping[str, RetrievalSet],
    judged: Mapping[str, list[JudgedPair]],
) -> list[object]:
    excluded = split.without | asked_pairs(asked.values())
    pairs = related_pairs(synsets, set(vectors.words), excluded=excluded, without=split.meanings)
    kept = [pair for pair in pairs if one.weights[pair.kind]]
    start = time.process_time()
    subwords = retrofit(
        vectors,
        [(pair.first, pair.second) for pair in kept],
        [one.weights[pair.kind] for pair in kept],
        one.recipe,
    ).rounded()
    seconds = round(time.process_time() - start)
    projections = Projections(subwords, subwords)
    return [
        _megabytes(projections),
        seconds,
        *_measured(Projected(vectors, projections), asked, judged),
    ]


def _megabytes(projections: Projections) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "some.projections"
        projections.save(file)
        return f"{file.stat().st_size / 1e6:.2f}"


def _measured(
    vectors: WordVectors,
    asked: Mapping[str, RetrievalSet],
    judged: Mapping[str, list[JudgedPair]],
) -> list[object]:
    hits: list[object] = [_by_cosine(vectors, one) for one in asked.values()]
    return hits + [rank_correlation(vectors, pairs) for pairs in judged.values()]


def _by_cosine(vectors: WordVectors, one: RetrievalSet) -> float:
    first, accepted = list[str](), list[frozenset[str]]()
    for dictionary in one.dictionaries:
        keys = vectors.encode(dictionary.keys)
        queries = vectors.encode([query.text for query in dictionary.queries])
        cosines = queries @ (keys / np.linalg.norm(keys, axis=1, keepdims=True)).T
        first += [dictionary.keys[i] for i in cosines.argmax(axis=1).tolist()]
        accepted += [query.accept for query in dictionary.queries]
    return hit_at_1(first, accepted)


# ---- data of another kind -----------------------------------------------------------------


def _news(vectors: WordVectors) -> dict[str, list[JudgedPair]]:
    """Return judged pairs of news stories, and pairs of words that meet in others or do not."""
    from gensim.test.utils import datapath

    stories = Path(datapath("lee.cor")).read_text("latin-1").splitlines()
    alike = np.loadtxt(datapath("similarities0-1.txt"))
    judged = [
        JudgedPair(stories[i], stories[j], float(alike[i, j]))
        for i, j in combinations(range(len(stories)), 2)
    ]
    others = Path(datapath("lee_background.cor")).read_text("latin-1").splitlines()
    met = _meetings(others, vectors)  # none, where the words are not those of news
    return {"stories": judged, **({"words that meet": met} if met else {})}


def _meetings(stories: Sequence[str], vectors: WordVectors) -> list[JudgedPair]:
    """Return words by how much oftener they share a sentence than by chance."""
    known = {word for word in vectors.words[150:] if word.isalpha() and len(word) > 3}
    words, pairs, total = Counter[str](), Counter[tuple[str, str]](), 0
    for sentence in (s for story in stories for s in split_sentences(story)):
        met = sorted(known.intersection(plain(sentence).split()))
        total += 1
        words.update(met)
        pairs.update(combinations(met, 2))
    met_often = [
        JudgedPair(a, b, float(np.log(count * total / (words[a] * words[b]))))
        for (a, b), count in pairs.items()
        if count >= _MET and min(words[a], words[b]) > _MET
    ]
    rng, common = random.Random(_SEED), sorted(w for w in words if words[w] > 2 * _MET)
    strangers = list[JudgedPair]()
    while len(strangers) < len(met_often):
        first, second = sorted(rng.sample(common, 2))
        if (first, second) not in pairs:
            strangers.append(JudgedPair(first, second, -1.0))
    return met_often + strangers


if __name__ == "__main__":
    main()
