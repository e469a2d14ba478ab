"""The largest inner products by a graph of near neighbours, made by usearch (extra ``usearch``)."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fuzzydict.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fuzzydict.search.backends.base import Blocks


_MATRIX, _HEAD, _COUNTS = 8, 64, 40  # bytes
_MINOR, _HELD = slice(9, 13), slice(17, 33)  # bytes of the head: all but the major version; counts
_SIZE = slice(33, 41)
_BLOCK = 1 << 16  # nodes checked at a time


def without_vectors(graph: bytes | bytearray) -> NDArray[np.uint8]:
    """Return the bytes of a graph from its head on."""
    data = np.frombuffer(graph, np.uint8)
    rows, bytes_a_row = data[:_MATRIX].view(np.uint32).tolist()
    return data[_MATRIX + rows * bytes_a_row :]


def with_vectors(
    head: NDArray[np.uint8],
    like: NDArray[np.uint8],
    blocks: Iterable[tuple[NDArray[np.int64], NDArray[Any]]],
    number: type[np.generic],
) -> bytes | None:
    """Return the bytes of a graph with the vectors of its labels, which come in blocks.

    Return None unless the bytes have the format above and hold a graph with exactly these labels,
    vectors of this size, and the settings of the empty graph ``like``.
    """
    nodes = _nodes(head, like)
    if nodes is None or _held(head).tolist() != [len(nodes), 0]:
        return None
    order = np.argsort(nodes)
    matrix, given = np.zeros((len(nodes), _size(like)), number), np.zeros(len(nodes), np.bool_)
    for labels, vectors in blocks:
        at = order.take(np.searchsorted(nodes, labels, sorter=order), mode="clip")
        if not np.array_equal(nodes[at], labels) or given[at].any():
            return None
        matrix[at], given[at] = vectors, True
    if not given.all():
        return None
    shape = np.array([len(nodes), matrix.itemsize * matrix.shape[1]], np.uint32)
    return b"".join([shape.tobytes(), matrix.tobytes(), head.tobytes()])


def _nodes(head: NDArray[np.uint8], like: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Return the label of each node, (n,), or None if a link leads outside the graph."""
    if len(head) < _HEAD + _COUNTS or not np.array_equal(_made(head), _made(like)):
        return None
    count, many, most, top, entry = _counts(head)
    start = _HEAD + _COUNTS + 2 * count
    if [many, most] != _counts(like)[1:3] or start > len(head) or entry >= count:
        return None
    layers = np.frombuffer(head[_HEAD + _COUNTS : start].tobytes(), np.int16)
    if layers.min() < 0 or layers.max() != top or layers[entry] != top:
        return None
    first, other = 4 + 4 * most, 4 + 4 * many  # bytes of the lowest layer, and of each other
    ends = start + np.cumsum(10 + first + layers.astype(np.int64) * other)
    if ends[-1] != len(head):
        return None
    starts = ends - (10 + first + layers.astype(np.int64) * other)
    if not (_gathered(head, starts + 8, 2).view(np.int16)[:, 0] == layers).all():
        return None
    for layer in range(top + 1):
        nodes = np.flatnonzero(layers >= layer)
        at = starts[nodes] + 10 + (first + (layer - 1) * other if layer else 0)
        if not _inside(head, at, many if layer else most, layers >= layer):
            return None
    return _gathered(head, starts, 8).view(np.int64)[:, 0]


def _inside(
    head: NDArray[np.uint8], starts: NDArray[np.int64], most: int, there: NDArray[np.bool_]
) -> bool:
    """Tell whether neighbours, at most so many from each start on, are all ``there``, (n,)."""
    for block in range(0, len(starts), _BLOCK):
        numbers = _gathered(head, starts[block : block + _BLOCK], 4 + 4 * most).view(np.uint32)
        counts, neighbours = numbers[:, 0], numbers[:, 1:]
        if (counts > most).any():
            return False
        followed = neighbours[np.arange(most) < counts[:, None]]
        if (followed >= len(there)).any() or not there[followed].all():
            return False
    return True


def _gathered(head: NDArray[np.uint8], starts: NDArray[np.int64], length: int) -> NDArray[np.uint8]:
    """Return so many bytes from each start on, (n, length)."""
    windows = np.lib.stride_tricks.sliding_window_view(head, length)
    return np.ascontiguousarray(windows[starts])


def _made(head: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return what the head tells of how a graph was made, not of what it holds."""
    told = head[:_HEAD].copy()
    told[_MINOR] = told[_HELD] = 0
    return told


def _held(head: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.frombuffer(head[_HELD].tobytes(), np.uint64)


def _counts(head: NDArray[np.uint8]) -> list[int]:
    told = np.frombuffer(head[_HEAD : _HEAD + _COUNTS].tobytes(), np.uint64)
    return [int(number) for number in told]


def _size(head: NDArray[np.uint8]) -> int:
    return int.from_bytes(head[_SIZE].tobytes(), "little")


_CONNECTIVITY = 16  # neighbours of a vector; twice as many in the lowest layer
_WIDTH_OF_ADD, _WIDTH_OF_SEARCH = 256, 256  # candidates kept; see docs/benchmarks/speed.md
_FEW = 4096  # vectors that are all compared with a query, for a walk compares it with as many
_IN_TURN = 4096  # vectors that one thread adds: threads that begin a graph lose more on the way
_LARGEST = {np.int8: 127.0, np.float16: 6e4}  # number that a graph keeps
_LEAST = 1e-37  # length by which 32 bits can be divided
_threads = os.cpu_count() or 1


def use_threads(count: int) -> None:
    """Add vectors by this many threads from now on; by default there are as many as cores."""
    global _threads
    _threads = count


class UsearchIndex:
    """A graph that is walked towards the query, so that few vectors are compared with it.

    (Y. Malkov, D. Yashunin, 2018, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs".) The walk nearly always finds the largest
    products. Up to 4,096 vectors are all compared. A walk would compare as many, and could see only
    equal ones.

    Vectors of different lengths make poor graphs by their products, because the longest are
    everybody's neighbours. So each vector gets one extra number that makes it as long as the
    longest of the first batch. For queries it is 0, so products do not change. (Y. Bachrach et
    al., 2014, "Speeding up the Xbox recommender system using a Euclidean transformation for
    inner-product spaces".) The graph keeps numbers of 16 bits, or of 8 if all vectors are equally
    long anyway: a walk waits for memory, and the fewer bytes it reads, the sooner it ends.

    A removed vector stays as a stepping stone, and results skip it. (usearch does not always find
    places that it reuses.) Make a new index once most vectors are removed.

    See `base.Index` for what an engine does.

    Args:
        are_units: whether the vectors have the length 1, but for zero vectors.

    Raises:
        MissingExtraError: usearch is not installed.
    """

    def __init__(self, are_units: bool = False) -> None:
        self._usearch = _usearch()
        self._are_units = are_units
        self._number: type[np.int8 | np.float16] = np.int8 if are_units else np.float16
        self._graph: Any = None  # made when the size of the vectors is known
        self._gone = np.zeros(0, np.int64)  # labels, rising
        self._longest: float | None = None  # of the first vectors that came

    def __len__(self) -> int:
        return 0 if self._graph is None else len(self._graph) - len(self._gone)

    def __copy__(self) -> Self:
        new = type(self)(self._are_units)
        new._longest, new._gone = self._longest, self._gone
        new._graph = None if self._graph is None else self._graph.copy()
        return new

    def add(self, labels: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors to the graph, all but its first ones by several threads: see `use_threads`.

        Vectors added at the same time may not be linked to each other, so two graphs of the same
        vectors can differ.
        """
        if not len(labels):
            return
        if self._graph is None:
            self._graph = self._empty(vectors.shape[1])
        points, few = self._points(vectors), max(_IN_TURN - len(self._graph), 0)
        many = _threads if len(points) - few > _IN_TURN else 1
        for part, threads in ((slice(few), 1), (slice(few, None), many)):
            if len(points[part]):
                self._graph.add(labels[part].astype(np.uint64), points[part], threads=threads)

    def remove(self, labels: NDArray[np.int64]) -> None:
        """Note that vectors are gone."""
        self._gone = np.union1d(self._gone, labels)

    def search(self, queries: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the labels of nearly always the largest products."""
        found = np.full((len(queries), count), -1, np.int64)
        wanted = min(count, len(self))
        if not wanted or not len(queries):
            return found
        asked = 2 * wanted  # a walk as wide as what is wanted misses some, and some may be gone
        points = self._kept(np.hstack([queries, np.zeros((len(queries), 1), np.float32)]))
        while True:
            labels = self._walked(points, asked)
            there = labels >= 0
            if len(self._gone):
                there &= ~np.isin(labels, self._gone)
            if asked >= len(self._graph) or there.sum(axis=1).min() >= wanted:
                break
            asked = min(2 * asked, len(self._graph))
        for row, some, are in zip(found, labels, there, strict=True):
            best = some[are][:wanted]
            row[: len(best)] = best
        return found

    def _walked(self, points: NDArray[Any], count: int) -> NDArray[np.int64]:
        """Return the labels that walks arrive at, (L, count), gone or not; -1 where no more are."""
        are_few = len(self._graph) <= _FEW
        matches = self._graph.search(points, count, threads=1, exact=are_few)
        keys = np.atleast_2d(matches.keys.astype(np.int64))
        # Of one query there are the keys that were found; of several, room for all.
        counts = matches.counts if len(points) > 1 else np.array([keys.shape[1]])
        keys[np.arange(keys.shape[1]) >= counts[:, None]] = -1
        return keys

    def save(self) -> NDArray[np.uint8]:
        """Return the links and the removed vectors. Living vectors are not saved here."""
        if self._graph is None:
            return np.zeros(0, np.uint8)
        gone = self._graph.get(self._gone.astype(np.uint64)) if len(self._gone) else ()
        vectors = np.array(gone, self._number)
        count = np.array([len(gone)], np.int64)
        parts = count, self._gone, vectors, without_vectors(self._graph.save())
        return np.concatenate([np.frombuffer(part.tobytes(), np.uint8) for part in parts])

    def restore(self, saved: NDArray[np.uint8], blocks: Blocks, size: int) -> bool:
        """Take neighbours from what `save` returned, if it holds those of these vectors."""
        told = _gone(saved, size + 1, self._number)
        if told is None:
            return False
        gone, vectors, rest = told
        points = ((labels, self._points(some)) for labels, some in blocks)
        graph = self._empty(size)
        like = without_vectors(graph.save())
        whole = with_vectors(rest, like, chain([(gone, vectors)], points), self._number)
        if whole is None:
            return False
        try:
            graph.load(whole)
        except (RuntimeError, ValueError):  # it is of a version that this one does not read
            return False
        graph.expansion_add, graph.expansion_search = _WIDTH_OF_ADD, _WIDTH_OF_SEARCH
        self._graph, self._gone = graph, gone
        return True

    def _points(self, vectors: NDArray[np.float32]) -> NDArray[Any]:
        """Return vectors (n, E) with one number more, (n, E + 1), that makes them equally long."""
        if self._longest is None:
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
            longest = float(lengths.max(initial=0))
            self._longest = max(longest, _LEAST) if longest else 1.0
        points = np.empty((len(vectors), vectors.shape[1] + 1), np.float32)
        with np.errstate(over="ignore"):
            np.divide(vectors, self._longest, out=points[:, :-1])
            squares = np.einsum("ne,ne->n", points[:, :-1], points[:, :-1])
        points[:, -1] = np.sqrt(np.maximum(1 - squares, 0))
        return self._kept(points)

    def _kept(self, points: NDArray[np.float32]) -> NDArray[Any]:
        """Return numbers as the graph keeps them; those of units are between -1 and 1."""
        largest = _LARGEST[self._number]
        if self._are_units:
            points = np.rint(points * np.float32(largest))
        return np.clip(points, -largest, largest).astype(self._number)

    def _empty(self, size: int) -> Any:
        return self._usearch.Index(
            ndim=size + 1,
            metric="ip",
            dtype="i8" if self._are_units else "f16",
            connectivity=_CONNECTIVITY,
            expansion_add=_WIDTH_OF_ADD,
            expansion_search=_WIDTH_OF_SEARCH,
        )


def _gone(
    saved: NDArray[np.uint8], size: int, number: type[np.int8 | np.float16]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.uint8]] | None:
    """Return labels and vectors that were gone, (g,) and (g, E), and the rest of what was saved."""
    if len(saved) < 8:
        return None
    count = int(saved[:8].view(np.int64)[0])
    end = 8 + 8 * count
    rest = end + np.dtype(number).itemsize * size * count
    if count < 0 or rest > len(saved):
        return None
    vectors = saved[end:rest].view(number).reshape(count, size)
    labels = saved[8:end].view(np.int64)
    is_sound = (np.diff(labels) > 0).all() and np.isfinite(vectors).all()
    return (labels, vectors, saved[rest:]) if is_sound else None


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError as error:
        raise MissingExtraError(
            "index='usearch' needs usearch, which is not installed; install it with: "
            "pip install usearch, or set the dict's index to 'exact'"
        ) from error
    return index
