"""The bytes of a graph of usearch: without its vectors, and put together again with care.

Layout of format 2, all numbers little-endian, with 32 bits for a place:

    8 bytes     rows n and bytes a row, of the matrix
    matrix      the vectors, n rows
    64 bytes    "usearch", version (3 of 2 bytes), kinds of numbers, how many vectors are there and
                how many gone (8 bytes each), their size
    40 bytes    n, neighbours a node, of the lowest layer, highest layer, where a walk enters
    2 n bytes   the highest layer of each node
    nodes       each its label (8 bytes), its layer (2), and for each layer of it, from the lowest,
                how many neighbours it has (4) and their places (4 each), with room for the most

usearch believes what it reads, so that a false number would lead it out of its memory. Here every
number that a walk follows is checked first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["with_vectors", "without_vectors"]

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

    None where they are not of the format above, or not those of a graph with exactly these labels
    and vectors of this size, that was made as the empty one was whose bytes it should be ``like``.
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
    """Return the label of each node, (n,), if a walk among them stays among them; else None."""
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
