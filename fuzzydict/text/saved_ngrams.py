"""An index of n-grams as arrays of a file: little, and read row by row.

A row holds the strings that have an n-gram, rising. It is written as the steps from each string to
the next, in 8 bits for frequent n-grams and in 16 for others (J. Zobel and A. Moffat, 2006,
"Inverted files for text search engines", 4). A step of 0 stands for the longest one, without a
string at its end.

    ngram counts          (S,), how many n-grams each string has
    ngrams 8 buckets      (B,), the n-grams, rising
    ngrams 8 starts       (B + 1,), where the row of each begins
    ngrams 8 steps        the rows, one after the other
    ngrams 16 ...         the same
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import FileFormatError
from fuzzydict.text.ngrams import NgramIndex, Postings, row_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray


_COUNTS = "ngram counts"
_DENSE = 64  # an n-gram of more than 1/64 of the strings has short steps
_KINDS: dict[int, Any] = {8: np.uint8, 16: np.uint16}


def packed_ngrams(index: NgramIndex, alive: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return an index of the living of n strings, (n,), as arrays by their names."""
    numbers = np.cumsum(alive, dtype=np.int32) - 1
    counts = np.zeros(len(index), np.uint16)
    rows: dict[int, list[tuple[int, NDArray[Any]]]] = {bits: [] for bits in _KINDS}
    for bucket, row in _rows(index):
        living = row[alive[row]]
        if len(living):
            counts[living] += np.uint16(1)
            bits = 8 if len(living) * _DENSE > len(alive) else 16
            rows[bits].append((bucket, _steps(numbers[living], _KINDS[bits])))
    arrays: dict[str, NDArray[Any]] = {_COUNTS: counts[alive]}
    for bits, kind in _KINDS.items():
        steps = [row for _, row in rows[bits]]
        arrays |= {
            _name(bits, "buckets"): np.array([bucket for bucket, _ in rows[bits]], np.uint16),
            _name(bits, "starts"): np.cumsum([0, *map(len, steps)]),
            _name(bits, "steps"): np.concatenate([np.zeros(0, kind), *steps]),
        }
    return arrays


def unpacked_ngrams(
    arrays: Mapping[str, NDArray[Any]], strings: list[str], source: object
) -> NgramIndex:
    """Return the index of S strings that `packed_ngrams` made these arrays of.

    The arrays are read when a query needs them. If a row names other strings, the query raises
    FileFormatError, which names their ``source``.

    Raises:
        LookupError, ValueError: these are no such arrays.
    """
    counts = arrays[_COUNTS]
    if counts.shape != (len(strings),) or counts.dtype != np.uint16:
        raise ValueError("its n-grams are not those of its keys")
    table = _Packed(arrays, len(strings), source)
    return NgramIndex.of_part(strings, Postings(table, counts))


def ngram_array_names() -> list[str]:
    """Return the names of the arrays."""
    parts = ("buckets", "starts", "steps")
    return [_COUNTS, *(_name(bits, part) for bits in _KINDS for part in parts)]


def _name(bits: int, part: str) -> str:
    return f"ngrams {bits} {part}"


class _Packed:
    """A table of n-grams in arrays of a file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], size: int, source: object) -> None:
        self._size, self._source = size, source
        self._parts = []
        for bits, kind in _KINDS.items():
            buckets, starts, steps = (
                arrays[_name(bits, part)] for part in ("buckets", "starts", "steps")
            )
            found = [(array.dtype.type, array.ndim) for array in (buckets, starts, steps)]
            if found != [(np.uint16, 1), (np.int64, 1), (kind, 1)]:
                raise ValueError("its n-grams are not arrays of whole numbers")
            if len(starts) != len(buckets) + 1 or (starts[1:] < starts[:-1]).any():
                raise ValueError("its n-grams have no rows one after the other")
            if starts[0] != 0 or starts[-1] != len(steps):
                raise ValueError("its n-grams have rows that are not there")
            self._parts.append((buckets, starts, steps))
        self.buckets = np.sort(np.concatenate([buckets for buckets, _, _ in self._parts]))

    def row(self, bucket: int) -> NDArray[np.int32]:
        """Return the strings that have an n-gram, rising."""
        for buckets, starts, steps in self._parts:
            start, end = row_bounds(buckets, starts, bucket)
            if start < end:
                return self._places(steps[start:end])
        return np.zeros(0, np.int32)

    def _places(self, steps: NDArray[Any]) -> NDArray[np.int32]:
        if steps.all():
            places = np.cumsum(steps, dtype=np.int64)
        else:
            longest = np.iinfo(steps.dtype).max
            places = np.cumsum(np.where(steps, steps, longest), dtype=np.int64)[steps > 0]
        places -= 1
        if len(places) and places[-1] >= self._size:
            raise FileFormatError(
                f"{self._source} is damaged: the n-grams of its keys name a key that is not there; "
                f"restore it from a copy, or make it again"
            )
        return places.astype(np.int32)


def _rows(index: NgramIndex) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield each n-gram, rising, and the strings of all parts of an index that have it."""
    parts, start = [], 0
    for part in index.parts():
        parts.append((part.table, start))
        start += part.size
    buckets = [table.buckets for table, _ in parts]
    for bucket in np.unique(np.concatenate([np.zeros(0, np.int64), *buckets])).tolist():
        yield bucket, np.concatenate([table.row(bucket) + np.int32(s) for table, s in parts])


def _steps(row: NDArray[np.int32], kind: Any) -> NDArray[Any]:
    """Return a row, not empty, as steps."""
    longest = np.iinfo(kind).max
    steps = np.diff(row, prepend=-1)
    more = (steps - 1) // longest
    if not more.any():
        return steps.astype(kind)
    written = np.zeros(len(row) + int(more.sum()), kind)
    written[np.cumsum(more + 1) - 1] = steps - more * longest
    return written
