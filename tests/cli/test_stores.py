"""DICT as the address of a store: `push`, and the commands that read; no password is ever shown."""

from __future__ import annotations

import json
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, Matcher, RemoteDict
from fuzzydict.cli import explore
from fuzzydict.embedding.projections import Projections
from fuzzydict.io.explore.server import ExploreServer
from fuzzydict.stores import remote
from tests.support.commands import refused, run
from tests.support.memory_store import MemoryStore
from tests.support.postgres import server

URL = "postgresql://anna:s3cret@host/db?table=keys"
PLACE = "postgresql://host/db?table=keys"
CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": {"amount": 109000}}


@pytest.fixture
def car(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """Return the store that every address leads to; nothing was created in it."""
    store = MemoryStore(PLACE)
    monkeypatch.setattr(remote, "open_store", lambda _: store)
    return store


@pytest.fixture
def pushed(store: MemoryStore, car: Path) -> RemoteDict:
    assert run("push", car, URL).exit_code == 0
    assert store.count() == len(CAR)
    return remote.connect(URL)


# ---- addresses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        "URL",
        "lookup --URL car.json",
        "lookup car.json -n URL",
        "lookup car.json --scorer URL",
        "lookup car.json --embedding URL",
        "lookup URL --format json query",
        "lookup URL" + "s3cret" * 50 + " -x",
        "explain URL",
        "attend URL query --mask color",
        "attend car.json URL URL",
        "map URL URL --column a",
        "map URL table.csv --column a -o URL",
        "join URL URL --on a",
        "fit URL URL -o d.fuzzydict",
        "explore URL --port 80",
        "push URL URL",
        "push car.json URL URL",
        "push car.json anna:s3cret@host/db?table=keys",
        "push car.json URL postgresql://host/db?password=s3cret",
        "push car.json URL qdrant://host/keys?https=0&api_key=s3cret",
        "push car.json mysql://anna:s3cret@host/db",
        "lookup http://anna:s3cret@host/x colour",
        "evaluate URL",
        "train --corpus URL",
    ],
)
def test_a_wrong_line_is_one_error_that_shows_no_password(arguments: str) -> None:
    result = run(*arguments.replace("URL", URL).split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "s3cret" not in result.stderr
    assert "s3cret" not in refused("push", "car.json", f" {URL}")


# ---- push -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("store")
def test_a_dict_is_pushed_and_what_is_there_stays_but_for_equal_keys(car: Path) -> None:
    Path("one.json").write_text('{"color": "red"}')
    Path("two.csv").write_text("name;of\ncolor;white\ndoors;4\n")
    table = ["--key", "name", "--value", "of", "--delimiter", ";"]
    for told, *arguments in (("1 key", "one.json"), ("4 keys", car), ("5 keys", "two.csv", *table)):
        for _ in range(2):
            result = run("push", arguments[0], URL, *arguments[1:])
            assert (result.exit_code, result.output) == (0, f"{told}: {PLACE}\n")
    assert dict(remote.connect(URL)) == CAR | {"color": "white", "doors": "4"}
    assert remote.connect(URL)["colour"] == "white"


@pytest.mark.usefixtures("store")
def test_what_was_taught_and_learned_is_pushed_with_a_saved_dict(tmp_path: Path) -> None:
    turned = np.eye(224, dtype=np.float32)[::-1]
    d: FuzzyDict[Any] = FuzzyDict(CAR, projections=Projections(query=turned))
    d.aliases = {"what it costs": "price", "wheels": None}
    d.save(tmp_path / "car.fuzzydict")
    for _ in range(2):
        assert run("push", tmp_path / "car.fuzzydict", URL).stdout.startswith("4 keys: ")
    pushed = remote.connect(URL)
    assert dict(pushed.aliases) == {"what it costs": "price", "wheels": None}
    mine, its = d.most_similar("colour", 4), pushed.most_similar("colour", 4)
    assert [m.score for m in its] == pytest.approx([m.score for m in mine], abs=1e-3)
    FuzzyDict(CAR, projections=Projections(query=turned * 2)).save(tmp_path / "two.fuzzydict")
    assert refused("push", tmp_path / "two.fuzzydict", URL).startswith("Error: embedding:")


@pytest.mark.usefixtures("store")
def test_synonyms_and_vectors_hold_for_all_that_read(car: Path) -> None:
    Path("words.csv").write_text("Vmax,top speed\nLtd,\n")
    options = ["--synonyms", "words.csv", "--embedding", "english"]
    for _ in range(2):
        assert run("push", car, URL, *options).exit_code == 0
    english = ["--embedding", "english"]
    assert run("lookup", URL, "vmax", "brnd Ltd", *english).stdout == "260\nPorsche\n"
    assert remote.connect(URL, embedding="english").synonyms == {"Vmax": "top speed", "Ltd": ""}
    refused("lookup", URL, "colour")  # by other vectors
    refused("push", car, URL)
    Path("words.csv").write_text("a,b\n")
    assert "has keys that were written with others" in refused("push", car, URL, *options)
    assert "give them to `fuzzydict push`" in refused("lookup", URL, "vmax", *options)


# ---- reads ----------------------------------------------------------------------------------


class Printed(str):
    """A text that equals another whose numbers are nearly the same: a store has 16 bits of each."""

    _NUMBER = re.compile(r"-?\d+\.\d+(?:e-\d+)?")

    def __eq__(self, other: object) -> bool:
        texts = [self._NUMBER.split(str(one)) for one in (self, other)]
        numbers = [[*map(float, self._NUMBER.findall(str(one)))] for one in (self, other)]
        return texts[0] == texts[1] and numbers[0] == pytest.approx(numbers[1], abs=0.02)

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "command",
    [
        *(f"lookup DICT colour color TopSpeed cost qwzzt {option}" for option in ("", "-v")),
        "lookup DICT colour TopSpeed cost qwzzt --json --scorer cosine",
        "lookup DICT colour TopSpeed cost qwzzt -n 3 --score-cutoff 0",
        "explain DICT colour qwzzt",
        "attend DICT colour -n 4",
        "map DICT table.csv --column field --review DICT.csv",
    ],
)
def test_a_command_answers_as_from_the_file(
    pushed: RemoteDict, store: MemoryStore, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    if command.startswith("map"):  # a cell that a key says is not blank
        pushed["NA"] = "Namibia"
        Path("car.json").write_text(json.dumps({**CAR, "NA": "Namibia"}))
    Path("table.csv").write_text("a,field\n1,colour\n2,brnd\n3,n/a\n4,qwzzt\n5,na\n6,colour\n")
    closed, printed = list[bool](), []
    monkeypatch.setattr(store, "close", lambda: closed.append(True))
    for place in ("car.json", URL):
        words = [word.replace("DICT.csv", "review.csv") for word in command.split()]
        for _ in range(2):
            result = run(*(place if word == "DICT" else word for word in words))
            printed.append((result.exit_code, Printed(result.stdout), Printed(result.stderr)))
            if (review := Path("review.csv")).exists():  # is decided, and asked again
                decided = review.read_text().replace("?", "")
                review.write_text(decided.replace("qwzzt,1,,,", "qwzzt,1,,,brand"))
        review.unlink(missing_ok=True)
    assert printed[:2] == printed[2:]
    assert closed


def test_a_store_is_explored_and_stays_as_it_is(
    pushed: RemoteDict, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[ExploreServer] = []
    monkeypatch.setattr(ExploreServer, "serve_forever", lambda self: served.append(self))
    pushed.aliases["hue"] = "color"
    assert run("explore", URL, "--no-browser", "-o", "taught.csv").exit_code == 0
    (page,) = served
    assert (page.title, dict(page.dict), page.dict["hue"]) == (PLACE, CAR, "black")
    page.dict.aliases["make"] = "brand"
    assert dict(pushed.aliases) == {"hue": "color"}
    monkeypatch.setattr(explore, "_MOST", 3)
    assert "has 4 keys, and the page shows 3 at most" in refused("explore", URL)


# ---- a real server --------------------------------------------------------------------------


@pytest.mark.more
def test_several_processes_map_by_a_table_of_postgresql(car: Path) -> None:
    url = server().url(table="cars of several processes")
    assert run("push", car, url).exit_code == 0
    texts = ["colour", "brnd", "qwzzt", *(f"top speed {i}" for i in range(40))]
    Path("table.csv").write_text("\n".join(["field", *texts]) + "\n")
    alone = run("map", url, "table.csv", "--column", "field")
    several = run("map", url, "table.csv", "--column", "field", "--jobs", "2", "-o", "out.csv")
    assert several.exit_code == 0, several.stderr
    assert Path("out.csv").read_text() == alone.stdout
    matcher = Matcher(url)
    assert len(pickle.dumps(matcher)) < 1000
    assert repr(matcher).startswith("Matcher('postgresql://")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(matcher, texts[:3]).result()
    assert [match and match.value for match in found] == ["black", "Porsche", None]
    assert found == matcher(texts[:3])
