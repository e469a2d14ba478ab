"""`MemoryStore`: keys in the memory of this process, compared one by one."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import StoreError
from fuzzydict.stores.base import Alias, Hit, Hits, Known, Row, Search, id_of
from fuzzydict.stores.where import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fuzzydict.stores.where import Condition


class MemoryStore:
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

    def meta(self) -> dict[str, Any] | None:
        """Return what was written last; None if nothing was created."""
        return deepcopy(self._meta)

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        """Begin to hold keys with vectors (E,); what there is stays."""
        with self._lock:
            if self._meta is None:
                self._dimensions, self._meta = dimensions, deepcopy(dict(meta))

    def set_meta(self, meta: Mapping[str, Any]) -> None:
        """Replace the meta."""
        with self._created():
            self._meta = deepcopy(dict(meta))

    def count(self) -> int:
        """Return the number of keys."""
        with self._created():
            return len(self._rows)

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows; equal keys are replaced."""
        with self._created():
            for row in rows:
                if row.vector is not None and row.vector.shape != (self._dimensions,):
                    raise StoreError(
                        f"{self.place}: expected vectors of shape ({self._dimensions},), got "
                        f"{row.vector.shape}"
                    )
            self._rows.update({row.key: deepcopy(row) for row in rows})

    def settle(self) -> None:
        """Do nothing: there is no index."""
        with self._created():
            pass

    def remove(self, keys: Sequence[str]) -> int:
        """Remove keys and their aliases, and return how many keys were there."""
        with self._created():
            gone, before = set(keys), len(self._rows)
            self._rows = {key: row for key, row in self._rows.items() if key not in gone}
            kept = {words: one for words, one in self._aliases.items() if one.key not in gone}
            self._aliases = kept
            return before - len(self._rows)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        """Return the values of the texts that are keys, and the keys of those that are aliases."""
        with self._created():
            return Known(
                {key: deepcopy(self._rows[key].value) for key in keys if key in self._rows},
                {text: self._aliases[text].key for text in words if text in self._aliases},
            )

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        """Return the keys near each query, and those spelled like it, if they satisfy ``where``."""
        with self._created():
            rows = [deepcopy(row) for row in self._rows.values() if satisfies(row.value, where)]
        return [Hits(_near(rows, search), _spelled(rows, search)) for search in searches]

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        """Yield all rows in the order of `id_of`, some at a time; without vectors, all are None."""
        with self._created():
            rows = sorted(deepcopy(list(self._rows.values())), key=lambda row: id_of(row.key))
        if not vectors:
            rows = [row._replace(vector=None) for row in rows]
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def teach(self, aliases: Sequence[Alias]) -> None:
        """Write aliases; those of equal words are replaced."""
        with self._created():
            self._aliases.update({alias.words: alias for alias in aliases})

    def forget(self, words: Sequence[str]) -> int:
        """Remove the aliases with these words, and return how many were there."""
        with self._created():
            gone = self._aliases.keys() & set(words)
            for text in gone:
                del self._aliases[text]
            return len(gone)

    def aliases(self) -> Iterator[Alias]:
        """Yield all aliases."""
        with self._created():
            aliases = list(self._aliases.values())
        yield from aliases

    def drop(self) -> None:
        """Remove everything."""
        with self._lock:
            self._meta = None
            self._rows, self._aliases = {}, {}

    def close(self) -> None:
        """Do nothing: there is no connection."""

    @contextmanager
    def _created(self) -> Iterator[None]:
        """Let no other thread in, and require that `create` was called."""
        with self._lock:
            if self._meta is None:
                raise StoreError(f"{self.place}: nothing was created there")
            yield


def _near(rows: Sequence[Row], search: Search) -> list[Hit]:
    if search.vector is None:
        return []
    found = [(float(row.vector @ search.vector), row) for row in rows if row.vector is not None]
    return _best(found, search.near)


def _spelled(rows: Sequence[Row], search: Search) -> list[Hit]:
    found = []
    for row in rows:
        shared = len(np.intersect1d(row.ngrams, search.ngrams))
        if shared:
            found.append((shared / float(len(row.ngrams) * len(search.ngrams)) ** 0.5, row))
    return _best(found, search.spelled)


def _best(found: Sequence[tuple[float, Row]], count: int) -> list[Hit]:
    best = sorted(found, key=lambda one: -one[0])[:count]
    return [Hit(row.key, row.vector) for _, row in best]
