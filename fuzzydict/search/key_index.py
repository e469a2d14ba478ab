"""The text keys of a dict as arrays, brought up to date in one batch after writes."""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import cached_property
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict._arrays import Rows, inverse_lengths
from fuzzydict.embedding.base import SAMPLE
from fuzzydict.search.texts import Texts
from fuzzydict.text.ngrams import NgramIndex
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Background, Embedding, WordFeatures


_DEAD_ALLOWED = 0.5  # share of dead slots from which on the arrays are packed
_COUNTED = 1024  # keys whose words are counted
_SAMPLE = 4096  # keys that stand for those that a search left out
_LEAST_RARITY = 0.05  # of a word that every key has


class WordCounts(NamedTuple):
    """How many of some keys have each word."""

    keys: int
    words: Counter[str]


class Share(NamedTuple):
    """Which of all keys some are: how many come before them, and how many there are in all."""

    before: int
    total: int


class Statistics(NamedTuple):
    """What a score needs to know of all keys, beside their number.

    Attributes:
        background: the cosines to expect of unrelated texts.
        word_counts: the words of a sample of the keys.
    """

    background: Background
    word_counts: WordCounts


class Sample(NamedTuple):
    """Some keys that stand for all: their slots, rising, and the keys."""

    slots: NDArray[np.intp]
    keys: Keys


class Keys:
    """The keys of a dict as arrays: n slots, in the dict's order. They never change.

    Threads may compare with them at once, without a lock; what is computed when it is first needed
    is the same whoever computes it.

    A key that was deleted leaves its slot dead until the arrays are packed. What was written later
    may stand behind the first n names, plain words and slots.

    Args:
        embedding: what encoded the keys.
        names: the keys as written, the first n.
        plain: their words, joined by blanks.
        vectors: (n, E), read-only.
        inverse_lengths: one by the length of each vector, (n,); 0 for the zero vector.
        trust: how far to trust each vector, (n,), from 0 to 1.
        alive: which slots hold a key of the dict, (n,).
        slots: the slot of each key, for `slot_of`.
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
        self.count = int(np.count_nonzero(alive))
        self._rarity = np.zeros(0, np.float32)  # of the words of all texts
        some_are_dead = self.count < len(alive)
        self.dead = np.flatnonzero(~alive) if some_are_dead else np.zeros(0, np.intp)

    @classmethod
    def of(
        cls,
        embedding: Embedding,
        names: list[str],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
        statistics: Statistics | None = None,
    ) -> Keys:
        """Return keys, all different and with words, whose vectors are known.

        Args:
            embedding: what encoded them.
            names: n keys.
            vectors: (n, E).
            trust: (n,).
            statistics: of all keys, if these are some of them.
        """
        index = KeyIndex(embedding)
        index.restore(names, vectors, trust)
        keys = index.keys()
        return keys if statistics is None else keys.with_statistics(statistics)

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.alive)

    def slot_of(self, name: str) -> int | None:
        """Return the slot of a living key, or None if there is no such key."""
        if not is_plain(type(name)):
            slots = self.living_slots().tolist()
            return next((slot for slot in slots if self.names[slot] is name), None)
        slot = self.slots.get(name)
        return slot if slot is not None and slot < len(self) and self.alive[slot] else None

    def living_slots(self) -> NDArray[np.intp]:
        """Return the slots of the living keys, S of them, rising."""
        return np.flatnonzero(self.alive)

    @cached_property
    def background(self) -> Background:
        """The cosines to expect of unrelated texts."""
        return self._embedding.background(self.vectors_of_some())

    def vectors_of_some(self, share: Share | None = None) -> NDArray[np.float32]:
        """Return the vectors of a sample of the keys, (m, E), or of their share in one of more."""
        return self.vectors[_spread(self.living_slots(), SAMPLE, share)]

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
        total, counts = self.word_counts
        keys_with = np.array([max(counts[word], 1) for word in words], np.float32)
        rarity = np.log((total + 1) / keys_with) / np.log(np.float32(total + 1))
        return np.asarray(np.maximum(rarity, _LEAST_RARITY), np.float32)

    def rarity_of(self, texts: Texts, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the `rarity` of U words of a table, given their places, (U,)."""
        if texts is not self.texts:
            return self.rarity(texts.words.of(places))
        rarity = self._rarity
        if len(rarity) < len(texts.words.strings):
            rarity = self._rarity = self.rarity(texts.words.strings)
        return rarity[places]

    @property
    def statistics(self) -> Statistics:
        """What a score needs to know of all keys."""
        return Statistics(self.background, self.word_counts)

    @cached_property
    def word_counts(self) -> WordCounts:
        """The words of the keys, or of a sample of them."""
        counts = self.words_of_some()
        return counts._replace(keys=max(counts.keys, 1))

    def words_of_some(self, share: Share | None = None) -> WordCounts:
        """Return the words of a sample of the keys, or of their share in one of more keys."""
        some = _spread(self.living_slots(), _COUNTED, share).tolist()
        counts = Counter(word for slot in some for word in set(self.plain[slot].split()))
        return WordCounts(len(some), counts)

    def with_statistics(self, statistics: Statistics) -> Keys:
        """Return the same keys as some of many, of which these are the statistics."""
        new = copy(self)
        for name in ("standard", "sample"):
            new.__dict__.pop(name, None)
        new._rarity = np.zeros(0, np.float32)
        new.background, new.word_counts = statistics
        return new

    @cached_property
    def sample(self) -> Sample:
        """Some keys that stand for all, drawn at random but the same each time; all if few."""
        slots = np.flatnonzero(self.alive)
        if len(slots) > _SAMPLE:
            places = np.random.default_rng(0).choice(
                len(slots), _SAMPLE, replace=False, shuffle=False
            )
            slots = np.sort(slots[places])
        some = self.some(slots)
        some.texts.read()
        return Sample(slots, some)

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(compress(self.names, self.alive.tolist()))

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
            _slots(names),
            NgramIndex(plain),
            Texts(self._embedding, plain),
            has_phrases=self.has_phrases,
        )
        few.background, few.word_counts = self.statistics
        return few


def _spread(slots: NDArray[np.intp], most: int, share: Share | None) -> NDArray[np.intp]:
    """Return which of some slots are among every k-th of all, which are ``most`` at most.

    >>> ten = np.arange(10)
    >>> _spread(ten, 4, None), _spread(ten[:5], 4, Share(0, 10)), _spread(ten[5:], 4, Share(5, 10))
    (array([0, 3, 6, 9]), array([0, 3]), array([6, 9]))
    """
    before, total = share or Share(0, len(slots))
    step = -(-total // most) or 1
    return slots[-before % step :: step]


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


class EncodedKeys(NamedTuple):
    """Keys with words, m of them, and what an embedding says of them.

    Attributes:
        names: the keys as written.
        plain: the plain words of each.
        vectors: (m, E).
        trust: (m,).
    """

    names: Sequence[str]
    plain: Sequence[str]
    vectors: NDArray[np.float32]
    trust: NDArray[np.float32]


class Columns:
    """The keys of a dict in arrays that only grow: who reads the first n rows is not disturbed.

    Args:
        embedding: what encodes the keys.
    """

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.is_whole = True  # False while rows are appended, and after that was interrupted
        self.generation = object()
        self.names: list[str] = []
        self.slots: dict[str, int] = {}  # of the names whose text tells whether they are equal
        self.has_others = False  # names of a class with its own `__eq__` or `__hash__`
        self.has_phrases = False
        self.ngrams = NgramIndex()
        self.texts = Texts(embedding, self.ngrams.strings)
        self.vectors = Rows(np.zeros((0, 0), np.float32))
        self.inverse_lengths = Rows(np.zeros(0, np.float32))
        self.trust = Rows(np.zeros(0, np.float32))

    def __copy__(self) -> Self:
        """Return independent columns."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for name in ("names", "slots", "ngrams", "vectors", "inverse_lengths", "trust"):
            setattr(new, name, copy(getattr(self, name)))
        new.texts = self.texts.copied(new.ngrams.strings)
        return new

    def append(self, keys: EncodedKeys) -> None:
        """Append keys."""
        self.is_whole = False
        self.ngrams = self.ngrams.extended(keys.plain)
        lengths = inverse_lengths(keys.vectors)
        self._append_rows(keys.names, keys.vectors, lengths, keys.trust)

    def fill(self, found: Found, vectors: NDArray[np.float32], trust: NDArray[np.float32]) -> None:
        """Fill empty columns with keys of which all is known."""
        self.is_whole = False
        self.ngrams = found.ngrams
        self.texts = Texts(self.embedding, found.ngrams.strings)
        self._append_rows(found.names, vectors, found.inverse_lengths, trust)

    def _append_rows(
        self,
        names: Sequence[str],
        vectors: NDArray[np.float32],
        inverse_lengths: NDArray[np.float32],
        trust: NDArray[np.float32],
    ) -> None:
        """Append keys whose plain words are in the index of n-grams."""
        first = len(self.names)
        self.vectors.extend(vectors)
        self.inverse_lengths.extend(inverse_lengths)
        self.trust.extend(trust)
        words = islice(self.ngrams.strings, first, None)
        self.has_phrases = self.has_phrases or any(" " in text for text in words)
        slots = _slots(names, first)
        self.has_others = self.has_others or len(slots) < len(names)
        self.slots.update(slots)
        self.names.extend(names)
        self.texts.read_few()  # here, since the threads that use them hold no lock
        self.is_whole = True

    def keys(self, alive: NDArray[np.bool_]) -> Keys:
        """Return the keys as they are now, with those that are alive, (n,)."""
        vectors = self.vectors.rows.view()
        vectors.flags.writeable = False  # scorers and answers are shown them, not a copy
        return Keys(
            self.embedding,
            self.names,
            self.ngrams.strings,
            vectors,
            self.inverse_lengths.rows,
            self.trust.rows,
            alive,
            self.slots,
            self.ngrams,
            self.texts,
            has_phrases=self.has_phrases,
            generation=self.generation,
        )

    def packed(self, keys: Keys, alive: NDArray[np.bool_]) -> Columns:
        """Return columns of the living keys alone."""
        new, slots = Columns(self.embedding), np.flatnonzero(alive)
        if len(slots):
            names = [keys.names[slot] for slot in slots.tolist()]
            plain = [keys.plain[slot] for slot in slots.tolist()]
            new.append(EncodedKeys(names, plain, keys.vectors[slots], keys.trust[slots]))
        return new


class Changes(NamedTuple):
    """What was written since the last keys: the dead among their slots, and the new keys."""

    since: Keys
    dead: list[int]
    new: list[str]


class KeyIndex:
    """Keeps the text keys of a dict as arrays.

    Writes are only noted. `keys` encodes the new keys in one batch, so that a million writes cost
    one call of the embedding. A key without letters or digits has no slot: it is only found
    exactly.

    New `Keys` are made aside and take the place of the last ones by one assignment, so that an
    interrupt leaves the keys of before or after. Where notes may be wrong, the dict is compared
    with the last keys. A key whose class has its own `__eq__` or `__hash__` is never asked for
    them: it is told by its identity.

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
        #: Whether the notes may be wrong, so that the next changes are told from the dict.
        self.in_doubt = False
        self._columns = Columns(embedding)
        self._keys = self._columns.keys(np.zeros(0, np.bool_))
        self._pending: dict[str, None] = {}
        self._gone: list[str] = []
        self._restore_later: Callable[[KeyIndex], None] | None = None

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self._keys)

    def __copy__(self) -> Self:
        """Return an independent index that need not encode the keys again."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._columns = copy(self._columns)
        new._keys = new._columns.keys(self._keys.alive)
        new._pending, new._gone = self._pending.copy(), self._gone.copy()
        return new

    @property
    def generation(self) -> object:
        """What changes when the slots are numbered anew."""
        return self._columns.generation

    # ---- writes ---------------------------------------------------------------------------

    def add(self, key: str) -> None:
        """Note a key that is new in the dict."""
        if is_plain(type(key)):
            self._pending[key] = None
        else:
            self.in_doubt = True

    def discard(self, key: Any) -> None:
        """Note that a key is gone, if it was there; any key may equal a text."""
        if not is_plain(type(key)):
            self.in_doubt |= type(key) not in _NEVER_TEXTS
        elif self._columns.has_others:
            self.in_doubt = True
        elif self._pending.pop(key, self) is self:
            self._gone.append(key)

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
        names, plain = plain_texts(keys) if found is None else (found.names, [])
        if len(names) != len(vectors):
            raise ValueError(f"it has {len(vectors)} vectors for {len(names)} keys with words")
        columns = Columns(self.embedding)
        columns.generation = self.generation
        if found is None:
            columns.append(EncodedKeys(names, plain, vectors, trust))
        else:
            columns.fill(found, vectors, trust)
        new = columns.keys(np.ones(len(names), np.bool_))
        self.__dict__.update(_columns=columns, _keys=new, _restore_later=None)

    def restore_later(self, restore: Callable[[KeyIndex], None]) -> None:
        """Let ``restore`` call `restore` when the keys are needed; if it raises, so does a read."""
        self._restore_later = restore

    # ---- reads ----------------------------------------------------------------------------

    def keys(self) -> Keys:
        """Return the keys as arrays, up to date with what was written."""
        changes = self.changes()
        if changes is not None:
            self.take(changes, self.encoded(changes))
        return self._keys

    def changes(self, keys: Collection[Any] = ()) -> Changes | None:
        """Return what was written since the last keys, or None if nothing was.

        Args:
            keys: the keys of the dict, which are looked at if the notes may be wrong.
        """
        if self._restore_later is not None:
            self._restore_later(self)
        if self.in_doubt:
            return self._compared_with(keys)
        if not self._pending and not self._gone:
            return None
        slots = self._keys.slots
        dead = [slots[key] for key in self._gone if key in slots]
        return Changes(self._keys, dead, list(self._pending))

    def _compared_with(self, keys: Iterable[Any]) -> Changes:
        """Return what differs between the keys of the dict and the last ones; the order counts."""
        names, last = self._keys.names, -1
        by_id = {id(names[slot]): slot for slot in self._keys.living_slots().tolist()}
        by_text = {names[i]: i for i in by_id.values() if is_plain(type(names[i]))}
        kept, new = set[int](), list[str]()
        for key in keys:
            if isinstance(key, str):
                slot = by_text.get(key) if is_plain(type(key)) else by_id.get(id(key))
                if slot is not None and slot > last and not new:
                    kept.add(slot)
                    last = slot
                elif slot is not None or _plain(key):
                    new.append(key)
        dead = [slot for slot in by_id.values() if slot not in kept]
        return Changes(self._keys, dead, new)

    def encoded(self, changes: Changes) -> EncodedKeys | None:
        """Return what the embedding says of new keys, if one of them has words."""
        names, plain = plain_texts(changes.new)
        if not names:
            return None
        texts = list(map(exact_text, names))
        return EncodedKeys(names, plain, *self.embedding.encode_with_trust(texts))

    def take(self, changes: Changes, encoded: EncodedKeys | None, *, are_all: bool = True) -> None:
        """Make keys of the last ones and the changes.

        Args:
            changes: what `changes` returned.
            encoded: what `encoded` returned of them.
            are_all: whether nothing was written since.
        """
        keys, columns = changes.since, self._columns
        if keys is not self._keys:
            return  # another thread was faster
        self.in_doubt = True  # until all is done
        alive = keys.alive.copy()
        alive[changes.dead] = False
        was_interrupted = not columns.is_whole or len(columns.names) != len(keys)
        if was_interrupted or np.count_nonzero(~alive) > _DEAD_ALLOWED * len(alive):
            columns = columns.packed(keys, alive)
            alive = np.ones(len(columns.names), np.bool_)
        else:
            for slot in changes.dead:
                columns.slots.pop(keys.names[slot], None)
        if encoded is not None:
            columns.append(encoded)
            alive = np.append(alive, np.ones(len(encoded.names), np.bool_))
        new = columns.keys(alive)
        doubt = {"in_doubt": not are_all}
        self.__dict__.update(_columns=columns, _keys=new, _pending={}, _gone=[], **doubt)

    def check(self, texts: list[str]) -> None:
        """Assert that the index holds these keys, and that its arrays fit together."""
        changes, keys, columns = self.changes(texts), self._keys, self._columns
        dead, new = changes[1:] if changes else ([], [])
        assert columns.is_whole or changes is not None
        known = [slot for slot in keys.living_slots().tolist() if slot not in dead]
        words = [keys.names[slot] for slot in known] + [key for key in new if plain(key)]
        assert words == [key for key in texts if plain(key)]
        assert len(keys) == len(keys.vectors) == len(keys.trust) == len(keys.inverse_lengths)
        assert keys.plain[: len(keys)] == [_plain(name) for name in keys.names[: len(keys)]]
        assert all(keys.plain[: len(keys)]), "a key without words has a slot"
        assert all(map(is_plain, map(type, keys.names))) or columns.has_others
        living = {keys.names[slot]: slot for slot in keys.living_slots().tolist()}
        assert {name: slot for name, slot in living.items() if is_plain(type(name))} == keys.slots
        if len(keys):
            lengths, inverse = np.linalg.norm(keys.vectors, axis=1), keys.inverse_lengths
            np.testing.assert_allclose(inverse * lengths, lengths > 0, rtol=1e-5)
            assert 0 <= keys.trust.min() <= keys.trust.max() <= 1
        keys.ngrams.check()


_PLAIN = {str, np.str_}
_NEVER_TEXTS = {int, float, bool, complex, bytes, type(None)}


def is_plain(kind: type) -> bool:
    """Tell whether keys of a class are equal to what has the same text, and no code is run.

    >>> class Loud(str):
    ...     def __eq__(self, other): print("asked"); return False
    >>> is_plain(str), is_plain(Loud), is_plain(int)
    (True, False, False)
    """
    if kind in _PLAIN:
        return True
    of_text: Any = str
    same = kind.__eq__ is of_text.__eq__ and kind.__hash__ is of_text.__hash__
    return issubclass(kind, str) and same


def _slots(names: Sequence[str], first: int = 0) -> dict[str, int]:
    """Return the slot of each name, from the first one on, whose text tells what it equals."""
    slots = zip(names, range(first, first + len(names)), strict=True)
    if all(map(is_plain, set(map(type, names)))):
        return dict(slots)
    return {name: slot for name, slot in slots if is_plain(type(name))}


def exact_text(text: str) -> str:
    """Return a text as a `str` itself, so that no method of a derived class is called."""
    return text if type(text) is str else str.__str__(text)


def plain_texts(keys: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Return the keys that are texts and have words, and these words."""
    pairs = [(key, text) for key in keys if isinstance(key, str) and (text := _plain(key))]
    return [key for key, _ in pairs], [text for _, text in pairs]


def _plain(key: str) -> str:
    """Return the plain words of a key; the key itself, not a copy, if it is plain already."""
    exact = exact_text(key)
    text = plain(exact)
    return exact if text == exact else text


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
