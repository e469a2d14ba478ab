"""From likeness to probability: what it says for each key, and for "none of them"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FEWEST",
    "OF_TEXTS",
    "OF_WORDNET",
    "OF_WORDS",
    "REASONS",
    "SAME",
    "Calibration",
    "Evidence",
    "Likeness",
    "Parts",
    "Reasons",
    "line",
    "log_probabilities",
]

#: The reasons for a key to be the right one, in the order in which parts of a score stand.
REASONS = ("spelling", "meaning", "words")
_SIGNS = (1, -1, 1)  # of the weight of the likeness, for each of them

#: Log-odds of a key of the query's very words, "top_speed" of "topSpeed".
SAME = 30.0


Weights = tuple[float, float, float, float]


#: Coverage from which on it may be said that most words are the same.
FEWEST = 0.1


class Likeness(NamedTuple):
    """How alike a query and n keys are; the strings of c of the keys were compared, the candidates.

    Attributes:
        nearness: of meaning, (n,): the cosine less that of unrelated texts, in units of how much
            theirs varies, times the trust in both vectors; it grows less and
            less, to the calibration's reach.
        candidates: which keys' strings were compared, (c,).
        spelling: how alike the strings look, (c,), from 0 to 1.
        words: how far each word of one has its like in the other, (c,), from 0 to 1; -inf where
            both are single words, so that there is nothing to compare one by one.
    """

    nearness: NDArray[np.float32]
    candidates: NDArray[np.intp]
    spelling: NDArray[np.float32]
    words: NDArray[np.float32]

    def surface(self) -> NDArray[np.float32]:
        """Return how alike the texts are on their surface, (c,): by words if there are several."""
        return np.where(self.words >= 0, self.words, self.spelling)


@dataclass(frozen=True)
class Evidence:
    """What a likeness says for a key, in log-odds; each reason has its weights, see `line`.

    Those of nearness are 0 or more, and its square has a say in meaning alone. Those of the
    likeness of spelling, and of words, are 0 or more. That of the surface for meaning is 0 or
    less: what shares letters or words lies near for that alone, and need not mean the same.
    """

    spelling: Weights
    meaning: Weights
    words: Weights


@dataclass(frozen=True)
class Calibration:
    """The evidence of queries whose words are all known, and of those of words never seen.

    The log-odds of a key are those of "for one reason or another", the sum of the odds of each:
    a query is the key misspelled, or means the same, or most of its words are the same. They
    compete with those of the other keys and of a key that stands for "none of them".

    >>> same = Calibration(*[Evidence((-9, 24, 0, 0), (-6, 0, 2, 0), (-5, 9, 0, 0))] * 2)
    >>> alike = Likeness(*map(np.array, ([0.0, 7.0], [0], [0.5], [-np.inf])))
    >>> odds = same.log_odds(alike, known=1)
    >>> np.exp(log_probabilities(odds)).round(3).tolist()
    [0.0, 0.999]
    """

    known: Evidence
    unknown: Evidence
    reach: float = 3.0  # nearness grows less and less, to this at most

    def as_array(self) -> NDArray[np.float64]:
        """Return the reach, and all weights in order, (25,)."""
        return np.append(self.reach, self.weights())

    def weights(self) -> NDArray[np.float64]:
        """Return the weights, (2, 3, 4): of known and unknown queries, for each of `REASONS`."""
        return np.array([[e.spelling, e.meaning, e.words] for e in (self.known, self.unknown)])

    @classmethod
    def from_array(cls, weights: NDArray[Any]) -> Calibration:
        """Return the calibration of which `as_array` told.

        Raises:
            ValueError: it is of another shape, not finite, or a weight has the wrong sign.
        """
        if weights.shape != (25,) or not np.isfinite(weights).all() or not weights[0] > 0:
            raise ValueError(f"a calibration is 25 finite numbers, not {weights.shape}")
        lines = weights[1:].reshape(2, 3, 4)
        # Reads that are settled by bounds rely on it.
        if (lines[:, :, 1] * _SIGNS < 0).any() or (lines[:, :, 2:] < 0).any():
            raise ValueError("what is alike must speak for a key, and its surface against meaning")
        known, unknown = map(_evidence, lines)
        return cls(known, unknown, reach=float(weights[0]))

    def log_odds(self, alike: Likeness, *, known: float) -> NDArray[np.float64]:
        """Return the log-odds of each key being right to none being right, (n,).

        ``known`` is the share of the query's words that are; so "maximum spede" is judged half as
        words are, and half as slips.
        """
        odds = np.asarray(line(self.mixed(known).meaning, 0, alike.nearness.astype(np.float64)))
        odds[alike.candidates] = np.logaddexp.reduce(self.parts(alike, known=known), axis=0)
        return odds

    def parts(self, alike: Likeness, *, known: float) -> NDArray[np.float64]:
        """Return the candidates' log-odds for each of `REASONS`, (3, c)."""
        evidence = self.mixed(known)
        near = alike.nearness[alike.candidates].astype(np.float64)
        parts = np.empty((len(REASONS), len(near)))
        parts[0] = line(evidence.spelling, alike.spelling, near)
        parts[0][alike.spelling == 1] = SAME
        parts[1] = line(evidence.meaning, alike.surface(), near)
        parts[2] = -np.inf
        some = alike.words >= FEWEST
        parts[2, some] = line(evidence.words, alike.words[some], near[some])
        return parts

    def mixed(self, known: float) -> Evidence:
        """Return the evidence of a query of which this share of the words is known."""
        if known in (0, 1):
            return self.known if known else self.unknown
        mixed = np.array([[known, 1 - known]]) @ self.weights().reshape(2, -1)
        return _evidence(mixed.reshape(3, 4))


def _evidence(weights: NDArray[Any]) -> Evidence:
    spelling, meaning, words = (tuple(map(float, reason)) for reason in weights)
    return Evidence(spelling, meaning, words)  # type: ignore[arg-type] # of four numbers each


def _of_surface(weights: Weights, like: float, near: float) -> float:
    """Return which share of a line of weights comes from the likeness, the rest from nearness."""
    by_likeness, by_nearness = weights[1] * like * like, _of_nearness(weights, max(near, 0.0))
    return 1.0 if like == 1 or not by_nearness else by_likeness / (by_likeness + by_nearness)


def line(weights: Weights, like: ArrayLike, near: Any) -> Any:
    """Return what one reason says, in log-odds: ``bias + like^2 + near + near^2``, each weighted.

    The square of nearness counts where it is above 0.
    """
    bias, of_likeness, *_ = weights
    likeness = np.asarray(like, np.float64)
    return bias + of_likeness * likeness * likeness + _of_nearness(weights, near)


def _of_nearness(weights: Weights, near: Any) -> Any:
    *_, of_nearness, of_square = weights
    return near * (of_nearness + of_square * np.maximum(near, 0) if of_square else of_nearness)


def log_probabilities(
    log_odds: NDArray[np.float64], count: int | None = None
) -> NDArray[np.float64]:
    """Return the logarithm of each key's probability, (n,): a softmax over the keys and "none".

    Before anything is known, that none is right is as likely as that some key is, and every key
    is as likely as any other: one in 2 n. So the more keys there are, the more it takes.

    Args:
        log_odds: of each key being right to none being right, (n,); -inf for keys that are gone.
        count: how many keys there are, where one of these odds is that of several together.
    """
    if count is None:
        count = max(int(np.count_nonzero(log_odds > -np.inf)), 1)
    none = math.log(count)
    top = float(log_odds.max(initial=none))
    total = np.exp(log_odds - top).sum() + math.exp(none - top)
    probabilities: NDArray[np.float64] = log_odds - (top + np.log(total))
    return probabilities


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


# By maximum likelihood, on held-out data: `python -m tests.benchmarks.calibration`.
#: Of word vectors, where nearness is that of the shipped ones.
OF_WORDS = Calibration(
    known=Evidence(
        spelling=(-2.43, 8.98, 1.26, 0.0),
        meaning=(-1.04, -1.53, 0.76, 0.1),
        words=(-1.23, 7.2, 1.08, 0.0),
    ),
    unknown=Evidence(
        spelling=(-9.16, 22.93, 0.67, 0.0),
        meaning=(-8.43, 0.0, 0.72, 0.78),
        words=(-0.6, 15.39, 0.0, 0.0),
    ),
)
#: Of the shipped word vectors, projected by what was learned from WordNet.
OF_WORDNET = Calibration(
    known=Evidence(
        spelling=(-5.27, 8.52, 1.79, 0.0),
        meaning=(-2.59, -0.29, 0.42, 0.95),
        words=(-1.53, 6.26, 1.19, 0.0),
    ),
    unknown=Evidence(
        spelling=(-9.09, 24.64, 0.1, 0.0),
        meaning=(-7.68, -0.22, 1.17, 0.47),
        words=(-0.16, 15.93, 0.0, 0.0),
    ),
)
#: Of models that encode whole texts; fitted to a mix with more of inflections and shared words, for
#: they find more with it; one slope was set by hand, by what is found of held-out questions.
OF_TEXTS = Calibration(
    known=Evidence((-4.03, 9.07, 0.9, 0.0), (-1.53, 0.0, 1.22, 0.0), (-1.66, 0.0, 1.31, 0.0)),
    unknown=Evidence((-8.39, 22.42, 0.0, 0.0), (-9.19, 0.0, 0.46, 0.0), (-8.0, 12.0, 0.0, 0.0)),
    reach=30.0,
)
