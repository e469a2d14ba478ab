"""How a store is asked: what it finds becomes the keys that are judged."""

from __future__ import annotations

import warnings
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import units
from fuzzydict.errors import OptionError, StoreWarning, quoted
from fuzzydict.nn.scorers import ScorerLike
from fuzzydict.search.keys import Asked, Keys, Query, Statistics
from fuzzydict.search.lookup import SPELLED, Exact, Listing, Lookup, sought
from fuzzydict.search.score import JudgedScore, Meaning, as_score, is_spelling
from fuzzydict.stores.base import SAMPLE, Counts, Known, Row, Search, Store, id_of
from fuzzydict.stores.values import Condition
from fuzzydict.text.words import plain

#: How an index is built.
BUILD = "build one by `fuzzydict push --index URL`, or d.build_index()"
_NAMED = 12  # keys that are sought by each other name of a query
_FEW = 16  # keys that are shown of a query that is like none
_MANY = 300_000  # keys of which a graph misses some: twice as many are sought for the best one


class _State(NamedTuple):
    """What is known of all keys at a version of them."""

    version: int | None  # as the store tells; None before anything was read
    names: dict[UUID, str]  # the keys of the sample
    own: Keys  # those of them that have words
    keys: Keys  # the same; if there are others, with statistics of all keys
    total: int  # how many keys there are
    counted: int
    counts: Counts


class Sampling:
    """What scores need to know of all keys of a store: the same for all that read it.

    It is read anew, by one thread, when the version of the keys is another.
    """

    def __init__(self, store: Store, meaning: Meaning) -> None:
        self.store, self.meaning, self._has_warned = store, meaning, False
        self._size = size_of(meaning)  # now: an encoder must not be called while the lock is held
        none = Keys(meaning.table)
        self._state = _State(None, {}, none, none, 0, 0, Counts(0, {}))
        self._queries = dict[str, Query]()  # the last that an encoder gave vectors, which is slow

    def lookup(
        self, known: Known, scorer: ScorerLike | None, where: Sequence[Condition]
    ) -> Exact | StoreLookup:
        """Return what finds the keys of one read, as they were when these were known, or later.

        As long as the sample has all keys, it finds them here, as in a dict.
        """
        with self.store.lock:
            if self._state.version != known.version:
                self._state = self._read()
            state = self._state
        lookup: Exact | StoreLookup
        if state.keys is state.own and not where:
            lookup = Exact(state.keys, self.meaning, scorer)
        else:
            lookup = StoreLookup(self, state, scorer, where, known.values)
        if self.meaning.is_encoded:
            lookup._known = self._queries
        return lookup

    def _read(self) -> _State:
        """Read the sample as it is now, and of it only what is new."""
        before = self._state
        found = self.store.sample(before.names.keys(), before.counted)
        new, ids = {row.key: row.vector for row in found.hits}, set(found.ids)
        names = {number: name for number, name in before.names.items() if number in ids}
        stay = set(names.values())
        names |= {id_of(key): key for key in new}
        # Sorted, so that of equal ones the same comes first for all.
        own = keys = before.own.updated(
            [*(name for name in before.own.living() if name in stay), *sorted(new)],
            lambda added: stacked([new[name] for name in added], self._size),
        )
        total, counts = len(ids), found.counts or before.counts
        if len(ids) >= SAMPLE:  # which tells of the others
            total, of_sample, stems = found.total, own.statistics, counts.stems
            times = total / max(len(names), 1)
            if not total / 2 <= counts.keys <= total * 2:
                # Most words are rare, so that those in a sample are there by chance: a word each.
                stems = {one: round((n - 1) * times + 1) for one, n in of_sample.stems.items()}
            ngrams = np.rint(of_sample.ngrams * times).astype(np.int64)
            of_all = Statistics(round(own.count * times), stems, ngrams, of_sample.background)
            keys = own.with_statistics(of_all)
        if found.scans and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self.store.place}: it has {total:,} keys and no index, so that each read "
                f"compares with all of them; {BUILD}",
                StoreWarning,
                stacklevel=2,
            )
        return _State(found.version, names, own, keys, total, found.counted, counts)


def size_of(meaning: Meaning) -> int:
    """Return the number of dimensions E of the vectors of keys."""
    return int(meaning.of_keys(["size"]).shape[1])


def stacked(vectors: Sequence[NDArray[np.float32] | None], size: int) -> NDArray[np.float32]:
    """Return the vectors of n keys as an array, (n, E), with zeros where there are none."""
    none = np.zeros(size, np.float32)
    rows = [none if vector is None else vector for vector in vectors]
    return np.array(rows, np.float32).reshape(len(rows), size)


class StoreLookup(Lookup):
    """A lookup that scores the keys that a store finds for each query.

    The state is what the store says of all its keys, and ``where`` what values must satisfy. Those
    that the store reads with the keys are put among the ``values``.

    Raises:
        OptionError: the scorer needs every key.
    """

    def __init__(
        self,
        sampling: Sampling,
        state: _State,
        scorer: ScorerLike | None,
        where: Sequence[Condition],
        values: dict[str, Any],
    ) -> None:
        # It counts no key if none has words.
        super().__init__(sampling.meaning, scorer, state.total if state.keys.count else 0)
        require_nearness(scorer)
        self._store, self._sample = sampling.store, state.keys
        self._where, self._values = where, values

    def _listings(self, asked: list[Query], count: int | None) -> Iterator[Listing]:
        keys = self._sample
        vectors = units(self.meaning.of_queries(Asked.of(asked, keys)))
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
            self._values |= hits.values
        return map(self._listing, asked, found)

    def _listing(self, one: Query, found: Mapping[str, Row]) -> Listing:
        """Return the keys found for a query, ordered by text; or some of the sample."""
        sample = self._sample
        names = sorted(filter(plain, found))
        vectors = stacked([found[name].vector for name in names], sample.vectors.shape[1])
        keys = Keys.of(sample.table, names, vectors)
        of_all, here = sample.statistics, keys.stem_counts()
        more = {stem: n for stem, n in here.items() if n > of_all.stems.get(stem, 0)}
        keys = keys.with_statistics(of_all._replace(stems=ChainMap(more, of_all.stems)))  # type: ignore[arg-type]
        if not names and not self._where:
            keys = sample.some(np.flatnonzero(sample.alive)[:_FEW])
        found_here = [slot for name in keys.names if (slot := sample.slot_of(name)) is not None]
        others = np.setdiff1d(np.flatnonzero(sample.alive), found_here, assume_unique=True)
        left = max(0, of_all.total - len(keys)) if len(others) else 0
        return Listing([one], keys, left, (sample, others))


def require_nearness(scorer: ScorerLike | None) -> None:
    """Raise OptionError unless a store finds the keys that a scorer prefers."""
    if is_spelling(scorer) or not as_score(scorer).is_by_cosine:
        raise OptionError(
            f"scorer: a store finds keys for the default score and 'cosine', and "
            f"{quoted(scorer)} needs every key; leave it out, or read a FuzzyDict"
        )
