"""`WordVectors`: words and their vectors, what stands in for other words, and vectors of texts."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA, Indel
from rapidfuzz.process import cdist

from fuzzydict._arrays import as_array, as_floats, lengths_of, slices, units
from fuzzydict._files import array_of, header_digest, json_of, read_arrays, write_arrays
from fuzzydict.embedding import word2vec as training
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted
from fuzzydict.text.lexicon import look_up
from fuzzydict.text.words import LONGEST, plain
from fuzzydict.text.words import words as words_of

_KIND = "word vectors"
_LARGEST = 1e30  # of the numbers of a vector: sums of many are below 3e38
_TEXTS = 256  # texts that are encoded together, to save memory
_MANY = 4  # words from which on their vectors are sooner gathered together
_SMOOTHING = 1e-3  # a word of this relative frequency weighs half as much as a rare one
_FREQUENT = 30_000  # the most frequent words, which a slip may have meant
_SHORTEST = 5  # letters of a word in which a slip is looked for
_REMEMBERED = 1 << 14  # words never seen whose stand-ins are kept
_MOST_COUNTED = 1 << 62  # in all, so that sums of counts are exact
_AMERICAN = re.compile(r"(?<=[iy])s(?=[aei])")  # "moisturiser", as far as no table lists it


class Matrix:
    """V rows of E numbers, in one table or in several whose rows stand side by side.

    Args:
        tables: each has rows of 32-bit numbers, (n, e); or 8-bit codes, and a scale a row, (n,).
        places: which row of each table each row has, (tables, V + 1); -1 for zeros, which the last
            is. By default they are those of one table.
    """

    def __init__(
        self,
        *tables: tuple[NDArray[Any], NDArray[np.float32] | None],
        places: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self.tables, self.places = tables, places
        self.size: int = sum(codes.shape[1] for codes, _ in tables)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], count: int) -> Matrix:
        """Return V = ``count`` rows of a file, or raise ValueError; codes are not read yet."""
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
        return cls((codes, scales))

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E); zeros where the number is -1."""
        found, end = np.empty((len(rows), self.size), np.float32), 0
        for number, (codes, scales) in enumerate(self.tables):
            start, end = end, end + codes.shape[1]
            places = rows if self.places is None else self.places[number].take(rows)
            scale = (places >= 0).astype(np.float32)
            if scales is not None:
                scale *= scales.take(places, mode="clip")
            some = codes.take(places, axis=0, mode="clip")
            np.multiply(some, scale[:, None], out=found[:, start:end])
        return found

    def row(self, row: int) -> NDArray[np.float32]:
        """Return one of the `rows`, (E,)."""
        found, end = np.zeros(self.size, np.float32), 0
        for number, (codes, scales) in enumerate(self.tables):
            place = row if self.places is None else int(self.places[number, row])
            start, end = end, end + codes.shape[1]
            if place >= 0:
                scale = 1 if scales is None else scales[place]
                np.multiply(codes[place], scale, out=found[start:end])
        return found


def _are_in_range(vectors: NDArray[np.float32]) -> bool:
    """Tell whether no number is NaN, or beyond the largest."""
    return bool(vectors.min() >= -_LARGEST and vectors.max() <= _LARGEST)


class Found(NamedTuple):
    """The row of a word, or of what stands in for it."""

    row: int  # -1 if nothing stands in
    weight: float  # in a phrase
    is_known: bool  # whether the row is its own
    trust: float  # 1 for a known word or a form of one, less for a slip, and 0 for nothing


class KnownWord(NamedTuple):
    """What is compared of a word: its own vector, or that of what stands in for it."""

    unit: NDArray[np.float32]  # (E,), of length one; zeros if there is none
    length: float  # of the vector
    weight: float  # and what follows, as in `Found`
    is_known: bool
    trust: float


class WordVectors:
    """Words and their vectors: V words, most frequent first, each of E numbers.

    Args:
        words: V different words, most frequent first.
        vectors: (V, E), a row a word.
        counts: (V,), how often each word occurs. Frequent words, such as "of", weigh less in a
            phrase. By default all words weigh alike.

    Attributes:
        words: the V words, most frequent first.
        counts: how often each occurs, (V,).
        size: the length E of a vector.

    Raises:
        ArgumentTypeError: a word is not a text, or a vector not of numbers.
        ShapeError: the numbers of words, rows and counts differ, a vector is not finite, a count
            is below zero, or a word comes twice.

    >>> vectors = WordVectors(["red", "blue"], [[1.0, 0.0], [0.0, 1.0]])
    >>> vectors.encode(["red", "Red blue", "?"]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]
    """

    words: list[str]
    counts: NDArray[np.int64]
    ships_as: str | None  # the name of vectors that ship with the package

    def __init__(
        self,
        words: Sequence[str],
        vectors: NDArray[Any] | Sequence[Sequence[float]],
        counts: Sequence[int] | NDArray[Any] | None = None,
    ) -> None:
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
        self._set(words, np.ones(len(words)) if counts is None else counts, Matrix((rows, None)))

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        """Return what `_set` makes, without a copy of the vectors."""
        self = cls.__new__(cls)
        self._set(*parts)
        return self

    def _set(
        self, words: Sequence[str], counts: Any, matrix: Matrix, ships_as: str | None = None
    ) -> None:
        self.words, self.matrix, self.ships_as = list(words), matrix, ships_as
        self.size = matrix.size
        if any(not issubclass(kind, str) for kind in set(map(type, self.words))):
            odd = next(word for word in self.words if not isinstance(word, str))
            raise ArgumentTypeError(f"words: expected texts, got {quoted(odd)}")
        self._rows = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(self._rows) < len(self.words):
            ((twice, _),) = Counter(self.words).most_common(1)
            raise ShapeError(f"words: {quoted(twice)} comes twice; keep one of its vectors")
        together = "".join(self.words)
        self._has_phrases = " " in together or "_" in together
        if not together.isascii() or together != together.lower():  # else all are plain already
            for row, word in enumerate(self.words):
                if not (word.isascii() and word.islower()):
                    plainly = word.lower() if word.isascii() else " ".join(words_of(word))
                    self._rows.setdefault(plainly, row)
        given = as_array("counts", counts)
        if given.shape != (len(self),):
            raise ShapeError(f"counts: expected {len(self)}, one a word, got shape {given.shape}")
        if given.dtype.kind not in "biuf":
            raise ArgumentTypeError(f"counts: expected numbers, got dtype {given.dtype}")
        are_counts = ((given >= 0) & (given <= _MOST_COUNTED)).all()
        if not are_counts or given.sum(dtype=np.float64) > _MOST_COUNTED:
            most = f"{_MOST_COUNTED} in all, and neither NaN nor infinity"
            raise ShapeError(f"counts: expected numbers from 0 on, {most}; scale down")
        self.counts = given.astype(np.int64, copy=False)
        self._stand_in = lru_cache(_REMEMBERED)(self._nearest_word)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors, (V, E), read-only."""
        codes, scales = self.matrix.tables[0]
        if len(self.matrix.tables) == 1 and scales is None:
            return codes
        whole = self.matrix.rows(np.arange(len(self)))
        whole.flags.writeable = False
        return whole

    # ---- words -----------------------------------------------------------------------------------

    def find(self, word: str) -> Found:
        """Return the row of a word, as it is spelled here or plain, or of what stands in for it.

        That is a word of which it is a form, or another form of it one slip away, or else the most
        frequent word that one slip after the first letter makes of it.
        """
        row = self._rows.get(word)
        if row is not None:  # no two numbers mean the same, though their vectors are alike
            return Found(row, float(self._weights[row]), True, 0.0 if word.isdecimal() else 1.0)
        row, trust = self._stand_in(word)
        return Found(row, float(self._weights[-1]), False, trust)

    def _nearest_word(self, word: str) -> tuple[int, float]:
        """Return the row of what a word never seen is a form or a slip of, and how sure that is."""
        if " " in word:
            return -1, 0.0
        entry = look_up(word)
        bases = entry.form, entry.stem, _AMERICAN.sub("z", word)
        base = next((self._rows[one] for one in bases if one in self._rows), None)
        slips = [] if entry.group >= 0 else self._slips(word)  # of a class, as "sulfite", is none
        if base is not None:  # "commiting" is "committing" sooner than "commit"
            forms = [row for row in slips if look_up(self.words[row]).stem == entry.stem]
            return min(forms, default=base), 1.0
        if not slips:
            return -1, 0.0
        row = min(slips)  # the most frequent word
        return row, Indel.normalized_similarity(word, self.words[row])

    def _slips(self, word: str) -> list[int]:
        """Return the rows of frequent words that a slip after the first letter makes of a word."""
        if len(word) < _SHORTEST or not (word.isalpha() and word.isascii()):
            return []
        known, sizes = list[str](), range(len(word) - 1, len(word) + 2)
        for key in product((word[:2], word[0] + word[-2:]), sizes):  # one slip leaves some of them
            known += self._frequent.get(key, ())
        if not known:
            return []
        edits = cdist([word], known, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)[0]
        return [self._rows[known[place]] for place in (edits <= 1).nonzero()[0].tolist()]

    @cached_property
    def _frequent(self) -> dict[tuple[str, int], list[str]]:
        """The frequent words with some letters, and so many in all."""
        found = defaultdict[tuple[str, int], list[str]](list)
        for word in self.words[:_FREQUENT]:
            if len(word) >= _SHORTEST - 1:
                for letters in (word[:2], word[0] + word[-2:]):
                    found[letters, len(word)].append(word)
        return dict(found)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The weight of each word, and at last that of a word never seen, (V + 1,)."""
        # Near 1 if it is rare, 0.03 for "of": ``a / (a + p)`` for a relative frequency p (Arora,
        # Liang and Ma, 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
        # equation 1). One never seen weighs as much as the rarest.
        shares = np.append(self.counts, self.counts.min()) / max(int(self.counts.sum()), 1)
        return np.asarray(_SMOOTHING / (_SMOOTHING + shares), np.float64)

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text: the text itself if it is a word of these, or its words.

        A phrase of these written "new_york" is one token; of a long text the beginning is read.
        """
        text = text[:LONGEST]
        if " " in text and not self._has_phrases:
            return plain(text).split()
        for whole in (text, text.lower()):
            if whole in self._rows:
                return [whole]
        words = plain(text).split()
        joined = "_".join(words)  # phrases are often written so: "new_york"
        return [joined] if len(words) > 1 and joined in self._rows else words

    def word(self, word: str) -> KnownWord:
        """Return what is compared of a word in its plain form."""
        found = self.find(word)
        vector = self.matrix.row(found.row)
        wide = vector.astype(np.float64)  # whose square is finite
        length = math.sqrt(float(wide @ wide))
        unit = vector / np.float32(length or 1)
        unit.flags.writeable = False
        return KnownWord(unit, length, *found[1:])

    def look_up(self, words: Sequence[str]) -> list[KnownWord]:
        """Return the `word` of each of several; the vectors of many are gathered together."""
        if len(words) < _MANY:
            return list(map(self.word, words))
        found = list(map(self.find, words))
        rows = self.matrix.rows(np.array([one.row for one in found], np.intp))
        scaled = units(rows)
        scaled.flags.writeable = False
        of_each = zip(scaled, lengths_of(rows).tolist(), found, strict=True)
        return [KnownWord(unit, length, *one[1:]) for unit, length, one in of_each]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E): the weighted mean of those of its words.

        Rare words weigh more than frequent ones. A word never seen has the vector of what it is a
        form or a slip of. A text without words that have vectors has the zero vector.
        """
        if isinstance(texts, str):
            got = f"got the text {quoted(texts)}"
            raise ArgumentTypeError(f"texts: expected a list of texts, {got}")
        texts = list(texts)
        for text in texts:
            if not isinstance(text, str):
                raise ArgumentTypeError(f"texts: expected texts alone, got {quoted(text)}")
        encoded = np.zeros((len(texts), self.size), np.float32)
        for some in slices(len(texts), _TEXTS):
            split = list(map(self.tokens, texts[some]))
            found = {word: self.find(word) for words in split for word in words}
            places = {word: place for place, word in enumerate(found)}
            vectors = self.matrix.rows(np.array([one.row for one in found.values()], np.intp))
            weights = [one.weight if one.row >= 0 else 0.0 for one in found.values()]
            for vector, words in zip(encoded[some], split, strict=True):
                flat = [places[word] for word in words]
                if whole := sum([weights[place] for place in flat]):
                    shares = [weights[place] / whole for place in flat]
                    np.dot(np.array(shares, np.float32), vectors[flat], out=vector)
        return encoded

    # ---- training, files and other people's vectors ----------------------------------------------

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
        split, options = list(map(training.words_of_sentence, sentences)), (size, min_count, seed)
        return cls(*training.train(split, recipe, *options, progress))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordVectors:
        """Open a file that `save` wrote. The vectors are memory-mapped, so that it is quick.

        It raises a FileFormatError if the file is damaged, of another kind, or of another version.
        """
        arrays = read_arrays(path, _KIND).arrays
        try:
            words = json_of(arrays["words"], of_texts=True)
            counts = array_of(arrays, "counts", "i1 u1 i2 u2 i4 u4 i8 u8", None)
            return cls._of(words, counts, Matrix.from_arrays(arrays, len(words)))
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"{path} holds no whole word vectors: {error}") from error

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
        words, rows = list(mapping), list[NDArray[Any]]()
        for word in words:
            rows += as_floats(**{f"embedding of {quoted(word)}": mapping[word]})
            if rows[-1].shape != rows[0].shape:
                got = f"got shape {rows[-1].shape} for {quoted(word)}"
                raise ShapeError(f"embedding: expected vectors of one length for all words, {got}")
        if not rows:
            raise ShapeError("embedding: expected words and their vectors, got no word")
        return cls(words, np.stack(rows))

    def save(self, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
        """Write the words, counts and vectors to one file, atomically; no pickle.

        The ``dtype`` is "float32", or "int8", which rounds each vector to 255 steps of its largest
        number and takes a quarter of the space. By default it is left as it is.
        """
        if dtype not in (None, "float32", "int8"):
            raise ArgumentTypeError(f"dtype: expected 'float32' or 'int8', got {quoted(dtype)}")
        write_arrays(path, _KIND, {}, self._arrays(dtype))

    def _arrays(self, dtype: str | None = None) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds, by name."""
        (codes, scales), *others = self.matrix.tables
        if others or dtype == "float32":
            codes, scales = self.vectors, None
        if scales is None and dtype == "int8":
            largest = np.maximum(np.abs(codes).max(axis=1), np.float32(1e-9))
            scales = largest / np.float32(127)
            codes = np.rint(codes / scales[:, None]).astype(np.int8)
        words = np.frombuffer(json.dumps(self.words).encode("ascii"), np.uint8)
        counts = self.counts.astype(np.uint32 if self.counts.max() < 1 << 32 else np.int64)
        arrays = {"words": words, "counts": counts, "vectors": codes}
        return arrays if scales is None else {**arrays, "scales": scales}

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies these vectors: a name with a hash of all of them."""
        return {"name": self._name}

    @cached_property
    def _name(self) -> str:
        state = blake2b(digest_size=8)
        if self.ships_as is not None:  # the files have checksums of all of them
            for name in _FILES[self.ships_as]:
                state.update(header_digest(_path(name), _KIND).encode("ascii"))
        else:
            for array in self._arrays().values():
                state.update(np.ascontiguousarray(array).data)
        kind = self.ships_as or "word"
        return f"{kind} vectors {state.hexdigest()} ({len(self)} words, vectors of {self.size})"

    def __deepcopy__(self, memo: object) -> WordVectors:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.ships_as is not None:
            return (English if self.ships_as == ENGLISH else Brown), ()
        return type(self)._of, (self.words, self.counts, self.matrix)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words, vectors of {self.size}>"


# ---- what ships with the package -----------------------------------------------------------------

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
    return WordVectors._of(*_opened(ENGLISH), ENGLISH)


class _Table(NamedTuple):
    """What `WordVectors` are made of."""

    words: list[str]
    counts: NDArray[Any]
    matrix: Matrix


def _path(name: str) -> str:
    (folder,) = import_module("fuzzydict.data").__path__
    return f"{folder}/{name}.vectors"


def _opened(name: str) -> _Table:
    """Open a file that ships. Its rows are not compared with a checksum, but read when needed."""
    _, arrays, later = read_arrays(_path(name), _KIND, later=("vectors",))
    words = json_of(arrays["words"], of_texts=True)
    arrays["vectors"] = later["vectors"].array
    return _Table(words, arrays["counts"], Matrix.from_arrays(arrays, len(words)))


def side_by_side(
    first: WordVectors | _Table, second: WordVectors | _Table, ships_as: str | None = None
) -> WordVectors:
    """Return one table of the words of both: the numbers of the first, then of the second, or 0."""
    # A word of both is as frequent as the first has it; counts of the second's others are scaled.
    of_first = dict(zip(first.words, range(len(first.words)), strict=True))
    found = np.array([of_first.get(word, -1) for word in second.words])
    new = np.flatnonzero(found < 0)
    share = first.counts.sum() / second.counts.sum()
    counts = np.concatenate([first.counts, np.rint(second.counts[new] * share).astype(np.int64)])
    order = np.argsort(-counts, kind="stable")
    words = np.array([*first.words, *[second.words[row] for row in new.tolist()]], object)[order]
    found[new] = len(of_first) + np.arange(len(new))
    places = np.full((2, len(words) + 1), -1, np.int32)
    places[0, : len(of_first)] = np.arange(len(of_first))
    places[1, found] = np.arange(len(found))
    places[:, :-1] = places[:, order]
    matrix = Matrix(*first.matrix.tables, *second.matrix.tables, places=places)
    return WordVectors._of(words.tolist(), counts[order], matrix, ships_as)
