"""Queries against the keys of an index: by meaning and spelling, or by a scorer that is named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fuzzydict.embedding.calibration import Likeness, log_probabilities, of_nearness
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search.features import SPELLED_ALIKE, compare, nearness
from fuzzydict.search.neighbours import COSINE, DOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration, Weights
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.key_index import KeyIndex, Others, Shortlist

__all__ = [
    "ByScorer",
    "Judgement",
    "Matching",
    "MeaningAndSpelling",
    "Parts",
    "Reasons",
    "as_matching",
    "log_odds_by_meaning",
    "log_odds_together",
    "weight_left_out",
]


class Parts(NamedTuple):
    """What a key's probability is made of, and what it was told from.

    Attributes:
        spelling, meaning, words: the probability that the key is right, and for this reason: the
            query is the key misspelled; it means the same; most of its words are the same. They
            add up to the key's probability. Where nearness has a say in the first or the last,
            its share of that is the meaning's.
        likeness: how alike the two strings look, from 0 to 1; None if they were not compared.
        nearness: in meaning, in standard deviations of the cosines of unrelated texts from their
            mean, times the trust in both vectors; less and less, to the calibration's reach.
        coverage: how far each word of one has its like in the other, from 0 to 1; None if both
            are single words, or were not compared.
    """

    spelling: float
    meaning: float
    words: float
    likeness: float | None
    nearness: float
    coverage: float | None

    @property
    def probability(self) -> float:
        """The key's probability, for one reason or another."""
        return self.spelling + self.meaning + self.words


@dataclass(frozen=True)
class Reasons:
    """What the log-odds of n keys, (n,), -inf for those that are gone, were made from.

    Where keys were left out, those of all of these together follow, and ``count`` is how many keys
    there are with them.
    """

    calibration: Calibration
    alike: Likeness
    known: float
    log_odds: NDArray[np.float64]
    count: int | None = None

    def none(self) -> float:
        """Return the probability that no key is right: what those of the keys leave of 1."""
        return max(0.0, 1.0 - float(np.exp(log_probabilities(self.log_odds, self.count)).sum()))

    def parts(self, slot: int, probability: float) -> Parts:
        """Return what the probability of a key is made of: each reason has the share of its odds.

        >>> from fuzzydict.embedding.calibration import Calibration, Evidence, Likeness
        >>> same = Calibration(*[Evidence((-9, 24, 0, 0), (-6, 0, 2, 0), (-5, 9, 0, 0))] * 2)
        >>> alike = Likeness(*map(np.array, ([0.0, 7.0], [0], [0.5], [-np.inf])))
        >>> reasons = Reasons(same, alike, 1, same.log_odds(alike, known=1))
        >>> [round(part, 2) for part in reasons.parts(0, 0.5)[:3]], reasons.parts(1, 0.5)[:3]
        ([0.48, 0.02, 0.0], (0.0, 0.5, 0.0))
        """
        alike = self.alike
        nearness = float(alike.nearness[slot])
        compared = np.flatnonzero(alike.candidates == slot)
        if not len(compared):  # as a string, so that meaning is all that counts
            return Parts(0.0, probability, 0.0, None, nearness, None)
        place = int(compared[0])
        odds = self.calibration.parts(alike, known=self.known)[:, place]
        shares = np.exp(odds - np.logaddexp.reduce(odds))
        looked, meant, worded = (probability * shares).tolist()
        covered = float(alike.words[place])
        # Nearness has a say in each line of weights; that share of it belongs to the meaning.
        evidence = self.calibration.mixed(self.known)
        spelling = looked * _of_surface(evidence.spelling, float(alike.spelling[place]), nearness)
        words = worded * _of_surface(evidence.words, covered, nearness) if worded else 0.0
        meaning = meant + (looked - spelling) + (worded - words)
        coverage = covered if covered >= 0 else None
        return Parts(spelling, meaning, words, float(alike.spelling[place]), nearness, coverage)


def _of_surface(weights: Weights, like: float, near: float) -> float:
    """Return which share of a line of weights comes from the likeness, the rest from nearness."""
    by_likeness, by_nearness = weights[1] * like * like, of_nearness(weights, max(near, 0.0))
    return 1.0 if like == 1 or not by_nearness else by_likeness / (by_likeness + by_nearness)


def log_odds_by_meaning(
    query: str, near: NDArray[np.float32], embedding: Embedding
) -> NDArray[np.float64]:
    """Return the log-odds of keys so near to a query, (n,), whose strings are not compared."""
    nothing = np.zeros(0, np.float32)
    alike = Likeness(near, np.zeros(0, np.intp), nothing, nothing)
    known = embedding.vocabulary.known_share(query)
    return embedding.calibration.log_odds(alike, known=known)


def log_odds_together(log_odds: NDArray[np.float64], others: Others) -> float:
    """Return the log-odds of the keys left out, all together, from those of the sample, (r,).

    Of 4,096 keys drawn from a million, the mean is within some hundredths of that of all.
    """
    log_odds[others.listed] = -np.inf
    top = log_odds.max()
    mean = np.exp(log_odds - top).sum() / (len(log_odds) - len(others.listed))
    return float(top + np.log(others.left * mean))


def weight_left_out(
    log_weights: NDArray[np.floating], most: float, left: int, temperature: float
) -> float:
    """Return the share of the weight that so many keys left out have at the most, each ``most``.

    >>> weight_left_out(np.zeros(4), 0.0, 4, 1.0)
    0.5
    """
    if not left:
        return 0.0
    top = max(most, float(log_weights.max()))
    found = float(np.exp((log_weights.astype(np.float64) - top) / temperature).sum())
    rest = left * math.exp((most - top) / temperature)
    return rest / (found + rest)


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
