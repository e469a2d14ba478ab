"""`FuzzyDict`: a dict whose reads are fuzzy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from functools import cached_property
from itertools import repeat
from operator import is_
from os import PathLike
from threading import RLock
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Never, Self, TypeGuard, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import as_array, as_bool
from fuzzydict.embedding.encoder import Embedding
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, ShapeError, quoted
from fuzzydict.options import (
    DEFAULTS,
    LEARNED,
    MODES,
    OPTIONS,
    as_cutoff,
    check_reachable,
    class_of_mode,
    declared_class,
    empty_of,
    no_items,
    unknown_option,
)
from fuzzydict.reads import NOT_GIVEN, AttnMask, Read, Reader, Reads
from fuzzydict.results.answers import NO_KEY, is_match, no_match, require_texts, taught_none
from fuzzydict.results.tables import dict_html
from fuzzydict.saving import SavedKeys, read_saved, write_saved
from fuzzydict.search.keys import Keys, has_words
from fuzzydict.search.lookup import Approximate, Exact
from fuzzydict.search.neighbours import EXACT, Neighbours
from fuzzydict.search.score import Meaning, is_probability, is_spelling
from fuzzydict.search.taught import Aliases

if TYPE_CHECKING:
    from fuzzydict.learning.report import FitReport

T = TypeVar("T")
V = TypeVar("V")
#: Attributes that are not pickled: they can be made again.
_DERIVED = {"_lock", "_kept", "_adapted", "_meaning"}
_LET_IN = 1e-4  # seconds, in which a thread that waits wakes up
_GONE: Any = object()
_ENCODING = (
    "embedding: its encode reads or writes the dict whose keys it encodes; do so before or after "
    "a read, or give encode a plain copy: dict(d)"
)


class _Kept:
    """What a dict keeps beside its items and options."""

    #: What the keys were encoded by at the last read that needed them, and the keys as arrays;
    #: or those in a file, as long as no read needs any.
    encoded: tuple[Meaning, Keys | SavedKeys] | None = None
    neighbours: Neighbours | None = None  # the engine that finds keys, if one is asked
    reader: Reader | None = None  # the last snapshot
    is_encoding = False  # whether another snapshot is being made
    aliases: Aliases | None = None  # what was taught, if anything was
    size = 0  # the number of keys after the last write


class _GoneError(RuntimeError):
    """A key that a read found is gone."""


class FuzzyDict(Reads[V, Reader], dict[Any, V]):
    """A dict that also answers queries that are not its keys.

    Reads by query are fuzzy; membership, writes and iteration are those of a plain dict.

    Args:
        data: what a dict takes: a mapping, or pairs.
        mode: "nearest": ``d[query]`` is the value of the nearest key; "pool": ``d[query]`` is the
            mean of all values, weighted by attention. By the default score a key has its own
            value in both; with a named scorer ``d[key]`` pools, too. ``dict(d)``, ``{**d}``, ``|``
            and other copies have the items as they are.
        embedding: what gives texts their vectors; by default the shipped Brown vectors, which are
            for non-commercial use. "english", a table of words that is free for commercial use; a
            `WordVectors`, gensim ``KeyedVectors``, ``{word: vector}``, an object with
            ``encode(texts)``, or such a function.
        scorer: what compares the vectors of a query and a key: a scorer, its lower-case name, or
            a function ``(L, E), (S, E) -> (L, S)``. By default the score is the probability that
            the key is the right one, by spelling and meaning; with "spelling" it is that by
            spelling alone, and no embedding is needed.
        temperature: what divides scores before the softmax; by default 0.05 for the cosine, or 1.0.
        score_cutoff: the least score of a match; by default 0.5 for the default score, so that the
            key is more likely right than not, and 0.02 to pool; none for a scorer that compares
            vectors. Above 1, only equal keys and aliases match by the default score.
        projections: learned Q, K and V, as `fit` gives them; by default none, as "identity".
        index: what finds keys among many: "exact" compares a query with all keys; "usearch" (extra
            ``usearch``), for hundreds of thousands of keys, with those that a graph finds.

    Options are attributes too, and may be class attributes of a subclass. ``aliases`` and
    ``synonyms`` are attributes and no options: what the dict was taught of texts, and of words.

    Raises:
        OptionError, ArgumentTypeError: an option has a value that it does not take.
        UnknownOptionError: there is no such option; items come in ``data``, never as keywords.

    >>> d = FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"})
    >>> d["colour"], "colour" in d
    ('black', False)
    """

    _kept: _Kept

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if isinstance(cls.__dict__.get("aliases"), Mapping):
            raise OptionError(
                f"aliases: expected them of each dict, got some of the class {cls.__name__}; set "
                f"self.aliases in its __init__, or give the class synonyms"
            )
        is_ours = cls.__getitem__ in (dict.__getitem__, FuzzyDict._pooled_item)
        if "mode" in cls.__dict__ and is_ours:
            # In nearest mode the plain dict's own, so that an equal key is found at its speed.
            reader: Any = dict.__getitem__ if cls.mode == "nearest" else cls._pooled_item
            type.__setattr__(cls, "__getitem__", reader)

    def __new__(cls, /, *args: Any, mode: Any = None, **options: Any) -> Self:
        """Return an empty dict; one in another mode than its class is of a derived class."""
        is_mode = isinstance(mode, str) and mode in MODES
        self: Self = super().__new__(class_of_mode(cls, mode) if is_mode else cls)
        self.__dict__.update(_lock=RLock(), _kept=_Kept())
        _dicts[id(self)] = self
        if not issubclass(type(self), cls):  # then Python leaves it empty
            type(self).__init__(self, *args, mode=mode, **options)
        return self

    def __init__(
        self,
        data: Mapping[Any, V] | Iterable[tuple[Any, V]] = (),
        /,
        *,
        mode: str | None = None,
        embedding: Any = None,
        scorer: Any = None,
        temperature: float | None = None,
        score_cutoff: float | None = None,
        projections: str | Projections | None = None,
        index: str | None = None,
        **unknown: Never,
    ) -> None:
        given = locals()
        for name in unknown:
            raise unknown_option(type(self), name, is_keyword=True)
        if mode is not None:
            OPTIONS["mode"](mode)
            if mode != self.mode:  # a subclass hands it on, when the dict is made already
                raise OptionError(
                    f"mode: a dict of {type(self).__name__} is made in mode {self.mode!r} before "
                    f"__init__ asks for {mode!r}; set it in the class: mode = {mode!r}"
                )
        for name in OPTIONS.keys() - {"mode"}:
            if given[name] is not None:
                setattr(self, name, given[name])
        try:
            self.update(data)
        except (TypeError, ValueError) as error:
            raise no_items(type(self), data, error) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if declared_class(type(self)) is FuzzyDict and not hasattr(FuzzyDict, name):
            raise unknown_option(FuzzyDict, name)
        super().__setattr__(name, value)

    # ---- reads of one value -----------------------------------------------------------------

    def __missing__(self, query: Any) -> V:
        return self._nearest_value(query, None)

    def _nearest_value(self, query: Any, score_cutoff: float | None, default: Any = NOT_GIVEN) -> V:
        """Return the value of the nearest key to a query that is none; or the default, if any."""
        name, value = self._read_as(query), _GONE
        if name is NO_KEY:
            raise taught_none(query)
        if name is not query:  # it was taught
            value = dict.get(self, name, _GONE)
        elif type(query) is str and self._is_current(reader := self._kept.reader):
            best = reader.best.get(query)
            cutoff = reader.cutoff if score_cutoff is None else score_cutoff
            if best is not None and best.score >= cutoff and best.score > -np.inf:
                value = dict.get(self, best.name, _GONE)
            elif best is not None and default is not NOT_GIVEN:
                return cast("V", default)
        if value is not _GONE:
            return cast("V", value)

        def find(asked: list[str], reader: Reader) -> list[V]:
            (best,) = reader.nearest(asked)
            cutoff = reader.cutoff if score_cutoff is None else score_cutoff
            if is_match(asked[0], *best, cutoff):
                return self._values([best.name])
            if default is NOT_GIVEN:
                raise no_match(query, *best, cutoff)
            return [default]

        return self._of_blocks(require_texts([query]), find)[0]

    def _pooled_item(self, query: Any, score_cutoff: float | None = None) -> Any:
        with self._lock:
            name = self._read_as(query)
            is_own = dict.__contains__(self, name) and is_probability(self.scorer)
            if is_own or not (name is NO_KEY or has_words(name)):
                return dict.__getitem__(self, name)
        return Reads.pool(self, query, score_cutoff=score_cutoff)

    def get(self, query: Any, default: Any = None, /, *, score_cutoff: float | None = None) -> Any:
        """Return ``d[query]``, or ``default`` where that raises `NoMatchError`, by this cutoff."""
        if (score_cutoff := as_cutoff(score_cutoff)) is not None:
            check_reachable(score_cutoff, self.scorer)
        try:
            if score_cutoff is not None and self.mode == "pool":
                return self._pooled_item(query, score_cutoff)
            ways = type(self).__missing__, type(self).__getitem__  # a subclass may have its own
            is_ours = ways == (FuzzyDict.__missing__, dict.__getitem__)
            if dict.__contains__(self, query) or (score_cutoff is None and not is_ours):
                return self[query]
            return self._nearest_value(query, score_cutoff, default)
        except NoMatchError:
            return default

    # ---- what was taught --------------------------------------------------------------------

    @property
    def aliases(self) -> Aliases:
        """What was taught: texts, and the key that each is read as, or None if no key matches it.

        >>> d = FuzzyDict({"zip": "10115", "city": "Berlin"})
        >>> d.aliases = {"postal code": "zip", "country": None}
        >>> d.aliases["Postal-Code"], len(d)
        ('zip', 2)
        """
        with self._lock:
            if self._kept.aliases is None:
                self._kept.aliases = Aliases(self)
            return self._kept.aliases

    @aliases.setter
    def aliases(self, aliases: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        self.aliases.replace(aliases)

    # ---- writes: exact ------------------------------------------------------------------------

    def _write(self, write: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Write by a method of `dict`."""
        with self._lock:
            self._notice()  # what an interrupt left, or a method of `dict` itself
            try:
                return write(*args, **kwargs)
            finally:  # it may fail half way
                self._notice()

    def _notice(self) -> None:
        """Drop the snapshot if there are other keys, and the aliases of those that are gone."""
        kept, size = self._kept, len(self)
        if size != kept.size:
            kept.reader = None
            if size < kept.size and kept.aliases:
                kept.aliases.forget_gone()
            kept.size = size

    def __setitem__(self, key: Any, value: V) -> None:
        with self._lock:
            self._notice()
            super().__setitem__(key, value)
            self._notice()

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of an equal key, or insert ``default``."""
        return self._write(super().setdefault, key, default)

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Insert what ``dict.update`` would; of another `FuzzyDict` aliases and synonyms, too."""
        other = args[0] if args and isinstance(args[0], FuzzyDict) else None
        with self._lock:
            if other is not None and other._synonyms not in (None, self._synonyms):
                self.synonyms.update(other.synonyms)  # or raise, before anything is written
            self._write(super().update, *args, **kwargs)
            if other is not None and other._kept.aliases:
                self.aliases.take_over(other._kept.aliases)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def __delitem__(self, key: Any) -> None:
        self._write(super().__delitem__, key)

    def pop(self, key: Any, /, *default: Any) -> Any:
        """Remove an equal key and return its value, or ``default`` if there is none."""
        return self._write(super().pop, key, *default)

    def popitem(self) -> tuple[Any, V]:
        """Remove and return the last item."""
        return self._write(super().popitem)

    def clear(self) -> None:
        """Remove every item."""
        with self._lock:
            self._write(super().clear)
            self._kept.encoded = self._kept.neighbours = None

    # ---- copies -----------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a shallow copy with the same options; its keys are not encoded again."""
        with self._lock:
            new = self._empty()  # with the synonyms of this moment, which `update` adds to
            new.update(self)
            new._kept.encoded = self._kept.encoded
            new._kept.neighbours = copy(self._kept.neighbours)
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = memo[id(self)] = self._empty()
        state, slots = self._settings()
        shared = {*OPTIONS, "_before_fit"}
        own = {name: deepcopy(value, memo) for name, value in state.items() if name not in shared}
        FuzzyDict.__setstate__(new, (own, deepcopy(slots, memo)))
        with self._lock:  # another thread may be writing
            items, aliases = list(self.items()), dict(self._kept.aliases or {})
        for key, value in items:
            new[deepcopy(key, memo)] = deepcopy(value, memo)
        if aliases:
            new.aliases.take_over({text: deepcopy(key, memo) for text, key in aliases.items()})
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
        state, slots = self._settings()
        if "embedding" in vars(FuzzyDict):  # which is set for all dicts, as "english"
            state.setdefault("embedding", self.embedding)
        if self._kept.aliases:
            state["aliases"] = dict(self._kept.aliases)
        return (state, slots) if slots else state  # as Python has it

    def __setstate__(self, state: Any) -> None:
        state, slots = state if isinstance(state, tuple) else (state, {})
        for name, value in slots.items():
            object.__setattr__(self, name, value)
        aliases = state.pop("aliases", None)
        self.__dict__.update(state)
        if aliases:  # the items are here: a pickle has them before the state
            self.aliases.take_over(aliases)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        reduced: Any = super().__reduce_ex__(max(protocol, 2))
        with self._lock:  # another thread may be writing
            items = iter(list(self.items()))
        return empty_of, (declared_class(type(self)), self.mode), *reduced[2:4], items

    def _empty(self) -> Self:
        """Return an empty dict of the same kind, whatever its constructor takes."""
        new = type(self).__new__(type(self))
        FuzzyDict.__setstate__(new, self._settings())
        new.__dict__.update(_adapted=self._adapted, _meaning=self._meaning)
        return new

    def _settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the attributes of a copy that is empty, and those that a class has in slots."""
        found = object.__getstate__(self)
        state, slots = found if isinstance(found, tuple) else (found, {})
        # Copied at once first: another thread may be setting an option.
        return {n: v for n, v in state.copy().items() if n not in _DERIVED}, slots

    def _repr_html_(self) -> str:
        with self._lock:
            return dict_html(self, DEFAULTS, self._kept.aliases or {}, self.synonyms)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython would read d[key], which pools in pool mode.
        printer.text("{...}") if cycle else printer.pretty(dict(dict.items(self)))

    # ---- learning ---------------------------------------------------------------------------

    def fit(
        self,
        queries: Iterable[str] | Mapping[str, Any],
        targets: Iterable[Any] | None = None,
        *,
        remember: bool = True,
        learn: Sequence[str] | None = None,
        rank: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        validation: float | None = None,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
    ) -> FitReport:
        """Remember examples, and learn from many of them what other queries mean.

        If the targets are keys, the queries become `aliases`, beside those that are there. From 100
        examples on, Q and K are learned too, and the temperature of a named scorer. If the targets
        are numbers or arrays, the queries are to pool them: Q, K and the temperature are learned,
        and "cosine" replaces the default scorer. What is learned is kept if it answers held-out
        examples better, aliases aside; see the guide "Learning from examples".

        Args:
            queries: texts, or a mapping from texts to their targets.
            targets: one for each query, unless ``queries`` is a mapping: a key, a list of right
                keys, or None where no key should match; or, for all, a number or an array.
            remember: whether queries become aliases: of several right keys, of the nearest.
            learn: which of "query", "key" and, to pool, "value"; by default Q and K.
            rank: learn ``I + A B'`` with A and B (E, rank); by default a whole matrix (E, E).
            epochs: passes over the examples, at most; by default 15, or 30 to 100 to pool.
            learning_rate: how far a step may turn a vector, as a share of its length; by default
                0.03, or 0.1 to pool.
            validation: the share of examples held out; by default 0.2; 0 holds none out. If it is
                given, Q and K are learned from fewer than 100 examples, too.
            seed: decides which examples are held out, and the order of the batches.
            progress: is called with ``(done, total)``; it may stop the fit by raising.
            warm_start: go on from what was learned; by default from what was before the last fit.

        Raises:
            OptionError: there are no examples, a target is no key, a query that is a key has
                another one, a text is to find two keys, or an option is out of range.
            ArgumentTypeError: a query is no text, targets are missing, or of several kinds.
            ShapeError: queries and targets are not as many; targets are NaN or of several shapes.
            PoolingError: targets are numbers, and a value cannot be pooled.

        >>> d = FuzzyDict({"color": "black", "price": 109000, "brand": "Porsche"})
        >>> report = d.fit({"hue": "color", "expense": "price", "maker": "brand"})
        >>> report.remembered, d["hue"], d["Maker"]
        (3, 'black', 'Porsche')
        """
        from fuzzydict.learning.fit import DictState, Plan, learn_from

        with self._lock:
            keys = self._current_reader().lookup.keys
            names = keys.living()
            if not names:
                raise OptionError("fit: no key of the dict is a text with letters or digits")
            before = self._options_before_fit()
            options = {name: getattr(self, name) for name in LEARNED} if warm_start else before
            by_letters = is_spelling(options["scorer"])  # so that no vectors are needed
            state = DictState(
                every=frozenset(self),
                found=keys,
                is_current=options["projections"] is self.projections,
                values=self._values(names),
                embedding=None if by_letters else self._adapted_embedding(),
                options=options,
                synonyms=self._synonyms,
            )
        plan = Plan(remember, learn, rank, epochs, learning_rate, validation, seed, progress)
        report, aliases = learn_from(state, queries, targets, plan)
        with self._lock:
            self.aliases.update(aliases)  # or raise, before anything is set
            if report.kept:
                restored = {} if warm_start else self._options_before_fit()
                self._set_learned(restored | report.options)
        return report

    # ---- files ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the dict to one file: items, options, aliases, synonyms, vectors; no pickle.

        The file is replaced as a whole or not at all. Of the embedding it holds the fingerprint.

        Raises:
            ArgumentTypeError: a key or value is of none of JSON's types, no tuple and no numpy
                array, and the message names the key; or the scorer is a function.
        """
        with self._lock:
            lookup, neighbours = self._current_reader().lookup, self._kept.neighbours
            write_saved(path, self, lookup.meaning, lookup.keys, neighbours)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        embedding: Any = None,
        mapped: bool = False,
        trust: bool = False,
    ) -> Self:
        """Open a dict that `save` wrote; ``embedding`` is the one with which it was made.

        It may be left out for the Brown vectors and for "english". Vectors of over 64 MB stay in
        the file, where all processes that open it share them; with ``mapped``, those of over 1 MB.
        If they are damaged, fuzzy reads raise the error.

        A file is refused if to compare each key that is no text with all others of its dict, also
        of dicts among the values, takes over 25 million comparisons: that is more than 5,000
        integers in one dict. ``trust`` reads it, if you trust who wrote it.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version; or it
                has more keys that are no texts than are read without ``trust``.
            OptionError: the embedding is another one; the message names both.
        """
        mapped, trust = as_bool("mapped", mapped), as_bool("trust", trust)
        items, options, taught, keys = read_saved(path, mapped=mapped, trust=trust)
        new: Self = empty_of(declared_class(cls), options.pop("mode"))
        if embedding is not None:
            options["embedding"] = embedding
        for name, value in options.items():
            if value is not None or getattr(new, name) is not None:  # as a class attribute has it
                setattr(new, name, value)
        dict.update(new, items)
        new.aliases.take_over(taught["aliases"])
        new.synonyms = taught["synonyms"]  # a class may have others
        kept, meaning = new._kept, new._current_meaning()
        kept.neighbours = keys.open(meaning)
        kept.encoded = meaning, keys.restored(meaning) if keys.at_once else keys
        return new

    # ---- snapshots --------------------------------------------------------------------------

    def _of_blocks(
        self, queries: list[Any], read: Read[Reader, T], *, at_once: bool = False
    ) -> list[T]:
        """Return what is read of the queries, a block at a time, each from a snapshot."""
        found, reader = list[T](), self._current_reader()
        step = max(len(queries), 1) if at_once else reader.lookup.at_once
        for start in range(0, max(len(queries), 1), step):
            block, some = None, queries[start : start + step]
            if start:
                reader = self._current_reader()
                if reader.lookup.needs_lock:
                    sleep(_LET_IN)
            if not reader.lookup.needs_lock:
                with suppress(_GoneError):
                    block = read(some, reader)
            if block is None or not reader.has_options_of(self):  # a key or option changed
                with self._lock:
                    block = read(some, self._current_reader())
            found += block
        return found

    def _current_reader(self) -> Reader:
        """Return a snapshot of the keys and options as they are; new keys are encoded in it."""
        if self._is_current(reader := self._kept.reader):
            return reader
        with self._lock:  # one thread encodes what several need
            if self._is_current(reader := self._kept.reader):
                return reader
            if self._kept.is_encoding:  # by this thread: another would hold the lock
                raise RuntimeError(_ENCODING)
            try:
                self._kept.is_encoding = True
                return self._made_reader()
            finally:
                self._kept.is_encoding = False

    def _is_current(self, reader: Reader | None) -> TypeGuard[Reader]:
        return reader is not None and reader.size == len(self) and reader.has_options_of(self)

    def _made_reader(self) -> Reader:
        """Return a new snapshot; the caller holds the lock."""
        kept, meaning = self._kept, self._current_meaning()
        if kept.encoded is None or kept.encoded[0] is not meaning:
            kept.encoded = meaning, Keys(meaning.table)
        keys = kept.encoded[1]
        if not isinstance(keys, Keys):
            keys = keys.restored(meaning)
        for _ in range(2):
            keys = keys.updated(list(self), meaning.of_keys)
            if len(self) == len(keys.of_dict):
                break
        else:  # what gave the keys their vectors has written, again and again
            raise RuntimeError(_ENCODING)
        kept.encoded = meaning, keys
        if self.index == EXACT or is_spelling(self.scorer):  # which n-grams find, among any number
            kept.neighbours, lookup = None, Exact(keys, meaning, self.scorer)
        else:
            kept.neighbours = kept.neighbours or Neighbours()
            lookup = Approximate(keys, meaning, self.scorer, kept.neighbours)
        kept.reader = reader = Reader(self, lookup, self._cutoff(lookup))
        return reader

    # ---- what reads ask ---------------------------------------------------------------------

    def _read_as(self, query: Any, reader: Reader | None = None) -> Any:  # noqa: ARG002
        aliases = self._kept.aliases
        if not aliases or not isinstance(query, str) or dict.__contains__(self, query):
            return query
        key = aliases.get(str.__str__(query), query)
        return NO_KEY if key is None else key

    def _values(self, names: list[Any], reader: Reader | None = None) -> list[V]:  # noqa: ARG002
        """Return the values of keys, all as they are at one moment; raise if a key is gone."""
        with self._lock:
            values = [dict.get(self, name, _GONE) for name in names]
            if not any(map(is_, values, repeat(_GONE))):
                return cast("list[V]", values)
            self._kept.reader = None
        gone = next(name for name, value in zip(names, values, strict=True) if value is _GONE)
        raise _GoneError(
            f"the key {quoted(gone)} was removed by a method of dict itself, of which the vectors "
            f"were not told, or by what the read called; remove keys by del d[key] or d.pop(key), "
            f"before or after a read, and read again"
        )

    def _is_key(self, name: Any, reader: Reader | None = None) -> bool:  # noqa: ARG002
        return dict.__contains__(self, name)  # a subclass may define another `in`

    def _allowed(self, attn_mask: AttnMask, reader: Reader) -> NDArray[np.bool_]:
        names = reader.lookup.keys.living()
        if callable(attn_mask):
            return np.array([as_bool("attn_mask", attn_mask(name)) for name in names])
        mask = as_array("attn_mask", attn_mask)
        if mask.dtype != np.bool_:
            raise ArgumentTypeError(
                f"attn_mask: expected bools (True = attend) or a function of the key, "
                f"got {type(attn_mask).__name__} of dtype {mask.dtype}"
            )
        with self._lock:
            if mask.shape != (len(self),):
                raise ShapeError(
                    f"attn_mask: expected a bool for each of the {len(self)} keys, "
                    f"got shape {mask.shape}"
                )
            by_key = dict(zip(self, mask.tolist(), strict=True))
            self._values(names)  # which are in the dict, or this begins anew
        return np.array([by_key[name] for name in names])


class Items(NamedTuple):
    """The S keys of a dict that can be compared, and their values, as they are at one moment."""

    lookup: Exact
    values: list[Any]
    embedding: Embedding  # without projections, for values that are texts


def items_of(d: FuzzyDict[Any]) -> Items:
    """Return the keys and values of a dict."""
    with d._lock:
        lookup = d._current_reader().lookup
        return Items(lookup, d._values(lookup.keys.living()), d._adapted_embedding())


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the name that is spelled most like one that is wrong.

    >>> suggestion("colum", ["row", "column"]), suggestion("qwzzt", ["row", "column"])
    (" (did you mean 'column'?)", '')
    """
    known = FuzzyDict({one: one for one in names}, scorer="spelling")
    found = known.get(name, score_cutoff=0.2)  # a person reads it, and a wrong hint is no harm
    return "" if found is None else f" (did you mean {quoted(found)}?)"


#: All dicts, which are not hashable, by their ids.
_dicts: WeakValueDictionary[int, FuzzyDict[Any]] = WeakValueDictionary()


def _after_fork() -> None:
    """Make new locks in a forked process, where the threads that held them are gone."""
    for d in list(_dicts.values()):
        was_free = d._lock.acquire(blocking=False)
        d.__dict__["_lock"] = RLock()
        if not was_free:  # what another thread was changing is made again by the next read
            d._kept.reader = d._kept.neighbours = None
            d._kept.is_encoding = False
    modules = [one for name, one in list(sys.modules.items()) if name.startswith("fuzzydict.")]
    classes = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    for attribute in [attribute for one in classes for attribute in vars(one).values()]:
        if isinstance(attribute, cached_property) and hasattr(attribute, "lock"):
            attribute.lock = RLock()  # each has one until Python 3.12


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
