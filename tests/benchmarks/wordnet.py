"""What WordNet tells of words: synonyms to find, and how near words stand in its tree."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet

__all__ = ["graded_pairs", "synonym_set", "wordnet_synonyms"]

Pairs = Collection[frozenset[str]]

_PREFIX = 4  # words that share so many first letters may be found by their spelling
_DICTIONARIES, _KEYS, _QUERIES = 8, 1000, 195  # of each dictionary
_GRADED = 3000  # pairs
_SENSES = 2  # the most frequent senses of a word that are compared
_APART = 0.35  # share of pairs that are drawn without regard to the tree
_CLIMB = 3  # steps up the tree, then down, to a word's neighbours, at most
_OCTAVES = 4  # words are drawn as often from 5 to 9 occurrences as from 10 to 19, 20 to 39...


# ---- synonyms -----------------------------------------------------------------------------


def wordnet_synonyms(words: Collection[str]) -> Mapping[str, set[str]]:
    """Return for each of ``words`` the others that WordNet has in a synset with it."""
    from nltk.corpus import wordnet

    known, synonyms = set(words), defaultdict[str, set[str]](set)
    for synset in wordnet.all_synsets():
        for first, second in combinations(sorted(known.intersection(synset.lemma_names())), 2):
            synonyms[first].add(second)
            synonyms[second].add(first)
    return dict(synonyms)


def synonym_set(words: Sequence[str], excluded: Pairs) -> RetrievalSet:
    """Return dictionaries of ``words``, and queries that accept their synonyms.

    A pair that is ``excluded``, or whose words share their first four letters, is not asked:
    no query stands beside a key of such a pair. No word is a query twice.
    """
    synonyms, rng = wordnet_synonyms(words), random.Random(1)

    def asked(query: str) -> set[str]:
        return {
            word
            for word in synonyms[query]
            if word[:_PREFIX] != query[:_PREFIX] and frozenset((query, word)) not in excluded
        }

    waiting = sorted(word for word in words if synonyms.get(word))
    rng.shuffle(waiting)
    made = []
    for _ in range(_DICTIONARIES):
        wanted: dict[str, str] = {}
        while waiting and len(wanted) < _QUERIES:
            query = waiting.pop()
            right = sorted(asked(query) - wanted.keys())
            if right and query not in wanted.values():
                wanted[query] = rng.choice(right)
        chosen = dict.fromkeys(wanted.values())
        others = sorted(set(words) - chosen.keys() - wanted.keys())
        chosen |= dict.fromkeys(rng.sample(others, _KEYS - len(chosen)))
        keys = set(chosen)
        queries = [
            Query(query, frozenset(asked(query) & keys))
            for query in wanted
            if keys.isdisjoint(synonyms[query] - asked(query))
        ]
        made.append(Dictionary(sorted(keys), queries))
    return RetrievalSet("synonyms", made)


# ---- the tree -----------------------------------------------------------------------------


def graded_pairs(
    counts: Mapping[str, int], part_of_speech: str, excluded: Pairs
) -> list[JudgedPair]:
    """Return pairs of the words that ``counts`` has, and their similarity by Wu and Palmer (1994).

    ``part_of_speech`` is "n" or "v". Random pairs are nearly all unlike; so most are drawn near
    each other in the tree. Rare words do not outnumber the others as they do in a vocabulary.
    """
    senses = {word: _senses(word, part_of_speech) for word in sorted(counts)}
    senses = {word: found for word, found in senses.items() if found}
    least, rng = min(counts[word] for word in senses), random.Random(7)
    octave = {word: min(int(math.log2(counts[word] / least)), _OCTAVES) for word in senses}
    sizes, words_of = defaultdict[int, int](int), defaultdict[Any, list[str]](list)
    for word, found in senses.items():
        sizes[octave[word]] += 1
        words_of[found[0]].append(word)
    weights = {word: 1 / sizes[octave[word]] for word in senses}

    def draw(words: Collection[str]) -> str:
        return rng.choices(list(words), [weights[word] for word in words])[0]

    pairs: dict[tuple[str, str], None] = {}
    while len(pairs) < _GRADED:
        first = draw(senses)
        near = senses if rng.random() < _APART else words_of.get(_beside(senses[first][0], rng), [])
        second = draw(near) if near else first
        if first[:_PREFIX] != second[:_PREFIX] and frozenset((first, second)) not in excluded:
            pairs[min(first, second), max(first, second)] = None
    return [
        JudgedPair(a, b, max(x.wup_similarity(y) or 0.0 for x, y in product(senses[a], senses[b])))
        for a, b in sorted(pairs)
    ]


def _beside(sense: Any, rng: random.Random) -> Any:
    """Return a sense that is a few steps up and down from another."""
    climb = rng.randint(0, _CLIMB)
    for _ in range(climb):
        sense = rng.choice(sense.hypernyms() or [sense])
    for _ in range(rng.randint(0, climb)):
        sense = rng.choice(sense.hyponyms() or [sense])
    return sense


def _senses(word: str, part_of_speech: str) -> list[Any]:
    """Return the first senses of ``word`` itself, not of what it may be an inflection of.

    None, if it is oftener the other part of speech.
    """
    from nltk.corpus import wordnet

    found, frequency = dict[str, list[Any]](), dict[str, int]()
    for pos in "nv":
        lemmas = [
            lemma
            for synset in wordnet.synsets(word, pos)
            for lemma in synset.lemmas()
            if lemma.name().lower() == word
        ]
        found[pos] = [lemma.synset() for lemma in lemmas]
        frequency[pos] = sum(lemma.count() for lemma in lemmas)
    if frequency[part_of_speech] < max(frequency.values()):
        return []
    return found[part_of_speech][:_SENSES]
