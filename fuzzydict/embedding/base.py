"""What the package asks of an embedding, and the cosines of unrelated texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict._arrays import units

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Embedding(Protocol):
    """Vectors of texts, and a name."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text, (n, E)."""

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies this embedding, as JSON: a name, and maybe probes."""


LEAST_ABOVE, MOST_ABOVE = -3.0, 12.0  # standard deviations
_USUAL = (0.2, 0.1)  # mean and spread for word2vec and for sentence encoders
_PRIOR_PAIRS = 2.0  # the usual mean and spread weigh as much as so many pairs of texts


class Background(NamedTuple):
    """Mean and standard deviation of the cosines of unrelated texts."""

    mean: float
    spread: float

    def above(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how far cosines are above the mean, in standard deviations, clipped."""
        above = (cosines - np.float32(self.mean)) * np.float32(1 / self.spread)
        return np.clip(above, LEAST_ABOVE, MOST_ABOVE, out=above)


def background_of(vectors: NDArray[np.float32]) -> Background:
    """Return the background of an embedding, estimated from the vectors of some texts, (n, E).

    Embeddings differ: in some, all cosines lie between 0.7 and 1. If there are few texts, the
    estimate is drawn towards the usual values.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    unit = units(vectors)
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)].astype(np.float64)
    usual_mean, usual_spread = _USUAL
    weight = len(cosines) + _PRIOR_PAIRS
    mean = (cosines.sum() + _PRIOR_PAIRS * usual_mean) / weight
    squares = np.square(cosines - mean).sum() + _PRIOR_PAIRS * usual_spread**2
    return Background(float(mean), float(np.sqrt(squares / weight)))
