"""A retrieval set for choices: synonyms of WordNet that spelling cannot find."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from fuzzydict import MissingCorpusError
from fuzzydict.evaluation.datasets import Dictionary, Query, RetrievalSet
from fuzzydict.text.words import plain

__all__ = [
    "Synonyms",
    "development_set",
    "pairs_in",
    "pairs_of",
    "pairs_of_query",
    "wordnet_synonyms",
]

#: The synonyms of each word.
Synonyms = Mapping[str, Collection[str]]

_PREFIX = 4  # words that share so many first letters may be found by their spelling
_SEED = 1


def wordnet_synonyms(words: Collection[str]) -> Synonyms:
    """Return for each of ``words`` the others that WordNet has in a synset with it.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    from nltk.corpus import wordnet

    try:
        synsets = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    known, synonyms = set(words), defaultdict[str, set[str]](set)
    for synset in synsets:
        names = {lemma.name() for lemma in synset.lemmas()} & known
        for first, second in combinations(sorted(names), 2):
            synonyms[first].add(second)
            synonyms[second].add(first)
    return dict(synonyms)


def pairs_of(sets: Iterable[RetrievalSet]) -> set[frozenset[str]]:
    """Return the pairs, without direction, of queries and the keys that they accept."""
    return {
        frozenset((query.text, key)) for s in sets for query in s.queries for key in query.accept
    }


def pairs_in(paths: Iterable[Path]) -> set[frozenset[str]]:
    """Return the pairs of plain texts that sets ask, in files and the JSON files of folders.

    Unlike a retrieval set, a set may have queries without a right key.
    """
    files = [file for p in paths for file in (sorted(p.glob("*.json")) if p.is_dir() else [p])]
    return {
        pair
        for file in files
        for dictionary in json.loads(file.read_text("utf-8"))["dictionaries"]
        for query in dictionary["queries"]
        for pair in pairs_of_query(Query(query["query"], frozenset(query["accept"])))
    }


def pairs_of_query(query: Query) -> set[frozenset[str]]:
    """Return the pairs of plain texts of a query and the keys that it accepts."""
    return {frozenset((plain(query.text), plain(key))) for key in query.accept}


def development_set(
    words: Sequence[str],
    synonyms: Synonyms,
    excluded: Collection[frozenset[str]] = (),
    *,
    dictionaries: int = 8,
    keys: int = 1000,
    queries: int = 195,
) -> RetrievalSet:
    """Return dictionaries of ``words``, and queries that accept their synonyms.

    A pair that is ``excluded``, or whose words share their first four letters, is not asked:
    no query stands beside a key of such a pair. No word is a query twice.
    """
    rng = random.Random(_SEED)
    waiting = sorted(word for word in words if synonyms.get(word))
    rng.shuffle(waiting)
    made = []
    for _ in range(dictionaries):
        wanted: dict[str, str] = {}
        while waiting and len(wanted) < min(queries, keys):
            query = waiting.pop()
            right = sorted(_asked(query, synonyms, excluded) - wanted.keys())
            if right and query not in wanted.values():
                wanted[query] = rng.choice(right)
        made.append(_dictionary(words, wanted, synonyms, excluded, keys, rng))
    return RetrievalSet("development", [dictionary for dictionary in made if dictionary.queries])


def _asked(query: str, synonyms: Synonyms, excluded: Collection[frozenset[str]]) -> set[str]:
    """Return the synonyms of ``query`` that may be asked."""
    return {
        word
        for word in synonyms[query]
        if word[:_PREFIX] != query[:_PREFIX] and frozenset((query, word)) not in excluded
    }


def _dictionary(
    words: Sequence[str],
    wanted: Mapping[str, str],
    synonyms: Synonyms,
    excluded: Collection[frozenset[str]],
    size: int,
    rng: random.Random,
) -> Dictionary:
    """Return the keys that are wanted, others to make ``size``, and the queries left to ask."""
    chosen = dict.fromkeys(wanted.values())
    others = sorted(set(words) - chosen.keys() - wanted.keys())
    chosen |= dict.fromkeys(rng.sample(others, min(size - len(chosen), len(others))))
    keys = sorted(chosen)
    asked = []
    for query in wanted:
        accept = _asked(query, synonyms, excluded)
        barred = set(synonyms[query]) - accept
        if barred.isdisjoint(keys):
            asked.append(Query(query, frozenset(accept & set(keys))))
    return Dictionary(keys, asked)
