"""`MemoryStore`: keys in the memory of this process, compared one by one."""

from __future__ import annotations

from copy import deepcopy
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import StoreError
from fuzzydict.stores.base import Alias, Hit, Hits, Known, Row, Search, Store, id_of
from fuzzydict.stores.values import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fuzzydict.stores.values import Condition


class MemoryStore(Store):
    """A `Store` that is slow and exact: what every other store is compared with.

    Nothing is shared with the caller: what goes in and what comes out are copies.

    >>> store = MemoryStore()
    >>> store.create(2, {"format": 1})
    >>> store.write([Row("red", {"hex": "#f00"}, np.array([1, 0], np.float32), np.array([7]))])
    >>> store.rows(["red", "blue"]).values
    {'red': {'hex': '#f00'}}
    """

    def __init__(self, place: str = "memory") -> None:
        self.place = place
        self._lock = RLock()
        self._dimensions = 0
        self._meta: dict[str, Any] | None = None
        self._rows: dict[str, Row] = {}
        self._aliases: dict[str, Alias] = {}

    def _created(self) -> RLock:
        """Return the lock of what was created."""
        if self._meta is None:
            raise StoreError(f"{self.place}: nothing was created there")
        return self._lock

    def meta(self) -> dict[str, Any] | None:
        return deepcopy(self._meta)

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        with self._lock:
            if self._meta is None:
                self._dimensions, self._meta = dimensions, deepcopy(dict(meta))

    def set_meta(self, meta: Mapping[str, Any]) -> None:
        with self._created():
            self._meta = deepcopy(dict(meta))

    def count(self) -> int:
        with self._created():
            return len(self._rows)

    def write(self, rows: Sequence[Row]) -> None:
        with self._created():
            for row in rows:
                if row.vector is not None and row.vector.shape != (self._dimensions,):
                    raise StoreError(
                        f"{self.place}: expected vectors of shape ({self._dimensions},), got "
                        f"{row.vector.shape}"
                    )
            self._rows |= {row.key: deepcopy(row) for row in rows}

    def settle(self) -> None:
        self._created()

    def remove(self, keys: Sequence[str]) -> int:
        with self._created():
            there = self._rows.keys() & set(keys)
            for key in there:
                del self._rows[key]
            taught = self._aliases.items()
            self._aliases = {words: one for words, one in taught if one.key not in set(keys)}
            return len(there)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        with self._created():
            return Known(
                {key: deepcopy(self._rows[key].value) for key in keys if key in self._rows},
                {text: self._aliases[text].key for text in words if text in self._aliases},
            )

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        with self._created():
            rows = [deepcopy(row) for row in self._rows.values() if satisfies(row.value, where)]
        return [
            Hits(_best(rows, _nearness, one, one.near), _best(rows, _spelling, one, one.spelled))
            for one in searches
        ]

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        with self._created():
            rows = sorted(deepcopy(list(self._rows.values())), key=lambda row: id_of(row.key))
        if not vectors:
            rows = [row._replace(vector=None) for row in rows]
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def teach(self, aliases: Sequence[Alias]) -> None:
        with self._created():
            self._aliases |= {alias.words: alias for alias in aliases}

    def forget(self, words: Sequence[str]) -> int:
        with self._created():
            there = self._aliases.keys() & set(words)
            for text in there:
                del self._aliases[text]
            return len(there)

    def aliases(self) -> Iterator[Alias]:
        with self._created():
            aliases = list(self._aliases.values())
        yield from aliases

    def drop(self) -> None:
        with self._lock:
            self._meta, self._rows, self._aliases = None, {}, {}

    def close(self) -> None:
        pass


def _nearness(row: Row, search: Search) -> float | None:
    if row.vector is None or search.vector is None:
        return None
    return float(row.vector @ search.vector)


def _spelling(row: Row, search: Search) -> float | None:
    shared = len(np.intersect1d(row.ngrams, search.ngrams))
    return shared / float(len(row.ngrams) * len(search.ngrams)) ** 0.5 if shared else None


def _best(rows: Sequence[Row], cosine: Any, search: Search, count: int) -> list[Hit]:
    """Return the rows with the largest cosines, of those that have one, best first."""
    cosines = [(cosine(row, search), row) for row in rows]
    found = sorted((one for one in cosines if one[0] is not None), key=lambda one: -one[0])
    return [Hit(row.key, row.vector) for _, row in found[:count]]
