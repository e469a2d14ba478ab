"""The server of ``fuzzydict explore``: it lets in who knows the address, on this machine alone."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from fuzzydict._files import decoded
from fuzzydict.errors import FuzzyDictError, OptionError, quoted
from fuzzydict.io.explore import uploads
from fuzzydict.io.explore.answers import Answers
from fuzzydict.io.explore.teaching import NotSavedError, Teaching, decisions_table
from fuzzydict.io.records import as_json, parse_json

if TYPE_CHECKING:
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
_PARAMETERS = 10  # of an address
_CONNECTIONS = 64  # at a time, whose requests have not shown the token
_PATIENCE = 30  # seconds for which a silent client is kept
_DISCARDED, _LAST_WAIT = 2**26, 2  # bytes of a refused body, and the seconds they may take


class ExploreServer(ThreadingHTTPServer):
    """Serves the page of a dict on 127.0.0.1, to those who know its address.

    Args:
        d: the dict; what the page teaches becomes its aliases.
        title: what the page is called.
        port: 0 for one that is free.
        output: where what is taught is saved, see `Teaching`; None for nowhere.

    Attributes:
        url: the address, with a random token that every request must have.
        uploading: held while a table is matched, one at a time.

    Raises:
        OSError: the port is taken, or the output cannot be read.
        FileFormatError, OptionError: see `Teaching`.
    """

    daemon_threads = True
    request_queue_size = 2 * _CONNECTIONS  # else the system lets many wait for seconds
    allow_reuse_address = os.name == "posix"  # elsewhere it lets two programs have one port

    def __init__(
        self,
        d: FuzzyDict[Any],
        *,
        title: str = "a dict",
        port: int = 0,
        output: Path | None = None,
    ) -> None:
        self.dict, self.title, self.token = d, title, secrets.token_urlsafe(16)
        self.teaching = Teaching(d, output)
        self.answers = Answers(d, self.teaching.changing)
        self.uploading = Lock()
        self._open, self._lock = dict[Any, None](), Lock()
        self._for_once, self._used = secrets.token_urlsafe(16), 0
        super().__init__((_HOST, port), _Handler)
        self.url = f"http://{_HOST}:{self.server_port}/{self.token}/"

    def address_for_once(self) -> str:
        """Return an address that leads to the page a single time.

        It is for the command line of a browser, which other users of the machine can read.
        """
        return self.url.replace(self.token, self._for_once)

    def uses(self, token: str) -> int:
        """Count a use of the address for once, and return how many there were; 0 for another."""
        if not secrets.compare_digest(token.encode(), self._for_once.encode()):
            return 0
        with self._lock:
            self._used += 1
            return self._used

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


# ---- who is let in ------------------------------------------------------------------------


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

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        """Answer a request, or tell why not as JSON."""
        try:
            name, given = self._name(), self._parameters()
            told = self._told(name, given)
            if isinstance(told, bytes):
                self._send(told, _KINDS.get(Path(name or "page.html").suffix, _CSV))
            else:
                self._send_json(told)
        except _RefusedError as error:
            self._send_error(error.code, str(error), **error.headers)
        except NotSavedError as error:
            told = {"error": str(error), "taught": len(self.server.teaching), "saved": None}
            self._send_json(told, HTTPStatus.INTERNAL_SERVER_ERROR)
        except FuzzyDictError as error:
            self._send_error(HTTPStatus.BAD_REQUEST, str(error))
        except (ConnectionError, TimeoutError):  # nobody waits for the answer
            pass
        except Exception as error:  # of an encoder, or a value, that is somebody else's
            message = f"this failed: {type(error).__name__}: {error}"
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    def _name(self) -> str:
        """Return what is asked for, once the request is from the page."""
        hosts = {f"{name}:{self.server.server_port}" for name in (_HOST, "localhost")}
        host = self._header("Host")
        if host not in hosts:  # a name of elsewhere that leads here
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Host is not this machine's")
        token, slash, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()) or not slash:
            raise self._without_token(token)
        self.server.let_in(self.connection)
        if self.command == "POST" and self._header("Origin") != f"http://{host}":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Origin is not this page")
        return name

    def _without_token(self, other: str) -> _RefusedError:
        """Return what is told of a request without the token; it may lead on to the page."""
        uses = self.server.uses(other)
        if uses == 0:
            return _RefusedError(HTTPStatus.FORBIDDEN, "the address has no valid token")
        if uses == 1:
            page = f"/{self.server.token}/"
            return _RefusedError(HTTPStatus.SEE_OTHER, "the page is elsewhere", Location=page)
        message = (
            "this address was used before; open the one that fuzzydict printed. If the page never "
            "opened, another user of this machine may have it: end fuzzydict with Ctrl-C"
        )
        return _RefusedError(HTTPStatus.FORBIDDEN, message)

    def check_awaited(self) -> None:
        """Raise `ConnectionAbortedError` if the client is gone, and nobody waits for an answer."""
        self.connection.settimeout(0)
        try:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError("the client is gone")
        except BlockingIOError:  # it waits in silence
            pass
        finally:
            self.connection.settimeout(self.timeout)

    # ---- what is asked --------------------------------------------------------------------

    def _told(self, name: str, given: dict[str, str]) -> dict[str, Any] | bytes:
        """Return what a request gets: an object, or the bytes of a file."""
        route = _ROUTES.get(name)
        if self.command == "GET" and route is None:
            files = {path.name: path for path in _PAGE.iterdir() if path.suffix in _KINDS}
            if path := files.get(name or "page.html"):
                return path.read_bytes()
        if route is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")
        method = "POST" if route.most else "GET"
        if self.command != method:
            message = f"{name} is asked for by {method}"
            raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, message, Allow=method)
        return route.answer(Asked(self, given, self._body(route) if route.most else b""))

    def _parameters(self) -> dict[str, str]:
        text = self.path.partition("?")[2]
        try:
            given = parse_qsl(text, keep_blank_values=True, max_num_fields=_PARAMETERS)
        except ValueError:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "too many parameters") from None
        if len(dict(given)) < len(given):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "a parameter comes twice")
        return dict(given)

    def _header(self, name: str) -> str | None:
        """Return a header that came once, or None."""
        found = self.headers.get_all(name, [])
        return found[0] if len(found) == 1 else None

    def _body(self, route: Route) -> bytes:
        """Return the body, once its headers say that it is what it should be."""
        kind = (self._header("Content-Type") or "").partition(";")[0].strip().lower()
        if kind != route.kind:
            message = f"expected the Content-Type {route.kind}"
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

    # ---- what is sent ---------------------------------------------------------------------

    def send_error(self, code: int, message: str | None = None, _: str | None = None) -> None:
        """Send an error of the base class as JSON, too."""
        self._send_error(code, message or HTTPStatus(code).phrase)

    def _send_error(self, code: int, message: str, **headers: str) -> None:
        with suppress(OSError):
            self._send_json({"error": message}, code, **headers)
            # Who is still sending a refused body would not read why before it is read.
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LAST_WAIT)
            left, end = _DISCARDED, monotonic() + _LAST_WAIT
            while left > 0 and monotonic() < end and (data := self.rfile.read1(_SOME)):
                left -= len(data)

    def _send_json(self, told: dict[str, Any], code: int = HTTPStatus.OK, **headers: str) -> None:
        # A lone surrogate, which a key may hold, has no UTF-8.
        self._send(f"{as_json(told)}\n".encode("utf-8", "replace"), _JSON, code, **headers)

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


# ---- what is answered ---------------------------------------------------------------------


class Asked(NamedTuple):
    """A request that was let in: its parameters, and its body."""

    request: _Handler
    given: Mapping[str, str]
    body: bytes

    @property
    def server(self) -> ExploreServer:
        """What is asked."""
        return self.request.server

    def text(self, name: str) -> str:
        """Return a parameter that must be there."""
        if name not in self.given:
            raise OptionError(f"{name}: expected a text, got none")
        return self.given[name]

    def fields(self, *names: str) -> dict[str, Any]:
        """Return the object that the body is, which must have some fields."""
        expected = f"an object with {' and '.join(names)}"
        content = parse_json(decoded(self.body, "the body"), "the body", expected)
        if not isinstance(content, dict) or not set(names) <= content.keys():
            raise OptionError(f"the body: expected {expected}, got {quoted(content)}")
        return content


class Route(NamedTuple):
    """What answers a name; and of which type a body is, and of how many bytes, if it is posted."""

    answer: Callable[[Asked], dict[str, Any] | bytes]
    kind: str = ""
    most: int = 0


def _about(asked: Asked) -> dict[str, Any]:
    server, teaching = asked.server, asked.server.teaching
    saving = {"saves_to": teaching.saves_to, "taught": len(teaching)}
    return {"title": server.title, **server.answers.about(), **saving}


def _answer(asked: Asked) -> dict[str, Any]:
    query, text = asked.text("query"), asked.given.get("temperature")
    try:
        temperature = None if text is None else float(text)
    except ValueError:
        raise OptionError(f"temperature: expected a number, got {quoted(text)}") from None
    told = asked.server.answers.answer(query, temperature)
    return told | {"forget": asked.server.teaching.taught_as(query)}


def _heat(asked: Asked) -> dict[str, Any]:
    fields = asked.fields("queries")
    temperature = fields.get("temperature")
    if isinstance(temperature, bool) or not isinstance(temperature, int | float | None):
        raise OptionError(f"temperature: expected a number or null, got {quoted(temperature)}")
    return asked.server.answers.heat(fields["queries"], temperature)


def _teach(asked: Asked) -> dict[str, Any]:
    fields = asked.fields("query", "key")
    return asked.server.teaching.teach(fields["query"], fields["key"])


def _table(asked: Asked) -> dict[str, Any]:
    with asked.server.uploading:
        asked.request.check_awaited()
        return uploads.table(asked.text("name"), asked.body)


def _column(asked: Asked) -> dict[str, Any]:
    with asked.server.uploading:
        name, wanted = asked.text("name"), asked.given.get("column")
        check = asked.request.check_awaited
        return uploads.column(asked.server.dict, name, asked.body, wanted, check)


_ROUTES = {
    "about": Route(_about),
    "answer": Route(_answer),
    "keys": Route(lambda asked: asked.server.answers.keys_like(asked.given.get("like", ""))),
    "map": Route(lambda asked: asked.server.answers.map()),
    "taught": Route(lambda asked: asked.server.teaching.taught()),
    "heat": Route(_heat, _JSON, _SOME),
    "teach": Route(_teach, _JSON, _FEW),
    "forget": Route(
        lambda asked: asked.server.teaching.forget(asked.fields("query")["query"]), _JSON, _FEW
    ),
    "table": Route(_table, _BYTES, _MANY),
    "column": Route(_column, _BYTES, _MANY),
    "decisions": Route(
        lambda asked: decisions_table(asked.server.dict, asked.fields("decisions")["decisions"]),
        _JSON,
        _MANY,
    ),
}
