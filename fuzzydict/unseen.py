"""Words never seen -> vectors: as far as known words resemble one theirs, for the rest its own."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict.spelling import ngram_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.matrix import Matrix
    from fuzzydict.vocabulary import Vocabulary

__all__ = ["Unseen"]

_RARE = 2000  # words from the end of the vocabulary: what to expect of one never seen


class Unseen:
    """The vectors of words that are not in a vocabulary, told from the matrix of those that are.

    >>> from fuzzydict.matrix import Matrix
    >>> from fuzzydict.vocabulary import Vocabulary
    >>> known = Matrix(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    >>> unseen = Unseen(Vocabulary(["organize", "red"], [1, 1]), known)
    >>> unseen.vector("organise").tolist()
    [1.0, 0.0]
    """

    def __init__(self, vocabulary: Vocabulary, matrix: Matrix) -> None:
        self._vocabulary, self._known = vocabulary, matrix
        # Bounded as the vocabulary's stand-ins are; the words of keys are asked for ever again.
        self.vector = lru_cache(maxsize=4096)(self._vector)

    def __reduce__(self) -> tuple[type[Unseen], tuple[Vocabulary, Matrix]]:
        return Unseen, (self._vocabulary, self._known)  # without what can be derived

    def _vector(self, word: str) -> NDArray[np.float32]:
        """Return the vector of a word that is not in the vocabulary, (E,), not to be written to."""
        stand_ins = self._vocabulary.stand_ins(word)
        known = stand_ins.weights @ self._known.rows(stand_ins.rows)
        vector = stand_ins.trust * known + (1 - stand_ins.trust) * self._own(word)
        found = np.asarray(vector, np.float32)
        found.flags.writeable = False
        return found

    def _own(self, word: str) -> NDArray[np.float32]:
        """Return a vector of the word's n-grams, (E,), that lies where those of rare words do."""
        mean, spread = self._of_rare_words
        own = ngram_vector(word, len(mean))
        return mean + own * np.float32(spread / np.linalg.norm(own))

    @cached_property
    def _of_rare_words(self) -> tuple[NDArray[np.float32], float]:
        """The mean of the rarest words' vectors, (E,), and how far from it they lie."""
        count = len(self._vocabulary)
        vectors = self._known.rows(np.arange(max(0, count - _RARE), count))
        mean = vectors.mean(axis=0)
        return mean, float(np.linalg.norm(vectors - mean, axis=1).mean())
