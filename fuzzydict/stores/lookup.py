"""How a store is asked: what it finds becomes the keys that are judged."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict._arrays import units, whole_number
from fuzzydict.errors import OptionError, StoreError, quoted
from fuzzydict.search.keys import Keys, Statistics
from fuzzydict.search.lookup import MOST, ByListing, Listing, Prepared
from fuzzydict.search.score import COSINE, JudgedScore, as_score
from fuzzydict.stores.base import Search
from fuzzydict.text.ngrams import ngrams
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.meaning import Meaning
    from fuzzydict.stores.base import Hits, Store
    from fuzzydict.stores.values import Condition


#: How many keys stand for all those that a search leaves out.
SAMPLE = 4096
_FORMAT = 2
_GROWN = 2  # times as many keys as when a sample was drawn, or as few
_SPELLED = 96  # keys that share the most n-grams with a query
_FEW = 16  # keys that are shown of a query that is like none
_PROBE = "fuzzy dictionary"  # whose n-grams tell whether two clients count them alike


# ---- what a store says of all its keys -------------------------------------------------------


class KeySample(NamedTuple):
    """What scores need to know of all keys of a store: the same for all that read it."""

    size: int  # the number of keys of the store when the sample was drawn
    names: list[str]  # the keys of the sample
    vectors: NDArray[np.float32]  # theirs, (m, E); zeros where there are none
    keys: Keys  # those of the sample that have words, with statistics of all keys

    @classmethod
    def of(
        cls, size: int, names: list[str], vectors: NDArray[np.float32], meaning: Meaning
    ) -> Self:
        """Return a sample of ``size`` keys.

        The statistics of all keys are its own, times as many. But of the words that are rare in it,
        some are there by chance, so half a word is taken off before.
        """
        told = [place for place, name in enumerate(names) if plain(name)]
        keys = Keys.of(meaning.table, [names[place] for place in told], vectors[told])
        count, stems, frequency, background = keys.statistics
        times = size / max(len(names), 1)
        estimated = Statistics(
            round(count * times),
            {stem: round((one - 0.5) * times + 0.5) for stem, one in stems.items()},
            np.rint(frequency * times).astype(np.int64),
            background,
        )
        return cls(size, names, vectors, keys.with_statistics(estimated))

    @classmethod
    def drawn(cls, store: Store, meaning: Meaning) -> Self:
        """Return a sample of the keys of a store: the first, in its order, which is like chance."""
        rows = next(store.pages(SAMPLE, vectors=True), [])
        size = len(rows) if len(rows) < SAMPLE else store.count()
        vectors = stacked([row.vector for row in rows])
        vectors = vectors.astype(np.float16).astype(np.float32)  # as all will read them
        return cls.of(size, [row.key for row in rows], vectors, meaning)

    @classmethod
    def empty(cls, meaning: Meaning) -> Self:
        """Return the sample of a store without keys."""
        return cls.of(0, [], stacked([]), meaning)

    def is_outgrown(self, count: int) -> bool:
        """Tell whether there are so many keys now, or so few, that another should be drawn.

        One without keys is outgrown by any change: some that have words may have come.
        """
        if not self.keys.count:
            return count != self.size
        return count != self.size and not self.size / _GROWN < count < self.size * _GROWN

    def as_json(self, meaning: Meaning) -> dict[str, Any]:
        """Return what the meta of a store holds."""
        return {
            "format": _FORMAT,
            "ngrams": ngrams(_PROBE),
            "embedding": meaning.fingerprint(),
            "synonyms": list(meaning.table.synonyms.given.items())
            if meaning.table.synonyms
            else [],
            "size": self.size,
            "sample": self.names,
            "vectors": b64encode(self.vectors.astype("<f2").tobytes()).decode(),
        }

    @classmethod
    def of_json(cls, meta: dict[str, Any], meaning: Meaning, place: str) -> Self:
        """Return what `as_json` wrote.

        Raises:
            StoreError: another version of fuzzydict wrote it, or something else.
        """
        if meta.get("format") != _FORMAT or meta.get("ngrams") != ngrams(_PROBE):
            raise StoreError(
                f"{place}: another version of fuzzydict wrote it (format "
                f"{quoted(meta.get('format'))}, expected {_FORMAT}); read it with that version, or "
                f"push the keys again into another place"
            )
        try:
            names = list(map(str, meta["sample"]))
            vectors = np.frombuffer(b64decode(meta["vectors"]), "<f2").astype(np.float32)
            vectors = vectors.reshape(len(names), -1) if names else stacked([])
            return cls.of(int(meta["size"]), names, vectors, meaning)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"{place}: what it says of its keys is damaged ({error}); push the keys again with "
                f"--refresh"
            ) from error


def stacked(vectors: Sequence[NDArray[np.float32] | None], size: int = 0) -> NDArray[np.float32]:
    """Return the vectors of n keys as an array, (n, E), with zeros where there are none.

    ``size`` is E if there are none at all.
    """
    size = next((len(vector) for vector in vectors if vector is not None), size)
    array = np.zeros((len(vectors), size), np.float32)
    for row, vector in zip(array, vectors, strict=True):
        if vector is not None:
            row[:] = vector
    return array


# ---- a query ---------------------------------------------------------------------------------


class StoreLookup(ByListing):
    """A lookup that scores the keys that a store finds for each query.

    The sample is what the store says of all its keys, ``count`` how many there are now, and
    ``where`` what their values must satisfy.

    Raises:
        OptionError: the scorer needs every key.
    """

    at_once = 64

    def __init__(
        self,
        store: Store,
        meaning: Meaning,
        sample: KeySample,
        count: int,
        scorer: ScorerLike | None = None,
        where: Sequence[Condition] = (),
    ) -> None:
        super().__init__(meaning, scorer)
        require_nearness(scorer)
        self._store, self._where = store, where
        self._sample, self._count = sample.keys, count
        self._with_words = round(count * sample.keys.count / max(len(sample.names), 1))
        self._anywhere = units(sample.vectors.sum(axis=0, keepdims=True))[0]

    @property
    def count(self) -> int:
        """The number of keys; 0 if none of them has words."""
        return self._count if self._sample.count else 0

    def _found(self, prepared: list[Prepared], count: int) -> Iterator[Listing]:
        vectors = units(self._vectors(prepared, self._sample))
        spelled = _SPELLED if isinstance(self.score, JudgedScore) else 0
        vectors[~vectors.any(axis=1)] = self._anywhere  # so that some keys are found
        shared = [np.array(ngrams(one.query.text), np.int64) for one in prepared]
        searches = [
            Search(vector if vector.any() else None, some, count, spelled)
            for vector, some in zip(vectors, shared, strict=True)
        ]
        found = self._store.search(searches, self._where)
        return (self._listing(hits, vectors.shape[1]) for hits in found)

    def _listing(self, hits: Hits, size: int) -> Listing:
        """Return the keys that were found for a query, in the order of their texts.

        Where no key has a vector, some of the sample are shown of a query that is like none.
        """
        sample, found = self._sample, {hit.key: hit for hit in [*hits.near, *hits.spelled]}
        names = sorted(filter(plain, found))
        vectors = stacked([found[name].vector for name in names], size)
        keys = Keys.of(sample.table, names, vectors)
        of_all, stems = sample.statistics, dict(sample.statistics.stems)
        for stem, count in keys.statistics.stems.items():  # some of which the sample has not
            stems[stem] = max(count, stems.get(stem, 0))
        keys = keys.with_statistics(of_all._replace(stems=stems))
        if not names and not self._where:
            few = sorted(range(min(_FEW, len(sample))), key=sample.names.__getitem__)
            keys = sample.some(np.array(few, np.intp))
        others = [slot for name, slot in sample.slots.items() if name not in keys.slots]
        left = max(0, self._with_words - len(keys)) if others else 0
        return Listing(keys, np.arange(len(keys)), left, (sample, np.array(others, np.intp)))

    def _scores(self, one: Prepared, listing: Listing) -> NDArray[np.float64]:
        return super()._scores(one, listing) if len(listing.slots) else np.zeros(0)


def require_nearness(scorer: ScorerLike | None) -> None:
    """Raise OptionError unless a store finds the keys that a scorer prefers."""
    if as_score(scorer).measure != COSINE:
        raise OptionError(
            f"scorer: a store finds keys for the default score and 'cosine', and "
            f"{quoted(scorer)} needs every key; leave it out, or read a FuzzyDict"
        )


def require_few(topn: int | None) -> None:
    """Raise OptionError unless so many keys of a store can be listed."""
    if topn is None or whole_number("topn", topn, 0) > MOST:
        raise OptionError(
            f"topn: a store lists at most {MOST} keys, got {topn}; give topn=10, or another number "
            f"up to {MOST}, or read all items by d.items()"
        )
