"""The keys of a dict under options that it might get: what its queries would be answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.embedding.calibration import Calibration, log_probabilities
from fuzzydict.embedding.projections import Projected
from fuzzydict.learning.calibration import Question
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.features import compare
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.score import as_matching
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.embedding.projections import Projections
    from fuzzydict.nn.scorers import ScorerLike

__all__ = ["Keys", "Outcome", "Trial", "answered"]

_SCORES = 2**21  # that are made at once: queries times keys
_LEAST = -20.0  # a log-probability, so that one surprise does not outweigh everything


class Keys(NamedTuple):
    """The keys of a dict that can be attended to, S of them, and what gives texts their vectors."""

    names: list[str]
    vectors: Array  # (S, E), before any projection is learned
    embedding: Embedding  # not seen through projections


class Outcome(NamedTuple):
    """What a query is answered.

    Attributes:
        rank: of the best right key, 1 is the first; 0 if no key is right.
        log_probability: the logarithm of the weight of all right keys together; if none is, of
            there being none (0 where a scorer cannot tell).
        answer: the place of the best key.
        score: its score.
    """

    rank: int
    log_probability: float
    answer: int
    score: float

    @property
    def hit(self) -> bool:
        """Whether the best key is right."""
        return self.rank == 1


class Trial:
    """Keys under projections and a scorer.

    Args:
        keys: the keys.
        projections: all of them, from the embedding's vectors on.
        layer: the last of them, which is still to be applied to the keys' vectors and to queries.
        scorer: what compares; None is the default score.
        temperature: what scores are divided by; None is the scorer's default.
    """

    def __init__(
        self,
        keys: Keys,
        projections: Projections,
        layer: Projections,
        scorer: ScorerLike | None = None,
        temperature: float | None = None,
    ) -> None:
        seen = Projected(keys.embedding, projections)
        self.index, self.layer = KeyIndex(seen), layer
        vectors = layer.project_keys(keys.vectors).astype(np.float32, copy=False)
        self.index.restore(keys.names, vectors, seen.trust(keys.names))
        self.matching = as_matching(scorer)
        self.temperature = temperature or self.matching.temperature

    def questions(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[Question]:
        """Return how alike queries and keys are, for the default score.

        Args:
            queries: L texts,
            vectors: theirs, (L, E), before the last projections,
            right: and which keys are right for each.
        """
        projected = self.layer.project_queries(vectors).astype(np.float32, copy=False)
        found: list[Question] = []
        step = max(1, _SCORES // len(self.index))
        for start in range(0, len(queries), step):
            some = slice(start, start + step)
            texts = [plain(query) for query in queries[some]]
            compared = compare(queries[some], texts, projected[some], self.index)
            found += [
                Question(alike._replace(nearness=alike.nearness.copy()), known, keys)
                for (alike, known), keys in zip(compared, right[some], strict=True)
            ]
        return found

    def logits(self, queries: Sequence[str], vectors: Array) -> Iterator[NDArray[np.float64]]:
        """Yield what the softmax makes weights of, (S,) for each query, not yet divided."""
        projected = self.layer.project_queries(vectors).astype(np.float32, copy=False)
        step = max(1, _SCORES // len(self.index))
        for start in range(0, len(queries), step):
            some = slice(start, start + step)
            texts = [plain(query) for query in queries[some]]
            scores = self.matching.log_weights(queries[some], texts, projected[some], self.index)
            yield from scores.astype(np.float64)

    def outcomes(
        self, queries: Sequence[str], vectors: Array, right: Sequence[NDArray[np.intp]]
    ) -> list[Outcome]:
        """Return what queries are answered by a scorer that is named."""
        return [
            _outcome(row, row / self.temperature, keys)
            for row, keys in zip(self.logits(queries, vectors), right, strict=True)
        ]

    def pooled(
        self, queries: Sequence[str], vectors: Array, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what queries pool of the keys' values (S, Ev): (L, Ev)."""
        rows = [softmax(row, self.temperature) @ values for row in self.logits(queries, vectors)]
        return np.asarray(self.layer.project_values(np.stack(rows)), np.float64)


def answered(questions: Sequence[Question], calibration: Calibration) -> list[Outcome]:
    """Return what questions are answered by the default score."""
    found = []
    for question in questions:
        logs = log_probabilities(calibration.log_odds(question.alike, known=question.known))
        outcome = _outcome(np.exp(logs), logs, question.right)
        if not len(question.right):
            none = max(1 - float(np.exp(logs).sum()), 1e-12)
            outcome = outcome._replace(log_probability=float(np.log(none)))
        found.append(outcome)
    return found


def _outcome(
    scores: NDArray[np.float64], logits: NDArray[np.float64], right: NDArray[np.intp]
) -> Outcome:
    answer = int(scores.argmax())
    if not len(right):
        return Outcome(0, 0.0, answer, float(scores[answer]))
    rank = 1 + int((scores > scores[right].max()).sum())
    if rank == 1:  # of those that tie the dict's first is the answer
        rank += int(answer not in right)
    likely = np.logaddexp.reduce(logits[right]) - np.logaddexp.reduce(logits)
    return Outcome(rank, float(max(likely, _LEAST)), answer, float(scores[answer]))
