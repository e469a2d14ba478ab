"""The text keys of a dict as arrays: they grow, forget, and are brought up to date in one batch."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict.embedding.background import SAMPLE, Background
from fuzzydict.text.ngrams import NgramIndex
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.search.neighbours import Neighbours

__all__ = ["Column", "KeyIndex", "Others", "Shortlist"]


_GROWTH = 9 / 8  # room made at a time: few copies, little memory in vain


class Column:
    """Rows in a buffer with room for more; the first ones are kept, not copied.

    >>> column = Column(np.zeros(0))
    >>> column.extend(np.ones(2)); column.extend(np.zeros(1))
    >>> column.rows.tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._buffer = self.rows = rows

    def __copy__(self) -> Self:
        return type(self)(self.rows.copy())  # two columns in one buffer would overwrite each other

    def extend(self, new: NDArray[Any]) -> None:
        """Append rows like those that are there."""
        used = len(self.rows)
        total = used + len(new)
        if not used:
            self._buffer = self.rows = new
            return
        if total > len(self._buffer):
            room = max(total, int(len(self._buffer) * _GROWTH) + 8)
            self._buffer = np.empty((room, *new.shape[1:]), new.dtype)
            self._buffer[:used] = self.rows
        self._buffer[used:total] = new
        self.rows = self._buffer[:total]


_DEAD_ALLOWED = 0.5  # share of forgotten slots before the arrays are packed


class KeyIndex:
    """Slots for the text keys of a dict, in the dict's order; a deleted key leaves its slot dead.

    Writes only note what changed. `sync` encodes what is new in one batch, so that a million
    writes cost one call of the embedding, and a single write no more than a single key. A key
    without letters or digits has no slot: it is found exactly, or not at all.

    The arrays are good until the next write; who shares the index between threads locks it.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> index = KeyIndex(as_embedding({"red": [1.0, 0.0], "blue": [0.0, 2.0]}))
    >>> index.add("red"); index.add("blue"); index.sync()
    >>> index.names, index.vectors.tolist()
    (['red', 'blue'], [[1.0, 0.0], [0.0, 2.0]])
    >>> index.discard("red"); index.alive.tolist()
    [False, True]
    """

    others: Others | None = None  # keys that are no part of it, and compete with its own

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.neighbours: Neighbours | None = None  # what finds near keys, where it is asked for
        self.clear()

    def clear(self) -> None:
        """Forget every key."""
        self.whole = True  # False once a change was broken off (by Ctrl-C, say) half-way
        self.names: list[str] = []
        self.has_phrases = False  # whether a key has, or had, several words
        self.ngrams = NgramIndex()
        self._slots: dict[str, int] = {}
        self._pending: dict[str, None] = {}
        self._unread: Callable[[KeyIndex], None] | None = None  # restores the first keys
        self._gone: list[Any] = []  # some of those that it will restore
        self._vectors = Column(np.zeros((0, 0), np.float32))
        self._inverse_lengths, self._trust = (Column(np.zeros(0, np.float32)) for _ in range(2))
        self._alive = Column(np.zeros(0, np.bool_))
        self._background: Background | None = None

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.names)

    def __copy__(self) -> Self:
        """Return an index of its own that need not encode the keys again."""
        new = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            new.__dict__[name] = value if name == "embedding" else copy(value)
        return new

    # ---- writes ---------------------------------------------------------------------------

    def add(self, key: str) -> None:
        """Note a key that is new in the dict."""
        self._pending[key] = None

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(self._slots)

    def pending(self) -> list[str]:
        """Return the keys that were noted and are not encoded yet, in order."""
        return list(self._pending)

    def restore(
        self, keys: Iterable[Any], vectors: NDArray[np.float32], trust: NDArray[np.float32]
    ) -> None:
        """Fill an empty index with keys that were encoded before.

        Raises:
            ValueError: there are more vectors than keys with words, or fewer.
        """
        texts = _texts(keys)
        if len(texts) != len(vectors):
            raise ValueError(f"it has {len(vectors)} vectors for {len(texts)} keys with words")
        if texts:
            self._append(list(texts), list(texts.values()), vectors, trust)

    def defer(self, restore: Callable[[KeyIndex], None]) -> None:
        """Let ``restore`` fill an empty index once its keys are needed."""
        self._unread = restore

    def slot(self, key: str, *, otherwise: int) -> int:
        """Return the slot of ``key``, or ``otherwise`` where it has none."""
        return self._slots.get(key, otherwise)

    def discard(self, key: Any) -> None:
        """Forget a key, if it is there."""
        self._pending.pop(key, None)
        if self._unread is not None:
            self._gone.append(key)
        else:
            self._forget(key)

    def _forget(self, key: Any) -> None:
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._alive.rows[slot] = False
            self._background = None
            if self.neighbours is not None:
                self.neighbours.forget(slot)

    def sync(self) -> None:
        """Bring the arrays up to date with what was written."""
        self._read()
        if len(self) - len(self._slots) > _DEAD_ALLOWED * len(self):
            self._pack()
        if texts := _texts(self._pending):
            new = list(texts)
            self._append(new, list(texts.values()), *self.embedding.encode_with_trust(new))
        self._pending.clear()

    def _read(self) -> None:
        """Restore the keys that it should begin with, if that is still to be done."""
        restore = self._unread
        if restore is None:
            return
        self._unread = None
        try:
            restore(self)
            for key in self._gone:
                self._forget(key)
        except BaseException:
            # Of a damaged file every read tells.
            self._unread, self.whole = restore, self.whole and not len(self)
            raise
        self._gone = []

    def _append(
        self,
        names: list[str],
        texts: list[str],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
    ) -> None:
        self.whole = False
        lengths = _lengths(vectors)
        self._vectors.extend(vectors)
        self._inverse_lengths.extend(np.divide(1, lengths, where=lengths > 0, out=lengths))
        self._trust.extend(trust)
        self._alive.extend(np.ones(len(names), np.bool_))
        self.ngrams.extend(texts)
        self.has_phrases = self.has_phrases or any(" " in text for text in texts)
        self._slots.update(zip(names, range(len(self), len(self) + len(names)), strict=True))
        self.names.extend(names)
        self._background = None
        self.whole = True

    def _pack(self) -> None:
        """Let the dead slots go."""
        slots = np.flatnonzero(self.alive)
        names, texts = (
            [strings[i] for i in slots.tolist()] for strings in (self.names, self.plain)
        )
        vectors, trust, pending = self.vectors[slots], self.trust[slots], self._pending
        if self.neighbours is not None:
            self.neighbours.renumber()
        self.clear()
        self.whole, self._pending = False, pending
        if names:
            self._append(names, texts, vectors, trust)
        self.whole = True

    # ---- what a query is compared with ----------------------------------------------------

    @property
    def plain(self) -> list[str]:
        """The words of each slot's key, joined by blanks."""
        return self.ngrams.strings

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors, (n, E), read-only: scorers and answers are shown them, not a copy."""
        view = self._vectors.rows.view()
        view.flags.writeable = False
        return view

    @property
    def inverse_lengths(self) -> NDArray[np.float32]:
        """One by the length of each vector, (n,); 0 for the zero vector."""
        return self._inverse_lengths.rows

    @property
    def trust(self) -> NDArray[np.float32]:
        """How far each vector can be believed, (n,), from 0 to 1."""
        return self._trust.rows

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which slots hold a key of the dict, (n,)."""
        return self._alive.rows

    @property
    def dead(self) -> NDArray[np.intp]:
        """The slots that hold no key of the dict."""
        some = len(self._slots) < len(self)
        return np.flatnonzero(~self.alive) if some else np.zeros(0, np.intp)

    @property
    def count(self) -> int:
        """How many slots hold a key of the dict."""
        return len(self._slots)

    @property
    def background(self) -> Background:
        """What cosines to expect of unrelated texts."""
        if self._background is None:
            slots = np.flatnonzero(self.alive)
            some = slots[:: -(-len(slots) // SAMPLE) or 1]
            self._background = self.embedding.background(self.vectors[some])
        return self._background

    def _check(self) -> None:
        """Assert all that holds between two calls, whatever was written."""
        self._read()
        assert self.whole
        slots = list(self._slots.values())
        assert slots == np.flatnonzero(self.alive).tolist(), "the living slots are not in order"
        assert list(self._slots) == [self.names[slot] for slot in slots]
        assert not self._pending.keys() & self._slots.keys(), "a key is both new and known"
        assert self.plain == [_plain(name) for name in self.names]
        assert all(self.plain), "a key without words has a slot"
        columns = (self.vectors, self.inverse_lengths, self.trust, self.alive, self.ngrams)
        assert {len(column) for column in columns} == {len(self)}
        if len(self):
            lengths = np.linalg.norm(self.vectors, axis=1)
            np.testing.assert_allclose(self.inverse_lengths * lengths, lengths > 0, rtol=1e-5)
            assert 0 <= self.trust.min() <= self.trust.max() <= 1
        self.ngrams._check()


def _texts(keys: Iterable[Any]) -> dict[str, str]:
    """Return the words of each key that is a text and has some."""
    return {key: text for key in keys if isinstance(key, str) and (text := _plain(key))}


def _plain(key: str) -> str:
    """Return the words of a key; the key itself, not another text, if it is plain already."""
    text = plain(key)
    return key if text == key else text


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ne,ne->n", vectors, vectors))  # without a copy of the squares
    long = np.flatnonzero(np.isinf(lengths))  # their squares are beyond 32 bits
    lengths[long] = np.linalg.norm(vectors[long].astype(np.float64), axis=1)
    return np.asarray(lengths, np.float32)


class Others(NamedTuple):
    """The keys that are not on a shortlist.

    Attributes:
        total: how many living keys the whole index has.
        left: how many of them are not on the list, 1 or more.
        sample: some keys of the whole index.
        listed: which of the sample are on the list.
    """

    total: int
    left: int
    sample: KeyIndex
    listed: NDArray[np.intp]


class Shortlist(KeyIndex):
    """Some keys of an index; nothing is written to it.

    Args:
        index: all keys.
        slots: theirs, (c,), rising.
        alike: how many n-grams they share with the query, as cosines, (c,).
        others: what is known of those that are left out; None if nobody asks.
    """

    def __init__(
        self,
        index: KeyIndex,
        slots: NDArray[np.intp],
        alike: NDArray[np.float32] | None = None,
        others: Others | None = None,
    ) -> None:
        super().__init__(index.embedding)
        listed, plain = slots.tolist(), index.plain
        self.names = [index.names[slot] for slot in listed]
        self._slots = dict(zip(self.names, range(len(listed)), strict=True))
        self._vectors.rows = index.vectors[slots]
        self._inverse_lengths.rows = index.inverse_lengths[slots]
        self._trust.rows = index.trust[slots]
        self._alive.rows = np.ones(len(listed), np.bool_)
        self._background = index.background
        self.ngrams = _Compared([plain[slot] for slot in listed], alike)
        self.others = others

    def believed(self, trust: list[float]) -> Shortlist:
        """Return the list itself, its vectors trusted as far as told, (c,)."""
        self._trust.rows = np.array(trust, np.float32)
        return self


class _Compared(NgramIndex):
    """Strings of which it is known how many n-grams they share with the one query."""

    def __init__(self, strings: list[str], alike: NDArray[np.float32] | None) -> None:
        super().__init__(strings)
        self._alike = alike

    def similarities(self, query: str) -> NDArray[np.float32]:
        return super().similarities(query) if self._alike is None else self._alike.copy()
