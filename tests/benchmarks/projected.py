"""Word vectors seen through projections that are the same for queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict import WordVectors
from fuzzydict.embedding.projections import Projections

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Projected"]


class Projected(WordVectors):
    """Word vectors whose texts are projected as keys are."""

    def __init__(self, vectors: WordVectors, projections: Projections) -> None:
        self.vocabulary, self._matrix = vectors.vocabulary, vectors._matrix
        self._projections = projections

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the projected vector of each text, (n, r)."""
        plain = super().encode(texts)
        return self._projections.project_keys(plain, texts).astype(np.float32, copy=False)
