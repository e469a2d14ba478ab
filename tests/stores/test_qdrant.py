"""`QdrantStore`: its address, and servers that are not there, refuse, break, or answer nonsense."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socket import socket
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any

import pytest

from fuzzydict import StoreError, StoreWarning
from fuzzydict.stores.base import Alias, Row, id_of
from tests.stores.conftest import local_client
from tests.support.stores import CALLS, META, E, row, rows_of, search

pytest.importorskip("qdrant_client", reason="qdrant-client is not installed (extra qdrant)")
from qdrant_client import QdrantClient, models

from fuzzydict.stores.qdrant import QdrantStore

if TYPE_CHECKING:
    from tests.support.qdrant_server import Server

pytestmark = pytest.mark.more
SECRET = "s3cret-of-mine"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantClient]:
    """Return a client of its local mode, which stores have in place of one of a server."""
    local = QdrantClient(":memory:")
    local_client(local, monkeypatch)
    yield local
    local.close()


# ---- servers that do not answer as they should ----------------------------------------------

ANSWERS = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": b'HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"result": {"exi',
    "no HTTP": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
    "no JSON": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
    "other JSON": b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"result": 7}',
    "no result": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "an error": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops",
    "busy": b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}",
    "busy, oddly": b"HTTP/1.1 429 No\r\nRetry-After: later\r\nContent-Length: 2\r\n\r\n{}",
    "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "not found": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "another key is needed": b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}",
    "not for this key": b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\n{}",
}


@contextmanager
def _answering(answer: bytes) -> Iterator[int]:
    """Run a server that answers each request with these bytes, and hangs up."""

    class Handler(BaseHTTPRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            self.request.sendall(answer)

    class Server(HTTPServer):
        def handle_error(self, *_: object) -> None:
            """Say nothing: the client hung up first."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _refused(url: str, told: str | None) -> None:
    """Assert that each call raises an error that names the place, and not the key."""
    store = QdrantStore(url)
    for call in CALLS:
        with pytest.raises(StoreError, match=told) as error:
            call(store)
        assert store.place in str(error.value)
        assert SECRET not in str(error.value)
    store.close()


@pytest.mark.parametrize("case", ANSWERS)
def test_nonsense_is_an_error_that_names_the_place(case: str) -> None:
    with _answering(ANSWERS[case]) as port:
        key = "refuses the api_key" if "key" in case else None
        _refused(f"qdrant://127.0.0.1:{port}/words?rest=1&https=0&api_key={SECRET}", key)


@pytest.mark.parametrize("options", ["rest=0", "rest=1", f"rest=1&https=0&api_key={SECRET}"])
def test_no_server_and_no_grpc(options: str) -> None:
    with socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    _refused(f"qdrant://127.0.0.1:{port}/words?{options}", "cannot be reached")
    with _answering(ANSWERS["not found"]) as port:  # which speaks no TLS, either
        _refused(f"qdrant://127.0.0.1:{port}/words?api_key={SECRET}", "cannot be reached")
        _refused(f"qdrant://127.0.0.1:{port}/words", "cannot be reached")


# ---- a server that is killed ----------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    pytest.importorskip("qdrant_edge")
    from tests.support import qdrant_server

    with qdrant_server.run(tmp_path, SECRET) as server:
        yield server


@pytest.fixture
def store(server: Server) -> Iterator[QdrantStore]:
    address = f"qdrant://127.0.0.1:{server.port}/words?https=0"
    with pytest.raises(StoreError, match="refuses the api_key"):
        QdrantStore(f"{address}&api_key=another").create(E, META)
    store = QdrantStore(f"{address}&api_key={SECRET}")
    assert store.meta() is None
    store.create(E, META)
    yield store
    store.close()


def test_a_killed_server_is_told_and_found_again(server: Server, store: QdrantStore) -> None:
    store.write(rows_of(10))
    server.kill()
    for call in CALLS:
        with pytest.raises(StoreError, match="cannot be reached") as error:
            call(store)
        assert store.place in str(error.value)
    server.start()
    assert store.meta() == META
    assert store.count() == 10
    server.kill()
    server.start()  # between two calls: the second does not notice
    assert len(store.rows([one.key for one in rows_of(10)]).values) == 10


def test_what_was_acknowledged_of_a_broken_load_is_there(
    server: Server, store: QdrantStore
) -> None:
    blocks = [[row(f"key {i} {j}", i) for j in range(200)] for i in range(500)]
    written: list[str] = []

    def write(blocks: list[list[Row]]) -> None:
        for block in blocks:
            store.write(block)
            written.extend(one.key for one in block)

    killer = Timer(0.5, server.kill)
    killer.start()
    with pytest.raises(StoreError, match="cannot be reached"):
        write(blocks)
    killer.join()
    server.start()
    assert store.rows(written).values.keys() == set(written)
    again = blocks[: len(written) // 200 + 2]
    write(again)
    assert store.count() == 200 * len(again)


# ---- points that others wrote ----------------------------------------------------------------

_VECTOR = {"meaning": [1.0] * E}
#: The key in whose place a point is, its payload and vectors, and what is said of it.
ODD_POINTS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "another id": ("bus", {"key": "car", "value": 1}, _VECTOR, "its id is not that of its key"),
    "no key": ("car", {"value": 1}, _VECTOR, "its id is not that of its key"),
    "a number": ("car", {"key": 7, "value": 1}, _VECTOR, "its id is not that of its key"),
    "no JSON": ("car", {"key": "car", "json": "{"}, {}, "Expecting"),
    "no text": ("car", {"key": "car", "json": 7}, {}, "must be str"),
    "deep": ("car", {"key": "car", "json": "[" * 1500 + "]" * 1500}, {}, "recursion|nested"),
    "digits": ("car", {"key": "car", "json": "1" * 5000}, {}, "digits"),
}


@pytest.mark.parametrize("case", ODD_POINTS)
def test_a_point_that_others_wrote_is_left_out_and_can_be_removed(
    client: QdrantClient, case: str
) -> None:
    key, payload, vectors, said = ODD_POINTS[case]
    good = rows_of(5)
    store = QdrantStore("qdrant://local/words")
    store.create(E, META)
    store.write(good)
    point = models.PointStruct(id=str(id_of(key)), payload=payload, vector=vectors)
    client.upsert("words", [point])
    with pytest.warns(StoreWarning, match=f"is left out, for something else wrote it: .*({said})"):
        found = list(store.pages(10, vectors=True))
    assert {row.key for page in found for row in page} == {one.key for one in good}
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        (hits,) = store.search([search("car", 9, 9)])
        assert len(store.sample([]).hits) >= 5
    assert {hit.key for hit in hits.near} <= {one.key for one in good}
    store.remove([key])
    assert store.count() == 5
    store.clear()
    assert store.count() == 0


def test_a_meta_that_others_wrote_is_an_error_that_says_what_to_do(client: QdrantClient) -> None:
    store = QdrantStore("qdrant://local/words")
    store.create(E, META)
    for payload in ({}, {"json": "["}, {"json": 7}, {"json": "[1]"}):
        point = models.PointStruct(id=str(id_of("\0meta")), payload=payload, vector={})
        client.upsert("words", [point])
        with pytest.raises(StoreError, match="damaged; push the keys again into another place"):
            store.meta()


# ---- collections of others ------------------------------------------------------------------


def test_a_collection_of_other_things_is_left_alone(client: QdrantClient) -> None:
    params = models.VectorParams(size=E, distance=models.Distance.COSINE)
    client.create_collection("words", vectors_config=params)
    with pytest.raises(StoreError, match="holds no keys of fuzzydict"):
        QdrantStore("qdrant://local/words").create(E, META)
    assert client.count("words").count == 0
    QdrantStore("qdrant://local/others").create(E, META)
    with pytest.raises(StoreError, match=f"of {E} numbers, not of {E + 1}"):
        QdrantStore("qdrant://local/others").create(E + 1, META)


def test_a_collection_that_another_client_creates_meanwhile_is_used(
    client: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (QdrantStore("qdrant://local/keys") for _ in range(2))
    first.create(E, META)
    first.write([row("red", 1)])
    answers = iter([False])  # which was so when it was asked
    exists = client.collection_exists
    monkeypatch.setattr(client, "collection_exists", lambda name: next(answers, exists(name)))
    second.create(E, {"other": 1})
    assert (second.meta(), second.rows(["red"]).values) == (META, {"red": 1})


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the client
def test_local_mode_keeps_what_it_has_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = QdrantClient(path=str(tmp_path))
    local_client(client, monkeypatch)
    store = QdrantStore("qdrant://local/words")
    store.create(E, META)
    store.write([row("color", {"price": 0.1 + 0.2, "large": 2**70})])
    store.teach([Alias("hue", "Hue", "color")])
    client.close()
    again = QdrantClient(path=str(tmp_path))
    local_client(again, monkeypatch)
    store = QdrantStore("qdrant://local/words")
    assert store.rows(["color"], ["hue"])[:2] == (
        {"color": {"price": 0.1 + 0.2, "large": 2**70}},
        {"hue": "color"},
    )
    again.close()
