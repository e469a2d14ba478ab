"""The text keys of a dict as arrays, brought up to date in one batch after writes."""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict._arrays import Rows, inverse_lengths
from fuzzydict.embedding.base import SAMPLE
from fuzzydict.search.texts import Texts
from fuzzydict.text.ngrams import NgramIndex
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Background, Embedding, WordFeatures


_DEAD_ALLOWED = 0.5  # share of dead slots from which on the arrays are packed
_COUNTED = 1024  # keys whose words are counted
_SAMPLE = 4096  # keys that stand for those that a search left out
_LEAST_RARITY = 0.05  # of a word that every key has


class Sample(NamedTuple):
    """Some keys that stand for all: their slots, rising, and the keys."""

    slots: NDArray[np.intp]
    keys: Keys


class Keys:
    """The keys of a dict as arrays: n slots, in the dict's order. Read-only, until the next write.

    A key that was deleted leaves its slot dead until the arrays are packed.

    Args:
        embedding: what encoded the keys.
        names: the keys as written, n of them.
        plain: their words, joined by blanks.
        vectors: (n, E), read-only.
        inverse_lengths: one by the length of each vector, (n,); 0 for the zero vector.
        trust: how far to trust each vector, (n,), from 0 to 1.
        alive: which slots hold a key of the dict, (n,).
        slots: the slot of each key.
        ngrams: an index of ``plain``.
        texts: a table of the words of ``plain``.
        has_phrases: whether a key has, or had, several words.
        generation: changes when the slots are numbered anew.

    Attributes:
        calibration: the weights that turn features into log-odds.
        count: the number of living slots.
        dead: the dead slots, rising.
    """

    def __init__(
        self,
        embedding: Embedding,
        names: list[str],
        plain: list[str],
        vectors: NDArray[np.float32],
        inverse_lengths: NDArray[np.float32],
        trust: NDArray[np.float32],
        alive: NDArray[np.bool_],
        slots: dict[str, int],
        ngrams: NgramIndex,
        texts: Texts,
        *,
        has_phrases: bool,
        generation: object = None,
    ) -> None:
        self._embedding, self.calibration = embedding, embedding.calibration
        self.names, self.plain, self.slots = names, plain, slots
        self.ngrams, self.texts = ngrams, texts
        self.vectors, self.inverse_lengths, self.trust = vectors, inverse_lengths, trust
        self.alive, self.has_phrases, self.generation = alive, has_phrases, generation
        self.count = len(slots)
        self._rarity = np.zeros(0, np.float32)  # of the words of all texts
        some_are_dead = self.count < len(names)
        self.dead = np.flatnonzero(~alive) if some_are_dead else np.zeros(0, np.intp)

    @classmethod
    def of(
        cls,
        embedding: Embedding,
        names: list[str],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
    ) -> Keys:
        """Return keys, all different and with words, whose vectors are known."""
        index = KeyIndex(embedding)
        index.restore(names, vectors, trust)
        return index.keys()

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.names)

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of unrelated texts."""
        slots = np.flatnonzero(self.alive)
        some = slots[:: -(-len(slots) // SAMPLE) or 1]
        return self._embedding.background(self.vectors[some])

    @cached_property
    def standard(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Scale and shift, both (n,), that make a product with a key its nearness.

        The product is that with a vector of length one, which is fully trusted.
        """
        mean, spread = self.background
        scale = self.trust / np.float32(spread)
        return scale * self.inverse_lengths, scale * np.float32(mean)

    def nearness_of(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the nearness that cosines of fully trusted vectors stand for, of their shape."""
        mean, spread = self.background
        near = (cosines - np.float32(mean)) / np.float32(spread)
        return levelled(near, self.calibration.reach)

    def nearness_of_words(self, some: WordFeatures, others: WordFeatures) -> NDArray[np.float32]:
        """Return how near m words and U others are, (m, U); it does not level off."""
        mean, spread = self.background
        near: NDArray[np.float32] = some.units @ others.units.T
        near -= np.float32(mean)
        near *= some.trust[:, None] / np.float32(spread)
        near *= others.trust
        return near

    def weight(self, word: str) -> float:
        """Return the weight of a word in a phrase, see `Vocabulary.weight`."""
        return self._embedding.vocabulary.weight(word)

    def rarity(self, words: list[str]) -> NDArray[np.float32]:
        """Return how rare each of n words is among the keys, (n,): 1 in one key at most, else less.

        It is the inverse document frequency (K. Spärck Jones, 1972), as a share of its maximum.
        """
        total, counts = self._word_counts
        keys_with = np.array([max(counts[word], 1) for word in words], np.float32)
        rarity = np.log((total + 1) / keys_with) / np.log(np.float32(total + 1))
        return np.asarray(np.maximum(rarity, _LEAST_RARITY), np.float32)

    def rarity_of(self, texts: Texts, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the `rarity` of U words of a table, given their places, (U,)."""
        if texts is not self.texts:
            return self.rarity(texts.words.of(places))
        if len(self._rarity) < len(texts.words.strings):
            self._rarity = self.rarity(texts.words.strings)
        return self._rarity[places]

    @cached_property
    def _word_counts(self) -> tuple[int, Counter[str]]:
        """How many keys there are, or are in a sample of them, and how many have each word."""
        slots = np.flatnonzero(self.alive)
        some = slots[:: -(-len(slots) // _COUNTED) or 1].tolist()
        counts = Counter(word for slot in some for word in set(self.plain[slot].split()))
        return max(len(some), 1), counts

    @cached_property
    def sample(self) -> Sample:
        """Some keys that stand for all, drawn at random but the same each time; all if few."""
        slots = np.flatnonzero(self.alive)
        if len(slots) > _SAMPLE:
            places = np.random.default_rng(0).choice(
                len(slots), _SAMPLE, replace=False, shuffle=False
            )
            slots = np.sort(slots[places])
        return Sample(slots, self.some(slots))

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(self.slots)

    def some(self, slots: NDArray[np.intp]) -> Keys:
        """Return the keys of c living slots, rising, as keys of their own."""
        places = slots.tolist()
        names, plain = [self.names[i] for i in places], [self.plain[i] for i in places]
        few = Keys(
            self._embedding,
            names,
            plain,
            self.vectors[slots],
            self.inverse_lengths[slots],
            self.trust[slots],
            np.ones(len(places), np.bool_),
            dict(zip(names, range(len(names)), strict=True)),
            NgramIndex(plain),
            Texts(self._embedding, plain),
            has_phrases=self.has_phrases,
        )
        few.background = self.background
        few._word_counts = self._word_counts
        return few


class Found(NamedTuple):
    """What was found of S keys with words, so that it need not be found again.

    Attributes:
        names: the keys.
        ngrams: an index of their plain words.
        inverse_lengths: see `Keys`, (S,).
    """

    names: list[str]
    ngrams: NgramIndex
    inverse_lengths: NDArray[np.float32]


class KeyIndex:
    """Keeps the text keys of a dict as arrays.

    Writes are only noted. `keys` encodes the new keys in one batch, so that a million writes cost
    one call of the embedding. A key without letters or digits has no slot: it is only found
    exactly.

    An index that threads share must be locked.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> index = KeyIndex(as_embedding({"red": [1.0, 0.0], "blue": [0.0, 2.0]}))
    >>> index.add("red"); index.add("blue")
    >>> index.keys().names, index.keys().vectors.tolist()
    (['red', 'blue'], [[1.0, 0.0], [0.0, 2.0]])
    >>> index.discard("red"); index.keys().alive.tolist()
    [False, True]
    """

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.is_whole = True  # False while a change is made, and after one was interrupted
        self._keys: Keys | None = None  # None after a write
        self.generation = object()
        self._names: list[str] = []
        self._slots: dict[str, int] = {}
        self._ngrams = NgramIndex()
        self._texts = Texts(embedding, self._ngrams.strings)
        self._has_phrases = False
        self._pending: dict[str, None] = {}
        self._restore_later: Callable[[KeyIndex], None] | None = None
        self._gone: list[Any] = []  # keys deleted before they were restored
        self._vectors = Rows(np.zeros((0, 0), np.float32))
        self._inverse_lengths = Rows(np.zeros(0, np.float32))
        self._trust = Rows(np.zeros(0, np.float32))
        self._alive = Rows(np.zeros(0, np.bool_))

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self._names)

    def __copy__(self) -> Self:
        """Return an independent index that need not encode the keys again."""
        new = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            new.__dict__[name] = value if name in ("embedding", "generation") else copy(value)
        new._keys, new._texts = None, Texts(new.embedding, new._ngrams.strings)
        return new

    # ---- writes ---------------------------------------------------------------------------

    def add(self, key: str) -> None:
        """Note a key that is new in the dict."""
        self._pending[key] = None
        self._keys = None

    def discard(self, key: Any) -> None:
        """Forget a key, if it is there."""
        self._keys = None
        self._pending.pop(key, None)
        if self._restore_later is not None:
            self._gone.append(key)
        else:
            self._forget(key)

    def restore(
        self,
        keys: Iterable[Any],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
        found: Found | None = None,
    ) -> None:
        """Fill an empty index with keys that were encoded before, but for those deleted since.

        Args:
            keys: all keys of the dict, S of them with words.
            vectors: (S, E).
            trust: (S,).
            found: what else was found of the keys with words, or None.

        Raises:
            ValueError: there are more vectors than keys with words, or fewer.
        """
        texts = _texts(keys) if found is None else {}
        names = texts if found is None else found.names
        if len(names) != len(vectors):
            raise ValueError(f"it has {len(vectors)} vectors for {len(names)} keys with words")
        self.is_whole = False
        if found is None:
            self._append(texts, vectors, trust)
        else:
            self._ngrams = found.ngrams
            self._texts = Texts(self.embedding, found.ngrams.strings)
            self._append_rows(names, vectors, found.inverse_lengths, trust)
        for key in self._gone:
            self._forget(key)
        self._restore_later, self._gone = None, []
        self.is_whole = True

    def restore_later(self, restore: Callable[[KeyIndex], None]) -> None:
        """Let ``restore`` call `restore` when the keys are needed; if it raises, so does a read."""
        self._restore_later = restore

    # ---- reads ----------------------------------------------------------------------------

    def keys(self) -> Keys:
        """Return the keys as arrays, up to date with what was written."""
        if self._keys is None:
            if self._restore_later is not None:
                self._restore_later(self)
            if len(self) - len(self._slots) > _DEAD_ALLOWED * len(self):
                self._pack()
            if self._pending:
                self._encode_pending()
            self._keys = self._as_keys()
        return self._keys

    def _encode_pending(self) -> None:
        texts, encoded = _texts(self._pending), None
        if texts:  # first, since an embedding may fail
            encoded = self.embedding.encode_with_trust(list(texts))
        self.is_whole = False
        if encoded is not None:
            self._append(texts, *encoded)
        self._pending.clear()
        self.is_whole = True

    def _as_keys(self) -> Keys:
        vectors = self._vectors.rows.view()
        vectors.flags.writeable = False  # scorers and answers are shown them, not a copy
        return Keys(
            self.embedding,
            self._names,
            self._ngrams.strings,
            vectors,
            self._inverse_lengths.rows,
            self._trust.rows,
            self._alive.rows,
            self._slots,
            self._ngrams,
            self._texts,
            has_phrases=self._has_phrases,
            generation=self.generation,
        )

    def _forget(self, key: Any) -> None:
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._alive.rows[slot] = False

    def _append(
        self, texts: dict[str, str], vectors: NDArray[np.float32], trust: NDArray[np.float32]
    ) -> None:
        """Append keys, given with their plain words; the index is not whole meanwhile."""
        self._ngrams.extend(list(texts.values()))
        self._append_rows(texts, vectors, inverse_lengths(vectors), trust)

    def _append_rows(
        self,
        names: Collection[str],
        vectors: NDArray[np.float32],
        inverse_lengths: NDArray[np.float32],
        trust: NDArray[np.float32],
    ) -> None:
        """Append keys whose plain words are in the index of n-grams."""
        new = range(len(self), len(self) + len(names))
        self._vectors.extend(vectors)
        self._inverse_lengths.extend(inverse_lengths)
        self._trust.extend(trust)
        self._alive.extend(np.ones(len(names), np.bool_))
        words = islice(self._ngrams.strings, new.start, None)
        self._has_phrases = self._has_phrases or any(" " in text for text in words)
        self._slots.update(zip(names, new, strict=True))
        self._names.extend(names)

    def _pack(self) -> None:
        """Remove the dead slots: fill a new index, and take its place at once."""
        packed = type(self)(self.embedding)
        packed._pending = self._pending
        if self._slots:
            plain, slots = self._ngrams.strings, np.flatnonzero(self._alive.rows)
            texts = {name: plain[slot] for name, slot in self._slots.items()}
            packed._append(texts, self._vectors.rows[slots], self._trust.rows[slots])
        self.__dict__ = packed.__dict__

    def check(self, texts: list[str]) -> None:
        """Assert that the index holds these keys, and that its arrays fit together."""
        if self._restore_later is not None:
            self._restore_later(self)
        assert self.is_whole
        slots = list(self._slots.values())
        assert slots == np.flatnonzero(self._alive.rows).tolist(), "living slots are not in order"
        assert list(self._slots) == [self._names[slot] for slot in slots]
        assert not self._pending.keys() & self._slots.keys(), "a key is both new and known"
        known = [*self._slots, *self._pending]
        assert [key for key in known if plain(key)] == [key for key in texts if plain(key)]
        assert self._ngrams.strings == [_plain(name) for name in self._names]
        assert all(self._ngrams.strings), "a key without words has a slot"
        columns = (self._vectors, self._inverse_lengths, self._trust, self._alive)
        assert {len(column.rows) for column in columns} == {len(self)}
        if len(self):
            lengths = np.linalg.norm(self._vectors.rows, axis=1)
            inverse = self._inverse_lengths.rows
            np.testing.assert_allclose(inverse * lengths, lengths > 0, rtol=1e-5)
            assert 0 <= self._trust.rows.min() <= self._trust.rows.max() <= 1
        self._ngrams.check()


def _texts(keys: Iterable[Any]) -> dict[str, str]:
    """Return the plain words of each key that is a text and has some."""
    return {key: text for key in keys if isinstance(key, str) and (text := _plain(key))}


def _plain(key: str) -> str:
    """Return the plain words of a key; the key itself, not a copy, if it is plain already."""
    text = plain(key)
    return key if text == key else text


def levelled(near: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """Return a nearness that levels off at a reach, of any shape.

    >>> levelled(np.array([-3.0, 0.0, 1.0, 30.0], np.float32), 3).round(2).tolist()
    [-3.0, 0.0, 0.9599999785423279, 3.0]
    """
    limit = near / np.float32(reach)
    np.tanh(limit, out=limit)
    limit *= np.float32(reach)
    np.minimum(near, limit, out=limit)  # below 0, tanh is above
    return limit
