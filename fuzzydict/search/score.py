"""How likely each key is the right one: from features to log-odds, probabilities and reasons."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict._arrays import different
from fuzzydict.errors import OptionError, quoted
from fuzzydict.nn.scorers import SCORERS, Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search.candidates import NEAREST, SPELLED_ALIKE, candidates
from fuzzydict.search.features import Features, compare, compare_spelling, nearness
from fuzzydict.text.similarity import written_alike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fuzzydict.embedding.calibration import Calibration, Weights
    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.candidates import Candidates, OtherKeys, Shortlist
    from fuzzydict.search.features import Query
    from fuzzydict.search.key_index import Keys


# ---- from features to probabilities --------------------------------------------------------

#: Log-odds of a key with the very words of the query: "top_speed" for "topSpeed".
SAME = 30.0
#: What is taken from the log-odds of a key that contradicts the query: more than they can be.
CONTRADICTED = 20.0
#: Coverage from which on most words of query and key may be the same, for words never seen: any
#: two strings have some letters in common. If some words are known, less coverage is enough.
LEAST_COVERAGE = 0.25
_WRITTEN_LESS_ALIKE = 10.0  # log-odds; of equal words, the writing decides
_TOLD_APART = 64  # keys of equal words whose writing is compared
#: Log-probabilities that differ from the largest by less are equal: so may rounding make those of
#: keys with equal words differ.
TIE = 1e-4


def log_odds(
    features: Features, known: Sequence[float], calibration: Calibration
) -> NDArray[np.float64]:
    """Return the log-odds of each of n keys being right to no key being right, (L, n).

    The odds are the sum of the odds of three reasons: the query is the key misspelled or
    abbreviated, it means the same, or most of its words are the same.

    Args:
        features: of L queries and the keys.
        known: the share of the words of each query that are known. "maximum spede" is judged half
            like known words, and half like misspelled ones.
        calibration: the weights.
    """
    share = known[0]
    if any(one != share for one in known):
        odds = np.empty(features.nearness.shape)
        for share in {*known}:
            rows = [i for i, one in enumerate(known) if one == share]
            odds[rows] = log_odds(features.of(rows), [share] * len(rows), calibration)
        return odds
    by_reason = log_odds_by_reason(features, share, calibration)
    of_candidates: NDArray[np.float64] = np.logaddexp.reduce(by_reason, axis=0)
    if features.are_all:
        return of_candidates
    bias, _, slope, of_square = calibration.mixed(share).meaning
    odds = np.multiply(features.nearness, slope, dtype=np.float64)
    odds += bias
    if of_square:
        odds += of_square * np.square(np.maximum(features.nearness, 0), dtype=np.float64)
    features.put(of_candidates, odds)
    return odds


def log_odds_by_reason(
    features: Features, known: float, calibration: Calibration
) -> NDArray[np.float64]:
    """Return the log-odds of the c candidates for each of `REASONS`, (3, L, c)."""
    near, words = features.nearness_of_candidates(), features.words
    covered = words >= LEAST_COVERAGE * (1 - known)
    numbers = np.ones((6, *near.shape))  # as `Calibration.lines` weighs them
    numbers[0] = features.spelling
    numbers[1] = features.surface()
    numbers[2] = np.where(covered, words, 0)
    numbers[3] = np.maximum(near, 0)
    numbers[:4] *= numbers[:4]
    numbers[4] = near
    odds: NDArray[np.float64] = calibration.lines(known) @ numbers.reshape(6, -1)
    odds = odds.reshape(len(odds), *near.shape)
    is_same = features.spelling == 1
    if is_same.any():
        odds[0, is_same & ~features.contradicted] = SAME
    odds[2, ~covered] = -np.inf
    if features.contradicted.any():
        odds -= CONTRADICTED * features.contradicted
    return odds


def _line(weights: Weights, like: ArrayLike, near: Any) -> Any:
    """Return ``bias + a like^2 + b near + c max(near, 0)^2``: the log-odds for one reason."""
    bias, of_likeness, slope, of_square = weights
    likeness = np.asarray(like, np.float64)
    by_nearness = near * (slope + of_square * np.maximum(near, 0) if of_square else slope)
    return bias + of_likeness * likeness * likeness + by_nearness


def log_probabilities(
    odds: NDArray[np.float64], growth: float, count: int | None = None, nesting: float = 1.0
) -> NDArray[np.float64]:
    """Return the logarithm of each key's probability: a softmax over the keys and "none".

    Before any evidence, "none" has the odds ``n ** growth`` and each of the n keys those of 1. The
    more keys there are, the more evidence a key needs. With a nesting below 1 it is a nested logit
    (D. McFadden, 1978, "Modelling the Choice of Residential Location"): how near the best keys are
    to each other says more of which is right than of whether any is. In all cases, a further key
    makes no other one more probable.

    Args:
        odds: the log-odds of each key being right to none being right, (..., n); -inf for dead
            slots.
        growth: see `Calibration`.
        count: the number of keys, if one of the odds stands for several keys.
        nesting: see `Calibration`.
    """
    if count is None:
        count = max(int((odds > -np.inf).sum(axis=-1).max()), 1)
    top = np.maximum.reduce(odds, axis=-1, keepdims=True)
    if top.min() == -np.inf:  # all keys are gone
        return odds.copy()
    logs: NDArray[np.float64] = odds - top
    logs /= nesting
    total = np.log(np.add.reduce(np.exp(logs), axis=-1, keepdims=True))  # of the keys' shares
    logs -= log_scale(top, total, growth, count, nesting)
    return logs


def log_scale(
    top: NDArray[np.float64],
    total: NDArray[np.float64],
    growth: float,
    count: int,
    nesting: float,
) -> NDArray[np.float64]:
    """Return the logarithm of what divides ``e^((odds - top) / nesting)`` to be a probability.

    Args:
        top: the largest log-odds of a key, (...).
        total: the logarithm of the sum of ``e^((odds - top) / nesting)`` over all keys, (...).
        growth: see `Calibration`.
        count: the number of keys.
        nesting: see `Calibration`.
    """
    of_any = top + nesting * total
    scale: NDArray[np.float64] = np.logaddexp(0, growth * math.log(count) - of_any) + total
    return scale


def log_odds_of_any(odds: NDArray[np.float64], nesting: float) -> float:
    """Return the log-odds that any of the keys is right, given theirs, (n,).

    >>> odds = np.log([3.0, 4.0])
    >>> [round(float(np.exp(log_odds_of_any(odds, nesting))), 3) for nesting in (1, 0.5, 0.01)]
    [7.0, 5.0, 4.0]
    """
    top = float(odds.max())
    if top == -np.inf:
        return top
    return top + nesting * math.log(np.exp((odds - top) / nesting).sum())


# ---- reasons --------------------------------------------------------------------------------


class Parts(NamedTuple):
    """The parts of a key's probability, and the features they were computed from.

    Attributes:
        spelling, meaning, words: the probability that the key is right for this reason: the query
            is the key misspelled; it means the same; most of its words are the same. They add up
            to the key's probability. Nearness also raises the odds of spelling and words. That
            share is counted under ``meaning``.
        likeness: how alike the strings are spelled, from 0 to 1; None if they were not compared.
        nearness: how near the vectors are, see `Features.nearness`; None without vectors.
        coverage: how well the words cover each other, from 0 to 1; None if both are single words,
            or were not compared.
    """

    spelling: float
    meaning: float
    words: float
    likeness: float | None
    nearness: float | None
    coverage: float | None

    @property
    def probability(self) -> float:
        """The key's probability, for any of the reasons."""
        return self.spelling + self.meaning + self.words


@dataclass(slots=True)
class Reasons:
    """What the log-odds of n keys were computed from.

    Attributes:
        calibration: the weights.
        features: of the one query and the keys.
        known: the share of the query's words that are known.
        log_odds: of the keys, (n,), -inf for dead slots. If keys were left out, one more number
            follows for all of them together.
        count: the number of all keys, those included that were left out.
        has_vectors: whether the vectors were compared.
    """

    calibration: Calibration
    features: Features
    known: float
    log_odds: NDArray[np.float64]
    count: int | None = None
    has_vectors: bool = True

    def none(self) -> float:
        """Return the probability that no key is right."""
        growth, nesting = self.calibration.growth, self.calibration.nesting
        logs = log_probabilities(self.log_odds, growth, self.count, nesting)
        return max(0.0, 1.0 - float(np.exp(logs).sum()))

    def parts(self, slot: int, probability: float) -> Parts:
        """Return the parts of a key's probability; each reason has the share of its odds.

        >>> from fuzzydict.embedding.calibration import Calibration, Evidence
        >>> lines = Evidence((-9, 24, 0, 0), (-6, 0, 2, 0), (-5, 9, 0, 0))
        >>> features = Features(*map(np.array, ([[0.0, 7.0]], [[0]], [[0.5]], [[-1.0]], [[False]])))
        >>> calibration = Calibration(lines, lines)
        >>> (odds,) = log_odds(features, [1], calibration)
        >>> reasons = Reasons(calibration, features, 1, odds)
        >>> [round(part, 2) for part in reasons.parts(0, 0.5)[:3]], reasons.parts(1, 0.5)[:3]
        ([0.48, 0.02, 0.0], (0.0, 0.5, 0.0))
        """
        features = self.features
        near = float(features.nearness[0, slot])
        compared = np.flatnonzero(features.candidates[0] == slot)
        if not len(compared):  # so that only meaning counts
            return Parts(0.0, probability, 0.0, None, near if self.has_vectors else None, None)
        place = int(compared[-1])
        evidence = self.calibration.mixed(self.known)
        odds = log_odds_by_reason(features, self.known, self.calibration)[:, 0, place]
        shares = np.exp(odds - np.logaddexp.reduce(odds))
        by_spelling, by_meaning, by_words = (probability * shares).tolist()
        likeness, covered = float(features.spelling[0, place]), float(features.words[0, place])
        spelling = by_spelling * _share_of_likeness(evidence.spelling, likeness, near)
        words = by_words * _share_of_likeness(evidence.words, covered, near) if by_words else 0.0
        meaning = by_meaning + (by_spelling - spelling) + (by_words - words)
        coverage = covered if covered >= 0 else None
        nearness = near if self.has_vectors else None
        return Parts(spelling, meaning, words, likeness, nearness, coverage)


def _share_of_likeness(weights: Weights, like: float, near: float) -> float:
    """Return the share of a line of weights that comes from the likeness, not from nearness."""
    _, of_likeness, slope, of_square = weights
    near = max(near, 0.0)
    by_likeness, by_nearness = of_likeness * like * like, near * (slope + of_square * near)
    return 1.0 if like == 1 or not by_nearness else by_likeness / (by_likeness + by_nearness)


class Judgement(NamedTuple):
    """The log-weights of a query for n slots, (n,), and their reasons; a named scorer has none."""

    log_weights: NDArray[np.float32]
    reasons: Reasons | None


# ---- scores ---------------------------------------------------------------------------------

#: What is largest for the best keys of a score: the cosine of the vectors, or their dot product.
COSINE, DOT = "cosine", "dot"
_MEASURES: dict[type, str] = {Cosine: COSINE, Dot: DOT, ScaledDot: DOT}


class Score(Protocol):
    """Compares queries with keys.

    Attributes:
        temperature: the default temperature of the weights.
        score_cutoff: the default cutoff of a read that picks a key.
        pool_cutoff: the default cutoff of a read that pools the values of all keys.
        measure: `COSINE` or `DOT`, by which the best keys are near the query; None if by neither.
        spare: how many more keys than wanted an engine is asked for, to be scored.
        spelled_alike: how many keys are compared for their spelling.
    """

    temperature: float
    score_cutoff: float
    pool_cutoff: float
    measure: str | None
    spare: int
    spelled_alike: int

    def log_weights(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return the logits of the weights for n slots, (L, n); ignore those of dead slots."""

    def judge(self, query: Query, shortlist: Shortlist) -> Judgement:
        """Return the log-weights of one query, encoded, for the keys listed, with the reasons."""

    def at_most(self, query: Query, keys: Keys, last: int) -> float:
        """Return an upper bound on the score of every key no nearer than the key in slot ``last``.

        It is a log-weight, or log-odds if there are reasons.
        """

    def from_log_weight(self, log_weight: float) -> float:
        """Return the score that a log-weight stands for."""

    def none(self, log_weights: NDArray[np.float32]) -> list[float] | list[None]:
        """Return the probability that no key is right, L; None if the scores are no probabilities.

        Args:
            log_weights: of all keys, (L, n).
        """


class NamedScore:
    """The scores of a scorer, unchanged."""

    spare = 16  # since an engine compares rounded numbers
    spelled_alike = 0

    def __init__(self, scorer: ScorerLike) -> None:
        self.scorer = as_scorer(scorer)
        # Low for scores that end at 1, so that an exact key among a thousand has most weight.
        self.temperature = 0.05 if isinstance(self.scorer, Cosine) else 1.0
        # The scale of a scorer is the user's to know.
        self.score_cutoff = self.pool_cutoff = -np.inf
        self.measure = _MEASURES.get(type(self.scorer))

    def log_weights(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return the scores, (L, n).

        Raises:
            ShapeError: the scorer returns NaN or +inf.
        """
        vectors = np.array([query.vector for query in queries])
        if type(self.scorer) is Cosine:
            return self.scorer.with_norms(vectors, keys.vectors, keys.inverse_lengths)
        scores = np.asarray(self.scorer(vectors, keys.vectors), np.float32)
        if self.measure is None:  # otherwise it is a new array, and finite
            scores = scores.copy()
            finite_tops(scores)  # no key may win, or be left out, by a NaN
        return scores

    def judge(self, query: Query, shortlist: Shortlist) -> Judgement:
        """Return the scores of one query."""
        return Judgement(self.log_weights([query], shortlist.keys)[0], None)

    def at_most(self, query: Query, keys: Keys, last: int) -> float:
        """Return the score of the one key."""
        return float(self.log_weights([query], keys.some(np.array([last])))[0, 0])

    def from_log_weight(self, log_weight: float) -> float:
        """Return the score itself."""
        return log_weight

    def none(self, log_weights: NDArray[np.float32]) -> list[None]:
        """Return None for each query: the scale of a scorer says nothing about it."""
        return [None] * len(log_weights)


class ProbabilityScore(ABC):
    """What scores that are the probability of a key have in common.

    Attributes:
        nearest: how many keys are compared as strings for their nearness.
    """

    nearest: int
    temperature = 1.0  # so that the weights are the keys' shares of the probability
    score_cutoff = 0.5  # more likely right than not
    pool_cutoff = 0.02  # a doubtful query mixes the values
    spelled_alike = SPELLED_ALIKE

    @abstractmethod
    def nearness(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return how near L queries and n keys are, (L, n); zeros if vectors are not compared."""

    @abstractmethod
    def compare(
        self,
        queries: Sequence[Query],
        near: NDArray[np.float32],
        candidates: Candidates,
        keys: Keys,
    ) -> Features:
        """Return the features of L queries and n keys, whose nearness is ``near``, (L, n)."""

    def features(
        self, queries: Sequence[Query], keys: Keys, shared: NDArray[np.float32] | None = None
    ) -> Features:
        """Choose candidates among n keys, and return the features of L queries and the keys.

        ``shared``: the cosines of the n-grams of queries and keys, (L, n), if they are known.
        """
        near = self.nearness(queries, keys)
        texts = [query.text for query in queries]
        return self.compare(
            queries, near, candidates(texts, near, keys, shared, self.nearest), keys
        )

    def log_weights(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return the logarithms of the keys' probabilities, (L, n)."""
        return _judged(queries, self.features(queries, keys), keys)[0]

    def judge(self, query: Query, shortlist: Shortlist) -> Judgement:
        """Return the logarithms of the keys' probabilities for one query, and the reasons."""
        keys, others = shortlist.keys, shortlist.others
        features = self.features([query], keys, shortlist.shared)
        logs, odds = _judged([query], features, keys, others)
        count, has_vectors = keys.count + shortlist.left, keys.vectors.shape[1] > 0
        reasons = Reasons(keys.calibration, features, query.known, odds[0], count, has_vectors)
        return Judgement(logs[0], reasons)

    def from_log_weight(self, log_weight: float) -> float:
        """Return the probability."""
        return math.exp(log_weight)

    def none(self, log_weights: NDArray[np.float32]) -> list[float]:
        """Return what the probabilities of the keys leave, L."""
        probabilities = np.exp(log_weights.astype(np.float64)).sum(axis=1)
        return list(map(float, np.maximum(0.0, 1.0 - probabilities)))


class DefaultScore(ProbabilityScore):
    """The probability that a key is the right one, from spelling, meaning and words."""

    measure: str | None = COSINE
    spare = 64  # since the nearest key in meaning need not be the best
    nearest = NEAREST

    def nearness(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return how near queries and keys are, (L, n)."""
        return nearness(queries, keys)

    def compare(
        self,
        queries: Sequence[Query],
        near: NDArray[np.float32],
        candidates: Candidates,
        keys: Keys,
    ) -> Features:
        """Return how alike queries and keys are in spelling, meaning and words."""
        return compare(queries, near, candidates, keys)

    def log_odds(self, query: Query, keys: Keys) -> NDArray[np.float64]:
        """Return the log-odds of the keys for one query, (n,)."""
        odds: NDArray[np.float64] = _judged([query], self.features([query], keys), keys)[1][0]
        return odds

    def at_most(self, query: Query, keys: Keys, last: int) -> float:
        """Return the log-odds by meaning alone, whatever the trust in the vector of the key."""
        one = keys.some(np.array([last]))
        one.trust = np.ones(1, np.float32)
        near = max(float(nearness([query], one)[0, 0]), 0.0)
        return float(_line(keys.calibration.mixed(query.known).meaning, 0, near))


def _judged(
    queries: Sequence[Query], features: Features, keys: Keys, others: OtherKeys | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the logarithms of the keys' probabilities, (L, n), and the log-odds.

    If keys were left out, of which one query has some, their log-odds follow as one more.
    """
    odds = log_odds(features, [query.known for query in queries], keys.calibration)
    if len(keys.dead):
        odds[:, keys.dead] = -np.inf
    _tell_apart(odds, queries, features, keys)
    count = keys.count
    if others is not None:
        (query,) = queries
        odds, count = np.append(odds, [[log_odds_left_out(query, others)]], axis=1), others.total
    logs = log_probabilities(odds, keys.calibration.growth, count, keys.calibration.nesting)
    logs = logs[:, : len(keys)]
    top = logs.max(axis=1, keepdims=True)
    np.copyto(logs, top, where=logs > top - TIE)
    return logs.astype(np.float32), odds


def _tell_apart(
    odds: NDArray[np.float64], queries: Sequence[Query], features: Features, keys: Keys
) -> None:
    """Lower the log-odds of keys with a query's words that others are written more like.

    The words of "C", "C++" and "C#" are the same; "c" is "C".
    """
    if features.spelling.max() < 1:
        return
    several = (features.spelling == 1).sum(axis=1) > 1
    for i in np.flatnonzero(several).tolist():
        same = of_equal_words(features, i, keys)
        odds[i, same] -= written_less_alike(written_like(queries[i], same, keys))


def of_equal_words(features: Features, row: int, keys: Keys) -> NDArray[np.intp]:
    """Return the slots of the living candidates of one query that have its words, rising."""
    same = different(features.candidates[row, features.spelling[row] == 1])
    return same[keys.alive[same]]


def written_like(query: Query, slots: NDArray[np.intp], keys: Keys) -> NDArray[np.float64]:
    """Return how alike a query and c keys of its words are written, (c,)."""
    return np.array([written_alike(query.asked, keys.names[slot]) for slot in slots.tolist()])


def written_less_alike(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is taken from the log-odds of c keys of equal words, (c,): the writing decides.

    Args:
        alike: how alike the query and each of them are written, (c,).
    """
    if not 1 < len(alike) <= _TOLD_APART:
        return np.zeros(len(alike))
    less: NDArray[np.float64] = alike.max() - alike
    return _WRITTEN_LESS_ALIKE * (less + (less > 0))


#: The name of the score by spelling.
SPELLING = "spelling"


class SpellingScore(ProbabilityScore):
    """The probability that a key is the right one, from spelling and words, without meaning.

    The keys are those of the embedding `NO_VECTORS`, whose calibration it is.
    """

    measure: str | None = None
    spare = nearest = 0

    def nearness(self, queries: Sequence[Query], keys: Keys) -> NDArray[np.float32]:
        """Return zeros, (L, n)."""
        return np.zeros((len(queries), len(keys)), np.float32)

    def compare(
        self,
        queries: Sequence[Query],
        near: NDArray[np.float32],
        candidates: Candidates,
        keys: Keys,
    ) -> Features:
        """Return how alike queries and keys are spelled."""
        return compare_spelling(queries, near, candidates.slots, keys)

    def at_most(self, query: Query, keys: Keys, last: int) -> float:  # noqa: ARG002
        """Return the log-odds of a key that was not compared as a string."""
        return keys.calibration.unknown.meaning[0]


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
    if scorer is None:
        return DefaultScore()
    if is_spelling(scorer):
        return SpellingScore()
    if isinstance(scorer, str) and scorer not in SCORERS:
        raise OptionError(
            f"scorer {quoted(scorer)} is not known; the names are "
            f"{', '.join([SPELLING, *SCORERS])}, and Bilinear(M) and Concat(W, w) are passed "
            f"as objects"
        )
    return NamedScore(scorer)


# ---- keys that a search left out -------------------------------------------------------------


def log_odds_left_out(query: Query, others: OtherKeys) -> float:
    """Return the log-odds that any key is right that the search did not return.

    They are estimated from a sample. With a sample of 4,096 of a million keys, the estimated mean
    is within some hundredths of that of all keys.
    """
    near = nearness([query], others.sample)[0].astype(np.float64)
    odds = np.asarray(_line(others.sample.calibration.mixed(query.known).meaning, 0, near))
    odds[others.listed] = -np.inf
    nesting, sampled = others.sample.calibration.nesting, len(odds) - len(others.listed)
    return log_odds_of_any(odds, nesting) + nesting * math.log(others.left / sampled)


def weight_left_out(
    log_weights: NDArray[np.floating], at_most: float, left: int, temperature: float
) -> float:
    """Return an upper bound on the weight of ``left`` keys that a search left out.

    >>> weight_left_out(np.zeros(4), 0.0, 4, 1.0)
    0.5
    """
    if not left:
        return 0.0
    top = max(at_most, float(log_weights.max()))
    found = float(np.exp((log_weights.astype(np.float64) - top) / temperature).sum())
    rest = left * math.exp((at_most - top) / temperature)
    return rest / (found + rest)
