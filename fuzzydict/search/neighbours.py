"""The keys nearest to a query by a graph of near keys, which usearch makes (extra ``usearch``)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.errors import MissingExtraError, needing
from fuzzydict.search.keys import Keys

#: What ``index=`` takes: whether all keys are compared with a query, or those that a graph finds.
EXACT, GRAPH = "exact", "usearch"

_BLOCK = 1 << 16  # vectors, or nodes of a graph, that are looked at together, to save memory
_CONNECTIVITY = 16  # neighbours of a vector; twice as many in the lowest layer
_WIDTH = 256  # candidates kept, as vectors are added and sought; see docs/benchmarks/speed.md
_FEW = 4096  # vectors that are all compared with a query, for a walk compares it with as many
_IN_TURN = 4096  # vectors that one thread adds: threads that begin a graph lose more on the way
_LARGEST = 127  # number that a graph keeps
_MOST = 1 << 53  # labels that a graph can ever give out
_threads = os.cpu_count() or 1


def use_threads(count: int) -> None:
    """Add vectors by this many threads from now on; by default there are as many as cores."""
    global _threads
    _threads = count


class Neighbours:
    """A graph that is walked towards the query, so that few vectors are compared with it.

    (Y. Malkov, D. Yashunin, 2018, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs".) Vectors are kept with 8 bits a number, for a walk
    waits for memory. The graph is brought up to date when it is asked, in one batch. What is
    removed stays as a stepping stone, and results skip it, until the slots of the keys are numbered
    anew. (usearch does not always find places that it reuses.)
    """

    def __init__(self) -> None:
        self._graph: Any = None
        self._told: Keys | None = None  # the keys that it has
        self._generation: object = None  # of those
        self._labels = np.zeros(0, np.int64)  # of their slots, rising
        self._next = 0  # a label that was never used, nor any above
        self._read_saved: Callable[[], NDArray[np.uint8]] | None = None

    def __copy__(self) -> Self:
        new = type(self)()
        new.__dict__.update(self.__dict__)
        new._graph = None if self._graph is None else self._graph.copy()
        return new

    def near(self, keys: Keys, queries: NDArray[np.float32], count: int) -> list[NDArray[np.intp]]:
        """Return the slots of ``count`` keys, or all, next to each query (L, E), nearest first."""
        self.update(keys)
        wanted, size = min(count, keys.count), len(self._graph)
        # Their lengths decide nothing, and those of large numbers may be beyond 32 bits.
        largest = np.abs(queries).max(axis=1, initial=0, keepdims=True)
        points = _rounded(np.divide(queries, np.where(largest > 0, largest, 1), dtype=np.float32))
        asked = 2 * wanted  # a walk as wide as what is wanted misses some, and some may be gone
        while True:
            are_all = size <= _FEW or asked >= size  # what a walk does not reach is found, too
            matches = self._graph.search(points, asked, threads=1, exact=are_all)
            labels = np.atleast_2d(matches.keys.astype(np.int64))
            # Of one query there are the labels that were found; of several, room for all.
            counts = matches.counts if len(points) > 1 else np.array([labels.shape[1]])
            slots = np.searchsorted(self._labels, labels).clip(max=len(keys) - 1)
            there = (self._labels[slots] == labels) & keys.alive[slots]
            there &= np.arange(labels.shape[1]) < counts[:, None]
            if asked >= size or there.sum(axis=1).min() >= wanted:
                return [row[are][:wanted] for row, are in zip(slots, there, strict=True)]
            asked = min(2 * asked, size)

    def update(self, keys: Keys) -> None:
        """Bring the graph up to date with the keys."""
        if self._graph is not None and self._told is keys:
            return
        if self._generation is not keys.generation:  # the slots are numbered anew
            self.__dict__.update(vars(Neighbours()), _generation=keys.generation)
        # If what follows is interrupted, there is none.
        graph, self._graph, read_saved = self._graph, None, self._read_saved
        if graph is None:
            graph = _empty(keys.vectors.shape[1])
            self._read_saved, labels, self._labels = None, self._labels, np.zeros(0, np.int64)
            if read_saved is not None:
                saved = read_saved()
                nodes = nodes_of(saved, np.frombuffer(graph.save(), np.uint8))
                if nodes is not None and np.isin(labels, nodes).all():
                    graph.load(saved.tobytes())
                    graph.expansion_add = graph.expansion_search = _WIDTH
                    self._labels, self._next = labels, int(nodes.max()) + 1
        told = len(self._labels)
        labels = np.append(self._labels, self._next + np.arange(len(keys) - told))
        for first in range(told, len(keys), _BLOCK):
            slots = first + np.flatnonzero(keys.alive[first : first + _BLOCK])
            if len(slots):
                units = keys.vectors[slots] * keys.inverse_lengths[slots, None]
                add(graph, labels[slots], _rounded(units))
        self._labels, self._next = labels, self._next + len(keys) - told
        self._told, self._graph = keys, graph

    # ---- files ----------------------------------------------------------------------------

    def save(self, keys: Keys) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the bytes of the graph, if there is one, and the labels of S living keys, (S,)."""
        if keys.count and not (self._graph is None and self._read_saved is None):
            # What another machine saved cannot be brought up to date here without the package.
            with suppress(MissingExtraError):
                self.update(keys)
                return np.frombuffer(self._graph.save(), np.uint8), self._labels[keys.alive]
        return np.zeros(0, np.uint8), np.zeros(0, np.int64)

    def restore(
        self,
        generation: object,
        read_saved: Callable[[], NDArray[np.uint8]],
        labels: NDArray[np.int64],
    ) -> None:
        """Keep what `save` returned for keys of this generation until the graph is asked."""
        self._generation, self._read_saved, self._labels = generation, read_saved, labels


def _rounded(points: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return numbers between -1 and 1 as the graph keeps them."""
    scaled = np.clip(points * np.float32(_LARGEST), -_LARGEST, _LARGEST)
    return np.asarray(np.rint(scaled), np.int8)


def _empty(size: int) -> Any:
    """Return a graph without vectors, which are to have so many numbers."""
    with needing("index='usearch' needs usearch", "usearch, or set the dict's index to 'exact'"):
        from usearch import index
    wide: Any = {"expansion_add": _WIDTH, "expansion_search": _WIDTH}
    return index.Index(ndim=size, metric="ip", dtype="i8", connectivity=_CONNECTIVITY, **wide)


def add(graph: Any, labels: NDArray[np.int64], points: NDArray[np.int8]) -> None:
    """Add points, all but the first of a graph by several threads, so that graphs can differ."""
    few = max(_IN_TURN - len(graph), 0)
    many = _threads if len(points) - few > _IN_TURN else 1
    for part, threads in ((slice(few), 1), (slice(few, None), many)):
        if len(points[part]):
            graph.add(labels[part].astype(np.uint64), points[part], threads=threads)


# ---- the bytes of a graph: a matrix of vectors, a head, counts, layers, nodes with links --------

_MATRIX, _HEAD, _COUNTS = 8, 64, 40  # bytes
_MINOR, _HELD = slice(9, 13), slice(17, 33)  # bytes of the head: all but the major version; counts


def nodes_of(graph: NDArray[np.uint8], like: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Return the labels of the nodes of a saved graph, (n,); None if it is not ``like`` another.

    Nor may a link lead outside, for usearch follows any that it reads.
    """
    rows, size = (int.from_bytes(graph[at : at + 4].tobytes(), "little") for at in (0, 4))
    head = graph[_MATRIX + rows * size :]
    if len(head) < _HEAD + _COUNTS or graph[4:_MATRIX].tobytes() != like[4:_MATRIX].tobytes():
        return None
    like = like[_MATRIX:]
    told = np.stack([head[:_HEAD], like[:_HEAD]])  # how they were made, and what they hold
    told[:, _MINOR] = told[:, _HELD] = 0
    (count, many, most, top, entry), settings = (
        one[_HEAD : _HEAD + _COUNTS].copy().view(np.uint64).tolist() for one in (head, like)
    )
    held = head[_HELD].copy().view(np.uint64).tolist()
    start = _HEAD + _COUNTS + 2 * count
    if (told[0] != told[1]).any() or [many, most] != settings[1:3] or held != [rows, 0]:
        return None
    if start > len(head) or entry >= count or count != rows:
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
        there, most_here = layers >= layer, many if layer else most
        at = starts[there] + 10 + (first + (layer - 1) * other if layer else 0)
        for block in slices(len(at), _BLOCK):
            links = _gathered(head, at[block], 4 + 4 * most_here).view(np.uint32)
            counts, neighbours = links[:, :1], links[:, 1:]
            followed = neighbours[np.arange(most_here) < counts]
            if (counts > most_here).any() or (followed >= count).any() or not there[followed].all():
                return None
    labels = _gathered(head, starts, 8).view(np.int64)[:, 0]
    is_sound = labels.min() >= 0 and labels.max() < _MOST and len(np.unique(labels)) == count
    return labels if is_sound else None


def _gathered(head: NDArray[np.uint8], starts: NDArray[np.int64], length: int) -> NDArray[np.uint8]:
    """Return so many bytes from each start on, (n, length)."""
    return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(head, length)[starts])
