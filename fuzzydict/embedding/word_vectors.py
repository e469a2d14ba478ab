"""`WordVectors`: the vectors of words, and of texts made of known and unknown words."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from fuzzydict._arrays import as_floats, different, slices, units_and_lengths
from fuzzydict._files import array_of, read_arrays, write_arrays
from fuzzydict.embedding import word2vec as training
from fuzzydict.embedding.base import SAMPLE, Background, WordCache, WordFeatures, background_of
from fuzzydict.embedding.calibration import OF_ENGLISH, OF_WORDS, Calibration
from fuzzydict.embedding.vocabulary import (
    FoundWords,
    JoinedVocabulary,
    StandIns,
    Vocabulary,
    phrases_of,
    sums,
)
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    MissingCorpusError,
    ShapeError,
    quoted,
)
from fuzzydict.text.ngrams import ngram_buckets, ngram_buckets_of_each

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray


#: Changes the vectors of texts, (n, E) -> (n, r).
Project: TypeAlias = "Callable[[NDArray[np.float32], Sequence[str]], NDArray[np.float32]]"


# ---- rounded vectors -----------------------------------------------------------------------------


_LARGEST = 1e30  # number of a vector, so that sums of many are below 3e38


def _are_in_range(vectors: NDArray[np.float32]) -> bool:
    """Tell whether no number is NaN, or beyond the largest."""
    return bool(vectors.min() >= -_LARGEST and vectors.max() <= _LARGEST)


class Matrix:
    """A matrix (V, E) of 32-bit numbers, or of 8-bit codes with a scale for each row.

    Row i is ``codes[i]``, times ``scales[i]`` if there are scales, (V,).

    >>> matrix = Matrix(np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)).rounded()
    >>> matrix.codes.tolist()
    [[64, -127], [127, 16]]
    >>> matrix.rows(np.array([1])).round(2).tolist()
    [[2.0, 0.25]]
    """

    def __init__(self, codes: NDArray[Any], scales: NDArray[np.float32] | None = None) -> None:
        self.codes = codes
        self.scales = scales

    def check(self, count: int, *, is_ours: bool = False) -> None:
        """Raise ValueError unless this is a matrix of so many rows, and of finite numbers.

        Args:
            count: V.
            is_ours: whether it ships with the package, so that rows are read as they are needed.
        """
        codes, scales = self.codes, self.scales
        if codes.ndim != 2 or len(codes) != count or not codes.size:
            raise ValueError(f"its vectors are of shape {codes.shape} for {count} words")
        if codes.dtype != (np.float32 if scales is None else np.int8):
            raise ValueError(f"its vectors are of dtype {codes.dtype}")
        if scales is not None:
            array_of({"scales": scales}, "scales", "f4", count)
            if not 0 <= scales.min() <= scales.max() <= _LARGEST / 128:
                raise ValueError("its scales are below 0, or too large")
        elif not (is_ours or _are_in_range(codes)):
            raise ValueError(f"its vectors are not finite, or beyond {_LARGEST:.0e}")

    @property
    def size(self) -> int:
        """The length E of a row."""
        return int(self.codes.shape[1])

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E)."""
        found = self.codes.take(rows, axis=0)
        if self.scales is None:
            return found.astype(np.float32, copy=False)
        return np.asarray(found * self.scales.take(rows)[:, None], np.float32)

    def rows_or_zeros(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E); zeros where the number is -1."""
        is_missing = rows < 0
        if not np.count_nonzero(is_missing):
            return self.rows(rows)
        vectors = self.rows(np.where(is_missing, 0, rows))
        vectors[is_missing] = 0
        return vectors

    @cached_property
    def whole(self) -> NDArray[np.float32]:
        """All rows as 32-bit numbers, (V, E), read-only."""
        if self.scales is None and self.codes.dtype == np.float32:
            return self.codes
        return self.rows(np.arange(len(self.codes)))

    def rounded(self) -> Matrix:
        """Return the matrix with each row rounded to 255 steps of its largest number."""
        if self.scales is not None:
            return self
        largest = np.maximum(np.abs(self.codes).max(axis=1), np.float32(1e-9))
        scales = largest / np.float32(127)
        return Matrix(np.rint(self.codes / scales[:, None]).astype(np.int8), scales)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return its arrays by name, as a file holds them."""
        scales = {} if self.scales is None else {"scales": self.scales}
        return {"vectors": self.codes, **scales}

    def __getstate__(self) -> dict[str, Any]:
        return {"codes": self.codes, "scales": self.scales}  # without what can be computed again


# ---- vectors of words never seen ----------------------------------------------------------------

_RARE = 2000  # the rarest words, which show where a word never seen may lie
_BLOCK = 4096  # words at a time, to save memory
_NOT_LOOKED_UP = -2
_FEW = 4  # words whose n-grams are made one by one


class Unseen:
    """Vectors for unknown words, (E,), derived from those of known words.

    Args:
        vocabulary: gives the words that stand in.
        known: the vectors of known words.
        words: the words of these vectors; by default those of the vocabulary. A word that stands
            in without being one of them has the zero vector.

    A vector is the weighted mean of the vectors of the words that stand in, times the trust in
    them, plus a vector made from the word's n-grams, times the rest. The latter is shifted and
    scaled to resemble the vector of a rare word.

    >>> vocabulary = Vocabulary(["organize", "red"], [1, 1])
    >>> known = Matrix(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    >>> words = ["organise"]
    >>> own = ngram_vectors(words, 2)
    >>> Unseen(vocabulary, known).vectors(vocabulary.stand_ins_of_each(words), own).tolist()
    [[1.0, 0.0]]
    """

    def __init__(
        self, vocabulary: Vocabulary, known: Matrix, words: Vocabulary | None = None
    ) -> None:
        self._vocabulary, self._known, self._words = vocabulary, known, words

    def __reduce__(self) -> tuple[type[Unseen], tuple[Vocabulary, Matrix, Vocabulary | None]]:
        # without what can be computed again
        return Unseen, (self._vocabulary, self._known, self._words)

    def vectors(self, stand_ins: StandIns, own: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors of n words, (n, E).

        Args:
            stand_ins: what stands in for each.
            own: their `ngram_vectors`, of E numbers or more.
        """
        mean, spread = self._of_rare_words
        vectors = own[:, : self._known.size]
        lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
        trust = stand_ins.trust[:, None].astype(np.float32)
        vectors = (1 - trust) * (mean + vectors * (np.float32(spread) / lengths))
        rows = stand_ins.rows
        known = self._known_vectors(rows.ravel()).reshape(*rows.shape, len(mean))
        vectors += np.matmul((trust * stand_ins.weights)[:, None], known)[:, 0]
        return np.asarray(vectors, np.float32)

    def _known_vectors(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the vectors of words by their rows in the vocabulary, (n, E)."""
        if self._words is None:
            return self._known.rows(rows)
        found = self._rows[rows]
        if (new := rows[found == _NOT_LOOKED_UP]).size:
            new = different(new)
            self._rows[new] = self._words.rows(list(map(self._vocabulary.word, new.tolist())))
            found = self._rows[rows]
        return self._known.rows_or_zeros(found)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The row of a vector for that of its word in the vocabulary, (V,); -1 if it has none."""
        return np.full(len(self._vocabulary), _NOT_LOOKED_UP)

    @cached_property
    def _of_rare_words(self) -> tuple[NDArray[np.float32], float]:
        """The mean of the rarest words' vectors, (E,), and their mean distance from it."""
        count = len(self._known.codes)
        vectors = self._known.rows(np.arange(max(0, count - _RARE), count))
        mean = vectors.mean(axis=0)
        distances = np.linalg.norm((vectors - mean).astype(np.float64), axis=1)
        return mean, float(distances.mean())


def fill_unseen(
    vectors: Sequence[NDArray[np.float32]], unseen: Sequence[Unseen], found: FoundWords
) -> None:
    """Set the rows of words never seen in matrices (U, E1), (U, E2), ..., each by its `Unseen`."""
    size = max(matrix.shape[1] for matrix in vectors)
    for some in slices(len(found.unseen), _BLOCK):
        own = ngram_vectors(found.unseen[some], size)
        stand_ins = found.stand_ins.some(some)
        for matrix, each in zip(vectors, unseen, strict=True):
            matrix[found.places[some]] = each.vectors(stand_ins, own)


def ngram_vectors(words: Sequence[str], size: int) -> NDArray[np.float32]:
    """Return a vector for each of n words, (n, E), similar for words with similar spellings.

    It is the sum of a vector of pseudo-random signs for each n-gram of the word, a random
    projection (D. Achlioptas, 2003). The signs are the same in every process and release, and do
    not depend on E.

    >>> np.array_equal(ngram_vectors(["colour", "hue"], 8)[1:, :4], ngram_vectors(["hue"], 4))
    True
    """
    few = len(words) <= _FEW
    buckets = list(map(ngram_buckets, words)) if few else ngram_buckets_of_each(words)
    lengths, flat = np.array(list(map(len, buckets))), np.concatenate(buckets)
    starts = np.cumsum(lengths) - lengths
    each = flat if few else different(flat)  # the signs of each n-gram once
    places = np.arange(len(flat)) if few else np.searchsorted(each, flat)
    bits = _bits(each, size)
    # The sum of signs is twice the bits less their number. With few axes it could be all zero;
    # the sign of the first n-gram breaks the tie.
    twice = 2 * (np.add.reduceat(bits, starts) if few else sums(bits, places, lengths))
    twice += bits[places[starts]]
    return np.asarray(twice - (lengths[:, None] + 0.5).astype(np.float32), np.float32)


# Odd multipliers mix the number of an n-gram and of an axis; the top bit of the mixture is used.
_OF_NGRAM, _OF_AXIS, _MIXED = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)


def _bits(ngrams: NDArray[np.int64], size: int) -> NDArray[np.float32]:
    """Return a pseudo-random bit for each of n n-grams, by its number, and each axis, (n, E)."""
    axes = np.arange(size, dtype=np.uint32) * _OF_AXIS
    mixed = (ngrams.astype(np.uint32) * _OF_NGRAM)[:, None] ^ axes
    mixed *= _MIXED
    mixed ^= mixed >> np.uint32(15)
    mixed *= _OF_NGRAM
    mixed >>= np.uint32(31)
    return np.asarray(mixed, np.float32)


# ---- words and their vectors ---------------------------------------------------------------------

_KIND = "word vectors"
_MOST_KEPT = 32  # words whose vectors are kept until others are looked up
_OFTEN = 5  # a word that occurs so often has a good vector


class WordEmbedding(ABC):
    """What vectors of words have in common: how the vector of a text is made of them.

    Attributes:
        vocabulary: the known words.
    """

    vocabulary: Vocabulary
    tells_words = True

    @property
    def calibration(self) -> Calibration:
        """The weights of the default score for these vectors."""
        return OF_WORDS

    @property
    @abstractmethod
    def size(self) -> int:
        """The length E of a vector."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E): the weighted mean of those of its words.

        Rare words weigh more than frequent ones. The vector of a word never seen is made from
        the known words that are spelled like it, and from its n-grams. Only a text without
        letters and digits has the zero vector.
        """
        return self.encode_with_trust(texts)[0]

    def encode_with_trust(
        self,
        texts: Sequence[str],
        *,
        of_queries: bool = False,  # noqa: ARG002
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `encode` returns, and how far to trust each vector, (n,), from 0 to 1.

        The trust in a text is the weighted mean of the `Vocabulary.trust` in its words.
        """
        _require_texts(texts)
        if len(texts) == 1:
            return self._encode_one(self.vocabulary.embedded(texts[0]))
        encoded = np.empty((len(texts), self.size), np.float32)
        trust = np.empty(len(texts), np.float32)
        for some, phrases in phrases_of(map(self.vocabulary.embedded, texts)):
            found = FoundWords(self.vocabulary, phrases.words)
            encoded[some] = phrases.means(self._vectors(found), found.weights)
            means = phrases.means(found.trust[:, None], found.weights)[:, 0]
            trust[some] = np.minimum(means, 1)  # the mean of ones may be more, by rounding
        return encoded, trust

    def _encode_one(self, words: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vector of a text of these words, (1, E), and how far to trust it, (1,)."""
        if not words:
            return np.zeros((1, self.size), np.float32), np.zeros(1, np.float32)
        found, vectors = self._last
        if found.words != words:
            found = FoundWords(self.vocabulary, words)
            vectors = self._vectors(found)
        if len(words) == 1:
            return vectors.copy(), found.trust
        weights = found.weights[None]
        weights /= np.add.reduce(weights, axis=1, keepdims=True)
        return weights @ vectors, np.minimum(weights @ found.trust, 1)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far to trust the vector of each text, (n,), from 0 to 1."""
        return self.encode_with_trust(texts)[1]

    def with_learned(self, words: Collection[str]) -> Self:
        """Return these vectors with a vocabulary that also knows these words."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for kept in ("_word_cache", "_last"):
            new.__dict__.pop(kept, None)
        new.vocabulary = self.vocabulary.with_learned(words)
        return new

    def word_features(self, words: Sequence[str], *, of_query: bool = False) -> WordFeatures:  # noqa: ARG002
        """Return what is needed to compare n single words with others."""
        return self._word_cache(words)

    def projected_features(self, words: Sequence[str], project: Project) -> WordFeatures:
        """Return the features of n words, with vectors changed by ``project``; not cached."""
        found = FoundWords(self.vocabulary, words)
        unprojected = self._vectors(found)
        if len(words) <= _MOST_KEPT:
            self._last = found, unprojected
        vectors, lengths = units_and_lengths(project(unprojected, words))
        return WordFeatures(found.known, found.weights, found.trust, vectors, lengths)

    @abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies these vectors."""

    @abstractmethod
    def _vectors(self, found: FoundWords) -> NDArray[np.float32]:
        """Return the vectors of U words that were looked up, (U, E)."""

    def background(self, keys: NDArray[np.float32]) -> Background:  # noqa: ARG002
        """Return the cosines to expect of unrelated words, whatever the keys."""
        return self._background

    @cached_property
    def _last(self) -> tuple[FoundWords, NDArray[np.float32]]:
        """The words looked up last, if few, and their vectors: a query's words, then its text."""
        return FoundWords(self.vocabulary, []), np.zeros((0, self.size), np.float32)

    @cached_property
    def _word_cache(self) -> WordCache:
        return WordCache(partial(self.projected_features, project=_unchanged))

    @cached_property
    def _background(self) -> Background:
        return background_of(self.encode(self.some_words()))

    def some_words(self) -> list[str]:
        """Return a sample of the words that occur often enough to have a good vector."""
        counts, word = self.vocabulary.counts, self.vocabulary.word
        known = np.flatnonzero(counts >= min(_OFTEN, counts.max()))
        return list(map(word, known[:: -(-len(known) // SAMPLE)].tolist()))


class WordVectors(WordEmbedding):
    """Words and their vectors: V words, most frequent first, each of E numbers.

    Args:
        words: V different words, most frequent first.
        vectors: (V, E), a row a word.
        counts: (V,), how often each word occurs. Frequent words, such as "of", weigh less in a
            phrase. By default all words weigh alike.

    Raises:
        ArgumentTypeError: a word is not a text, or a vector not of numbers.
        ShapeError: the numbers of words, rows and counts differ, a vector is not finite, a count
            is below zero, or a word comes twice.

    >>> vectors = WordVectors(["red", "blue"], [[1.0, 0.0], [0.0, 1.0]])
    >>> vectors.encode(["red", "Red blue"]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: NDArray[Any] | Sequence[Sequence[float]],
        counts: Sequence[int] | NDArray[Any] | None = None,
    ) -> None:
        vocabulary = Vocabulary(words, np.ones(len(words), np.int64) if counts is None else counts)
        with np.errstate(over="ignore"):  # a number beyond 32 bits becomes infinite
            rows = as_floats(vectors=vectors)[0].astype(np.float32)  # a copy
        if rows.ndim != 2 or len(rows) != len(words) or not rows.size:
            raise ShapeError(
                f"vectors: expected a row for each of the {len(words)} words, "
                f"(V, E) with V and E of 1 or more, got shape {rows.shape}"
            )
        if not _are_in_range(rows):
            bad = next(
                word for word, row in zip(words, rows, strict=True) if not _are_in_range(row)
            )
            raise ShapeError(
                f"vectors: the one of {quoted(bad)} has NaN or infinity, or numbers beyond "
                f"{_LARGEST:.0e}; leave it out, or scale it down"
            )
        rows.flags.writeable = False
        self.vocabulary, self._matrix = vocabulary, Matrix(rows)

    # ---- making, loading and saving -------------------------------------------------------

    @classmethod
    def train(
        cls,
        sentences: Iterable[str | Sequence[str]],
        *,
        recipe: Sequence[training.Model] = training.RECIPE,
        size: int | None = training.SIZE,
        min_count: int = 2,
        seed: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> WordVectors:
        """Train word2vec on sentences.

        The same machine and seed give the same vectors, to the bit. Another kind of processor, or
        another release of numpy or gensim, gives slightly different ones.

        Args:
            sentences: each a text or a list of words.
            recipe: the models to train; their vectors are combined.
            size: the length E of a vector; None keeps the numbers of all models.
            min_count: words that occur less often are left out.
            seed: of the random numbers.
            progress: called as ``progress(done, total)`` after every epoch.

        Raises:
            ArgumentTypeError: ``sentences`` is one text.
            ShapeError: no word occurs ``min_count`` times.
        """
        if isinstance(sentences, str):
            raise ArgumentTypeError("sentences: expected a list of sentences, got one text")
        split = list(map(training.words_of_sentence, sentences))
        trained = training.train(
            split, recipe, size=size, min_count=min_count, seed=seed, progress=progress
        )
        return cls(trained.words, trained.vectors, trained.counts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordVectors:
        """Open a file that `save` wrote. The vectors are memory-mapped, so that it is quick.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
        """
        return cls._from_file(path, read_arrays(path, _KIND).arrays)

    @classmethod
    def _from_file(
        cls, path: object, arrays: Mapping[str, NDArray[Any]], *, is_ours: bool = False
    ) -> Self:
        try:
            return cls.from_arrays(arrays, is_ours=is_ours)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{path} holds no whole word vectors: {error}") from error

    @classmethod
    def shipped(cls, name: str) -> Self:
        """Open vectors that ship with the package.

        Their bytes are not compared with a checksum, so that only what is needed is read.
        """
        (folder,) = import_module("fuzzydict.data").__path__
        path = f"{folder}/{name}.vectors"
        _, arrays, unchecked = read_arrays(path, _KIND, later=("vectors",))
        arrays |= {name: one.array for name, one in unchecked.items()}
        vectors = cls._from_file(path, arrays, is_ours=True)
        vectors.__dict__["ships_as"] = name  # without reading them all
        return vectors

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], *, is_ours: bool = False) -> Self:
        """Return the word vectors of which `arrays` returned the arrays.

        Args:
            arrays: by their names.
            is_ours: whether they ship with the package, so that they are read as they are needed.

        Raises:
            KeyError, TypeError, ValueError: they are not those of word vectors.
        """
        vectors = cls.__new__(cls)
        vectors.vocabulary = Vocabulary.from_arrays(arrays, is_ours=is_ours)
        vectors._matrix = Matrix(arrays["vectors"], arrays.get("scales"))
        vectors._matrix.check(len(vectors.vocabulary), is_ours=is_ours)
        return vectors

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds, by name."""
        return {**self.vocabulary.arrays(), **self._matrix.arrays()}

    @classmethod
    def from_gensim(cls, vectors: Any) -> WordVectors:
        """Copy the words, vectors and counts of a gensim ``KeyedVectors``."""
        words = list(vectors.index_to_key)
        ranks = np.arange(1, len(words) + 1)
        # Some files keep the order of frequency but no counts; gensim then counts down to 1.
        counts = ranks[::-1]
        if "count" in getattr(vectors, "expandos", {}):
            counts = np.array([vectors.get_vecattr(word, "count") for word in words], np.int64)
        if np.array_equal(counts, ranks[::-1]):
            counts = (1e6 / ranks).astype(np.int64)  # Zipf's law
        return cls(words, vectors.vectors, counts)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> WordVectors:
        """Copy the words and vectors of ``{word: vector}``.

        Raises:
            ArgumentTypeError: a word is not a text, or a vector not of numbers.
            ShapeError: there are none, or their lengths differ.
        """
        rows = {
            word: as_floats(**{f"embedding of {quoted(word)}": vector})[0]
            for word, vector in mapping.items()
        }
        sizes = {word: row.shape for word, row in rows.items()}
        odd = next((word for word in rows if sizes[word] != next(iter(sizes.values()))), None)
        if not rows or odd is not None:
            got = "no word" if odd is None else f"shape {sizes[odd]} for {quoted(odd)}"
            raise ShapeError(f"embedding: expected vectors of one length for all words, got {got}")
        return cls(list(rows), np.stack(list(rows.values())))

    def save(self, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
        """Write the words, counts and vectors to one file, atomically; no pickle.

        Args:
            path: the file.
            dtype: "float32", or "int8", which rounds each vector to 255 steps of its largest
                number and takes a quarter of the space. By default it is left as it is.
        """
        if dtype not in (None, "float32", "int8"):
            raise ArgumentTypeError(f"dtype: expected 'float32' or 'int8', got {quoted(dtype)}")
        matrix = self._matrix.rounded() if dtype == "int8" else self._matrix
        matrix = Matrix(matrix.whole) if dtype == "float32" else matrix
        write_arrays(path, _KIND, {}, {**self.vocabulary.arrays(), **matrix.arrays()})

    # ---- words, vectors and counts --------------------------------------------------------

    @property
    def words(self) -> list[str]:
        """The V words, most frequent first."""
        return self.vocabulary.words

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs, (V,)."""
        return self.vocabulary.counts

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors, (V, E), read-only."""
        return self._matrix.whole

    @property
    def size(self) -> int:
        """The length E of a vector."""
        return self._matrix.size

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies these vectors: a name with a hash of all of them."""
        return {"name": self._name}

    @cached_property
    def _name(self) -> str:
        from hashlib import blake2b

        state = blake2b(json.dumps(self.words).encode("ascii"), digest_size=8)
        for array in (self.counts, *self._matrix.arrays().values()):
            state.update(np.ascontiguousarray(array).data)
        return f"word vectors {state.hexdigest()} {self._shape}"

    @property
    def _shape(self) -> str:
        return f"({len(self)} words, vectors of {self.size})"

    @cached_property
    def ships_as(self) -> str | None:
        """The name under which these vectors ship with the package, or None if they do not.

        Their numbers decide, not where they were read. What is fitted to shipped vectors goes by
        this name, and a pickle holds it in place of them.
        """
        shape = self._shape  # it tells nearly all others apart, so that few are hashed
        alike = [name for name, known in SHIPPED.items() if known.endswith(shape)]
        return next((name for name in alike if SHIPPED[name] == self._name), None)

    @property
    def calibration(self) -> Calibration:
        """The weights of the default score for these vectors."""
        return OF_ENGLISH if self.ships_as == ENGLISH else OF_WORDS

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __deepcopy__(self, memo: object) -> WordVectors:
        return self  # it never changes

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        if type(self) is WordVectors and self.ships_as is not None:
            return (Brown if self.ships_as == BROWN else English), ()
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words, vectors of {self.size}>"

    def _vectors(self, found: FoundWords) -> NDArray[np.float32]:
        vectors = self._matrix.rows(found.rows)
        if found.unseen:
            fill_unseen([vectors], [self._unseen], found)
        return vectors

    @cached_property
    def _unseen(self) -> Unseen:
        return Unseen(self.vocabulary, self._matrix)


class JoinedVectors(WordEmbedding):
    """Two word vectors side by side: those of the first, (E1,), then those of the second, (E2,).

    The words of both are known. A word that one of them does not know is zero there. What stands
    in for a word that neither knows is looked for once, among the words of the second.

    >>> one = WordVectors(["red", "hue"], [[1.0], [2.0]])
    >>> both = JoinedVectors(one, WordVectors(["red", "phone"], [[3.0], [4.0]]))
    >>> both.encode(["red", "hue", "phone"]).tolist()
    [[1.0, 3.0], [2.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, first: WordVectors, second: WordVectors) -> None:
        self.parts = first, second
        # A word of both has the weight that the second, which has more words, gives it.
        self.vocabulary = JoinedVocabulary(second.vocabulary, first.vocabulary)

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedVectors, self.parts

    @property
    def size(self) -> int:
        """The length E1 + E2 of a vector."""
        return sum(part.size for part in self.parts)

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the first; projections name the second."""
        return self.parts[0].fingerprint()

    def some_words(self) -> list[str]:
        """Return a sample of the words of the first."""
        return self.parts[0].some_words()

    def _vectors(self, found: FoundWords) -> NDArray[np.float32]:
        first, second = self.parts
        of_second = found.rows
        if np.count_nonzero(of_first := found.rows >= len(second)):
            of_second = np.where(of_first, -1, found.rows)
        rows = first.vocabulary.rows(found.words), of_second
        halves = [p._matrix.rows_or_zeros(some) for p, some in zip(self.parts, rows, strict=True)]
        if found.unseen:
            fill_unseen(halves, self._unseen, found)
        return np.concatenate(halves, axis=1)

    @cached_property
    def _unseen(self) -> list[Unseen]:
        first, second = self.parts  # what stands in for a word is of the second
        others = Unseen(self.vocabulary, first._matrix, first.vocabulary)
        return [others, Unseen(self.vocabulary, second._matrix)]


def _unchanged(vectors: NDArray[np.float32], _: Sequence[str]) -> NDArray[np.float32]:
    return vectors


def _require_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise ArgumentTypeError(f"texts: expected a list of texts, got the text {quoted(texts)}")
    for text in texts:
        if not isinstance(text, str):
            raise ArgumentTypeError(f"texts: expected texts alone, got {quoted(text)} among them")


# ---- the vectors that ship, and their corpus -----------------------------------------------------

#: The names of the vectors that ship.
BROWN, ENGLISH = "brown", "english"
#: Their fingerprints.
SHIPPED = {
    BROWN: "word vectors fede6a8a72a1f7bb (26806 words, vectors of 350)",
    ENGLISH: "word vectors fe3c6c73f6d7133d (90000 words, vectors of 160)",
}


@cache
def Brown() -> WordVectors:  # noqa: N802 - named as a class, since it returns one object
    """Return the word vectors that ship with the package, memory-mapped and opened once.

    They are word2vec trained on the Brown corpus (W. N. Francis and H. Kučera, 1964), which is
    licensed for non-commercial use. ``data/README.md`` describes how they were made.

    >>> vectors = Brown()
    >>> vectors.words[:3]
    ['the', 'of', 'and']
    >>> vectors.encode(["color", "colour"]).shape == (2, vectors.size)
    True
    """
    return WordVectors.shipped(BROWN)


def is_brown(embedding: object) -> bool:
    """Tell whether these are the `Brown` vectors, without opening them."""
    return isinstance(embedding, WordVectors) and embedding.ships_as == BROWN


@cache
def English() -> WordVectors:  # noqa: N802 - likewise
    """Return a table of English words that is free for commercial use, mapped and opened once.

    It was made so that the vectors of a text's words lie, summed, where the sentence encoder
    all-MiniLM-L6-v2 puts the text. Nothing of the Brown corpus is in it. ``data/README.md``
    describes how it was made.

    >>> vectors = English()
    >>> mobile, shrimp = vectors.encode(["mobile", "shrimp"]) @ vectors.encode(["phone"])[0]
    >>> bool(mobile > shrimp)
    True
    """
    return WordVectors.shipped(ENGLISH)


def is_english(embedding: object) -> bool:
    """Tell whether this is the table `English`, without opening it."""
    return isinstance(embedding, WordVectors) and embedding.ships_as == ENGLISH


def brown_sentences(*, download: bool = False) -> list[list[str]]:
    """Return the 57,340 sentences of the Brown corpus, each a list of its tokens.

    Args:
        download: fetch the corpus with nltk first, where it is not on this machine.

    Raises:
        MissingCorpusError: the corpus is not there, or could not be fetched.
    """
    import nltk
    from nltk.corpus import brown

    try:
        return [list(sentence) for sentence in brown.sents()]
    except LookupError as error:
        if download and nltk.download("brown", quiet=True):
            return brown_sentences()
        problem = "nltk could not fetch the Brown corpus; check the connection and try again with"
        if not download:
            problem = (
                "the Brown corpus is not on this machine (nltk looked for corpora/brown in "
                f"{', '.join(nltk.data.path)}); fetch it with"
            )
        raise MissingCorpusError(f"{problem}: python -m nltk.downloader brown") from error
