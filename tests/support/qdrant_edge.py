"""Qdrant Edge, the engine of Qdrant's server in this process, with the methods of its client.

The client's local mode imitates the server in Python. This is the server's own code: its graph,
its filters, and what it makes of payloads.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import merge, nlargest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import qdrant_edge as edge
from qdrant_client import models


class EdgeClient:
    """What `QdrantStore` asks of a client, done by shards in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: list[Any] = [
            edge.EdgeShard.load(str(path)) for path in sorted(folder.glob("*")) if path.is_dir()
        ]
        self._pool = ThreadPoolExecutor(4)

    # ---- the collection ----------------------------------------------------------------------

    def collection_exists(self, _: str) -> bool:
        return bool(self._shards)

    def create_collection(
        self,
        _: str,
        *,
        vectors_config: dict[str, models.VectorParams],
        sparse_vectors_config: dict[str, models.SparseVectorParams],
        shard_number: int,
        **_settings: Any,
    ) -> None:
        self._params = SimpleNamespace(vectors=vectors_config, sparse_vectors=sparse_vectors_config)
        config = _config(vectors_config, sparse_vectors_config)
        for i in range(shard_number):
            path = self._folder / str(i)
            path.mkdir(parents=True)
            self._shards.append(edge.EdgeShard.create(str(path), config))

    def get_collection(self, _: str) -> Any:
        self._there()
        return SimpleNamespace(config=SimpleNamespace(params=self._params))

    def create_payload_index(self, _: str, field: str, schema: models.PayloadSchemaType) -> None:
        kind = getattr(edge.PayloadSchemaType, schema.value.capitalize())
        for shard in self._shards:
            shard.update(edge.UpdateOperation.create_field_index(field, kind))

    def delete_collection(self, _: str) -> None:
        self.close()
        shutil.rmtree(self._folder)
        self._folder.mkdir()

    def optimize(self) -> None:
        """Build the graphs, as a server does in the background."""
        for shard in self._shards:
            shard.optimize()

    def close(self) -> None:
        for shard in self._shards:
            shard.flush()
            shard.close()
        self._shards = []

    # ---- points ------------------------------------------------------------------------------

    def upsert(self, _: str, points: list[models.PointStruct], **_order: Any) -> None:
        for shard, part in self._parts([(UUID(str(one.id)), one) for one in points]):
            new = [edge.Point(key, _vectors(one), one.payload) for key, one in part]
            shard.update(edge.UpdateOperation.upsert_points(new))

    def delete(self, _: str, selector: models.FilterSelector, **_order: Any) -> None:
        for shard in self._there():
            shard.update(edge.UpdateOperation.delete_points_by_filter(_filter(selector.filter)))

    def retrieve(
        self,
        _: str,
        ids: Sequence[str],
        *,
        with_payload: bool | list[str] = True,
        with_vectors: bool | list[str] = False,
    ) -> list[Any]:
        parts = self._parts([(UUID(str(one)), None) for one in ids])
        return [
            _record(record)
            for shard, part in parts
            for record in shard.retrieve([key for key, _ in part], with_payload, with_vectors)
        ]

    def scroll(
        self,
        _: str,
        these: models.Filter,
        *,
        limit: int,
        offset: str | None,
        with_payload: bool,
        with_vectors: list[str] | bool,
    ) -> tuple[list[Any], str | None]:
        start = offset and UUID(offset)
        request = edge.ScrollRequest(start, limit + 1, _filter(these), with_payload, with_vectors)
        pages = [shard.scroll(request)[0] for shard in self._there()]
        found = list(merge(*pages, key=lambda record: UUID(str(record.id))))
        further = str(found[limit].id) if len(found) > limit else None
        return [_record(record) for record in found[:limit]], further

    def count(self, _: str, *, count_filter: models.Filter, exact: bool) -> Any:
        request = edge.CountRequest(exact, _filter(count_filter))
        return SimpleNamespace(count=sum(shard.count(request) for shard in self._there()))

    def query_batch_points(self, _: str, requests: list[models.QueryRequest]) -> list[Any]:
        batch = edge.QueryBatchRequest([_query(one) for one in requests])
        answers = list(self._pool.map(lambda shard: shard.query_batch(batch), self._there()))
        found = []
        for i, request in enumerate(requests):
            points = (point for answer in answers for point in answer[i])
            best = nlargest(request.limit or 0, points, key=lambda point: point.score)
            found.append(SimpleNamespace(points=list(map(_record, best))))
        return found

    def _there(self) -> list[Any]:
        if not self._shards:
            raise ValueError("Collection not found")
        return self._shards

    def _parts(self, points: Iterable[tuple[UUID, Any]]) -> list[tuple[Any, list[Any]]]:
        """Return the shards that have, or get, these points, each with its own."""
        shards = self._there()
        parts: list[list[Any]] = [[] for _ in shards]
        for key, one in points:
            parts[key.int % len(shards)].append((key, one))
        return [(shard, part) for shard, part in zip(shards, parts, strict=True) if part]


def _config(
    dense: dict[str, models.VectorParams], sparse: dict[str, models.SparseVectorParams]
) -> Any:
    ((meaning, params),) = dense.items()
    assert isinstance(params.hnsw_config, models.HnswConfigDiff)
    small = None
    if params.quantization_config:
        small = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, always_ram=True)
    vectors = edge.EdgeVectorParams(
        params.size,
        edge.Distance.Cosine,
        datatype=edge.VectorStorageDatatype.Float16,
        on_disk=params.on_disk,
        quantization_config=small,
        hnsw_config=edge.HnswIndexConfig(16, params.hnsw_config.ef_construct or 100, 10_000),
    )
    return edge.EdgeConfig(
        vectors={meaning: vectors},
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(on_disk=params.on_disk) for name in sparse
        },
        # What the optimizer makes of each shard, on a machine with few processors.
        optimizers=edge.EdgeOptimizersConfig(default_segment_number=2),
    )


# ---- requests and answers ----------------------------------------------------------------------


def _vectors(point: models.PointStruct) -> dict[str, Any]:
    vectors: Any = point.vector
    found: dict[str, Any] = dict(vectors)
    for name, one in found.items():
        if isinstance(one, models.SparseVector):
            found[name] = edge.SparseVector(one.indices, one.values)
    return found


def _query(request: Any) -> Any:
    query = request.query
    if isinstance(query, models.SparseVector):
        query = edge.SparseVector(query.indices, query.values)
    return edge.QueryRequest(
        request.limit or 10,
        query=edge.Query.Nearest(query, request.using),
        with_vector=request.with_vector,
        with_payload=request.with_payload,
        filter=request.filter and _filter(request.filter),
    )


def _filter(these: Any) -> Any:
    """Return a filter, or a part of one, as Qdrant Edge has it."""
    if isinstance(these, models.Filter):
        parts = {name: getattr(these, name) for name in ("must", "should", "must_not")}
        given: Any = {name: list(map(_filter, part)) for name, part in parts.items() if part}
        return edge.Filter(**given)
    if isinstance(these, models.IsEmptyCondition):
        return edge.IsEmptyCondition(these.is_empty.key)
    if isinstance(these, models.IsNullCondition):
        return edge.IsNullCondition(these.is_null.key)
    if isinstance(these, models.HasIdCondition):
        return edge.HasIdCondition({UUID(str(one)) for one in these.has_id})
    assert isinstance(these, models.FieldCondition)
    if isinstance(these.match, models.MatchAny):
        return edge.FieldCondition(these.key, match=edge.MatchAny(these.match.any))
    if isinstance(these.match, models.MatchValue) and isinstance(these.match.value, bool):
        # Python's wrapper makes 1 of True; the server does not. Those that have the field.
        return edge.Filter(must_not=[edge.IsEmptyCondition(these.key)])
    if isinstance(these.match, models.MatchValue):
        return edge.FieldCondition(these.key, match=edge.MatchValue(these.match.value))
    assert isinstance(these.range, models.Range)
    return edge.FieldCondition(these.key, range=edge.RangeFloat(**these.range.model_dump()))


def _record(point: Any) -> Any:
    vectors = dict(point.vector or {})
    for name, one in vectors.items():
        if isinstance(one, edge.SparseVector):
            vectors[name] = models.SparseVector(indices=one.indices, values=one.values)
    found = SimpleNamespace(id=str(point.id), payload=point.payload, vector=vectors)
    if hasattr(point, "score"):
        found.score = point.score
    return found
