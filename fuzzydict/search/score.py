"""What keys and queries are compared by: vectors and words, and the score that these give."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzydict.embedding.encoder import Encoder
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.word_vectors import English, WordVectors
from fuzzydict.errors import OptionError, quoted
from fuzzydict.nn.scorers import SCORERS, Cosine, Dot, ScaledDot, ScorerLike, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search.align import Query
from fuzzydict.search.judge import Judge, shipped
from fuzzydict.search.keys import Keys, WordTable
from fuzzydict.search.taught import SynonymRules

#: The name of the score by spelling.
SPELLING = "spelling"
_LETTERS = WordTable(None)


class Meaning:
    """What gives keys and queries their vectors, the words beside these, and the judge of both.

    Args:
        embedding: word vectors, or an encoder; its words are then those of `English`. None for
            letters alone.
        projections: Q, which queries are multiplied with, and K for keys; None for neither.
        synonyms: what words of all texts are replaced by; None for none.
    """

    def __init__(
        self,
        embedding: WordVectors | Encoder | None,
        projections: Projections | None = None,
        synonyms: SynonymRules | None = None,
    ) -> None:
        self.embedding, self.projections = embedding, projections
        #: Whether the vectors are those of an encoder of whole texts.
        self.is_encoded = not (embedding is None or isinstance(embedding, WordVectors))
        self.table = _LETTERS  # the words, looked up once for all dicts
        if embedding is not None:
            vectors = embedding if isinstance(embedding, WordVectors) else English()
            self.table = vectors.__dict__.setdefault("_compared", WordTable(vectors))
        if synonyms is not None:
            self.table = copy(self.table)
            self.table.synonyms = synonyms

    @cached_property
    def judge(self) -> Judge:
        """The learned weights for this kind of vectors."""
        if self.embedding is None:
            return shipped(SPELLING)
        return shipped("encoder" if self.is_encoded else "words")

    def queries(self, asked: Sequence[str]) -> list[Query]:
        """Return queries as they are compared; they may have no words."""
        texts = list(map(self.table.words_of, asked))
        each = zip(asked, texts, self.table.of_each(texts), strict=True)
        return [Query(text, " ".join(words), known) for text, words, known in each]

    def of_keys(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of n keys, (n, E)."""
        vectors = self._encoded(texts)
        if self.projections is None:
            return vectors
        return self.projections.project_keys(vectors).astype(np.float32, copy=False)

    def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), whatever the keys are."""
        return self._projected(self._encoded(texts))

    def of_queries(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), in which words weigh more that few keys have."""
        if queries and queries[0].vector is not None:
            return np.array([query.vector for query in queries])
        if self.embedding is None or self.is_encoded:
            return self.of_texts([query.asked for query in queries])
        vectors = [weighted(query, keys.weights_of(query.words)) for query in queries]
        return self._projected(np.array(vectors, np.float32).reshape(len(queries), self.table.size))

    def vector_of(self, query: Query, weights: Sequence[float]) -> NDArray[np.float32]:
        """Return the vector of one query, (E,), given the weights of its words among the keys."""
        vector = weighted(query, weights)
        return vector if self.projections is None else self._projected(vector[None])[0]

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.embedding is None:
            return np.zeros((len(texts), 0), np.float32)
        return self.embedding.encode(self.table.written(list(texts)))

    def _projected(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.projections is None:
            return vectors
        return self.projections.project_queries(vectors).astype(np.float32, copy=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the embedding, the projections and the synonyms, as JSON."""
        none = {"name": "no vectors"}
        found = none if self.embedding is None else self.embedding.fingerprint()
        names = [found["name"]]
        if self.projections is not None:
            names.append(f"projected {self.projections.digest}")
        if self.table.synonyms is not None:
            names.append(f"with synonyms {self.table.synonyms.digest}")
        return {**found, "name": ", ".join(names)}


def weighted(query: Query, weights: Sequence[float]) -> NDArray[np.float32]:
    """Return the sum of the vectors of the words of a query, each by its weight, (E,)."""
    words = query.words
    vector = words[0].unit * np.float32(words[0].length * weights[0])
    for word, weight in zip(words[1:], weights[1:], strict=True):
        vector += word.unit * np.float32(word.length * weight)
    return vector


# ---- what a ``scorer=`` argument stands for ------------------------------------------------------


class JudgedScore:
    """The probability that a key is the right one."""

    temperature = 1.0  # so that the weights are the keys' shares of the probability
    score_cutoff = 0.5  # of a read that picks a key: more likely right than not
    pool_cutoff = 0.02  # of one that pools all values: a doubtful query mixes them
    is_by_cosine = True  # whether the best keys are near the query


class NamedScore:
    """The scores of a scorer, unchanged; its attributes are those of `JudgedScore`."""

    def __init__(self, scorer: ScorerLike) -> None:
        self.scorer = as_scorer(scorer)
        # Low for scores that end at 1, so that an exact key among a thousand has most weight.
        self.temperature = 0.05 if isinstance(self.scorer, Cosine) else 1.0
        # The scale of a scorer is the user's to know.
        self.score_cutoff = self.pool_cutoff = -np.inf
        self.is_by_cosine = isinstance(self.scorer, Cosine)

    def scores(self, vectors: NDArray[np.float32], keys: Keys) -> NDArray[np.float32]:
        """Return the scores of queries (L, E) for the slots of keys, (L, n); -inf if dead.

        Raises:
            ShapeError: the scorer returns NaN or +inf.
        """
        if type(self.scorer) is Cosine:
            found = self.scorer.with_lengths(vectors, keys.vectors, keys.inverse_lengths)
        else:
            found = np.asarray(self.scorer(vectors, keys.vectors), np.float32)
            if not isinstance(
                self.scorer, Dot | ScaledDot
            ):  # otherwise it is a new array, and finite
                found = found.copy()
                finite_tops(found)  # no key may win, or be left out, by a NaN
        if len(keys.dead):
            found[:, keys.dead] = -np.inf
        return found


Score = JudgedScore | NamedScore


def is_spelling(scorer: Any) -> bool:
    """Tell whether a ``scorer=`` argument is the score by spelling, which needs no vectors."""
    return isinstance(scorer, str) and scorer == SPELLING


def is_probability(scorer: Any) -> bool:
    """Tell whether the scores of a ``scorer=`` argument are probabilities."""
    return scorer is None or is_spelling(scorer)


def as_score(scorer: ScorerLike | None) -> Score:
    """Return what a ``scorer=`` argument stands for; None is the default score.

    Raises:
        OptionError: there is no scorer of this name.
        ArgumentTypeError: it is neither a scorer, nor a name, nor a function.
    """
    if scorer is None or is_spelling(scorer):
        return JudgedScore()
    if isinstance(scorer, str) and scorer not in SCORERS:
        raise OptionError(
            f"scorer {quoted(scorer)} is not known; the names are "
            f"{', '.join([SPELLING, *SCORERS])}, and Bilinear(M) and Concat(W, w) are passed "
            f"as objects"
        )
    return NamedScore(scorer)
