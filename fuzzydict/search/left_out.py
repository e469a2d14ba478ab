"""What keys say that no engine found, all together: told from a sample, and bounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict.embedding.calibration import Likeness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.search.key_index import Others

__all__ = ["log_odds_by_meaning", "log_odds_together", "weight_left_out"]


def log_odds_by_meaning(
    query: str, near: NDArray[np.float32], embedding: Embedding
) -> NDArray[np.float64]:
    """Return the log-odds of keys so near to a query, (n,), whose strings are not compared."""
    nothing = np.zeros(0, np.float32)
    alike = Likeness(near, np.zeros(0, np.intp), nothing, nothing)
    known = embedding.vocabulary.known_share(query)
    return embedding.calibration.log_odds(alike, known=known)


def log_odds_together(log_odds: NDArray[np.float64], others: Others) -> float:
    """Return the log-odds of the keys left out, all together, from those of the sample, (r,).

    Of 4,096 keys drawn from a million, the mean is within some hundredths of that of all.
    """
    log_odds[others.listed] = -np.inf
    top = log_odds.max()
    mean = np.exp(log_odds - top).sum() / (len(log_odds) - len(others.listed))
    return float(top + np.log(others.left * mean))


def weight_left_out(
    log_weights: NDArray[np.floating], most: float, left: int, temperature: float
) -> float:
    """Return the share of the weight that so many keys left out have at the most, each ``most``.

    >>> weight_left_out(np.zeros(4), 0.0, 4, 1.0)
    0.5
    """
    if not left:
        return 0.0
    top = max(most, float(log_weights.max()))
    found = float(np.exp((log_weights.astype(np.float64) - top) / temperature).sum())
    rest = left * math.exp((most - top) / temperature)
    return rest / (found + rest)
