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


class Posted(NamedTuple):
    """What may be posted to a name: of which type, how many bytes, and what answers it."""

    kind: str
    most: int
    answer: Callable[[_Handler, bytes, Mapping[str, str]], dict[str, Any] | bytes]


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
        self._for_once, self._used = secrets.token_urlsafe(16), 0
        return self.url.replace(self.token, self._for_once)

    def uses(self, token: str) -> int:
        """Count a use of the address for once, and return how many there were; 0 for another."""
        if not secrets.compare_digest(token.encode(), self._for_once.encode()):
            return 0
        with self._lock:
            self._used += 1
            return self._used

    def about(self) -> dict[str, Any]:
        """Return what the page shows before the first query."""
        saving = {"saves_to": self.teaching.saves_to, "taught": len(self.teaching)}
        return {"title": self.title, **self.answers.about(), **saving}

    def server_close(self) -> None:
        """Serve no more, once what is being saved is saved."""
        super().server_close()
        self.teaching.close()

    # ---- connections ----------------------------------------------------------------------

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
                del self._open[oldest]
        if oldest is not None:
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def let_in(self, request: Any) -> None:
        """Keep a connection whose request has the token, however many others come."""
        with self._lock:
            self._open.pop(request, None)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing of a client that is gone: the terminal is the command's."""


# ---- what is answered ---------------------------------------------------------------------


def _answer(server: ExploreServer, given: Mapping[str, str]) -> dict[str, Any]:
    query = _given(given, "query")
    told = server.answers.answer(query, _number(given.get("temperature")))
    return told | {"forget": server.teaching.taught_as(query)}


_GET: Mapping[str, Callable[[ExploreServer, Mapping[str, str]], dict[str, Any]]] = {
    "about": lambda server, _: server.about(),
    "answer": _answer,
    "keys": lambda server, given: server.answers.keys_like(given.get("like", "")),
    "map": lambda server, _: server.answers.map(),
    "taught": lambda server, _: server.teaching.taught(),
}


def _heat(request: _Handler, body: bytes, _: Mapping[str, str]) -> dict[str, Any]:
    asked = _object(body, "queries")
    temperature = asked.get("temperature")
    if isinstance(temperature, bool) or not isinstance(temperature, int | float | None):
        raise OptionError(f"temperature: expected a number or null, got {quoted(temperature)}")
    return request.server.answers.heat(asked["queries"], temperature)


def _teach(request: _Handler, body: bytes, _: Mapping[str, str]) -> dict[str, Any]:
    asked = _object(body, "query", "key")
    return request.server.teaching.teach(asked["query"], asked["key"])


def _forget(request: _Handler, body: bytes, _: Mapping[str, str]) -> dict[str, Any]:
    return request.server.teaching.forget(_object(body, "query")["query"])


def _table(request: _Handler, body: bytes, given: Mapping[str, str]) -> dict[str, Any]:
    with request.server.uploading:
        request.check_awaited()
        return uploads.table(_given(given, "name"), body)


def _column(request: _Handler, body: bytes, given: Mapping[str, str]) -> dict[str, Any]:
    with request.server.uploading:
        name, column, check = _given(given, "name"), given.get("column"), request.check_awaited
        return uploads.column(request.server.dict, name, body, column, check)


def _decisions(request: _Handler, body: bytes, _: Mapping[str, str]) -> bytes:
    return decisions_table(request.server.dict, _object(body, "decisions")["decisions"])


_POST = {
    "heat": Posted(_JSON, _SOME, _heat),
    "teach": Posted(_JSON, _FEW, _teach),
    "forget": Posted(_JSON, _FEW, _forget),
    "table": Posted(_BYTES, _MANY, _table),
    "column": Posted(_BYTES, _MANY, _column),
    "decisions": Posted(_JSON, _MANY, _decisions),
}


def _given(given: Mapping[str, str], name: str) -> str:
    if name not in given:
        raise OptionError(f"{name}: expected a text, got none")
    return given[name]


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise OptionError(f"temperature: expected a number, got {quoted(text)}") from None


def _object(body: bytes, *names: str) -> dict[str, Any]:
    """Return the object that a body is, which must have some fields."""
    expected = f"an object with {' and '.join(names)}"
    content = parse_json(decoded(body, "the body"), "the body", expected)
    if not isinstance(content, dict) or not set(names) <= content.keys():
        raise OptionError(f"the body: expected {expected}, got {quoted(content)}")
    return content


# ---- who is let in ------------------------------------------------------------------------


class _RefusedError(Exception):
    """A request is refused; its message says why."""

    def __init__(self, code: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.code, self.headers = code, headers


class _Handler(BaseHTTPRequestHandler):
    """A request. Each has a connection of its own, so that nothing after it is read as another."""

    server: ExploreServer
    server_version, sys_version = "fuzzydict", ""
    timeout = _PATIENCE
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._respond(self._get)

    def do_POST(self) -> None:
        self._respond(self._post)

    def _respond(self, respond: Callable[[str, dict[str, str]], None]) -> None:
        """Answer a request, or tell why not as JSON."""
        try:
            respond(self._name(), self._parameters())
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
        if self._header("Host") not in hosts:  # a name of elsewhere that leads here
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Host is not this machine's")
        token, slash, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()) or not slash:
            raise self._without_token(token)
        self.server.let_in(self.connection)
        return name

    def _without_token(self, other: str) -> _RefusedError:
        """Return what is told of a request without the token; it may lead on to the page."""
        match self.server.uses(other):
            case 0:
                return _RefusedError(HTTPStatus.FORBIDDEN, "the address has no valid token")
            case 1:
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

    def _parameters(self) -> dict[str, str]:
        text = self.path.partition("?")[2]
        try:
            given = parse_qsl(text, keep_blank_values=True, max_num_fields=_PARAMETERS)
        except ValueError:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "too many parameters") from None
        if len(dict(given)) < len(given):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "a parameter comes twice")
        return dict(given)

    def _get(self, name: str, given: dict[str, str]) -> None:
        files = {path.name: path for path in _PAGE.iterdir() if path.suffix in _KINDS}
        path = files.get(name or "page.html")
        if path is not None:
            self._send(path.read_bytes(), _KINDS[path.suffix])
        elif name in _GET:
            self._send_json(_GET[name](self.server, given))
        else:
            raise self._not_found(name, _POST, "POST")

    def _post(self, name: str, given: dict[str, str]) -> None:
        if self._header("Origin") != f"http://{self.headers['Host']}":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the Origin is not this page")
        if name not in _POST:
            raise self._not_found(name, _GET, "GET")
        posted = _POST[name]
        told = posted.answer(self, self._body(posted), given)
        if isinstance(told, bytes):
            self._send(told, _CSV)
        else:
            self._send_json(told)

    def _not_found(self, name: str, others: Mapping[str, Any], method: str) -> _RefusedError:
        if name in others:
            message = f"{name} is asked for by {method}"
            return _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, message, Allow=method)
        return _RefusedError(HTTPStatus.NOT_FOUND, "there is no such page")

    def _header(self, name: str) -> str | None:
        """Return a header that came once, or None."""
        found = self.headers.get_all(name, [])
        return found[0] if len(found) == 1 else None

    def _body(self, posted: Posted) -> bytes:
        """Return the body, once its headers say that it is what it should be."""
        kind = (self._header("Content-Type") or "").partition(";")[0].strip().lower()
        if kind != posted.kind:
            message = f"expected the Content-Type {posted.kind}"
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        length = self._header("Content-Length") or ""
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected one Content-Length")
        if len(length) > 12 or int(length) > posted.most:
            message = f"expected at most {posted.most:,} bytes, got {length[:12]}"
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
            self._discard()

    def _discard(self) -> None:
        """Read what is left of a refused body: who is still sending it would not read why."""
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
