"""The page of `fuzzydict explore` served on a free port, and real requests to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlencode, urlsplit

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.server import ExploreServer

JSON, BYTES = "application/json", "application/octet-stream"


@contextmanager
def serving(d: FuzzyDict[Any], title: str = "a dict", **options: Any) -> Iterator[ExploreServer]:
    with ExploreServer(d, title=title, **options) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def request(
    server: ExploreServer,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> tuple[HTTPResponse, str]:
    """Ask for an absolute path, or one below the page's address."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    full = path if path.startswith("/") else f"{urlsplit(server.url).path}{path}"
    connection.request(method, full, body, headers=headers or {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


def posted(
    server: ExploreServer, path: str, body: bytes, kind: str = JSON, **headers: str
) -> tuple[HTTPResponse, str]:
    """Post a body as the page does."""
    origin = f"http://127.0.0.1:{server.server_port}"
    return request(server, path, "POST", {"Content-Type": kind, "Origin": origin, **headers}, body)


def asked(server: ExploreServer, name: str, **content: Any) -> Any:
    """Post an object that must be answered."""
    response, body = posted(server, name, json.dumps(content).encode())
    assert response.status == 200, body
    return json.loads(body)


def answered(server: ExploreServer, query: str, temperature: float | None = None) -> Any:
    return asked(server, "answer", query=query, temperature=temperature)


def upload(server: ExploreServer, path: str, data: bytes, **parameters: str) -> Any:
    """Post a file that must be taken."""
    response, body = posted(server, f"{path}?{urlencode(parameters)}", data, BYTES)
    assert response.status == 200, body
    return json.loads(body)
