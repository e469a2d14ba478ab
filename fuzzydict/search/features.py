"""How alike queries and the keys of an index are: in spelling, in meaning, and word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fuzzydict._arrays import units
from fuzzydict.embedding.calibration import Likeness
from fuzzydict.text.similarity import (
    OTHER_NUMBER,
    abbreviation_likeness,
    coverage,
    likenesses,
    with_other_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.key_index import KeyIndex

__all__ = [
    "MEANT_ALIKE",
    "MEANT_LIKENESS",
    "SPELLED_ALIKE",
    "compare",
    "looks_alike",
    "nearness",
    "spelled_alike",
    "words_alike",
]

SPELLED_ALIKE = 48  # keys compared as strings, for they share n-grams with the query
MEANT_ALIKE = 16  # and for they mean the most alike
MEANT_LIKENESS = 0.6  # of spelling and of words, at most, of these: they share few n-grams
_WORDS = 32  # of a text, its first, compared one by one: what has more is not a phrase
_FAR = 12.0  # nearness at which two words are one
_SHARPNESS = 4  # likeness of two words that are known to this power: they are the same, or hardly
_DOUBTED = 0.4  # likeness at which a word never seen begins to count as a slip of another


def compare(
    queries: Sequence[str], texts: Sequence[str], vectors: NDArray[np.float32], index: KeyIndex
) -> Iterator[tuple[Likeness, float]]:
    """Yield how alike each query and the n slots are, and which share of its words is known.

    Args:
        queries: L of them, as asked.
        texts: their plain words.
        vectors: theirs, (L, E).
        index: the keys; what is told of its dead slots is not looked at.
    """
    dead = index.dead
    known_share = index.embedding.vocabulary.known_share
    for query, text, near in zip(queries, texts, nearness(queries, vectors, index), strict=True):
        yield _likeness(text, near, index, dead), known_share(query)


def nearness(
    queries: Sequence[str],
    vectors: NDArray[np.float32],
    index: KeyIndex,
    slots: NDArray[np.intp] | slice = slice(None),
) -> NDArray[np.float32]:
    """Return how near queries and keys (all, or those of c slots) are in meaning, (L, n or c).

    `evidence.Likeness` tells what it is.
    """
    mean, spread = index.background
    near: NDArray[np.float32] = units(vectors) @ index.vectors[slots].T
    near *= index.inverse_lengths[slots]
    near -= np.float32(mean)
    near *= index.trust[slots] / np.float32(spread)
    near *= index.embedding.trust(queries)[:, None]
    # What is very near is no more likely than what is near: opposites and siblings are nearest.
    reach = np.float32(index.embedding.calibration.reach)
    return np.where(near > 0, reach * np.tanh(near / reach), near)


def _likeness(
    text: str, near: NDArray[np.float32], index: KeyIndex, dead: NDArray[np.intp]
) -> Likeness:
    """Compare a query with the keys that are worth it, living ones where there are."""
    spelled = spelled_alike(text, index, dead)
    is_spelled = np.zeros(len(near), np.bool_)
    is_spelled[spelled] = True
    ranked = near.copy() if len(dead) else near
    ranked[dead] = -np.inf
    meant = _largest(ranked, MEANT_ALIKE)
    slots = np.concatenate([spelled, meant[~is_spelled[meant]]])
    plain = index.plain
    strings = [plain[slot] for slot in slots.tolist()]
    spelling = looks_alike(text, strings, index)
    words = words_alike(text, strings, index)
    for alike in (spelling, words):
        np.minimum(alike, MEANT_LIKENESS, out=alike, where=np.arange(len(slots)) >= len(spelled))
    return Likeness(near, slots, spelling, words)


def spelled_alike(text: str, index: KeyIndex, dead: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the slots that share the most n-grams with a text, in no order."""
    shared = index.ngrams.similarities(text)
    shared[dead] = -1
    return _largest(shared, SPELLED_ALIKE)


def looks_alike(text: str, strings: list[str], index: KeyIndex) -> NDArray[np.float32]:
    """Return how alike a query and c keys look, (c,)."""
    alike: NDArray[np.float32] = likenesses([text], strings)[0]
    return np.maximum(alike, _cut_short(text, strings, index), out=alike)


def _cut_short(word: str, others: list[str], index: KeyIndex) -> NDArray[np.float32] | float:
    """Return how alike a word and others are if it abbreviates them: a known one means itself."""
    known = index.embedding.vocabulary.knows(word)
    return 0.0 if known else abbreviation_likeness(word, others)


def words_alike(text: str, strings: list[str], index: KeyIndex) -> NDArray[np.float32]:
    """Return how far the words of a query and of c keys have their like, (c,); see `Likeness`."""
    words, *split = (string.split()[:_WORDS] for string in (text, *strings))
    found = np.full(len(split), -np.inf, np.float32)
    several = [i for i, key in enumerate(split) if len(words) > 1 or len(key) > 1]
    if not several:
        return found
    place = {word: i for i, word in enumerate(dict.fromkeys(w for i in several for w in split[i]))}
    weights = index.embedding.vocabulary.weights
    found[several] = coverage(
        _alike(words, list(place), index),
        weights(words),
        [[place[word] for word in split[i]] for i in several],
        weights(list(place)),
    )
    found[with_other_numbers(text, strings)] *= OTHER_NUMBER
    return found


def _alike(words: list[str], others: list[str], index: KeyIndex) -> NDArray[np.float32]:
    """Return how alike words are, (m, U): in spelling or in meaning, a "noisy or" of the two.

    (J. Pearl, 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3.2.)
    """
    embedding, (mean, spread) = index.embedding, index.background
    alike, knows = likenesses(words, others), embedding.vocabulary.knows
    for row, word in zip(alike, words, strict=True):
        np.maximum(row, _cut_short(word, others, index), out=row)
    known = np.array([knows(word) for word in words])[:, None]
    slips = np.maximum(alike - _DOUBTED, 0) / np.float32(1 - _DOUBTED)
    spelling = np.where(known, alike**_SHARPNESS, slips)
    asked = embedding.token_vectors(words, of_query=True)
    if not asked.shape[-1]:
        return spelling
    keys = units(embedding.token_vectors(others, of_query=False))
    near = (units(asked) @ keys.T - mean) / spread
    trust = embedding.vocabulary.trust
    near *= np.outer([trust(word) for word in words], [trust(word) for word in others])
    meaning = np.clip(near / _FAR, 0, 1)
    return np.asarray(1 - (1 - spelling) * (1 - meaning), np.float32)


def _largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` largest values, in no order; of equals the first."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])
