"""Which keys of an index lie near a query, by an engine that is told what was written."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from fuzzydict.errors import MissingExtraError
from fuzzydict.search.backends.base import ENGINES, EXACT
from fuzzydict.search.key_index import Shortlist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fuzzydict.search.backends.base import Index
    from fuzzydict.search.key_index import KeyIndex

__all__ = ["COSINE", "DOT", "Neighbours", "Sample", "neighbours_of"]

#: What may be the largest: the cosine with a key's vector, or the dot product.
COSINE, DOT = "cosine", "dot"

_BLOCK = 1 << 16  # vectors that an engine is given at a time, so that little memory is taken
_SAMPLE = 4096  # keys that stand for those that were not found


class Sample(NamedTuple):
    """Some keys that stand for all of an index."""

    slots: NDArray[np.intp]  # rising
    keys: Shortlist


class Neighbours:
    """An engine, and which of its labels stands for which slot of a `KeyIndex`.

    Writes only note what changed; the engine is told in one batch when it is asked.

    Args:
        engine: the name of one.
        measure: `COSINE` or `DOT`.
    """

    def __init__(self, engine: str, measure: str) -> None:
        self.engine, self.measure = engine, measure
        self.renumber()

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._index, new._gone = copy(self._index), self._gone.copy()
        return new

    # ---- writes ---------------------------------------------------------------------------

    def renumber(self) -> None:
        """Forget all, for slots have other numbers now: most were dead, and let go."""
        self._index: Index | None = None
        self._labels = np.zeros(0, np.int64)  # of each slot that the engine was told of, rising
        self._unused = 0  # the least label that was never used
        self._gone: list[int] = []  # labels of keys that were removed
        self._sample: Sample | None = None
        self._saved: NDArray[np.uint8] | None = None

    def forget(self, slot: int) -> None:
        """Note that a slot is dead."""
        self._sample = None
        if slot < len(self._labels):
            self._gone.append(int(self._labels[slot]))

    def tell(self, keys: KeyIndex) -> Index:
        """Bring the engine up to date with the keys, and return it."""
        if self._index is not None and not self._gone and len(self._labels) == len(keys):
            return self._index
        index = self._made(keys) if self._index is None else self._index
        self._index = None  # and none it is if what follows is broken off
        if self._gone:
            index.remove(np.array(self._gone, np.int64))
        told = len(self._labels)
        fresh = np.arange(self._unused, self._unused + len(keys) - told)
        all_labels = np.concatenate([self._labels, fresh])
        for labels, vectors in self._blocks(keys, all_labels, told, keys.alive):
            index.add(labels, vectors)
        self._labels, self._unused = all_labels, self._unused + len(fresh)
        self._gone, self._sample = [], None
        self._index = index
        return index

    def _made(self, keys: KeyIndex) -> Index:
        """Return the engine that was saved, if it is one of these keys, or an empty one."""
        index = ENGINES[self.engine](self.measure == COSINE)
        saved, self._saved = self._saved, None
        if saved is not None:
            told = np.ones(len(self._labels), np.bool_)  # those that died since as well
            blocks = self._blocks(keys, self._labels, 0, told)
            if index.restore(saved, blocks, keys.vectors.shape[1]):
                return index
        self._labels, self._unused, self._gone = np.zeros(0, np.int64), 0, []
        return index

    def _blocks(
        self,
        keys: KeyIndex,
        labels: NDArray[np.int64],
        start: int,
        wanted: NDArray[np.bool_],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield labels and vectors of the wanted slots from ``start`` on, as they are measured."""
        for first in range(start, len(wanted), _BLOCK):
            slots = first + np.flatnonzero(wanted[first : first + _BLOCK])
            if len(slots):
                vectors = keys.vectors[slots]
                if self.measure == COSINE:
                    vectors *= keys.inverse_lengths[slots, None]
                yield labels[slots], vectors

    # ---- reads ----------------------------------------------------------------------------

    def near(
        self, keys: KeyIndex, queries: NDArray[np.float32], count: int
    ) -> list[NDArray[np.intp]]:
        """Return the slots of the ``count`` keys nearest to each query (L, E), nearest first.

        There are fewer only if the keys are.
        """
        index = self.tell(keys)
        # Their lengths decide nothing, and products of large numbers may be beyond 32 bits.
        largest = np.abs(queries).max(axis=1, initial=0, keepdims=True)
        asked = np.divide(queries, np.where(largest > 0, largest, 1), dtype=np.float32)
        found = index.search(asked, count)
        if len(found) and (found >= 0).sum(axis=1).min() < min(count, keys.count):
            found = self._compared_with_all(keys, asked, count)
        return [self._slots(row[row >= 0]) for row in found]

    def _slots(self, labels: NDArray[np.int64]) -> NDArray[np.intp]:
        if self._unused == len(self._labels):  # none was left out: label and slot are the same
            return labels.astype(np.intp, copy=False)
        return np.searchsorted(self._labels, labels)

    def _compared_with_all(
        self, keys: KeyIndex, asked: NDArray[np.float32], count: int
    ) -> NDArray[np.int64]:
        """Do what an engine should have done that did not find so many as there are."""
        exact = ENGINES[EXACT]()
        for labels, vectors in self._blocks(keys, self._labels, 0, keys.alive):
            exact.add(labels, vectors)
        return exact.search(asked, count)

    def sample(self, keys: KeyIndex) -> Sample:
        """Return some keys, drawn at random but always the same of the same; all if they are few.

        Ask `near` first.
        """
        if self._sample is None:
            alive = np.flatnonzero(keys.alive)
            if len(alive) > _SAMPLE:
                places = np.random.default_rng(0).choice(
                    len(alive), _SAMPLE, replace=False, shuffle=False
                )
                alive = np.sort(alive[places])
            self._sample = Sample(alive, Shortlist(keys, alive))
        return self._sample

    # ---- files ----------------------------------------------------------------------------

    def save(self, keys: KeyIndex) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return what the engine saves, if it has anything to, and labels, (S + 1,).

        These are the label of each key, and the least that was never used.
        """
        unchanged = not self._gone and len(self._labels) == len(keys)
        if self._saved is not None and unchanged:  # not even asked yet
            return self._saved, np.append(self._labels, self._unused)
        nothing = np.zeros(0, np.uint8), np.zeros(0, np.int64)
        if self._index is None and self._saved is None:
            return nothing
        try:
            saved = self.tell(keys).save()
        except MissingExtraError:  # what was saved elsewhere cannot be brought up to date here
            return nothing
        return saved, np.append(self._labels[keys.alive], self._unused)

    def restore(self, saved: NDArray[np.uint8], labels: NDArray[np.int64]) -> None:
        """Keep what was saved until the engine is asked; ``labels`` are those that `save` told."""
        self._saved, self._labels, self._unused = saved, labels[:-1], int(labels[-1])


def neighbours_of(keys: KeyIndex, engine: str, measure: str) -> Neighbours:
    """Return what finds the keys of an index by this engine and measure; it has one at a time."""
    found = keys.neighbours
    if found is None or (found.engine, found.measure) != (engine, measure):
        found = keys.neighbours = Neighbours(engine, measure)
    return found
