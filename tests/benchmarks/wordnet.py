"""What WordNet tells of words: which mean the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations

__all__ = ["wordnet_synonyms"]


def wordnet_synonyms(words: Collection[str]) -> Mapping[str, set[str]]:
    """Return for each of ``words`` the others that WordNet has in a synset with it."""
    from nltk.corpus import wordnet

    known, synonyms = set(words), defaultdict[str, set[str]](set)
    for synset in wordnet.all_synsets():
        for first, second in combinations(sorted(known.intersection(synset.lemma_names())), 2):
            synonyms[first].add(second)
            synonyms[second].add(first)
    return dict(synonyms)
