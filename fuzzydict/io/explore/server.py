"""The server of ``fuzzydict explore``: it lets in who knows the address, on this machine alone."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fuzzydict._files import decoded
from fuzzydict.errors import ArgumentTypeError, FuzzyDictError, OptionError, quoted
from fuzzydict.io.explore.answers import Answers
from fuzzydict.io.explore.teaching import NotSavedError, Teaching, checked_decisions
from fuzzydict.io.review import review_of
from fuzzydict.io.text_tables import as_json, parse_json
from fuzzydict.mapping import FuzzyDict

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_JSON, _CSV, _BYTES = "application/json", "text/csv", "application/octet-stream"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cache-Control": "no-store",
}
_FEW, _SOME, _MANY = 2**11, 2**16, 2**22  # bytes of a body
_CONNECTIONS = 64  # at a time, whose requests have not shown the token
_PATIENCE = 30  # seconds for which a silent client is kept
_DISCARDED, _LAST_WAIT = 2**26, 2  # bytes of a refused body, and the seconds they may take
#: What each field may be, and what errors call that.
_FIELDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("query", "like", "name", "column"), (str, "a text")),
    "key": (str | None, "a text or null"),
    "queries": (list, "a list of texts"),
    "decisions": (list, "a list of queries and targets"),
    "temperature": (object, "a number or null"),
}


class Route(NamedTuple):
    """What answers a name: it takes fields, of the JSON that is posted, as ``_FIELDS`` has them.

    If it takes a file, they are in the address; before them it gets the bytes of the file, and a
    function that raises once nobody waits for the answer.
    """

    answer: Callable[..., dict[str, Any] | bytes]
    fields: tuple[str, ...] = ()
    most: int = _SOME  # bytes that may be posted
    takes_file: bool = False

    def given(self, content: Any) -> dict[str, Any]:
        """Return the fields of what is given, which must have all of them."""
        if not isinstance(content, dict) or not set(self.fields) <= content.keys():
            expected = f"an object with {' and '.join(self.fields)}"
            raise OptionError(f"the request: expected {expected}, got {quoted(content)}")
        for name in self.fields:
            kind, expected = _FIELDS[name]
            if not isinstance(content[name], kind):
                raise ArgumentTypeError(f"{name}: expected {expected}, got {quoted(content[name])}")
        return {name: content[name] for name in self.fields}


class ExploreServer(ThreadingHTTPServer):
    """Serves the page of a dict on 127.0.0.1, to those who know its address.

    The address ``url`` has a random token, which every request must have; ``url_for_once`` leads to
    the page a single time: it is for the command line of a browser, which other users can read.
    """

    daemon_threads = True
    request_queue_size = 2 * _CONNECTIONS  # else the system lets many wait for seconds
    allow_reuse_address = os.name == "posix"  # elsewhere it lets two programs have one port

    def __init__(
        self, d: FuzzyDict[Any], *, title: str = "a dict", port: int = 0, output: Path | None = None
    ) -> None:
        self.dict, self.title, self.token = d, title, secrets.token_urlsafe(16)
        self.teaching = teaching = Teaching(d, output)
        self.answers = answers = Answers(d, teaching.changing)
        self.routes = {
            "about": Route(self._about),
            "map": Route(answers.map),
            "answer": Route(self._answer, ("query", "temperature")),
            "keys": Route(answers.keys_like, ("like",)),
            "heat": Route(answers.heat, ("queries", "temperature")),
            "taught": Route(teaching.taught),
            "teach": Route(teaching.teach, ("query", "key"), _FEW),
            "forget": Route(teaching.forget, ("query",), _FEW),
            "learn": Route(teaching.learn, ("decisions",), _MANY),
            "decisions": Route(self._decisions, ("decisions",), _MANY),
            "table": Route(answers.table, ("name",), _MANY, True),
            "column": Route(answers.column, ("name", "column"), _MANY, True),
        }
        self.uploading = Lock()  # one table is matched at a time
        self._open, self._lock = dict[Any, None](), Lock()
        self.token_for_once = secrets.token_urlsafe(16)
        self.first_use = Lock()  # of that token: who acquires it is the first, and keeps it
        super().__init__((_HOST, port), _Handler)
        self.url = f"http://{_HOST}:{self.server_port}/{self.token}/"
        self.url_for_once = f"http://{_HOST}:{self.server_port}/{self.token_for_once}/"

    def _about(self) -> dict[str, Any]:
        saving = {"saves_to": self.teaching.saves_to, "taught": len(self.teaching)}
        return {"title": self.title, **self.answers.about(), **saving}

    def _answer(self, query: str, temperature: float | None) -> dict[str, Any]:
        return self.answers.answer(query, temperature) | {"forget": self.teaching.taught_as(query)}

    def _decisions(self, decisions: list[Any]) -> bytes:
        """Return decisions as a CSV file that ``fuzzydict map --decisions`` reads."""
        return review_of("csv", checked_decisions(self.dict, decisions))

    def server_close(self) -> None:
        """Serve no more, once what is being saved is saved."""
        super().server_close()
        self.teaching.close()

    def server_bind(self) -> None:
        """Bind the port, without asking for the machine's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = _HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; of too many connections without the token, the oldest is closed."""
        with self._lock:
            self._open[request] = None
            oldest = next(iter(self._open)) if len(self._open) > _CONNECTIONS else None
        if oldest is not None:
            self.let_in(oldest)
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def let_in(self, request: Any) -> None:
        """Keep a connection whose request has the token, however many others come."""
        with self._lock:
            self._open.pop(request, None)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self.let_in(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing of a client that is gone: the terminal is the command's."""


# ---- one request --------------------------------------------------------------------------


class _RefusedError(Exception):
    """A request is refused; its message says why."""

    def __init__(self, code: HTTPStatus, message: str, **headers: str) -> None:
        super().__init__(message)
        self.code, self.headers = code, headers


class _Handler(BaseHTTPRequestHandler):
    """A request. Each has a connection of its own, so that nothing after it is read as another."""

    server: ExploreServer
    server_version, sys_version = "fuzzydict", ""
    timeout = _PATIENCE
    protocol_version = "HTTP/1.0"

    def _respond(self) -> None:
        """Send a file of the page, or by POST the answer to a question of it; or tell why not."""
        answer = self._answer if self.command == "POST" else self._file
        try:
            self._send(*answer(self._name()))
        except _RefusedError as error:
            self.send_error(error.code, str(error), **error.headers)
        except NotSavedError as error:
            told = {"error": str(error), "taught": len(self.server.teaching), "saved": None}
            self._send(*_as_json(told), HTTPStatus.INTERNAL_SERVER_ERROR)
        except FuzzyDictError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))
        except (ConnectionError, TimeoutError):  # nobody waits for the answer
            pass
        except Exception as error:  # of an encoder, or a value, that is somebody else's
            message = f"this failed: {type(error).__name__}: {error}"
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    do_GET = do_POST = _respond  # noqa: N815

    def _name(self) -> str:
        """Return what is asked for, once the request is from the page."""
        port, host = self.server.server_port, self._header("Host")
        if host not in (f"{_HOST}:{port}", f"localhost:{port}"):  # a name that leads here
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Host is not this machine's")
        token, slash, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        is_own = secrets.compare_digest(token.encode(), self.server.token.encode())
        is_for_once = secrets.compare_digest(token.encode(), self.server.token_for_once.encode())
        if not is_own or not slash:
            if not is_for_once:
                raise _RefusedError(HTTPStatus.FORBIDDEN, "the address has no valid token")
            if self.server.first_use.acquire(blocking=False):
                page = f"/{self.server.token}/"
                raise _RefusedError(HTTPStatus.SEE_OTHER, "the page is elsewhere", Location=page)
            raise _RefusedError(
                HTTPStatus.FORBIDDEN,
                "this address was used before; open the one that fuzzydict printed. If the page "
                "never opened, another user of this machine may have it: end fuzzydict with Ctrl-C",
            )
        self.server.let_in(self.connection)
        if self.command == "POST" and self._header("Origin") != f"http://{host}":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Origin is not this page")
        return name

    def _header(self, name: str) -> str | None:
        """Return a header that came once, or None."""
        found = self.headers.get_all(name, [])
        return found[0] if len(found) == 1 else None

    def _file(self, name: str) -> tuple[bytes, str]:
        """Return a file of the page, and its type."""
        if name in self.server.routes:
            message = f"{name} is asked for by POST"
            raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, message, Allow="POST")
        for path in _PAGE.iterdir():
            if path.name == (name or "page.html") and path.suffix in _KINDS:
                return path.read_bytes(), _KINDS[path.suffix]
        raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")

    def _answer(self, name: str) -> tuple[bytes, str]:
        """Return what is answered, and its type."""
        route = self.server.routes.get(name)
        if route is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")
        body = self._body(route)
        if not route.takes_file:
            posted = parse_json(decoded(body, "the request"), "the request", "an object")
            told = route.answer(**route.given(posted))
            return (told, _CSV) if isinstance(told, bytes) else _as_json(told)
        content = parse_qsl(self.path.partition("?")[2], keep_blank_values=True)
        fields = route.given(dict(content))
        with self.server.uploading:
            self._check_awaited()
            return _as_json(route.answer(body, self._check_awaited, **fields))

    def _body(self, route: Route) -> bytes:
        """Return the body, once its headers say that it is what it should be."""
        kind = (self._header("Content-Type") or "").partition(";")[0].strip().lower()
        wanted = _BYTES if route.takes_file else _JSON
        if kind != wanted:
            message = f"expected the Content-Type {wanted}"
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        length = self._header("Content-Length") or ""
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected one Content-Length")
        if len(length) > 12 or int(length) > route.most:
            message = f"expected at most {route.most:,} bytes, got {length[:12]}"
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the body ends before its Content-Length")
        return body

    def _check_awaited(self) -> None:
        """Raise `ConnectionAbortedError` if the client is gone, and nobody waits for an answer."""
        self.connection.settimeout(0)
        try:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError("the client is gone")
        except BlockingIOError:  # it waits in silence
            pass
        finally:
            self.connection.settimeout(self.timeout)

    # ---- what is sent ---------------------------------------------------------------------

    def send_error(
        self, code: int, message: str | None = None, explain: Any = None, **headers: str
    ) -> None:
        """Send an error, also one that the base class explains, as JSON."""
        with suppress(OSError):
            body, kind = _as_json({"error": message or explain or HTTPStatus(code).phrase})
            self._send(body, kind, code, **headers)
            # Who is still sending a refused body would not read why before it is read.
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LAST_WAIT)
            left, end = _DISCARDED, monotonic() + _LAST_WAIT
            while left > 0 and monotonic() < end and (data := self.rfile.read1(_SOME)):
                left -= len(data)

    def _send(self, body: bytes, kind: str, code: int = HTTPStatus.OK, **headers: str) -> None:
        self.send_response(code)
        own = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**_HEADERS, **own, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing: the terminal is the command's."""


def _as_json(told: Any) -> tuple[bytes, str]:
    # A lone surrogate, which a key may hold, has no UTF-8, but an escape of JSON.
    return f"{as_json(told)}\n".encode("utf-8", "backslashreplace"), _JSON
