"""Stores to test: one of each engine whose package is installed, with nothing in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from threading import RLock
from typing import Any, TypeAlias
from warnings import catch_warnings, simplefilter

import pytest

from fuzzydict.stores.base import Store
from tests.support.memory_store import MemoryStore
from tests.support.postgres import server
from tests.support.stores import META, E

#: Makes a client, each time another, of one place in which nothing was created.
Connect: TypeAlias = Callable[[], Store]

_NUMBERS = count()  # of places


@pytest.fixture(scope="session")
def qdrant_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a server of gRPC on the engine of Qdrant."""
    pytest.importorskip("qdrant_client")
    pytest.importorskip("qdrant_edge")
    from tests.support import qdrant_server

    with qdrant_server.run(tmp_path_factory.mktemp("qdrant")) as running:
        yield running.port


def local_client(local: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all stores of Qdrant ask a client of its local mode: one thread at a time, to the end."""
    lock = RLock()

    class Locked:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            def call(*args: Any, **options: Any) -> Any:
                with lock, catch_warnings():  # that it has no indexes
                    simplefilter("ignore")
                    return None if name == "close" else getattr(local, name)(*args, **options)

            return call

    monkeypatch.setattr("fuzzydict.stores.qdrant.QdrantClient", lambda **_: Locked())


def maker_of(kind: str, request: pytest.FixtureRequest) -> Connect:
    """Return what makes clients of a store; skip if its package is not installed."""
    if kind == "memory":
        memory = MemoryStore()
        return lambda: memory  # the place is the object
    if kind == "postgres":
        pytest.importorskip("psycopg")
        from fuzzydict.stores.postgres import PostgresStore

        url = server().url(table=f"keys {next(_NUMBERS)}")
        return lambda: PostgresStore(url)
    client = pytest.importorskip("qdrant_client").QdrantClient
    from fuzzydict.stores.qdrant import QdrantStore

    if kind == "qdrant":
        local = client(":memory:")
        request.addfinalizer(local.close)
        local_client(local, request.getfixturevalue("monkeypatch"))
        return lambda: QdrantStore("qdrant://local/test")
    port = request.getfixturevalue("qdrant_port")
    maker = client(host="127.0.0.1", grpc_port=port, prefer_grpc=True, check_compatibility=False)
    request.addfinalizer(lambda: maker.delete_collection("test"))
    return lambda: QdrantStore(f"qdrant://127.0.0.1:{port}/test?shards=2")


@pytest.fixture(
    params=[
        "memory",
        *(pytest.param(one, marks=pytest.mark.more) for one in ("postgres", "qdrant")),
        pytest.param("qdrant-server", marks=pytest.mark.more),
    ]
)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Return what makes clients of one place."""
    return maker_of(request.param, request)


@pytest.fixture
def store(connect: Connect) -> Iterator[Store]:
    """Return a store of vectors (E,) without keys."""
    store = connect()
    store.create(E, META)
    yield store
    store.close()
