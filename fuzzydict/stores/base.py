"""What a store of keys does and holds: the protocol `Store`; texts and JSON; and ``where=``."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from uuid import UUID

import numpy as np

from fuzzydict.errors import ArgumentTypeError, OptionError, StoreError, StoreWarning, quoted
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None


#: How many keys stand for all those that a search leaves out.
SAMPLE = 4096


def id_of(text: str) -> UUID:
    """Return the number by which a store knows a text, of any length; its order is like chance.

    >>> id_of("color")
    UUID('00944d9e-92e1-6e39-6ee4-875b50caa47c')
    """
    return UUID(bytes=blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())


class Row(NamedTuple):
    """A key as a store holds it."""

    key: str
    value: Any  # of JSON's types
    vector: Vector  # (E,), of length one; None if it has no words, or is zero
    words: str = ""  # of a key that is written, in their first spellings; "" if it has none


class Search(NamedTuple):
    """What is searched for a query: its vector and words, as in `Row`, and how many keys.

    Keys are near by the cosine of the vectors. They are spelled alike if their words share many
    n-grams; of which length, and what many is, each store decides.
    """

    vector: Vector
    words: str
    near: int
    spelled: int


class Hit(NamedTuple):
    """A key that was found, and its vector, (E,), None as in `Row`."""

    key: str
    vector: Vector


class Hits(NamedTuple):
    """The keys that were found for one search, each list best first."""

    near: list[Hit]
    spelled: list[Hit]


class Known(NamedTuple):
    """What a store holds of some texts: the values of keys, and the keys of aliases.

    The version changes whenever `Store.sample` would return other keys.
    """

    values: dict[str, Any]
    keys: dict[str, str | None]  # None for an alias that was taught to have no key
    version: int = 0


class Sample(NamedTuple):
    """Some keys that stand for all: those that come first in the order of `id_of`."""

    version: int  # as in `Known`
    total: int  # how many keys there are
    ids: list[UUID]  # of the sample
    hits: dict[UUID, Hit]  # those that were not known to the caller
    scans: bool = False  # whether a search compares with many keys, since there is no index


class Alias(NamedTuple):
    """What was taught: a text, as `same_text` writes it and as it was written, and its key."""

    words: str
    written: str
    key: str | None


class Store(Protocol):
    """Keys and their vectors in a database. It finds candidates, and scores nothing.

    What a call writes is written as a whole or not at all, and is found by all that search after
    it. Each call of a method takes one round trip, but for `create`, `write` of many rows, `pages`
    and `build_index`. A connection that is lost is made again once, by the call that finds it so.
    Several threads may use a store at once.

    All methods raise StoreError if the database cannot be reached, or refuses, and but for `meta`,
    `create`, `drop` and `close` if nothing was created. The message names ``place``, and never a
    password. Rows that cannot be what `write` wrote are left out, with a StoreWarning.

    Keys, words and values that are written are `is_storable`. Those that are looked up, removed or
    forgotten may be any texts; ``words`` are texts as `same_text` writes them.
    """

    place: str  # the database and the table or collection, as an address without a password

    def meta(self) -> dict[str, Any] | None:
        """Return what `create` wrote; None if nothing was created."""

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        """Create what holds keys with vectors (E,), and write the meta; one that exists stays."""

    def count(self) -> int:
        """Return the number of keys; of many millions, about."""

    def sample(self, known: Collection[UUID]) -> Sample:
        """Return a sample of `SAMPLE` keys at most, and what those are that are not ``known``."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows, at most a few thousand with different keys; equal keys are replaced."""

    def build_index(self) -> str | None:
        """Build what makes searches quick, while others read and write; return why not, if so."""

    def remove(self, keys: Sequence[str]) -> int:
        """Remove keys, and return how many were there; and aliases of them, there or not."""

    def clear(self) -> None:
        """Remove all keys, whatever they are, and the aliases of keys."""

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        """Return the values of the texts that are keys, and what the words of aliases stand for."""

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        """Return the keys near each query, and those spelled like it, if they satisfy ``where``.

        Those near are of the keys with vectors; those spelled alike share an n-gram at least.
        """

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        """Yield all rows in the order of `id_of`, some at a time; without vectors, all are None.

        What others write meanwhile may be among them or not.
        """

    def teach(self, aliases: Sequence[Alias]) -> None:
        """Write aliases; those of equal words are replaced."""

    def forget(self, words: Sequence[str]) -> int:
        """Remove the aliases with these words, and return how many were there."""

    def aliases(self) -> Iterator[Alias]:
        """Yield all aliases."""

    def drop(self) -> None:
        """Remove everything that `create` made, if it did."""

    def close(self) -> None:
        """Close the connections; a later call makes another."""

    # ---- what is believed of rows, which others may have written ---------------------------------

    def row_of(
        self, number: Any, key: Any, vector: Vector, value: Any = None, *, text: Any = None
    ) -> Row | None:
        """Return the row with an id, or None and warn if `write` writes no such.

        Its value is given as it is, or as JSON in ``text``.
        """
        try:
            if not isinstance(key, str) or not is_storable(key) or str(id_of(key)) != str(number):
                raise ValueError("its id is not that of its key")
            if vector is not None:
                if not (np.isfinite(vector).all() and vector.any()):
                    raise ValueError("its vector is zero, or has numbers that are not finite")
                if not plain(key):
                    raise ValueError("it has a vector, though its key has no words")
            return Row(key, as_value(key, value if text is None else json.loads(text)), vector)
        except (ValueError, TypeError, RecursionError) as error:
            self._leave_out(f"the key {quoted(key)} (id {number})", error)
            return None

    def alias_of(self, number: Any, words: Any, written: Any, key: Any) -> Alias | None:
        """Return an alias, or None and warn if `teach` writes no such."""
        texts = [words, written, *([] if key is None else [key])]
        if all(isinstance(one, str) and is_storable(one) for one in texts):
            return Alias(words, written, key)
        self._leave_out(f"the alias {quoted(written)} (id {number})", "it is no text")
        return None

    def _leave_out(self, what: str, why: Any) -> None:
        warnings.warn(
            f"{self.place}: {what} is left out, for something else wrote it: {why}; write it "
            f"again, or remove it",
            StoreWarning,
            stacklevel=2,
        )

    def meta_of(self, text: Any) -> dict[str, Any]:
        """Return the meta from its JSON, or raise StoreError if it is no object."""
        try:
            meta = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            meta = None
        if not isinstance(meta, dict):
            raise StoreError(
                f"{self.place}: what it says of its keys is damaged; push the keys again into "
                f"another place, or drop this one"
            )
        return meta

    def vectors_of(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """Return the vectors of those rows that have one, (m, E), or raise StoreError.

        Of several lengths, none may be written.
        """
        vectors = [row.vector for row in rows if row.vector is not None]
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise StoreError(f"{self.place}: expected vectors of one length, got {sorted(lengths)}")
        return np.array(vectors, np.float32)


# ---- what a store can hold ---------------------------------------------------------------------

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
        if not is_storable(value):
            raise ArgumentTypeError(f"{quoted(value)} has a NUL or a lone surrogate")
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _DIGITS * np.log2(10):
            raise ArgumentTypeError(f"{quoted(value)} has more than {_DIGITS} digits")
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ArgumentTypeError(f"{value} is no number of JSON")
        return float(value)
    if isinstance(value, list | tuple):
        return [_converted(part, depth + 1) for part in value]
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"{quoted(value)} is of type {type(value).__name__}")
    for name in value:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"{quoted(name)} names a field, and is no text")
    return {_converted(name, 0): _converted(part, depth + 1) for name, part in dict.items(value)}


# ---- where= -----------------------------------------------------------------------------------

#: What a field is compared with.
Scalar: TypeAlias = str | int | float | bool | None

_BOUNDS = ("gt", "gte", "lt", "lte")
_EXPECTED = 'a mapping such as {"country": "FR", "size.height": {"lt": 100}}'
_KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string"}
_ABSENT: Any = object()


class Condition(NamedTuple):
    """What a field of a value must satisfy. A value without the field satisfies none.

    Only objects of JSON have fields: "0" does not lead into a list. A list equals no scalar, even
    if one of its items does.
    """

    field: tuple[str, ...]  # the names that lead to it: ("address", "city")
    one_of: tuple[Scalar, ...] = ()  # it equals one, and is of its type of JSON; or is compared:
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


def satisfies(value: Any, conditions: Sequence[Condition]) -> bool:
    """Tell whether a value, of JSON's types, satisfies all conditions.

    >>> satisfies({"address": {"city": "Lyon"}}, conditions_of({"address.city": ["Lyon", "Nice"]}))
    True
    """
    for names, one_of, gt, gte, lt, lte in conditions:
        found = value
        for name in names:
            found = found.get(name, _ABSENT) if isinstance(found, dict) else _ABSENT
        kind = _KINDS.get(type(found))
        if one_of:
            if not any(kind == _KINDS[type(one)] and found == one for one in one_of):
                return False
        elif (
            kind != "number"
            or (gt is not None and not found > gt)
            or (gte is not None and not found >= gte)
            or (lt is not None and not found < lt)
            or (lte is not None and not found <= lte)
        ):
            return False
    return True


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
    if isinstance(asked, np.ndarray | np.generic):
        asked = asked.tolist()
    if isinstance(asked, Mapping):
        if not asked or not set(asked) <= set(_BOUNDS):
            raise OptionError(
                f"where: expected some of {', '.join(_BOUNDS)} for {quoted(field)}, got "
                f"{quoted(asked)}"
            )
        bounds: dict[str, Any] = {}
        for name, one in asked.items():
            bound = one.item() if isinstance(one, np.generic) else one
            if isinstance(bound, bool) or not isinstance(bound, int | float):
                raise ArgumentTypeError(
                    f"where: expected a number as {name} of {quoted(field)}, got {quoted(one)}"
                )
            bounds[name] = _scalar(field, bound)
        return Condition(names, **bounds)
    several = asked if isinstance(asked, list | tuple | set | frozenset) else [asked]
    if not several:
        raise OptionError(f"where: {quoted(field)} is to be one of none; name one at least")
    return Condition(names, tuple(_scalar(field, one) for one in several))


def _scalar(field: str, asked: Any) -> Scalar:
    """Return what a field is compared with, as a plain value of JSON."""
    if isinstance(asked, np.generic):
        asked = asked.item()
    if asked is None or isinstance(asked, bool):
        return asked
    if isinstance(asked, int | float):
        try:
            is_finite = isfinite(asked)
        except OverflowError:  # an integer of too many digits
            is_finite = False
        if not is_finite:
            raise OptionError(
                f"where: expected a finite number for {quoted(field)}, got {quoted(asked)}"
            )
        return int(asked) if isinstance(asked, int) else float(asked)
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
