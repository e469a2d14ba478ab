"""Texts as lists of words, all of them at once: a mean of what there is for each word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Phrases"]


class Phrases:
    """The words of n texts, each different word kept once, U of them.

    >>> phrases = Phrases([["top", "speed"], [], ["speed"]])
    >>> phrases.words
    ['top', 'speed']
    >>> phrases.means(np.eye(2, dtype=np.float32), np.array([3, 1], np.float32)).tolist()
    [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, split: Sequence[Sequence[str]]) -> None:
        places = {word: i for i, word in enumerate(dict.fromkeys(w for s in split for w in s))}
        self.words = list(places)
        self._count = len(split)
        self._flat = np.array([places[word] for words in split for word in words], np.intp)
        lengths = np.fromiter(map(len, split), np.intp, len(split))
        self._filled = np.flatnonzero(lengths)
        self._starts = np.cumsum(lengths[self._filled]) - lengths[self._filled]

    def means(self, rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted mean of the rows, (U, E), of each text's words, (n, E); 0 of none.

        Args:
            rows: of the different words, in their order.
            weights: theirs, (U,), above 0.
        """
        found = np.zeros((self._count, rows.shape[1]), np.float32)
        if len(self._flat):
            weighed = weights[self._flat]
            sums = np.add.reduceat(rows[self._flat] * weighed[:, None], self._starts, axis=0)
            found[self._filled] = sums / np.add.reduceat(weighed, self._starts)[:, None]
        return found
