"""The largest inner products by brute force: one product with all vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.search.backends.base import Blocks


class ExactIndex:
    """Vectors as the rows of one matrix: what every other engine is measured against.

    See `base.Index` for what an engine does.

    >>> index = ExactIndex()
    >>> index.add(np.array([7, 8]), np.array([[1.0, 0.0], [0.0, 2.0]], np.float32))
    >>> index.search(np.array([[1.0, 1.0]], np.float32), 3).tolist()
    [[8, 7, -1]]
    """

    def __init__(self, are_units: bool = False) -> None:  # noqa: ARG002
        self._labels = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._labels)

    def __copy__(self) -> Self:
        new = type(self)()
        new._labels, new._vectors = self._labels, self._vectors  # which are never written to
        return new

    def add(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add rows to the matrix."""
        if not len(self):
            self._labels, self._vectors = labels.copy(), vectors.copy()
            return
        self._labels = np.concatenate([self._labels, labels])
        self._vectors = np.concatenate([self._vectors, vectors])

    def remove(self, labels: NDArray[np.int64]) -> None:
        """Take rows out of the matrix."""
        kept = ~np.isin(self._labels, labels)
        self._labels, self._vectors = self._labels[kept], self._vectors[kept]

    def search(self, queries: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the labels of the largest products; of equals those added first."""
        found = np.full((len(queries), count), -1, np.int64)
        some = min(count, len(self))
        for row, query in zip(found, queries, strict=True) if some else ():
            with np.errstate(over="ignore"):
                products = self._vectors @ query
            least = np.partition(products, -some)[-some]
            places = np.flatnonzero(products >= least)
            best = places[np.argsort(-products[places], kind="stable")]
            row[:some] = self._labels[best[:some]]
        return found

    def save(self) -> NDArray[np.uint8]:
        """Return no bytes: building the matrix is as fast as reading it."""
        return np.zeros(0, np.uint8)

    def restore(self, saved: NDArray[np.uint8], blocks: Blocks, size: int) -> bool:  # noqa: ARG002
        """Return False: the caller adds the vectors."""
        return False
