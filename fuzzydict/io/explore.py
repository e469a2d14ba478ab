"""A page on this machine that asks a dict: nearest keys, reasons, weights and the pooled value."""

from __future__ import annotations

import secrets
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import numpy as np

from fuzzydict._arrays import positive
from fuzzydict.errors import FuzzyDictError, NoMatchError, OptionError, quoted
from fuzzydict.io.records import as_json, as_line
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.score import as_score
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from fuzzydict.mapping import FuzzyDict
    from fuzzydict.results.answers import Attention


#: Characters of a query; the server refuses a longer one.
LONGEST_QUERY = 500
_HOST = "127.0.0.1"
_SHOWN = 12  # keys
_WIDTH = 300  # characters of a value
_FOLDER = Path(__file__).with_name("explore_page")
_FILES = {
    "": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}
_JSON = "application/json; charset=utf-8"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cache-Control": "no-store",
}


def answer(d: FuzzyDict[Any], query: str, temperature: float | None = None) -> dict[str, Any]:
    """Return what a dict answers to a query, of types that JSON has.

    Args:
        d: the dict.
        query: a text.
        temperature: what scores are divided by before the softmax; None for that of the dict.

    Returns:
        ``verdict`` and ``why`` of ``d.explain``; ``keys``, the nearest ones, each with ``key``,
        ``value``, ``score`` and ``weight``; how many ``others`` there are; ``pooled``, the pooled
        value as a text, or ``not_pooled``, why there is none.

    Raises:
        OptionError: the temperature is not above 0.

    >>> from fuzzydict import FuzzyDict
    >>> told = answer(FuzzyDict({"red": 1.0, "blue": 3.0}), "reed")
    >>> told["matches"], [row["key"] for row in told["keys"]]
    (True, ['red', 'blue'])
    """
    told: dict[str, Any] = {"query": query, "matches": False, "why": "", "keys": []}
    try:
        explanation = d.explain(query)
        told["verdict"], _, told["why"] = str(explanation).partition("\n")
        told["matches"] = explanation.matches
        attention = d.attend(query)
        nearest = d.most_similar(query, topn=_SHOWN)
    except NoMatchError as error:
        return {"verdict": error.message} | told
    if temperature is not None:
        weights = softmax(attention.scores.astype(np.float64), positive("temperature", temperature))
        attention = replace(attention, weights=weights)
    shares = dict(zip(attention.names, attention.weights.tolist(), strict=True))
    keys = [
        {"key": key, "value": _shown(value), "score": score, "weight": shares.get(key, 0.0)}
        for key, value, score in nearest
    ]
    return {**told, "keys": keys, "others": len(shares) - len(keys), **_pooled(attention)}


def _pooled(attention: Attention) -> dict[str, str | None]:
    """Return the pooled value, or why there is none."""
    try:
        output = attention.output
    except FuzzyDictError as error:
        return {"pooled": None, "not_pooled": str(error)}
    if isinstance(attention.values[int(attention.weights.argmax())], str):
        reason = f"the values are texts, whose vectors are pooled: {len(output)} numbers"
        return {"pooled": None, "not_pooled": reason}
    return {"pooled": _shown(np.round(output, 4)), "not_pooled": None}


def _shown(value: Any) -> str:
    return shortened(as_line(value), _WIDTH)


class ExploreServer(ThreadingHTTPServer):
    """Serves the page of a dict on 127.0.0.1, to those who know its address.

    Args:
        d: the dict.
        title: what the page is called.
        port: 0 for one that is free.

    Attributes:
        url: the address, with a random token that every request must have.
    """

    daemon_threads = True

    def __init__(self, d: FuzzyDict[Any], *, title: str = "a dict", port: int = 0) -> None:
        super().__init__((_HOST, port), _Handler)
        self.dict, self.title, self.token = d, title, secrets.token_urlsafe(16)
        self.url = f"http://{_HOST}:{self.server_port}/{self.token}/"

    def about(self) -> dict[str, Any]:
        """Return what the page shows before the first query."""
        temperature = self.dict.temperature or as_score(self.dict.scorer).temperature
        return {"title": self.title, "keys": len(self.dict), "temperature": temperature}


class _Handler(BaseHTTPRequestHandler):
    """A request for a file of the page, or for an answer as JSON."""

    server: ExploreServer
    server_version, sys_version = "fuzzydict", ""
    timeout = 30  # seconds for which a silent client is kept

    def do_GET(self) -> None:
        hosts = {f"{name}:{self.server.server_port}" for name in (_HOST, "localhost")}
        path, _, parameters = self.path.partition("?")
        token, slash, name = path.removeprefix("/").partition("/")
        if self.headers.get("Host") not in hosts:  # a name of elsewhere that leads here
            self.send_error(HTTPStatus.FORBIDDEN, "the Host is not this machine's")
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self.send_error(HTTPStatus.FORBIDDEN, "the address has no valid token")
        elif slash and name in _FILES:
            self._send(_FOLDER.joinpath(name or "page.html").read_bytes(), _FILES[name])
        elif name == "about":
            self._send_json(self.server.about())
        elif name == "answer":
            self._answer(parameters)
        else:
            self.send_error(HTTPStatus.NOT_FOUND, "there is no such page")

    def _answer(self, parameters: str) -> None:
        try:
            query, temperature = _arguments(parameters)
            self._send_json(answer(self.server.dict, query, temperature))
        except FuzzyDictError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))

    def send_error(self, code: int, message: str | None = None, _: str | None = None) -> None:
        """Send an error as a line of JSON, those of the base class too."""
        self.close_connection = True
        self._send_json({"error": message or HTTPStatus(code).phrase}, code)

    def _send_json(self, told: dict[str, Any], code: int = HTTPStatus.OK) -> None:
        # A lone surrogate, which a key may hold, has no UTF-8.
        self._send(f"{as_json(told)}\n".encode("utf-8", "replace"), _JSON, code)

    def _send(self, body: bytes, kind: str, code: int = HTTPStatus.OK) -> None:
        self.send_response(code)
        for name, value in {**_HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing: the terminal is the command's."""


def _arguments(parameters: str) -> tuple[str, float | None]:
    """Return the query and the temperature that an address asks for."""
    given = dict(parse_qsl(parameters, keep_blank_values=True))
    if "query" not in given:
        raise OptionError("query: expected a text, got none")
    query, temperature = given["query"], given.get("temperature")
    if len(query) > LONGEST_QUERY:
        raise OptionError(f"query: {len(query)} characters; shorten it to {LONGEST_QUERY}")
    try:
        return query, None if temperature is None else float(temperature)
    except ValueError:
        raise OptionError(f"temperature: expected a number, got {quoted(temperature)}") from None
