"""The index of a dict's text keys: writes are noted, and brought up to date in one batch."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from fuzzydict.search.keys import Columns, Keys, Split, exact_text, is_plain, texts_with_words
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from fuzzydict.search.score import Meaning


_DEAD_ALLOWED = 0.5  # share of dead slots from which on the arrays are packed
_NEVER_TEXTS = {int, float, bool, complex, bytes, type(None)}


#: Keys with words, m of them, as written, and their vectors, (m, E).
Encoded: TypeAlias = "tuple[Sequence[str], NDArray[np.float32]]"


class Changes(NamedTuple):
    """What was written since the last keys: the dead among their slots, and the new keys."""

    since: Keys
    dead: list[int]
    new: list[str]


class KeyIndex:
    """Keeps the text keys of a dict as arrays.

    Writes are only noted. `keys` encodes the new keys in one batch, so that a million writes cost
    one call of the embedding. A key without letters or digits has no slot: it is only found
    exactly. A key whose class has its own `__eq__` or `__hash__` is never asked for them: it is
    told by its identity.

    New `Keys` are made aside and take the place of the last ones by one assignment, so that an
    interrupt leaves the keys of before or after. Where notes may be wrong, the dict is compared
    with the last keys. An index that threads share must be locked.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> from fuzzydict.search.score import Meaning
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
        self._columns = Columns(meaning.table)
        self._keys = Keys(self._columns, np.zeros(0, np.bool_))
        self._pending: dict[str, None] = {}
        self._gone: list[str] = []
        self._restore_later: Callable[[KeyIndex], None] | None = None

    def __copy__(self) -> Self:
        """Return an independent index that need not encode the keys again."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._columns = copy(self._columns)
        new._keys = Keys(new._columns, self._keys.alive)
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
        self, keys: Collection[Any], vectors: NDArray[np.float32], split: Split | None = None
    ) -> None:
        """Fill an empty index with keys that were encoded before, but for those deleted since.

        They are all keys of the dict, S of them with words; the vectors are (S, E).

        Raises:
            ValueError: there are more vectors than keys with words, or fewer.
        """
        are_texts = len(keys) == len(vectors) and set(map(type, keys)) == {str}
        names = list(keys) if are_texts and split is not None else texts_with_words(keys)
        if len(names) != len(vectors):
            raise ValueError(f"it has {len(vectors)} vectors for {len(names)} keys with words")
        columns = Columns(self.meaning.table)
        columns.generation = self.generation
        columns.append(names, vectors, split)
        new = Keys(columns, np.ones(len(names), np.bool_))
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

    def changes(self, keys: Iterable[Any] = ()) -> Changes | None:
        """Return what was written since the last keys, or None if nothing was.

        The keys of the dict are looked at if the notes may be wrong; the order counts.
        """
        if self._restore_later is not None:
            self._restore_later(self)
        names, slots = self._keys.names, self._keys.slots
        if not self.in_doubt:
            dead = [slots[key] for key in self._gone if key in slots]
            is_any = self._pending or self._gone
            return Changes(self._keys, dead, list(self._pending)) if is_any else None
        by_id = {id(names[slot]): slot for slot in self._keys.living_slots().tolist()}
        by_text = {names[slot]: slot for slot in by_id.values() if is_plain(type(names[slot]))}
        kept, new, last = set[int](), list[str](), -1
        for key in keys:
            if isinstance(key, str):
                slot = by_text.get(key) if is_plain(type(key)) else by_id.get(id(key))
                if slot is not None and slot > last and not new:
                    kept.add(slot)
                    last = slot
                elif slot is not None or plain(exact_text(key)):
                    new.append(key)
        return Changes(self._keys, [slot for slot in by_id.values() if slot not in kept], new)

    def encoded(self, changes: Changes) -> Encoded | None:
        """Return what the embedding says of new keys, if one of them has words."""
        names = texts_with_words(changes.new)
        if not names:
            return None
        return names, self.meaning.of_keys(list(map(exact_text, names)))

    def take(self, changes: Changes, encoded: Encoded | None, *, are_all: bool = True) -> None:
        """Make keys of the last ones and the changes; ``are_all`` if nothing was written since."""
        keys, columns = changes.since, self._columns
        if keys is not self._keys:
            return  # another thread was faster
        self.in_doubt = True  # until all is done
        alive = keys.alive.copy()
        alive[changes.dead] = False
        was_interrupted = not columns.is_whole or len(columns.names) != len(keys)
        if was_interrupted or np.count_nonzero(~alive) > _DEAD_ALLOWED * len(alive):
            columns, slots = Columns(self.meaning.table), np.flatnonzero(alive)
            alive = np.ones(len(slots), np.bool_)
            if len(slots):
                columns.append([keys.names[slot] for slot in slots.tolist()], keys.vectors[slots])
        else:
            columns.is_whole = False  # so that an interrupt is noticed
            for slot in changes.dead:
                columns.slots.pop(keys.names[slot], None)
            columns.is_whole = True
        if encoded is not None:
            columns.append(*encoded)
            alive = np.append(alive, np.ones(len(encoded[0]), np.bool_))
        new = Keys(columns, alive)
        doubt = {"in_doubt": not are_all}
        self.__dict__.update(_columns=columns, _keys=new, _pending={}, _gone=[], **doubt)

    def check(self, texts: list[str]) -> None:
        """Assert that the index holds these keys, and that its arrays fit together."""
        changes, keys = self.changes(texts), self._keys
        dead, new = changes[1:] if changes else ([], [])
        assert self._columns.is_whole or changes is not None
        slots = {keys.names[slot]: slot for slot in keys.living_slots().tolist()}
        known = [name for name, slot in slots.items() if slot not in dead]
        assert known + [key for key in new if plain(key)] == [key for key in texts if plain(key)]
        assert len(keys) == len(keys.vectors) == len(keys.columns) == len(keys.inverse_lengths)
        split = map(self.meaning.table.words_of, map(exact_text, keys.names[: len(keys)]))
        assert [keys.texts[slot] for slot in range(len(keys))] == list(map(" ".join, split))
        own = {name: slot for name, slot in slots.items() if is_plain(type(name))}
        assert self.in_doubt or own == keys.slots  # which a write that was cut off has changed
