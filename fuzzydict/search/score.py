"""Queries against the keys of an index: by meaning and spelling, or by a scorer that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fuzzydict.embedding.calibration import log_probabilities
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search.features import SPELLED_ALIKE, compare, nearness
from fuzzydict.search.left_out import log_odds_by_meaning, log_odds_together
from fuzzydict.search.neighbours import COSINE, DOT
from fuzzydict.search.reasons import Reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.key_index import KeyIndex, Shortlist

__all__ = ["ByScorer", "Judgement", "Matching", "MeaningAndSpelling", "as_matching"]

_TIE = 1e-4  # keys of equal words differ by less: their vectors are rounded, each in its own way
_MEASURES: dict[type, str] = {Cosine: COSINE, Dot: DOT, ScaledDot: DOT}


class Judgement(NamedTuple):
    """The log-weights of a query for the n slots of an index, (n,), and what they were made from.

    A named scorer gives no reasons.
    """

    log_weights: NDArray[np.float32]
    reasons: Reasons | None


class Matching(Protocol):
    """What compares queries with keys."""

    temperature: float  # where none is given
    score_cutoff: float  # where none is given
    measure: str | None  # by which its best keys are near the query; None if by none of them
    spare: int  # how many keys more than are wanted an engine is asked for, to be scored
    spelled_alike: int  # how many keys are worth a comparison for their spelling

    def log_weights(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> NDArray[np.float32]:
        """Return what a softmax makes weights of, for the n slots of an index, (L, n).

        Args:
            queries: L of them, as asked.
            texts: their plain words.
            vectors: theirs, (L, E).
            index: the keys; what is returned for its dead slots is not looked at.
        """

    def judge(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> Iterator[Judgement]:
        """Yield what `log_weights` returns, query by query, with the reasons."""

    def most(self, query: str, vector: NDArray[np.float32], last: Shortlist) -> float:
        """Return what a key can score that is no nearer to a query, (1, E), than one, twice listed.

        It is a log-weight; or where there are reasons, log-odds.
        """

    def score(self, log_weight: float) -> float:
        """Return the score that a log-weight stands for."""


class ByScorer:
    """A scorer's scores, as they are."""

    spare = 16  # for an engine compares rounded numbers
    spelled_alike = 0

    def __init__(self, scorer: ScorerLike) -> None:
        self.scorer = as_scorer(scorer)
        # Low for scores that end at 1: an exact key among a thousand then has most of the weight.
        self.temperature = 0.05 if isinstance(self.scorer, Cosine) else 1.0
        self.score_cutoff = -np.inf  # the scale of a scorer is the user's to know
        self.measure = _MEASURES.get(type(self.scorer))

    def log_weights(
        self,
        queries: Sequence[str],  # noqa: ARG002
        texts: Sequence[str],  # noqa: ARG002
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> NDArray[np.float32]:
        """Return the scores, (L, n).

        Raises:
            ShapeError: the scorer gives NaN or +inf.
        """
        if type(self.scorer) is Cosine:
            return self.scorer.with_norms(vectors, index.vectors, index.inverse_lengths)
        scores = np.asarray(self.scorer(vectors, index.vectors), np.float32)
        if self.measure is None:  # else it is a new array, and finite
            scores = scores.copy()
            finite_tops(scores)  # or raise: no key may win, or be left out, by a NaN
        return scores

    def judge(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> Iterator[Judgement]:
        """Yield the scores, query by query."""
        for scores in self.log_weights(queries, texts, vectors, index):
            yield Judgement(scores, None)

    def most(self, query: str, vector: NDArray[np.float32], last: Shortlist) -> float:
        """Return the score of the one key."""
        return float(self.log_weights([query], [query], vector, last).max())

    def score(self, log_weight: float) -> float:
        """Return the score itself."""
        return log_weight


class MeaningAndSpelling:
    """The default: how probable it is that a key is the right one, by all that can be told.

    A key may be the query misspelled, mean the same, or be made of words that do; `evidence`
    tells what each says, and how they and the other keys compete.
    """

    temperature = 1.0  # weights are then the keys' shares of the probability
    score_cutoff = 0.02  # loses next to no right answer; docs/guides/cutoffs.md
    measure: str | None = COSINE
    spare = 64  # for what is nearest in meaning need not be the best
    spelled_alike = SPELLED_ALIKE

    def log_weights(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> NDArray[np.float32]:
        """Return the logarithms of the keys' probabilities, (L, n)."""
        logs = np.empty((len(texts), len(index)), np.float32)
        for i, judgement in enumerate(self.judge(queries, texts, vectors, index)):
            logs[i] = judgement.log_weights
        return logs

    def judge(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> Iterator[Judgement]:
        """Yield the logarithms of the keys' probabilities, query by query, and the reasons."""
        calibration = index.embedding.calibration
        for i, (alike, known) in enumerate(compare(queries, texts, vectors, index)):
            odds, count = calibration.log_odds(alike, known=known), None
            odds[index.dead] = -np.inf
            if index.others is not None:
                others, sample = index.others, index.others.sample
                told = self._by_meaning(queries[i], vectors[i : i + 1], sample)
                odds, count = np.append(odds, log_odds_together(told, others)), others.total
            logs = log_probabilities(odds, count)[: len(index)].astype(np.float32)
            logs[logs > logs.max() - _TIE] = logs.max()
            yield Judgement(logs, Reasons(calibration, alike, known, odds, count))

    def most(self, query: str, vector: NDArray[np.float32], last: Shortlist) -> float:
        """Return the log-odds by meaning alone, whatever the trust in the vector of the key."""
        return float(self._by_meaning(query, vector, last.believed([0.0, 1.0])).max())

    def _by_meaning(
        self, query: str, vector: NDArray[np.float32], index: KeyIndex
    ) -> NDArray[np.float64]:
        return log_odds_by_meaning(query, nearness([query], vector, index)[0], index.embedding)

    def score(self, log_weight: float) -> float:
        """Return the probability."""
        return float(np.exp(log_weight))


def as_matching(scorer: ScorerLike | None) -> Matching:
    """Return what a ``scorer=`` argument stands for; None is the default score."""
    return MeaningAndSpelling() if scorer is None else ByScorer(scorer)
