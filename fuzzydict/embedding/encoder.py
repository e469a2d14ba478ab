"""Other people's embeddings: whatever ``embedding=`` takes, as one kind of thing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import as_floats
from fuzzydict.embedding.base import Background, Embedding, WordFeatures, background_of
from fuzzydict.embedding.calibration import OF_TEXTS
from fuzzydict.embedding.vocabulary import Vocabulary
from fuzzydict.embedding.word_vectors import Brown, WordVectors
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Embedding", "Encoder", "as_embedding", "require_same"]

# What a function is asked to encode, to tell it from another.
_PROBES = ["color", "top speed", "the quick brown fox", "42"]


class Encoder:
    """A function from texts to vectors, checked at every call.

    >>> encoder = Encoder(lambda texts: [[len(text), 1] for text in texts])
    >>> encoder.encode(["a", "bcd"]).tolist()
    [[1.0, 1.0], [3.0, 1.0]]
    """

    calibration = OF_TEXTS
    tells_words = False

    def __init__(self, encode: Callable[[list[str]], Any]) -> None:
        self.function = encode
        self._size: int | None = None  # E, once a call has shown it
        self._learned: frozenset[str] = frozenset()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E).

        Raises:
            ArgumentTypeError: the function gave something else than numbers.
            ShapeError: it gave another shape, or NaN or infinity.
        """
        if not texts:  # which not every function takes
            return np.zeros((0, self._size or 0), np.float32)
        (given,) = as_floats(**{"embedding: what its encode gave": self.function(list(texts))})
        vectors = given.astype(np.float32)  # a copy: the function may use its array again
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise ShapeError(
                f"embedding: its encode must give an array (n, E) for n texts; "
                f"for {len(texts)} texts it gave shape {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ShapeError(f"embedding: its encode gave NaN or infinity for {texts[bad]!r}")
        if self._size not in (None, vectors.shape[1]):
            raise ShapeError(
                f"embedding: its encode gave vectors of {vectors.shape[1]}, and of {self._size} "
                f"before; one dict takes vectors of one length: set embedding again, or mend it"
            )
        self._size = vectors.shape[1]
        return vectors

    def encode_with_trust(
        self,
        texts: Sequence[str],
        *,
        of_queries: bool = False,  # noqa: ARG002
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `encode` returns, and trust 1: the model does not tell which words it knows.

        The shapes are (n, E) and (n,).
        """
        return self.encode(texts), self.trust(texts)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return 1 for each text, (n,)."""
        return np.ones(len(texts), np.float32)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the Brown corpus, since the model does not tell which words it knows."""
        vocabulary = Brown().vocabulary
        return vocabulary.with_learned(self._learned) if self._learned else vocabulary

    def with_learned(self, words: Collection[str]) -> Encoder:
        """Return the same encoder with a vocabulary that also knows these words."""
        new = copy(self)
        new._learned = frozenset(words)
        return new

    def word_features(self, words: Sequence[str], *, of_query: bool = False) -> WordFeatures:  # noqa: ARG002
        """Return features of n words without vectors, (n, 0), which would cost a call a word."""
        vocabulary = self.vocabulary
        known = np.array([vocabulary.knows(word) for word in words], np.bool_)
        trust, units = np.ones(len(words), np.float32), np.zeros((len(words), 0), np.float32)
        return WordFeatures(known, vocabulary.weights(words), trust, units)

    def projected_features(self, words: Sequence[str], project: Any) -> WordFeatures:  # noqa: ARG002
        """Return what `word_features` returns, since there are no vectors to project."""
        return self.word_features(words)

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines among some of the keys, for there are no other texts to tell from."""
        return background_of(keys)

    def fingerprint(self) -> dict[str, Any]:
        """Return a name and the vectors of some texts, for a function has no more to show."""
        vectors = self.encode(_PROBES)
        return {"name": f"a function to vectors of {vectors.shape[1]}", "probes": vectors.tolist()}


def require_same(saved: dict[str, Any], embedding: Embedding) -> None:
    """Raise unless ``embedding`` is the one whose fingerprint was saved.

    Functions may round otherwise on another machine, so their probes need only be close.

    Raises:
        OptionError: it is another one; the message names both.
    """
    given = embedding.fingerprint()
    same_name = saved.get("name") == given["name"]
    if same_name and _close(saved.get("probes"), given.get("probes")):
        return
    raise OptionError(
        f"embedding: the file was saved with {saved.get('name')}, and is being loaded with "
        f"{given['name']}{', which gives other vectors' if same_name else ''}; "
        f"open it with the first"
    )


def _close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0.01, atol=0.01)


def as_embedding(embedding: Any) -> Embedding:
    """Return the embedding that an ``embedding=`` argument means.

    Args:
        embedding: ``None`` (the shipped Brown vectors), a `WordVectors`, a gensim ``KeyedVectors``
            (or a model that has one as ``wv``), a mapping ``{word: vector}``, an object with
            ``encode(list of texts)``, or such a function.

    Raises:
        ArgumentTypeError: it is none of these.

    >>> as_embedding({"red": [1.0, 0.0], "blue": [0.0, 1.0]})
    <WordVectors: 2 words, vectors of 2>
    """
    if embedding is None or embedding is Brown:
        return Brown()
    if isinstance(embedding, WordVectors | Encoder):
        return embedding
    vectors = getattr(embedding, "wv", embedding)
    if hasattr(vectors, "index_to_key") and hasattr(vectors, "vectors"):
        return WordVectors.from_gensim(vectors)
    if isinstance(embedding, Mapping):
        return WordVectors.from_mapping(embedding)
    if not isinstance(embedding, str | bytes | type):
        if callable(getattr(embedding, "encode", None)):
            return Encoder(embedding.encode)
        if callable(embedding):
            return Encoder(embedding)
    raise ArgumentTypeError(
        f"embedding: expected None, WordVectors, gensim KeyedVectors, a mapping from words to "
        f"vectors, an object with encode(texts), or a function of texts; got {embedding!r}"
    )
