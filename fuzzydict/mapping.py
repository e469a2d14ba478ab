"""`FuzzyDict`: a dict whose reads are fuzzy. The dict protocol, and delegation only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import islice
from operator import is_
from os import PathLike
from threading import RLock
from typing import Any, Never, Self, TypeVar

from fuzzydict.embedding.projections import Projections
from fuzzydict.fits import FuzzyFits
from fuzzydict.options import OPTIONS, declared_class, empty_of, unknown_option
from fuzzydict.saving import read_saved, write_saved
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.lookup import Lookup, lookup_by
from fuzzydict.text.words import plain

__all__ = ["FuzzyDict"]

V = TypeVar("V")
_OWN = {"_lock", "_index", "_told", "_adapted", "_seen", "_recall"}  # which no pickle has


class FuzzyDict(FuzzyFits[V]):
    """A dict that also answers queries that are not its keys.

    Reads by query are fuzzy; membership, writes and iteration are those of a plain dict.

    Args:
        data: what a dict takes: a mapping, or pairs.
        mode: "nearest": ``d[query]`` is the value of the nearest key; "pool": the mean of all
            values, weighted by attention.
        embedding: what gives texts their vectors; by default the shipped Brown vectors. A
            `WordVectors`, gensim ``KeyedVectors``, ``{word: vector}``, an object with
            ``encode(texts)``, or such a function.
        scorer: what compares a query's vector with a key's: a scorer, its lower-case name, or a
            function ``(L, E), (S, E) -> (L, S)``; by default how likely the key is the right one,
            by spelling and meaning, beside the other keys and none of them.
        temperature: what scores are divided by before they become weights; by default 0.05 for
            the cosine, else 1.0.
        score_cutoff: the least score of a match; by default 0.02 for the default scorer, else none.
        projections: learned Q, K and V: what `fit` learned, "wordnet", which ships for the Brown
            vectors and is their default, or "identity" for none.
        index: what finds keys among many: "exact" compares a query with all of them; "usearch"
            (extra ``usearch``), for hundreds of thousands and more, with those that a graph finds.

    Options are attributes too, and may be class attributes of a subclass.

    Raises:
        OptionError, ArgumentTypeError: an option has a value that it does not take.
        UnknownOptionError: there is no such option (items come in ``data``, never as keywords).

    >>> d = FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"})
    >>> d["colour"], "colour" in d
    ('black', False)
    """

    _index: KeyIndex | None
    _told: int  # how many of the dict's keys the index was told of: the first ones

    def __new__(cls, /, *_: Any, **__: Any) -> Self:  # noqa: D102
        self = super().__new__(cls)
        self.__dict__.update(_lock=RLock(), _index=None, _told=0, _recall=None)
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
        for name in unknown:
            raise unknown_option(type(self), name)
        self._configure(
            mode=mode,
            embedding=embedding,
            scorer=scorer,
            temperature=temperature,
            score_cutoff=score_cutoff,
            projections=projections,
            index=index,
        )
        self.update(data)

    @contextmanager
    def _lookup(self) -> Iterator[Lookup]:
        """Keep the keys as they are while they are looked up."""
        with self._lock:
            self._tell()
            index, embedding = self._index, self._projected_embedding()
            if index is None or not index.whole or index.embedding is not embedding:
                index = KeyIndex(embedding)
                self.__dict__.update(_index=index, _told=0)
                self._tell()
            yield lookup_by(self.index, index, self.scorer)

    def __setattr__(self, name: str, value: Any) -> None:
        if declared_class(type(self)) is FuzzyDict and not hasattr(FuzzyDict, name):
            raise unknown_option(FuzzyDict, name)
        super().__setattr__(name, value)

    # ---- files ----------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the dict to one file, with its options and the vectors of its keys; no pickle.

        The file is replaced as a whole or not at all. It holds the embedding's fingerprint alone.

        Raises:
            ArgumentTypeError: a key or value is of none of JSON's types, no tuple and no numpy
                array, and the message names the key; or the scorer is a function.
        """
        with self._lookup() as lookup:
            lookup.index.sync()
            options = {name: getattr(self, name) for name in sorted(OPTIONS - {"embedding"})}
            write_saved(path, self, options, lookup.index)

    @classmethod
    def load(cls, path: str | PathLike[str], *, embedding: Any = None) -> Self:
        """Open a dict that `save` wrote; ``embedding`` is that with which it was made.

        Vectors of over 64 MB stay in the file: if they are damaged, fuzzy reads say so.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
            OptionError: the embedding is another one; the message names both.
        """
        items, options, keys = read_saved(path)
        new: Self = empty_of(declared_class(cls), options.pop("mode"))
        new._configure(mode=None, embedding=embedding, **options)
        index = KeyIndex(new._projected_embedding())
        dict.update(new, items)
        if keys is not None:
            keys.restore(index, new.index)
            new.__dict__.update(_index=index, _told=len(new))
        return new

    # ---- writes: exact, and noted for the index -------------------------------------------

    def __setitem__(self, key: Any, value: V) -> None:
        with self._noted():
            super().__setitem__(key, value)

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of an equal key, or insert ``default`` as such."""
        with self._noted():
            return super().setdefault(key, default)

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Insert what ``dict.update`` would."""
        with self._noted():
            super().update(*args, **kwargs)

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
            self.__dict__.update(_index=None, _recall=None)

    def copy(self) -> Self:
        """Return a shallow copy with the same options; its keys are not encoded again."""
        new = self._empty()
        with self._lock:
            self._tell()
            new.update(self)
            index = self._index
            if index is not None and index.whole and all(map(is_, new, self)):
                new.__dict__.update(_index=copy(index), _told=self._told)
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = memo[id(self)] = self._empty()
        for name in new.__dict__.keys() - OPTIONS - _OWN:
            new.__dict__[name] = deepcopy(new.__dict__[name], memo)
        for key, value in self.items():
            new[deepcopy(key, memo)] = deepcopy(value, memo)
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

    def __getstate__(self) -> dict[str, Any]:
        # Copied at once first: another thread may set an option meanwhile.
        return {name: v for name, v in self.__dict__.copy().items() if name not in _OWN}

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        reduced: Any = super().__reduce_ex__(max(protocol, 2))
        return empty_of, (declared_class(type(self)), self.mode), *reduced[2:]

    def _empty(self) -> Self:
        """Return an empty dict of the same kind, whatever its constructor takes."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__getstate__())
        for name in ("_adapted", "_seen"):  # they never change
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    # ---- what the index is told -----------------------------------------------------------

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Tell the index of what a write added, even if it fails half-way."""
        with self._lock:
            self._tell()
            self.__dict__["_recall"] = None
            try:
                yield
            finally:
                self._tell()

    def _tell(self) -> None:
        """Tell the index of the keys that are new, which are the dict's last.

        Writes by the methods of `dict` itself are seen here too: more keys than were told are
        told now, and where there are fewer the index is made anew.
        """
        index, new = self._index, len(self) - self._told
        if index is None or new == 0:
            return
        if new < 0:
            self.__dict__["_index"] = None
            return
        for key in reversed(list(islice(reversed(self), new))):
            if isinstance(key, str):
                index.add(key)
        self.__dict__["_told"] += new

    def _forget(self, key: Any) -> None:
        """Tell the index of a key that is gone, if it is; a key of any type may equal a text."""
        self.__dict__["_recall"] = None
        if self._index is not None and len(self) < self._told:
            self._index.discard(key)
            self.__dict__["_told"] -= 1

    def _check(self) -> None:
        """Assert that the index is that of the keys, whatever was written."""
        with self._lock:
            self._tell()
            if self._index is None:
                return
            self._index._check()
            assert self._told == len(self)
            noted = [*self._index.living(), *self._index.pending()]
            texts = [key for key in self if isinstance(key, str)]
            assert [key for key in noted if plain(key)] == [key for key in texts if plain(key)]
