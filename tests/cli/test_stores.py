"""DICT as the address of a store: `push`, and the commands that read; no password is ever shown."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, ReadOnlyError, RemoteDict, StoreError
from fuzzydict.embedding.projections import Projections
from fuzzydict.stores import remote
from fuzzydict.stores.base import Row
from tests.support.memory_store import MemoryStore
from tests.support.postgres import server

main: click.Command = import_module("fuzzydict.cli").main
URL = "postgresql://anna:s3cret@host/db?table=keys"
PLACE = "postgresql://host/db?table=keys"


CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": {"amount": 109000}}


def run(*arguments: str | Path, lines: str | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), input=lines)


@pytest.fixture
def car(tmp_path: Path) -> Path:
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
        [URL],
        ["lookup", f"--{URL}", "car.json"],
        ["lookup", "car.json", "-n", URL],
        ["lookup", "car.json", "--scorer", URL],
        ["lookup", "car.json", "--embedding", URL],
        ["lookup", URL, "--format", "json", "query"],
        ["lookup", URL.replace("s3cret", "s3cret" * 50), "-x"],
        ["explain", URL],
        ["attend", URL, "query"],
        ["attend", "car.json", URL, URL],
        ["map", URL, URL, "--column", "a"],
        ["map", URL, "table.csv", "--column", "a", "-o", URL],
        ["join", URL, URL, "--on", "a"],
        ["fit", URL, URL, "-o", "d.fuzzydict"],
        ["explore", URL],
        ["push", URL, URL],
        ["push", "car.json", URL, URL],
        ["push", "car.json", URL.removeprefix("postgresql://")],
        ["push", "car.json", URL, "postgresql://host/db?password=s3cret"],
        ["push", "car.json", URL, "qdrant://host/keys?https=0&api_key=s3cret"],
        ["push", "car.json", f" {URL}"],
        ["push", "car.json", "mysql://anna:s3cret@host/db"],
        ["lookup", "http://anna:s3cret@host/x", "colour"],
        ["evaluate", URL],
        ["train", "--corpus", URL],
    ],
)
def test_a_wrong_line_is_one_error_that_shows_no_password(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "s3cret" not in result.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--format", "json"),
        ("--key", "name"),
        ("--value", "code"),
        ("--sheet", "one"),
        ("--delimiter", ";"),
        ("--encoding", "utf-8"),
    ],
)
def test_options_of_files_are_refused(option: str, value: str) -> None:
    result = run("lookup", URL, option, value, "query")
    assert result.exit_code == 2
    assert f"Error: {option} is for a file; DICT is a store, so leave it out" in result.stderr


def test_of_a_table_and_a_store_those_of_the_table_stay() -> None:
    result = run("map", URL, "table.csv", "--column", "a", "--dict-sheet", "one", "--sheet", "two")
    assert "Error: --dict-sheet is for a file" in result.stderr


def test_a_file_may_have_any_name_but_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a:").mkdir()
    (tmp_path / "a:" / "b.json").write_text('{"color": "black"}')
    monkeypatch.chdir(tmp_path)
    assert run("lookup", "a:/b.json", "colour").stdout == "black\n"
    assert run("lookup", "./a://b.json", "colour").stdout == "black\n"


# ---- push -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("store")
def test_a_dict_is_pushed_and_what_is_there_stays_but_for_equal_keys(
    car: Path, tmp_path: Path
) -> None:
    (tmp_path / "one.json").write_text('{"color": "red"}')
    (tmp_path / "two.json").write_text('{"color": "white", "doors": 4}')
    place = ": postgresql://host/db?table=keys\n"
    for path, told in (("one.json", "1 key"), (car, "4 keys"), ("two.json", "5 keys")):
        for _ in range(2):
            result = run("push", tmp_path / path, URL)
            assert (result.exit_code, result.stdout, result.stderr) == (0, told + place, "")
    assert dict(remote.connect(URL)) == CAR | {"color": "white", "doors": 4}
    assert remote.connect(URL)["colour"] == "white"


@pytest.mark.usefixtures("store")
def test_aliases_are_pushed_with_a_saved_dict(tmp_path: Path) -> None:
    d: FuzzyDict[Any] = FuzzyDict(CAR)
    d.aliases = {"what it costs": "price", "wheels": None}
    d.save(tmp_path / "car.fuzzydict")
    assert run("push", tmp_path / "car.fuzzydict", URL).exit_code == 0
    pushed = remote.connect(URL)
    assert dict(pushed.aliases) == {"what it costs": "price", "wheels": None}
    assert pushed["What it costs"] == {"amount": 109000}


@pytest.mark.usefixtures("store")
def test_synonyms_are_pushed_and_hold_for_all_that_read(tmp_path: Path, car: Path) -> None:
    (tmp_path / "words.csv").write_text("Vmax,top speed\nLtd,\n")
    assert run("push", car, URL, "--synonyms", tmp_path / "words.csv").exit_code == 0
    assert run("push", car, URL, "--synonyms", tmp_path / "words.csv").exit_code == 0
    assert run("lookup", URL, "vmax", "brnd Ltd").stdout == "260\nPorsche\n"
    pushed = remote.connect(URL)
    assert pushed.synonyms == {"Vmax": "top speed", "Ltd": ""}
    pushed["Vmax of the car"] = 250
    assert pushed["top speed of a car"] == 250
    with pytest.raises(ReadOnlyError, match="synonyms: "):
        pushed.synonyms = {}
    with pytest.raises(ReadOnlyError, match="synonyms: "):
        pushed.synonyms["a"] = "b"
    (tmp_path / "words.csv").write_text("a,b\n")
    result = run("push", car, URL, "--synonyms", tmp_path / "words.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has keys that were written with others" in result.stderr
    assert (
        "give them to `fuzzydict push`"
        in run("lookup", URL, "vmax", "--synonyms", tmp_path / "words.csv").stderr
    )


@pytest.mark.usefixtures("store")
def test_what_was_learned_is_pushed_with_a_fitted_dict(tmp_path: Path) -> None:
    turned = np.eye(224, dtype=np.float32)[::-1]
    d: FuzzyDict[Any] = FuzzyDict(CAR, projections=Projections(query=turned))
    d.save(tmp_path / "car.fuzzydict")
    for _ in range(2):
        assert run("push", tmp_path / "car.fuzzydict", URL).stdout.startswith("4 keys: ")
    pushed = remote.connect(URL)
    for query in ("colour", "maximum speed", "cost"):
        mine, its = d.most_similar(query, 4), pushed.most_similar(query, 4)
        assert [one.key for one in its] == [one.key for one in mine]
        assert [m.score for m in its] == pytest.approx([m.score for m in mine], abs=1e-3)
    (tmp_path / "other.json").write_text('{"doors": 4}')
    assert run("push", tmp_path / "other.json", URL).stdout.startswith("5 keys: ")
    FuzzyDict(CAR, projections=Projections(query=turned * 2)).save(tmp_path / "two.fuzzydict")
    result = run("push", tmp_path / "two.fuzzydict", URL)
    assert (result.exit_code, result.stderr[:17]) == (2, "Error: embedding:")


@pytest.mark.usefixtures("store")
def test_any_file_of_a_dict_is_pushed(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("name;code\nFrance;FR\nItaly;IT\n")
    options = ["--key", "name", "--value", "code", "--delimiter", ";"]
    assert run("push", tmp_path / "table.csv", URL, *options).exit_code == 0
    assert dict(remote.connect(URL)) == {"France": "FR", "Italy": "IT"}


@pytest.mark.usefixtures("store")
def test_the_vectors_are_those_that_are_named(car: Path) -> None:
    assert run("push", car, URL, "--embedding", "english").exit_code == 0
    assert remote.connect(URL, embedding="english")["colour"] == "black"
    result = run("push", car, URL)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert run("lookup", URL, "colour", "--embedding", "english").stdout == "black\n"
    assert run("lookup", URL, "colour").exit_code == 2


@pytest.mark.usefixtures("store")
def test_an_index_that_cannot_be_built_is_a_warning_with_the_command_to_build_it(
    car: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("push", car, URL, "--index").stderr == ""
    monkeypatch.setattr(MemoryStore, "build_index", lambda store: f"{store.place}: no room")
    result = run("push", car, URL, "--index")
    assert (result.exit_code, result.stdout[:8]) == (0, "4 keys: ")
    assert result.stderr.startswith(f"Warning: {PLACE}: no room; build one by `fuzzydict push --in")


def test_a_push_that_broke_can_be_run_again(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"key {i}": i for i in range(25)}
    monkeypatch.setattr(remote, "_TOGETHER", 10)
    (tmp_path / "many.json").write_text(json.dumps(many))
    write = store.write

    def breaking(rows: list[Row]) -> None:
        if store.count():
            raise StoreError(f"{store.place}: the connection was closed")
        write(rows)

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", breaking)
        result = run("push", tmp_path / "many.json", URL)
    assert result.exit_code == 2
    assert result.stderr == f"Error: {store.place}: the connection was closed\n"
    assert store.count() == 10
    assert run("push", tmp_path / "many.json", URL).stdout.startswith("25 keys: ")
    assert dict(remote.connect(URL)) == many


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"color": NaN}', "'color'"),
        ('{"color": "a\\u0000b"}', "'color'"),
        ('{"col\\u0000or": 1}', "'col\\x00or'"),
        ('{"color": [1e400]}', "'color'"),
    ],
)
def test_what_no_store_can_hold_is_one_error(
    store: MemoryStore, tmp_path: Path, content: str, told: str
) -> None:
    (tmp_path / "odd.json").write_text(content)
    result = run("push", tmp_path / "odd.json", URL)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr
    assert store.meta() is None or store.count() == 0


# ---- reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [[], ["-v"], ["--json"], ["-n", "3"], ["--score-cutoff", "0"], ["--scorer", "cosine"]],
)
@pytest.mark.usefixtures("pushed")
def test_lookup_answers_as_from_the_file(car: Path, options: list[str]) -> None:
    queries = ["colour", "color", "TopSpeed", "cost", "qwzzt"]
    of_file, of_store = (run("lookup", place, *queries, *options) for place in (car, URL))
    assert of_store.exit_code == of_file.exit_code
    assert Printed(of_store.stdout) == Printed(of_file.stdout)
    assert Printed(of_store.stderr) == Printed(of_file.stderr)
    assert run("lookup", URL, lines="colour\nqwzzt\n").stdout == "black\n\n"


class Printed(str):
    """A text that equals another whose numbers are nearly the same: a store has 16 bits of each."""

    _NUMBER = re.compile(r"-?\d+\.\d+(?:e-\d+)?")

    def __eq__(self, other: object) -> bool:
        texts = [self._NUMBER.split(str(one)) for one in (self, other)]
        numbers = [[*map(float, self._NUMBER.findall(str(one)))] for one in (self, other)]
        return texts[0] == texts[1] and numbers[0] == pytest.approx(numbers[1], abs=0.02)

    __hash__ = str.__hash__


@pytest.mark.usefixtures("pushed")
def test_explain_explains_as_from_the_file(car: Path) -> None:
    of_file, of_store = (run("explain", place, "colour", "qwzzt") for place in (car, URL))
    assert of_store.exit_code == of_file.exit_code == 1
    assert Printed(of_store.stdout) == Printed(of_file.stdout)


@pytest.mark.usefixtures("pushed")
def test_map_matches_as_from_the_file(car: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,field\n1,colour\n2,brnd\n3,n/a\n4,qwzzt\n5,price\n6,colour\n")
    review = tmp_path / "review.csv"
    outputs = []
    for place in (car, URL):
        result = run("map", place, table, "--column", "field", "--review", review)
        outputs.append((result.exit_code, Printed(result.stdout), result.stderr))
        decided = review.read_text().replace("?", "")
        review.write_text(decided.replace("qwzzt,1,,,", "qwzzt,1,,,brand"))
        result = run("map", place, table, "--column", "field", "--review", review)
        outputs.append((result.exit_code, Printed(result.stdout), result.stderr))
        review.unlink()
    assert outputs[:2] == outputs[2:]
    assert "1,colour,color,black," in outputs[0][1]


def test_map_asks_a_store_seldom(
    pushed: RemoteDict, store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [f"colour {i}" for i in range(60)]
    (tmp_path / "table.csv").write_text("field\n" + "\n".join(cells))
    pushed.aliases.update({f"alias {i}": "color" for i in range(100)})
    calls: list[str] = []
    for name in ("rows", "search", "aliases", "pages"):
        call = getattr(store, name)

        def counted(*args: Any, call: Any = call, name: str = name, **kwargs: Any) -> Any:
            calls.append(name)
            return call(*args, **kwargs)

        monkeypatch.setattr(store, name, counted)
    run("map", URL, tmp_path / "table.csv", "--column", "field", "-o", tmp_path / "out.csv")
    assert "pages" not in calls
    assert len(calls) < 20


@pytest.mark.usefixtures("store")
def test_a_cell_that_a_key_says_is_not_blank(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"NA": "Namibia", "None": 0, "color": 1}')
    run("push", tmp_path / "d.json", URL)
    table = tmp_path / "table.csv"
    table.write_text("field\nna\nNA\nnone\nn/a\nnull\n")
    of_file, of_store = (
        run("map", place, table, "--column", "field") for place in (tmp_path / "d.json", URL)
    )
    assert Printed(of_store.stdout) == Printed(of_file.stdout)
    assert of_store.stderr == of_file.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["lookup", URL, "colour"],
        ["lookup", URL],
        ["explain", URL, "colour"],
        ["map", URL, "table.csv", "--column", "a"],
    ],
)
def test_a_store_in_which_nothing_was_created_is_one_error(
    store: MemoryStore, arguments: list[str]
) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {store.place}")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("pushed")
def test_the_connection_is_closed_in_the_end(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(store, "close", lambda: closed.append(True))
    for arguments in (["lookup", URL, "colour"], ["lookup", URL, "qwzzt"], ["explain", URL, "a"]):
        run(*arguments)
        assert closed
        closed.clear()


# ---- a real server --------------------------------------------------------------------------


@pytest.mark.more
def test_a_table_of_postgresql_is_pushed_and_read(car: Path, tmp_path: Path) -> None:
    url = server().url(table="cars of 'the' command line")
    assert run("push", car, url).stdout.startswith("4 keys: postgresql://")
    assert run("push", car, url, "--index").stdout.startswith("4 keys: postgresql://")
    assert run("lookup", url, "colour", "TopSpeed").stdout == "black\n260\n"
    assert run("explain", url, "colour").exit_code == 0
    (tmp_path / "table.csv").write_text("field\ncolour\nqwzzt\n\n")
    mapped = run("map", url, tmp_path / "table.csv", "--column", "field")
    assert mapped.exit_code == 0
    assert [line.split(",")[:3] for line in mapped.stdout.splitlines()[1:3]] == [
        ["colour", "color", "black"],
        ["qwzzt", "", ""],
    ]
    nothing = run("lookup", server().url(table="nothing"), "colour")
    assert nothing.exit_code == 2
    assert "no keys were written there" in nothing.stderr


@pytest.mark.more
def test_a_push_is_run_again_after_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, many = server(), {f"key {i}": i for i in range(25)}
    from fuzzydict.stores.postgres import PostgresStore

    url, write = database.url(table="killed"), PostgresStore.write
    (tmp_path / "many.json").write_text(json.dumps(many))
    monkeypatch.setattr(remote, "_TOGETHER", 10)

    def killed(store: PostgresStore, rows: list[Row]) -> None:
        write(store, rows)
        database.kill()

    with monkeypatch.context() as patch:
        patch.setattr(PostgresStore, "write", killed)
        broken = run("push", tmp_path / "many.json", url)
    database.start()
    assert broken.exit_code == 2
    assert broken.stderr.startswith("Error: postgresql://")
    assert len(broken.stderr.splitlines()) == 1
    assert len(remote.connect(url)) == 10
    assert run("push", tmp_path / "many.json", url).stdout.startswith("25 keys: ")
    assert dict(remote.connect(url)) == many


@pytest.mark.more
@pytest.mark.parametrize("where", ["no role", "no server", "no parameter", "no escapes"])
def test_what_a_server_refuses_is_one_error_without_the_password(car: Path, where: str) -> None:
    url = {
        "no role": server().url(user="anna:s3cret"),
        "no server": "postgresql://anna:s3cret@127.0.0.1:1/db?table=x",
        "no parameter": "postgresql://anna:s3cret@127.0.0.1/db?tabel=x",
        "no escapes": "postgresql://anna:s3cret@/#?[@127.0.0.1/db",
    }[where]
    for arguments in (["lookup", url, "colour"], ["push", car, url]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert "s3cret" not in result.stderr
