"""The page that asks a dict, over real requests: who is let in, and what is answered."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

import fuzzydict
from fuzzydict import FuzzyDict, OptionError
from fuzzydict.io.explore.answers import LONGEST_QUERY, Answers
from fuzzydict.io.explore.reasons import reasons
from fuzzydict.io.explore.server import ExploreServer
from fuzzydict.nn.softmax import softmax

PAGE = Path(str(fuzzydict.__file__)).parent / "io" / "explore" / "page"
COLORS = {"red": (255, 0, 0), "navy": (0, 0, 128), "sea green": (46, 139, 87)}
HOSTILE = "<script>alert(1)</script>"


@contextmanager
def serving(d: FuzzyDict[Any], title: str = "a dict") -> Iterator[ExploreServer]:
    with ExploreServer(d, title=title) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[ExploreServer]:
    with serving(FuzzyDict(COLORS), "<i>colours</i>") as running:
        yield running


def request(
    server: ExploreServer, path: str, method: str = "GET", headers: Mapping[str, str] | None = None
) -> tuple[HTTPResponse, str]:
    """Ask for an absolute path, or one below the page's address."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    full = path if path.startswith("/") else f"{urlsplit(server.url).path}{path}"
    connection.request(method, full, headers=headers or {})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response, body


def asked(server: ExploreServer, **parameters: Any) -> Any:
    response, body = request(server, f"answer?{urlencode(parameters)}")
    assert response.status == 200, body
    return json.loads(body)


# ---- what is answered ---------------------------------------------------------------------


@pytest.mark.parametrize("query", ["navvy", "see green", "red", "a dark sea"])
def test_the_answer_is_that_of_the_dict(server: ExploreServer, query: str) -> None:
    told, d = asked(server, query=query), FuzzyDict(COLORS)
    attention = d.attend(query)
    assert [row["key"] for row in told["keys"]] == [key for key, _, _ in d.most_similar(query)]
    for row, (key, value, score) in zip(told["keys"], d.most_similar(query), strict=True):
        assert row["value"] == str(list(value))
        assert row["score"] == pytest.approx(score)
        assert row["weight"] == pytest.approx(attention.weights[attention.names.index(key)])
    explanation = d.explain(query)
    assert told["verdict"] == str(explanation).partition("\n")[0]
    assert told["why"].splitlines() == reasons(explanation)
    assert told["matches"] == d.explain(query).matches
    assert json.loads(told["pooled"]["text"]) == pytest.approx(attention.output.tolist(), abs=1e-3)


def test_a_temperature_is_for_one_request(server: ExploreServer) -> None:
    before = asked(server, query="navy")
    told = asked(server, query="navy", temperature=50)
    attention = FuzzyDict(COLORS).attend("navy")
    weights = softmax(attention.scores.astype(float), 50)
    by_key = dict(zip(attention.names, weights.tolist(), strict=True))
    assert {row["key"]: row["weight"] for row in told["keys"]} == pytest.approx(by_key)
    output = replace(attention, weights=weights).output
    assert json.loads(told["pooled"]["text"]) == pytest.approx(output.tolist(), abs=1e-3)
    assert asked(server, query="navy") == before


def test_the_page_is_told_of_the_dict() -> None:
    for scorer, temperature in ((None, 1.0), ("cosine", 0.05)):
        with serving(FuzzyDict(COLORS, scorer=scorer), "mine") as server:
            about = json.loads(request(server, "about")[1])
        assert about == {
            "title": "mine",
            "keys": 3,
            "temperature": temperature,
            "cutoff": 0.5 if scorer is None else None,
            "mode": "nearest",
            "scorer": scorer or "spelling and meaning",
            "embedding": "Brown",
            "values": "colors",
            "sample": list(COLORS),
            "saves_to": None,
            "taught": 0,
        }


def test_values_that_cannot_be_pooled_are_told_of() -> None:
    mixed = Answers(FuzzyDict({"doors": 4, "color": "black"})).answer("colour")
    assert mixed["pooled"] is None
    assert "the value of 'color' cannot be pooled" in mixed["not_pooled"]
    texts = Answers(FuzzyDict({"brand": "Porsche", "color": "black"})).answer("colour")
    assert texts["pooled"] is None
    assert "the values are texts" in texts["not_pooled"]


@pytest.mark.parametrize("query", ["", "?!", "  "])
def test_a_query_of_nothing_to_compare_has_a_verdict(server: ExploreServer, query: str) -> None:
    told = asked(server, query=query)
    assert "no letters or digits" in told["verdict"]
    assert (told["matches"], told["keys"]) == (False, [])


def test_a_key_of_no_letters_is_found_if_it_is_equal() -> None:
    told = Answers(FuzzyDict({"?!": 1, "red": 2})).answer("?!")
    assert told["matches"]
    assert "is a key" in told["verdict"]


def test_no_more_than_some_keys_are_listed_and_the_others_counted() -> None:
    told = Answers(FuzzyDict({f"{word} sea": 1 for word in "abcdefghijklmnopqrst"})).answer("sea")
    assert len(told["keys"]) + told["others"] == 20
    assert told["others"] > 0


def test_scores_that_json_has_no_numbers_for_are_null() -> None:
    d = FuzzyDict({"a": 1, "b": 2}, embedding={"a": [1, 0], "b": [0, 1]}, scorer="cosine")
    d.scorer = fuzzydict.Boxcar(0.5)
    with serving(d) as server:
        scores = {row["key"]: row["score"] for row in asked(server, query="a")["keys"]}
    assert scores == {"a": 0.0, "b": None}


# ---- who is let in ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 403),
        ("/favicon.ico", 403),
        ("/wrong/", 403),
        ("/wrong/answer?query=red", 403),
        ("/é", 403),
        ("page.py", 404),
        ("../explore.py", 404),
        ("%2e%2e/explore.py", 404),
        ("page.css/", 404),
        ("answer", 400),
        (f"answer?query={'a' * (LONGEST_QUERY + 1)}", 400),
        (f"answer?query={'a' * 70_000}", 414),
        ("answer?query=red&temperature=warm", 400),
        ("answer?query=red&temperature=0", 400),
        ("answer?query=red&temperature=nan", 400),
    ],
)
def test_what_is_refused_is_a_line_of_json(server: ExploreServer, path: str, status: int) -> None:
    response, body = request(server, path.replace("é", "%C3%A9"))
    assert response.status == status
    assert response.headers["Content-Type"].startswith("application/json")
    assert body.count("\n") == 1
    assert list(json.loads(body)) == ["error"]


def test_a_query_as_long_as_can_be_is_answered(server: ExploreServer) -> None:
    assert asked(server, query="é" * LONGEST_QUERY)["verdict"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "evil.example:{port}", ""])
def test_another_host_is_refused(server: ExploreServer, host: str) -> None:
    named = {"Host": host.format(port=server.server_port)}
    assert request(server, "", headers=named)[0].status == 403
    assert request(server, "answer?query=red", headers=named)[0].status == 403
    local = {"Host": f"localhost:{server.server_port}"}
    assert request(server, "", headers=local)[0].status == 200


def test_other_methods_are_refused(server: ExploreServer) -> None:
    for method, status in (("POST", 403), ("PUT", 501), ("OPTIONS", 501), ("DELETE", 501)):
        response, body = request(server, "answer?query=red", method=method)
        assert (response.status, list(json.loads(body))) == (status, ["error"])


def test_the_server_is_of_this_machine_and_each_has_a_token_of_its_own() -> None:
    with ExploreServer(FuzzyDict()) as one, ExploreServer(FuzzyDict()) as other:
        assert one.server_address[0] == "127.0.0.1"
        assert one.token != other.token
        assert len(one.token) > 20


# ---- what a browser is given --------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "page.css", "page.js", "about", "answer?query=red", "/"])
def test_every_response_forbids_what_comes_from_elsewhere(server: ExploreServer, path: str) -> None:
    headers = request(server, path)[0].headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
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
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")  # a name
        assert not re.search(r"https?:|[\"'(]//|@import|url\(", text), path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert set(re.findall(r' from "\./([^"]*)"', text)) <= own
        assert all(f'id="{name}"' in page for name in re.findall(r'byId\("([\w-]+)"\)', text))


def test_hostile_keys_and_values_come_as_json_alone() -> None:
    with serving(FuzzyDict({HOSTILE: HOSTILE, "\ud800 red": 2}), title=HOSTILE) as server:
        assert HOSTILE not in request(server, "")[1]
        for path in ("about", f"answer?{urlencode({'query': 'script alert'})}"):
            response, body = request(server, path)
            assert response.headers["Content-Type"].startswith("application/json")
            assert HOSTILE in str(json.loads(body))


@pytest.mark.parametrize("temperature", [0, -1, float("inf"), float("nan")])
def test_a_temperature_that_is_not_above_zero_is_refused(temperature: float) -> None:
    with pytest.raises(OptionError, match="temperature"):
        Answers(FuzzyDict(COLORS)).answer("red", temperature)
