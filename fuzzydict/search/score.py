"""What a ``scorer=`` argument stands for: the judged score, or a scorer of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import OptionError, quoted
from fuzzydict.nn.scorers import SCORERS, Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search.neighbours import COSINE, DOT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.keys import Keys


_MEASURES: dict[type, str] = {Cosine: COSINE, Dot: DOT, ScaledDot: DOT}
#: The name of the score by spelling.
SPELLING = "spelling"


class JudgedScore:
    """The probability that a key is the right one.

    Attributes:
        temperature: the default temperature of the weights.
        score_cutoff: the default cutoff of a read that picks a key.
        pool_cutoff: the default cutoff of a read that pools the values of all keys.
        measure: `COSINE` or `DOT`, by which the best keys are near the query; None if by neither.
    """

    temperature = 1.0  # so that the weights are the keys' shares of the probability
    score_cutoff = 0.5  # more likely right than not
    pool_cutoff = 0.02  # a doubtful query mixes the values

    def __init__(self, measure: str | None = COSINE) -> None:
        self.measure = measure


class NamedScore:
    """The scores of a scorer, unchanged; its attributes are those of `JudgedScore`."""

    def __init__(self, scorer: ScorerLike) -> None:
        self.scorer = as_scorer(scorer)
        # Low for scores that end at 1, so that an exact key among a thousand has most weight.
        self.temperature = 0.05 if isinstance(self.scorer, Cosine) else 1.0
        # The scale of a scorer is the user's to know.
        self.score_cutoff = self.pool_cutoff = -np.inf
        self.measure = _MEASURES.get(type(self.scorer))

    def scores(
        self, vectors: NDArray[np.float32], keys: Keys, slots: NDArray[np.intp] | None = None
    ) -> NDArray[np.float32]:
        """Return the scores of queries (L, E) for n slots, or for some, (L, n); -inf if dead.

        Raises:
            ShapeError: the scorer returns NaN or +inf.
        """
        of_keys = keys.vectors if slots is None else keys.vectors[slots]
        if type(self.scorer) is Cosine:
            inverse = keys.inverse_lengths if slots is None else keys.inverse_lengths[slots]
            found = self.scorer.with_norms(vectors, of_keys, inverse)
        else:
            found = np.asarray(self.scorer(vectors, of_keys), np.float32)
            if self.measure is None:  # otherwise it is a new array, and finite
                found = found.copy()
                finite_tops(found)  # no key may win, or be left out, by a NaN
        if slots is None and len(keys.dead):
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
        return JudgedScore(None if is_spelling(scorer) else COSINE)
    if isinstance(scorer, str) and scorer not in SCORERS:
        raise OptionError(
            f"scorer {quoted(scorer)} is not known; the names are "
            f"{', '.join([SPELLING, *SCORERS])}, and Bilinear(M) and Concat(W, w) are passed "
            f"as objects"
        )
    return NamedScore(scorer)
