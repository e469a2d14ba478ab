"""Learned vectors of the n-grams of words: a projection that reads the texts as well."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import Array, as_floats, different, slices, units
from fuzzydict._files import array_of, texts_of
from fuzzydict.embedding.vocabulary import phrases_of, sums
from fuzzydict.embedding.word_vectors import Matrix
from fuzzydict.errors import ArgumentTypeError, ShapeError
from fuzzydict.text.words import plain

_SIZES = (3, 4, 5)  # an n-gram has so many characters; the whole word is one more
_WORDS = 128  # the first words of a text are read
_BLOCK = 4096  # texts projected, or words hashed, at a time, to save memory
_FEW = 32  # at most so many words are looked up one by one, and remembered
_INVERTED = np.uint32(0xFFFFFFFF)  # the first state of a CRC-32, and what inverts the last
# The table of CRC-32, computed by zlib, which itself takes one text at a time.
_CRC_TABLE = np.array(
    [zlib.crc32(bytes([255 - byte])) ^ 0xFF000000 for byte in range(256)], np.uint32
)


def ngram_rows(word: str, buckets: int) -> list[int]:
    """Return the buckets of the n-grams of a word: different numbers below ``buckets``, rising.

    The n-grams are those of "<word>" in UTF-8, so that its first and last letters are special.

    >>> len(ngram_rows("car", 8192))  # of "car": 3 of three, 2, 1
    6
    """
    marked = f"<{word}>".encode("utf-8", "surrogatepass")
    found = {zlib.crc32(marked) % buckets}
    for size in _SIZES:
        starts = range(len(marked) - size + 1)
        found.update([zlib.crc32(marked[start : start + size]) % buckets for start in starts])
    return sorted(found)


def ngram_rows_of(words: Sequence[str], buckets: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the `ngram_rows` of n words, concatenated, and how many each word has, (n,).

    >>> rows, lengths = ngram_rows_of(["car", "a"], 8192)
    >>> lengths.tolist(), rows[6:].tolist() == ngram_rows("a", 8192)
    ([6, 1], True)
    """
    marked = [f"<{word}>".encode("utf-8", "surrogatepass") for word in words]
    codes = np.frombuffer(b"".join(marked), np.uint8)
    owners = np.repeat(np.arange(len(marked)), list(map(len, marked)))
    found = [np.arange(len(marked)) * buckets + [zlib.crc32(word) % buckets for word in marked]]
    states = np.full(len(codes), _INVERTED)
    for size in range(1, _SIZES[-1] + 1):  # the checksum of an n-gram extends a shorter one's
        states = states[: len(codes) - size + 1]
        states = _CRC_TABLE[(states ^ codes[size - 1 :]) & 255] ^ (states >> 8)
        if size in _SIZES:
            inside = np.flatnonzero(owners[: len(states)] == owners[size - 1 :])
            rows = (states[inside] ^ _INVERTED) % np.uint32(buckets)
            found.append(owners[inside] * buckets + rows)
    pairs = different(np.concatenate(found))
    lengths = np.bincount(pairs // buckets, minlength=len(marked))
    return pairs % buckets, lengths


class Subwords:
    """A projection that also reads the texts: ``[x; x A + f(text) C]``, with x of unit length.

    ``f(text)`` counts each word's hashed n-grams, divides by the square root of their number, and
    averages over the words by weight. The first part is the word's own vector. The second adds its
    n-grams: it separates words with similar vectors and places unseen words.

    (n-grams: Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information"; hashing:
    Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning".)

    Args:
        matrix: A (E, r).
        table: C (N, r), a row for each of N buckets; an array or a `Matrix`.
        weights: weights of the words that weigh less than 1, such as "of".

    Raises:
        ShapeError: the shapes do not fit, a number is not finite, or a weight is not in (0, 1].

    Example:
        >>> subwords = Subwords([[1.0], [0.5]], [[1.0]])
        >>> subwords.project([[0.0, 2.0]], ["?!"]).tolist()
        [[0.0, 1.0, 0.5]]
    """

    def __init__(
        self,
        matrix: ArrayLike,
        table: ArrayLike | Matrix,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self.weights = MappingProxyType(dict(weights or {}))
        if not isinstance(table, Matrix):
            table = Matrix(np.array(as_floats(table=table)[0], np.float32))
        self.matrix = np.array(as_floats(matrix=matrix)[0], np.float32)
        self._table = table
        if self.matrix.ndim != 2 or not self.matrix.size:
            raise ShapeError(f"matrix must be (E, r), got shape {self.matrix.shape}")
        try:
            table.check(len(table.codes))
        except (TypeError, ValueError) as error:
            raise ShapeError(f"table must be (N, {self.matrix.shape[1]}): {error}") from error
        if table.codes.shape[1] != self.matrix.shape[1]:
            raise ShapeError(
                f"table must be (N, {self.matrix.shape[1]}), as matrix is {self.matrix.shape}, "
                f"got {table.codes.shape}"
            )
        if not all(0 < weight <= 1 for weight in self.weights.values()):
            raise ShapeError("weights must be above 0, and 1 at the most")
        if not (np.isfinite(self.matrix).all() and np.isfinite(self.table).all()):
            raise ShapeError("matrix and table must be finite, got NaN or infinity among them")
        self.matrix.flags.writeable = False
        self._word = lru_cache(maxsize=1 << 13)(self._of_word)

    @property
    def shape(self) -> tuple[int, int]:
        """The sizes of a vector before and after: (E, E + r)."""
        size, added = self.matrix.shape
        return size, size + added

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """The vectors of the n-grams, (N, r), read-only."""
        whole = self._table.whole
        whole.flags.writeable = False
        return whole

    def rounded(self) -> Subwords:
        """Return the same projection with a byte for each number of the table."""
        return Subwords(self.matrix, self._table.rounded(), self.weights)

    def project(self, vectors: ArrayLike, texts: Sequence[str] | None) -> Array:
        """Return the projected vectors (n, E + r) of vectors (n, E) of n texts.

        Raises:
            ArgumentTypeError: there are no texts.
            ShapeError: there are more texts than vectors, or fewer, or the size E is another.
        """
        x = as_floats(vectors=vectors)[0].astype(np.float32, copy=False)
        if texts is None:
            raise ArgumentTypeError("texts: these projections read texts as well; give them too")
        if x.shape != (len(texts), len(self.matrix)):
            raise ShapeError(
                f"expected a vector of {len(self.matrix)} numbers for each of {len(texts)} texts, "
                f"got shape {x.shape}"
            )
        if len(x) == 1:
            unit = units(x)
            return np.concatenate([unit, unit.dot(self.matrix) + self.encode(texts)], axis=1)
        size, projected = len(self.matrix), np.empty((len(x), self.shape[1]), np.float32)
        unit, learned = projected[:, :size], projected[:, size:]
        for some in slices(len(x), _BLOCK):
            unit[some] = units(x[some])
        learned[:] = unit @ self.matrix
        learned += self.encode(texts)
        return projected

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``f(text) C`` for each text, (n, r); zero for a text without words."""
        split = (plain(text).split(maxsplit=_WORDS)[:_WORDS] for text in texts)
        if len(texts) == 1 and (words := next(split)):
            shares = np.array([[self.weights.get(word, 1.0) for word in words]], np.float32)
            shares /= np.add.reduce(shares, axis=1)
            return shares @ self._of_words(words)
        split = (plain(text).split(maxsplit=_WORDS)[:_WORDS] for text in texts)
        encoded = np.empty((len(texts), self.matrix.shape[1]), np.float32)
        for some, phrases in phrases_of(split):
            weights = [self.weights.get(word, 1.0) for word in phrases.words]
            vectors = self._of_words(phrases.words)
            encoded[some] = phrases.means(vectors, np.array(weights, np.float32))
        return encoded

    def _of_words(self, words: list[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(words), self.matrix.shape[1]), np.float32)
        if len(words) <= _FEW:
            for vector, word in zip(vectors, words, strict=True):
                vector[:] = self._word(word)
            return vectors
        for some in slices(len(words), _BLOCK):
            rows, lengths = ngram_rows_of(words[some], len(self.table))
            vectors[some] = sums(self.table, rows, lengths)
            vectors[some] /= np.sqrt(lengths, dtype=np.float32)[:, None]
        return vectors

    def _of_word(self, word: str) -> NDArray[np.float32]:
        rows = ngram_rows(word, len(self.table))
        summed: NDArray[np.float32] = np.add.reduce(self.table.take(rows, axis=0))
        summed /= np.float32(len(rows) ** 0.5)
        summed.flags.writeable = False
        return summed

    # ---- as arrays ------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds, by name."""
        table = {f"table.{name}": array for name, array in self._table.arrays().items()}
        words = np.frombuffer(json.dumps(list(self.weights)).encode("ascii"), np.uint8)
        weights = np.array(list(self.weights.values()), np.float32)
        return {"matrix": self.matrix, **table, "words": words, "weights": weights}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Subwords:
        """Return the projection of which `arrays` returned the arrays.

        Raises:
            KeyError, ValueError: the arrays are not those of such a projection.
        """
        words = texts_of(arrays["words"])
        shares = array_of(arrays, "weights", "f4", len(words)).tolist()
        weights = dict(zip(words, shares, strict=True))
        scales = arrays.get("table.scales")
        # Copies, since the arrays may be mapped from a file that is changed or removed later.
        codes = np.array(arrays["table.vectors"])
        table = Matrix(codes, None if scales is None else np.array(scales))
        return cls(arrays["matrix"], table, weights)

    def __reduce__(self) -> tuple[Callable[..., Subwords], tuple[dict[str, NDArray[Any]]]]:
        return type(self).from_arrays, (self.arrays(),)

    def __repr__(self) -> str:
        return f"<n-grams in {len(self.table)} buckets {self.shape}>"
