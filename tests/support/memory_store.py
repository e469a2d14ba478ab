"""`MemoryStore`: a slow and exact store, with which every other is compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any
from uuid import UUID

from fuzzydict.errors import StoreError
from fuzzydict.stores import base
from fuzzydict.stores.base import Alias, Counts, Hits, Known, Row, Sample, Search, id_of
from fuzzydict.stores.values import Condition, satisfies
from tests.support.stores import nearness, spelling

SAMPLE = base.SAMPLE


class MemoryStore(base.Store):
    """A slow and exact store, with which others are compared; it takes and gives copies."""

    def __init__(self, place: str = "memory") -> None:
        self.place = place
        self._version = 0
        self._begin()
        self._dimensions = 0
        self._meta: dict[str, Any] | None = None
        self._rows: dict[str, Row] = {}
        self._aliases: dict[str, Alias] = {}
        self._counted, self._counts = 0, Counts(0, {})

    def _created(self) -> Any:
        if self._meta is None:
            raise StoreError(f"{self.place}: nothing was created there")
        return self.lock

    def meta(self) -> dict[str, Any] | None:
        return deepcopy(self._meta)

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        with self.lock:
            if self._meta is None:
                self._dimensions, self._meta = dimensions, deepcopy(dict(meta))
                self._version += 1

    def count(self) -> int:
        with self._created():
            return len(self._rows)

    def sample(self, known: Collection[UUID], counted: int = 0) -> Sample:
        with self._created():
            first = sorted((id_of(key), key) for key in self._rows)[:SAMPLE]
            hits = [self._rows[key] for i, key in first if i not in known]
            counts = None if counted == self._counted else deepcopy(self._counts)
            told = [i for i, _ in first], deepcopy(hits), False, self._counted, counts
            return Sample(self._version, len(self._rows), *told)

    def keep_counts(self, counts: Counts) -> None:
        with self._created():
            self._version += 1
            self._counted, self._counts = self._version, deepcopy(counts)

    def write(self, rows: Sequence[Row]) -> None:
        with self._created():
            for row in rows:
                if row.vector is not None and row.vector.shape != (self._dimensions,):
                    raise StoreError(f"{self.place}: expected {self._dimensions} numbers")
            self._rows |= {row.key: deepcopy(row) for row in rows}
            self._version += 1

    def build_index(self, progress: base.Progress = base.untold) -> None:
        with self._created():
            progress(1, 1)

    def remove(self, keys: Sequence[str]) -> int:
        with self._created():
            taught = self._aliases.items()
            self._aliases = {words: one for words, one in taught if one.key not in set(keys)}
            self._version += 1
            return sum(self._rows.pop(key, None) is not None for key in keys)

    def clear(self) -> None:
        with self._created():
            self._rows, self._version = {}, self._version + 1
            self._counted, self._counts = self._version, Counts(0, {})
            self._aliases = {words: one for words, one in self._aliases.items() if one.key is None}

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        with self._created():
            return Known(
                {key: deepcopy(self._rows[key].value) for key in keys if key in self._rows},
                {text: self._aliases[text].key for text in words if text in self._aliases},
                self._version,
            )

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        with self._created():
            rows = [row for row in self._rows.values() if satisfies(row.value, where)]
        return [
            Hits(_best(rows, nearness, one, one.near), _best(rows, spelling, one, one.spelled), {})
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
            return sum(self._aliases.pop(text, None) is not None for text in words)

    def aliases(self) -> Iterator[Alias]:
        with self._created():
            aliases = list(self._aliases.values())
        yield from aliases

    def close(self) -> None:
        pass


def _best(rows: Sequence[Row], cosine: Any, search: Search, count: int) -> list[Row]:
    """Return the rows with the largest cosines, of those that have one, best first."""
    cosines = [(cosine(row, search), row) for row in rows]
    found = sorted((one for one in cosines if one[0] is not None), key=lambda one: -one[0])
    return [deepcopy(row) for _, row in found[:count]]
