"""The largest inner products by a graph of near neighbours, made by usearch (extra ``usearch``)."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fuzzydict.errors import MissingExtraError
from fuzzydict.graph_bytes import with_vectors, without_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.engines import Blocks

__all__ = ["UsearchIndex"]

_CONNECTIVITY = 16  # neighbours of a vector; twice as many in the lowest layer
_WIDTH_OF_ADD, _WIDTH_OF_SEARCH = 128, 384  # candidates kept on the way
_IN_TURN = 4096  # vectors at most that one thread adds, so that a small graph is always the same
_LARGEST = 6e4  # number of 16 bits
_OF_LONGEST = 8  # bytes of the longest length, before those of the graph


class UsearchIndex:
    """A graph that is walked towards the query, so that few vectors are compared with it.

    (Y. Malkov, D. Yashunin, 2018, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs".) The walk finds nearly always what is largest.

    Vectors of different lengths make poor graphs by their products, for the longest are everybody's
    neighbours. So each gets one number more, which makes all of them as long as the longest of the
    first that are added; that of queries is 0, so that the products with them stay the same (Y.
    Bachrach et al., 2014, "Speeding up the Xbox recommender system using a Euclidean
    transformation for inner-product spaces"). The graph keeps numbers of 16 bits.

    See `engines.Index` for what an engine does.

    Raises:
        MissingExtraError: usearch is not installed.
    """

    def __init__(self) -> None:
        self._usearch = _usearch()
        self._graph: Any = None  # made when the size of the vectors is known
        self._longest = 1.0

    def __len__(self) -> int:
        return 0 if self._graph is None else len(self._graph)

    def __copy__(self) -> Self:
        new = type(self)()
        new._longest = self._longest
        if self._graph is not None:
            new._graph = copy(self._graph)
            new._graph.expansion_search = _WIDTH_OF_SEARCH
        return new

    def add(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors to the graph; of many at a time, by as many threads as there are cores."""
        if self._graph is None:
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
            self._longest = float(lengths.max(initial=0)) or 1.0
            self._graph = self._empty(vectors.shape[1])
        threads = 1 if len(vectors) <= _IN_TURN else 0
        self._graph.add(labels.astype(np.uint64), self._points(vectors), threads=threads)

    def remove(self, labels: NDArray[np.int64]) -> None:
        """Mark vectors as gone; their places are used again."""
        if len(labels):
            self._graph.remove(labels.astype(np.uint64))

    def search(self, queries: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the labels of nearly always the largest products."""
        found = np.full((len(queries), count), -1, np.int64)
        if not len(self) or not len(queries):
            return found
        points = np.zeros((len(queries), queries.shape[1] + 1), np.float32)
        points[:, :-1] = queries
        matches = self._graph.search(points, count, threads=1)
        keys = np.atleast_2d(matches.keys.astype(np.int64))
        # Of one query there are the keys that were found; of several, room for all.
        counts = matches.counts if len(queries) > 1 else np.array([keys.shape[1]])
        there = np.arange(keys.shape[1]) < counts[:, None]
        found[:, : keys.shape[1]][there] = keys[there]
        return found

    def save(self) -> NDArray[np.uint8]:
        """Return the longest length, and who is whose neighbour; not the vectors."""
        if self._graph is None:
            return np.zeros(0, np.uint8)
        longest = np.frombuffer(np.float64(self._longest).tobytes(), np.uint8)
        return np.concatenate([longest, without_vectors(self._graph.save())])

    def restore(self, saved: NDArray[np.uint8], blocks: Blocks) -> bool:
        """Take neighbours from what `save` returned, if it holds those of these vectors."""
        longest, rest = saved[:_OF_LONGEST], saved[_OF_LONGEST:]
        if len(longest) < _OF_LONGEST or not 0 < float(longest.view(np.float64)[0]) < np.inf:
            return False
        self._longest = float(longest.view(np.float64)[0])
        halves = ((labels, self._points(some).astype(np.float16)) for labels, some in blocks)
        whole = with_vectors(rest, halves, _CONNECTIVITY)
        if whole is None:
            return False
        graph = self._empty(whole.size - 1)
        try:
            graph.load(whole.data)
        except (RuntimeError, ValueError):  # it is of a version that this one does not read
            return False
        graph.expansion_add, graph.expansion_search = _WIDTH_OF_ADD, _WIDTH_OF_SEARCH
        self._graph = graph
        return True

    def _points(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return vectors (n, E) with one number more, (n, E + 1), that makes them equally long."""
        points = np.empty((len(vectors), vectors.shape[1] + 1), np.float32)
        with np.errstate(over="ignore"):
            np.divide(vectors, self._longest, out=points[:, :-1])
        np.clip(points[:, :-1], -_LARGEST, _LARGEST, out=points[:, :-1])
        squares = np.einsum("ne,ne->n", points[:, :-1], points[:, :-1])
        points[:, -1] = np.sqrt(np.maximum(1 - squares, 0))
        return points

    def _empty(self, size: int) -> Any:
        return self._usearch.Index(
            ndim=size + 1,
            metric="ip",
            dtype="f16",
            connectivity=_CONNECTIVITY,
            expansion_add=_WIDTH_OF_ADD,
            expansion_search=_WIDTH_OF_SEARCH,
        )


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError as error:
        raise MissingExtraError(
            "index='usearch' needs usearch, which is not installed; install it with: "
            "pip install 'fuzzydict[usearch]', or set d.index = 'exact'"
        ) from error
    return index
