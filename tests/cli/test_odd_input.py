"""Every command with every odd input: one line and exit code 2, and nothing left behind."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tests.support.properties import one_process
from tests.support.sources import MODULES, syntax
from tests.support.terminal import HOSTILE, is_only_shown

main: click.Group = import_module("fuzzydict.cli").main
SCRIPT = Path(sys.executable).with_name("fuzzydict")
LONG = "9" * 5000  # more digits than Python turns into a number
CAR = {"color": "black", "top speed": 260}
posix = pytest.mark.skipif(os.name != "posix", reason="files, links and streams are those of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("car.json").write_text(json.dumps(CAR))
    Path("table.csv").write_text("what\ncolour\ntopSpeed\n")
    Path("examples.csv").write_text("query,target\nhue,color\n")
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, arguments)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result


def refused(*arguments: str) -> str:
    """Check that a command ends with code 2, and return its only line."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    *notes, line = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert all(note.startswith("training on ") or ": read with " in note for note in notes)
    assert is_only_shown(result.stderr)
    return line


# ---- files that are read --------------------------------------------------------------------

#: What each command reads, as FILE.
READING = {
    "lookup": "lookup FILE colour",
    "lookup, vectors": "lookup car.json colour --vectors FILE",
    "explain": "explain FILE colour --json",
    "attend": "attend FILE colour",
    "explore": "explore FILE --no-browser",
    "map": "map FILE table.csv --column what",
    "map, table": "map car.json FILE --column what --table-format csv",
    "join": "join table.csv FILE --on what --right-format csv",
    "join, left": "join FILE table.csv --on what --left-format jsonl",
    "map, decisions": "map car.json table.csv --column what --decisions FILE.csv",
    "fit": "fit FILE examples.csv -o out.fuzzydict",
    "fit, examples": "fit car.json FILE.csv -o out.fuzzydict",
    "evaluate": "evaluate FILE --no-peers --no-pairs",
    "train": "train --corpus FILE -o out.vectors",
}


def loop(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)


def of(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


#: What stands in place of FILE.
FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "missing": ("no", lambda _: None),
    "a folder": ("folder", Path.mkdir),
    "in a file": ("car.json/file", lambda _: None),
    "a loop of links": ("loop", loop),
    "too long a name": ("x" * 300, lambda _: None),
    "a hostile name": (HOSTILE.replace("\ud800", "\udcff"), of(b"\0")),
    "no name at all": ("\ud800", lambda _: None),
    "zeros": ("file", of(bytes(1000))),
    "not UTF-8": ("file", of(b'{"a": "\xff\x81"}\n')),
    "deep": ("file", of(b"[" * 100_000)),
    "many digits": ("file", of(b'{"a": -%s}\n' % LONG.encode())),
    "a damaged dict": ("file", of(b"fuzzydct" + b"\1" * 100)),
}
#: One can train on any text.
UNREADABLE = [
    (command, file)
    for command in READING
    for file in FILES
    if command != "train" or file not in ("deep", "many digits")
]


@posix
@pytest.mark.parametrize(("command", "file"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_one_line(folder: Path, command: str, file: str) -> None:
    name, make = FILES[file]
    arguments = [
        name + word[4:] if word[:4] == "FILE" else word for word in READING[command].split()
    ]
    with_ending = next(word for word in arguments if word.startswith(name))
    make(folder / with_ending)
    before = sorted(folder.iterdir())
    refused(*arguments)
    assert sorted(folder.iterdir()) == before


# ---- files that are written -----------------------------------------------------------------

WRITING = {
    "map": "map car.json table.csv --column what -o FILE",
    "map, review": "map car.json table.csv --column what --review FILE.csv --sure 2",
    "join": "join table.csv table.csv --on what -o FILE",
    "fit": "fit car.json examples.csv -o FILE",
    "train": "train --corpus table.csv --min-count 1 -o FILE",
    "attend": "attend car.json colour --plot FILE.html",
    "demo": "demo dictionary --save FILE.svg",
}
PLACES = (
    "missing",
    "a folder",
    "in a file",
    "a loop of links",
    "too long a name",
    "no name at all",
)


@posix
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_cannot_be_written_is_one_line(folder: Path, command: str, place: str) -> None:
    name, make = FILES[place]
    name = "no/file" if place == "missing" else name
    arguments = [
        name + word[4:] if word[:4] == "FILE" else word for word in WRITING[command].split()
    ]
    make(folder / next(word for word in arguments if word.startswith(name)))
    before = sorted(folder.iterdir())
    refused(*arguments)
    assert sorted(folder.iterdir()) == before


# ---- numbers ----------------------------------------------------------------------------------

NUMBERS = ("nan", "inf", "-inf", "1e400", "1e-320", "-1e-320", "0", "-1", LONG, "0x10", "one", "")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:9])
@pytest.mark.parametrize(
    "command",
    [
        "lookup car.json colour --cutoff NUMBER",
        "lookup car.json colour -n NUMBER",
        "explain car.json colour --cutoff NUMBER",
        "attend car.json colour --temperature NUMBER",
        "attend car.json colour --scorer gaussian --temperature NUMBER",
        "attend car.json colour -n NUMBER",
        "map car.json table.csv --column what --sure NUMBER",
        "fit car.json examples.csv -o out.fuzzydict --validation NUMBER",
        "fit car.json examples.csv -o out.fuzzydict --epochs NUMBER",
        "fit car.json examples.csv -o out.fuzzydict --seed NUMBER",
        "train --corpus table.csv -o out.vectors --min-count NUMBER",
    ],
)
@pytest.mark.usefixtures("folder")
def test_any_number_is_taken_or_refused_in_one_line(command: str, number: str) -> None:
    result = run(*[number if word == "NUMBER" else word for word in command.split()])
    assert result.exit_code in (0, 1, 2)
    if result.exit_code == 2:
        assert result.stdout == ""
        assert result.stderr.splitlines()[-1].startswith("Error: ")
        assert "bug" not in result.stderr


# ---- what a terminal obeys --------------------------------------------------------------------


@pytest.fixture
def hostile(folder: Path) -> Path:
    """Return a folder of files in which, and in whose names, everything is hostile."""
    keys = [f"{HOSTILE} {word}" for word in ("color", "top speed", "doors")]
    Path("keys.json").write_text(json.dumps({key: [HOSTILE, key] for key in keys}))
    Path("texts.json").write_text(json.dumps(dict.fromkeys(keys, HOSTILE)))
    lines = [{"query": f"colour {HOSTILE}", "target": keys[0]}, {"query": "qwzzt", "target": None}]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    header = HOSTILE.replace("\r\n", "").replace("\ud800", "")
    Path("head.csv").write_text(f"{header},{header}\nx,1\ny,2\n", "utf-8")
    sets = {"dictionaries": [{"keys": keys, "queries": [{"query": "colour", "accept": keys[:1]}]}]}
    (folder / f"{HOSTILE} set.json".replace("\ud800", "")).write_text(json.dumps(sets))
    return folder


@posix
@pytest.mark.parametrize(
    "command",
    [
        ["lookup", "keys.json", "colour", HOSTILE, "qwzzt", "?!\x1b"],
        ["lookup", "texts.json", "colour", "-n", "3", "-v"],
        ["lookup", "texts.json", "colour", "top speed", "-n", "3", "-v"],
        ["lookup", "texts.json", "colour", "--json"],
        ["lookup", "head.csv", "x"],
        ["explain", "keys.json", "colour", f"top speed {HOSTILE}", "?!\x1b"],
        ["explain", "keys.json", "colour", "--json"],
        ["attend", "keys.json", f"colour {HOSTILE}"],
        ["attend", "keys.json", "colour", "--mask", HOSTILE],
        ["attend", "keys.json", "colour", "--plot", f"{HOSTILE}.png\x1b"],
        ["map", "keys.json", "head.csv", "--column", HOSTILE],
        ["map", "keys.json", "e.jsonl", "--column", "query", "--prefix", HOSTILE, "-o", "o.jsonl"],
        [
            "map",
            "texts.json",
            "e.jsonl",
            "--column",
            "query",
            "-o",
            "o.jsonl",
            "--review",
            f"{HOSTILE}.csv".replace("\ud800", ""),
        ],
        [
            "fit",
            "keys.json",
            "e.jsonl",
            "-o",
            f"{HOSTILE}.fuzzydict".replace("\ud800", ""),
            "--validation",
            "0",
        ],
        ["fit", "car.json", "e.jsonl", "-o", "o.fuzzydict"],
        ["evaluate", ".", "--no-peers", "--no-pairs"],
        ["evaluate", f"{HOSTILE} set.json".replace("\ud800", ""), "--no-peers", "--no-pairs"],
        ["lookup", "car.json", "colour", f"--{HOSTILE}"],
        [HOSTILE],
        ["demo", HOSTILE],
    ],
    ids=lambda command: (
        " ".join(command)[:30].encode("ascii", "replace").decode().replace("\x1b", "?")
    ),
)
@pytest.mark.usefixtures("hostile")
def test_nothing_printed_is_obeyed(command: list[str]) -> None:
    result = run(*command)
    assert result.exit_code in (0, 1, 2)
    assert "bug" not in result.stderr
    assert is_only_shown(result.stdout)
    assert is_only_shown(result.stderr)
    assert result.output


@posix
@pytest.mark.usefixtures("hostile")
def test_json_and_tables_hold_what_was_there() -> None:
    key = f"{HOSTILE} color"
    (line,) = run("lookup", "texts.json", f"{HOSTILE} color", "--json").stdout.splitlines()
    assert json.loads(line) == {"query": key, "key": key, "score": 1.0, "value": HOSTILE}
    run("map", "texts.json", "e.jsonl", "--column", "target", "-o", "o.jsonl")
    assert json.loads(Path("o.jsonl").read_text().splitlines()[0])["target_value"] == HOSTILE
    line = run("lookup", "texts.json", key).stdout
    assert json.loads(line) == HOSTILE


def test_commands_print_in_one_place_only() -> None:
    """`_output` escapes; click's own printing and Python's do not."""
    printing = {
        module
        for module in MODULES
        if module.startswith("fuzzydict.cli")
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("print", "click.echo", "click.secho", "sys.stdout.write")
    }
    assert printing == {"fuzzydict.cli._output"}


# ---- streams and surroundings -------------------------------------------------------------------


def real(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([SCRIPT, *arguments], timeout=60, **streams)


@posix
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
@pytest.mark.usefixtures("folder")
def test_a_line_without_an_end_is_refused_in_bounded_memory() -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))

    with Path("/dev/zero").open("rb") as endless:
        done = real("lookup", "car.json", stdin=endless, preexec_fn=limited)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == (
        b"Error: standard input: line 1 has more than 16777216 bytes; expected a query on each "
        b"line\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="these files are those of Linux")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("/dev/zero", "is a device; expected a file or a pipe"),
        ("/proc/self/mem", "Input/output error"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_read_is_named(name: str, problem: str) -> None:
    for command in (
        ["lookup", name, "x"],
        ["map", "car.json", name, "--column", "x", "--table-format", "csv"],
    ):
        done = run(*command)
        assert (done.exit_code, done.output) == (2, f"Error: {name}: {problem}\n")


@posix
@pytest.mark.usefixtures("folder")
def test_nobody_who_reads_messages_is_no_reason_to_end() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = real("lookup", "car.json", "qwzzt", "colour", "?!", "color", stderr=theirs)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (1, b"\nblack\n\nblack\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize(
    "command",
    one_process(
        "map car.json table.csv --column what", "lookup car.json colour", "explain car.json colour"
    ),
)
@pytest.mark.usefixtures("folder")
def test_standard_output_that_is_full_is_one_line(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = real(*command.split(), stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"Error: standard output: No space left on device\n"


@posix
@pytest.mark.usefixtures("folder")
def test_the_surroundings_may_be_odd() -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    surroundings = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONSAFEPATH": "1",
        "TERM": "dumb",
        "COLUMNS": "0",
        "NO_COLOR": "1",
        "MPLBACKEND": "nonsense",
    }
    done = real("attend", "car.json", "cölour", "--plot", "car.svg", env=surroundings)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"attention of 'c\\udcc3\\udcb6lour'\n  color" in done.stdout
    assert Path("car.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.usefixtures("folder")
def test_arguments_and_lines_may_be_of_any_bytes() -> None:
    done = real("lookup", "car.json", b"col\xffour\x1b")  # type: ignore[arg-type]
    assert (done.returncode, done.stdout, done.stderr) == (0, b"black\n", b"")
    done = real("lookup", "car.json", input=b"\xff\xfe\ncolo\xffur\n\0\n")
    assert (done.returncode, done.stdout) == (1, b"\nblack\n\n")
    assert done.stderr.count(b"\n") == 2
