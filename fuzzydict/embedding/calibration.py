"""The fitted weights that turn features of a query and a key into log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: The reasons why a key can be right, in the order of the parts of a score.
REASONS = ("spelling", "meaning", "words")
_SIGNS = (1, -1, 1)  # the sign of the weight of the likeness, for each reason
_LARGEST = 1e6  # number in an array; those that are fitted are below 100
_SHARES = 64  # shares of known words for which the evidence is kept

#: Bias, and the weights of the squared likeness, of nearness, and of squared nearness.
Weights = tuple[float, float, float, float]


@dataclass(frozen=True)
class Evidence:
    """The weights of each reason, for the log-odds that `search.score.log_odds` computes.

    The weights of nearness are 0 or more. The weight of the likeness is 0 or more for spelling and
    for words. For meaning it is 0 or less: texts that share letters or words are near for that
    alone, and need not mean the same.
    """

    spelling: Weights
    meaning: Weights
    words: Weights


@dataclass(frozen=True)
class Calibration:
    """The evidence for queries of known words, and for queries of words never seen.

    Attributes:
        known: for queries whose words are all known.
        unknown: for queries whose words were never seen.
        reach: the limit of nearness, see `search.features.Features`.
        growth: how the odds of no key being right grow with the number of keys: they are the
            number to this power, from 0 to 1.
        nesting: how the odds of keys add up to those that any is right, over 0 up to 1: at 1 they
            are the sum, near 0 those of the best key alone. See `search.score.log_probabilities`.

    >>> line = (-9.0, 24.0, 0.0, 0.0), (-6.0, 0.0, 2.0, 0.0), (-5.0, 9.0, 0.0, 0.0)
    >>> calibration = Calibration(Evidence(*line), Evidence(*line))
    >>> Calibration.from_array(calibration.as_array()) == calibration
    True
    """

    known: Evidence
    unknown: Evidence
    reach: float = 3.0
    growth: float = 1.0
    nesting: float = 1.0

    def as_array(self) -> NDArray[np.float64]:
        """Return the reach, all weights in order, the growth, and the nesting, (27,)."""
        ends = [self.growth, self.nesting]
        return np.concatenate([[self.reach], self.weights().ravel(), ends])

    def weights(self) -> NDArray[np.float64]:
        """Return the weights, (2, 3, 4): of known and unknown queries, for each of `REASONS`."""
        return np.array([[e.spelling, e.meaning, e.words] for e in (self.known, self.unknown)])

    @classmethod
    def from_array(cls, weights: NDArray[Any]) -> Calibration:
        """Return the calibration that `as_array` returned.

        The growth and the nesting are 1 where they are left out, as in older files.

        Raises:
            ValueError: the array has another shape, is not finite, or a number is out of range.
        """
        if weights.shape in ((25,), (26,)):
            weights = np.append(weights, np.ones(27 - len(weights)))
        if weights.shape != (27,) or not np.isfinite(weights).all() or not weights[0] > 0:
            raise ValueError(f"a calibration is 27 finite numbers, not {weights.shape}")
        if np.abs(weights).max() > _LARGEST or weights[0] < 1 / _LARGEST:
            raise ValueError(f"a number of a calibration is beyond {_LARGEST:.0e}")
        lines, (growth, nesting) = weights[1:-2].reshape(2, 3, 4), weights[-2:].tolist()
        # What is more alike, or nearer, is never less likely.
        if (lines[:, :, 1] * _SIGNS < 0).any() or (lines[:, :, 2:] < 0).any():
            raise ValueError("the weights of likeness and nearness have the wrong sign")
        if not 0 <= growth <= 1:
            raise ValueError(f"the growth of a calibration is from 0 to 1, not {growth:g}")
        if not 1 / _LARGEST <= nesting <= 1:
            raise ValueError(
                f"the nesting of a calibration is from {1 / _LARGEST:g} to 1, not {nesting:g}"
            )
        known, unknown = map(_evidence, lines)
        return cls(known, unknown, reach=float(weights[0]), growth=growth, nesting=nesting)

    def mixed(self, known: float) -> Evidence:
        """Return the evidence for a query of which the share ``known`` of the words is known.

        "maximum spede" is judged half like known words, and half like misspelled ones.
        """
        return self._mixed(known)[0]

    def lines(self, known: float) -> NDArray[np.float64]:
        """Return the weights of the evidence for six numbers of a query and a key, (3, 6).

        They are, squared, how alike they are for each of the three `REASONS`, and their nearness,
        if it is above 0; then the nearness itself, and 1.
        """
        return self._mixed(known)[1]

    def _mixed(self, known: float) -> tuple[Evidence, NDArray[np.float64]]:
        found = self._by_share.get(known)
        if found is None:
            mixed = np.array([[known, 1 - known]]) @ self.weights().reshape(2, -1)
            evidence, lines = _evidence(mixed.reshape(3, 4)), np.zeros((3, 6))
            for i, (bias, *weights) in enumerate(mixed.reshape(3, 4)):
                lines[i, [5, i, 4, 3]] = bias, *weights
            found = evidence, lines
            if len(self._by_share) < _SHARES:
                self._by_share[known] = found
        return found

    @cached_property
    def _by_share(self) -> dict[float, tuple[Evidence, NDArray[np.float64]]]:
        return {}


def _evidence(weights: NDArray[Any]) -> Evidence:
    spelling, meaning, words = (tuple(map(float, reason)) for reason in weights)
    return Evidence(spelling, meaning, words)  # type: ignore[arg-type] # of four numbers each


# Fitted by maximum likelihood on held-out data: `python -m tests.benchmarks.calibration`.
#: For the shipped Brown vectors.
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
#: For the Brown vectors with the projections learned from WordNet.
OF_WORDNET = Calibration(
    known=Evidence(
        spelling=(-3.65, 7.77, 0.54, 0.0),
        meaning=(-5.25, -1.22, 0.0, 1.36),
        words=(-2.37, 11.24, 0.17, 0.0),
    ),
    unknown=Evidence(
        spelling=(-5.76, 17.16, 0.08, 0.0),
        meaning=(-6.8, 0.0, 1.41, 0.0),
        words=(-1.51, 14.64, 0.0, 0.0),
    ),
    growth=0.79,
)
#: For the table of English words alone.
OF_ENGLISH = Calibration(
    known=Evidence(
        spelling=(-4.74, 10.21, 0.33, 0.0),
        meaning=(-2.48, -0.62, 1.09, 0.0),
        words=(-1.74, 9.51, 0.03, 0.0),
    ),
    unknown=Evidence(
        spelling=(-5.98, 15.32, 0.25, 0.0),
        meaning=(-3.82, -0.39, 0.74, 0.0),
        words=(-1.27, 12.77, 0.0, 0.0),
    ),
    reach=12.0,
    growth=0.59,
    nesting=0.62,
)
#: For the Brown vectors with the projections learned from WordNet, and the table beside them.
OF_BROWN_AND_ENGLISH = Calibration(
    known=Evidence(
        spelling=(-4.71, 10.06, 0.36, 0.0),
        meaning=(-2.28, -0.94, 1.05, 0.0),
        words=(-1.75, 9.71, 0.0, 0.0),
    ),
    unknown=Evidence(
        spelling=(-6.16, 15.53, 0.25, 0.0),
        meaning=(-3.64, -0.44, 0.69, 0.0),
        words=(-1.28, 12.69, 0.0, 0.0),
    ),
    reach=12.0,
    growth=0.58,
    nesting=0.61,
)
#: For models that encode whole texts: `data/README.md` says on what they were fitted. Meaning has
#: the same weights for words never seen, whose vectors are as good as any.
OF_TEXTS = Calibration(
    known=Evidence((-4.14, 7.34, 0.05, 0.0), (-0.71, 0.0, 0.52, 0.0), (-4.7, 9.63, 0.0, 0.0)),
    unknown=Evidence((-8.03, 16.45, 0.0, 0.0), (-0.71, 0.0, 0.52, 0.0), (-2.78, 12.11, 0.0, 0.0)),
    reach=30.0,
    growth=0.1,
    nesting=0.27,
)
# For texts without vectors, of which no word is known: `python -m tests.benchmarks.identifiers`.
# "Meaning" is what is left to keys that were not compared as strings.
_OF_SPELLING = Evidence(
    (-13.85, 22.62, 0.0, 0.0), (-13.39, 0.0, 0.0, 0.0), (-10.89, 7.89, 0.0, 0.0)
)
#: For texts that are compared as they are spelled.
OF_SPELLING = Calibration(known=_OF_SPELLING, unknown=_OF_SPELLING, growth=0.14)
