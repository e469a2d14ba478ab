"""Few vectors of many numbers: learned from in the space that they span, where that is smaller."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.embedding.maps import Factors

if TYPE_CHECKING:
    from fuzzydict._arrays import Array
    from fuzzydict.learning.gradient_descent import Settings

__all__ = ["Span"]


class Span(NamedTuple):
    """The space of some vectors, (E, r) axes of length one; None is the whole space.

    What is learned from vectors by their products changes nothing outside the space that they
    span, and inside it is the same whatever the axes. So it is learned there, in less time.

    >>> span = Span.of(np.eye(3)[:1])
    >>> span.inside(np.array([[2.0, 0.0, 0.0]])).shape
    (1, 1)
    >>> span.outside(np.array([[3.0]])).round(6).tolist()
    [[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    axes: Array | None

    @classmethod
    def of(cls, *vectors: Array) -> Span:
        """Return the space of all the vectors, (n, E) each."""
        if 2 * sum(map(len, vectors)) > vectors[0].shape[1]:
            return cls(None)
        return cls(np.linalg.qr(np.concatenate(vectors).T)[0])

    def paced(self, settings: Settings) -> Settings:
        """Return settings by which steps are as long as they are in the whole space."""
        if self.axes is None:
            return settings
        size, inside = self.axes.shape
        return replace(settings, learning_rate=settings.learning_rate * (size / inside) ** 0.5)

    def inside(self, vectors: Array) -> Array:
        """Return vectors (..., E) by these axes, (..., r)."""
        return vectors if self.axes is None else vectors @ self.axes

    def outside(self, projection: Array | Factors | None) -> Any:
        """Return a projection (r, r) of these axes as one of the whole space, (E, E)."""
        if self.axes is None or projection is None:
            return projection
        if isinstance(projection, Factors):
            return Factors(*(self.axes @ part for part in projection))
        change = projection - np.eye(len(projection), dtype=projection.dtype)
        whole = np.eye(len(self.axes), dtype=projection.dtype)
        return whole + self.axes @ change @ self.axes.T
