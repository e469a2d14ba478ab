"""Rows of numbers, whole or rounded to bytes, that are gathered as they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict._files import array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: The largest number of a vector: sums of many are below 3e38.
LARGEST = 1e30
_BLOCK = 8192  # rows gathered at a time, to save memory


def are_in_range(vectors: NDArray[np.float32]) -> bool:
    """Tell whether no number is NaN, or beyond the largest."""
    return bool(vectors.min() >= -LARGEST and vectors.max() <= LARGEST)


class Matrix:
    """A matrix (V, E) of 32-bit numbers, or of 8-bit codes with a scale for each row.

    Row i is ``codes[i]``, times ``scales[i]`` if there are scales, (V,).

    >>> matrix = Matrix(np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)).rounded()
    >>> matrix.codes.tolist()
    [[64, -127], [127, 16]]
    >>> matrix.rows(np.array([1, -1])).round(2).tolist()
    [[2.0, 0.25], [0.0, 0.0]]
    """

    def __init__(self, codes: NDArray[Any], scales: NDArray[np.float32] | None = None) -> None:
        self.codes = codes
        self.scales = scales

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], count: int) -> Matrix:
        """Return the matrix (V, E) of which `arrays` returned the arrays; ``count`` is V.

        Codes are not looked at, so that their rows are read from a file as they are needed.

        Raises:
            KeyError, ValueError: it has not so many rows, or numbers that are not finite.
        """
        codes, scales = arrays["vectors"], arrays.get("scales")
        if codes.ndim != 2 or len(codes) != count or not codes.size:
            raise ValueError(f"its vectors are of shape {codes.shape} for {count} words")
        if codes.dtype != (np.float32 if scales is None else np.int8):
            raise ValueError(f"its vectors are of dtype {codes.dtype}")
        if scales is not None:
            array_of(arrays, "scales", "f4", count)
            if not 0 <= scales.min() <= scales.max() <= LARGEST / 128:
                raise ValueError("its scales are below 0, or too large")
        elif not are_in_range(codes):
            raise ValueError(f"its vectors are not finite, or beyond {LARGEST:.0e}")
        return cls(codes, scales)

    @property
    def size(self) -> int:
        """The length E of a row."""
        return int(self.codes.shape[1])

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E); zeros where the number is -1."""
        found = self.codes.take(rows, axis=0, mode="clip").astype(np.float32, copy=False)
        if self.scales is not None:
            found *= self.scales.take(rows, mode="clip")[:, None]
        if np.count_nonzero(is_missing := rows < 0):
            found[is_missing] = 0
        return found

    def row(self, row: int) -> NDArray[np.float32]:
        """Return one row as a copy, (E,); zeros where the number is -1."""
        if row < 0:
            return np.zeros(self.size, np.float32)
        if self.scales is None:
            return np.asarray(self.codes[row], np.float32).copy()
        return np.asarray(np.multiply(self.codes[row], self.scales[row], dtype=np.float32))

    @cached_property
    def whole(self) -> NDArray[np.float32]:
        """All rows as 32-bit numbers, (V, E), read-only."""
        return self.codes if self.scales is None else self._gathered()

    def _gathered(self) -> NDArray[np.float32]:
        whole = np.empty((len(self), self.size), np.float32)
        for some in slices(len(self), _BLOCK):
            whole[some] = self.rows(np.arange(some.start, some.stop))
        whole.flags.writeable = False
        return whole

    def rounded(self) -> Matrix:
        """Return the matrix with each row rounded to 255 steps of its largest number."""
        if self.scales is not None:
            return self
        largest = np.maximum(np.abs(self.whole).max(axis=1), np.float32(1e-9))
        scales = largest / np.float32(127)
        return Matrix(np.rint(self.whole / scales[:, None]).astype(np.int8), scales)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its arrays by name, as a file holds them."""
        if self.scales is None:
            return {"vectors": self.whole}
        return {"vectors": self.codes, "scales": self.scales}

    def __getstate__(self) -> dict[str, Any]:
        # without what can be computed again
        return {name: part for name, part in self.__dict__.items() if name != "whole"}


class SideBySide(Matrix):
    """Two matrices side by side, (V, E1 + E2), of which rows are gathered as they are needed.

    Args:
        first: a matrix (V1, E1).
        second: a matrix (V2, E2).
        places: the row of the first and that of the second for each row, (V, 2); -1 is zeros.

    >>> one, two = Matrix(np.array([[1.0]], np.float32)), Matrix(np.array([[2.0]], np.float32))
    >>> SideBySide(one, two, np.array([[0, 0], [-1, 0]])).whole.tolist()
    [[1.0, 2.0], [0.0, 2.0]]
    """

    scales = None

    def __init__(self, first: Matrix, second: Matrix, places: NDArray[np.integer[Any]]) -> None:
        self._first, self._second, self._places = first, second, places

    @property
    def size(self) -> int:
        """The length E1 + E2 of a row."""
        return self._first.size + self._second.size

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E1 + E2); zeros where the number is -1."""
        places = self._places.take(rows, axis=0, mode="clip").astype(np.intp)
        if np.count_nonzero(is_missing := rows < 0):
            places[is_missing] = -1
        halves = [self._first.rows(places[:, 0]), self._second.rows(places[:, 1])]
        return np.concatenate(halves, axis=1)

    def row(self, row: int) -> NDArray[np.float32]:
        """Return one row as a copy, (E1 + E2,); zeros where the number is -1."""
        first, second = self._places[row].tolist() if row >= 0 else (-1, -1)
        return np.concatenate([self._first.row(first), self._second.row(second)])

    @cached_property
    def whole(self) -> NDArray[np.float32]:
        """All rows as 32-bit numbers, (V, E1 + E2), read-only."""
        return self._gathered()
