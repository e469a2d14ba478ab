"""What an engine does, which finds the vectors with the largest inner products."""

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
        """Return one; ``are_units`` tells whether its vectors will have the length 1, or 0."""


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

        No number of a query is beyond 1 either way, and one of them should be near it. Each row
        has the best first, and -1 where no more were found.
        """

    def save(self) -> NDArray[np.uint8]:
        """Return what spares the work of adding the same vectors again; empty if nothing does."""

    def restore(self, saved: NDArray[np.uint8], blocks: Blocks, size: int) -> bool:
        """Become, while empty, what was saved with the vectors of this size that come in blocks.

        Return False, and stay empty, where that cannot be, whatever the bytes are: the vectors
        are to be added then.
        """
