"""The server of the page, over real requests: who is let in, and what a browser is given."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import FuzzyDict
from fuzzydict.io.explore.answers import LONGEST_QUERY
from fuzzydict.io.explore.server import ExploreServer
from tests.support.exploring import BYTES, JSON, answered, asked, posted, request, serving, upload

PAGE = Path(str(fuzzydict.__file__)).parent / "io" / "explore" / "page"
COLORS = {"red": (255, 0, 0), "navy": (0, 0, 128), "sea green": (46, 139, 87)}
HOSTILE = "<script>alert(1)</script>"
TEACH = json.dumps({"query": "the sky", "key": "navy"}).encode()
ASK = json.dumps({"query": "red", "temperature": None}).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[ExploreServer]:
    with serving(FuzzyDict(COLORS), "<i>colours</i>") as running:
        yield running
        assert not running.dict.aliases  # nothing here teaches


# ---- who is let in ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *(("GET", path, 403) for path in ("/", "/favicon.ico", "/wrong/", "/wrong/about", "/%C3")),
        *(("GET", path, 404) for path in ("page.py", "../explore.py", "%2e%2e/explore.py")),
        *(("GET", path, 404) for path in ("page.css/", "teach/")),
        *(("GET", path, 405) for path in ("teach", "answer?query=red")),
        ("GET", f"page.css?a={'a' * 70_000}", 414),
        ("POST", "/wrong/answer", 403),
        *(("POST", path, 404) for path in ("nowhere", "page.css", "", "answer/")),
        *((method, "answer", 501) for method in ("PUT", "OPTIONS", "DELETE", "TRACE", "HEAD")),
    ],
)
def test_what_is_refused_is_a_line_of_json(
    server: ExploreServer, method: str, path: str, status: int
) -> None:
    host = f"http://127.0.0.1:{server.server_port}"
    response, body = request(server, path, method, {"Content-Type": JSON, "Origin": host}, ASK)
    assert (response.status, response.headers.get_content_type()) == (status, JSON)
    assert response.headers["Allow"] == ("POST" if status == 405 else None)
    if method != "HEAD":
        assert body.count("\n") == 1
        assert list(json.loads(body)) == ["error"]


def test_another_host_is_refused(server: ExploreServer) -> None:
    for host in ("evil.example", "127.0.0.1", f"evil.example:{server.server_port}", ""):
        assert request(server, "", headers={"Host": host})[0].status == 403
        assert posted(server, "answer", ASK, Host=host)[0].status == 403
    local = f"localhost:{server.server_port}"
    assert request(server, "", headers={"Host": local})[0].status == 200
    assert posted(server, "answer", ASK, Host=local, Origin=f"http://{local}")[0].status == 200


def test_an_address_for_once_leads_to_the_page_once() -> None:
    with serving(FuzzyDict(COLORS)) as server, ExploreServer(FuzzyDict()) as other:
        assert server.server_address[0] == "127.0.0.1"
        assert server.token != other.token
        path = urlsplit(server.url_for_once).path
        assert server.token not in path
        response, _ = request(server, path)
        assert (response.status, response.headers["Location"]) == (303, urlsplit(server.url).path)
        response, body = request(server, path)
        assert (response.status, response.headers["Location"]) == (403, None)
        assert "another user of this machine may have it" in json.loads(body)["error"]
        assert request(server, "")[0].status == 200


# ---- what is posted -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        *(
            ({"Origin": origin}, 403)
            for origin in (
                *("http://evil.example", "null", "", "https://127.0.0.1:{port}"),
                *("http://127.0.0.1", "http://localhost:{port}"),  # not the Host that was asked
            )
        ),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        *(({"Content-Type": kind}, 415) for kind in ("text/plain", BYTES, "")),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        *(({"Content-Length": n}, 411) for n in ("-1", "+5", "5, 5", "5_0", "\u0665")),
        *(({"Content-Length": n}, 413) for n in ("2049", "9" * 5000)),
        *(({"Transfer-Encoding": name}, 411) for name in ("chunked", "identity")),
    ],
)
def test_a_body_is_refused_by_its_headers(
    server: ExploreServer, headers: dict[str, str], status: int
) -> None:
    given = {name: value.format(port=server.server_port) for name, value in headers.items()}
    given = {name: value.encode().decode("latin-1") for name, value in given.items()}
    response, body = posted(server, "teach", TEACH, **given)
    assert (response.status, list(json.loads(body))) == (status, ["error"])


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"[]", b"{}", b'"text"', b"\xff", b'{"query": "a"}', b"[" * 2000),
        *(b'{"query": 1, "key": "red"}', b'{"query": "a", "key": ["red"]}'),
        *(b'{"query": "a", "query": "b", "key": "red"}', b'{"query": "a", "key": ' + b"9" * 1990),
        *(b'{"query": "a", "key": NaN}', b'{"query": "a", "key": "none of them"}'),
        *(b'{"query": "", "key": "red"}', b'{"query": "?!", "key": "red"}'),
        *(b'{"query": "red", "key": "navy"}', b'{"query": "%s", "key": "red"}' % (b"a" * 501)),
        *(b'{"query": "red", "temperature": %s}' % t for t in (b"0", b'"warm"', b"true", b"1e999")),
        b'{"query": "%s", "temperature": null}' % (b"a" * 501),
        *(b'{"queries": %s, "temperature": null}' % q for q in (b'"text"', b"null", b'{"a": 1}')),
        *(b'{"queries": %s, "temperature": 1}' % q for q in (b"[]", b"[1]")),
        b'{"queries": ["a"%s], "temperature": 1}' % (b', "a"' * 20),
        *(b'{"decisions": %s}' % d for d in (b'"text"', b"null", b'{"a": 1}')),
    ],
)
@pytest.mark.parametrize("path", ["answer", "keys", "teach", "forget", "heat", "decisions"])
def test_a_body_of_anything_else_is_refused(server: ExploreServer, path: str, body: bytes) -> None:
    response, text = posted(server, path, body)
    assert (response.status, list(json.loads(text))) == (400, ["error"])


def test_a_file_needs_what_is_said_of_it(server: ExploreServer) -> None:
    for query in ("", "?name=a.txt", "?column=text"):
        response, text = posted(server, f"column{query}", b"red", BYTES)
        assert (response.status, list(json.loads(text))) == (400, ["error"])
    assert upload(server, "column", b"red", name="a.txt", column="")["matched"] == 1


def raw(server: ExploreServer, text: str) -> bytes:
    """Send bytes as they are, and return all that comes back until the connection ends."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as client:
        client.sendall(text.replace("\n", "\r\n").encode("latin-1"))
        client.shutdown(socket.SHUT_WR)
        parts = []
        while part := client.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def head(server: ExploreServer, line: str, *more: str) -> str:
    """Return the head of a request: "POST teach", and further headers."""
    method, name = line.split(" ")
    host = f"127.0.0.1:{server.server_port}"
    own = (f"Host: {host}", f"Origin: http://{host}", f"Content-Type: {JSON}")
    return "\n".join([f"{method} {urlsplit(server.url).path}{name} HTTP/1.1", *own, *more, "", ""])


def test_no_request_hides_behind_another(server: ExploreServer) -> None:
    hidden = head(server, "POST teach", f"Content-Length: {len(TEACH)}") + TEACH.decode()
    length = f"Content-Length: {len(hidden) + 2}"
    for headers, status in {
        ("Content-Length: 2",): 400,  # the body is {}, and the rest is not read
        ("Content-Length: 2", "Connection: keep-alive"): 400,
        ("Content-Length: 2", length): 411,
        (length, "Origin: http://evil.example"): 403,
        (length, "Host: evil.example"): 403,
        ("Content-Length: 100000",): 413,
        ("Content-Length: 2000",): 400,  # it ends early
        ("Content-Length: 2", "Transfer-Encoding: chunked"): 411,
        ("Transfer-Encoding: chunked",): 411,
        ("Content-Length : 2",): 411,
        (): 411,
    }.items():
        answer = raw(server, head(server, "POST teach", *headers) + "{}" + hidden)
        assert answer.startswith(f"HTTP/1.0 {status} ".encode()), headers
        assert answer.count(b"HTTP/1.") == 1
    get = raw(server, head(server, "GET page.css", "Connection: keep-alive") + hidden)
    assert get.count(b"HTTP/1.") == 1


def test_who_has_the_token_is_not_kept_out_while_an_answer_takes_long_or_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun, go_on = Event(), Event()

    def encode(texts: list[str]) -> list[list[float]]:
        if "broken" in texts:
            raise RuntimeError("no such model")
        if "slow" in texts:
            begun.set()
            go_on.wait(20)
        return [[1.0, len(text)] for text in texts]

    d = FuzzyDict({"red": 1, "blue": 2}, embedding=encode)
    with serving(d) as server, ThreadPoolExecutor(1) as pool, ExitStack() as silent:
        answer = pool.submit(answered, server, "slow")
        assert begun.wait(20)
        for _ in range(100):
            address = ("127.0.0.1", server.server_port)
            silent.enter_context(socket.create_connection(address, timeout=20))
        assert asked(server, "about")["keys"] == 2
        go_on.set()
        response, body = posted(server, "answer", ASK.replace(b"red", b"broken"))
        assert response.status == 500
        assert "RuntimeError: no such model" in json.loads(body)["error"]
        assert answer.result()["keys"]
    assert capsys.readouterr() == ("", "")


@given(
    query=st.text(max_size=60) | st.sampled_from(["é" * LONGEST_QUERY, "\ud800 red"]),
    key=st.one_of(st.none(), st.text(max_size=20), st.just("navy")),
)
def test_any_text_is_answered_as_json(server: ExploreServer, query: str, key: str | None) -> None:
    assert answered(server, query)["query"] == query
    assert set(asked(server, "keys", like=query)["keys"]) <= set(COLORS)
    response, body = posted(server, "teach", json.dumps({"query": query, "key": key}).encode())
    if response.status == 200:
        assert json.loads(body)["taught"] == 1
        assert asked(server, "forget", query=query)["taught"] == 0
    else:
        assert response.status in (400, 413)
        assert list(json.loads(body)) == ["error"]
    assert not server.dict.aliases


# ---- what a browser is given --------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "page.css", "page.js", "about", "map", "nowhere", "/"])
def test_every_response_forbids_what_comes_from_elsewhere(server: ExploreServer, path: str) -> None:
    assert request(server, "teach", "POST", {"Content-Type": JSON}, TEACH)[0].status == 403
    for headers in (request(server, path)[0].headers, posted(server, path, b"{}")[0].headers):
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_the_page_has_no_script_of_its_own_and_loads_nothing_from_elsewhere(
    server: ExploreServer,
) -> None:
    page = request(server, "")[1]
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|style=", page)
    own = {path.name for path in PAGE.iterdir()}
    assert set(re.findall(r'(?:src|stylesheet" href)="([^"]*)"', page)) <= own
    for path in PAGE.iterdir():
        text = re.sub(r"http://www\.w3\.org/(2000/svg|1999/xhtml)", "", path.read_text("utf-8"))
        assert not re.search(r"https?:|[\"'(]//|@import|url\(", text), path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert set(re.findall(r' from "\./([^"]*)"', text)) <= own
        names = re.findall(r'(?:byId|errorsIn|show)\("([\w-]+)"', text)
        assert all(f'id="{name}"' in page for name in names)


def test_hostile_keys_and_values_come_as_json_alone() -> None:
    with serving(FuzzyDict({HOSTILE: HOSTILE, "\ud800 red": 2}), title=HOSTILE) as server:
        assert HOSTILE not in request(server, "")[1]
        for name, body in (("about", b"{}"), ("answer", ASK.replace(b"red", b"script alert"))):
            response, text = posted(server, name, body)
            assert response.headers.get_content_type() == JSON
            assert HOSTILE in str(json.loads(text))
