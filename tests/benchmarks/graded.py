"""Graded pairs for choices: how near two words stand in WordNet's tree of nouns or of verbs."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import product
from typing import Any

from fuzzydict import MissingCorpusError
from fuzzydict.evaluation.datasets import JudgedPair

__all__ = ["graded_pairs"]

_SEED = 7
_PREFIX = 4  # words that share so many first letters share a stem too often
_SENSES = 2  # the most frequent senses of a word that are compared
_APART = 0.35  # share of pairs that are drawn without regard to the tree
_CLIMB = 3  # steps up the tree, then down, to a word's neighbours, at most
_OCTAVES = 4  # words are drawn as often from 5 to 9 occurrences as from 10 to 19, 20 to 39...


def graded_pairs(
    counts: Mapping[str, int],
    part_of_speech: str,
    excluded: Collection[frozenset[str]] = (),
    *,
    size: int = 3000,
) -> list[JudgedPair]:
    """Return pairs of the words that ``counts`` has, and their similarity by Wu and Palmer (1994).

    ``part_of_speech`` is "n" or "v". Random pairs are nearly all unlike; so most are drawn near
    each other in the tree. Rare words do not outnumber the others as they do in a vocabulary.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    try:
        senses = {word: _senses(word, part_of_speech) for word in sorted(counts)}
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    senses = {word: found for word, found in senses.items() if found}
    words, rng, pairs = _Drawn(counts, senses), random.Random(_SEED), dict[tuple[str, str], None]()
    for _ in range(100 * size):  # a small vocabulary has fewer pairs
        first = words.draw(senses, rng)
        near = senses if rng.random() < _APART else words.around(senses[first][0], rng)
        second = words.draw(near, rng) if near else first
        if first[:_PREFIX] != second[:_PREFIX] and frozenset((first, second)) not in excluded:
            pairs[min(first, second), max(first, second)] = None
        if len(pairs) == size:
            break
    return [JudgedPair(a, b, _similarity(senses[a], senses[b])) for a, b in sorted(pairs)]


class _Drawn:
    """Words, drawn by how often they occur and by where they stand in the tree."""

    def __init__(self, counts: Mapping[str, int], senses: Mapping[str, list[Any]]) -> None:
        least = min((counts[word] for word in senses), default=1)
        octave = {word: min(int(math.log2(counts[word] / least)), _OCTAVES) for word in senses}
        sizes, self._words_of = defaultdict[int, int](int), defaultdict[Any, list[str]](list)
        for word, found in senses.items():
            sizes[octave[word]] += 1
            self._words_of[found[0]].append(word)
        self._weights = {word: 1 / sizes[octave[word]] for word in senses}

    def draw(self, words: Collection[str], rng: random.Random) -> str:
        return rng.choices(list(words), [self._weights[word] for word in words])[0]

    def around(self, sense: Any, rng: random.Random) -> list[str]:
        """Return the words of a sense that is a few steps up and down from ``sense``."""
        climb = rng.randint(0, _CLIMB)
        for _ in range(climb):
            sense = rng.choice(sense.hypernyms() or [sense])
        for _ in range(rng.randint(0, climb)):
            sense = rng.choice(sense.hyponyms() or [sense])
        return self._words_of.get(sense, [])


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


def _similarity(first: list[Any], second: list[Any]) -> float:
    return max(a.wup_similarity(b) or 0.0 for a, b in product(first, second))
