"""A server that qdrant-client talks to by gRPC, on the engine of Qdrant Edge: one collection.

    python -m tests.support.qdrant_server PORT FOLDER [API_KEY]

This is the server's own code, which the client's local mode imitates. What was acknowledged is in
the folder, however the process ends. ``run`` starts it in a process of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID

import grpc as wire
import qdrant_edge as edge
from qdrant_client import grpc, models
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

_DONE = grpc.UpdateResult(status=grpc.UpdateStatus.Completed)
_ROOT = Path(__file__).parents[2]


class Server:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, api_key: str = "") -> None:
        self._folder, self._api_key, self.port = folder, api_key, 0
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start it on the port that it had; on a free one at first."""
        command = [sys.executable, "-m", "tests.support.qdrant_server"]
        self._process = subprocess.Popen(
            [*command, str(self.port), str(self._folder), self._api_key],
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env=os.environ | {"PYTHONPATH": str(_ROOT)},
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """Kill it, so that it can neither answer nor write anything more."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def run(folder: Path, api_key: str = "") -> Iterator[Server]:
    server = Server(folder, api_key)
    try:
        yield server
    finally:
        server.kill()


class _Engine:
    """The collection: one shard, and a file that has the request that created it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder / "shard", folder / "created"
        is_there = self._file.exists()
        self._shard: Any = edge.EdgeShard.load(str(self._folder)) if is_there else None

    @property
    def created(self) -> Any:
        """The request that created the collection; an empty one if there is none."""
        request = grpc.CreateCollection()
        if self._file.exists():
            request.ParseFromString(self._file.read_bytes())
        return request

    def exists(self, request: Any) -> Any:
        is_there = self.created.collection_name == request.collection_name
        return grpc.CollectionExistsResponse(result=grpc.CollectionExists(exists=is_there))

    def create(self, request: Any) -> Any:
        self._folder.mkdir()
        self._shard = edge.EdgeShard.create(str(self._folder), _config(request))
        self._file.write_bytes(request.SerializeToString())
        return grpc.CollectionOperationResponse(result=True)

    def drop(self, _: Any) -> Any:
        is_there = self._file.exists()
        if is_there:
            self._file.unlink()
            self._shard.close()
            shutil.rmtree(self._folder)
        return grpc.CollectionOperationResponse(result=is_there)

    def info(self, _: Any) -> Any:
        """Tell of the collection, once its graph is made: a server makes it by itself."""
        self._shard.optimize()
        created = self.created
        params = grpc.CollectionParams(
            shard_number=created.shard_number,
            vectors_config=created.vectors_config,
            sparse_vectors_config=created.sparse_vectors_config,
        )
        config = grpc.CollectionConfig(
            params=params,
            hnsw_config=grpc.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10_000),
            optimizer_config=grpc.OptimizersConfigDiff(
                deleted_threshold=0.2,
                vacuum_min_vector_number=1_000,
                default_segment_number=0,
                flush_interval_sec=5,
            ),
            wal_config=grpc.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
        )
        info = grpc.CollectionInfo(status=grpc.CollectionStatus.Green, config=config)
        return grpc.GetCollectionInfoResponse(result=info)

    def index(self, request: Any) -> Any:
        assert request.field_type == grpc.FieldType.FieldTypeKeyword
        kind = edge.PayloadSchemaType.Keyword
        self._shard.update(edge.UpdateOperation.create_field_index(request.field_name, kind))
        return grpc.PointsOperationResponse(result=_DONE)

    def change(self, request: Any) -> Any:
        """Write points, delete some, or set what they say."""
        does = edge.UpdateOperation
        for operation in map(GrpcToRest.convert_points_update_operation, request.operations):
            match operation:
                case models.UpsertOperation(upsert=models.PointsList(points=points)):
                    new = [edge.Point(_id(p.id), _to_edge(p.vector), p.payload) for p in points]
                    self._shard.update(does.upsert_points(new))
                case models.DeleteOperation(delete=models.FilterSelector(filter=these)):
                    self._shard.update(does.delete_points_by_filter(_filter(these)))
                case models.SetPayloadOperation(set_payload=given):
                    these = _filter(given.filter)
                    self._shard.update(does.set_payload_by_filter(these, given.payload))
        return grpc.UpdateBatchResponse(result=[_DONE] * len(request.operations))

    def get(self, request: Any) -> Any:
        ids: list[Any] = [UUID(one.uuid) for one in request.ids]
        return grpc.GetResponse(result=map(_record, self._shard.retrieve(ids, *_parts(request))))

    def scroll(self, request: Any) -> Any:
        start = UUID(request.offset.uuid) if request.HasField("offset") else None
        these = _filter(GrpcToRest.convert_filter(request.filter))
        asked = edge.ScrollRequest(start, request.limit, these, *_parts(request))
        found, after = self._shard.scroll(asked)
        following = None if after is None else RestToGrpc.convert_extended_point_id(str(after))
        return grpc.ScrollResponse(result=map(_record, found), next_page_offset=following)

    def count(self, request: Any) -> Any:
        these = _filter(GrpcToRest.convert_filter(request.filter))
        count = self._shard.count(edge.CountRequest(request.exact, these))
        return grpc.CountResponse(result=grpc.CountResult(count=count))

    def query(self, request: Any) -> Any:
        batch = edge.QueryBatchRequest([_query(one) for one in request.query_points])
        answers = self._shard.query_batch(batch)
        results = [grpc.BatchResult(result=map(_scored, points)) for points in answers]
        return grpc.QueryBatchResponse(result=results)


# ---- requests and answers, as the engine has them ------------------------------------------------


def _config(request: Any) -> Any:
    vectors: Any = GrpcToRest.convert_vectors_config(request.vectors_config)
    ((meaning, dense),) = vectors.items()
    small = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, always_ram=True)
    params = edge.EdgeVectorParams(
        dense.size,
        edge.Distance.Cosine,
        datatype=edge.VectorStorageDatatype.Float16,
        on_disk=dense.on_disk,
        quantization_config=small if dense.quantization_config else None,
        hnsw_config=edge.HnswIndexConfig(16, dense.hnsw_config.ef_construct or 100, 10_000),
    )
    sparse = edge.EdgeSparseVectorParams(on_disk=dense.on_disk)
    return edge.EdgeConfig(
        vectors={meaning: params},
        sparse_vectors=dict.fromkeys(request.sparse_vectors_config.map, sparse),
        # What the optimizer makes of it, on a machine with few processors.
        optimizers=edge.EdgeOptimizersConfig(default_segment_number=2),
    )


def _id(given: Any) -> UUID:
    return UUID(str(given))


def _to_edge(vectors: Any) -> Any:
    if isinstance(vectors, models.SparseVector):
        return edge.SparseVector(vectors.indices, vectors.values)
    if isinstance(vectors, dict):
        return {name: _to_edge(one) for name, one in vectors.items()}
    return vectors


def _parts(request: Any) -> tuple[Any, Any]:
    """Return what a request asks for of each point: of its payload, and of its vectors."""
    return (
        GrpcToRest.convert_with_payload_interface(request.with_payload),
        GrpcToRest.convert_with_vectors_selector(request.with_vectors),
    )


def _query(request: Any) -> Any:
    query: Any = GrpcToRest.convert_query_points(request)
    nearest = query.query
    return edge.QueryRequest(
        request.limit,
        query=edge.Query.Nearest(_to_edge(getattr(nearest, "nearest", nearest)), query.using),
        with_vector=query.with_vector,
        with_payload=query.with_payload,
        filter=query.filter and _filter(query.filter),
    )


def _filter(these: Any) -> Any:
    """Return a filter, or a part of one, as Qdrant Edge has it."""
    match these:
        case models.Filter():
            parts = {name: getattr(these, name) for name in ("must", "should", "must_not")}
            given: Any = {name: list(map(_filter, part)) for name, part in parts.items() if part}
            return edge.Filter(**given)
        case models.IsEmptyCondition():
            return edge.IsEmptyCondition(these.is_empty.key)
        case models.IsNullCondition():
            return edge.IsNullCondition(these.is_null.key)
        case models.HasIdCondition():
            return edge.HasIdCondition(set(map(_id, these.has_id)))
        case models.FieldCondition(key=key, match=models.MatchAny(any=some)):
            return edge.FieldCondition(key, match=edge.MatchAny(some))
        case models.FieldCondition(key=key, match=models.MatchValue(value=bool())):
            # Python's wrapper makes 1 of True; the server does not. Those that have the field.
            return edge.Filter(must_not=[edge.IsEmptyCondition(key)])
        case models.FieldCondition(key=key, match=models.MatchValue(value=value)):
            return edge.FieldCondition(key, match=edge.MatchValue(value))
        case models.FieldCondition(key=key, range=models.Range() as within):
            return edge.FieldCondition(key, range=edge.RangeFloat(**within.model_dump()))
    raise ValueError(f"no filter of the tests: {these}")


def _fields(point: Any) -> dict[str, Any]:
    vectors = dict(point.vector or {})
    for name, one in vectors.items():
        if isinstance(one, edge.SparseVector):
            vectors[name] = models.SparseVector(indices=one.indices, values=one.values)
    return {"id": str(point.id), "payload": point.payload or {}, "vector": vectors}


def _record(point: Any) -> Any:
    return RestToGrpc.convert_record(models.Record(**_fields(point)))


def _scored(point: Any) -> Any:
    scored = models.ScoredPoint(version=0, score=point.score, **_fields(point))
    return RestToGrpc.convert_scored_point(scored)


# ---- the server ----------------------------------------------------------------------------------


def _serve(port: int, folder: Path, api_key: str) -> None:
    engine, lock = _Engine(folder), Lock()

    def method(answer: Callable[[Any], Any]) -> Any:
        """Return a method that answers a request, or refuses it as Qdrant does."""

        def answered(request: Any, context: wire.ServicerContext) -> Any:
            if api_key and ("api-key", api_key) not in context.invocation_metadata():
                told = "Must provide an API key or an Authorization"
                context.abort(wire.StatusCode.UNAUTHENTICATED, told)
            with lock:
                wanted = request.collection_name
                needs_it = answer not in (engine.exists, engine.create, engine.drop)
                if needs_it and engine.created.collection_name != wanted:
                    told = f"Not found: Collection `{wanted}` doesn't exist!"
                    context.abort(wire.StatusCode.NOT_FOUND, told)
                try:
                    return answer(request)
                except Exception as error:  # whatever the engine raises
                    context.abort(wire.StatusCode.INVALID_ARGUMENT, f"Wrong input: {error}")

        return answered

    answers: dict[Any, dict[str, Callable[[Any], Any]]] = {
        grpc.CollectionsServicer: {
            "CollectionExists": engine.exists,
            "Create": engine.create,
            "Get": engine.info,
            "Delete": engine.drop,
        },
        grpc.PointsServicer: {
            "CreateFieldIndex": engine.index,
            "UpdateBatch": engine.change,
            "Get": engine.get,
            "Scroll": engine.scroll,
            "Count": engine.count,
            "QueryBatch": engine.query,
        },
    }
    server = wire.server(
        ThreadPoolExecutor(4),
        options=[("grpc.max_receive_message_length", 64 << 20), ("grpc.so_reuseport", 0)],
    )
    for servicer, some in answers.items():
        methods = {name: staticmethod(method(one)) for name, one in some.items()}
        add = getattr(grpc, f"add_{servicer.__name__}_to_server")
        add(type("Held", (servicer,), methods)(), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print(bound, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
