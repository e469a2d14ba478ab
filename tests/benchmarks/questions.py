"""Retrieval sets to choose by, of several kinds: none of them asks what is excluded.

python -m tests.benchmarks.questions [--exclude FILE...] -o FOLDER
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from fuzzydict import Brown, FuzzyDictError, MissingCorpusError
from fuzzydict.evaluation.datasets import Dictionary, Query, RetrievalSet, read_sets

from .development import pairs_of
from .spellings import (
    Answers,
    abbreviated,
    changed,
    codespell,
    inflections,
    misspelled,
    slip,
    variants,
)

__all__ = ["KINDS", "question_sets"]

#: How much each kind counts: slips, synonyms and phrases alike; what is made of words, little.
KINDS: Mapping[str, float] = {
    "typos": 1.0,
    "variants": 0.25,
    "synonyms": 1.0,
    "phrases": 1.0,
    "phrases with a word in common": 0.1,
    "phrases with a slip": 0.05,
    "inflections": 0.05,
    "random slips": 0.05,
    "a word of a phrase": 0.1,
    "a word of a phrase with a slip": 0.1,
    "random slips beside phrases": 0.2,
    "abbreviations": 0.1,
}
# Dictionaries of each kind: how many, of how many keys, asked how many queries.
_SIZES = ((2, 1000, 190), (3, 300, 60), (8, 100, 20), (16, 30, 6), (40, 8, 2))
_FREQUENT = 5  # occurrences of a word that is a key
_SLIPS = 6000
_FEW = 8  # phrases of a word that is asked for alone
_SEED = 7


def question_sets(excluded: Collection[frozenset[str]]) -> Iterator[RetrievalSet]:
    """Yield a set for each of `KINDS`.

    Args:
        excluded: pairs that are not asked, in either direction. A query or correction of a slip
            in one of them is left out altogether.

    Raises:
        FuzzyDictError: WordNet or codespell is not on this machine.
    """
    rng = random.Random(_SEED)
    counts = dict(zip(Brown().words, Brown().counts.tolist(), strict=True))
    words = [word for word, n in counts.items() if n >= _FREQUENT and word.isalpha()]
    synonyms = _synonyms(counts)
    phrases = sorted(text for text in synonyms if " " in text)
    mixed = [*rng.sample(phrases, len(words) // 3), *words]  # keys are words more often
    single = {a: {b for b in bs if " " not in b} & set(words) for a, bs in synonyms.items()}
    apart, shared = _of_phrases(synonyms, common=False), _of_phrases(synonyms, common=True)
    barred = {text for pair in excluded for text in pair}
    of_names, of_slips, names = _words_of_names(counts, words)
    beside = {word: phrase for phrase in phrases for word in phrase.split()}
    beside = {word: beside[word] for word in words if word in beside}
    made: dict[str, tuple[Answers, Sequence[str]]] = {
        "typos": (codespell("dictionary.txt", set(words), barred), words),
        "variants": (variants(counts, barred), words),
        "synonyms": ({a: bs for a, bs in single.items() if " " not in a}, words),
        "phrases": (apart, mixed),
        "phrases with a word in common": (shared, mixed),
        "phrases with a slip": (changed(phrases, words, rng), mixed),
        "inflections": (inflections(words), words),
        "random slips": (misspelled(words, counts, rng), words),
        "a word of a phrase": (of_names, names),
        "a word of a phrase with a slip": (of_slips, names),
        "random slips beside phrases": (
            misspelled(sorted(beside), counts, random.Random(_SEED)),
            words,
        ),
        "abbreviations": (abbreviated(words, counts, random.Random(_SEED)), words),
    }
    for kind in KINDS:
        companions = beside if "beside" in kind else {}
        yield _set(kind, *made[kind], synonyms, excluded, rng, companions)


def _set(
    kind: str,
    answers: Answers,
    others: Sequence[str],
    synonyms: Answers,
    excluded: Collection[frozenset[str]],
    rng: random.Random,
    beside: Mapping[str, str],
) -> RetrievalSet:
    """Return dictionaries of keys, each wanted one with the key that is to be beside it."""
    waiting = sorted(query for query in answers if answers[query])
    rng.shuffle(waiting)
    most = len(waiting) // 6 + 1  # so that small sets, too, make several dictionaries

    def right(query: str) -> set[str]:
        return {key for key in answers[query] if frozenset((query, key)) not in excluded}

    dictionaries = []
    for count, size, asked in _SIZES:
        for _ in range(count):
            wanted = _wanted(waiting, right, min(asked, most), rng)
            also = [beside[key] for key in wanted.values() if key in beside]
            keys = _filled([*wanted.values(), *also], wanted, others, size, rng)
            queries = []
            for query in wanted:
                alike = (*answers[query], *synonyms.get(query, ()))
                pairs = {frozenset((query, key)) for key in set(alike) & set(keys)}
                if pairs.isdisjoint(excluded):
                    queries.append(Query(query, frozenset(right(query) & set(keys))))
            if queries:
                dictionaries.append(Dictionary(keys, queries))
    return RetrievalSet(kind, dictionaries)


def _wanted(
    waiting: list[str], right: Callable[[str], set[str]], count: int, rng: random.Random
) -> dict[str, str]:
    """Take queries from those waiting, each with the key that it is to find."""
    wanted: dict[str, str] = {}
    while waiting and len(wanted) < count:
        query = waiting.pop()
        keys = sorted(right(query) - wanted.keys())
        if keys and query not in wanted.values():
            wanted[query] = rng.choice(keys)
    return wanted


def _filled(
    some: Sequence[str],
    queries: Collection[str],
    others: Sequence[str],
    size: int,
    rng: random.Random,
) -> list[str]:
    keys = dict.fromkeys(some)
    while len(keys) < size:
        other = rng.choice(others)
        if other not in queries:
            keys[other] = None
    shuffled = list(keys)
    rng.shuffle(shuffled)
    return shuffled


# ---- meanings -----------------------------------------------------------------------------


def _synonyms(words: Collection[str]) -> Answers:
    """Return WordNet's synonyms of each word and phrase that is made of known words."""
    from nltk.corpus import wordnet

    try:
        synsets = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    found = defaultdict[str, set[str]](set)
    for synset in synsets:
        names = {lemma.name().replace("_", " ").lower() for lemma in synset.lemmas()}
        names = {n for n in names if all(w in words and w.isalpha() for w in n.split())}
        for name in names:
            found[name] |= names - {name}
    return found


def _of_phrases(synonyms: Answers, *, common: bool) -> Answers:
    """Return the synonyms of which one is a phrase, and which share a word, or do not."""
    return {
        a: {
            b
            for b in bs
            if (" " in a or " " in b) and bool(set(a.split()) & set(b.split())) is common
        }
        for a, bs in synonyms.items()
    }


def _words_of_names(
    known: Collection[str], words: Sequence[str]
) -> tuple[Answers, Answers, Sequence[str]]:
    """Return words and the phrases that they are of, the same with a slip, and keys to add.

    The phrases are WordNet's, of words known or not; each word is of a few of them.
    """
    from nltk.corpus import wordnet

    rng = random.Random(_SEED)  # of its own, so that the other kinds stay what they were
    phrases = sorted({name.replace("_", " ").lower() for name in wordnet.all_lemma_names()})
    phrases = [p for p in phrases if " " in p and all(w.isalpha() for w in p.split())]
    found = defaultdict[str, set[str]](set)
    for phrase in phrases:
        for word in phrase.split():
            found[word].add(phrase)
    few = {word: of for word, of in found.items() if len(word) > 3 and len(of) <= _FEW}
    some = rng.sample(sorted(few), min(_SLIPS, len(few)))
    asked, slipped = some[::2], {slip(word, rng): few[word] for word in some[1::2]}
    slips = {slip: of for slip, of in slipped.items() if slip not in known and slip not in found}
    return {word: few[word] for word in asked}, slips, [*rng.sample(phrases, len(words)), *words]


def main(argv: Sequence[str] | None = None) -> None:
    """Write the sets to a folder, a file each, so that others can leave their pairs out too."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.questions", description="Write the questions as files."
    )
    parser.add_argument("--exclude", metavar="FILE", nargs="+", type=Path, default=[])
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        for one in question_sets(pairs_of(read_sets(options.exclude))):
            file = options.output / f"{one.name.replace(' ', '-')}.json"
            file.write_text(json.dumps(_as_json(one), indent=1), encoding="utf-8")
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))


def _as_json(one: RetrievalSet) -> dict[str, list[object]]:
    return {
        "dictionaries": [
            {
                "keys": dictionary.keys,
                "queries": [
                    {"query": query.text, "accept": sorted(query.accept)}
                    for query in dictionary.queries
                ],
            }
            for dictionary in one.dictionaries
        ]
    }


if __name__ == "__main__":
    main()
