"""Words -> vectors: `WordVectors`, which gives every text a vector, words never seen included."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict import _files as storage
from fuzzydict._arrays import as_floats
from fuzzydict.embedding import word2vec as training
from fuzzydict.embedding.background import SAMPLE, Background, background_of
from fuzzydict.embedding.calibration import OF_WORDS
from fuzzydict.embedding.matrix import Matrix
from fuzzydict.embedding.unseen import Unseen
from fuzzydict.embedding.vocabulary import Found, Phrases, Vocabulary, mean_trust
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["WordVectors"]

_KIND = "word vectors"
_KNOWN_WELL = 5  # a word that occurs so often has a vector to judge others by


class WordVectors:
    """Words and their vectors: V words, most frequent first, each of E numbers.

    Args:
        words: V different words, most frequent first.
        vectors: (V, E), a row a word.
        counts: (V,), how often each word occurs; it tells "of" from a word that carries a phrase.
            By default all words weigh alike.

    Raises:
        ArgumentTypeError: a word is not a text, or a vector not of numbers.
        ShapeError: the numbers of words, rows and counts differ, a vector is not finite, a count
            is below zero, or a word comes twice.

    >>> vectors = WordVectors(["red", "blue"], [[1.0, 0.0], [0.0, 1.0]])
    >>> vectors.encode(["red", "Red blue"]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    calibration = OF_WORDS
    tells_words = True

    def __init__(
        self,
        words: Sequence[str],
        vectors: NDArray[Any] | Sequence[Sequence[float]],
        counts: Sequence[int] | NDArray[Any] | None = None,
    ) -> None:
        vocabulary = Vocabulary(words, np.ones(len(words), np.int64) if counts is None else counts)
        with np.errstate(over="ignore"):  # what is too large for 32 bits is told below
            rows = as_floats(vectors=vectors)[0].astype(np.float32)  # a copy, nobody else's
        if rows.ndim != 2 or len(rows) != len(words) or not rows.size:
            raise ShapeError(
                f"vectors: expected a row for each of the {len(words)} words, "
                f"(V, E) with V and E of 1 or more, got shape {rows.shape}"
            )
        if not np.isfinite(rows).all():
            culprit = words[int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])]
            raise ShapeError(
                f"vectors: the one of {culprit!r} has NaN or infinity, or numbers beyond "
                f"32 bits; leave it out, or scale it down"
            )
        rows.flags.writeable = False
        self.vocabulary, self._matrix = vocabulary, Matrix(rows)

    # ---- where they come from -------------------------------------------------------------

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
        """Train word2vec on ``sentences``, each a text or a list of words.

        The same machine and seed give the same bits. ``size`` numbers a word are kept, all with
        None. ``progress(done, total)`` is told of every epoch. ``data/README.md`` has the recipe.

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
        """Open what `save` wrote. The vectors are memory-mapped: opening takes milliseconds.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
        """
        arrays = storage.read(path, _KIND).arrays
        try:
            words = json.loads(arrays["words"].tobytes())
            matrix = Matrix(arrays["vectors"], arrays.get("scales"))
            if not isinstance(words, list) or arrays["counts"].dtype != np.int64:
                raise ValueError("its words are no list, or its counts no whole numbers")
            vocabulary = Vocabulary(words, arrays["counts"])
            matrix.check(len(words))
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise FileFormatError(f"{path} holds no whole word vectors: {error}") from error
        vectors = cls.__new__(cls)
        vectors.vocabulary, vectors._matrix = vocabulary, matrix
        return vectors

    @classmethod
    def from_gensim(cls, vectors: Any) -> WordVectors:
        """Copy the words, vectors and counts of a gensim ``KeyedVectors``."""
        words = list(vectors.index_to_key)
        ranks = np.arange(1, len(words) + 1)
        # Files that keep the order of frequency but not the counts: gensim then counts down to 1.
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
            word: as_floats(**{f"embedding of {word!r}": vector})[0]
            for word, vector in mapping.items()
        }
        sizes = {word: row.shape for word, row in rows.items()}
        odd = next((word for word in rows if sizes[word] != next(iter(sizes.values()))), None)
        if not rows or odd is not None:
            got = "no word" if odd is None else f"shape {sizes[odd]} for {odd!r}"
            raise ShapeError(f"embedding: expected vectors of one length for all words, got {got}")
        return cls(list(rows), np.stack(list(rows.values())))

    def save(self, path: str | os.PathLike[str], *, dtype: str | None = None) -> None:
        """Write all to one file, atomically; no pickle.

        ``dtype`` is "float32", or "int8", which rounds each vector to 255 steps of its largest
        number and takes a quarter of the space; by default what the vectors have now.
        """
        if dtype not in (None, "float32", "int8"):
            raise ArgumentTypeError(f"dtype: expected 'float32' or 'int8', got {dtype!r}")
        matrix = self._matrix.rounded() if dtype == "int8" else self._matrix
        matrix = Matrix(matrix.whole) if dtype == "float32" else matrix
        words = np.frombuffer(json.dumps(self.words).encode("ascii"), np.uint8)
        storage.write(path, _KIND, {}, {"words": words, "counts": self.counts, **matrix.arrays()})

    # ---- what they hold -------------------------------------------------------------------

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
        """All vectors, (V, E), not to be written to; rounded ones are made whole when asked for."""
        return self._matrix.whole

    @property
    def size(self) -> int:
        """The length E of a vector."""
        return int(self._matrix.codes.shape[1])

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells these vectors from others: a name with a hash of all of them."""
        from hashlib import blake2b

        state = blake2b(json.dumps(self.words).encode("ascii"), digest_size=8)
        for array in (self.counts, *self._matrix.arrays().values()):
            state.update(np.ascontiguousarray(array).data)
        size = f"{len(self)} words, vectors of {self.size}"
        return {"name": f"word vectors {state.hexdigest()} ({size})"}

    def __len__(self) -> int:
        return len(self.words)

    def __deepcopy__(self, memo: object) -> WordVectors:
        return self  # they never change, and may be large

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words, vectors of {self.size}>"

    # ---- from text to vectors -------------------------------------------------------------

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E): the weighted mean of those of its words.

        Rare words weigh more than frequent ones. A word never seen takes the vectors of the
        known words that look like it, as far as they do, and a vector of its own n-grams for the
        rest. Only a text without letters and digits has the zero vector.
        """
        _require_texts(texts)
        encoded = np.empty((len(texts), self.size), np.float32)
        for some, phrases in self.vocabulary.phrases(texts):
            encoded[some] = self._means(phrases, Found(self.vocabulary, phrases.words))
        return encoded

    def encode_with_trust(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `encode` and `trust` do; what stands in for a word is looked up once."""
        _require_texts(texts)
        encoded = np.empty((len(texts), self.size), np.float32)
        trust = np.empty(len(texts), np.float32)
        for some, phrases in self.vocabulary.phrases(texts):
            found = Found(self.vocabulary, phrases.words)
            encoded[some] = self._means(phrases, found)
            trust[some] = mean_trust(phrases, found)
        return encoded, trust

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what `encode` does: queries and keys are texts alike."""
        return self.encode(texts)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far each vector can be believed, (n,): its words' mean `Vocabulary.trust`."""
        _require_texts(texts)
        return self.vocabulary.trusts(texts)

    def with_learned(self, words: Collection[str]) -> WordVectors:
        """Return these vectors with a vocabulary that knows these words, too."""
        new = copy(self)
        new.vocabulary = self.vocabulary.with_learned(words)
        return new

    def token_vectors(self, tokens: list[str], *, of_query: bool) -> NDArray[np.float32]:  # noqa: ARG002
        """Return the vectors of single words, (n, E), seen or not."""
        return self._vectors(Found(self.vocabulary, tokens))

    def _means(self, phrases: Phrases, found: Found) -> NDArray[np.float32]:
        return phrases.means(self._vectors(found), found.weights)

    def _vectors(self, found: Found) -> NDArray[np.float32]:
        vectors = self._matrix.rows(found.rows)
        if found.unseen:
            vectors[found.places] = self._unseen.vectors(found)
        return vectors

    def background(self, keys: NDArray[np.float32]) -> Background:  # noqa: ARG002
        """Return the cosines to expect of unrelated words: the vocabulary's, whatever the keys."""
        return self._background

    @cached_property
    def _unseen(self) -> Unseen:
        return Unseen(self.vocabulary, self._matrix)

    @cached_property
    def _background(self) -> Background:
        return background_of(self.encode(self.some_words()))

    def some_words(self) -> list[str]:
        """Return words from all over the vocabulary that it knows well."""
        known = np.flatnonzero(self.counts >= min(_KNOWN_WELL, self.counts.max()))
        return [self.words[row] for row in known[:: -(-len(known) // SAMPLE)].tolist()]


def _require_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise ArgumentTypeError(f"texts: expected a list of texts, got the text {quoted(texts)}")
    for text in texts:
        if not isinstance(text, str):
            raise ArgumentTypeError(f"texts: expected texts alone, got {quoted(text)} among them")
