"""``where=``: which keys a read may find, by the fields of their values."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

#: What a field is compared with.
Scalar: TypeAlias = str | int | float | bool | None


class Condition(NamedTuple):
    """What a field of a value must satisfy. A value without the field satisfies none.

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
