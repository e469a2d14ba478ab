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

from fuzzydict._files import DTYPES
from fuzzydict.errors import ArgumentTypeError, FileFormatError

__all__ = ["PLAIN", "ValueReader", "ValueWriter"]

#: Types whose values JSON has as they are.
PLAIN = (str, int, float, bool, type(None))
_DEEPEST = 100  # containers in one another: few enough to be read again under any recursion limit
_MOST_AXES = 31  # of an array, for numpy before 2.0 stacks no more


class ValueWriter:
    """Writes values; ``groups`` are the stacked arrays that they hold, once all are written."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON.

        Raises:
            ArgumentTypeError: it, or what it holds, is neither of JSON's types (exactly: of no
                class derived from them), nor a tuple, nor an array or number of numpy; or its
                containers are nested too deeply.
        """
        if depth > _DEEPEST:
            raise ArgumentTypeError(f"its containers are nested more than {_DEEPEST} deep")
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind in (list, tuple):
            return [kind.__name__, *(self.encode(part, depth + 1) for part in value)]
        if kind is dict:
            parts = (part for item in value.items() for part in item)
            return ["dict", *(self.encode(part, depth + 1) for part in parts)]
        if isinstance(value, np.generic) or kind is np.ndarray:
            return self._array("array" if kind is np.ndarray else "scalar", np.asarray(value))
        raise ArgumentTypeError(f"{kind.__name__} is none of the types that can be saved")

    def _array(self, kind: str, array: NDArray[Any]) -> list[Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise ArgumentTypeError(f"an array of dtype {array.dtype} cannot be saved")
        if array.ndim > _MOST_AXES:
            raise ArgumentTypeError(f"an array of more than {_MOST_AXES} axes cannot be saved")
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
    """Reads values that a `ValueWriter` with these groups wrote, in the order of writing.

    Each row is taken once, so that a small file cannot ask for a large array many times.
    """

    def __init__(self, groups: list[NDArray[Any]]) -> None:
        self._groups = groups
        self._taken = [0] * len(groups)

    @property
    def finished(self) -> bool:
        """Whether every row was taken."""
        return self._taken == [len(group) for group in self._groups]

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that was written.

        Raises:
            FileFormatError: no writer wrote this.
        """
        if type(value) in PLAIN:
            return value
        if depth > _DEEPEST:
            raise FileFormatError(f"its containers are nested more than {_DEEPEST} deep")
        match value:
            case ["list", *items]:
                return [self.decode(item, depth + 1) for item in items]
            case ["tuple", *items]:
                return tuple(self.decode(item, depth + 1) for item in items)
            case ["dict", *parts] if len(parts) % 2 == 0:
                decoded = [self.decode(part, depth + 1) for part in parts]
                return dict(zip(decoded[::2], decoded[1::2], strict=True))
            case ["array", int(group), int(row)]:
                return np.array(self._row(group, row))
            case ["scalar", int(group), int(row)] if self._groups[group].ndim == 1:
                return self._row(group, row)
        raise FileFormatError("it holds a value of no known kind")

    def _row(self, group: int, row: int) -> Any:
        if group < 0 or row != self._taken[group]:
            raise FileFormatError("its arrays do not stand in the order of its values")
        self._taken[group] += 1
        return self._groups[group][row]
