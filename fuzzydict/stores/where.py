"""``where=``: which keys a read may find, by the fields of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.stores.values import is_storable

#: What a field is compared with.
Scalar: TypeAlias = str | int | float | bool | None

_BOUNDS = ("gt", "gte", "lt", "lte")
_EXPECTED = 'a mapping such as {"country": "FR", "size.height": {"lt": 100}}'
_ABSENT: Any = object()


class Condition(NamedTuple):
    """What a field of a value must satisfy. A value without the field satisfies none.

    Only objects of JSON have fields: "0" does not lead into a list. A list equals no scalar, even
    if one of its items does.

    Attributes:
        field: the names that lead to it: ("address", "city").
        one_of: it equals one of these, and is of the same type of JSON; empty if it is compared.
        gt, gte, lt, lte: it is a number that is greater, greater or equal, ...; None if not asked.
    """

    field: tuple[str, ...]
    one_of: tuple[Scalar, ...] = ()
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


def satisfies(value: Any, conditions: Sequence[Condition]) -> bool:
    """Tell whether a value, of JSON's types, satisfies all conditions.

    >>> satisfies({"address": {"city": "Lyon"}}, conditions_of({"address.city": ["Lyon", "Nice"]}))
    True
    """
    return all(_holds(_field_of(value, one.field), one) for one in conditions)


def _field_of(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT
    return value


def _holds(found: Any, condition: Condition) -> bool:
    if condition.one_of:
        kind = _kind(found)
        return any(kind == _kind(one) and found == one for one in condition.one_of)
    _, _, gt, gte, lt, lte = condition
    return (
        _kind(found) == "number"
        and (gt is None or found > gt)
        and (gte is None or found >= gte)
        and (lt is None or found < lt)
        and (lte is None or found <= lte)
    )


def _kind(value: Any) -> str | None:
    """Return the type of JSON of a scalar; None for what is none."""
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string"}
    return kinds.get(type(value))


# ---- what was asked for -----------------------------------------------------------------------


def conditions_of(where: Mapping[str, Any] | None) -> list[Condition]:
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
    [Condition(field=('price',), one_of=(), gt=None, gte=10, lt=20, lte=None)]
    """
    if where is None:
        return []
    if not isinstance(where, Mapping):
        raise ArgumentTypeError(f"where: expected {_EXPECTED}, got {quoted(where)}")
    return [_condition(field, asked) for field, asked in where.items()]


def _condition(field: Any, asked: Any) -> Condition:
    if not isinstance(field, str):
        raise ArgumentTypeError(
            f"where: expected the name of a field, as in {_EXPECTED}, got {quoted(field)}"
        )
    names = tuple(field.split("."))
    if not all(names) or not is_storable(field):
        raise OptionError(
            f'where: {quoted(field)} is the name of no field; expected such as "country", or '
            f'"address.city" for a field in another'
        )
    if isinstance(asked, Mapping):
        return Condition(names, **_bounds(field, asked))
    if isinstance(asked, np.ndarray | np.generic):
        asked = asked.tolist()
    if isinstance(asked, list | tuple | set | frozenset):
        if not asked:
            raise OptionError(f"where: {quoted(field)} is to be one of none; name one at least")
        return Condition(names, tuple(_scalar(field, one) for one in asked))
    return Condition(names, (_scalar(field, asked),))


def _scalar(field: str, asked: Any) -> Scalar:
    if isinstance(asked, np.generic):
        asked = asked.item()
    if asked is None or isinstance(asked, bool):
        return asked
    if isinstance(asked, int | float):
        return _finite(field, asked)
    if not isinstance(asked, str):
        raise ArgumentTypeError(
            f"where: expected a text, a number, True, False, None, a list of these, or bounds such "
            f'as {{"gte": 10}} for {quoted(field)}, got {type(asked).__name__} {quoted(asked)}'
        )
    if not is_storable(asked):
        raise OptionError(
            f"where: no value of {quoted(field)} is {quoted(asked)}, which has a NUL or a lone "
            f"surrogate"
        )
    return str.__str__(asked)


def _bounds(field: str, asked: Mapping[Any, Any]) -> dict[str, Any]:
    if not asked or not set(asked) <= set(_BOUNDS):
        raise OptionError(
            f"where: expected some of {', '.join(_BOUNDS)} for {quoted(field)}, got {quoted(asked)}"
        )
    bounds = {}
    for name, bound in asked.items():
        number = bound.item() if isinstance(bound, np.generic) else bound
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ArgumentTypeError(
                f"where: expected a number as {name} of {quoted(field)}, got {quoted(bound)}"
            )
        bounds[name] = _finite(field, number)
    return bounds


def _finite(field: str, number: float) -> float:
    try:
        is_finite = isfinite(number)
    except OverflowError:  # an integer of too many digits
        is_finite = False
    if not is_finite:
        raise OptionError(
            f"where: expected a finite number for {quoted(field)}, got {quoted(number)}"
        )
    return int(number) if isinstance(number, int) else float(number)
