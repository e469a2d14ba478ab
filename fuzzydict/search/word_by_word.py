"""How well the words of queries and keys cover each other, and what the words that differ mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import units
from fuzzydict.embedding.base import WordFeatures
from fuzzydict.text.similarity import coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.key_index import Keys
    from fuzzydict.search.texts import Columns, Strings, Texts
    from fuzzydict.text.similarity import Coverage

_SAME_WORD = 12.0  # nearness at which two words count as the same
_FEW = 3  # words of a short text
_TELLING = 0.6  # coverage below which words that are not covered tell short texts apart
_HALF = 0.5  # share of the nearness of short texts that is that of the words they differ in
_COUNTERPART = 0.5  # likeness from which on a word of one text is one of the other
_DOUBTED = 0.4  # likeness at which an unknown word begins to count as a misspelling of another


def compare_words(
    split: Sequence[list[str]],
    of_each: Sequence[WordFeatures],
    texts: Texts,
    places: NDArray[np.intp],
    near: NDArray[np.float32],
    keys: Keys,
) -> NDArray[np.float32]:
    """Return how well the words of L queries and of c keys each cover each other, (L, c).

    It is -inf where both are single words. Short texts with a word in common are near for that
    alone. If each has other words that the other has not, half of the nearness is that of those: of
    "shoe" and "file" for "shoe size" and "file size". An encoder, which gives no vectors of words,
    reads the whole text and needs no such rule.

    Args:
        split: the first words of each query.
        of_each: the features of these.
        texts: a table that holds the plain words of the keys.
        places: the places of the keys in it, (L, c).
        near: the nearness of the whole texts, (L, c); some of it is lowered.
        keys: all keys.
    """
    covered = np.full(places.shape, -np.inf, np.float32)
    for m in {*map(len, split)}:
        group = [i for i, words in enumerate(split) if len(words) == m]
        rows = np.array(group)
        is_compared = np.ones((len(rows), places.shape[1]), np.bool_)
        if m == 1:
            is_compared = texts.with_several_words(places[rows])
        owners, columns = is_compared.nonzero()
        if len(owners):
            at = rows[owners], columns
            asked = _Asked.of([split[i] for i in group], [of_each[i] for i in group], keys)
            covered[at], near[at] = _compared(asked, owners, texts, places[at], near[at], keys)
    return covered


class _Asked(NamedTuple):
    """The words of L queries, m each, of which W are different.

    Attributes:
        words: the W words.
        numbers: those of each query, as places among the W, (L, m).
        features: of the W words.
    """

    words: list[str]
    numbers: NDArray[np.intp]
    features: WordFeatures

    @classmethod
    def of(cls, split: Sequence[list[str]], of_each: Sequence[WordFeatures], keys: Keys) -> _Asked:
        """Return the words of queries of as many words."""
        found: dict[str, int] = {}
        numbers = np.array(
            [[found.setdefault(word, len(found)) for word in words] for words in split]
        )
        words, features = list(found), of_each[0]
        if len(words) < numbers.size or len(split) > 1:
            _, first = np.unique(numbers, return_index=True)
            parts = zip(*of_each, strict=True)
            features = WordFeatures(*[np.concatenate(part)[first] for part in parts])
        return cls(words, numbers, features.weighed(keys.rarity(words)))


def _compared(
    asked: _Asked,
    owners: NDArray[np.intp],
    texts: Texts,
    places: NDArray[np.intp],
    near: NDArray[np.float32],
    keys: Keys,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the coverage and the nearness of P pairs of a query and a key, (P,) and (P,).

    Args:
        asked: the words of the queries.
        owners: the query of each pair, rising, (P,).
        texts: a table that holds the keys.
        places: the key of each pair, (P,).
        near: the nearness of each pair, (P,).
        keys: all keys.
    """
    others = texts.columns(places)
    features = texts.features(others.places).weighed(keys.rarity_of(texts, others.places))
    numbers = asked.numbers[owners]  # (P, m)
    alike = _words_alike(asked, numbers, texts, others, features, keys)
    pairs = alike[numbers[:, :, None], others.columns[:, None, :]]  # (P, m, longest)
    starts = np.searchsorted(owners, np.arange(len(asked.numbers) + 1)).tolist()
    for i, words in enumerate(asked.numbers.tolist()):
        of_query = slice(starts[i], starts[i + 1])
        runs = texts.runs.of([asked.words[word] for word in words], places[of_query])
        for key, rows, columns, likeness in runs:
            run = pairs[starts[i] + key, rows, columns]
            np.maximum(run, likeness, out=run)
    weights = np.append(features.weights, np.float32(0))[others.columns]
    shares = coverage(pairs, asked.features.weights[numbers], weights)
    covered = shares.mean()
    # In a short text each word tells: "birth date" asks for another thing than "start date".
    short = np.maximum(others.lengths, numbers.shape[1]) <= _FEW
    if short.any():
        telling = np.minimum(1, shares.larger()[short] / _TELLING)
        covered[short] *= telling * telling
        if numbers.shape[1] > 1 and asked.features.units.shape[1]:
            near = near - _excess(asked, numbers, others, features, shares, short, near, keys)
    return covered, near


def _excess(
    asked: _Asked,
    numbers: NDArray[np.intp],
    others: Columns,
    features: WordFeatures,
    shares: Coverage,
    short: NDArray[np.bool_],
    near: NDArray[np.float32],
    keys: Keys,
) -> NDArray[np.float32]:
    """Return what is taken from the nearness of P pairs, since their other words are less near."""
    excess = np.zeros_like(near)
    ours = (shares.of_query < _COUNTERPART) & short[:, None]  # (P, m)
    theirs = (shares.of_keys < _COUNTERPART) & (others.columns < len(features.weights))
    differ = ours.any(axis=1) & ~ours.all(axis=1) & theirs.any(axis=1)
    if not differ.any():
        return excess
    vectors, trust = _mixtures(asked.features, numbers[differ], ours[differ])
    columns, theirs = others.columns[differ], theirs[differ]
    # A word that comes twice counts once.
    columns = np.where(theirs, columns, -1)
    for j in range(1, columns.shape[1]):
        theirs[:, j] &= (columns[:, :j] != columns[:, j, None]).all(axis=1)
    vectors_of_keys, trust_in_keys = _mixtures(features, columns, theirs)
    cosines = np.einsum("pe,pe->p", units(vectors), units(vectors_of_keys))
    trust *= trust_in_keys
    of_others = keys.nearness_of(cosines)
    excess[differ] = _HALF * trust * np.maximum(near[differ] - of_others, 0)
    return excess


def _mixtures(
    features: WordFeatures, words: NDArray[np.intp], is_in: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weighted means of the vectors of some words, (P, E), and of their trust, (P,).

    Args:
        features: of U words.
        words: some of them for each of P texts, (P, m).
        is_in: which of these count, (P, m).
    """
    places = np.where(is_in, words, 0)
    weights = np.where(is_in, features.weights[places], 0)
    weights /= weights.sum(axis=1, keepdims=True)
    vectors = np.zeros((len(words), features.units.shape[1]), np.float32)
    for place, weight in zip(places.T, weights.T, strict=True):
        vectors += features.units[place] * weight[:, None]
    return vectors, (weights * features.trust[places]).sum(axis=1)


def _words_alike(
    asked: _Asked,
    numbers: NDArray[np.intp],
    texts: Texts,
    others: Columns,
    features: WordFeatures,
    keys: Keys,
) -> NDArray[np.float32]:
    """Return how alike W words and U others are, (W, U + 1), in spelling or meaning: a "noisy or".

    (J. Pearl, 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3.2.) The last column is 0,
    for no word. Words that no pair of texts compares need not be right.
    """
    alike = np.zeros((len(asked.words), len(others.places) + 1), np.float32)
    known, spelled = asked.features.known, alike[:, :-1]
    if len(asked.numbers) == 1:
        spelled[:] = _spelled_alike(asked.words, known, texts.words, others.places, keys)
    else:
        is_compared = np.zeros(alike.shape, np.bool_)
        is_compared[numbers[:, :, None], others.columns[:, None, :]] = True
        rows, columns = is_compared[:, :-1].nonzero()
        places = others.places[columns]
        spelled[rows, columns] = _spelled_alike(asked.words, known, texts.words, places, keys, rows)
    if asked.features.units.shape[1]:
        near = keys.nearness_of_words(asked.features, features)
        near /= np.float32(_SAME_WORD)
        np.clip(near, 0, 1, out=near)
        spelled += (1 - spelled) * near
    return alike


def _spelled_alike(
    words: list[str],
    known: NDArray[np.bool_],
    others: Strings,
    places: NDArray[np.intp],
    keys: Keys,
    owners: NDArray[np.intp] | None = None,
) -> NDArray[np.float32]:
    """Return how alike W words, some of them known, and c others are spelled, (W, c).

    A known word is the same word as another or hardly alike: the fourth power of the likeness
    counts. The places are those of the others, (c,); or with the word of each of P pairs in
    ``owners``, (P,), that of the other, (P,): then only these are compared, (P,).
    """
    if owners is None:
        alike, are_known = others.spellings.likeness_of_each(words, places), known[:, None]
    else:
        alike = others.spellings.likeness_of_pairs(words, owners, places)
        are_known = known[owners]
    slips = np.maximum(alike - _DOUBTED, 0)
    slips /= np.float32(1 - _DOUBTED)
    alike = np.where(are_known, np.square(np.square(alike)), slips)
    others.raise_derived(words, known.tolist(), places, keys.weight, alike, owners)
    return alike
