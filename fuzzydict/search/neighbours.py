"""The keys nearest to a query by a graph of near keys, which usearch makes (extra ``usearch``)."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fuzzydict.errors import MissingExtraError, OptionError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from fuzzydict.search.keys import Keys


#: What ``index=`` takes: whether all keys are compared with a query, or those that a graph finds.
EXACT, GRAPH = "exact", "usearch"
#: What is largest for the nearest keys: the cosine of the vectors, or their dot product.
COSINE, DOT = "cosine", "dot"

_BLOCK = 1 << 16  # vectors, or nodes of a graph, that are looked at together, to save memory
_CONNECTIVITY = 16  # neighbours of a vector; twice as many in the lowest layer
_WIDTH = 256  # candidates kept, as vectors are added and sought; see docs/benchmarks/speed.md
_FEW = 4096  # vectors that are all compared with a query, for a walk compares it with as many
_IN_TURN = 4096  # vectors that one thread adds: threads that begin a graph lose more on the way
_LARGEST = {np.int8: 127.0, np.float16: 6e4}  # number that a graph keeps
_LEAST = 1e-37  # length by which 32 bits can be divided
_threads = os.cpu_count() or 1


def check_engine(name: Any) -> None:
    """Raise OptionError unless ``index=`` takes this."""
    if not isinstance(name, str) or name not in (EXACT, GRAPH):
        raise OptionError(f"index: expected one of {EXACT!r}, {GRAPH!r}, got {quoted(name)}")


def use_threads(count: int) -> None:
    """Add vectors by this many threads from now on; by default there are as many as cores."""
    global _threads
    _threads = count


class Neighbours:
    """A graph that is walked towards the query, so that few vectors are compared with it.

    (Y. Malkov, D. Yashunin, 2018, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs".) The walk nearly always finds the largest products.
    Up to 4,096 vectors are all compared: a walk would compare as many, and could see only equal
    ones.

    Vectors of different lengths make poor graphs by their products, because the longest are
    everybody's neighbours. So each vector gets one extra number that makes it as long as the
    longest of the first batch. For queries it is 0, so products do not change. (Y. Bachrach et
    al., 2014, "Speeding up the Xbox recommender system using a Euclidean transformation for
    inner-product spaces".) The graph keeps numbers of 16 bits, or of 8 if all vectors are equally
    long anyway: a walk waits for memory, and the fewer bytes it reads, the sooner it ends.

    The graph is brought up to date when it is asked, in one batch. What is removed stays as a
    stepping stone, and results skip it, until the slots of the keys are numbered anew. (usearch
    does not always find places that it reuses.)
    """

    def __init__(self, measure: str) -> None:
        self.measure = measure  # `COSINE` or `DOT`
        self._number: type[np.int8 | np.float16] = np.int8 if measure == COSINE else np.float16
        self._generation: object = None  # of the keys whose slots are known
        self._told: Keys | None = None  # the keys that the graph has
        self._forget()

    def _forget(self) -> None:
        self._graph: Any = None
        self._labels = np.zeros(0, np.int64)  # of each slot that the graph was told of, rising
        self._alive = np.zeros(0, np.bool_)  # which of these slots it has
        self._gone = np.zeros(0, np.int64)  # labels of what was removed, rising
        self._unused = 0  # the least label that was never used
        self._longest: float | None = None  # of the first vectors that came
        self._read_saved: Callable[[], NDArray[np.uint8]] | None = None

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._graph = None if self._graph is None else self._graph.copy()
        return new

    # ---- reads ----------------------------------------------------------------------------

    def near(self, keys: Keys, queries: NDArray[np.float32], count: int) -> list[NDArray[np.intp]]:
        """Return the slots of the ``count`` keys nearest to each query (L, E), nearest first.

        There are fewer only if the keys are.
        """
        self.update(keys)
        wanted, size = min(count, keys.count), len(self._graph)
        # Their lengths decide nothing, and products of large numbers may be beyond 32 bits.
        largest = np.abs(queries).max(axis=1, initial=0, keepdims=True)
        points = np.zeros((len(queries), queries.shape[1] + 1), np.float32)
        np.divide(queries, np.where(largest > 0, largest, 1), out=points[:, :-1])
        points = self._kept(points)
        asked = 2 * wanted  # a walk as wide as what is wanted misses some, and some may be gone
        while True:
            are_all = size <= _FEW or asked >= size  # what a walk does not reach is found, too
            matches = self._graph.search(points, asked, threads=1, exact=are_all)
            labels = np.atleast_2d(matches.keys.astype(np.int64))
            # Of one query there are the labels that were found; of several, room for all.
            counts = matches.counts if len(points) > 1 else np.array([labels.shape[1]])
            there = np.arange(labels.shape[1]) < counts[:, None]
            if len(self._gone):
                there &= ~np.isin(labels, self._gone)
            if asked >= size or there.sum(axis=1).min() >= wanted:
                break
            asked = min(2 * asked, size)
        found = zip(labels, there, strict=True)
        return [np.searchsorted(self._labels, row[are][:wanted]) for row, are in found]

    def update(self, keys: Keys) -> None:
        """Bring the graph up to date with the keys."""
        if self._graph is not None and self._told is keys:
            return
        if self._generation is not keys.generation:
            if self._generation is not None:  # the slots are numbered anew
                self._forget()
            self._generation = keys.generation
        graph = self._graph
        if graph is None and self._read_saved is not None:
            graph = self._restored(self._read_saved(), keys)
        if graph is None:
            self._forget()
            graph = self._empty(keys.vectors.shape[1] + 1)
        self._graph = self._read_saved = None  # and it stays so if what follows is interrupted
        told = len(self._labels)
        removed = self._labels[self._alive & ~keys.alive[:told]]
        fresh = np.arange(self._unused, self._unused + len(keys) - told)
        labels = np.concatenate([self._labels, fresh])
        for some, vectors in self._blocks(keys, labels, told, keys.alive):
            add(graph, some, vectors)
        self._gone = np.union1d(self._gone, removed)
        self._labels, self._unused = labels, self._unused + len(fresh)
        self._alive, self._told, self._graph = keys.alive.copy(), keys, graph

    def _blocks(
        self, keys: Keys, labels: NDArray[np.int64], start: int, wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Yield labels of the wanted slots from ``start`` on, and their vectors as points."""
        for first in range(start, len(wanted), _BLOCK):
            slots = first + np.flatnonzero(wanted[first : first + _BLOCK])
            if len(slots):
                vectors = keys.vectors[slots]
                if self.measure == COSINE:
                    vectors *= keys.inverse_lengths[slots, None]
                yield labels[slots], self._points(vectors)

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
        if self.measure == COSINE:
            points = np.rint(points * np.float32(largest))
        return np.clip(points, -largest, largest).astype(self._number)

    def _empty(self, size: int) -> Any:
        """Return a graph without vectors, which are to have so many numbers."""
        try:
            from usearch import index
        except ImportError as error:
            raise MissingExtraError(
                "index='usearch' needs usearch, which is not installed; install it with: "
                "pip install usearch, or set the dict's index to 'exact'"
            ) from error
        return index.Index(
            ndim=size,
            metric="ip",
            dtype="i8" if self.measure == COSINE else "f16",
            connectivity=_CONNECTIVITY,
            expansion_add=_WIDTH,
            expansion_search=_WIDTH,
        )

    # ---- files ----------------------------------------------------------------------------

    def save(self, keys: Keys) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the links and what was removed, if there is a graph, and labels, (S + 1,).

        There is a label for each living key, whose vector is saved elsewhere, and the first that
        is unused.
        """
        is_of_keys = self._generation is keys.generation and np.array_equal(self._alive, keys.alive)
        if self._read_saved is not None and is_of_keys:  # it was not asked since it was saved
            return self._read_saved(), np.append(self._labels[keys.alive], self._unused)
        nothing = np.zeros(0, np.uint8), np.zeros(0, np.int64)
        if not keys.count or (self._graph is None and self._read_saved is None):
            return nothing
        try:
            self.update(keys)
        except MissingExtraError:  # what another machine saved cannot be brought up to date here
            return nothing
        gone = self._graph.get(self._gone.astype(np.uint64)) if len(self._gone) else ()
        count, vectors = np.array([len(gone)], np.int64), np.array(gone, self._number)
        parts = count, self._gone, vectors, _without_vectors(self._graph.save())
        saved = np.concatenate([np.frombuffer(part.tobytes(), np.uint8) for part in parts])
        return saved, np.append(self._labels[keys.alive], self._unused)

    def restore(
        self,
        generation: object,
        read_saved: Callable[[], NDArray[np.uint8]],
        labels: NDArray[np.int64],
    ) -> None:
        """Keep what `save` returned for keys of this generation until the graph is asked."""
        self._read_saved, self._labels, self._unused = read_saved, labels[:-1], int(labels[-1])
        self._generation, self._alive = generation, np.ones(len(labels) - 1, np.bool_)

    def _restored(self, saved: NDArray[np.uint8], keys: Keys) -> Any:
        """Return the graph of saved bytes; None if these are not of the keys, or are damaged."""
        graph = self._empty(keys.vectors.shape[1] + 1)
        size, like = graph.ndim, _without_vectors(graph.save())
        count = int(saved[:8].view(np.int64)[0]) if len(saved) >= 8 else -1
        end = 8 + 8 * count
        rest = end + np.dtype(self._number).itemsize * size * count
        if count < 0 or rest > len(saved):
            return None
        gone, vectors = saved[8:end].view(np.int64), saved[end:rest].view(self._number)
        if not ((np.diff(gone) > 0).all() and np.isfinite(vectors).all()):
            return None
        blocks = self._blocks(keys, self._labels, 0, self._alive)
        points = chain([(gone, vectors.reshape(count, size))], blocks)
        whole = _with_vectors(saved[rest:], like, points, size, self._number)
        if whole is None:
            return None
        try:
            graph.load(whole)
        except (RuntimeError, ValueError):  # it is of a version that this one does not read
            return None
        graph.expansion_add = graph.expansion_search = _WIDTH
        self._gone = gone
        return graph


def add(graph: Any, labels: NDArray[np.int64], points: NDArray[Any]) -> None:
    """Add points, all but the first of a graph by several threads: see `use_threads`.

    Points that are added at the same time may not be linked to each other, so two graphs of
    the same vectors can differ.
    """
    few = max(_IN_TURN - len(graph), 0)
    many = _threads if len(points) - few > _IN_TURN else 1
    for part, threads in ((slice(few), 1), (slice(few, None), many)):
        if len(points[part]):
            graph.add(labels[part].astype(np.uint64), points[part], threads=threads)


# ---- the bytes of a graph: a matrix of vectors, a head, counts, layers, nodes with links --------

_MATRIX, _HEAD, _COUNTS = 8, 64, 40  # bytes
_MINOR, _HELD = slice(9, 13), slice(17, 33)  # bytes of the head: all but the major version; counts


def _without_vectors(graph: bytes | bytearray) -> NDArray[np.uint8]:
    """Return the bytes of a graph from its head on."""
    data = np.frombuffer(graph, np.uint8)
    rows, bytes_a_row = data[:_MATRIX].view(np.uint32).tolist()
    return data[_MATRIX + rows * bytes_a_row :]


def _with_vectors(
    head: NDArray[np.uint8],
    like: NDArray[np.uint8],
    blocks: Iterable[tuple[NDArray[np.int64], NDArray[Any]]],
    size: int,
    number: type[np.generic],
) -> bytes | None:
    """Return the bytes of a graph with the vectors of its labels, which come in blocks.

    Return None unless the bytes have the format above and hold a graph with exactly these labels,
    and the settings of the empty graph ``like``.
    """
    nodes = _nodes(head, like)
    if nodes is None or head[_HELD].copy().view(np.uint64).tolist() != [len(nodes), 0]:
        return None
    order = np.argsort(nodes)
    matrix, given = np.zeros((len(nodes), size), number), np.zeros(len(nodes), np.bool_)
    for labels, vectors in blocks:
        at = order.take(np.searchsorted(nodes, labels, sorter=order), mode="clip")
        if not np.array_equal(nodes[at], labels) or given[at].any():
            return None
        matrix[at], given[at] = vectors, True
    if not given.all():
        return None
    shape = np.array([len(nodes), matrix.itemsize * size], np.uint32)
    return b"".join([shape.tobytes(), matrix.tobytes(), head.tobytes()])


def _nodes(head: NDArray[np.uint8], like: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Return the label of each node, (n,), or None if a link leads outside the graph."""
    if len(head) < _HEAD + _COUNTS:
        return None
    told = np.stack([head[:_HEAD], like[:_HEAD]])  # how they were made, and what they hold
    told[:, _MINOR] = told[:, _HELD] = 0
    (count, many, most, top, entry), settings = (
        one[_HEAD : _HEAD + _COUNTS].copy().view(np.uint64).tolist() for one in (head, like)
    )
    start = _HEAD + _COUNTS + 2 * count
    if (told[0] != told[1]).any() or [many, most] != settings[1:3]:
        return None
    if start > len(head) or entry >= count:
        return None
    layers = head[_HEAD + _COUNTS : start].copy().view(np.int16)
    if layers.min() < 0 or layers.max() != top or layers[entry] != top:
        return None
    first, other = 4 + 4 * most, 4 + 4 * many  # bytes of the lowest layer, and of each other
    lengths = 10 + first + layers.astype(np.int64) * other
    ends = start + np.cumsum(lengths)
    if ends[-1] != len(head):
        return None
    starts = ends - lengths
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
