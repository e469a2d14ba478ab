"""Queries against the keys of an index: by meaning and spelling, or by a scorer that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fuzzydict.alignment import coverage
from fuzzydict.arrays import units
from fuzzydict.evidence import Likeness, Reasons, log_probabilities
from fuzzydict.left_out import log_odds_by_meaning, log_odds_together
from fuzzydict.neighbours import COSINE, DOT
from fuzzydict.normalizers import finite_tops
from fuzzydict.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.spelling import different, likenesses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.index import KeyIndex
    from fuzzydict.scorers import ScorerLike
    from fuzzydict.shortlist import Shortlist

__all__ = ["ByScorer", "Judgement", "Matching", "MeaningAndSpelling", "as_matching"]

_SPELLED_ALIKE = 48  # keys compared as strings, for they share n-grams with the query
_MEANT_ALIKE = 16  # and for they mean the most alike
_WORDS = 32  # of a text, its first, compared one by one: what has more is not a phrase
_TIE = 1e-4  # keys of equal words differ by less: their vectors are rounded, each in its own way
_FAR = 12.0  # nearness at which two words are one
_MEASURES: dict[type, str] = {Cosine: COSINE, Dot: DOT, ScaledDot: DOT}
_SHARPNESS = 4  # likeness of two words to this power: those that hardly differ count as one


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
        scores = np.array(self.scorer(vectors, index.vectors), np.float32)
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
    score_cutoff = 0.02  # loses next to no right answer; see the README
    measure: str | None = COSINE
    spelled_alike = _SPELLED_ALIKE

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
        for i, (alike, known) in enumerate(self.compare(queries, texts, vectors, index)):
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
        return log_odds_by_meaning(query, _nearness([query], vector, index)[0], index.embedding)

    def compare(
        self,
        queries: Sequence[str],
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        index: KeyIndex,
    ) -> Iterator[tuple[Likeness, float]]:
        """Yield how alike each query and the slots are, and which share of its words is known."""
        dead = index.dead
        known_share = index.embedding.vocabulary.known_share
        for query, text, near in zip(
            queries, texts, _nearness(queries, vectors, index), strict=True
        ):
            yield _likeness(text, near, index, dead), known_share(query)

    def score(self, log_weight: float) -> float:
        """Return the probability."""
        return float(np.exp(log_weight))


def as_matching(scorer: ScorerLike | None) -> Matching:
    """Return what a ``scorer=`` argument stands for; None is the default score."""
    return MeaningAndSpelling() if scorer is None else ByScorer(scorer)


def _nearness(
    queries: Sequence[str], vectors: NDArray[np.float32], index: KeyIndex
) -> NDArray[np.float32]:
    """Return how near queries and keys are in meaning, (L, n); see `evidence.Likeness`."""
    mean, spread = index.background
    near: NDArray[np.float32] = units(vectors) @ index.vectors.T
    near *= index.inverse_lengths
    near -= np.float32(mean)
    near *= index.trust / np.float32(spread)
    near *= index.embedding.trust(queries)[:, None]
    # What is very near is no more likely than what is near: opposites and siblings are nearest.
    reach = np.float32(index.embedding.calibration.reach)
    return np.where(near > 0, reach * np.tanh(near / reach), near)


def _likeness(
    text: str, near: NDArray[np.float32], index: KeyIndex, dead: NDArray[np.intp]
) -> Likeness:
    """Compare a query with the keys that are worth it."""
    slots = _candidates(text, near, index, dead)
    strings = [index.plain[slot] for slot in slots.tolist()]
    (spelling,) = likenesses([text], strings)
    return Likeness(near, slots, spelling, _by_words(text, strings, index))


def _candidates(
    text: str, near: NDArray[np.float32], index: KeyIndex, dead: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the slots that are worth a comparison of strings, of living keys where there are."""
    shared = index.ngrams.similarities(text)
    near = near.copy() if len(dead) else near
    shared[dead] = -1
    near[dead] = -np.inf
    return different(
        np.concatenate([_largest(shared, _SPELLED_ALIKE), _largest(near, _MEANT_ALIKE)])
    )


def _by_words(text: str, strings: list[str], index: KeyIndex) -> NDArray[np.float32]:
    """Return how far the words of a query and of c keys have their like, (c,); see `Likeness`."""
    words, *split = (string.split()[:_WORDS] for string in (text, *strings))
    found = np.full(len(split), -np.inf, np.float32)
    several = [i for i, key in enumerate(split) if len(words) > 1 or len(key) > 1]
    if not several:
        return found
    place = {word: i for i, word in enumerate(dict.fromkeys(w for i in several for w in split[i]))}
    weight = index.embedding.vocabulary.weight
    found[several] = coverage(
        _words_alike(words, list(place), index),
        np.array([weight(word) for word in words], np.float32),
        [[place[word] for word in split[i]] for i in several],
        np.array([weight(word) for word in place], np.float32),
    )
    return found


def _words_alike(words: list[str], others: list[str], index: KeyIndex) -> NDArray[np.float32]:
    """Return how alike words are, (m, U): in spelling or in meaning, a "noisy or" of the two.

    (J. Pearl, 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3.2.)
    """
    spelling = likenesses(words, others) ** _SHARPNESS
    embedding, (mean, spread) = index.embedding, index.background
    asked = units(embedding.token_vectors(words, of_query=True))
    if not asked.shape[1]:
        return spelling
    nearness = (asked @ units(embedding.token_vectors(others, of_query=False)).T - mean) / spread
    trust = embedding.vocabulary.trust
    nearness *= np.outer([trust(word) for word in words], [trust(word) for word in others])
    meaning = np.clip(nearness / _FAR, 0, 1)
    return np.asarray(1 - (1 - spelling) * (1 - meaning), np.float32)


def _largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` largest values, in no order; of equals the first."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])
