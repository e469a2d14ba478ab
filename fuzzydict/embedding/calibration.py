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
    "line",
    "log_probabilities",
    "of_nearness",
]

#: The reasons for a key to be the right one, in the order in which parts of a score stand.
REASONS = ("spelling", "meaning", "words")
_SIGNS = (1, -1, 1)  # of the weight of the likeness, for each of them

#: Log-odds of a key of the query's very words, "top_speed" of "topSpeed".
SAME = 30.0


Weights = tuple[float, float, float, float]


#: Coverage of words never seen from which on it may be said that most are the same: strings of
#: any letters have something in common. If some words are known, less will do.
FEWEST = 0.25


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
    a query is the key misspelled or cut short, or means the same, or most of its words are the
    same. They compete with those of the other keys and of a key that stands for "none of them".

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
        some = alike.words >= FEWEST * (1 - known)
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


def line(weights: Weights, like: ArrayLike, near: Any) -> Any:
    """Return what one reason says, in log-odds: ``bias + like^2 + near + near^2``, each weighted.

    The square of nearness counts where it is above 0.
    """
    bias, of_likeness, *_ = weights
    likeness = np.asarray(like, np.float64)
    return bias + of_likeness * likeness * likeness + of_nearness(weights, near)


def of_nearness(weights: Weights, near: Any) -> Any:
    """Return what nearness adds to a `line`."""
    *_, slope, of_square = weights
    return near * (slope + of_square * np.maximum(near, 0) if of_square else slope)


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


# By maximum likelihood, on held-out data: `python -m tests.benchmarks.calibration`.
#: Of word vectors, where nearness is that of the shipped ones.
OF_WORDS = Calibration(
    known=Evidence(
        spelling=(-2.56, 9.12, 1.28, 0.0),
        meaning=(-1.06, -1.07, 0.74, 0.12),
        words=(-1.49, 7.1, 1.19, 0.0),
    ),
    unknown=Evidence(
        spelling=(-8.3, 22.44, 0.45, 0.0),
        meaning=(-7.7, 0.0, 0.32, 0.81),
        words=(0.48, 13.45, 0.0, 0.0),
    ),
)
#: Of the shipped word vectors, projected by what was learned from WordNet.
OF_WORDNET = Calibration(
    known=Evidence(
        spelling=(-5.47, 8.54, 1.88, 0.0),
        meaning=(-2.64, -0.34, 0.45, 0.94),
        words=(-2.12, 5.92, 1.49, 0.0),
    ),
    unknown=Evidence(
        spelling=(-8.37, 23.88, 0.0, 0.0),
        meaning=(-7.03, -0.22, 0.56, 0.59),
        words=(0.62, 14.37, 0.0, 0.0),
    ),
)
#: Of models that encode whole texts; fitted to a mix with more of inflections and shared words, for
#: they find more with it; one slope was set by hand, by what is found of held-out questions.
OF_TEXTS = Calibration(
    known=Evidence((-4.03, 9.07, 0.9, 0.0), (-1.53, 0.0, 1.22, 0.0), (-1.66, 0.0, 1.31, 0.0)),
    unknown=Evidence((-8.39, 22.42, 0.0, 0.0), (-9.19, 0.0, 0.46, 0.0), (-8.0, 12.0, 0.0, 0.0)),
    reach=30.0,
)
