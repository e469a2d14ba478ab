"""What the probability of a key is made of: how much of it each reason gives, and from what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.embedding.calibration import log_probabilities, of_nearness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.calibration import Calibration, Likeness, Weights

__all__ = ["Parts", "Reasons"]


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
