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


def as_value(key: str, value: Any) -> Any:
    """Return a value as a store holds it: of JSON's types, and shared with nobody.

    Numpy's arrays and tuples become lists, and its numbers those of Python.

    Raises:
        ArgumentTypeError: the value of ``key``, or one in it, is of another type; a number is NaN
            or infinite; a text has a NUL or a lone surrogate; or containers are nested too deeply.

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
        if one_of:
            is_so = any(_kind(one) is _kind(found) and one == found for one in one_of)
        else:
            is_so = _kind(found) is float and all(
                _BOUNDS[name](found, bound) for name, bound in bounds.items()
            )
        if not is_so:
            return False
    return True


def _kind(value: Any) -> type:
    """Return a class that all values of one of JSON's types have."""
    return float if type(value) is int else type(value)


def conditions_of(where: Mapping[str, Any]) -> list[Condition]:
    """Return what ``where=`` asks for, all of which must hold.

    Args:
        where: what fields of a value must be. A dot in a name leads into an object:
            "address.city". Each is mapped to a scalar (equal), to a list of scalars (one of them),
            or to a mapping with some of "gt", "gte", "lt" and "lte" (a number in this range).

    Raises:
        ArgumentTypeError: it is no such mapping.
        OptionError: a name or a list is empty, a number is NaN or infinite, a text has a NUL or
            a lone surrogate, or a bound is unknown.

    >>> conditions_of({"price": {"gte": 10, "lt": 20}})
    [Condition(field=('price',), one_of=(), bounds={'gte': 10, 'lt': 20})]
    """
    expected, found = 'a mapping such as {"country": "FR", "size.height": {"lt": 100}}', []
    if not isinstance(where, Mapping):
        raise ArgumentTypeError(f"where: expected {expected}, got {quoted(where)}")
    for field, given in where.items():
        if not isinstance(field, str):
            raise ArgumentTypeError(
                f"where: expected the name of a field, as in {expected}, got {quoted(field)}"
            )
        names, bounds = tuple(field.split(".")), dict[str, Any]()
        if not all(names) or not is_storable(field):
            raise OptionError(
                f'where: {quoted(field)} is the name of no field; expected such as "country", or '
                f'"address.city" for a field in another'
            )
        asked = given.tolist() if isinstance(given, np.ndarray | np.generic) else given
        if isinstance(asked, Mapping):
            if not asked or not set(asked) <= set(_BOUNDS):
                raise OptionError(
                    f"where: expected some of {', '.join(_BOUNDS)} for {quoted(field)}, got "
                    f"{quoted(asked)}"
                )
            for name, bound in asked.items():
                bounds[name] = _scalar(field, bound)
                if _kind(bounds[name]) is not float:
                    raise ArgumentTypeError(
                        f"where: expected a number as {name} of {quoted(field)}, got "
                        f"{quoted(bounds[name])}"
                    )
            asked = ()
        elif not isinstance(asked, list | tuple | set | frozenset):
            asked = [asked]
        elif not asked:
            raise OptionError(f"where: {quoted(field)} is to be one of none; name one at least")
        found.append(Condition(names, tuple(_scalar(field, one) for one in asked), bounds))
    return found


def _scalar(field: str, asked: Any) -> Scalar:
    """Return what a field is compared with, as a plain value of JSON."""
    try:
        scalar: Any = _of_json(asked, 0)
        if not isinstance(scalar, list | dict):
            if isinstance(scalar, int | float):
                float(scalar)  # or raise, if it has too many digits
            return scalar  # type: ignore[no-any-return]
    except (ValueError, OverflowError) as error:
        raise OptionError(
            f"where: expected a finite number, or a text without NUL and lone surrogates, for "
            f"{quoted(field)}, got {quoted(asked)}"
        ) from error
    except TypeError:
        pass
    raise ArgumentTypeError(
        f"where: expected a text, a number, True, False, None, a list of these, or bounds such "
        f'as {{"gte": 10}} for {quoted(field)}, got {type(asked).__name__} {quoted(asked)}'
    )
