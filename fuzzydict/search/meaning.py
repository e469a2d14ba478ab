"""What texts are compared by: words of a table, an encoder of whole texts, or letters alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.word_vectors import English, WordVectors
from fuzzydict.search.judge import Judge, shipped
from fuzzydict.search.keys import WordTable
from fuzzydict.search.retrieve import query_of, vector_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.encoder import Encoder
    from fuzzydict.embedding.projections import Projections
    from fuzzydict.search.align import Query
    from fuzzydict.search.keys import Keys
    from fuzzydict.search.synonyms import SynonymRules


#: The kinds of vectors, each with a judge of its own.
WORDS, ENCODER, SPELLING = "words", "encoder", "spelling"


class Meaning:
    """What gives keys and queries their vectors, the words beside these, and the judge of both.

    Args:
        embedding: word vectors, or an encoder; its words are then those of `English`. None for
            letters alone.
        projections: Q, which queries are multiplied with, and K for keys; None for neither.
        synonyms: what words of all texts are replaced by; None for none.

    Attributes:
        is_encoded: whether the vectors are those of an encoder of whole texts.
    """

    def __init__(
        self,
        embedding: WordVectors | Encoder | None,
        projections: Projections | None = None,
        synonyms: SynonymRules | None = None,
    ) -> None:
        self.embedding, self.projections = embedding, projections
        if embedding is None:
            self.kind, vectors = SPELLING, None
        elif isinstance(embedding, WordVectors):
            self.kind, vectors = WORDS, embedding
        else:
            self.kind, vectors = ENCODER, English()
        table, self.is_encoded = table_of(vectors), self.kind == ENCODER
        self.table = table if synonyms is None else table.with_synonyms(synonyms)

    @cached_property
    def judge(self) -> Judge:
        """The learned weights for this kind of vectors."""
        return shipped(self.kind)

    def query(self, asked: str) -> Query:
        """Return a query as it is compared; it may have no words."""
        return query_of(asked, self.table)

    def of_keys(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of n keys, (n, E)."""
        if self.embedding is None:
            return np.zeros((len(texts), 0), np.float32)
        vectors = self.embedding.encode(self.table.written(list(texts)))
        if self.projections is None:
            return vectors
        return self.projections.project_keys(vectors).astype(np.float32, copy=False)

    def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), whatever the keys are."""
        if self.embedding is None:
            return np.zeros((len(texts), 0), np.float32)
        return self._projected(self.embedding.encode(self.table.written(list(texts))))

    def of_queries(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), in which words weigh more that few keys have."""
        if self.kind == WORDS:
            return self._projected(vectors_of(queries, keys))
        return self.of_texts([query.asked for query in queries])

    def vector_of(self, query: Query, weights: Sequence[float]) -> NDArray[np.float32]:
        """Return the vector of one query, (E,), given the weights of its words among the keys."""
        vector = vector_of(query, weights)
        return vector if self.projections is None else self._projected(vector[None])[0]

    def _projected(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.projections is None:
            return vectors
        return self.projections.project_queries(vectors).astype(np.float32, copy=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the embedding, the projections and the synonyms, as JSON."""
        none = {"name": "no vectors"}
        found = none if self.embedding is None else self.embedding.fingerprint()
        changes = list[str]()
        if self.projections is not None:
            changes.append(f"projected {self.projections.digest}")
        if self.table.synonyms is not None:
            changes.append(f"with synonyms {self.table.synonyms.digest}")
        return {**found, "name": ", ".join([found["name"], *changes])}


def table_of(vectors: WordVectors | None) -> WordTable:
    """Return the words of a table, looked up once for all dicts."""
    if vectors is None:
        return _LETTERS
    found: WordTable | None = vectors.__dict__.get("_compared")
    if found is None:
        found = vectors.__dict__["_compared"] = WordTable(vectors)
    return found


_LETTERS = WordTable(None)
