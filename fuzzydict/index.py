"""The text keys of a dict as arrays: they grow, forget, and are brought up to date in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.spelling import NgramIndex
from fuzzydict.text import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.adapters import Embedding

__all__ = ["KeyIndex"]

_GROWTH = 9 / 8  # room made at a time: few copies, little memory in vain
_DEAD_ALLOWED = 0.5  # share of forgotten slots before the arrays are packed
_NOTHING = np.zeros(0, np.float32)


class KeyIndex:
    """Slots for the text keys of a dict, in the dict's order; a deleted key leaves its slot dead.

    Writes only note what changed. `sync` encodes what is new in one batch, so that a million
    writes cost one call of the embedding, and a single write no more than a single key. A key
    without letters or digits has no slot: it is found exactly, or not at all.

    The arrays are good until the next write; who shares the index between threads locks it.

    >>> from fuzzydict.adapters import as_embedding
    >>> index = KeyIndex(as_embedding({"red": [1.0, 0.0], "blue": [0.0, 2.0]}))
    >>> index.add("red"); index.add("blue"); index.sync()
    >>> index.names, index.vectors.tolist()
    (['red', 'blue'], [[1.0, 0.0], [0.0, 2.0]])
    >>> index.discard("red"); index.alive.tolist()
    [False, True]
    """

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.clear()

    def clear(self) -> None:
        """Forget every key."""
        self.names: list[str] = []
        self.ngrams = NgramIndex()
        self._slots: dict[str, int] = {}
        self._pending: dict[str, None] = {}
        self._vectors, self._inverse_lengths, self._trust, self._alive = (
            _Column() for _ in range(4)
        )

    def __len__(self) -> int:
        """Return the number of slots n, dead ones included."""
        return len(self.names)

    # ---- writes ---------------------------------------------------------------------------

    def add(self, key: str) -> None:
        """Note a key that is new in the dict."""
        self._pending[key] = None

    def living(self) -> list[str]:
        """Return the keys that have a slot, S of them, in order."""
        return list(self._slots)

    def restore(
        self, names: list[str], vectors: NDArray[np.float32], trust: NDArray[np.float32]
    ) -> None:
        """Fill an empty index with keys that were encoded before."""
        self._append(names, [" ".join(words(name)) for name in names], vectors, trust)

    def slot(self, key: str, *, otherwise: int) -> int:
        """Return the slot of ``key``, or ``otherwise`` where it has none."""
        return self._slots.get(key, otherwise)

    def discard(self, key: str) -> None:
        """Forget a key, if it is there."""
        self._pending.pop(key, None)
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._alive.rows[slot] = False

    def sync(self) -> None:
        """Bring the arrays up to date with what was written."""
        if len(self) - len(self._slots) > _DEAD_ALLOWED * len(self):
            self._pack()
        plain = {key: " ".join(words(key)) for key in self._pending}
        new = [key for key in self._pending if plain[key]]
        if new:
            vectors = self.embedding.encode(new)
            trust = self.embedding.trust(new)
            self._append(new, [plain[key] for key in new], vectors, trust)
        self._pending.clear()

    def _append(
        self,
        names: list[str],
        plain: list[str],
        vectors: NDArray[np.float32],
        trust: NDArray[np.float32],
    ) -> None:
        lengths = np.linalg.norm(vectors, axis=1)
        self._vectors.extend(vectors)
        self._inverse_lengths.extend(np.divide(1, lengths, where=lengths > 0, out=lengths))
        self._trust.extend(trust)
        self._alive.extend(np.ones(len(names), np.bool_))
        self.ngrams.extend(plain)
        self._slots.update(zip(names, range(len(self), len(self) + len(names)), strict=True))
        self.names.extend(names)

    def _pack(self) -> None:
        """Let the dead slots go."""
        slots = np.flatnonzero(self.alive)
        names, plain = (
            [strings[i] for i in slots.tolist()] for strings in (self.names, self.plain)
        )
        vectors, trust, pending = self.vectors[slots], self.trust[slots], self._pending
        self.clear()
        self._pending = pending
        if names:
            self._append(names, plain, vectors, trust)

    # ---- what a query is compared with ----------------------------------------------------

    @property
    def plain(self) -> list[str]:
        """The words of each slot's key, joined by blanks."""
        return self.ngrams.strings

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors, (n, E)."""
        return self._vectors.rows

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


class _Column:
    """Rows in a buffer with room for more."""

    def __init__(self) -> None:
        self._buffer: NDArray[Any] = _NOTHING
        self.rows: NDArray[Any] = _NOTHING

    def extend(self, new: NDArray[Any]) -> None:
        used = len(self.rows)
        total = used + len(new)
        if not used:
            self._buffer = np.array(new)
        elif total > len(self._buffer):
            room = max(total, int(len(self._buffer) * _GROWTH) + 8)
            self._buffer = np.empty((room, *new.shape[1:]), new.dtype)
            self._buffer[:used] = self.rows
        self._buffer[used:total] = new
        self.rows = self._buffer[:total]
