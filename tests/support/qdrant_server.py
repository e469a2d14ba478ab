"""A server that qdrant-client talks to by gRPC, on the engine of Qdrant Edge: one collection.

    python -m tests.support.qdrant_server PORT FOLDER [API_KEY]

It has what `QdrantStore` asks for. What was acknowledged is in the folder, however the process
ends. ``run`` starts it in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import grpc as wire
from qdrant_client import grpc, models
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

from tests.support.qdrant_edge import EdgeClient

__all__ = ["Server", "run"]

_ROOT = Path(__file__).parents[2]


# ---- starting and killing it -------------------------------------------------------------------


class Server:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, api_key: str = "") -> None:
        self._folder, self._api_key = folder, api_key
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
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
    """Run a server until the block ends."""
    server = Server(folder, api_key)
    try:
        yield server
    finally:
        server.kill()


# ---- what it answers ---------------------------------------------------------------------------


class _Engine(NamedTuple):
    client: EdgeClient
    file: Path  # has the request that created the collection
    lock: Lock

    @property
    def created(self) -> Any:
        """The request that created the collection; an empty one if there is none."""
        request = grpc.CreateCollection()
        if self.file.exists():
            request.ParseFromString(self.file.read_bytes())
        return request


def _exists(engine: _Engine, request: Any) -> Any:
    is_there = engine.created.collection_name == request.collection_name
    return grpc.CollectionExistsResponse(result=grpc.CollectionExists(exists=is_there))


def _create(engine: _Engine, request: Any) -> Any:
    dense: Any = GrpcToRest.convert_vectors_config(request.vectors_config)
    sparse = GrpcToRest.convert_sparse_vector_config(request.sparse_vectors_config)
    number = request.shard_number
    engine.client.create_collection(
        "", vectors_config=dense, sparse_vectors_config=sparse, shard_number=number
    )
    engine.file.write_bytes(request.SerializeToString())
    return grpc.CollectionOperationResponse(result=True)


def _drop(engine: _Engine, request: Any) -> Any:
    is_there = engine.file.exists()
    if is_there:
        engine.file.unlink()
        engine.client.delete_collection(request.collection_name)
    return grpc.CollectionOperationResponse(result=is_there)


def _collection(engine: _Engine, _: Any) -> Any:
    created = engine.created
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


def _change(engine: _Engine, request: Any) -> Any:
    """Make an index of a field, write points or delete some."""
    if isinstance(request, grpc.CreateFieldIndexCollection):
        assert request.field_type == grpc.FieldType.FieldTypeKeyword
        kind = models.PayloadSchemaType.KEYWORD
        engine.client.create_payload_index("", request.field_name, kind)
    elif isinstance(request, grpc.UpsertPoints):
        engine.client.upsert("", list(map(GrpcToRest.convert_point_struct, request.points)))
    else:
        selector: Any = GrpcToRest.convert_points_selector(request.points)
        engine.client.delete("", selector)
    done = grpc.UpdateResult(status=grpc.UpdateStatus.Completed)
    return grpc.PointsOperationResponse(result=done)


def _parts(request: Any) -> dict[str, Any]:
    """Return what a request asks for of each point."""
    payload = GrpcToRest.convert_with_payload_interface(request.with_payload)
    vectors = GrpcToRest.convert_with_vectors_selector(request.with_vectors)
    return {"with_payload": payload, "with_vectors": vectors}


def _record(point: Any) -> Any:
    record = models.Record(id=point.id, payload=point.payload or {}, vector=point.vector)
    return RestToGrpc.convert_record(record)


def _get(engine: _Engine, request: Any) -> Any:
    ids = [str(GrpcToRest.convert_point_id(each)) for each in request.ids]
    found = engine.client.retrieve("", ids, **_parts(request))
    return grpc.GetResponse(result=list(map(_record, found)))


def _scroll(engine: _Engine, request: Any) -> Any:
    start = str(GrpcToRest.convert_point_id(request.offset)) if request.HasField("offset") else None
    these = GrpcToRest.convert_filter(request.filter)
    found, further = engine.client.scroll(
        "", these, limit=request.limit, offset=start, **_parts(request)
    )
    after = further and RestToGrpc.convert_extended_point_id(further)
    return grpc.ScrollResponse(result=list(map(_record, found)), next_page_offset=after)


def _count(engine: _Engine, request: Any) -> Any:
    these = GrpcToRest.convert_filter(request.filter)
    count = engine.client.count("", count_filter=these, exact=request.exact).count
    return grpc.CountResponse(result=grpc.CountResult(count=count))


def _query_batch(engine: _Engine, request: Any) -> Any:
    queries = [GrpcToRest.convert_query_points(query) for query in request.query_points]
    for query in queries:
        if isinstance(query.query, models.NearestQuery):
            query.query = query.query.nearest
    answers = engine.client.query_batch_points("", queries)
    found = [
        [
            models.ScoredPoint(
                id=one.id, version=0, score=one.score, payload=one.payload, vector=one.vector
            )
            for one in answer.points
        ]
        for answer in answers
    ]
    batches = [list(map(RestToGrpc.convert_scored_point, points)) for points in found]
    return grpc.QueryBatchResponse(result=[grpc.BatchResult(result=one) for one in batches])


# ---- the server --------------------------------------------------------------------------------

_ANSWERS: dict[type[Any], dict[str, Callable[[_Engine, Any], Any]]] = {
    grpc.CollectionsServicer: {
        "CollectionExists": _exists,
        "Create": _create,
        "Get": _collection,
        "Delete": _drop,
    },
    grpc.PointsServicer: {
        **dict.fromkeys(("CreateFieldIndex", "Upsert", "Delete"), _change),
        "Get": _get,
        "Scroll": _scroll,
        "Count": _count,
        "QueryBatch": _query_batch,
    },
}


def _method(engine: _Engine, api_key: str, answer: Callable[[_Engine, Any], Any]) -> Any:
    """Return a method that answers a request, or refuses it as Qdrant does."""

    def method(request: Any, context: wire.ServicerContext) -> Any:
        if api_key and ("api-key", api_key) not in context.invocation_metadata():
            context.abort(
                wire.StatusCode.UNAUTHENTICATED, "Must provide an API key or an Authorization"
            )
        with engine.lock:
            name = request.collection_name
            needs_it = answer not in (_exists, _create, _drop)
            if needs_it and engine.created.collection_name != name:
                told = f"Not found: Collection `{name}` doesn't exist!"
                context.abort(wire.StatusCode.NOT_FOUND, told)
            try:
                return answer(engine, request)
            except Exception as error:  # whatever the engine raises
                context.abort(wire.StatusCode.INVALID_ARGUMENT, f"Wrong input: {error}")

    return method


def _serve(port: int, folder: Path, api_key: str) -> None:
    shards = folder / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    engine = _Engine(EdgeClient(shards), folder / "created", Lock())
    server = wire.server(
        ThreadPoolExecutor(4),
        options=[("grpc.max_receive_message_length", 64 << 20), ("grpc.so_reuseport", 0)],
    )
    for servicer, answers in _ANSWERS.items():
        methods = {name: _method(engine, api_key, answer) for name, answer in answers.items()}
        held = type("Held", (servicer,), {name: staticmethod(m) for name, m in methods.items()})()
        getattr(grpc, f"add_{servicer.__name__}_to_server")(held, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print(bound, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
