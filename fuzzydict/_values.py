"""Keys and values in a file: JSON, with the numpy arrays among them stacked beside it."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._files import DTYPES, json_of
from fuzzydict.errors import ArgumentTypeError, FileFormatError, quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from numpy.typing import NDArray


_PLAIN = (str, int, float, bool, type(None))  # types that JSON writes as they are
_DEEPEST = 100  # nested containers: few enough to be read under any recursion limit
_MOST_AXES = 31  # of an array: numpy before 2.0 stacks no more
_LONG = 1 << 64  # an integer that may have more digits than Python writes
_JSON = json.JSONEncoder(ensure_ascii=False)


def as_json(content: Any) -> NDArray[np.uint8]:
    """Return JSON as an array of a file; `json_of` reads it."""
    # Lone surrogates pass; written as escapes, two of them would become one character.
    return np.frombuffer(_JSON.encode(content).encode("utf-8", "surrogatepass"), np.uint8)


class ValueWriter:
    """Writes values as JSON; the arrays among them are stacked in ``groups``."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def all(self, parts: Iterable[Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
        """Return keys or values as an array of JSON.

        Raises:
            ArgumentTypeError: one cannot be written; the message names its key.
        """
        encoded: list[Any] = []
        try:
            encoded.extend(map(self.encode, parts))
        except (ArgumentTypeError, RecursionError, ValueError) as error:
            key = next(islice(keys, len(encoded), None))
            raise ArgumentTypeError(
                f"the item of key {quoted(key)} cannot be saved: {error}; keys and values may be "
                f"of JSON's types, tuples and numpy arrays: convert it, or leave it out"
            ) from error
        return as_json(encoded)

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON.

        Raises:
            ArgumentTypeError: the value, or one in it, is of none of JSON's types (exactly, not of
                a derived class), and no tuple, numpy array or numpy number; or it is nested too
                deeply.
            ValueError: it has a number of too many digits.
        """
        if depth > _DEEPEST:
            raise ArgumentTypeError(f"its containers are nested more than {_DEEPEST} deep")
        kind = type(value)
        if kind is int and not -_LONG < value < _LONG:
            str(value)  # or raise
        if kind in _PLAIN:
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


_MOST_COMPARED = 5_000**2  # comparisons of numbers, which take some tenths of a second
_CHARACTERS = 50  # of a long integer or text, which take as long to compare as a number
_OF_NUMPY = 100  # numbers of Python are compared while one of numpy is with one of another type


class ValueReader:
    """Reads what a `ValueWriter` with these groups wrote, in the order of writing.

    Each row is taken once, so that a small file cannot ask for a large array many times.

    It counts what it may take to compare the keys of dicts, and refuses too much of it: whoever
    writes a file can choose numbers or tuples that Python's table of a dict puts at one place, so
    that each is compared with all others (S. Crosby and D. Wallach, 2003, "Denial of service via
    algorithmic complexity attacks"). So all are counted as if they were. Texts are not counted:
    their hash is another in each process.

    Args:
        groups: the stacked arrays.
        path: of the file, for messages.
        is_trusted: whether nothing is counted.
    """

    def __init__(
        self, groups: list[NDArray[Any]], path: str | os.PathLike[str], *, is_trusted: bool
    ) -> None:
        self._groups, self._path, self._is_trusted = groups, path, is_trusted
        self._taken, self._compared = [0] * len(groups), 0

    @property
    def finished(self) -> bool:
        """Whether every row was taken."""
        return self._taken == [len(group) for group in self._groups]

    def all(self, array: NDArray[Any]) -> list[Any]:
        """Return what `ValueWriter.all` wrote."""
        content = json_of(array)
        if set(map(type, content)) <= set(_PLAIN):  # as most do
            return content
        return [self.decode(part) for part in content]

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that was written.

        Raises:
            FileFormatError: no writer wrote this, or it makes too many comparisons.
        """
        if type(value) in _PLAIN:
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
                return self.filled(decoded[::2], decoded[1::2])
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

    def filled(self, keys: list[Any], values: list[Any]) -> dict[Any, Any]:
        """Return a dict of these keys and values.

        Raises:
            ValueError: a key comes twice, there are more keys than values, or fewer.
            TypeError: a key cannot be hashed.
            FileFormatError: the file makes too many comparisons.
        """
        self.count(keys, keys)
        items = dict(zip(keys, values, strict=True))
        if len(items) != len(keys):
            raise ValueError("a key comes twice")
        return items

    def count(self, keys: list[Any], among: list[Any]) -> None:
        """Count what it takes to look up keys among some; raise FileFormatError if it is much."""
        if self._is_trusted or set(map(type, keys)) <= {str}:
            return
        others = sum(type(key) is not str for key in among)
        for key in keys:
            if type(key) is not str:
                self._compared += others * _numbers_in(key)
            if self._compared > _MOST_COMPARED:
                raise FileFormatError(
                    f"{self._path} has many keys that are no texts: to compare each with all of "
                    f"its dict takes over {_MOST_COMPARED:,} comparisons, which a stranger can "
                    f"cause; if you trust who wrote it, use FuzzyDict.load(path, trust=True)"
                )


def _numbers_in(key: Any) -> int:
    """Return how many numbers take about as long to compare as a key."""
    if isinstance(key, tuple):
        return 1 + sum(_OF_NUMPY if isinstance(p, np.generic) else _numbers_in(p) for p in key)
    if isinstance(key, int | str):
        return 1 + len(repr(key)) // _CHARACTERS
    return 1  # also of numpy, for few of those have one hash
