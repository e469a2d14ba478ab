"""The index of a dict's text keys: writes are noted, and brought up to date in one batch."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict._arrays import Rows
from fuzzydict.search.keys import (
    MOST_WORDS,
    Arrays,
    Keys,
    Known,
    Texts,
    Words,
    is_plain,
)
from fuzzydict.text.lexicon import look_up
from fuzzydict.text.ngrams import ngrams_of_each
from fuzzydict.text.words import LONGEST, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.meaning import Meaning


_DEAD_ALLOWED = 0.5  # share of dead slots from which on the arrays are packed


class EncodedKeys(NamedTuple):
    """Keys with words, m of them, and their vectors.

    Attributes:
        names: the keys as written.
        vectors: (m, E).
        split: their words and n-grams, if they are known.
    """

    names: Sequence[str]
    vectors: NDArray[np.float32]
    split: Split | None = None


class Split(NamedTuple):
    """The words and n-grams of S keys, as a file keeps them.

    Attributes:
        words: the different words.
        numbers: of the words of all keys, one key after the other, from 1 on, (M,).
        counts: how many words each key has, (S,).
        ngrams: the n-grams of all keys, (N,).
        ngram_counts: how many each has, (S,).
    """

    words: list[str]
    numbers: NDArray[np.int32]
    counts: NDArray[np.uint8]
    ngrams: NDArray[np.uint16]
    ngram_counts: NDArray[np.int64]

    @classmethod
    def of(cls, keys: Keys) -> Split:
        """Return the words and n-grams of the living keys, and of no others."""
        (ngrams, ngram_counts), columns = keys.ngrams, keys.columns
        if len(keys.dead):
            ngrams = ngrams[np.repeat(keys.alive, ngram_counts)]
            ngram_counts, columns = ngram_counts[keys.alive], columns[keys.alive]
        counts = np.count_nonzero(columns, axis=1).astype(np.uint8)
        used, numbers = np.unique(columns[columns > 0], return_inverse=True)
        words = [keys.strings[number] for number in used.tolist()]
        return cls(words, (numbers + 1).astype(np.int32), counts, ngrams, ngram_counts)

    def check(self) -> None:
        """Raise ValueError unless these are words and n-grams of keys."""
        words, numbers, counts, sums = self.words, self.numbers, self.counts, self.ngram_counts
        if not (
            len(set(words)) == len(words)
            and all(0 < len(word) <= LONGEST and " " not in word for word in words)
            and len(numbers) == counts.sum(dtype=np.int64)
            and len(self.ngrams) == sums.sum(dtype=np.int64)
            and 1 <= counts.min(initial=1) <= counts.max(initial=1) <= MOST_WORDS
            and 1 <= numbers.min(initial=1) <= numbers.max(initial=0) <= len(words)
            and sums.min(initial=1) > 0
        ):
            raise ValueError("its words are not those of its keys")

    def is_current(self) -> bool:
        """Tell whether the tables still say that these are first spellings of words."""
        return all(look_up(word).form == word for word in self.words)

    def columns(self, words: Words) -> NDArray[np.int32]:
        """Return the numbers of the words of each key, (S, W), among those of a dict."""
        known = np.append(0, words.add([[word] for word in self.words])[:, 0]).astype(np.int32)
        columns = np.zeros((len(self.counts), MOST_WORDS), np.int32)
        columns[np.arange(MOST_WORDS) < self.counts[:, None]] = known[self.numbers]
        return columns


class Columns:
    """The keys of a dict in arrays that only grow: who reads the first n rows is not disturbed.

    Args:
        meaning: what the keys are compared by.
    """

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.is_whole = True  # False while rows are appended, and after that was interrupted
        self.generation = object()
        self.names: list[str] = []
        self.slots: dict[str, int] = {}  # of the names whose text tells whether they are equal
        self.has_others = False  # names of a class with its own `__eq__` or `__hash__`
        self.words = Words(meaning.table)
        columns = np.zeros((0, MOST_WORDS), np.int32)
        none = Arrays.of(np.zeros((0, 0), np.float32), columns, self.words)
        self.arrays = [Rows(array) for array in none]
        self.texts = Texts(self.words, self.columns)
        self.ngrams = Rows(np.zeros(0, np.uint16))
        self.counts = Rows(np.zeros(0, np.int64))  # of the n-grams
        self.known = Known()

    def __copy__(self) -> Self:
        """Return independent columns."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for name in ("names", "slots", "words", "ngrams", "counts"):
            setattr(new, name, copy(getattr(self, name)))
        new.arrays = list(map(copy, self.arrays))
        new.texts = Texts(new.words, new.columns)
        new.known = Known()
        return new

    @property
    def columns(self) -> Rows:
        """The numbers of the words of each key, (n, W)."""
        return self.arrays[Arrays._fields.index("columns")]

    def append(self, keys: EncodedKeys) -> None:
        """Append keys."""
        self.is_whole = False
        first = len(self.names)
        if keys.split is None:
            table = self.meaning.table
            words = [table.words_of(exact_text(name)) for name in keys.names]
            columns = self.words.add(words)
            ngrams, counts = ngrams_of_each(list(map(" ".join, words)))
        else:
            columns = keys.split.columns(self.words)
            ngrams, counts = keys.split.ngrams, keys.split.ngram_counts
        new = Arrays.of(keys.vectors, columns, self.words)
        for i, rows in enumerate(self.arrays):
            rows.extend(new[i])
        self.ngrams.extend(ngrams)
        self.counts.extend(counts)
        slots = _slots(keys.names, first)
        self.has_others = self.has_others or len(slots) < len(keys.names)
        self.slots.update(slots)
        self.names.extend(keys.names)
        self.is_whole = True

    def keys(self, alive: NDArray[np.bool_]) -> Keys:
        """Return the keys as they are now, with those that are alive, (n,)."""
        arrays = Arrays(*(rows.rows for rows in self.arrays))
        vectors = arrays.vectors.view()
        vectors.flags.writeable = False  # scorers and answers are shown them, not a copy
        return Keys(
            self.names,
            self.words,
            arrays._replace(vectors=vectors),
            self.texts,
            (self.ngrams.rows, self.counts.rows),
            alive,
            self.slots,
            self.generation,
            self.known,
        )

    def packed(self, keys: Keys, alive: NDArray[np.bool_]) -> Columns:
        """Return columns of the living keys alone."""
        new, slots = Columns(self.meaning), np.flatnonzero(alive)
        if len(slots):
            names = [keys.names[slot] for slot in slots.tolist()]
            new.append(EncodedKeys(names, keys.vectors[slots]))
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
    >>> from fuzzydict.search.meaning import Meaning
    >>> index = KeyIndex(Meaning(as_embedding({"red": [1.0, 0.0], "blue": [0.0, 2.0]})))
    >>> index.add("red"); index.add("blue")
    >>> index.keys().names, index.keys().vectors.tolist()
    (['red', 'blue'], [[1.0, 0.0], [0.0, 2.0]])
    >>> index.discard("red"); index.keys().alive.tolist()
    [False, True]
    """

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        #: Whether the notes may be wrong, so that the next changes are told from the dict.
        self.in_doubt = False
        self._columns = Columns(meaning)
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
        keys: Collection[Any],
        vectors: NDArray[np.float32],
        split: Split | None = None,
    ) -> None:
        """Fill an empty index with keys that were encoded before, but for those deleted since.

        Args:
            keys: all keys of the dict, S of them with words.
            vectors: (S, E).
            split: their words and n-grams, if they are known.

        Raises:
            ValueError: there are more vectors than keys with words, or fewer.
        """
        are_texts = len(keys) == len(vectors) and set(map(type, keys)) == {str}
        names = list(keys) if are_texts and split is not None else texts_with_words(keys)
        if len(names) != len(vectors):
            raise ValueError(f"it has {len(vectors)} vectors for {len(names)} keys with words")
        columns = Columns(self.meaning)
        columns.generation = self.generation
        columns.append(EncodedKeys(names, vectors, split))
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
                elif slot is not None or plain(exact_text(key)):
                    new.append(key)
        dead = [slot for slot in by_id.values() if slot not in kept]
        return Changes(self._keys, dead, new)

    def encoded(self, changes: Changes) -> EncodedKeys | None:
        """Return what the embedding says of new keys, if one of them has words."""
        names = texts_with_words(changes.new)
        if not names:
            return None
        return EncodedKeys(names, self.meaning.of_keys(list(map(exact_text, names))))

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
            columns.is_whole = False  # so that an interrupt is noticed
            for slot in changes.dead:
                columns.slots.pop(keys.names[slot], None)
            columns.is_whole = True
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
        assert len(keys) == len(keys.vectors) == len(keys.columns) == len(keys.inverse_lengths)
        split = map(self.meaning.table.words_of, map(exact_text, keys.names[: len(keys)]))
        texts = list(map(" ".join, split))
        assert [keys.texts[slot] for slot in range(len(keys))] == texts
        assert all(texts), "a key without words has a slot"
        assert all(map(is_plain, map(type, keys.names))) or columns.has_others
        living = {keys.names[slot]: slot for slot in keys.living_slots().tolist()}
        assert {name: slot for name, slot in living.items() if is_plain(type(name))} == keys.slots
        if len(keys):
            lengths, inverse = np.linalg.norm(keys.vectors, axis=1), keys.inverse_lengths
            np.testing.assert_allclose(inverse * lengths, lengths > 0, rtol=1e-5)


_NEVER_TEXTS = {int, float, bool, complex, bytes, type(None)}


def _slots(names: Sequence[str], first: int = 0) -> dict[str, int]:
    """Return the slot of each name, from the first one on, whose text tells what it equals."""
    slots = zip(names, range(first, first + len(names)), strict=True)
    if all(map(is_plain, set(map(type, names)))):
        return dict(slots)
    return {name: slot for name, slot in slots if is_plain(type(name))}


def exact_text(text: str) -> str:
    """Return a text as a `str` itself, so that no method of a derived class is called."""
    return text if type(text) is str else str.__str__(text)


def texts_with_words(keys: Iterable[Any]) -> list[str]:
    """Return the keys that are texts and have words."""
    return [key for key in keys if isinstance(key, str) and plain(exact_text(key))]
