"""The vectors of a dict's keys in its file: large ones stay there until they are needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._files import refusing
from fuzzydict.embedding.encoder import require_same
from fuzzydict.errors import FileFormatError
from fuzzydict.graph_saving import restore_graph
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from fuzzydict._files import Unchecked
    from fuzzydict.graph_saving import Graph
    from fuzzydict.search.key_index import KeyIndex

__all__ = ["SavedKeys"]

_LITTLE = 1 << 26  # bytes of vectors that are read at once: as much as takes milliseconds


class SavedKeys:
    """The keys of a dict that have vectors, S of them, in a file that is mapped.

    Args:
        path: of the file.
        keys: all keys of the dict, in order.
        embedding: the fingerprint of what gave the vectors.
        vectors: (S, E).
        trust: (S,).
        graph: what finds keys near a query, if that was made.

    Raises:
        ValueError: these are not vectors and trust of one dict.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        keys: Collection[Any],
        embedding: dict[str, Any],
        vectors: Unchecked,
        trust: NDArray[np.float32],
        graph: Graph | None,
    ) -> None:
        self._path, self._keys, self._embedding = path, keys, embedding
        self._vectors, self._trust, self._graph = vectors, np.array(trust), graph
        # Windows replaces no file that is mapped.
        self._at_once = vectors.array.nbytes <= _LITTLE or os.name == "nt"
        shape = vectors.array.shape
        if len(shape) != 2 or trust.shape != shape[:1]:
            raise ValueError(f"it has trust of shape {trust.shape} in vectors of shape {shape}")
        if vectors.array.dtype != np.float32:
            raise ValueError("its vectors are not numbers of 32 bits")
        if graph is not None and graph.labels.shape != (shape[0] + 1,):
            raise ValueError("its graph has not one label for each of its vectors")
        _require_finite("trust", trust)
        if len(trust) and not 0 <= trust.min() <= trust.max() <= 1:
            raise ValueError("its trust is not from 0 to 1")

    def restore(self, index: KeyIndex, engine: str) -> None:
        """Fill an empty index: at once if the vectors are few, else when they are needed.

        Vectors that are left in the file are checked by then, and come into memory page by page.

        Raises:
            OptionError: the index has another embedding; the message names both.
            FileFormatError: the vectors are of another length, or, if they are few, damaged.
        """
        require_same(self._embedding, index.embedding)
        first = next((key for key in self._keys if isinstance(key, str) and plain(key)), None)
        found = self._vectors.array.shape[1]
        size = found if first is None else index.embedding.encode([first]).shape[1]
        if found != size:
            raise FileFormatError(
                f"{self._path} is damaged: it has vectors of {found}, and its embedding gives "
                f"vectors of {size}; restore it from a copy"
            )
        index.defer(lambda index: self._fill(index, engine))
        if self._at_once:
            index.sync()

    def _fill(self, index: KeyIndex, engine: str) -> None:
        with refusing(self._path):
            vectors = self._checked_vectors()
            _require_finite("vectors", vectors)
            if self._graph is not None:
                restore_graph(index, engine, self._graph)
            # A copy, where that is cheap, for what is mapped from a file may change with it.
            kept = np.array(vectors) if self._at_once else vectors
            index.restore(self._keys, kept, self._trust)

    def _checked_vectors(self) -> NDArray[Any]:
        try:
            return self._vectors.checked()
        except FileFormatError as error:
            if self._at_once:
                raise
            raise FileFormatError(
                f"{error}: its items are whole, so that FuzzyDict(dict(d)) can be saved"
            ) from error


def _require_finite(name: str, array: NDArray[Any]) -> None:
    # The least and the largest number are NaN where any is.
    extremes = (array.min(), array.max()) if array.size else ()
    if array.dtype != np.float32 or not np.isfinite(extremes).all():
        raise ValueError(f"its {name} are not finite numbers of 32 bits")
