"""`RemoteDict`: a dict whose keys are in a database; `connect` opens one."""

from __future__ import annotations

import warnings
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, Sequence, ValuesView
from functools import partial
from itertools import chain, islice
from typing import Any, Self, TypeAlias

import numpy as np

from fuzzydict._arrays import slices, units, whole_number
from fuzzydict.embedding.encoder import require_same
from fuzzydict.embedding.projections import Projections, as_projections
from fuzzydict.errors import OptionError, ReadOnlyError, StoreError, StoreWarning, quoted
from fuzzydict.mapping import FuzzyDict
from fuzzydict.options import OPTIONS, unknown_option
from fuzzydict.reads import AttnMask, Reads
from fuzzydict.results.answers import NO_KEY
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.keys import Keys, exact_text, has_words
from fuzzydict.search.lookup import MOST, Attended, Exact
from fuzzydict.search.taught import SynonymRules, checked_aliases, no_such_key, refuse_key
from fuzzydict.stores.base import Alias, Counts, Known, Progress, Row, Store, is_address, untold
from fuzzydict.stores.sampling import BUILD, Sampling, StoreLookup, require_nearness, size_of
from fuzzydict.stores.values import Condition, as_key, as_value, conditions_of, satisfies
from fuzzydict.text.ngrams import ngrams
from fuzzydict.text.words import plain, same_text

_TOGETHER = 4096  # keys that are encoded and written, and rows that are read, at a time
_AT_ONCE = 64  # queries that share the round trips of a read
_ROUNDS = 3  # times that a read is tried while others remove what it finds
_STEMS = 1 << 17  # that are counted in all keys, the most frequent ones
_FIXED = ("embedding", "projections", "synonyms", "index", "mode")
_FORMAT = 5  # of what is in the database
_PROBE = "fuzzy dictionary"  # whose n-grams tell whether two clients count them alike


class RemoteReader:
    """What a block of queries is read by; it looks nothing up twice."""

    stacked: StackedValues | None = None  # the values of all keys are not pooled

    def __init__(self, lookup: Exact | StoreLookup, known: Known) -> None:
        self.known = known  # the queries that are aliases, and all values that were read
        self.lookup, self.size, self.nearest = lookup, lookup.count, lookup.nearest


class _GoneError(Exception):
    """Keys that were found, which it holds, were removed before their values were read."""


class RemoteDict(Reads[Any, RemoteReader], MutableMapping[str, Any]):
    """A dict whose keys are in a database: PostgreSQL or Qdrant.

    Reads by query are fuzzy, as those of `FuzzyDict`, and give its scores: the database finds a
    few dozen candidates, and this process scores them. Membership and writes are exact. What is
    written is there for all that read after it. Keys are texts; values are of JSON's types.
    Iteration has an order of its own, which looks like chance.

    ``score_cutoff``, ``temperature`` and ``scorer`` (None or "cosine") are attributes, as those of
    a `FuzzyDict`. A read takes two round trips to the database, and a third for a value that
    is long; a write takes one.

    Threads may read and write at once. A pickle holds the address, password included, and connects
    where it is opened.

    Raises:
        StoreError: the database cannot be reached, or refuses.
        ArgumentTypeError: a key is no text, or a value is not of JSON's types.

    Warns:
        StoreWarning: a row is not what a `RemoteDict` writes, and is left out; or there are many
            keys, and no index of them: see `build_index`.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedding: Any = None,
        projections: Projections | None = None,
        synonyms: Mapping[str, str] | None = None,
        url: str | None = None,
    ) -> None:
        self._store, self._url = store, url
        self._where: Sequence[Condition] = ()
        self._sampling: Sampling  # once it is open
        self._synonyms = SynonymRules(synonyms) if synonyms else None
        for name, option in (("embedding", embedding), ("projections", projections)):
            if option is not None:
                super().__setattr__(name, option)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            self.__dict__[name] = value
            return
        if name in _FIXED:
            raise ReadOnlyError(
                f"{name}: fixed once a RemoteDict is connected, got {quoted(value)}; connect again"
            )
        if name == "scorer":
            require_nearness(value)
        elif name not in OPTIONS:
            raise unknown_option(type(self), name)
        super().__setattr__(name, value)

    # ---- the connection -----------------------------------------------------------------------

    def open(self, *, create: bool = False) -> Self:
        """Read what the store says of all its keys; if nothing was created, do so.

        Raises:
            StoreError: there is nothing, or another version of fuzzydict wrote it.
            OptionError: the keys were encoded by another embedding; the message names both.
        """
        store, meta = self._store, self._store.meta()
        own: dict[str, Any] = {"format": _FORMAT, "ngrams": ngrams(_PROBE)}
        if meta is None:
            if not create:
                raise StoreError(
                    f"{store.place}: no keys were written there; connect(url, create=True) makes a "
                    f"place for them, and `fuzzydict push` fills it"
                )
            meaning = self._current_meaning()
            written = _written(as_projections(self.projections))
            told = own | {"embedding": meaning.fingerprint(), "projections": written}
            store.create(size_of(meaning), told | {"synonyms": [*self.synonyms.items()]})
            meta = store.meta() or {}
        if any(meta.get(name) != one for name, one in own.items()):
            raise StoreError(
                f"{store.place}: another version of fuzzydict wrote it (format "
                f"{quoted(meta.get('format'))}, expected {_FORMAT}); read it with that version, or "
                f"push the keys again into another place"
            )
        try:
            if self.projections is None and meta.get("projections") is not None:
                super().__setattr__("projections", _read(meta["projections"]))
            pairs = [(name, text) for name, text in meta.get("synonyms") or ()]
            rules = SynonymRules(pairs) if pairs else None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.place}: what it says of its projections and synonyms is damaged ({error}); "
                f"push the keys again into another place"
            ) from error
        self._refuse_others(self._synonyms, rules)
        self._synonyms = rules
        encoded_by, meaning = meta.get("embedding"), self._current_meaning()
        require_same(encoded_by if isinstance(encoded_by, dict) else {}, meaning, "store")
        self._sampling = Sampling(store, meaning)
        return self

    def _refuse_others(self, given: SynonymRules | None, written: SynonymRules | None) -> None:
        if given is not None and (written is None or written.digest != given.digest):
            raise OptionError(
                f"synonyms: {self.place} has keys that were written with "
                f"{'none' if written is None else 'others'}; push the dict into another place"
            )

    def _use_synonyms(self, *_: Any) -> None:
        raise ReadOnlyError(
            "synonyms: those of a store are written with its first keys; push a dict that has "
            "others into another place"
        )

    def close(self) -> None:
        """Close the connection; a later call makes another."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._url is None:
            raise TypeError("a RemoteDict of a store that was given as an object has no address")
        options = {name: getattr(self, name) for name in OPTIONS if name not in _FIXED}
        return partial(connect, embedding=self.embedding), (self._url,), options

    @property
    def _lock(self) -> Any:
        return self._store.lock

    @property
    def place(self) -> str:
        """The address of the table or collection, without a password."""
        return self._store.place

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    # ---- reads by query -------------------------------------------------------------------------

    def __getitem__(self, query: Any) -> Any:
        hash(query)  # a list would be several queries
        return self.nearest(query).value

    def get(self, query: Any, default: Any = None, /, *, score_cutoff: float | None = None) -> Any:
        """Return ``d[query]``, or ``default`` where that raises `NoMatchError`."""
        hash(query)
        found = self.nearest(query, default=None, score_cutoff=score_cutoff)
        return default if found is None else found.value

    def most_similar(
        self, query: Any, topn: int | None = 10, *, where: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the ``topn`` best matches, best first, whatever their score.

        For a list of queries, return a list of such lists.

        Args:
            query: a query, or a list of queries.
            topn: how many, at most 1,024.
            where: what the values must satisfy, which are objects of JSON: for each field (dots
                lead into others: "address.city") a text, a number, True, False or None that it
                equals; a list of which it equals one; or a mapping with some of "gt", "gte", "lt"
                and "lte", if it is a number in this range. All must hold. A score stays the
                probability among all keys, but those that are left out are no rivals.

        Raises:
            OptionError: ``topn`` is None or too large, or ``where`` asks what no field can be.
        """
        _require_few(topn)
        if where is None:
            return super().most_similar(query, topn)
        filtered = type(self).__new__(type(self))
        filtered.__dict__.update(self.__dict__ | {"_where": conditions_of(where)})
        return super(RemoteDict, filtered).most_similar(query, topn)

    def attend(
        self, query: Any, *, attn_mask: AttnMask | None = None, topn: int | None = None
    ) -> Any:
        """Return the `Attention` of a query over the ``topn`` best keys, with every intermediate.

        For a list of queries, return a list of them. ``Attention.left_out`` is an upper bound on
        the weight that all other keys would have.

        Raises:
            OptionError: ``topn`` is None or above 1,024, or there is a mask: the keys are not here.
            NoMatchError: there is nothing to attend to.
        """
        _require_few(topn)
        return super().attend(query, attn_mask=attn_mask, topn=topn)

    def _of_blocks(self, queries: list[Any], read: Any, **_: Any) -> list[Any]:
        if not hasattr(self, "_sampling"):
            self.open()
        blocks = slices(len(queries), _AT_ONCE)
        return [one for some in blocks for one in self._of_block(queries[some], read)]

    def _of_block(self, queries: list[Any], read: Any) -> Any:
        gone = set[str]()
        for _round in range(_ROUNDS):
            known = self.known(queries)
            # An alias of a key that is gone is none: it was taught while that was removed.
            keys = {words: key for words, key in known.keys.items() if key not in gone}
            lookup = self._sampling.lookup(known, self.scorer, self._where)
            try:
                return read(queries, RemoteReader(lookup, known._replace(keys=keys)))
            except _GoneError as error:
                gone |= error.args[0]
        raise StoreError(
            f"{self.place}: keys that are found are removed before they are read, again and "
            f"again; read while nobody removes so many"
        )

    def known(self, queries: Sequence[Any]) -> Known:
        """Return the values of queries that are keys, and the keys of those that are aliases."""
        texts = [exact_text(one) for one in queries if isinstance(one, str)]
        return self._store.rows(texts, [same_text(text) for text in texts if plain(text)])

    def _read_as(self, query: Any, reader: RemoteReader) -> Any:
        if not isinstance(query, str) or query in reader.known.values or not plain(query):
            return query
        key = reader.known.keys.get(same_text(query), query)
        return NO_KEY if key is None else key

    def _is_key(self, name: Any, reader: RemoteReader) -> bool:
        known = reader.known
        if not isinstance(name, str) or name not in {*known.values, *known.keys.values()}:
            return False
        return not self._where or satisfies(self._values([name], reader)[0], self._where)

    def _values(self, names: list[Any], reader: RemoteReader) -> list[Any]:
        values = reader.known.values
        if missing := [name for name in dict.fromkeys(names) if name not in values]:
            values |= self.values_of(missing)
        if gone := {name for name in missing if name not in values}:
            raise _GoneError(gone)
        return [values[name] for name in names]

    def _attended(self, reader: RemoteReader, *asked: Any) -> list[Attended]:
        attended = super()._attended(reader, *asked)
        names = [name for group in attended for name in group.names]
        self._values(names, reader)  # those of all groups in one round trip
        return attended

    def _allowed(self, *_: Any) -> Any:
        raise OptionError(
            "attn_mask: a mask is of all keys, which are in a store; use most_similar(where=...)"
        )

    # ---- all items, and equal keys --------------------------------------------------------------

    def __contains__(self, key: Any) -> bool:
        return key in self.values_of([key])

    def values_of(self, keys: Sequence[Any]) -> dict[str, Any]:
        """Return the values of those texts that are keys, in one round trip."""
        return self._store.rows([exact_text(key) for key in keys if isinstance(key, str)]).values

    def __iter__(self) -> Iterator[str]:
        return (row.key for row in self.pages())

    def __len__(self) -> int:
        return self._store.count()

    def items(self) -> ItemsView[str, Any]:
        """Return a view of all items, which are read some thousands at a time."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """Return a view of all values, which are read some thousands at a time."""
        return _Values(self)

    def pages(self, *, vectors: bool = False) -> Iterator[Row]:
        """Yield all rows, without vectors unless they are wanted."""
        return (row for page in self._store.pages(_TOGETHER, vectors=vectors) for row in page)

    def copy(self) -> FuzzyDict[Any]:
        """Return a `FuzzyDict` of all items, with the same options, synonyms and aliases."""
        options = {name: getattr(self, name) for name in OPTIONS if name not in ("mode", "index")}
        d: FuzzyDict[Any] = FuzzyDict(self.items(), **options)
        if self.synonyms:
            d.synonyms = self.synonyms
        aliases = self.aliases.items()
        d.aliases.take_over({text: key for text, key in aliases if key is None or key in d})
        return d

    # ---- writes ---------------------------------------------------------------------------------

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def update(self, other: Any = (), /, *, progress: Progress = untold, **kwargs: Any) -> None:
        """Insert what ``dict.update`` would, and the aliases of a `FuzzyDict`.

        Its synonyms must be those with which the store was created; see `connect`.

        Keys are encoded and written some thousands at a time. If it fails half-way, what was
        written is there, and all may be inserted again: equal keys are replaced.

        Args:
            other: a mapping, or pairs.
            progress: is called with the number of items written, and of all; 0 if that is unknown.
            **kwargs: more items.

        Raises:
            OptionError: ``other`` has synonyms, and the store has not these.
        """
        if isinstance(synonyms := getattr(other, "synonyms", None), Mapping) and synonyms:
            self._refuse_others(SynonymRules(synonyms), self._synonyms)
        total = len(other) + len(kwargs) if hasattr(other, "__len__") else 0
        if hasattr(other, "keys") and not hasattr(other, "items"):
            other = dict(other)
        items: Any = other.items() if hasattr(other, "items") else other
        pairs, done = chain(items, kwargs.items()), 0
        while block := list(islice(pairs, _TOGETHER)):
            self._store.write(self._rows_of(dict(block)))
            done += len(block)
            progress(done, total)
        aliases = getattr(other, "aliases", None)
        if isinstance(aliases, Mapping) and aliases:
            self.aliases.take_over(aliases)

    def _rows_of(self, items: Mapping[Any, Any]) -> list[Row]:
        """Return items as rows, encoded in one batch."""
        stored = {as_key(key): as_value(key, value) for key, value in items.items()}
        names, meaning = list(filter(has_words, stored)), self._current_meaning()
        vectors = units(meaning.of_keys(names)) if names else ()
        told = {
            name: (vector if vector.any() else None, " ".join(meaning.table.words_of(name)))
            for name, vector in zip(names, vectors, strict=True)
        }
        return [Row(key, value, *told.get(key, (None, ""))) for key, value in stored.items()]

    def build_index(self, *, progress: Progress = untold) -> bool:
        """Build the index by which a database finds keys among many, and tell whether it is there.

        That may take minutes, while others read and write. Keys that are written later are added
        to it. One is enough, and is wanted from some 10,000 keys on. Qdrant builds it by itself.
        ``progress`` is called with how much is done, and of how much, from another thread.

        Then all keys are read, and how many have each word is written for all clients: scores
        depend on it. Until it is, and once there are twice or half as many keys, they take it from
        a sample.

        Warns:
            StoreWarning: it cannot be built; the message says why, and by which command to try.
        """
        table, stems, total = self._current_meaning().table, Counter[str](), 0
        self._store.count()  # or raise: nothing is there, or it cannot be reached
        try:
            self._store.build_index(progress)
            # By the code that counts those of a FuzzyDict.
            for page in self._store.pages(_TOGETHER):
                names = [row.key for row in page if has_words(row.key)]
                keys = Keys.of(table, names, np.zeros((len(names), 0), np.float32))
                stems.update(keys.stem_counts())
                total += len(page)
            self._store.keep_counts(Counts(total, dict(stems.most_common(_STEMS))))
        except StoreError as error:  # such as that of a user who may only read
            warnings.warn(f"{error}; {BUILD}", StoreWarning, stacklevel=2)
            return False
        return True

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of an equal key, or insert ``default``."""
        values = self.values_of([as_key(key)])
        if key not in values:
            self[key] = default
        return values.get(key, default)

    def __delitem__(self, key: str) -> None:
        hash(key)
        if not isinstance(key, str) or not self._store.remove([key]):
            raise KeyError(key)

    def pop(self, key: str, /, *default: Any) -> Any:
        """Remove an equal key and return its value, or ``default`` if there is none.

        Of several clients that pop one key at once, one gets its value.
        """
        values = self.values_of([key])
        if key in values and self._store.remove([key]):
            return values[key]
        if default:
            return default[0]
        raise KeyError(key)

    def popitem(self) -> tuple[str, Any]:
        """Remove and return some item, which no other client gets."""
        while page := next(self._store.pages(1), None):
            if self._store.remove([page[0].key]):
                return page[0].key, page[0].value
        raise KeyError("popitem: there are no keys")

    def clear(self) -> None:
        """Remove every item."""
        self._store.clear()

    @property
    def aliases(self) -> RemoteAliases:
        """What was taught: texts, and the key that each is read as, or None if none matches."""
        return RemoteAliases(self._store)


class _Items(ItemsView[str, Any]):
    _mapping: RemoteDict

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((row.key, row.value) for row in self._mapping.pages())

    def __contains__(self, item: Any) -> bool:
        key, value = item
        values = self._mapping.values_of([key])
        return key in values and bool(values[key] == value)


class _Values(ValuesView[Any]):
    _mapping: RemoteDict

    def __iter__(self) -> Iterator[Any]:
        return (row.value for row in self._mapping.pages())

    def __contains__(self, value: object) -> bool:
        return any(one == value for one in self)


class RemoteAliases(MutableMapping[str, Any]):
    """What was taught, in a store: texts, and the key that each stands for, or None.

    See `FuzzyDict.aliases`. The aliases of a key go when the key is removed.

    Raises:
        OptionError: an alias is of no key of the store, is another key itself, or has no letters or
            digits.
        ArgumentTypeError: an alias is no text.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, alias: str) -> str | None:
        hash(alias)
        words = same_text(alias) if isinstance(alias, str) else ""
        taught = self._store.rows([], [words]).keys if words else {}
        if words not in taught:
            raise KeyError(alias)
        return taught[words]

    def __setitem__(self, alias: str, key: str | None) -> None:
        self.update({alias: key})

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the aliases is wrong."""
        self._teach(checked_aliases(lambda *_: None, *args, **kwargs))

    def take_over(self, aliases: Mapping[str, Any]) -> None:
        """Add those of another dict, also texts that are keys here, or none."""
        self._teach(checked_aliases(lambda *_: None, aliases), may_be_keys=True)

    def _teach(self, given: Mapping[str, Any], *, may_be_keys: bool = False) -> None:
        aliases = [Alias(same_text(as_key(alias)), alias, key) for alias, key in given.items()]
        texts = list({*given, *(key for key in given.values() if isinstance(key, str))})
        known = Known({}, {})
        for some in slices(len(texts), _TOGETHER):
            found = self._store.rows(texts[some], list(map(same_text, texts[some])))
            known = Known(known.values | found.values, known.keys | found.keys)
        for words, alias, key in aliases:
            if key is not None and not (isinstance(key, str) and key in known.values):
                raise no_such_key(alias, key)
            was_taught = words in known.keys and known.keys[words] == key  # before it was a key
            if not (may_be_keys or was_taught):
                refuse_key(f"aliases: {quoted(key)} for", alias, (key,), known.values)
        for some in slices(len(aliases), _TOGETHER):
            self._store.teach(aliases[some])

    def items(self) -> ItemsView[str, Any]:
        """Return all aliases as they are now."""
        return {alias.written: alias.key for alias in self._store.aliases()}.items()

    def __delitem__(self, alias: str) -> None:
        if not isinstance(alias, str) or not self._store.forget([same_text(alias)]):
            raise KeyError(alias)

    def __iter__(self) -> Iterator[str]:
        return (alias.written for alias in self._store.aliases())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._store.place!r})"


#: A dict with its keys here, or in a database.
AnyDict: TypeAlias = FuzzyDict[Any] | RemoteDict


# ---- opening ----------------------------------------------------------------------------------


def connect(
    url: str,
    *,
    embedding: Any = None,
    create: bool = False,
    projections: Projections | None = None,
    synonyms: Mapping[str, str] | None = None,
) -> RemoteDict:
    """Return the dict whose keys are in a database.

    Args:
        url: ``postgresql://user:password@host/database?table=keys`` (extra ``postgres``; the
            server needs pgvector), or ``qdrant://host:6334/collection`` (extra ``qdrant``).
        embedding: what encoded the keys, as of a `FuzzyDict`; by default the shipped Brown vectors.
        create: whether to make a place for keys where there is none.
        projections: those by which its keys are then encoded, as of a fitted `FuzzyDict`; who
            connects later gets them from the database.
        synonyms: those with which its keys are then written, likewise.

    Raises:
        StoreError: the database cannot be reached or refuses, nothing was written there, or
            another version of fuzzydict wrote it.
        OptionError: the address is none, or the keys were encoded by another embedding, or
            written with other synonyms.
        MissingExtraError: the package that speaks to the database is not installed.
    """
    store = open_store(url)
    d = RemoteDict(store, embedding=embedding, projections=projections, synonyms=synonyms, url=url)
    return d.open(create=create)


def open_store(url: str) -> Store:
    """Return the store that an address names."""
    scheme = url.partition("://")[0].lower() if is_address(url) else ""
    if scheme in ("postgresql", "postgres"):
        from fuzzydict.stores.postgres import PostgresStore

        return PostgresStore(scheme + url[len(scheme) :])
    if scheme == "qdrant":
        from fuzzydict.stores.qdrant import QdrantStore

        return QdrantStore(url)
    got = url.partition(":")[0] if isinstance(url, str) else url  # without a password
    raise OptionError(
        f"url: expected postgresql://user@host/database?table=keys or "
        f"qdrant://host:6334/collection, got {quoted(got)}"
    )


def _require_few(topn: Any) -> None:
    """Raise OptionError unless so many keys of a store can be listed."""
    if topn is None or whole_number("topn", topn, 0) > MOST:
        raise OptionError(
            f"topn: a store lists at most {MOST} keys, got {topn}; give topn=10, or another number "
            f"up to {MOST}, or read all items by d.items()"
        )


def _written(projections: Projections | None) -> dict[str, Any] | None:
    """Return learned projections as JSON; None if there are none."""
    if projections is None or projections.is_identity:
        return None
    arrays = {
        name: [*array.shape, b64encode(array.astype("<f4").tobytes()).decode()]
        for name, array in projections.arrays().items()
    }
    return {"embedding": projections.embedding, "arrays": arrays}


def _read(written: Any) -> Projections:
    """Return the projections from JSON, whoever wrote it; or raise some error."""
    arrays = {
        name: np.frombuffer(b64decode(numbers), "<f4").reshape(shape).astype(np.float32)
        for name, (*shape, numbers) in written["arrays"].items()
    }
    return Projections.from_arrays(arrays, embedding=written["embedding"])
