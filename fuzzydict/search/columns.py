"""Rows of numbers that more are appended to, without a copy of all each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Column"]

_GROWTH = 9 / 8  # room made at a time: few copies, little memory in vain


class Column:
    """Rows in a buffer with room for more; the first ones are kept, not copied.

    >>> column = Column(np.zeros(0))
    >>> column.extend(np.ones(2)); column.extend(np.zeros(1))
    >>> column.rows.tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._buffer = self.rows = rows

    def __copy__(self) -> Self:
        return type(self)(self.rows.copy())  # two columns in one buffer would overwrite each other

    def extend(self, new: NDArray[Any]) -> None:
        """Append rows like those that are there."""
        used = len(self.rows)
        total = used + len(new)
        if not used:
            self._buffer = self.rows = new
            return
        if total > len(self._buffer):
            room = max(total, int(len(self._buffer) * _GROWTH) + 8)
            self._buffer = np.empty((room, *new.shape[1:]), new.dtype)
            self._buffer[:used] = self.rows
        self._buffer[used:total] = new
        self.rows = self._buffer[:total]
