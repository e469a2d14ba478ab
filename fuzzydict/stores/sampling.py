"""How a store is asked: what it finds becomes the keys that are judged."""

from __future__ import annotations

import warnings
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import units
from fuzzydict.errors import OptionError, StoreWarning, quoted
from fuzzydict.nn.scorers import ScorerLike
from fuzzydict.search.keys import Keys, Query, Statistics
from fuzzydict.search.lookup import SPELLED, Exact, Listing, Lookup, sought
from fuzzydict.search.score import JudgedScore, Meaning, as_score, is_spelling
from fuzzydict.stores.base import SAMPLE, Counts, Row, Search, Store, id_of
from fuzzydict.stores.values import Condition
from fuzzydict.text.words import plain

#: How an index is built.
BUILD = "build one by `fuzzydict push --index URL`, or d.build_index()"
_NAMED = 12  # keys that are sought by each other name of a query
_FEW = 16  # keys that are shown of a query that is like none
_MANY = 300_000  # keys of which a graph misses some: twice as many are sought for the best one


class Sampling:
    """What scores need to know of all keys of a store: the same for all that read it.

    It is read anew, by one thread, when the version of the keys is another.

    Attributes:
        store: is asked.
        meaning: what keys are compared by.
        total: how many keys there are.
        with_words: about how many of them have words.
        keys: those of a sample that have words, with statistics of all keys.
    """

    def __init__(self, store: Store, meaning: Meaning) -> None:
        self.store, self.meaning, self._has_warned = store, meaning, False
        self._size = size_of(meaning)  # now: an encoder must not be called while the lock is held
        self._begin()

    def _begin(self) -> None:
        self._names, self._own = dict[UUID, str](), Keys(self.meaning.table)  # of the sample
        self._counted, self._counts = 0, Counts(0, {})
        self._version: int | None = None  # of the keys that were read, as the store tells
        self._made: tuple[Any, Exact | StoreLookup] | None = None  # the last lookup, and its scorer
        self._is_whole = False  # whether the sample has all keys, so that no others need be found
        self.total, self.with_words, self.keys = 0, 0, self._own

    def lookup(
        self, version: int, scorer: ScorerLike | None, where: Sequence[Condition] = ()
    ) -> Exact | StoreLookup:
        """Return what finds keys among those of a version, as the store tells, or of a later one.

        As long as the sample has all keys, it finds them here, as in a dict.
        """
        with self.store.lock:
            if self._version is None:  # or an error, an interrupt or a fork came amid a read
                self._begin()
            if self._version != version:
                self._version = None
                self._read()
            if where:
                return StoreLookup(self, scorer, where)
            if self._made is None or self._made[0] != scorer:
                exact = self._is_whole and Exact(self.keys, self.meaning, scorer)
                self._made = scorer, exact or StoreLookup(self, scorer)
            return self._made[1]

    def _read(self) -> None:
        """Read the sample as it is now, and of it only what is new."""
        found, own = self.store.sample(self._names.keys(), self._counted), self._own
        self._counted, self._counts = found.counted, found.counts or self._counts
        gone = {self._names.pop(number) for number in self._names.keys() - set(found.ids)}
        self._names |= {id_of(row.key): row.key for row in found.hits}
        new = {row.key: row.vector for row in found.hits}
        left = [name for name in own.living() if name not in gone]
        # Sorted, so that of equal ones the same comes first for all.
        self._own = own = own.updated(
            [*left, *sorted(new)], lambda names: stacked([new[name] for name in names], self._size)
        )
        self._made, self._is_whole = None, len(found.ids) < SAMPLE
        self.keys, self.total = own, len(found.ids) if self._is_whole else found.total
        times = self.total / max(len(self._names), 1)
        self.with_words = round(own.count * times)
        if not self._is_whole:  # the sample tells of the others
            of_sample, stems = own.statistics, self._counts.stems
            if not self.total / 2 <= self._counts.keys <= self.total * 2:
                # Most words are rare, so that those in a sample are there by chance: a word each.
                stems = {one: round((n - 1) * times + 1) for one, n in of_sample.stems.items()}
            ngrams = np.rint(of_sample.ngrams * times).astype(np.int64)
            of_all = Statistics(self.with_words, stems, ngrams, of_sample.background)
            self.keys = own.with_statistics(of_all)
        if found.scans and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self.store.place}: it has {self.total:,} keys and no index, so that each read "
                f"compares with all of them; {BUILD}",
                StoreWarning,
                stacklevel=2,
            )
        self._version = found.version


def size_of(meaning: Meaning) -> int:
    """Return the number of dimensions E of the vectors of keys."""
    return int(meaning.of_keys(["size"]).shape[1])


def stacked(vectors: Sequence[NDArray[np.float32] | None], size: int) -> NDArray[np.float32]:
    """Return the vectors of n keys as an array, (n, E), with zeros where there are none."""
    array = np.zeros((len(vectors), size), np.float32)
    for row, vector in zip(array, vectors, strict=True):
        if vector is not None:
            row[:] = vector
    return array


class StoreLookup(Lookup):
    """A lookup that scores the keys that a store finds for each query.

    The sample is what the store says of all its keys, and ``where`` what their values must satisfy.

    Raises:
        OptionError: the scorer needs every key.
    """

    def __init__(
        self, sampling: Sampling, scorer: ScorerLike | None, where: Sequence[Condition] = ()
    ) -> None:
        # It counts no key if none has words.
        super().__init__(sampling.meaning, scorer, sampling.total if sampling.keys.count else 0)
        require_nearness(scorer)
        self._store, self._where = sampling.store, where
        self._sample, self._with_words = sampling.keys, sampling.with_words
        self.values: dict[str, Any] = {}  # those that the store reads with the keys, of a block

    def _listings(self, asked: list[Query], count: int | None) -> Iterator[Listing]:
        keys = self._sample
        vectors = units(self.meaning.of_queries(asked, keys))
        near = sought(count)
        spelled = min(SPELLED, near) if isinstance(self.score, JudgedScore) else 0
        if count == 1 and self.count >= _MANY and not self._where:
            near *= 2  # not of those spelled alike, of which the best are found
        if not (has_vector := vectors.any(axis=1)).all():  # so that some keys are found
            vectors[~has_vector] = units(keys.vectors[keys.alive].sum(axis=0, keepdims=True))[0]
        searches, of_query = list[Search](), list[int]()  # the place of the query of each
        for i, (vector, one) in enumerate(zip(vectors, asked, strict=True)):
            names = one.names if spelled else []
            searches.append(Search(vector if vector.any() else None, one.text, near, spelled))
            searches += [Search(None, name, 0, _NAMED) for name in names]
            of_query += [i] * (1 + len(names))
        found = [dict[str, Row]() for _ in asked]
        for i, hits in zip(of_query, self._store.search(searches, self._where), strict=True):
            found[i] |= {row.key: row for row in [*hits.near, *hits.spelled]}
            self.values |= hits.values
        return map(self._listing, asked, found)

    def _listing(self, one: Query, found: Mapping[str, Row]) -> Listing:
        """Return the keys found for a query, ordered by text; or some of the sample."""
        sample = self._sample
        names = sorted(filter(plain, found))
        vectors = stacked([found[name].vector for name in names], sample.vectors.shape[1])
        keys = Keys.of(sample.table, names, vectors)
        of_all, here = sample.statistics, keys.stem_counts()
        more = {stem: one for stem, one in here.items() if one > of_all.stems.get(stem, 0)}
        keys = keys.with_statistics(of_all._replace(stems=ChainMap(more, of_all.stems)))  # type: ignore[arg-type]
        if not names and not self._where:
            keys = sample.some(np.flatnonzero(sample.alive)[:_FEW])
        found_here = [slot for name in keys.names if (slot := sample.slot_of(name)) is not None]
        others = np.setdiff1d(np.flatnonzero(sample.alive), found_here, assume_unique=True)
        left = max(0, self._with_words - len(keys)) if len(others) else 0
        return Listing([one], keys, left, (sample, others))


def require_nearness(scorer: ScorerLike | None) -> None:
    """Raise OptionError unless a store finds the keys that a scorer prefers."""
    if is_spelling(scorer) or not as_score(scorer).is_by_cosine:
        raise OptionError(
            f"scorer: a store finds keys for the default score and 'cosine', and "
            f"{quoted(scorer)} needs every key; leave it out, or read a FuzzyDict"
        )
