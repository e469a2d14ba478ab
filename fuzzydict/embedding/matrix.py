"""A matrix of vectors, a row a word: as numbers of 32 bits, or rounded to a byte each."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Matrix"]


class Matrix:
    """Row i is ``codes[i]``, (E,), times ``scales[i]`` where there are scales, (V,).

    >>> matrix = Matrix(np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)).rounded()
    >>> matrix.codes.tolist()
    [[64, -127], [127, 16]]
    >>> matrix.rows(np.array([1])).round(2).tolist()
    [[2.0, 0.25]]
    """

    def __init__(self, codes: NDArray[Any], scales: NDArray[np.float32] | None = None) -> None:
        self.codes = codes
        self.scales = scales

    def check(self, count: int) -> None:
        """Raise ValueError unless this is a matrix of so many rows."""
        codes, scales = self.codes, self.scales
        if codes.ndim != 2 or len(codes) != count or not codes.size:
            raise ValueError(f"its vectors are of shape {codes.shape} for {count} words")
        if codes.dtype != (np.float32 if scales is None else np.int8):
            raise ValueError(f"its vectors are of dtype {codes.dtype}")
        if scales is not None and (scales.shape != (count,) or scales.dtype != np.float32):
            raise ValueError("its scales are not a number for each word")

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return these rows as a copy, (n, E)."""
        vectors = self.codes[rows].astype(np.float32)
        return vectors if self.scales is None else vectors * self.scales[rows, None]

    @cached_property
    def whole(self) -> NDArray[np.float32]:
        """All rows, (V, E), not to be written to; rounded ones are made whole when asked for."""
        if self.scales is None and self.codes.dtype == np.float32:
            return self.codes
        return self.rows(np.arange(len(self.codes)))

    def rounded(self) -> Matrix:
        """Return the matrix with each row rounded to 255 steps of its largest number."""
        if self.scales is not None:
            return self
        largest = np.maximum(np.abs(self.codes).max(axis=1), np.float32(1e-9))
        scales = largest / np.float32(127)
        return Matrix(np.rint(self.codes / scales[:, None]).astype(np.int8), scales)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return what it is made of, by name."""
        scales = {} if self.scales is None else {"scales": self.scales}
        return {"vectors": self.codes, **scales}

    def __getstate__(self) -> dict[str, Any]:
        return {"codes": self.codes, "scales": self.scales}  # without what can be derived
