"""Which keys and values a store can hold: texts of Unicode, and JSON."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fuzzydict.errors import ArgumentTypeError, quoted

#: What no database keeps in a text: NUL, and surrogates, which UTF-8 cannot encode.
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_DEEPEST = 32  # containers in each other: what all databases read back
_DIGITS = 1000  # of an integer


def is_storable(text: str) -> bool:
    r"""Tell whether a store can hold a text: it has no NUL and no lone surrogate.

    >>> is_storable("naïve 🚗"), is_storable("a\x00b")
    (True, False)
    """
    return _REFUSED.search(text) is None


def as_key(key: Any) -> str:
    """Return a key as a store holds it, as a plain text, whatever class derived from it.

    Raises:
        ArgumentTypeError: it is no text, or one with a NUL or a lone surrogate.
    """
    if not isinstance(key, str):
        raise ArgumentTypeError(
            f"the keys of a store are texts, got {type(key).__name__} {quoted(key)}"
        )
    if not is_storable(key):
        raise ArgumentTypeError(
            f"no store can hold the key {quoted(key)}: it has a NUL or a lone surrogate; remove it"
        )
    return str.__str__(key)


def as_json(key: str, value: Any) -> Any:
    """Return a value as a store holds it: of JSON's types, and shared with nobody.

    Numpy's arrays and tuples become lists, and its numbers those of Python.

    Raises:
        ArgumentTypeError: the value of ``key``, or one in it, is of another type; a number is NaN
            or infinite; a text has a NUL or a lone surrogate; or containers are nested too deeply.

    >>> import numpy as np
    >>> as_json("red", {"rgb": np.array([255, 0, 0]), "name": ("rouge", None)})
    {'rgb': [255, 0, 0], 'name': ['rouge', None]}
    """
    try:
        return _converted(value, 0)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(
            f"the value of key {quoted(key)} cannot be stored: {error}; expected JSON's types, "
            f"tuples or numpy arrays: convert it, or leave it out"
        ) from error


def _converted(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ArgumentTypeError(f"its containers are nested more than {_DEEPEST} deep")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return [_converted(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {_name(name): _converted(part, depth + 1) for name, part in dict.items(value)}
    raise ArgumentTypeError(f"{quoted(value)} is of type {type(value).__name__}")


def _text(text: str) -> str:
    if not is_storable(text):
        raise ArgumentTypeError(f"{quoted(text)} has a NUL or a lone surrogate")
    return str.__str__(text)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"{quoted(name)} names a field, and is no text")
    return _text(name)


def _number(number: float) -> float:
    if isinstance(number, int):
        if number.bit_length() > _DIGITS * np.log2(10):
            raise ArgumentTypeError(f"{quoted(number)} has more than {_DIGITS} digits")
        return int(number)
    if not np.isfinite(number):
        raise ArgumentTypeError(f"{number} is no number of JSON")
    return float(number)
