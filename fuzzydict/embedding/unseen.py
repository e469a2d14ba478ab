"""Words never seen -> vectors: as far as known words resemble one theirs, for the rest its own."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict._arrays import different, slices
from fuzzydict.embedding.vocabulary import FEW, sums
from fuzzydict.text.ngrams import ngram_buckets, ngram_buckets_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.matrix import Matrix
    from fuzzydict.embedding.vocabulary import Found, Vocabulary

__all__ = ["Unseen", "ngram_vector"]

# Odd numbers that make a sign of an n-gram's number and an axis: the top bit of their mixture.
_OF_NGRAM, _OF_AXIS, _MIXED = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)
_BLOCK = 1024  # words at a time, so that memory stays bounded
_RARE = 2000  # words from the end of the vocabulary: what to expect of one never seen


class Unseen:
    """The vectors of words that are not in a vocabulary, told from the matrix of those that are.

    >>> from fuzzydict.embedding.matrix import Matrix
    >>> from fuzzydict.embedding.vocabulary import Vocabulary
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

    def vectors(self, found: Found) -> NDArray[np.float32]:
        """Return the `vector` of each of the words that were found not to be there, (n, E)."""
        (mean, spread), words = self._of_rare_words, found.unseen
        vectors = np.empty((len(words), len(mean)), np.float32)
        if len(words) <= FEW:
            for vector, word in zip(vectors, words, strict=True):
                vector[:] = self.vector(word)
            return vectors
        (all_rows, all_weights, _), trust = found.stand_ins, found.stand_ins.trust
        for some in slices(len(words), _BLOCK):
            rows, weights = all_rows[some], all_weights[some]
            known = self._known.rows(rows.ravel()).reshape(*rows.shape, -1)
            lent = np.matmul(weights[:, None], known)[:, 0]
            own = ngram_vectors(words[some], len(mean))
            own *= (spread / np.linalg.norm(own, axis=1, keepdims=True)).astype(np.float32)
            own += mean
            own *= (1 - trust[some, None]).astype(np.float32)
            lent *= trust[some, None].astype(np.float32)
            np.add(lent, own, out=vectors[some])
        return vectors

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


def ngram_vector(word: str, size: int) -> NDArray[np.float32]:
    """Return a vector (E,) for a word that looks like no other: alike for words spelled alike.

    It is the sum of a vector of pseudo-random signs for each of its n-grams, the same ones in
    every process and release; sums of signs are a random projection (D. Achlioptas, 2003).
    """
    bits = _bits(ngram_buckets(word), size)
    # Twice the bits less their number is the sum of signs, which can be zero on every axis if
    # there are few; the first sign breaks the tie.
    twice = bits.sum(axis=0, dtype=np.float32) * 2 + bits[0]
    return np.asarray(twice - np.float32(len(bits) + 0.5), np.float32)


def ngram_vectors(words: Sequence[str], size: int) -> NDArray[np.float32]:
    """Return the `ngram_vector` of each of n words, (n, E); the signs of an n-gram are made once.

    >>> np.array_equal(ngram_vectors(["colour", "hue"], 8)[1], ngram_vector("hue", 8))
    True
    """
    buckets = ngram_buckets_of_each(words)
    lengths, flat = np.array(list(map(len, buckets))), np.concatenate(buckets)
    each = different(flat)
    places = np.searchsorted(each, flat)
    bits = _bits(each, size).astype(np.float32)
    vectors = sums(bits, places, lengths) * 2
    vectors += bits[places[np.cumsum(lengths) - lengths]]
    vectors -= (lengths[:, None] + 0.5).astype(np.float32)
    return vectors


def _bits(ngrams: NDArray[np.int64], size: int) -> NDArray[np.uint32]:
    """Return a pseudo-random bit for each n-gram, by its number, and axis, (n, E)."""
    axes = np.arange(size, dtype=np.uint32)
    mixed = (ngrams.astype(np.uint32)[:, None] * _OF_NGRAM ^ axes * _OF_AXIS) * _MIXED
    mixed ^= mixed >> np.uint32(15)
    mixed *= _OF_NGRAM
    mixed >>= np.uint32(31)
    return np.asarray(mixed, np.uint32)
