"""The keys nearest to a query, found by an engine that is kept up to date with the keys."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Self

import numpy as np

from fuzzydict.errors import MissingExtraError
from fuzzydict.search.backends import ENGINES, EXACT
from fuzzydict.search.score import COSINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fuzzydict.search.backends.base import Index
    from fuzzydict.search.keys import Keys


_BLOCK = 1 << 16  # vectors that an engine is given at a time, to save memory


class Neighbours:
    """An engine, and the label in it of each slot of the keys.

    The engine is brought up to date when it is asked, in one batch.

    Args:
        engine: the name of an engine.
        measure: `COSINE` or `DOT`.
    """

    def __init__(self, engine: str, measure: str) -> None:
        self.engine, self.measure = engine, measure
        self._generation: object = None  # of the keys whose slots are known
        self._told: Keys | None = None  # the keys that the engine has
        self._forget()

    def _forget(self) -> None:
        self._index: Index | None = None
        self._labels = np.zeros(0, np.int64)  # of each slot that the engine was told of, rising
        self._alive = np.zeros(0, np.bool_)  # which of these slots the engine has
        self._unused = 0  # the least label that was never used
        self._read_saved: Callable[[], NDArray[np.uint8]] | None = None

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._index = copy(self._index)
        return new

    def update(self, keys: Keys) -> Index:
        """Bring the engine up to date with the keys, and return it."""
        if self._index is not None and self._told is keys:
            return self._index
        if self._generation is not keys.generation:
            if self._generation is not None:  # the slots are numbered anew
                self._forget()
            self._generation = keys.generation
        index = self._made(keys) if self._index is None else self._index
        self._index = None  # and it stays so if what follows is interrupted
        told = len(self._labels)
        gone = np.flatnonzero(self._alive & ~keys.alive[:told])
        if len(gone):
            index.remove(self._labels[gone])
        fresh = np.arange(self._unused, self._unused + len(keys) - told)
        labels = np.concatenate([self._labels, fresh])
        for some, vectors in self._blocks(keys, labels, told, keys.alive):
            index.add(some, vectors)
        self._labels, self._unused = labels, self._unused + len(fresh)
        self._alive, self._told, self._index = keys.alive.copy(), keys, index
        return index

    def _made(self, keys: Keys) -> Index:
        """Return the engine that was saved, if it fits these keys, or an empty one."""
        index = ENGINES[self.engine](self.measure == COSINE)
        if self._read_saved is not None:
            blocks = self._blocks(keys, self._labels, 0, self._alive)
            is_restored = index.restore(self._read_saved(), blocks, keys.vectors.shape[1])
            self._read_saved = None
            if is_restored:
                return index
        self._labels, self._alive, self._unused = self._labels[:0], self._alive[:0], 0
        return index

    def _blocks(
        self,
        keys: Keys,
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

    def near(self, keys: Keys, queries: NDArray[np.float32], count: int) -> list[NDArray[np.intp]]:
        """Return the slots of the ``count`` keys nearest to each query (L, E), nearest first.

        There are fewer only if the keys are.
        """
        index = self.update(keys)
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
        self, keys: Keys, asked: NDArray[np.float32], count: int
    ) -> NDArray[np.int64]:
        """Compare all keys, if the engine returned too few."""
        exact = ENGINES[EXACT]()
        for labels, vectors in self._blocks(keys, self._labels, 0, keys.alive):
            exact.add(labels, vectors)
        return exact.search(asked, count)

    # ---- files ----------------------------------------------------------------------------

    def save(self, keys: Keys) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return what the engine saves, if there is anything, and ``labels``, (S + 1,).

        ``labels``: one for each living key, then the first unused label.
        """
        is_of_keys = self._generation is keys.generation and np.array_equal(self._alive, keys.alive)
        if self._read_saved is not None and is_of_keys:  # it was not asked since it was saved
            return self._read_saved(), np.append(self._labels[keys.alive], self._unused)
        nothing = np.zeros(0, np.uint8), np.zeros(0, np.int64)
        if self._index is None and self._read_saved is None:
            return nothing
        try:
            saved = self.update(keys).save()
        except MissingExtraError:  # what another machine saved cannot be brought up to date here
            return nothing
        return saved, np.append(self._labels[keys.alive], self._unused)

    def restore(
        self,
        generation: object,
        read_saved: Callable[[], NDArray[np.uint8]],
        labels: NDArray[np.int64],
    ) -> None:
        """Keep what `save` returned for keys of this generation until the engine is asked.

        Args:
            generation: of the keys.
            read_saved: returns what the engine saved.
            labels: as saved.
        """
        self._read_saved, self._labels, self._unused = read_saved, labels[:-1], int(labels[-1])
        self._generation, self._alive = generation, np.ones(len(labels) - 1, np.bool_)
