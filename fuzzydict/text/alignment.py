"""Two phrases word by word: each word of one takes its best like in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["coverage"]


def coverage(
    alike: NDArray[np.float32],
    query_weights: NDArray[np.float32],
    keys: Sequence[Sequence[int]],
    key_weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return how far the words of a query and of each key have their like in the other, (c,).

    It is the mean of two shares: of the query's words in the key, and of the key's words in the
    query; words that carry more of a phrase weigh more.

    Args:
        alike: how alike each of the query's m words and of U words are, (m, U).
        query_weights: of the query's words, (m,).
        keys: the words of c keys, one or more each, as columns of ``alike``.
        key_weights: of the U words, (U,).

    >>> alike = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]], np.float32)  # "top speed" and
    >>> ones = np.ones(3, np.float32)  # "top", "speed", "highest": which is half like "top"
    >>> coverage(alike, ones[:2], [[0, 1], [2, 1], [2]], ones).tolist()
    [1.0, 0.75, 0.375]
    """
    longest = max(map(len, keys))
    columns = np.array([[*key, *[-1] * (longest - len(key))] for key in keys])
    is_word = columns >= 0
    of_keys = np.where(is_word, key_weights[columns], 0)
    pairs = np.where(is_word, alike[:, columns], 0)  # (m, c, longest)
    found = query_weights @ pairs.max(axis=2) / query_weights.sum()
    covered = (pairs.max(axis=0) * of_keys).sum(axis=1) / of_keys.sum(axis=1)
    mean: NDArray[np.float32] = (found + covered) / 2
    return mean
