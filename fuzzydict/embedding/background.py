"""How near unrelated texts lie in an embedding, against which nearness is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import units

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SAMPLE", "Background", "background_of", "background_of_cosines"]

#: So many vectors are enough to tell.
SAMPLE = 128
_USUAL = (0.2, 0.1)  # mean and spread, of word2vec and of sentence encoders
_DOUBT = 2.0  # so many pairs weigh as much as what is usual


class Background(NamedTuple):
    """Mean and standard deviation of the cosines of unrelated texts."""

    mean: float
    spread: float


def background_of(vectors: NDArray[np.float32]) -> Background:
    """Return the background of an embedding, told from the vectors of some texts, (n, E).

    Each embedding has its own: of some, all cosines lie between 0.7 and 1. Where there are few
    texts, it is drawn towards what is usual.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    unit = units(vectors)
    return background_of_cosines(unit @ unit.T)


def background_of_cosines(table: NDArray[np.float32]) -> Background:
    """Return the background, told from the cosines of texts, as queries and as keys, (n, n)."""
    cosines = table[np.triu_indices(len(table), 1)].astype(np.float64)
    usual_mean, usual_spread = _USUAL
    weight = len(cosines) + _DOUBT
    mean = (cosines.sum() + _DOUBT * usual_mean) / weight
    squares = np.square(cosines - mean).sum() + _DOUBT * usual_spread**2
    return Background(float(mean), float(np.sqrt(squares / weight)))
