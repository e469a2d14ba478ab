"""What the package asks of an embedding: vectors of texts and words, and how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict._arrays import units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.embedding.vocabulary import Vocabulary


class Embedding(Protocol):
    """What a dict asks of an embedding."""

    @property
    def calibration(self) -> Calibration:
        """The weights that turn nearness and likeness into a probability."""

    @property
    def tells_words(self) -> bool:
        """Whether the vectors are made from the words of `vocabulary`."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The known words, and the weight of each in a phrase."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E), as keys and values have it."""

    def encode_with_trust(
        self, texts: Sequence[str], *, of_queries: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return a vector for each text, (n, E), and how far to trust it, (n,), from 0 to 1.

        Args:
            texts: n keys, or queries.
            of_queries: whether they are queries, which may be projected in another way.
        """

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far to trust the vector of each text, (n,)."""

    def word_features(self, words: Sequence[str], *, of_query: bool) -> WordFeatures:
        """Return what is needed to compare n single words with others."""

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines to expect of unrelated texts, given vectors of keys, (n, E)."""

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies this embedding, as JSON: a name, and maybe probes."""


# ---- words -----------------------------------------------------------------------------------


class WordFeatures(NamedTuple):
    """What is needed to compare n words with others.

    Attributes:
        known: whether the vocabulary has each word, (n,).
        weights: the weight of each word in a phrase, (n,), see `Vocabulary.weight`.
        trust: how far to trust each vector, (n,), from 0 to 1.
        units: the vectors, of length one, (n, E); (n, 0) where they would cost too much.
        lengths: the lengths that the vectors had, (n, 1).
    """

    known: NDArray[np.bool_]
    weights: NDArray[np.float32]
    trust: NDArray[np.float32]
    units: NDArray[np.float32]
    lengths: NDArray[np.float32]

    def weighed(self, factors: NDArray[np.float32]) -> WordFeatures:
        """Return the same features with each weight multiplied by its factor, (n,)."""
        known, weights, *others = self
        return WordFeatures(known, weights * factors, *others)


_KEPT = 1 << 13  # words; the words of keys are compared with every query


class WordCache:
    """The features of the words asked for last, each computed once.

    Args:
        compute: takes words, and returns their features.
    """

    def __init__(self, compute: Callable[[list[str]], WordFeatures]) -> None:
        self._compute = compute
        self._kept: dict[str, WordFeatures] = {}  # of one word each

    def __reduce__(self) -> tuple[type[WordCache], tuple[Callable[[list[str]], WordFeatures]]]:
        return WordCache, (self._compute,)  # without what can be computed again

    def __call__(self, words: Sequence[str]) -> WordFeatures:
        """Return the features of n words."""
        kept = self._kept
        new = [word for word in words if word not in kept]
        if new or not words:
            if len(kept) > _KEPT:  # another dict, since another thread may be reading this one
                kept = {word: kept[word] for word in words if word in kept}
            features = self._compute(new)
            for i, word in enumerate(new):
                known, weights, trust, vectors, lengths = features
                one = slice(i, i + 1)
                kept[word] = WordFeatures(
                    known[one], weights[one], trust[one], vectors[one], lengths[one]
                )
            self._kept = kept
            if len(new) == len(words):
                return features
        if len(words) == 1:
            return kept[words[0]]
        return WordFeatures(*map(np.concatenate, zip(*map(kept.__getitem__, words), strict=True)))


# ---- queries -----------------------------------------------------------------------------------


class EncodedQueries(NamedTuple):
    """What is compared of L queries.

    Attributes:
        vectors: their vectors, (L, E).
        trust: how far to trust each, (L,), from 0 to 1.
        words: the features of the words of each, if these were given.
    """

    vectors: NDArray[np.float32]
    trust: NDArray[np.float32]
    words: list[WordFeatures]


def encode_queries(
    embedding: Embedding,
    texts: Sequence[str],
    words: Sequence[list[str]] | None = None,
    vectors: NDArray[np.float32] | None = None,
) -> EncodedQueries:
    """Return the vectors of L queries and the features of their words.

    They are those of `Embedding.encode_with_trust` and `Embedding.word_features`, but each
    different word is computed once.

    Args:
        embedding: what encodes them.
        texts: the queries as asked.
        words: the plain words of each that are compared one by one, if they are needed.
        vectors: the vectors of the queries, (L, E), if they are known.
    """
    features = [] if words is None else _features_of_each(embedding, words)
    if vectors is not None:
        return EncodedQueries(vectors, embedding.trust(texts), features)
    # The vector of a text of one word is that of the word.
    is_word = [False] * len(texts)
    if words is not None and embedding.tells_words:
        tokens = embedding.vocabulary.tokens
        is_word = [
            len(some) == 1 and tokens(text) == some for text, some in zip(texts, words, strict=True)
        ]
    if not any(is_word):
        return EncodedQueries(*embedding.encode_with_trust(texts, of_queries=True), features)
    if len(texts) == 1:
        (one,) = features
        return EncodedQueries(one.units * one.lengths, one.trust, features)
    single = list(compress(features, is_word))
    trust = np.concatenate([one.trust for one in single])
    vectors = np.concatenate([one.units for one in single])
    vectors *= np.concatenate([one.lengths for one in single])
    if len(single) < len(texts):
        several = [text for text, alone in zip(texts, is_word, strict=True) if not alone]
        others, of_others = embedding.encode_with_trust(several, of_queries=True)
        order = np.argsort(np.argsort(is_word, kind="stable"))
        vectors = np.concatenate([others, vectors])[order]
        trust = np.concatenate([of_others, trust])[order]
    return EncodedQueries(vectors, trust, features)


def _features_of_each(embedding: Embedding, words: Sequence[list[str]]) -> list[WordFeatures]:
    """Return the features of each list of words of queries."""
    features_of = partial(embedding.word_features, of_query=True)
    if len(words) > 1:
        features_of(list(dict.fromkeys(chain.from_iterable(words))))  # together; they are kept
    return list(map(features_of, words))


# ---- cosines of unrelated texts ----------------------------------------------------------------

#: The number of texts that the background is estimated from.
SAMPLE = 128
_USUAL = (0.2, 0.1)  # mean and spread for word2vec and for sentence encoders
_PRIOR_PAIRS = 2.0  # the usual mean and spread weigh as much as so many pairs of texts


class Background(NamedTuple):
    """Mean and standard deviation of the cosines of unrelated texts."""

    mean: float
    spread: float


def background_of(vectors: NDArray[np.float32]) -> Background:
    """Return the background of an embedding, estimated from the vectors of some texts, (n, E).

    Embeddings differ: in some, all cosines lie between 0.7 and 1. If there are few texts, the
    estimate is drawn towards the usual values.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    unit = units(vectors)
    return background_of_cosines(unit @ unit.T)


def background_of_cosines(table: NDArray[np.float32]) -> Background:
    """Return the background from the cosines of n texts as queries and as keys, (n, n)."""
    cosines = table[np.triu_indices(len(table), 1)].astype(np.float64)
    usual_mean, usual_spread = _USUAL
    weight = len(cosines) + _PRIOR_PAIRS
    mean = (cosines.sum() + _PRIOR_PAIRS * usual_mean) / weight
    squares = np.square(cosines - mean).sum() + _PRIOR_PAIRS * usual_spread**2
    return Background(float(mean), float(np.sqrt(squares / weight)))
