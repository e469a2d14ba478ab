"""An embedding seen through projections: queries and keys in the space learned for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import units
from fuzzydict.embedding.background import Background, background_of, background_of_cosines
from fuzzydict.embedding.projections import SHIPPED, Projections
from fuzzydict.embedding.word_vectors import Brown, WordVectors
from fuzzydict.errors import OptionError, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.embedding.vocabulary import Vocabulary

__all__ = ["NAMES", "Projected", "as_projections", "seen_through"]

#: What ``projections=`` may name: those that ship, and none at all.
NAMES = (*SHIPPED, "identity")


class Projected:
    """An embedding of which queries are multiplied with Q and keys with K.

    Args:
        embedding: what gives texts their vectors.
        projections: what they are multiplied with.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> from fuzzydict.embedding.projections import Projections
    >>> turned = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
    >>> projected = Projected(as_embedding({"ask": [0.0, 1.0], "key": [1.0, 0.0]}), turned)
    >>> projected.encode_queries(["ask"]).tolist(), projected.encode(["key"]).tolist()
    ([[1.0, 0.0]], [[1.0, 0.0]])
    """

    def __init__(self, embedding: Embedding, projections: Projections) -> None:
        self.embedding, self.projections = embedding, projections

    @property
    def calibration(self) -> Calibration:
        """What nearness says: as it was learned with the projections, if it was."""
        return self.projections.calibration or self.embedding.calibration

    @property
    def tells_words(self) -> bool:
        """Whether the vectors are those of the words of `vocabulary`."""
        return self.embedding.tells_words

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that are known, by the embedding or by what was learned."""
        if isinstance(self.embedding, WordVectors):
            return self._knowing.vocabulary
        vocabulary, learned = self.embedding.vocabulary, self.projections.words
        return vocabulary.with_learned(learned) if learned else vocabulary

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each key, (n, r)."""
        return self._keys(self.embedding.encode(texts), texts)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each query, (n, r)."""
        return self._queries(self.embedding.encode_queries(texts), texts)

    def token_vectors(self, tokens: list[str], *, of_query: bool) -> NDArray[np.float32]:
        """Return the vectors of single words of a query or of keys, or (n, 0)."""
        vectors = self.embedding.token_vectors(tokens, of_query=of_query)
        if not vectors.size:
            return vectors
        return (self._queries if of_query else self._keys)(vectors, tokens)

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far each vector can be believed, (n,)."""
        return self._knowing.trust(texts)

    def encode_with_trust(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `encode` and `trust` do, (n, r) and (n,)."""
        vectors, trust = self._knowing.encode_with_trust(texts)
        return self._keys(vectors, texts), trust

    @cached_property
    def _knowing(self) -> Embedding:
        """The embedding, with what was learned."""
        words = self.projections.words
        if words and isinstance(self.embedding, WordVectors):
            return self.embedding.with_learned(words)
        return self.embedding

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines to expect of unrelated texts."""
        return self._of_words or background_of(keys)

    @cached_property
    def _of_words(self) -> Background | None:
        if not isinstance(self.embedding, WordVectors):
            return None
        words = self.embedding.some_words()
        keys, asked = units(self.encode(words)), units(self.encode_queries(words))
        return background_of_cosines(asked @ keys.T)

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells the embedding from others, and these projections."""
        from hashlib import blake2b

        state = blake2b(digest_size=8)
        for name, array in sorted(self.projections.arrays().items()):
            state.update(name.encode("ascii"))
            state.update(np.ascontiguousarray(array).data)
        found = self.embedding.fingerprint()
        return {**found, "name": f"{found['name']}, projected {state.hexdigest()}"}

    def _queries(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_queries(vectors, texts).astype(np.float32, copy=False)

    def _keys(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_keys(vectors, texts).astype(np.float32, copy=False)


def as_projections(projections: Any) -> Projections | None:
    """Return the projections that a ``projections=`` argument names or is; None for its default.

    Raises:
        OptionError: it is neither.
    """
    if projections is None or isinstance(projections, Projections):
        return projections
    if not isinstance(projections, str) or projections not in NAMES:
        raise OptionError(
            f"projections: expected None, one of {', '.join(map(repr, NAMES))}, or Projections, "
            f"got {quoted(projections)}"
        )
    return Projections() if projections == "identity" else Projections.shipped(projections)


def seen_through(embedding: Embedding, projections: Projections | None) -> Embedding:
    """Return the embedding seen through projections, by default those that ship for it.

    Raises:
        OptionError: the projections were learned for another embedding; the message names both.
    """
    if projections is None:
        if embedding is not Brown():
            return embedding
        return Projected(embedding, Projections.shipped("wordnet"))
    if projections.embedding is not None:
        name = embedding.fingerprint()["name"]
        if name != projections.embedding:
            raise OptionError(
                f"projections: these are for {projections.embedding}, and the embedding is "
                f"{name}; give that embedding, or other projections"
            )
    return embedding if projections.is_identity else Projected(embedding, projections)
