"""Texts as lists of words, all of them at once: a mean of what there is for each word."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices

__all__ = ["Phrases", "phrases_of", "sums"]

_DIFFERENT = 1 << 15  # words of texts read at once, whose vectors are held in passing
_BLOCK = 512  # lists summed at a time: their sums stay near the processor


class Phrases:
    """The words of n texts, each different word kept once, U of them.

    Args:
        split: the words of each text; of an iterator no more are taken than are held.
        most: different words, after which no further text is taken; by default all are.

    >>> phrases = Phrases([["top", "speed"], [], ["speed"]])
    >>> phrases.words
    ['top', 'speed']
    >>> phrases.means(np.eye(2, dtype=np.float32), np.array([3, 1], np.float32)).tolist()
    [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, split: Iterable[Sequence[str]], most: int | None = None) -> None:
        numbers: dict[str, int] = {}
        flat, lengths = array("q"), array("q")
        for words in split:
            found = [numbers.setdefault(word, len(numbers)) for word in words]
            # The first word is added last: so means are, to the bit, those in older files.
            flat.extend(found if len(found) < 3 else (*found[1:], found[0]))
            lengths.append(len(found))
            if most is not None and len(numbers) > most:
                break
        self.words = list(numbers)
        self._flat, self._lengths = np.array(flat, np.intp), np.array(lengths, np.intp)

    def __len__(self) -> int:
        """Return the number of texts n."""
        return len(self._lengths)

    def means(self, rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted mean of the rows, (U, E), of each text's words, (n, E); 0 of none.

        Args:
            rows: of the different words, in their order.
            weights: theirs, (U,), above 0.
        """
        found = sums(rows * weights[:, None], self._flat, self._lengths)
        total = sums(weights[:, None], self._flat, self._lengths)
        return np.divide(found, total, out=found, where=total > 0)


def phrases_of(split: Iterable[Sequence[str]]) -> Iterator[tuple[slice, Phrases]]:
    """Yield texts some at a time, and where they stand, so that their words are not too many.

    >>> [(where, phrases.words) for where, phrases in phrases_of([["top", "speed"], ["speed"]])]
    [(slice(0, 2, None), ['top', 'speed'])]
    """
    left, start = iter(split), 0
    while len(phrases := Phrases(left, _DIFFERENT)):
        yield slice(start, start + len(phrases)), phrases
        if len(phrases.words) <= _DIFFERENT:  # so no text is left
            return
        start += len(phrases)


def sums(
    rows: NDArray[np.float32], places: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the sum of the rows, (U, E), that each of n lists names, (n, E), in their order.

    All lists are summed together, place by place, which is several times as fast as one by one.

    Args:
        rows: what is summed.
        places: the lists one after the other, whole numbers below U.
        lengths: theirs, (n,).

    >>> sums(np.eye(2, dtype=np.float32), np.array([0, 1, 1]), np.array([3, 0])).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    found = np.zeros((len(lengths), rows.shape[1]), np.float32)
    if len(lengths) == 1:  # a query
        for place in places.tolist():
            found += rows[place]
        return found
    starts = np.cumsum(lengths) - lengths
    for some in slices(len(lengths), _BLOCK):
        part, first, length = found[some], starts[some], lengths[some]
        for i in range(length.max(initial=0)):
            if i < length.min():
                part += rows[places[first + i]]
            else:
                longer = np.flatnonzero(length > i)
                part[longer] += rows[places[first[longer] + i]]
    return found
