"""Keys and values as a store holds them, and what ``where=`` asks of values."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted

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
    """Return a key as a plain text, or raise ArgumentTypeError if no store can hold it."""
    if not isinstance(key, str):
        got = f"{type(key).__name__} {quoted(key)}"
        raise ArgumentTypeError(f"the keys of a store are texts, got {got}")
    if not is_storable(key):
        raise ArgumentTypeError(
            f"no store can hold the key {quoted(key)}: it has a NUL or a lone surrogate; remove it"
        )
    return str.__str__(key)


def as_value(key: str, value: Any) -> Any:
    """Return a value in JSON's types, shared with nobody; raise ArgumentTypeError if it has others.

    Numpy's arrays and tuples become lists, and its numbers those of Python.

    >>> import numpy as np
    >>> as_value("red", {"rgb": np.array([255, 0, 0]), "name": ("rouge", None)})
    {'rgb': [255, 0, 0], 'name': ['rouge', None]}
    """
    try:
        return _of_json(value, 0)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"the value of key {quoted(key)} cannot be stored: {error}; expected JSON's types, "
            f"tuples or numpy arrays: convert it, or leave it out"
        ) from error


def _of_json(value: Any, depth: int) -> Any:
    """Return a value in JSON's types; raise TypeError if it has others, or ValueError."""
    if depth > _DEEPEST:
        raise ValueError(f"its containers are nested more than {_DEEPEST} deep")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not is_storable(value):
            raise ValueError(f"{quoted(value)} has a NUL or a lone surrogate")
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _DIGITS * np.log2(10):
            raise ValueError(f"{quoted(value)} has more than {_DIGITS} digits")
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{value} is no number of JSON")
        return float(value)
    if isinstance(value, list | tuple):
        return [_of_json(part, depth + 1) for part in value]
    if not isinstance(value, dict):
        raise TypeError(f"{quoted(value)} is of type {type(value).__name__}")
    if others := [name for name in value if not isinstance(name, str)]:
        raise TypeError(f"{quoted(others[0])} names a field, and is no text")
    return {_of_json(name, 0): _of_json(part, depth + 1) for name, part in dict.items(value)}


# ---- where= -----------------------------------------------------------------------------------

#: What a field is compared with.
Scalar: TypeAlias = str | int | float | bool | None

_BOUNDS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_ABSENT: Any = object()
_EXPECTED = 'a mapping such as {"country": "FR", "size.height": {"lt": 100}}'


class Condition(NamedTuple):
    """What a field of a value must satisfy. A value without the field satisfies none.

    Only objects of JSON have fields: "0" does not lead into a list. A list equals no scalar, even
    if one of its items does.
    """

    field: tuple[str, ...]  # the names that lead to it: ("address", "city")
    one_of: tuple[Scalar, ...]  # it equals one, and is of its type of JSON; if there are none:
    bounds: dict[str, float]  # it is a number, and above "gt" or "gte", below "lt" or "lte"


def satisfies(value: Any, conditions: Sequence[Condition]) -> bool:
    """Tell whether a value, of JSON's types, satisfies all conditions.

    >>> satisfies({"address": {"city": "Lyon"}}, conditions_of({"address.city": ["Lyon", "Nice"]}))
    True
    """
    for names, one_of, bounds in conditions:
        found = value
        for name in names:
            found = found.get(name, _ABSENT) if isinstance(found, dict) else _ABSENT
        kind = _kind(found)
        within = bounds and kind is float and all(_BOUNDS[n](found, b) for n, b in bounds.items())
        if not (within or any(_kind(one) is kind and one == found for one in one_of)):
            return False
    return True


def _kind(value: Any) -> type:
    """Return a class that all values of one of JSON's types have."""
    return float if type(value) is int else type(value)


def conditions_of(where: Mapping[str, Any]) -> list[Condition]:
    """Return what ``where=`` asks for, as `RemoteDict.most_similar` says; all of it must hold.

    Raises:
        ArgumentTypeError: it is no such mapping.
        OptionError: a name or a list is empty, a number is NaN or infinite, a text has a NUL or
            a lone surrogate, or a bound is unknown.

    >>> conditions_of({"price": {"gte": 10, "lt": 20}})
    [Condition(field=('price',), one_of=(), bounds={'gte': 10, 'lt': 20})]
    """
    if not isinstance(where, Mapping):
        raise ArgumentTypeError(f"where: expected {_EXPECTED}, got {quoted(where)}")
    return [_condition(field, asked) for field, asked in where.items()]


def _condition(field: Any, asked: Any) -> Condition:
    if not isinstance(field, str):
        raise ArgumentTypeError(
            f"where: expected the name of a field, as in {_EXPECTED}, got {quoted(field)}"
        )
    names, name = tuple(field.split(".")), quoted(field)
    if not all(names) or not is_storable(field):
        raise OptionError(
            f'where: {name} is the name of no field; expected such as "country", or '
            f'"address.city" for a field in another'
        )
    if isinstance(asked, np.ndarray | np.generic):
        asked = asked.tolist()
    if not isinstance(asked, Mapping):
        several = asked if isinstance(asked, list | tuple | set | frozenset) else [asked]
        if not several:
            raise OptionError(f"where: {name} is to be one of none; name one at least")
        return Condition(names, tuple(_scalar(name, one) for one in several), {})
    if not asked or not set(asked) <= set(_BOUNDS):
        raise OptionError(
            f"where: expected some of {', '.join(_BOUNDS)} for {name}, got {quoted(asked)}"
        )
    bounds: dict[str, Any] = {bound: _scalar(name, number) for bound, number in asked.items()}
    for bound, number in bounds.items():
        if _kind(number) is not float:
            raise ArgumentTypeError(
                f"where: expected a number as {bound} of {name}, got {quoted(number)}"
            )
    return Condition(names, (), bounds)


def _scalar(name: str, asked: Any) -> Scalar:
    """Return what the field of a name, as it is told, is compared with."""
    scalar = asked.tolist() if isinstance(asked, np.ndarray | np.generic) else asked
    if not isinstance(scalar, str | int | float | None):
        raise ArgumentTypeError(
            f"where: expected a text, a number, True, False, None, a list of these, or bounds such "
            f'as {{"gte": 10}} for {name}, got {type(asked).__name__} {quoted(asked)}'
        )
    try:
        if isinstance(scalar, int):
            float(scalar)  # or raise, if it has too many digits
        return _of_json(scalar, 0)  # type: ignore[no-any-return]
    except (ValueError, OverflowError) as error:
        raise OptionError(
            f"where: expected a finite number, or a text without NUL and lone surrogates, for "
            f"{name}, got {quoted(asked)}"
        ) from error
