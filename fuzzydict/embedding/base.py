"""What the package asks of an embedding: vectors of texts and words, and how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """

    known: NDArray[np.bool_]
    weights: NDArray[np.float32]
    trust: NDArray[np.float32]
    units: NDArray[np.float32]

    def weighed(self, factors: NDArray[np.float32]) -> WordFeatures:
        """Return the same features with each weight multiplied by its factor, (n,)."""
        return WordFeatures(self.known, self.weights * factors, self.trust, self.units)


_KEPT = 1 << 13  # words; the words of keys are compared with every query


class WordCache:
    """The features of the words asked for last, each computed once.

    Args:
        compute: takes words, and returns their features.
    """

    def __init__(self, compute: Callable[[list[str]], WordFeatures]) -> None:
        self._compute = compute
        self._rows: dict[str, tuple[Any, ...]] = {}

    def __reduce__(self) -> tuple[type[WordCache], tuple[Callable[[list[str]], WordFeatures]]]:
        return WordCache, (self._compute,)  # without what can be computed again

    def __call__(self, words: Sequence[str]) -> WordFeatures:
        """Return the features of n words."""
        rows = self._rows
        new = [word for word in words if word not in rows]
        if new or not words:
            if len(rows) > _KEPT:  # another dict, since another thread may be reading this one
                rows = {word: rows[word] for word in words if word in rows}
            features = self._compute(new)
            rows.update(zip(new, zip(*features, strict=True), strict=True))
            self._rows = rows
            if len(new) == len(words):
                return features
        known, weights, trust, vectors = zip(*map(rows.__getitem__, words), strict=True)
        return WordFeatures(np.array(known), np.array(weights), np.array(trust), np.array(vectors))


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
