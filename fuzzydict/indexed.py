"""What a `FuzzyDict` is between reads: writes, copies, and the index and reader they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import islice
from operator import is_
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeVar

from fuzzydict.options import OPTIONS, Configured, declared_class, empty_of
from fuzzydict.search.aliases import Aliases
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.lookup import lookup_by

if TYPE_CHECKING:
    from fuzzydict.results.pooling import StackedValues
    from fuzzydict.search.lookup import Lookup, Scored
    from fuzzydict.search.neighbours import Neighbours


V = TypeVar("V")
#: Attributes that are not copied or pickled: they can be computed again.
_DERIVED = {"_lock", "_index", "_told", "_neighbours", "_reader", "_adapted", "_projected"}
_ALIASES = "_aliases"
_REMEMBERED_KEYS = 1024  # queries whose keys are remembered
_SHORT = 64  # characters of a query that is remembered


class Reader:
    """What reads use until a key or an option changes.

    Args:
        d: the dict, with its options as they are now.
        lookup: finds keys.

    Attributes:
        size: the number of items of the dict.
        lookup: finds keys.
        found: the keys that the last queries found; the best key of a query that matches none, or
            None. Values are read from the dict each time.
        stacked: the values as one array, if `pool` was asked.
    """

    __slots__ = (
        *("_embedding", "_index", "_projections", "_score_cutoff", "_scorer", "size"),
        *("found", "lookup", "stacked"),
    )

    def __init__(self, d: IndexedDict[Any], lookup: Lookup) -> None:
        self.size, self._embedding, self._projections = len(d), d.embedding, d.projections
        self._scorer, self._score_cutoff, self._index = d.scorer, d.score_cutoff, d.index
        self.lookup = lookup
        self.found: dict[object, str | Scored | None] = {}
        self.stacked: StackedValues | None = None

    def is_of(self, d: IndexedDict[Any]) -> bool:
        """Tell whether the dict has the same size and the very options; a class may set these."""
        return (
            self.size == len(d)
            and self._scorer is d.scorer
            and self._score_cutoff is d.score_cutoff
            and self._embedding is d.embedding
            and self._projections is d.projections
            and self._index is d.index
        )

    def remember(self, query: Any, found: str | Scored | None) -> None:
        """Remember the key of a short query, or that none matches."""
        # A scorer that is an object may change.
        is_fixed = self._scorer is None or isinstance(self._scorer, str)
        if is_fixed and type(query) is str and len(query) <= _SHORT:
            if len(self.found) >= _REMEMBERED_KEYS:
                del self.found[next(iter(self.found))]
            self.found[query] = found


class IndexedDict(Configured, dict[Any, V]):
    """A dict with options and aliases, which tells the index of its keys what is written.

    Writes are those of a plain dict. All that makes another dict of it keeps its class, options
    and aliases.
    """

    _index: KeyIndex | None
    _told: int  # the number of keys that the index was told of: the first ones
    _neighbours: Neighbours | None
    _reader: Reader | None  # what reads use until a key or an option changes
    _aliases: Aliases | None

    def __new__(cls, /, *_: Any, **__: Any) -> Self:  # noqa: D102
        self = super().__new__(cls)
        self.__dict__.update(_lock=RLock(), _index=None, _told=0, _neighbours=None, _reader=None)
        self.__dict__[_ALIASES] = None
        return self

    # ---- what was taught --------------------------------------------------------------------

    @property
    def aliases(self) -> Aliases:
        """Texts that are other names of keys, or of none (None); they are read as that key.

        >>> d = IndexedDict({"zip": "10115", "city": "Berlin"})
        >>> d.aliases = {"postal code": "zip", "country": None}
        >>> d.aliases["Postal-Code"], len(d)
        ('zip', 2)
        """
        with self._lock:
            aliases = self._aliases
            if aliases is None:
                aliases = self.__dict__[_ALIASES] = Aliases(self, self._lock)
        return aliases

    @aliases.setter
    def aliases(self, aliases: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        self.aliases.replace(aliases)

    # ---- writes: exact, and noted for the index -------------------------------------------

    def __setitem__(self, key: Any, value: V) -> None:
        with self._noted():
            super().__setitem__(key, value)

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of an equal key, or insert ``default``."""
        with self._lock:
            self._tell()
            try:
                return super().setdefault(key, default)
            finally:
                self._tell()

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Insert what ``dict.update`` would, and the aliases of another `FuzzyDict`."""
        with self._noted():
            super().update(*args, **kwargs)
            if args and isinstance(args[0], IndexedDict) and args[0]._aliases:
                self.aliases.update(args[0]._aliases)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def __delitem__(self, key: Any) -> None:
        with self._lock:
            self._tell()
            super().__delitem__(key)
            self._forget(key)

    def pop(self, key: Any, /, *default: Any) -> Any:
        """Remove an equal key and return its value, or ``default`` if there is none."""
        with self._lock:
            self._tell()
            value = super().pop(key, *default)
            self._forget(key)
        return value

    def popitem(self) -> tuple[Any, V]:
        """Remove and return the last item."""
        with self._lock:
            self._tell()
            key, value = super().popitem()
            self._forget(key)
        return key, value

    def clear(self) -> None:
        """Remove every item."""
        with self._lock:
            super().clear()
            self.__dict__.update(_index=None, _neighbours=None, _reader=None)
            if self._aliases:
                self._aliases.replace({a: None for a, of in self._aliases.items() if of is None})

    # ---- copies -----------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a shallow copy with the same options; its keys are not encoded again."""
        new = self._empty()
        with self._lock:
            self._tell()
            new.update(self)
            index = self._index
            if index is not None and index.is_whole and all(map(is_, new, self)):
                neighbours = copy(self._neighbours)
                new.__dict__.update(_index=copy(index), _told=self._told, _neighbours=neighbours)
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = memo[id(self)] = self._empty()
        for name in new.__dict__.keys() - OPTIONS.keys() - _DERIVED - {_ALIASES}:
            new.__dict__[name] = deepcopy(new.__dict__[name], memo)
        for name, value in _slots_of(self).items():
            object.__setattr__(new, name, deepcopy(value, memo))
        with self._lock:  # another thread may be writing
            items, aliases = list(self.items()), dict(self._aliases or {})
        for key, value in items:
            new[deepcopy(key, memo)] = deepcopy(value, memo)
        if aliases:
            new.aliases = {alias: deepcopy(key, memo) for alias, key in aliases.items()}
        return new

    def __or__(self, other: Any) -> Self:  # type: ignore[override]
        if not isinstance(other, dict):
            return NotImplemented
        new = self.copy()
        new.update(other)
        return new

    def __ror__(self, other: Any) -> Self:  # type: ignore[override]
        if not isinstance(other, dict):
            return NotImplemented
        new = self._empty()
        new.update(other)
        new.update(self)
        return new

    def __getstate__(self) -> Any:
        state = self._settings()
        if self._aliases:
            state[_ALIASES] = dict(self._aliases)
        slots = _slots_of(self)
        return (state, slots) if slots else state  # as Python has it

    def __setstate__(self, state: Any) -> None:
        state, slots = state if isinstance(state, tuple) else (state, {})
        for name, value in slots.items():
            object.__setattr__(self, name, value)
        aliases = state.pop(_ALIASES, None)
        self.__dict__.update(state)
        if aliases:  # the items are here: a pickle has them before the state
            self.aliases = aliases

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        reduced: Any = super().__reduce_ex__(max(protocol, 2))
        with self._lock:  # another thread may be writing
            items = iter(list(self.items()))
        return empty_of, (declared_class(type(self)), self.mode), *reduced[2:4], items

    def _empty(self) -> Self:
        """Return an empty dict of the same kind, whatever its constructor takes."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self._settings())
        for name, value in _slots_of(self).items():
            object.__setattr__(new, name, value)
        for name in ("_adapted", "_projected"):  # they never change
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    def _settings(self) -> dict[str, Any]:
        """Return the attributes of a copy that is empty: options, and what a user has set."""
        # Copied at once first: another thread may be setting an option.
        return {n: v for n, v in self.__dict__.copy().items() if n not in {*_DERIVED, _ALIASES}}

    # ---- what the index is told -----------------------------------------------------------

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Tell the index of what a write added, even if it fails half-way."""
        with self._lock:
            self._tell()
            self.__dict__["_reader"] = None
            try:
                yield
            finally:
                self._tell()

    def _tell(self) -> None:
        """Tell the index of the new keys, which are the last ones of the dict.

        Writes by the methods of `dict` itself are noticed here, too, if they change the number of
        keys: if there are more than the index was told of, it is told now; if there are fewer, it
        is made anew.
        """
        index, new = self._index, len(self) - self._told
        if index is None or new == 0:
            return
        self.__dict__["_reader"] = None
        if new < 0:
            self.__dict__["_index"] = None
            return
        for key in reversed(list(islice(reversed(self), new))):
            if isinstance(key, str):
                index.add(key)
        self.__dict__["_told"] += new

    def _forget(self, key: Any) -> None:
        """Tell the index of a key that is gone, and drop its aliases; any key may equal a text."""
        reader = self._reader
        if reader is not None and len(self) < reader.size:
            self.__dict__["_reader"] = None
        if self._index is not None and len(self) < self._told:
            self._index.discard(key)
            self.__dict__["_told"] -= 1
        if self._aliases and key is not None:
            self._aliases.forget(key)

    # ---- what reads use ---------------------------------------------------------------------

    @contextmanager
    def _lookup(self) -> Iterator[Lookup]:
        """Keep the keys as they are while they are looked up."""
        with self._lock:
            yield self._current_reader().lookup

    def _current_reader(self) -> Reader:
        """Return the reader, made anew if a key or an option has changed."""
        reader, index = self._reader, self._index
        if reader is None or not reader.is_of(self) or index is None or not index.is_whole:
            reader = self._made_reader()
        return reader

    def _made_reader(self) -> Reader:
        self._tell()
        index, embedding = self._index, self._projected_embedding()
        if index is None or not index.is_whole or index.embedding is not embedding:
            index = KeyIndex(embedding)
            self.__dict__.update(_index=index, _told=0)
            self._tell()
        lookup, neighbours = lookup_by(self.index, index, self.scorer, self._neighbours)
        reader = Reader(self, lookup)
        self.__dict__.update(_neighbours=neighbours, _reader=reader)
        return reader

    def _check(self) -> None:
        """Assert that the index is that of the keys, whatever was written."""
        with self._lock:
            self._tell()
            if self._index is not None:
                assert self._told == len(self)
                self._index.check([key for key in self if isinstance(key, str)])
            if self._aliases is not None:
                self._aliases.check()


def _slots_of(d: Any) -> dict[str, Any]:
    """Return the attributes that a subclass keeps in ``__slots__``, as far as they are set."""
    state = object.__getstate__(d)
    return state[1] if isinstance(state, tuple) else {}
