"""The interface of an engine, which finds the vectors with the largest inner products."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


#: Labels (n,), rising, and their vectors (n, E), some at a time.
Blocks: TypeAlias = "Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]]"


class Engine(Protocol):
    """What makes an empty index."""

    def __call__(self, are_units: bool = False) -> Index:
        """Return an empty index. ``are_units``: every vector has length 1, or is zero."""


class Index(Protocol):
    """Vectors of one size by their labels, and those with the largest products with a query."""

    def __len__(self) -> int:
        """Return how many vectors there are."""

    def __copy__(self) -> Self:
        """Return an index of its own with the same vectors."""

    def add(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors, (n, E), with labels, (n,), of 0 or more that were never used before."""

    def remove(self, labels: NDArray[np.int64]) -> None:
        """Forget the vectors of labels that are there."""

    def search(self, queries: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the labels of the ``count`` largest products with queries (L, E), (L, count).

        Numbers of a query are between -1 and 1; the largest in size should be near 1. Each row has
        the best first, and -1 where no more were found.
        """

    def save(self) -> NDArray[np.uint8]:
        """Return bytes from which `restore` is faster than `add`; empty if there are none."""

    def restore(self, saved: NDArray[np.uint8], blocks: Blocks, size: int) -> bool:
        """Fill this empty index from saved bytes and from the vectors in ``blocks``.

        If that fails, for any bytes, stay empty and return False. The caller then adds the vectors.
        """
