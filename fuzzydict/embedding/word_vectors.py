"""`WordVectors`: the vectors of words, and of texts made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import as_floats, slices, units_and_lengths
from fuzzydict._files import array_of, header_digest, read_arrays, texts_of, write_arrays
from fuzzydict.embedding import word2vec as training
from fuzzydict.embedding.vocabulary import Vocabulary
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted

_KIND = "word vectors"
_LARGEST = 1e30  # of the numbers of a vector: sums of many are below 3e38
_BLOCK = 8192  # words of texts that are summed, and rows gathered, at a time, to save memory


class Matrix:
    """A matrix (V, E) of 32-bit numbers, or of 8-bit codes with a scale for each row, (V,)."""

    def __init__(self, codes: NDArray[Any], scales: NDArray[np.float32] | None = None) -> None:
        self._codes, self._scales, self.size = codes, scales, int(codes.shape[1])

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], count: int) -> Matrix:
        """Return the matrix of V = ``count`` rows with these `arrays`; codes are not read yet."""
        codes, scales = arrays["vectors"], arrays.get("scales")
        if codes.ndim != 2 or len(codes) != count or not codes.size:
            raise ValueError(f"its vectors are of shape {codes.shape} for {count} words")
        if codes.dtype != (np.float32 if scales is None else np.int8):
            raise ValueError(f"its vectors are of dtype {codes.dtype}")
        if scales is not None:
            array_of(arrays, "scales", "f4", count)
            if not 0 <= scales.min() <= scales.max() <= _LARGEST / 128:
                raise ValueError("its scales are below 0, or too large")
        elif not _are_in_range(codes):
            raise ValueError(f"its vectors are not finite, or beyond {_LARGEST:.0e}")
        return cls(codes, scales)

    def __len__(self) -> int:
        return len(self._codes)

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E); zeros where the number is -1."""
        found = self._codes.take(rows, axis=0, mode="clip").astype(np.float32, copy=False)
        if self._scales is not None:
            found *= self._scales.take(rows, mode="clip")[:, None]
        if np.count_nonzero(is_missing := rows < 0):
            found[is_missing] = 0
        return found

    @cached_property
    def whole(self) -> NDArray[np.float32]:
        """All rows as 32-bit numbers, (V, E), read-only."""
        if type(self) is Matrix and self._scales is None:
            return self._codes
        whole = np.empty((len(self), self.size), np.float32)
        for some in slices(len(self), _BLOCK):
            whole[some] = self.rows(np.arange(some.start, some.stop))
        whole.flags.writeable = False
        return whole

    def rounded(self) -> Matrix:
        """Return the matrix with each row rounded to 255 steps of its largest number."""
        if self._scales is not None:
            return self
        largest = np.maximum(np.abs(self.whole).max(axis=1), np.float32(1e-9))
        scales = largest / np.float32(127)
        return Matrix(np.rint(self.whole / scales[:, None]).astype(np.int8), scales)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its arrays by name, as a file holds them."""
        if self._scales is None:
            return {"vectors": self.whole}
        return {"vectors": self._codes, "scales": self._scales}

    def __getstate__(self) -> dict[str, Any]:
        # without what can be computed again
        return {name: part for name, part in self.__dict__.items() if name != "whole"}


class _SideBySide(Matrix):
    """Two matrices side by side; row i is made of those that ``places[i]`` names; -1 is zeros."""

    _scales = None

    def __init__(self, first: Matrix, second: Matrix, places: NDArray[np.integer[Any]]) -> None:
        self._first, self._second, self._places = first, second, places
        self.size = first.size + second.size

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        places = self._places.take(rows, axis=0, mode="clip").astype(np.intp)
        if np.count_nonzero(is_missing := rows < 0):
            places[is_missing] = -1
        halves = [self._first.rows(places[:, 0]), self._second.rows(places[:, 1])]
        return np.concatenate(halves, axis=1)


def _are_in_range(vectors: NDArray[np.float32]) -> bool:
    """Tell whether no number is NaN, or beyond the largest."""
    return bool(vectors.min() >= -_LARGEST and vectors.max() <= _LARGEST)


class KnownWord(NamedTuple):
    """What is compared of a word: its own vector, or that of what stands in for it."""

    unit: NDArray[np.float32]  # (E,), of length one; zeros if there is none
    length: float  # of the vector
    weight: float  # in a phrase
    is_known: bool  # whether the vector is its own
    trust: float  # 1 for a known word or a form of one, less for a slip, and 0 for nothing


class WordVectors:
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
    >>> vectors.encode(["red", "Red blue", "?"]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]
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
            expected = f"a row for each of the {len(words)} words, (V, E) with V and E of 1 or more"
            raise ShapeError(f"vectors: expected {expected}, got shape {rows.shape}")
        if not _are_in_range(rows):
            bad = words[[_are_in_range(row) for row in rows].index(False)]
            what = f"the one of {quoted(bad)} has NaN or infinity, or is beyond {_LARGEST:.0e}"
            raise ShapeError(f"vectors: {what}; leave it out, or scale it down")
        rows.flags.writeable = False
        self._set(vocabulary, Matrix(rows))

    @classmethod
    def _of(cls, vocabulary: Vocabulary, matrix: Matrix, ships_as: str | None = None) -> Self:
        self = cls.__new__(cls)
        self._set(vocabulary, matrix, ships_as)
        return self

    def _set(self, vocabulary: Vocabulary, matrix: Matrix, ships_as: str | None = None) -> None:
        self.vocabulary, self.matrix = vocabulary, matrix
        self.ships_as = ships_as  # the name of vectors that ship with the package

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E): the weighted mean of those of its words.

        Rare words weigh more than frequent ones. A word never seen has the vector of what it is a
        form or a slip of. A text without words that have vectors has the zero vector.
        """
        if isinstance(texts, str):
            got = f"got the text {quoted(texts)}"
            raise ArgumentTypeError(f"texts: expected a list of texts, {got}")
        encoded = np.zeros((len(texts), self.size), np.float32)
        start, count, split = 0, 0, list[list[str]]()
        for end, text in enumerate(texts, 1):
            if not isinstance(text, str):
                raise ArgumentTypeError(f"texts: expected texts alone, got {quoted(text)}")
            split.append(self.vocabulary.tokens(text))
            count += len(split[-1])
            if count >= _BLOCK or end == len(texts):
                encoded[start:end] = self._means(split)
                start, count, split = end, 0, []
        return encoded

    def _means(self, split: list[list[str]]) -> NDArray[np.float32]:
        """Return the weighted mean of the vectors of each list of words, (n, E)."""
        find = self.vocabulary.find
        each = {word: find(word) for words in split for word in words}
        places = {word: place for place, word in enumerate(each)}
        vectors = self.matrix.rows(np.array([one.row for one in each.values()], np.intp))
        weights = np.array([one.weight * (one.row >= 0) for one in each.values()], np.float32)
        means = np.zeros((len(split), self.size), np.float32)
        filled = [i for i, words in enumerate(split) if words]
        if filled:
            flat = [places[word] for i in filled for word in split[i]]
            lengths = [len(split[i]) for i in filled]
            starts = np.cumsum([0, *lengths[:-1]])
            shares = weights[flat]
            totals = np.add.reduceat(shares, starts)
            shares /= np.repeat(np.where(totals > 0, totals, 1), lengths)
            means[filled] = np.add.reduceat(vectors[flat] * shares[:, None], starts)
        return means

    def word(self, word: str) -> KnownWord:
        """Return what is compared of a word in its plain form."""
        return self.look_up([word])[0]

    def look_up(self, words: Sequence[str]) -> list[KnownWord]:
        """Return the `word` of each of several words, whose vectors are gathered together."""
        found = list(map(self.vocabulary.find, words))
        rows = self.matrix.rows(np.array([one.row for one in found], np.intp))
        units, lengths = units_and_lengths(rows)
        units.flags.writeable = False
        of_each = zip(units, lengths[:, 0].tolist(), found, strict=True)
        return [KnownWord(unit, length, *one[1:]) for unit, length, one in of_each]

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
            min_count: words that occur less often are left out; a ShapeError if all are.
            seed: of the random numbers.
            progress: called as ``progress(done, total)`` after every epoch.
        """
        if isinstance(sentences, str):
            raise ArgumentTypeError("sentences: expected a list of sentences, got one text")
        split = list(map(training.words_of_sentence, sentences))
        trained = training.train(
            split, recipe, size=size, min_count=min_count, seed=seed, progress=progress
        )
        return cls(*trained)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordVectors:
        """Open a file that `save` wrote. The vectors are memory-mapped, so that it is quick.

        It raises a FileFormatError if the file is damaged, of another kind, or of another version.
        """
        arrays = read_arrays(path, _KIND).arrays
        try:
            vocabulary = Vocabulary.from_arrays(arrays)
            matrix = Matrix.from_arrays(arrays, len(vocabulary))
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{path} holds no whole word vectors: {error}") from error
        return cls._of(vocabulary, matrix)

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
        """Copy ``{word: vector}``; ShapeError if there are none, or their lengths differ."""
        rows = {
            word: as_floats(**{f"embedding of {quoted(word)}": vector})[0]
            for word, vector in mapping.items()
        }
        shapes = {word: row.shape for word, row in rows.items()}
        odd = next((word for word in rows if shapes[word] != next(iter(shapes.values()))), None)
        if not rows or odd is not None:
            got = "no word" if odd is None else f"shape {shapes[odd]} for {quoted(odd)}"
            raise ShapeError(f"embedding: expected vectors of one length for all words, got {got}")
        return cls(list(rows), np.stack(list(rows.values())))

    def save(self, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
        """Write the words, counts and vectors to one file, atomically; no pickle.

        The ``dtype`` is "float32", or "int8", which rounds each vector to 255 steps of its largest
        number and takes a quarter of the space. By default it is left as it is.
        """
        if dtype not in (None, "float32", "int8"):
            raise ArgumentTypeError(f"dtype: expected 'float32' or 'int8', got {quoted(dtype)}")
        matrix = self.matrix.rounded() if dtype == "int8" else self.matrix
        matrix = Matrix(matrix.whole) if dtype == "float32" else matrix
        write_arrays(path, _KIND, {}, self.vocabulary.arrays() | matrix.arrays())

    @property
    def words(self) -> list[str]:
        """The V words, most frequent first."""
        return self.vocabulary.words

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs, (V,)."""
        return self.vocabulary.counts

    @property
    def size(self) -> int:
        """The length E of a vector."""
        return self.matrix.size

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors, (V, E), read-only."""
        return self.matrix.whole

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies these vectors: a name with a hash of all of them."""
        return {"name": self._name}

    @cached_property
    def _name(self) -> str:
        from hashlib import blake2b

        state = blake2b(digest_size=8)
        if self.ships_as is not None:  # the files have checksums of all of them
            for name in _FILES[self.ships_as]:
                state.update(header_digest(_path(name), _KIND).encode("ascii"))
        else:
            for array in (self.vocabulary.arrays() | self.matrix.arrays()).values():
                state.update(np.ascontiguousarray(array).data)
        kind = self.ships_as or "word"
        return f"{kind} vectors {state.hexdigest()} ({len(self)} words, vectors of {self.size})"

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __deepcopy__(self, memo: object) -> WordVectors:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.ships_as is not None:
            return (English if self.ships_as == ENGLISH else Brown), ()
        return type(self)._of, (self.vocabulary, self.matrix)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words, vectors of {self.size}>"


#: The names of the vectors that ship.
BROWN, ENGLISH = "brown", "english"
#: What the vectors that ship with the package are made of, and may be used for.
LICENCES = {
    BROWN: "made from the Brown corpus, which is licensed for non-commercial use",
    ENGLISH: "made from WordNet, under its licence; free for commercial use",
}
_FILES = {BROWN: (BROWN, ENGLISH), ENGLISH: (ENGLISH,)}


@cache
def Brown() -> WordVectors:  # noqa: N802 - named as a class, since it returns one object
    """Return the word vectors that are the default, memory-mapped and opened once.

    They are those of `English`, and beside them word2vec trained on the Brown corpus (W. N.
    Francis and H. Kučera, 1964), with what was learned from WordNet. The corpus is licensed for
    non-commercial use. ``data/README.md`` describes how they were made.

    >>> vectors = Brown()
    >>> vectors.words[:3]
    ['the', 'of', 'and']
    >>> vectors.encode(["color", "colour"]).shape == (2, vectors.size)
    True
    """
    return side_by_side(_opened(ENGLISH), _opened(BROWN), BROWN)


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
    table = _opened(ENGLISH)
    return WordVectors._of(Vocabulary(table.words, table.counts), table.matrix, ENGLISH)


class _Table(NamedTuple):
    """V words, most frequent first, how often each occurs, (V,), and its row, (V, E)."""

    words: list[str]
    counts: NDArray[Any]
    matrix: Matrix


def _opened(name: str) -> _Table:
    """Open a file that ships. Its rows are not compared with a checksum, but read when needed."""
    _, arrays, later = read_arrays(_path(name), _KIND, later=("vectors",))
    words = texts_of(arrays["words"])
    arrays["vectors"] = later["vectors"].array
    return _Table(words, arrays["counts"], Matrix.from_arrays(arrays, len(words)))


def _path(name: str) -> str:
    (folder,) = import_module("fuzzydict.data").__path__
    return f"{folder}/{name}.vectors"


def side_by_side(
    first: WordVectors | _Table, second: WordVectors | _Table, ships_as: str | None = None
) -> WordVectors:
    """Return one table of the words of both: the numbers of the first, then of the second, or 0.

    A word of both is as frequent as the first has it; the counts of the second are scaled.
    """
    known = set(first.words)
    new = [row for row, word in enumerate(second.words) if word not in known]
    share = first.counts.sum() / second.counts.sum()
    counts = np.concatenate([first.counts, np.rint(second.counts[new] * share).astype(np.int64)])
    order = np.argsort(-counts, kind="stable")
    words = first.words + [second.words[row] for row in new]
    vocabulary = Vocabulary([words[i] for i in order.tolist()], counts[order])
    places = np.full((len(words), 2), -1, np.int32)
    places[:, 0] = np.where(order < len(first.words), order, -1)
    places[np.array([*map(vocabulary.row, second.words)]), 1] = np.arange(len(second.words))
    matrix = _SideBySide(first.matrix, second.matrix, places)
    return WordVectors._of(vocabulary, matrix, ships_as)
