"""What ``embedding=`` takes, and models that encode whole texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import as_floats
from fuzzydict.embedding.word_vectors import ENGLISH, Brown, English, WordVectors
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted

# Texts whose vectors identify a function.
_PROBES = ["color", "top speed", "the quick brown fox", "42"]


class Encoder:
    """A function from texts to vectors, whose result is checked at every call."""

    def __init__(self, encode: Callable[[list[str]], Any]) -> None:
        self.function = encode
        self._size: int | None = None  # E, known after the first call

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E)."""
        if not texts:  # not every function takes an empty list
            return np.zeros((0, self._size or 0), np.float32)
        (given,) = as_floats(**{"embedding: what its encode gave": self.function(list(texts))})
        with np.errstate(over="ignore"):  # infinity is refused
            vectors = given.astype(np.float32)  # a copy: the function may use its array again
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            got = f"for {len(texts)} texts it gave shape {vectors.shape}"
            raise ShapeError(f"embedding: its encode must give an array (n, E) for n texts; {got}")
        if not np.isfinite(vectors).all():
            bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ShapeError(f"embedding: its encode gave NaN or infinity for {quoted(texts[bad])}")
        if self._size not in (None, vectors.shape[1]):
            got = f"vectors of {vectors.shape[1]}, and of {self._size} before"
            advice = "one dict takes vectors of one length: set embedding again, or mend it"
            raise ShapeError(f"embedding: its encode gave {got}; {advice}")
        self._size = vectors.shape[1]
        return vectors

    def fingerprint(self) -> dict[str, Any]:
        """Return a name, and vectors of a few probe texts: nothing else identifies a function."""
        vectors = self.encode(_PROBES)
        return {"name": f"a function to vectors of {vectors.shape[1]}", "probes": vectors.tolist()}


def require_same(saved: dict[str, Any], embedding: Any, where: str = "file") -> None:
    """Raise OptionError unless the fingerprint of an embedding is that in a file or store."""
    given = embedding.fingerprint()
    if are_same(saved, given):
        return
    other = ", which gives other vectors" if saved.get("name") == given["name"] else ""
    is_function = saved.get("probes") is not None
    advice = "pass the function as embedding=" if is_function else "give the first as embedding="
    if str(saved.get("name")).startswith("brown vectors"):
        advice = "for the first, which is the default, name no embedding"
    raise OptionError(
        f"embedding: the {where} was saved with {saved.get('name')}, and is being loaded with "
        f"{given['name']}{other}; {advice}"
    )


def are_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Tell whether two fingerprints are of one embedding; functions may round differently."""
    one, other = a.get("probes"), b.get("probes")
    if a.get("name") != b.get("name") or one is None or other is None:
        return a.get("name") == b.get("name") and one is other
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=0.01, atol=0.01)


#: What `as_embedding` returns.
Embedding: TypeAlias = WordVectors | Encoder


def as_embedding(embedding: Any) -> Embedding:
    """Return the embedding that an ``embedding=`` argument means.

    Args:
        embedding: ``None`` (`Brown`), ``"english"`` (`English`), a `WordVectors`, a gensim
            ``KeyedVectors`` (or a model that has one as ``wv``), a mapping ``{word: vector}``, an
            object with ``encode(list of texts)``, or such a function.

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
    encode = getattr(embedding, "encode", embedding)
    for function in (encode, embedding):
        if callable(function) and not isinstance(embedding, str | bytes | type):
            return Encoder(function)
    raise ArgumentTypeError(
        f"embedding: expected None, 'english', WordVectors, gensim KeyedVectors, a mapping from "
        f"words to vectors, an object with encode(texts), or a function of texts; "
        f"got {quoted(embedding)}"
    )


def name_of(embedding: Any) -> str | None:
    """Return the name of an embedding that `as_embedding` takes; None if it has none."""
    if isinstance(embedding, str):
        return embedding
    is_english = embedding is English or getattr(embedding, "ships_as", None) == ENGLISH
    return ENGLISH if is_english else None
