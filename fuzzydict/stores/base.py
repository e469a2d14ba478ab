"""What a store of keys does: the protocol `Store`, and what is believed of its rows."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from threading import RLock
from typing import Any, NamedTuple, Protocol, TypeAlias
from uuid import UUID
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from fuzzydict.errors import StoreError, StoreWarning, quoted
from fuzzydict.stores.values import Condition, as_value, is_storable

Vector: TypeAlias = NDArray[np.float32] | None

#: Is called with how much is done, and of how much.
Progress: TypeAlias = "Callable[[int, int], None]"

#: How many keys stand for all those that a search leaves out.
SAMPLE = 4096
#: How many keys there may be.
MOST_KEYS = 1 << 40
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|(?:postgres(?:ql)?|qdrant):", re.I)


def untold(done: int, total: int) -> None:
    """Tell nobody how much is done."""


def is_address(value: Any) -> bool:
    """Tell whether a value is the address of a store, and not the name of a file.

    >>> is_address("qdrant://host/keys"), is_address("postgresql:keys"), is_address("./a://b.json")
    (True, True, False)
    """
    return isinstance(value, str) and _SCHEME.match(value) is not None


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
    """What is searched for a query: its vector and words, as in `Row`, and how many keys."""

    vector: Vector
    words: str
    near: int  # by the cosine of the vectors
    spelled: int  # whose words share many n-grams; of which length, each store decides


class Hits(NamedTuple):
    """The rows that were found for one search, without values, each list best first."""

    near: list[Row]
    spelled: list[Row]
    values: dict[str, Any]  # the short ones, by key, of a store that reads them with the rows


class Known(NamedTuple):
    """What a store holds of some texts: the values of keys, and the keys of aliases."""

    values: dict[str, Any]
    keys: dict[str, str | None]  # None for an alias that was taught to have no key
    version: int = 0  # another one whenever `Store.sample` would return other keys


class Counts(NamedTuple):
    """How many words of all keys have each stem."""

    keys: int  # how many there were when they were counted
    stems: Mapping[str, int]


class Sample(NamedTuple):
    """Some keys that stand for all: those that come first in the order of `id_of`."""

    version: int  # as in `Known`
    total: int  # how many keys there are
    ids: list[UUID]  # of the sample
    hits: list[Row]  # those that were not known to the caller, without values
    scans: bool = False  # whether a search compares with many keys, since there is no index
    counted: int = 0  # another number whenever counts are kept
    counts: Counts | None = None  # those kept last; None if they were known to the caller


class Alias(NamedTuple):
    """What was taught: a text, as `same_text` writes it and as it was written, and its key."""

    words: str
    written: str
    key: str | None


class Store(Protocol):
    """Keys and their vectors in a database. It finds candidates, and scores nothing.

    What a call writes is written as a whole or not at all, and is found by all that search after
    it. Each call takes one round trip, but for `create`, `write` of many rows, `pages` and
    `build_index`. A connection that is lost is made again once. Several threads may use a store.

    All methods raise StoreError if the database cannot be reached, or refuses, and but for `meta`,
    `create` and `close` if nothing was created. The message names ``place``, and never a
    password. Rows that cannot be what `write` wrote are left out, with a StoreWarning.

    Keys, words and values that are written are `is_storable`. Those that are looked up, removed or
    forgotten may be any texts; ``words`` are texts as `same_text` writes them.
    """

    place: str  # the database and the table or collection, as an address without a password
    lock: RLock  # of what this process knows of it; another one after a fork

    def _begin(self) -> None:
        """Begin without connections; so does a process that was forked."""
        self.lock = RLock()
        _stores.add(self)

    def meta(self) -> dict[str, Any] | None:
        """Return what `create` wrote; None if nothing was created."""

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        """Create what holds keys with vectors (E,), and write the meta; one that exists stays."""

    def count(self) -> int:
        """Return the number of keys; of many millions, about."""

    def sample(self, known: Collection[UUID], counted: int = 0) -> Sample:
        """Return a sample of `SAMPLE` keys at most, and what those are that are not ``known``.

        A caller knows the counts that came with this number ``counted``.
        """

    def keep_counts(self, counts: Counts) -> None:
        """Keep counts for all that take a sample, until others are kept, or `clear`."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows, at most a few thousand with different keys; equal keys are replaced.

        Their vectors are of one length.
        """

    def build_index(self, progress: Progress = untold) -> None:
        """Build what makes searches quick, while others read and write."""

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

    def close(self) -> None:
        """Close the connections; a later call makes another."""

    # ---- what is believed of rows, which others may have written ---------------------------------

    def row_of(
        self, number: Any, key: Any, vector: Vector, value: Any = None, *, text: Any = None
    ) -> Row | None:
        """Return the row with an id, its value from JSON if that is in ``text``.

        If `write` writes no such row, warn and return None.
        """
        try:
            if not isinstance(key, str) or not is_storable(key) or str(id_of(key)) != str(number):
                raise ValueError("its id is not that of its key")
            if vector is not None and not (np.isfinite(vector).all() and vector.any()):
                raise ValueError("its vector is zero, or has numbers that are not finite")
            return Row(key, as_value(key, value if text is None else json.loads(text)), vector)
        except (ValueError, TypeError, RecursionError) as error:
            self._leave_out(f"the key {quoted(key)} (id {number})", error)
            return None

    def alias_of(self, number: Any, words: Any, written: Any, key: Any) -> Alias | None:
        """Return an alias, or None and warn if `teach` writes no such."""
        texts = [words, written] if key is None else [words, written, key]
        if all(isinstance(one, str) and is_storable(one) for one in texts):
            return Alias(words, written, key)
        self._leave_out(f"the alias {quoted(written)} (id {number})", "it is no text")
        return None

    def counts_of(self, text: Any) -> Counts:
        """Return counts from their JSON, if there are any; or warn that they are none."""
        with suppress(ValueError, TypeError, AttributeError, RecursionError):
            keys, stems = json.loads("[0, {}]" if text is None else text)
            if all(type(one) is int and 0 <= one < MOST_KEYS for one in (keys, *stems.values())):
                return Counts(keys, stems)
        self._leave_out("the count of the words of its keys", "it is none")
        return Counts(0, {})

    def _leave_out(self, what: str, why: Any) -> None:
        warnings.warn(
            f"{self.place}: {what} is left out, for something else wrote it: {why}; write it "
            f"again, or remove it",
            StoreWarning,
            stacklevel=2,
        )

    def meta_of(self, text: Any) -> dict[str, Any]:
        """Return the meta from its JSON, or raise StoreError if it is no object."""
        with suppress(ValueError, TypeError, RecursionError):
            return dict(**json.loads(text))  # or TypeError, of what has no fields
        raise StoreError(
            f"{self.place}: what it says of its keys is damaged; push the keys again into another "
            f"place, or drop this one"
        )


# ---- a process that is forked --------------------------------------------------------------------

_stores: WeakSet[Store] = WeakSet()
#: What stores had before: connections stay open, since to close one would end it in the parent.
_left: list[dict[str, Any]] = []


def _leave_connections() -> None:
    for store in list(_stores):
        _left.append(vars(store).copy())
        store._begin()


if hasattr(os, "register_at_fork"):  # there is none on Windows
    os.register_at_fork(after_in_child=_leave_connections)
