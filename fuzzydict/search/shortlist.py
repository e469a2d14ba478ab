"""Some keys of an index as an index of their own, which knows of the others what a score needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.search.key_index import KeyIndex
from fuzzydict.text.ngrams import NgramIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Others", "Shortlist"]


class Others(NamedTuple):
    """The keys that are not on a shortlist.

    Attributes:
        total: how many living keys the whole index has.
        left: how many of them are not on the list, 1 or more.
        sample: some keys of the whole index.
        listed: which of the sample are on the list.
    """

    total: int
    left: int
    sample: KeyIndex
    listed: NDArray[np.intp]


class Shortlist(KeyIndex):
    """Some keys of an index; nothing is written to it.

    Args:
        index: all keys.
        slots: theirs, (c,), rising.
        alike: how many n-grams they share with the query, as cosines, (c,).
        others: what is known of those that are left out; None if nobody asks.
    """

    def __init__(
        self,
        index: KeyIndex,
        slots: NDArray[np.intp],
        alike: NDArray[np.float32] | None = None,
        others: Others | None = None,
    ) -> None:
        super().__init__(index.embedding)
        listed, plain = slots.tolist(), index.plain
        self.names = [index.names[slot] for slot in listed]
        self._slots = dict(zip(self.names, range(len(listed)), strict=True))
        self._vectors.rows = index.vectors[slots]
        self._inverse_lengths.rows = index.inverse_lengths[slots]
        self._trust.rows = index.trust[slots]
        self._alive.rows = np.ones(len(listed), np.bool_)
        self._background = index.background
        self.ngrams = _Compared([plain[slot] for slot in listed], alike)
        self.others = others

    def believed(self, trust: list[float]) -> Shortlist:
        """Return the list itself, its vectors trusted as far as told, (c,)."""
        self._trust.rows = np.array(trust, np.float32)
        return self


class _Compared(NgramIndex):
    """Strings of which it is known how many n-grams they share with the one query."""

    def __init__(self, strings: list[str], alike: NDArray[np.float32] | None) -> None:
        super().__init__(strings)
        self._alike = alike

    def similarities(self, query: str) -> NDArray[np.float32]:
        return super().similarities(query) if self._alike is None else self._alike.copy()
