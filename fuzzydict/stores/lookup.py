"""How a store is asked: its candidates become the keys that are scored."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import units, whole_number
from fuzzydict.embedding.base import Background
from fuzzydict.errors import OptionError, StoreError, quoted
from fuzzydict.search.candidates import OtherKeys, Shortlist
from fuzzydict.search.key_index import Keys, Statistics, WordCounts
from fuzzydict.search.lookup import MOST, ByShortlist
from fuzzydict.search.score import COSINE, as_score
from fuzzydict.stores.base import Search
from fuzzydict.text.ngrams import ngram_buckets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.features import Query
    from fuzzydict.search.lookup import Scored
    from fuzzydict.stores.base import Hits, Store
    from fuzzydict.stores.where import Condition


#: How many keys stand for all those that a search leaves out.
SAMPLE = 4096
_FORMAT = 1
_GROWN = 2  # times as many keys as when a sample was drawn, or as few
_FEW = 16  # keys that are shown of a query that is like none
_PROBE = "fuzzy dictionary"  # whose n-grams tell whether two clients count them alike


# ---- what a store says of all its keys -------------------------------------------------------


class KeySample(NamedTuple):
    """What scores need to know of all keys of a store: the same for all that read it.

    Attributes:
        size: the number of keys of the store when the sample was drawn.
        keys: the sample.
    """

    size: int
    keys: Keys

    @classmethod
    def drawn(cls, store: Store, embedding: Embedding) -> KeySample:
        """Return a sample of the keys of a store: the first, in its order, which is like chance."""
        rows = next(store.pages(SAMPLE, vectors=True), [])
        vectors = [(row.key, row.vector, row.trust) for row in rows if len(row.ngrams)]
        if not vectors:
            return cls.empty(embedding)._replace(size=store.count())
        return cls(store.count(), keys_of(vectors, embedding))

    @classmethod
    def empty(cls, embedding: Embedding) -> KeySample:
        """Return the sample of a store without keys."""
        return cls(
            0, keys_of([], embedding, Statistics(Background(0, 1), WordCounts(1, Counter())))
        )

    def is_outgrown(self, count: int) -> bool:
        """Tell whether there are so many keys now, or so few, that another should be drawn.

        One without keys is outgrown by any change: some that have words may have come.
        """
        if not self.keys.count:
            return count != self.size
        return count != self.size and not self.size / _GROWN < count < self.size * _GROWN

    def as_json(self, embedding: Embedding) -> dict[str, Any]:
        """Return what the meta of a store holds."""
        background, (counted, words) = self.keys.statistics
        return {
            "format": _FORMAT,
            "ngrams": ngram_buckets(_PROBE).tolist(),
            "embedding": embedding.fingerprint(),
            "size": self.size,
            "background": list(map(float, background)),
            "words": [counted, dict(words)],
            "sample": self.keys.names,
            "vectors": b64encode(self.keys.vectors.astype("<f4").tobytes()).decode(),
            "trust": self.keys.trust.tolist(),
        }

    @classmethod
    def of_json(cls, meta: dict[str, Any], embedding: Embedding, place: str) -> KeySample:
        """Return what `as_json` wrote.

        Raises:
            StoreError: another version of fuzzydict wrote it, or something else.
        """
        if meta.get("format") != _FORMAT or meta.get("ngrams") != ngram_buckets(_PROBE).tolist():
            raise StoreError(
                f"{place}: another version of fuzzydict wrote it (format "
                f"{quoted(meta.get('format'))}, expected {_FORMAT}); read it with that version, or "
                f"push the keys again into another place"
            )
        try:
            names, (counted, words) = meta["sample"], meta["words"]
            vectors = np.frombuffer(b64decode(meta["vectors"]), "<f4").astype(np.float32)
            statistics = Statistics(
                Background(*meta["background"]), WordCounts(counted, Counter(words))
            )
            rows = zip(names, vectors.reshape(len(names) or 1, -1), meta["trust"], strict=False)
            return cls(meta["size"], keys_of(list(rows), embedding, statistics))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"{place}: what it says of its keys is damaged ({error}); push the keys again with "
                f"--refresh"
            ) from error


def keys_of(
    rows: Sequence[tuple[str, NDArray[np.float32] | None, float]],
    embedding: Embedding,
    statistics: Statistics | None = None,
) -> Keys:
    """Return keys of a store as they are scored, given their vectors, (E,) or None, and trust."""
    names = [name for name, _, _ in rows]
    size = next((len(vector) for _, vector, _ in rows if vector is not None), 0)
    vectors = np.zeros((len(rows), size), np.float32)
    for place, (_, vector, _) in enumerate(rows):
        if vector is not None:
            vectors[place] = vector
    trust = np.array([trust for _, _, trust in rows], np.float32)
    return Keys.of(embedding, names, vectors, trust, statistics)


# ---- a query ---------------------------------------------------------------------------------


class StoreLookup(ByShortlist):
    """A lookup that scores the keys that a store finds for each query.

    Args:
        store: holds the keys.
        embedding: what encoded them.
        sample: what the store says of all its keys.
        count: how many there are now.
        scorer: what compares queries with keys: None for the default score, or the cosine.
        where: what the values of keys must satisfy.

    Raises:
        OptionError: the scorer needs every key.
    """

    at_once = 64

    def __init__(
        self,
        store: Store,
        embedding: Embedding,
        sample: KeySample,
        count: int,
        scorer: ScorerLike | None = None,
        where: Sequence[Condition] = (),
    ) -> None:
        super().__init__(embedding, scorer)
        require_nearness(scorer)
        self._store, self._where = store, where
        self._sample, self._count = sample, count
        self._place_of = {name: place for place, name in enumerate(sample.keys.names)}
        sample.keys.texts.read()  # here, since the threads that use them hold no lock

    @property
    def count(self) -> int:
        """The number of keys; 0 if none of them has words."""
        return self._count if self._place_of else 0

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query, at most `MOST`.

        Raises:
            OptionError: more are wanted, or all.
        """
        require_few(topn)
        return super().ranked(asked, topn)

    def _found(self, queries: list[Query], count: int) -> Iterator[Shortlist]:
        searches = [
            Search(_unit(query.vector), ngram_buckets(query.text), count, self.score.spelled_alike)
            for query in queries
        ]
        found = self._store.search(searches, self._where)
        return (self._listed(hits) for hits in found)

    def _listed(self, hits: Hits) -> Shortlist:
        """Return the keys that were found for a query, in the order of their texts."""
        found = {hit.key: hit for hit in [*hits.near, *hits.spelled]}
        statistics = self._sample.keys.statistics
        keys = keys_of([found[name] for name in sorted(found)], self.embedding, statistics)
        if not found and not self._where:
            keys = self._sample.keys.some(np.arange(min(_FEW, len(self._place_of))))
        left = max(0, self._count - keys.count)
        last = keys.slots[hits.near[-1].key] if hits.near else 0
        return Shortlist(keys, others=self._others(keys, left), left=left, last=last)

    def _others(self, keys: Keys, left: int) -> OtherKeys | None:
        """Return what stands for the keys that were not found, if there are some."""
        places = sorted(self._place_of[name] for name in keys.names if name in self._place_of)
        if not left or len(places) == len(self._place_of):
            return None
        return OtherKeys(keys.count + left, left, self._sample.keys, np.array(places, np.intp))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
    return units(vector[None])[0] if vector.any() else None


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
