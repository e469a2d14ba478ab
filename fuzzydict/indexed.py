"""What a `FuzzyDict` is between reads: writes, copies, and the index and reader they change."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import cached_property, partial
from itertools import islice, repeat
from operator import attrgetter, is_
from threading import Condition, RLock
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeGuard, TypeVar, cast
from weakref import WeakValueDictionary

from fuzzydict._arrays import make_room, slices
from fuzzydict.errors import quoted
from fuzzydict.options import DEFAULTS, OPTIONS, Configured, after_fork, declared_class, empty_of
from fuzzydict.results.answers import NO_KEY
from fuzzydict.results.tables import dict_html
from fuzzydict.search.aliases import Aliases
from fuzzydict.search.key_index import KeyIndex, exact_text
from fuzzydict.search.lookup import lookup_by
from fuzzydict.search.score import is_probability

if TYPE_CHECKING:
    from fuzzydict.embedding.base import Embedding
    from fuzzydict.results.pooling import StackedValues
    from fuzzydict.search.lookup import Approximate, Exact, Scored
    from fuzzydict.search.neighbours import Neighbours


T = TypeVar("T")
V = TypeVar("V")
#: Attributes that are not copied or pickled: they can be computed again.
_DERIVED = {
    *("_lock", "_encoding", "_nested", "_index", "_told", "_neighbours", "_reader"),
    *("_adapted", "_meaning"),
}
_ALIASES = "_aliases"
_REMEMBERED_KEYS = 1024  # queries whose keys are remembered
_SHORT = 64  # characters of a query that is remembered
_LET_IN = 1e-4  # seconds, in which a thread that waits wakes up
_ROUNDS = 3  # times that a read is tried while others write; then they wait
_GONE: Any = object()


_options = attrgetter("embedding", "index", "projections", "score_cutoff", "scorer", "temperature")


class Reader:
    """What reads use until a key or an option changes.

    Args:
        d: the dict, with its options as they are now.
        lookup: finds keys.

    Attributes:
        size: the number of items of the dict.
        lookup: finds keys.
        found: the keys that the last queries found; of a query that matches none, the best key and
            its score. Values are read from the dict each time.
        stacked: the values as one array, if `pool` was asked.
    """

    __slots__ = (
        *("_embedding", "_index", "_options", "_projections", "_score_cutoff", "_scorer", "size"),
        *("found", "lookup", "stacked"),
    )

    def __init__(self, d: IndexedDict[Any], lookup: Exact | Approximate) -> None:
        self.size, self._embedding, self._projections = len(d), d.embedding, d.projections
        self._scorer, self._score_cutoff, self._index = d.scorer, d.score_cutoff, d.index
        self._options, self.lookup = _options(d), lookup
        self.found: dict[object, str | Scored] = {}
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

    def has_options_of(self, d: IndexedDict[Any]) -> bool:
        """Tell whether the dict has the very options, whatever its size."""
        return all(map(is_, self._options, _options(d)))

    def remember(self, query: Any, found: str | Scored) -> None:
        """Remember the key of a short query, or that none matches."""
        # A scorer that is an object may change.
        is_fixed = self._scorer is None or isinstance(self._scorer, str)
        if is_fixed and type(query) is str and len(query) <= _SHORT:
            make_room(self.found, _REMEMBERED_KEYS)
            self.found[query] = found


class IndexedDict(Configured, dict[Any, V]):
    """A dict with options and aliases, which tells the index of its keys what is written.

    Writes are those of a plain dict. All that makes another dict of it keeps its class, options
    and aliases.
    """

    _index: KeyIndex | None
    _told: int  # the number of keys that the index was told of: the first ones
    _neighbours: Neighbours | None
    _reader: Any  # the `Reader` until a key or an option changes; something else while one is made
    _aliases: Aliases | None
    _encoding: Any  # held by the thread that encodes keys, while others write; readers wait
    _nested: Any  # held by a thread that encodes keys within a write

    def __new__(cls, /, *_: Any, **__: Any) -> Self:  # noqa: D102
        self = super().__new__(cls)
        self.__dict__.update(_index=None, _told=0, _neighbours=None, _reader=None, _aliases=None)
        self._make_locks()
        _dicts[id(self)] = self
        return self

    def _make_locks(self) -> None:
        self.__dict__.update(_lock=RLock(), _encoding=RLock(), _nested=RLock())

    def _after_fork(self) -> None:
        """Make new locks in a forked process, where the threads that held them are gone.

        What another thread was changing is compared with the keys again by the next read.
        """
        was_free = self._lock.acquire(blocking=False)
        self._make_locks()
        if self._aliases is not None:
            self._aliases.use(self._lock)
        if not was_free:
            self._doubt()
            self.__dict__["_neighbours"] = None

    # ---- what was taught --------------------------------------------------------------------

    @property
    def aliases(self) -> Aliases:
        """What was taught: texts, and the key that each is read as, or None if no key matches it.

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

    def _repr_html_(self) -> str:
        with self._lock:
            return dict_html(self, DEFAULTS, self._aliases or {})

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython would read d[key], which pools in pool mode.
        printer.text("{...}") if cycle else printer.pretty(dict(dict.items(self)))

    # ---- writes: exact, and noted for the index -------------------------------------------

    def __setitem__(self, key: Any, value: V) -> None:
        with self._lock:
            self._tell()
            super().__setitem__(key, value)
            self.__dict__["_reader"] = None
            self._tell()

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of an equal key, or insert ``default``."""
        with self._lock:
            self._tell()
            value = super().setdefault(key, default)
            self._tell()
        return value

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Insert what ``dict.update`` would, and the aliases of another `FuzzyDict`."""
        with self._lock:
            self._tell()
            super().update(*args, **kwargs)  # it may fail half-way: the next one to look is told
            self.__dict__["_reader"] = None
            self._tell()
            if args and isinstance(args[0], IndexedDict) and args[0]._aliases:
                self.aliases.update(args[0]._aliases)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def __delitem__(self, key: Any) -> None:
        with self._lock:
            self._tell()
            with_key = len(self)
            try:
                super().__delitem__(key)
                self._forget(key)
            except BaseException:
                self._forget_gone(with_key)
                raise

    def pop(self, key: Any, /, *default: Any) -> Any:
        """Remove an equal key and return its value, or ``default`` if there is none."""
        with self._lock:
            self._tell()
            with_key = len(self)
            try:
                value = super().pop(key, *default)
                self._forget(key)
            except BaseException:
                self._forget_gone(with_key)
                raise
        return value

    def popitem(self) -> tuple[Any, V]:
        """Remove and return the last item."""
        with self._lock:
            self._tell()
            with_key = len(self)
            try:
                key, value = super().popitem()
                self._forget(key)
            except BaseException:
                self._forget_gone(with_key)
                raise
        return key, value

    def clear(self) -> None:
        """Remove every item."""
        with self._lock:
            with_keys = len(self)
            try:
                super().clear()
                self.__dict__.update(_index=None, _neighbours=None, _reader=None)
                self._forget_gone(with_keys)
            except BaseException:
                self._forget_gone(with_keys)
                raise

    # ---- copies -----------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a shallow copy with the same options; its keys are not encoded again."""
        new = self._empty()
        with self._lock:
            self._tell()
            new.update(self)
            index = self._index
            if index is not None and all(map(is_, new, self)):
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
        for name in ("_adapted", "_meaning"):  # they never change
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    def _settings(self) -> dict[str, Any]:
        """Return the attributes of a copy that is empty: options, and what a user has set."""
        # Copied at once first: another thread may be setting an option.
        return {n: v for n, v in self.__dict__.copy().items() if n not in {*_DERIVED, _ALIASES}}

    # ---- what the index is told -----------------------------------------------------------

    def _tell(self) -> None:
        """Tell the index of the new keys, which are the last ones of the dict.

        It is asked before and after each write, and before a read. What was interrupted, or
        written by the methods of `dict` itself, is noticed here, too, if it changed the number of
        keys.
        """
        index, new = self._index, len(self) - self._told
        if index is None or new == 0:
            return
        self.__dict__["_reader"] = None
        if new < 0:
            self._doubt()
            return
        for key in reversed(list(islice(reversed(self), new))):
            if isinstance(key, str):
                index.add(key)
        self.__dict__["_told"] += new

    def _forget(self, key: Any) -> None:
        """Tell the index of a key that is gone, and drop its aliases."""
        if len(self) < self._told or self._index is None:
            self.__dict__["_reader"] = None
        if self._index is not None and len(self) == self._told - 1:
            self._index.discard(key)
            self.__dict__["_told"] -= 1
        if self._aliases and key is not None:
            self._aliases.forget(key)

    def _forget_gone(self, size: int) -> None:
        """Drop the aliases of keys that are gone, if the dict had more keys; after an interrupt."""
        if self._aliases and len(self) < size:
            self._aliases.forget_gone()

    def _doubt(self) -> None:
        """Let the next read compare the index with the keys."""
        if self._index is not None:
            self._index.in_doubt = True
        self.__dict__.update(_told=len(self), _reader=None)

    # ---- what reads use ---------------------------------------------------------------------

    def _read_as(self, query: Any, reader: Reader | None = None) -> Any:  # noqa: ARG002
        """Return what a query is read as: the key of which it is an alias, or itself.

        `NO_KEY` if it was taught to have none. A key is read as itself.
        """
        if not self._aliases or not isinstance(query, str) or dict.__contains__(self, query):
            return query
        key = self._aliases.find(exact_text(query), query)
        return NO_KEY if key is None else key

    def _of_blocks(
        self,
        queries: list[Any],
        read: Callable[[list[Any], Reader], list[T]],
        *,
        at_once: bool = False,
        finds_equal: bool = False,
    ) -> list[T]:
        """Return what is read of some of the queries at a time.

        Each block sees the keys as they are when it begins, and the values as they are at its end.

        Args:
            queries: the queries.
            read: reads some of them.
            at_once: whether all are one block.
            finds_equal: whether a query that is a key is not compared, if keys are probable.
        """
        found, lookup = list[T](), self._current_reader().lookup
        for some in slices(len(queries), max(len(queries), 1) if at_once else lookup.at_once):
            if some.start and lookup.needs_lock:
                sleep(_LET_IN)
            found += self._of_block(queries[some], read, finds_equal=finds_equal)
        return found

    def _of_block(
        self,
        queries: list[Any],
        read: Callable[[list[Any], Reader], list[T]],
        *,
        finds_equal: bool = False,
    ) -> list[T]:
        """Return what is read of queries; the lock is not held, unless an engine finds keys.

        If a key was found that is gone when its value is asked for, or an option has changed, this
        begins anew; at last, the lock is held all the time. See `_of_blocks`.
        """
        for _ in range(_ROUNDS):
            reader = self._current_reader()
            if reader.lookup.needs_lock:
                break
            try:
                found = read(queries, reader)
            except GoneError:
                continue
            if reader.has_options_of(self):
                return found
        with self._reading(self._to_encode(queries, finds_equal=finds_equal)) as reader:
            return read(queries, reader)

    def _to_encode(self, queries: list[Any], *, finds_equal: bool) -> list[str]:
        """Return the texts that will be compared, as far as can be told without the lock."""
        finds_equal = finds_equal and is_probability(self.scorer)
        return [
            exact_text(name)
            for name in map(self._read_as, queries)
            if isinstance(name, str) and not (finds_equal and dict.__contains__(self, name))
        ]

    def _values(self, names: list[Any], reader: Reader | None = None) -> list[V]:  # noqa: ARG002
        """Return the values of keys, all as they are at one moment."""
        with self._lock:
            values = list(map(partial(dict.get, self), names, repeat(_GONE)))
            if not any(map(is_, values, repeat(_GONE))):
                return cast("list[V]", values)
            if self._is_current(self._reader):  # so that it was not told
                self._doubt()
        gone = names[next(i for i, value in enumerate(values) if value is _GONE)]
        raise GoneError(
            f"the key {quoted(gone)} was removed by a method of dict itself, of which the "
            f"vectors were not told, or by what the read called; remove keys by del d[key] or "
            f"d.pop(key), before or after a read, and read again"
        )

    @contextmanager
    def _reading(self, asked: Sequence[str] = ()) -> Iterator[Reader]:
        """Hold the lock, with what reads use and the keys as they are now.

        New keys, and the queries, are encoded before the lock is taken. If another thread writes
        meanwhile, this begins anew; at last, the lock is held all the time.

        Args:
            asked: the queries that will be compared.
        """
        for _ in range(_ROUNDS):
            reader = self._current_reader()
            queries = reader.lookup.prepare(asked)
            with self._lock:
                if self._reader is reader and reader.is_of(self):
                    with reader.lookup.knowing(queries):
                        yield reader
                    return
        with self._lock:
            reader = self._current_reader()
            with reader.lookup.knowing(reader.lookup.prepare(asked)):
                yield reader

    def _current_reader(self) -> Reader:
        """Return the reader, made anew if a key or an option has changed; see `_reading`."""
        reader = self._reader
        if self._is_current(reader):
            return reader
        if holds(self._encoding) or holds(self._nested):
            raise RuntimeError(
                "embedding: its encode reads the dict whose keys it encodes; read it before, or "
                "give encode a plain copy: dict(d)"
            )
        self._current_meaning()  # whose vectors may be read from a file
        if holds(self._lock):  # so it must not wait for a thread that waits for this lock
            with self._nested:
                return self._made_reader(_ROUNDS)
        with self._encoding:  # one thread encodes what several need
            return self._made_reader_meanwhile()

    def _made_reader_meanwhile(self) -> Reader:
        """Return a reader; others write while it is made, unless they do so again and again."""
        try:
            return self._made_reader(_ROUNDS)
        except _ChangedError:
            pass
        with self._lock:
            return self._made_reader(_ROUNDS)

    def _is_current(self, reader: Any) -> TypeGuard[Reader]:
        return type(reader) is Reader and reader.is_of(self)

    def _made_reader(self, rounds: int) -> Reader:
        """Return a reader of the keys as they are, once they do not change while it is made."""
        for _ in range(rounds):
            with self._lock:
                self._tell()
                index = self._index_of_embedding()
                changes = index.changes(self)
                if changes is None:
                    return self._new_reader(index)
                making = self.__dict__["_reader"] = object()
                size = len(self)
            encoded = index.encoded(changes)
            with self._lock:
                are_all = self._reader is making and len(self) == size
                index.take(changes, encoded, are_all=are_all)
                if are_all:
                    return self._new_reader(index)
        raise _ChangedError(_CHANGING)

    def _index_of_embedding(self) -> KeyIndex:
        """Return the index, or one that is empty if the embedding is another one."""
        index, meaning = self._index, self._current_meaning()
        if index is None or index.meaning is not meaning:
            index = KeyIndex(meaning)
            self.__dict__["_index"] = index
            self._doubt()
        return index

    def _new_reader(self, index: KeyIndex) -> Reader:
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


class Items(NamedTuple):
    """The keys of a dict that can be compared, and their values, as they are at one moment.

    Attributes:
        lookup: finds keys, S of them.
        values: theirs, S.
        embedding: the embedding without projections, for values that are texts.
    """

    lookup: Exact | Approximate
    values: list[Any]
    embedding: Embedding


def items_of(d: IndexedDict[Any]) -> Items:
    """Return the keys and values of a dict."""
    with d._reading() as reader:
        values = d._values(reader.lookup.keys.living())
        return Items(reader.lookup, values, d._adapted_embedding())


def _slots_of(d: Any) -> dict[str, Any]:
    """Return the attributes that a subclass keeps in ``__slots__``, as far as they are set."""
    state = object.__getstate__(d)
    return state[1] if isinstance(state, tuple) else {}


_CHANGING = (
    "embedding: its encode writes to the dict each time that it encodes its keys; write before or "
    "after a read"
)


class GoneError(RuntimeError):
    """A key that a read found is gone."""


class _ChangedError(RuntimeError):
    """The dict was changed while its new keys were encoded."""


def holds(lock: Any) -> bool:
    """Tell whether this thread holds a reentrant lock.

    >>> lock = RLock()
    >>> with lock:
    ...     holds(lock)
    True
    >>> holds(lock)
    False
    """
    try:
        Condition(lock).notify(0)  # which only who holds the lock may
    except RuntimeError:
        return False
    return True


# ---- forks ------------------------------------------------------------------------------------

_PACKAGE = "fuzzydict."
#: All dicts, which are not hashable, by their ids.
_dicts: WeakValueDictionary[int, IndexedDict[Any]] = WeakValueDictionary()


def _after_fork() -> None:
    after_fork()
    for reference in _dicts.valuerefs():
        d = reference()
        if d is not None:
            d._after_fork()
    for cached in _cached_properties():
        setattr(cached, "lock", RLock())  # noqa: B010


def _cached_properties() -> list[Any]:
    """Return the cached properties of the package; until Python 3.12, each has a lock."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(_PACKAGE)]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    attributes = [attribute for one in classes for attribute in vars(one).values()]
    return [one for one in attributes if isinstance(one, cached_property) and hasattr(one, "lock")]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
