"""Stores to test: one of each engine whose package is installed, with nothing in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import TypeAlias

import pytest

from fuzzydict.stores.base import Store
from tests.support.memory_store import MemoryStore
from tests.support.postgres import server
from tests.support.stores import META, E

#: Makes a client, each time another, of one place in which nothing was created.
Connect: TypeAlias = Callable[[], Store]
Maker: TypeAlias = Callable[[pytest.FixtureRequest], AbstractContextManager[Connect]]

_NUMBERS = count()  # of places


@contextmanager
def _memory(_: pytest.FixtureRequest) -> Iterator[Connect]:
    store = MemoryStore()
    yield lambda: store  # the place is the object


@contextmanager
def _postgres(_: pytest.FixtureRequest) -> Iterator[Connect]:
    pytest.importorskip("psycopg")
    from fuzzydict.stores.postgres import PostgresStore

    url = server().url(table=f"keys {next(_NUMBERS)}")
    yield lambda: PostgresStore(url)


@contextmanager
def _qdrant(_: pytest.FixtureRequest) -> Iterator[Connect]:
    """The local mode of Qdrant's client: a process is one client."""
    client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
    from fuzzydict.stores.qdrant import QdrantStore

    store = QdrantStore("qdrant://local/test", client)
    yield lambda: store
    client.close()


@contextmanager
def _qdrant_server(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """A server of gRPC on the engine of Qdrant."""
    port = request.getfixturevalue("qdrant_port")
    from fuzzydict.stores.qdrant import QdrantStore

    yield lambda: QdrantStore(f"qdrant://127.0.0.1:{port}/test?shards=2")


@pytest.fixture(scope="session")
def qdrant_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    pytest.importorskip("qdrant_client")
    pytest.importorskip("qdrant_edge")
    from tests.support import qdrant_server

    with qdrant_server.run(tmp_path_factory.mktemp("qdrant")) as server:
        yield server.port


#: How to connect to a place of a test's own. A maker skips if its package is not installed
#: (pytest.importorskip); it may ask for fixtures of the session, such as a server.
MAKERS: dict[str, Maker] = {
    "memory": _memory,
    "postgres": _postgres,
    "qdrant": _qdrant,
    "qdrant-server": _qdrant_server,
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=[] if name == "memory" else pytest.mark.more) for name in MAKERS
    ]
)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Return what makes clients of one place, which is dropped after the test."""
    with MAKERS[request.param](request) as connect:
        yield connect
        client = connect()
        client.drop()
        client.close()


@pytest.fixture
def store(connect: Connect) -> Iterator[Store]:
    """Return a store of vectors (E,) without keys."""
    store = connect()
    store.create(E, META)
    yield store
    store.close()
