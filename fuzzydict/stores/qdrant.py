"""Keys in a collection of Qdrant, found by a dense and by a sparse vector (extra ``qdrant``).

The collection holds a point for each key, with its value as payload. The dense vector "meaning" is
the key's own; the sparse vector "spelling" has ``1/sqrt(m)`` in each of its m n-grams, so that an
inner product is the cosine of two sets of n-grams. Aliases and the meta are points without vectors
in the same collection, so that one request asks for keys and aliases.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import numpy as np

from fuzzydict.errors import MissingExtraError, OptionError, StoreError, quoted
from fuzzydict.stores.base import Alias, Hit, Hits, Known, Row, id_of
from fuzzydict.stores.values import is_storable, satisfies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from qdrant_client import QdrantClient, models

    from fuzzydict.stores.base import Search
    from fuzzydict.stores.values import Condition

_T = TypeVar("_T")

_MEANING, _SPELLING = "meaning", "spelling"  # the names of the vectors
_KIND, _ALIAS, _META = "kind", "alias", "meta"  # a field that only points have that are no keys
_OF = "of"  # the id of an alias's key
_META_ID = str(id_of("\0meta"))

_GRPC_PORT, _REST_PORT = 6334, 6333
_TIMEOUT = 60  # seconds; a server indexes while it writes
_LARGEST = 24 << 20  # bytes of rows in a request, of which a server takes 32 MiB
_TOGETHER = 64  # requests of a batch: each answer may hold the vectors of some 65 keys
_FEW = 1_000_000  # points that are counted one by one
_NEIGHBOURS = 128  # kept while the graph is searched: more find more, and take longer
_MOST_PARTS = 10_000  # shards, and replicas
_FURTHER = 8  # times as many are asked for if too few of those found satisfy ``where``


class QdrantStore:
    """A `Store` in a collection of Qdrant.

    A vector keeps 16 bits a number. A write is one request, which a collection of one shard takes
    whole or not at all; of several, some may have taken their part, and it can be written again.

    Conditions of ``where=`` become filters of Qdrant. For a field that selects few of many keys,
    create a payload index in Qdrant before they are written, of the field with "value." before it:
    without one, a search of millions of keys may miss some that satisfy the conditions.

    A key of 256 numbers takes some 1 kB, on disk and in memory. So for 10^8 keys share 100 GB among
    nodes by ``shards``, two or more on each, or leave most of it on disk by ``on_disk``.

    Args:
        client: a connection, or the client's local mode. It stays open on `close`.
        collection: the name of the collection.
        shards: how many parts a new collection has, which several nodes search at once.
        replicas: on how many nodes each part is. A write waits for all of them.
        on_disk: keep vectors and values of a new collection on disk, and in memory only vectors of
            one byte a number, which find the candidates whose vectors are read.

    Attributes:
        place: the address of the server and the collection.

    >>> store = QdrantStore.open("qdrant://localhost:6334/words?shards=4")  # doctest: +SKIP
    >>> store.place  # doctest: +SKIP
    'qdrant://localhost:6334/words'
    """

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        *,
        shards: int = 1,
        replicas: int = 1,
        on_disk: bool = False,
    ) -> None:
        self.place = f"qdrant:{collection}"
        self._client: QdrantClient | None = client
        self._connect: Callable[[], QdrantClient] = lambda: client
        self._is_given = True
        self._lock = RLock()
        self._collection = collection
        self._shards, self._replicas, self._on_disk = shards, replicas, on_disk

    @classmethod
    def open(cls, url: str) -> Self:
        """Return the store at ``qdrant://host:6334/collection``; its first call connects.

        The port is that of gRPC, 6334 unless it is given. With port 6333, or ``rest=1``, the server
        is asked by REST. Options follow a question mark: ``api_key``; ``https=1``, the default with
        an api_key (``https=0`` sends it over a plain connection); and ``shards``, ``replicas``,
        ``on_disk=1`` for a collection that is created.

        Raises:
            OptionError: if the URL is not of this form.
            MissingExtraError: if qdrant-client is not installed.
        """
        address = _Address.of(url)
        store = cls(
            address.connect(),
            address.collection,
            shards=address.shards,
            replicas=address.replicas,
            on_disk=address.on_disk,
        )
        store.place, store._connect, store._is_given = address.place, address.connect, False
        return store

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    # ---- the collection ----------------------------------------------------------------------

    def meta(self) -> dict[str, Any] | None:
        """Return what `create` or `set_meta` wrote last; None if nothing was created."""
        if not self._exists():
            return None
        found = self._ask(lambda client: client.retrieve(self._collection, [_META_ID]))
        payload = found[0].payload if found else None
        meta: dict[str, Any] | None = json.loads(payload["json"]) if payload else None
        return meta

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        """Create a collection for vectors (E,), and write the meta; a store that exists stays."""
        if not self._exists():
            settings = _settings(dimensions, self._shards, self._replicas, on_disk=self._on_disk)
            try:
                self._ask(lambda client: client.create_collection(self._collection, **settings))
            except StoreError:
                if not self._exists():  # nor did another client create it meanwhile
                    raise
        self._check(dimensions)
        if self.meta() is None:
            self._ask(lambda client: _index_aliases(client, self._collection))
            self.set_meta(meta)

    def _exists(self) -> bool:
        exists: bool = self._ask(lambda client: client.collection_exists(self._collection))
        return exists

    def _check(self, dimensions: int) -> None:
        """Raise StoreError unless the collection is one for keys with vectors (E,)."""
        found = self._ask(lambda client: client.get_collection(self._collection)).config.params
        dense, sparse = found.vectors, found.sparse_vectors
        size = getattr(dense.get(_MEANING), "size", None) if isinstance(dense, dict) else None
        if size is None or _SPELLING not in (sparse or ()):
            raise StoreError(f"{self.place} holds no keys of fuzzydict; choose another collection")
        if size != dimensions:
            raise StoreError(f"{self.place} holds vectors of {size} numbers, not of {dimensions}")

    def set_meta(self, meta: Mapping[str, Any]) -> None:
        """Replace the meta: an object of JSON, of some megabytes."""
        from qdrant_client import models

        payload = {_KIND: _META, "json": json.dumps(meta)}
        self._upsert([models.PointStruct(id=_META_ID, vector={}, payload=payload)])

    def drop(self) -> None:
        """Remove the collection."""
        self._ask(lambda client: client.delete_collection(self._collection))

    def count(self) -> int:
        """Return the number of keys; of more than a million, about."""

        def counted(*, exact: bool) -> int:
            count = self._ask(
                lambda client: client.count(
                    self._collection, count_filter=_of_kind(None), exact=exact
                )
            )
            return int(count.count)

        about = counted(exact=False)
        return about if about > _FEW else counted(exact=True)

    # ---- keys --------------------------------------------------------------------------------

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows, at most a few thousand with different keys; equal keys are replaced.

        They are one request if they have at most 24 MB.
        """
        shapes = {row.vector.shape for row in rows if row.vector is not None}
        if len(shapes) > 1:  # or else some shards might take their rows
            raise StoreError(f"{self.place}: expected vectors of one length, got {shapes}")
        part: list[Row] = []
        size = 0
        for row in rows:
            if size and size + _bytes(row) > _LARGEST:
                self._upsert([_point(row) for row in part])
                part, size = [], 0
            part.append(row)
            size += _bytes(row)
        self._upsert([_point(row) for row in part])

    def _upsert(self, points: list[models.PointStruct]) -> None:
        from qdrant_client import models

        # Two that write the same keys at once leave all replicas alike.
        order = models.WriteOrdering.MEDIUM
        if points:
            self._ask(
                lambda client: client.upsert(self._collection, points, wait=True, ordering=order)
            )

    def settle(self) -> None:
        """Do nothing: the server builds its index by itself."""

    def remove(self, keys: Sequence[str]) -> int:
        """Remove keys and their aliases, and return how many keys were there."""
        return self._delete(list(_ids_of_keys(keys)))

    def _delete(self, ids: list[str]) -> int:
        """Delete points, and the aliases of those that are keys; return how many were there."""
        from qdrant_client import models

        if not ids:
            return 0
        found = self._ask(lambda client: client.retrieve(self._collection, ids, with_payload=False))
        aliases = models.FieldCondition(key=_OF, match=models.MatchAny(any=ids))
        these = models.Filter(should=[models.HasIdCondition(has_id=[*ids]), aliases])
        self._ask(
            lambda client: client.delete(
                self._collection,
                models.FilterSelector(filter=these),
                wait=True,
                ordering=models.WriteOrdering.MEDIUM,
            )
        )
        return len(found)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        """Return the values of the texts that are keys, and what the texts of `Alias` stand for."""
        texts = _ids_of_keys(keys)
        taught = {_alias_id(each): each for each in words}
        known = Known({}, {})
        ids = [*texts, *taught]
        if not ids:
            return known
        for point in self._ask(lambda client: client.retrieve(self._collection, ids)):
            payload = point.payload or {}
            if payload.get(_KIND) == _ALIAS:
                known.keys[taught[str(point.id)]] = payload["key"]
            elif _KIND not in payload:
                known.values[texts[str(point.id)]] = _value(payload)
        return known

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        """Yield all rows in the order of `id_of`, some at a time; without vectors, all are None."""
        names = [_MEANING, _SPELLING] if vectors else [_SPELLING]
        for points in self._scrolled(_of_kind(None), size, names):
            yield [_row(point) for point in points]

    def _scrolled(
        self, these: models.Filter, size: int, vectors: list[str] | bool
    ) -> Iterator[list[models.Record]]:
        """Yield all points that satisfy a filter, in the order of their ids."""
        start: Any = None
        while True:
            points, start = self._scroll(these, size, start, vectors)
            if points:
                yield points
            if start is None:
                return

    def _scroll(
        self, these: models.Filter, size: int, start: Any, vectors: list[str] | bool
    ) -> tuple[list[models.Record], Any]:
        points, further = self._ask(
            lambda client: client.scroll(
                self._collection, these, limit=size, offset=start, with_vectors=vectors
            )
        )
        return points, further

    # ---- searching ---------------------------------------------------------------------------

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        """Return the keys near each query, and those spelled like it, if they satisfy ``where``.

        It takes one round trip for 32 queries. It takes another if too few of what is found satisfy
        a condition that Qdrant has no filter for.
        """
        results = [Hits([], []) for _ in searches]
        wanted: list[_Wanted] = []
        for search, hits in zip(searches, results, strict=True):
            if search.near and search.vector is not None:
                wanted.append(_Wanted(search.vector.tolist(), _MEANING, search.near, hits.near))
            if search.spelled and len(search.ngrams):
                vector = _sparse(search.ngrams)
                wanted.append(_Wanted(vector, _SPELLING, search.spelled, hits.spelled))
        times = 1
        while wanted:
            wanted = self._further(wanted, where, times)
            times *= _FURTHER
        return results

    def _further(
        self, wanted: list[_Wanted], where: Sequence[Condition], times: int
    ) -> list[_Wanted]:
        """Ask for ``times`` as many as are wanted; return those that found too few."""
        few = []
        these = _filter(where)
        for start in range(0, len(wanted), _TOGETHER):
            part = wanted[start : start + _TOGETHER]
            answers = self._batch([one.request(these, times, values=bool(where)) for one in part])
            for one, answer in zip(part, answers, strict=True):
                hits = [
                    _hit(point)
                    for point in answer.points
                    if point.score > 0 or one.using == _MEANING
                    if not where or satisfies(_value(point.payload or {}), where)
                ]
                one.hits[:] = hits[: one.number]
                if where and len(hits) < one.number and len(answer.points) == one.number * times:
                    few.append(one)
        return few

    def _batch(self, requests: list[models.QueryRequest]) -> list[models.QueryResponse]:
        return self._ask(lambda client: client.query_batch_points(self._collection, requests))

    # ---- aliases -----------------------------------------------------------------------------

    def teach(self, aliases: Sequence[Alias]) -> None:
        """Write aliases; those of equal words are replaced."""
        from qdrant_client import models

        self._upsert(
            [
                models.PointStruct(
                    id=_alias_id(alias.words), vector={}, payload=_alias_payload(alias)
                )
                for alias in aliases
            ]
        )

    def forget(self, words: Sequence[str]) -> int:
        """Remove the aliases with these words, and return how many were there."""
        return self._delete([_alias_id(each) for each in dict.fromkeys(words)])

    def aliases(self) -> Iterator[Alias]:
        """Yield all aliases."""
        for points in self._scrolled(_of_kind(_ALIAS), 1_000, vectors=False):
            for point in points:
                payload = point.payload or {}
                yield Alias(payload["words"], payload["written"], payload["key"])

    # ---- the connection ----------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection, unless the client was given; a later call makes another."""
        with self._lock:
            if self._client and not self._is_given:
                self._client.close()
                self._client = None

    def _ask(self, call: Callable[[QdrantClient], _T]) -> _T:
        """Return what a call of the client returns; a connection that is lost is made again once.

        Each call may be made twice: what it writes replaces what is there.
        """
        with self._lock:
            try:
                return call(self._connected())
            except Exception as error:  # whatever the client, httpx and grpc raise
                if not _is_lost(error):
                    raise StoreError(f"{self.place} {_reason(error)}") from error
            self.close()
            try:
                return call(self._connected())
            except Exception as error:
                raise StoreError(f"{self.place} {_reason(error)}") from error

    def _connected(self) -> QdrantClient:
        if self._client is None:
            self._client = self._connect()
        return self._client


class _Wanted(NamedTuple):
    """What one vector is to find: ``number`` keys, which go into ``hits``."""

    query: Any  # a list of numbers, or a sparse vector
    using: str
    number: int
    hits: list[Hit]

    def request(
        self, these: models.Filter | None, times: int, *, values: bool
    ) -> models.QueryRequest:
        """Return the request for ``times`` as many keys, of those that satisfy a filter."""
        from qdrant_client import models

        return models.QueryRequest(
            query=self.query,
            using=self.using,
            limit=self.number * times,
            filter=these,
            with_payload=True if values else ["key"],
            with_vector=[_MEANING],
        )


# ---- points ------------------------------------------------------------------------------------


def _ids_of_keys(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts that may be keys, by their ids; the ids of other points are of none."""
    return {str(id_of(text)): text for text in texts if is_storable(text)}


def _alias_id(words: str) -> str:
    return str(id_of(f"\0alias\0{words}"))


def _alias_payload(alias: Alias) -> dict[str, Any]:
    of = None if alias.key is None else str(id_of(alias.key))
    return {_KIND: _ALIAS, _OF: of, **alias._asdict()}


def _point(row: Row) -> models.PointStruct:
    from qdrant_client import models

    payload = {"key": row.key, "value": row.value}
    if not _is_exact(row.value):
        payload |= {"value": _with_floats(row.value), "json": json.dumps(row.value)}
    vectors: dict[str, Any] = {}
    if row.vector is not None:
        vectors[_MEANING] = row.vector.tolist()
    if len(row.ngrams):
        vectors[_SPELLING] = _sparse(row.ngrams)
    return models.PointStruct(id=str(id_of(row.key)), vector=vectors, payload=payload)


def _sparse(ngrams: NDArray[np.int64]) -> models.SparseVector:
    from qdrant_client import models

    weight = 1 / math.sqrt(len(ngrams))
    return models.SparseVector(indices=ngrams.tolist(), values=[weight] * len(ngrams))


def _bytes(row: Row) -> int:
    """Return about how many bytes a row has in a request, at most."""
    numbers = 0 if row.vector is None else len(row.vector)
    return 16 * numbers + 32 * len(row.ngrams) + len(json.dumps(row.value)) + 6 * len(row.key) + 200


def _row(point: models.Record) -> Row:
    from qdrant_client import models

    payload = point.payload or {}
    spelling = point.vector.get(_SPELLING) if isinstance(point.vector, dict) else None
    indices = sorted(spelling.indices) if isinstance(spelling, models.SparseVector) else []
    ngrams = np.array(indices, np.int64)
    return Row(payload["key"], _value(payload), _vector(point), ngrams)


def _hit(point: models.ScoredPoint) -> Hit:
    return Hit((point.payload or {})["key"], _vector(point))


def _vector(point: models.Record | models.ScoredPoint) -> NDArray[np.float32] | None:
    vectors = point.vector
    found = vectors.get(_MEANING) if isinstance(vectors, dict) else None
    return None if found is None else np.array(found, np.float32)


def _value(payload: Mapping[str, Any]) -> Any:
    return json.loads(payload["json"]) if "json" in payload else payload.get("value")


def _is_exact(value: Any) -> bool:
    """Whether a value comes back as it is: a server may change floats, and has 64 bits for ints."""
    if isinstance(value, dict):
        return all(map(_is_exact, value.values()))
    if isinstance(value, list):
        return all(map(_is_exact, value))
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    return not isinstance(value, float)


def _with_floats(value: Any) -> Any:
    """Return a value with floats for the integers of more than 64 bits."""
    if isinstance(value, dict):
        return {name: _with_floats(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_with_floats(one) for one in value]
    return value if isinstance(value, float) or _is_exact(value) else _float(value)


def _float(number: float) -> float:
    """Return the float nearest to a number, the largest one if it is larger."""
    try:
        return float(number)
    except OverflowError:
        return sys.float_info.max if number > 0 else -sys.float_info.max


# ---- filters -----------------------------------------------------------------------------------


def _of_kind(kind: str | None) -> models.Filter:
    """Return the filter for points of a kind; None for keys."""
    from qdrant_client import models

    if kind is None:
        none = models.PayloadField(key=_KIND)
        return models.Filter(must=[models.IsEmptyCondition(is_empty=none)])
    match = models.MatchValue(value=kind)
    return models.Filter(must=[models.FieldCondition(key=_KIND, match=match)])


def _filter(where: Sequence[Condition]) -> models.Filter | None:
    """Return a filter that all points pass that satisfy the conditions, and few others do."""
    from qdrant_client import models

    parts = [_condition(each) for each in where if not any('"' in name for name in each.field)]
    return models.Filter(must=[*parts]) if parts else None


def _condition(condition: Condition) -> models.Filter:
    """Return the filter for one condition; it takes a list that has such an item, too."""
    from qdrant_client import models

    path = ".".join(f'"{name}"' for name in ("value", *condition.field))
    either: list[Any] = []
    for scalar in condition.one_of:
        if scalar is None:
            either.append(models.IsNullCondition(is_null=models.PayloadField(key=path)))
        elif isinstance(scalar, bool):
            match = models.MatchValue(value=scalar)
            either.append(models.FieldCondition(key=path, match=match))
        elif not isinstance(scalar, str):
            range_ = models.Range(gte=_below(scalar), lte=_above(scalar))
            either.append(models.FieldCondition(key=path, range=range_))
    if texts := [scalar for scalar in condition.one_of if isinstance(scalar, str)]:
        either.append(models.FieldCondition(key=path, match=models.MatchAny(any=texts)))
    if not condition.one_of:
        either.append(models.FieldCondition(key=path, range=_range(condition)))
    return models.Filter(should=either)


def _range(condition: Condition) -> models.Range:
    from qdrant_client import models

    gt, gte, lt, lte = condition[2:]
    return models.Range(
        gt=gt if gt is not None and _is_small(gt) else None,
        gte=max((_below(each) for each in (gt, gte) if each is not None), default=None),
        lt=lt if lt is not None and _is_small(lt) else None,
        lte=min((_above(each) for each in (lt, lte) if each is not None), default=None),
    )


def _is_small(number: float) -> bool:
    """Whether a number is an integer that floats, and texts of floats, hold exactly."""
    return abs(number) < 1 << 53 and number == int(number)


def _below(number: float) -> float:
    """Return a bound below all that a server may make of a number."""
    return -_above(-number)


def _above(number: float) -> float:
    if _is_small(number):
        return float(number)
    nearest = _float(number)
    return min(nearest + abs(nearest) * 1e-15 + 1e-300, sys.float_info.max)


# ---- addresses and errors ----------------------------------------------------------------------


class _Address(NamedTuple):
    """What a URL says."""

    host: str
    port: int
    collection: str
    api_key: str | None = None
    https: bool = False
    rest: bool = False
    shards: int = 1
    replicas: int = 1
    on_disk: bool = False

    @property
    def place(self) -> str:
        return f"qdrant://{self.host}:{self.port}/{self.collection}"

    @classmethod
    def of(cls, url: str) -> Self:
        """Return the parts of a URL; raise OptionError, whose message shows no api_key."""
        try:
            parts, port = urlsplit(url), urlsplit(url).port
        except ValueError:
            raise OptionError(_FORM) from None  # which may tell a password
        collection = unquote(parts.path.removeprefix("/"))
        if parts.scheme != "qdrant" or not parts.hostname or "@" in parts.netloc:
            raise OptionError(_FORM)
        if not collection or "/" in collection or collection in {".", ".."}:
            raise OptionError(f"{_FORM}; there is no collection {quoted(collection)}")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        options = _options(parts.query)
        api_key = options.get("api_key")
        return cls(
            host,
            port or _GRPC_PORT,
            collection,
            api_key,
            https=_flag(options, "https", api_key is not None),
            rest=_flag(options, "rest", port == _REST_PORT),
            shards=_number(options, "shards"),
            replicas=_number(options, "replicas"),
            on_disk=_flag(options, "on_disk", default=False),
        )

    def connect(self) -> QdrantClient:
        """Return a client, which connects when it is first asked."""
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            raise MissingExtraError(
                "a store in Qdrant needs the package qdrant-client: pip install 'fuzzydict[qdrant]'"
            ) from error
        with warnings.catch_warnings():  # of an api_key over a plain connection: https=0 says so
            warnings.simplefilter("ignore")
            return QdrantClient(
                host=self.host,
                port=self.port if self.rest else _REST_PORT,
                grpc_port=self.port,
                prefer_grpc=not self.rest,
                api_key=self.api_key,
                https=self.https,
                timeout=_TIMEOUT,
                check_compatibility=False,
            )


_FORM = "a store in Qdrant is named as qdrant://host:6334/collection, with options after '?'"
_NAMES = ("api_key", "https", "rest", "shards", "replicas", "on_disk")


def _options(query: str) -> dict[str, str]:
    """Return the options of a URL, each of which is there at most once."""
    pairs = parse_qsl(query, keep_blank_values=True)
    for name, _ in pairs:
        if name not in _NAMES:
            raise OptionError(f"{_FORM}: {', '.join(_NAMES)}; not {quoted(name)}")
    options = dict(pairs)
    if len(options) < len(pairs):
        raise OptionError(f"{_FORM}, each once")
    api_key = options.get("api_key", "-")
    if not api_key or not all("!" <= letter <= "~" for letter in api_key):
        raise OptionError("api_key must be letters, digits and signs of ASCII, without blanks")
    return options


def _flag(options: Mapping[str, str], name: str, default: bool) -> bool:
    value = options.get(name, str(int(default)))
    if value not in {"0", "1"}:
        raise OptionError(f"{name} must be 0 or 1, not {quoted(value)}")
    return value == "1"


def _number(options: Mapping[str, str], name: str) -> int:
    value = options.get(name, "1")
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= _MOST_PARTS:
        raise OptionError(f"{name} must be a number from 1 to {_MOST_PARTS}, not {quoted(value)}")
    return int(value)


def _settings(dimensions: int, shards: int, replicas: int, *, on_disk: bool) -> dict[str, Any]:
    """Return the arguments that create a collection."""
    from qdrant_client import models

    in_memory = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
    dense = models.VectorParams(
        size=dimensions,
        distance=models.Distance.COSINE,
        datatype=models.Datatype.FLOAT16,
        hnsw_config=models.HnswConfigDiff(ef_construct=_NEIGHBOURS),
        on_disk=on_disk,
        quantization_config=models.ScalarQuantization(scalar=in_memory) if on_disk else None,
    )
    sparse = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=on_disk))
    return {
        "vectors_config": {_MEANING: dense},
        "sparse_vectors_config": {_SPELLING: sparse},
        "shard_number": shards,
        "replication_factor": replicas,
        "write_consistency_factor": replicas,
        "on_disk_payload": True,
    }


def _index_aliases(client: QdrantClient, collection: str) -> None:
    """Let a server find aliases without reading all points."""
    from qdrant_client import models

    with warnings.catch_warnings():  # local mode has no indexes, and warns
        warnings.simplefilter("ignore")
        for field in (_KIND, _OF):
            client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD)


def _is_lost(error: Exception) -> bool:
    """Whether a connection was refused or broken, rather than a request."""
    from httpx import TimeoutException, TransportError

    source = getattr(error, "source", error)
    if isinstance(source, TransportError):
        return not isinstance(source, TimeoutException)
    return _status(error)[0] == "UNAVAILABLE"


def _reason(error: Exception) -> str:
    """Return how a message about an error goes on after the place."""
    from httpx import TimeoutException

    status, text = _status(error)
    if status in {"401", "403", "UNAUTHENTICATED", "PERMISSION_DENIED"}:
        return f"refuses the api_key, or wants one: {text}"
    if status == "DEADLINE_EXCEEDED" or isinstance(getattr(error, "source", 0), TimeoutException):
        return f"did not answer within {_TIMEOUT} seconds"
    if _is_lost(error):
        return f"cannot be reached: {text}"
    return f"refuses, or is no server of Qdrant: {text}"


def _status(error: Exception) -> tuple[str, str]:
    """Return the status that a server answered, if it did, and its text."""
    from grpc import RpcError
    from qdrant_client.http.exceptions import UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        try:
            text = str(error.structured()["status"]["error"])
        except (ValueError, KeyError, TypeError):
            text = error.reason_phrase
        return str(error.status_code), f"{text} (status {error.status_code})"
    if isinstance(error, RpcError) and hasattr(error, "code"):
        return error.code().name, str(error.details())
    source = getattr(error, "source", error)
    return "", (str(source).splitlines() or [type(source).__name__])[0]
