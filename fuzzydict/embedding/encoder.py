"""Models that encode whole texts, and what ``embedding=`` takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fuzzydict._arrays import as_floats
from fuzzydict.embedding.base import Background, WordFeatures, background_of
from fuzzydict.embedding.calibration import OF_TEXTS
from fuzzydict.embedding.vocabulary import FoundWords, Vocabulary
from fuzzydict.embedding.word_vectors import ENGLISH, Brown, English, WordVectors, is_english
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding


# Of what the mean of unrelated cosines leaves to 1: their least spread. A sentence encoder has as
# much. Letters counted have less, but texts with a few letters in common are no nearer in meaning.
_LEAST_SPREAD = 0.11
# Texts whose vectors identify a function.
_PROBES = ["color", "top speed", "the quick brown fox", "42"]


class Encoder:
    """A function from texts to vectors, whose result is checked at every call.

    >>> encoder = Encoder(lambda texts: [[len(text), 1] for text in texts])
    >>> encoder.encode(["a", "bcd"]).tolist()
    [[1.0, 1.0], [3.0, 1.0]]
    """

    calibration = OF_TEXTS
    tells_words = False

    def __init__(self, encode: Callable[[list[str]], Any]) -> None:
        self.function = encode
        self._size: int | None = None  # E, known after the first call
        self._learned: frozenset[str] = frozenset()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E).

        Raises:
            ArgumentTypeError: the function does not return numbers.
            ShapeError: it returns another shape, or NaN or infinity.
        """
        if not texts:  # not every function takes an empty list
            return np.zeros((0, self._size or 0), np.float32)
        (given,) = as_floats(**{"embedding: what its encode gave": self.function(list(texts))})
        with np.errstate(over="ignore"):  # infinity is refused
            vectors = given.astype(np.float32)  # a copy: the function may use its array again
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise ShapeError(
                f"embedding: its encode must give an array (n, E) for n texts; "
                f"for {len(texts)} texts it gave shape {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ShapeError(f"embedding: its encode gave NaN or infinity for {quoted(texts[bad])}")
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
        """Return what `encode` returns, (n, E), and 1 for each text, (n,)."""
        return self.encode(texts), self.trust(texts)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return 1 for each text, (n,), since the model does not tell which words it knows."""
        return np.ones(len(texts), np.float32)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of `English`, since the model does not tell which words it knows."""
        vocabulary = English().vocabulary
        return vocabulary.with_learned(self._learned) if self._learned else vocabulary

    def with_learned(self, words: Collection[str]) -> Encoder:
        """Return the same encoder with a vocabulary that also knows these words."""
        new = copy(self)
        new._learned = frozenset(words)
        return new

    def word_features(self, words: Sequence[str], *, of_query: bool = False) -> WordFeatures:  # noqa: ARG002
        """Return the features of n words, without vectors: a call for each would be slow."""
        found = FoundWords(self.vocabulary, words)
        trust = self.trust(words)
        vectors, lengths = np.split(np.zeros((len(words), 1), np.float32), [0], axis=1)
        return WordFeatures(found.known, found.weights, trust, vectors, lengths)

    def projected_features(self, words: Sequence[str], project: Any) -> WordFeatures:  # noqa: ARG002
        """Return what `word_features` returns; there are no vectors to project."""
        return self.word_features(words)

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines to expect of unrelated texts, estimated from those of keys, (n, E).

        >>> encoder = Encoder(lambda texts: [[9.0, len(text)] for text in texts])
        >>> round(encoder.background(np.eye(20, dtype=np.float32)).spread, 2)  # of a mean near 0
        0.11
        """
        mean, spread = background_of(keys)
        return Background(mean, max(spread, _LEAST_SPREAD * (1 - mean)))

    def fingerprint(self) -> dict[str, Any]:
        """Return a name, and vectors of a few probe texts: nothing else identifies a function."""
        vectors = self.encode(_PROBES)
        return {"name": f"a function to vectors of {vectors.shape[1]}", "probes": vectors.tolist()}


def require_same(saved: dict[str, Any], embedding: Embedding, where: str = "file") -> None:
    """Raise OptionError unless the fingerprint of an embedding is the one saved in a file or store.

    Functions may round differently on another machine, so their probes need only be close.
    """
    given = embedding.fingerprint()
    if are_same(saved, given):
        return
    same_name = saved.get("name") == given["name"]
    is_function = saved.get("probes") is not None
    advice = "pass the function as embedding=" if is_function else "open it with the first"
    raise OptionError(
        f"embedding: the {where} was saved with {saved.get('name')}, and is being loaded with "
        f"{given['name']}{', which gives other vectors' if same_name else ''}; "
        f"{advice}"
    )


def are_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Tell whether two fingerprints are of one embedding; see `require_same`."""
    return a.get("name") == b.get("name") and _close(a.get("probes"), b.get("probes"))


def _close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0.01, atol=0.01)


#: An embedding that has no projections.
Unprojected: TypeAlias = WordVectors | Encoder


def as_embedding(embedding: Any) -> Unprojected:
    """Return the embedding that an ``embedding=`` argument means.

    Args:
        embedding: ``None`` (the shipped Brown vectors), ``"english"`` (the table `English`), a
            `WordVectors`, a gensim ``KeyedVectors`` (or a model that has one as ``wv``), a mapping
            ``{word: vector}``, an object with ``encode(list of texts)``, or such a function.

    Raises:
        ArgumentTypeError: it is none of these.

    >>> as_embedding({"red": [1.0, 0.0], "blue": [0.0, 1.0]})
    <WordVectors: 2 words, vectors of 2>
    """
    if embedding is None or embedding is Brown:
        return Brown()
    if name_of(embedding) == ENGLISH:
        return English()
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
        f"embedding: expected None, 'english', WordVectors, gensim KeyedVectors, a mapping from "
        f"words to vectors, an object with encode(texts), or a function of texts; "
        f"got {quoted(embedding)}"
    )


def name_of(embedding: Any) -> str | None:
    """Return the name of an embedding that `as_embedding` takes; None if it has none.

    >>> name_of(English()), name_of(None)
    ('english', None)
    """
    if isinstance(embedding, str):
        return embedding
    return ENGLISH if embedding is English or is_english(embedding) else None
