"""Which few keys are worth a look: all are seen at a glance, and the best are candidates.

L queries, n keys, C candidates, E numbers of a vector
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import ignore_invalid, largest, products, units
from fuzzydict.search.keys import Asked, Keys, shares_of

#: Keys that are compared with a query in detail; more beside an encoder, which finds others.
CANDIDATES, MORE_CANDIDATES = 12, 24
TIE = 1e-4  # log-odds that rounding may part
#: What is seen of each key at a glance; the judge weighs it.
GLANCE = ("n-grams", "n-grams squared", "nearness above the usual", "nearness by the encoder")


class Seen(NamedTuple):
    """What is seen of keys at a glance: of n keys, or of those in C slots, each (L, n) or (L, C).

    Attributes:
        odds: log-odds that tell how much each key is worth a look.
        of_ngrams: the cosines of their n-grams.
        near: the cosines of the vectors of their words.
        above: how far these are above the usual, in standard deviations.
        encoded: the cosines by an encoder of whole texts; zeros without one.
        encoded_above: as ``above``.
    """

    odds: NDArray[np.float32]
    of_ngrams: NDArray[np.float32]
    near: NDArray[np.float32]
    above: NDArray[np.float32]
    encoded: NDArray[np.float32]
    encoded_above: NDArray[np.float32]


@ignore_invalid
def glance(
    asked: Asked,
    keys: Keys,
    vectors: NDArray[np.float32],
    weights: NDArray[np.float32],
    *,
    is_encoded: bool = False,
) -> Seen:
    """Return what is seen of all keys at a glance, given the vectors of the queries, (L, E).

    What `GLANCE` names is weighed by ``weights``, (4,); the vectors are those of words or, if
    ``is_encoded``, those of an encoder of whole texts.
    """
    of_ngrams, spelled = keys.likeness(asked.queries)
    near = products(units(vectors), keys.vectors)
    near *= keys.inverse_lengths
    above = keys.background.above(near)
    odds = weights[1] * spelled
    odds += weights[0]
    odds *= spelled
    shares = shares_of(asked.weights[asked.columns])  # (L, w)
    encoded = encoded_above = np.broadcast_to(np.float32(0), near.shape)
    if is_encoded:
        encoded, encoded_above = near, above
        odds += weights[3] * np.maximum(above, 0)
        near = keys.near_by_words(np.einsum("lw,lwe->le", shares, asked.units[asked.columns]))
        above = keys.table.background.above(near)
    # how far the words' vectors can be trusted
    trust = (shares * asked.told(word.trust for word in asked.words)).sum(1)
    gain = np.maximum(above, 0)
    gain *= weights[2] * trust[:, None]
    odds += gain
    if len(keys.dead):
        odds[:, keys.dead] = -np.inf
    return Seen(odds, of_ngrams, near, above, encoded, encoded_above)


def candidates(seen: Seen, count: int) -> tuple[NDArray[np.intp], Seen]:
    """Return the slots that are most worth a look, (L, C), and what is seen of these."""
    L, n = seen.odds.shape
    rows = [np.arange(n)] * L if n <= count else [largest(row, count, TIE) for row in seen.odds]
    slots = np.array(rows, np.intp).reshape(L, -1)
    return slots, Seen._make(np.take_along_axis(of_all, slots, 1) for of_all in seen)
