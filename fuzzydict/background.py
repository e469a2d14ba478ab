"""How near unrelated texts lie in an embedding, against which nearness is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.arrays import units

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SAMPLE", "Background", "background_of"]

#: So many vectors are enough to tell.
SAMPLE = 128
_USUAL = (0.2, 0.1)  # mean and spread, of word2vec and of sentence encoders
_DOUBT = 2.0  # so many pairs weigh as much as what is usual


class Background(NamedTuple):
    """Mean and standard deviation of the cosines of unrelated texts."""

    mean: float
    spread: float


def background_of(
    vectors: NDArray[np.float32], queries: NDArray[np.float32] | None = None
) -> Background:
    """Return the background of an embedding, told from the vectors of some texts, (n, E).

    ``queries`` are the vectors of the same texts as queries, where these differ.

    Each embedding has its own: of some, all cosines lie between 0.7 and 1. Where there are few
    texts, it is drawn towards what is usual.

    >>> mean, spread = background_of(np.eye(20, dtype=np.float32))
    >>> round(mean, 3), round(spread, 3)
    (0.002, 0.01)
    """
    asked = units(vectors if queries is None else queries)
    cosines = (asked @ units(vectors).T)[np.triu_indices(len(vectors), 1)].astype(np.float64)
    usual_mean, usual_spread = _USUAL
    weight = len(cosines) + _DOUBT
    mean = (cosines.sum() + _DOUBT * usual_mean) / weight
    squares = np.square(cosines - mean).sum() + _DOUBT * usual_spread**2
    return Background(float(mean), float(np.sqrt(squares / weight)))
