"""Python values -> JSON and arrays, and back to equal values of the same types; nothing else.

JSON knows no tuple, no array, and no key but text, so that containers are written as lists whose
first item tells their kind:

    [1, 2]           ["list", 1, 2]
    (1, 2)           ["tuple", 1, 2]
    {1: "a"}         ["dict", 1, "a"]
    numpy array      ["array", g, i]      row i of the stacked arrays of one dtype and shape, g
    numpy number     ["scalar", g, i]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzydict.errors import ArgumentTypeError, FileFormatError
from fuzzydict.storage import DTYPES

__all__ = ["ValueReader", "ValueWriter"]

_PLAIN = (str, int, float, bool, type(None))


class ValueWriter:
    """Writes values; ``groups`` are the stacked arrays that they hold, once all are written."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def encode(self, value: Any) -> Any:
        """Return a value as JSON.

        Raises:
            ArgumentTypeError: it, or what it holds, is neither of JSON's types (exactly: of no
                class derived from them), nor a tuple, nor an array or number of numpy.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind in (list, tuple):
            return [kind.__name__, *map(self.encode, value)]
        if kind is dict:
            return ["dict", *(self.encode(part) for item in value.items() for part in item)]
        if isinstance(value, np.generic) or kind is np.ndarray:
            return self._array("array" if kind is np.ndarray else "scalar", np.asarray(value))
        raise ArgumentTypeError(f"{kind.__name__} is none of the types that can be saved")

    def _array(self, kind: str, array: NDArray[Any]) -> list[Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise ArgumentTypeError(f"an array of dtype {array.dtype} cannot be saved")
        group = (dtype, array.shape)
        rows = self._groups.setdefault(group, [])
        rows.append(array)
        return [kind, self._numbers.setdefault(group, len(self._numbers)), len(rows) - 1]

    @property
    def groups(self) -> list[NDArray[Any]]:
        """The arrays of each dtype and shape, stacked, (rows, *shape)."""
        return [
            np.stack(rows).astype(dtype, copy=False) for (dtype, _), rows in self._groups.items()
        ]


class ValueReader:
    """Reads values that a `ValueWriter` with these groups wrote."""

    def __init__(self, groups: list[NDArray[Any]]) -> None:
        self._groups = groups

    def decode(self, value: Any) -> Any:
        """Return the value that was written.

        Raises:
            FileFormatError: no writer wrote this.
        """
        if not isinstance(value, list):
            return value
        match value:
            case ["list", *items]:
                return [self.decode(item) for item in items]
            case ["tuple", *items]:
                return tuple(self.decode(item) for item in items)
            case ["dict", *parts] if len(parts) % 2 == 0:
                decoded = [self.decode(part) for part in parts]
                return dict(zip(decoded[::2], decoded[1::2], strict=True))
            case ["array", int(group), int(row)] if group >= 0 and row >= 0:
                return np.array(self._groups[group][row])
            case ["scalar", int(group), int(row)] if group >= 0 and row >= 0:
                return self._groups[group][row][()]
        raise FileFormatError("it holds a value of no known kind")
