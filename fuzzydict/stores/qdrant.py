"""`QdrantStore`: keys in a collection of Qdrant, found by two vectors (extra ``qdrant``).

Each key is a point with its value as payload and two vectors: the dense "meaning", and the sparse
"spelling", which has ``1/sqrt(m)`` in each of its m n-grams. Aliases, the meta with the version of
the keys, and the counts are points without vectors, so that one request asks for all of these.
"""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from secrets import randbits
from threading import RLock
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import OptionError, StoreError, needing, quoted
from fuzzydict.stores import base
from fuzzydict.stores.base import SAMPLE, Alias, Counts, Hits, Known, Row, Sample, Search, id_of
from fuzzydict.stores.values import Condition, is_storable, satisfies
from fuzzydict.text.ngrams import ngrams

with needing("Qdrant needs qdrant-client", "qdrant-client"):
    from grpc import RpcError
    from httpx import TimeoutException, TransportError
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import UnexpectedResponse

_MEANING, _SPELLING = "meaning", "spelling"  # the names of the vectors
_KIND, _ALIAS, _META = "kind", "alias", "meta"  # a field that only points have that are no keys
_OF = "of"  # the id of an alias's key
_VERSION, _COUNTED = "version", "counted"  # numbers by chance in the meta: of keys, of counts
_BITS = 53  # of such a number: as many as all servers keep
_META_ID, _COUNTS_ID = str(id_of("\0meta")), str(id_of("\0counts"))

_GRPC_PORT, _REST_PORT = 6334, 6333
_TIMEOUT = 60  # seconds; a server indexes while it writes
_LARGEST = 24 << 20  # bytes of rows in a request, of which a server takes 32 MiB
_TOGETHER = 64  # requests of a batch: each answer may hold the vectors of some 65 keys
_POINTS = 1_000  # that are read at a time
_FEW = 1_000_000  # points that are counted one by one
_NEIGHBOURS = 128  # kept while the graph is searched: more find more, and take longer
_FURTHER = 8  # times as many are asked for if too few of those found satisfy ``where``

_KEYS = models.Filter(must=[models.IsEmptyCondition(is_empty=models.PayloadField(key=_KIND))])
_FLAG, _NUMBER = ("[01]", "0 or 1"), ("[1-9][0-9]{0,3}|10000", "a number from 1 to 10000")
#: The options of an address: what each is like, and how that is told.
_OPTIONS = {
    "api_key": ("[!-~]+", "letters, digits and signs of ASCII, without blanks"),
    "https": _FLAG,
    "rest": _FLAG,
    "shards": _NUMBER,
    "replicas": _NUMBER,
    "on_disk": _FLAG,
}


class QdrantStore(base.Store):
    """A `Store` in a collection of Qdrant.

    A vector keeps 16 bits a number. A write is one request, which a collection of one shard takes
    whole or not at all; of several, some may have taken their part, and it can be written again.

    Conditions of ``where=`` become filters of Qdrant. For a field that selects few of many keys,
    create a payload index in Qdrant before they are written, of the field with "value." before it:
    without one, a search of millions of keys may miss some that satisfy the conditions.

    Args:
        url: ``qdrant://host:6334/collection``. The port is that of gRPC; with port 6333, or
            ``rest=1``, the server is asked by REST. Options follow a question mark: ``api_key``;
            ``https=1``, the default with an api_key (``https=0`` sends it over a plain connection);
            and for a collection that is created ``shards``, which several nodes search at once,
            ``replicas``, on how many nodes each of them is and is written, and ``on_disk=1``, to
            keep in memory only vectors of one byte a number, which find the candidates.

    Raises:
        OptionError: the URL is not of this form.
    """

    def __init__(self, url: str) -> None:
        self._host, self._port, self._collection, self._options = _parsed(url)
        self.place = f"qdrant://{self._host}:{self._port}/{self._collection}"
        # If there are more keys than a sample has: the last id of the newest sample that was read,
        # and the version of the keys then.
        self._last: tuple[UUID, int] | None = None
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        self._client: QdrantClient | None = None  # which threads share
        self._lock = RLock()  # of the client that is made

    # ---- the connection ----------------------------------------------------------------------

    def _ask(self, method: str, *args: Any, **options: Any) -> Any:
        """Return what a method of the client returns; called again if the connection is lost."""
        is_last = False
        while True:
            with self._lock:
                client = self._client = self._client or self._connected()
            try:
                return getattr(client, method)(self._collection, *args, **options)
            except Exception as error:  # whatever the client, httpx and grpc raise
                is_lost, told = _told(error)
                with self._lock:
                    if client is not self._client:  # another thread closed it, for it was lost
                        is_lost, told = True, f"cannot be reached: {error}"
                    elif is_lost and not is_last:
                        self.close()
                if is_last or not is_lost:
                    raise StoreError(f"{self.place} {told}") from error
            is_last = True

    def _connected(self) -> QdrantClient:
        host, port, options = self._host, self._port, self._options
        is_rest = options.get("rest", str(int(port == _REST_PORT))) == "1"
        with warnings.catch_warnings(action="ignore"):  # of an api_key over a plain connection
            return QdrantClient(
                host=host,
                port=port if is_rest else _REST_PORT,
                grpc_port=port,
                prefer_grpc=not is_rest,
                api_key=options.get("api_key"),
                https=options.get("https", str(int("api_key" in options))) == "1",
                timeout=_TIMEOUT,
                # Or else a new client waits as long as the last one before it connects.
                grpc_options={"grpc.use_local_subchannel_pool": 1},
                check_compatibility=False,
            )

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
            if client is not None:
                client.close()

    def _update(
        self,
        points: Sequence[models.PointStruct] = (),
        *,
        gone: Sequence[Any] = (),
        changed: Collection[str] = (),
        recounted: bool = False,
    ) -> None:
        """Delete what satisfies one of some conditions and write points, in one request.

        It makes the version another if a sample may have changed, as it may have if a key of those
        ``changed``, of which these are the ids, comes before the last of the sample; whether our
        sample is the newest, the server tests. New counts always make it another, and their number.
        """
        operations = list[Any]()
        if gone:
            selector = models.FilterSelector(filter=models.Filter(should=[*gone]))
            operations.append(models.DeleteOperation(delete=selector))
        if points:
            operations.append(models.UpsertOperation(upsert=models.PointsList(points=[*points])))
        if changed or recounted:
            meta = models.Filter(must=[models.HasIdCondition(has_id=[_META_ID])])
            if not recounted and self._last is not None and UUID(min(changed)) > self._last[0]:
                match = models.MatchValue(value=self._last[1])
                meta.must_not = [models.FieldCondition(key=_VERSION, match=match)]
            names = [_VERSION, _COUNTED] if recounted else [_VERSION]
            told = models.SetPayload(payload={one: randbits(_BITS) for one in names}, filter=meta)
            operations.append(models.SetPayloadOperation(set_payload=told))
        # Two that write the same keys at once leave all replicas alike.
        order = models.WriteOrdering.MEDIUM
        self._ask("batch_update_points", operations, wait=True, ordering=order)

    # ---- the collection ----------------------------------------------------------------------

    def meta(self) -> dict[str, Any] | None:
        payload = self._stored(_META_ID) if self._ask("collection_exists") else None
        return None if payload is None else self.meta_of(payload.get("json"))

    def _stored(self, number: str) -> dict[str, Any] | None:
        """Return what a point holds that is no key; None if there is no such point."""
        found = self._ask("retrieve", [number])
        return found[0].payload or {} if found else None

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        if not self._ask("collection_exists"):
            try:
                self._create_collection(dimensions)
            except StoreError:
                if not self._ask("collection_exists"):  # nor did another client create it meanwhile
                    raise
        found = self._ask("get_collection").config.params
        size = getattr(dict(found.vectors).get(_MEANING), "size", None)
        if size is None or _SPELLING not in (found.sparse_vectors or ()):
            raise StoreError(f"{self.place} holds no keys of fuzzydict; choose another collection")
        if size != dimensions:
            raise StoreError(f"{self.place} holds vectors of {size} numbers, not of {dimensions}")
        if self.meta() is None:
            for field in (_KIND, _OF):  # so that aliases are found without reading all points
                self._ask("create_payload_index", field, models.PayloadSchemaType.KEYWORD)
            told = {"json": json.dumps(meta), _KIND: _META, _VERSION: randbits(_BITS)}
            self._update([models.PointStruct(id=_META_ID, vector={}, payload=told)])

    def _create_collection(self, dimensions: int) -> None:
        on_disk = self._options.get("on_disk") == "1"
        replicas = int(self._options.get("replicas", 1))
        as_bytes = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        dense = models.VectorParams(
            size=dimensions,
            distance=models.Distance.COSINE,
            datatype=models.Datatype.FLOAT16,
            hnsw_config=models.HnswConfigDiff(ef_construct=_NEIGHBOURS),
            on_disk=on_disk,
            quantization_config=models.ScalarQuantization(scalar=as_bytes) if on_disk else None,
        )
        sparse = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=on_disk))
        self._ask(
            "create_collection",
            vectors_config={_MEANING: dense},
            sparse_vectors_config={_SPELLING: sparse},
            shard_number=int(self._options.get("shards", 1)),
            replication_factor=replicas,
            write_consistency_factor=replicas,
            on_disk_payload=True,
        )

    def count(self) -> int:
        about = int(self._ask("count", _KEYS, exact=False).count)
        return about if about > _FEW else int(self._ask("count", _KEYS, exact=True).count)

    def build_index(self, progress: base.Progress = base.untold) -> None:
        """Do nothing: the server builds its index by itself."""

    # ---- keys --------------------------------------------------------------------------------

    def sample(self, known: Collection[UUID], counted: int = 0) -> Sample:
        """Return a sample, in some four requests, and another for counts."""
        meta = self._stored(_META_ID) or {}  # first, so that a later version is noticed
        version, kept = _number(meta, _VERSION), _number(meta, _COUNTED)
        found = next(self._scrolled(_KEYS, SAMPLE, with_payload=False), [])
        ids = [UUID(str(point.id)) for point in found]
        is_part = len(ids) == SAMPLE
        self._last = (ids[-1], version) if is_part else None
        new = [str(i) for i in ids if i not in known]
        wanted = {"with_payload": ["key"], "with_vectors": [_MEANING]}
        points = self._ask("retrieve", new, **wanted) if new else []
        hits = [row for point in points if (row := self._row(point))]
        counts = None
        if kept != counted:
            counts = self.counts_of((self._stored(_COUNTS_ID) or {}).get("json"))
        total = self.count() if is_part else len(ids)
        return Sample(version, total, ids, hits, False, kept, counts)

    def keep_counts(self, counts: Counts) -> None:
        told = {"json": json.dumps(counts), _KIND: "counts"}
        self._update([models.PointStruct(id=_COUNTS_ID, vector={}, payload=told)], recounted=True)

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows, in one request if they have at most 24 MB; equal keys are replaced."""
        parts, room = list[list[models.PointStruct]](), 0
        for row in rows:
            # About how many bytes it has in a request, at most.
            needed = 64 * len(row.words) + 6 * len(row.key) + len(json.dumps(row.value)) + 200
            vectors: dict[str, Any] = {}
            if row.vector is not None:
                vectors[_MEANING] = row.vector.tolist()
                needed += 16 * len(row.vector)
            if row.words:
                vectors[_SPELLING] = _sparse(row.words)
            if needed > room:  # as for the first
                parts.append([])
                room = _LARGEST
            room -= needed
            number = str(id_of(row.key))
            parts[-1].append(models.PointStruct(id=number, vector=vectors, payload=_payload(row)))
        for part in parts:
            self._update(part, changed=[str(point.id) for point in part])

    def remove(self, keys: Sequence[str]) -> int:
        if not (ids := _ids_of_keys(keys)):
            return 0
        found = self._ask("retrieve", ids, with_payload=False)
        aliases = models.FieldCondition(key=_OF, match=models.MatchAny(any=ids))
        self._update(gone=[models.HasIdCondition(has_id=[*ids]), aliases], changed=ids)
        return len(found)

    def clear(self) -> None:
        no_key = models.IsEmptyCondition(is_empty=models.PayloadField(key=_OF))
        counts = models.HasIdCondition(has_id=[_COUNTS_ID])
        gone = [_KEYS, models.Filter(must_not=[no_key]), counts]
        self._update(gone=gone, recounted=True)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        values, keys_of, version = dict[str, Any](), dict[str, str | None](), 0
        taught = {_alias_id(each): each for each in words}
        for point in self._ask("retrieve", [*_ids_of_keys(keys), *taught, _META_ID]):
            payload = point.payload or {}
            kind = payload.get(_KIND)
            if kind == _META:
                version = _number(payload, _VERSION)
            elif kind == _ALIAS and (alias := self._alias(point)):
                keys_of[taught[str(point.id)]] = alias.key
            elif kind is None and (row := self._row(point)):
                values[row.key] = row.value
        return Known(values, keys_of, version)

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        for points in self._scrolled(_KEYS, size, with_vectors=[_MEANING] if vectors else False):
            yield [row for point in points if (row := self._row(point))]

    def _scrolled(
        self, these: models.Filter, size: int, **options: Any
    ) -> Iterator[list[models.Record]]:
        """Yield all points that satisfy a filter, in the order of their ids."""
        offset = None
        while True:
            points, offset = self._ask("scroll", these, limit=size, offset=offset, **options)
            if points:
                yield points
            if offset is None:
                return

    def _row(self, point: models.Record | models.ScoredPoint) -> Row | None:
        payload, vectors = point.payload or {}, point.vector
        found = vectors.get(_MEANING) if isinstance(vectors, dict) else None
        vector = None if found is None else np.array(found, np.float32)
        text, value = payload.get("json"), payload.get("value")
        return self.row_of(point.id, payload.get("key"), vector, value, text=text)

    # ---- aliases -----------------------------------------------------------------------------

    def teach(self, aliases: Sequence[Alias]) -> None:
        points = []
        for alias in aliases:
            of = None if alias.key is None else str(id_of(alias.key))
            told = {_KIND: _ALIAS, _OF: of, **alias._asdict()}
            points.append(models.PointStruct(id=_alias_id(alias.words), vector={}, payload=told))
        if points:
            self._update(points)

    def forget(self, words: Sequence[str]) -> int:
        ids: list[Any] = [_alias_id(each) for each in dict.fromkeys(words)]
        found = self._ask("retrieve", ids, with_payload=False) if ids else []
        if found:
            self._update(gone=[models.HasIdCondition(has_id=ids)])
        return len(found)

    def aliases(self) -> Iterator[Alias]:
        is_alias = models.FieldCondition(key=_KIND, match=models.MatchValue(value=_ALIAS))
        points = chain.from_iterable(self._scrolled(models.Filter(must=[is_alias]), _POINTS))
        return (alias for point in points if (alias := self._alias(point)))

    def _alias(self, point: models.Record) -> Alias | None:
        payload = point.payload or {}
        return self.alias_of(point.id, *(payload.get(name) for name in Alias._fields))

    # ---- search ------------------------------------------------------------------------------

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        # One round trip for 32 queries, and another if a filter passes too many others.
        filters = [_filter(one) for one in where if '"' not in "".join(one.field)]
        how = dict[str, Any](with_payload=True if where else ["key"], with_vector=[_MEANING])
        if filters:
            how["filter"] = models.Filter(must=[*filters])
        results, times = [Hits([], [], {}) for _ in searches], 1
        # What each vector is to find by its name: so many keys, which go into a list.
        wanted = list[tuple[Any, str, int, list[Row]]]()
        for search, hits in zip(searches, results, strict=True):
            if search.near and search.vector is not None:
                wanted.append((search.vector.tolist(), _MEANING, search.near, hits.near))
            if search.spelled and search.words:
                wanted.append((_sparse(search.words), _SPELLING, search.spelled, hits.spelled))
        while wanted:
            requests = [
                models.QueryRequest(query=query, using=using, limit=number * times, **how)
                for query, using, number, _ in wanted
            ]
            blocks = [requests[some] for some in slices(len(requests), _TOGETHER)]
            answers = chain.from_iterable(self._ask("query_batch_points", one) for one in blocks)
            asked, wanted = wanted, []
            for one, answer in zip(asked, answers, strict=True):
                _, using, number, into = one
                points = [point for point in answer.points if point.score > 0 or using == _MEANING]
                rows = [row for row in map(self._row, points) if row]
                into[:] = [row for row in rows if satisfies(row.value, where)][:number]
                if where and len(into) < number and len(answer.points) == number * times:
                    wanted.append(one)  # for it found too few
            times *= _FURTHER
        return results


# ---- points ------------------------------------------------------------------------------------


def _ids_of_keys(texts: Sequence[str]) -> list[str]:
    """Return the ids of those texts that may be keys, each once; those of other points are not."""
    return list(dict.fromkeys(str(id_of(text)) for text in texts if is_storable(text)))


def _alias_id(words: str) -> str:
    return str(id_of(f"\0alias\0{words}"))


def _number(payload: Mapping[str, Any], name: str) -> int:
    found = payload.get(name)
    return found if isinstance(found, int) else 0


def _payload(row: Row) -> dict[str, Any]:
    """Return a key and its value; one that a server may change is there as JSON, too.

    A server may change floats, and has 64 bits for integers: larger ones become floats.
    """
    changed = list[str]()

    def number(digits: str) -> float:
        if digits.lstrip("-").isdecimal() and -(1 << 63) <= int(digits) < 1 << 63:
            return int(digits)
        changed.append(digits)
        return min(max(float(digits), -sys.float_info.max), sys.float_info.max)

    text = json.dumps(row.value)
    value = json.loads(text, parse_float=number, parse_int=number)
    return {"key": row.key, "value": value} | ({"json": text} if changed else {})


def _sparse(words: str) -> models.SparseVector:
    """Return what multiplied by another's is the cosine of two sets of n-grams."""
    found = ngrams(words)
    return models.SparseVector(indices=found, values=[1 / math.sqrt(len(found))] * len(found))


# ---- addresses, filters, errors ----------------------------------------------------------------


def _parsed(url: str) -> tuple[str, int, str, dict[str, str]]:
    """Return the host, port and collection of an address, and its options; tell no api_key."""
    form = "a store in Qdrant is named as qdrant://host:6334/collection, with options after '?'"
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError:
        raise OptionError(form) from None  # which may tell a password
    if parts.scheme != "qdrant" or not parts.hostname or "@" in parts.netloc:
        raise OptionError(form)
    collection = unquote(parts.path.removeprefix("/"))
    if "/" in collection or collection in {"", ".", ".."}:
        raise OptionError(f"{form}; there is no collection {quoted(collection)}")
    options = dict[str, str]()
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS or name in options:
            raise OptionError(f"{form}: {', '.join(_OPTIONS)}, each once; not {quoted(name)}")
        pattern, told = _OPTIONS[name]
        if not re.fullmatch(pattern, value):
            got = "" if name == "api_key" else f", not {quoted(value)}"
            raise OptionError(f"{name} must be {told}{got}")
        options[name] = value
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return host, port or _GRPC_PORT, collection, options


def _filter(condition: Condition) -> models.Filter:
    """Return the filter for one condition; it may pass some values that do not satisfy it.

    It takes a list that has such an item, too, and for bounds of a range those themselves, and all
    that a server may make of their numbers.
    """
    path = ".".join(f'"{name}"' for name in ("value", *condition.field))
    either, ranges = list[Any](), [condition.bounds] if condition.bounds else []
    if texts := [scalar for scalar in condition.one_of if isinstance(scalar, str)]:
        either.append(models.FieldCondition(key=path, match=models.MatchAny(any=texts)))
    for scalar in condition.one_of:
        if scalar is None:
            either.append(models.IsNullCondition(is_null=models.PayloadField(key=path)))
        elif isinstance(scalar, bool):
            either.append(models.FieldCondition(key=path, match=models.MatchValue(value=scalar)))
        elif not isinstance(scalar, str):
            ranges.append({"gte": scalar, "lte": scalar})
    for bounds in ranges:
        wider = dict[str, float]()
        for name, bound in bounds.items():
            room = abs(float(bound)) * 1e-15 + 1e-300
            side, end = ("gte", bound - room) if name.startswith("g") else ("lte", bound + room)
            wider[side] = min(max(end, -sys.float_info.max), sys.float_info.max)
        either.append(models.FieldCondition(key=path, range=models.Range(**wider)))
    return models.Filter(should=either)


def _told(error: Exception) -> tuple[bool, str]:
    """Return whether the connection is lost, and how a message goes on after the place."""
    source = getattr(error, "source", error)
    status, text = "", (str(source).splitlines() or [type(source).__name__])[0]
    if isinstance(error, UnexpectedResponse):
        status = str(error.status_code)
        text = f"{error.reason_phrase} (status {status})"
        with suppress(ValueError, KeyError, TypeError):
            text = f"{error.structured()['status']['error']} (status {status})"
    elif isinstance(error, RpcError) and hasattr(error, "code"):
        status, text = error.code().name, str(error.details())
    if status in {"401", "403", "UNAUTHENTICATED", "PERMISSION_DENIED"}:
        return False, f"refuses the api_key, or wants one: {text}"
    if status == "DEADLINE_EXCEEDED" or isinstance(source, TimeoutException):
        return False, f"did not answer within {_TIMEOUT} seconds"
    if status == "UNAVAILABLE" or isinstance(source, TransportError):
        return True, f"cannot be reached: {text}"
    return False, f"refuses, or is no server of Qdrant: {text}"
