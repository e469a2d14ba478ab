"""Every command with every odd input: one line and exit code 2, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import SCRIPT, posix, refused, run
from tests.support.terminal import HOSTILE, is_only_shown

LONG = "9" * 5000  # more digits than Python turns into a number
CAR = {"color": "black", "top speed": 260}
SHOWN = HOSTILE.replace("\ud800", "")  # what a file's name can hold


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("car.json").write_text(json.dumps(CAR))
    Path("table.csv").write_text("what\ncolour\ntopSpeed\n")
    Path("examples.csv").write_text("query,target\nhue,color\n")
    return tmp_path


def words_of(command: str, **named: str) -> list[str]:
    """Return the words of a command, of which some may begin with a name for something odd."""
    words = command.split()
    for name, odd in named.items():
        words = [odd + word.removeprefix(name) if word.startswith(name) else word for word in words]
    return words


# ---- files that are read --------------------------------------------------------------------

#: What each command reads, as FILE.
READING = {
    "lookup": "lookup FILE colour",
    "lookup, vectors": "lookup car.json colour --embedding FILE",
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


def check_refused(folder: Path, command: str, name: str, make: Callable[[Path], object]) -> None:
    words = words_of(command, FILE=name)
    make(folder / next(word for word in words if word.startswith(name)))
    before = sorted(folder.iterdir())
    assert is_only_shown(refused(*words))
    assert sorted(folder.iterdir()) == before


@posix
@pytest.mark.parametrize(("command", "file"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_one_line(folder: Path, command: str, file: str) -> None:
    check_refused(folder, READING[command], *FILES[file])


# ---- files that are written -----------------------------------------------------------------

WRITING = {
    "map": "map car.json table.csv --column what -o FILE",
    "map, review": "map car.json table.csv --column what --review FILE.csv --sure 1",
    "join": "join table.csv table.csv --on what -o FILE",
    "fit": "fit car.json examples.csv -o FILE",
    "train": "train --corpus table.csv --min-count 1 -o FILE",
    "attend": "attend car.json colour --plot FILE.html",
    "demo": "demo dictionary --save FILE.svg",
}
PLACES = ("missing", "a folder", "in a file", "a loop of links", "too long a name")


@posix
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_cannot_be_written_is_one_line(folder: Path, command: str, place: str) -> None:
    name, make = FILES[place]
    check_refused(folder, WRITING[command], "no/file" if place == "missing" else name, make)


# ---- what a terminal obeys --------------------------------------------------------------------


@pytest.fixture
def hostile(folder: Path) -> Path:
    """Return a folder of files in which, and in whose names, everything is hostile."""
    keys = [f"{HOSTILE} {word}" for word in ("color", "top speed", "doors")]
    Path("keys.json").write_text(json.dumps({key: [HOSTILE, key] for key in keys}))
    Path("texts.json").write_text(json.dumps(dict.fromkeys(keys, HOSTILE)))
    lines = [{"query": f"colour {HOSTILE}", "target": keys[0]}, {"query": "qwzzt", "target": None}]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    header = SHOWN.replace("\r\n", "")
    Path("head.csv").write_text(f"{header},{header}\nx,1\ny,2\n", "utf-8")
    sets = {"dictionaries": [{"keys": keys, "queries": [{"query": "colour", "accept": keys[:1]}]}]}
    (folder / f"{SHOWN}.json").write_text(json.dumps(sets))
    return folder


@posix
@pytest.mark.parametrize(
    "command",
    [
        "lookup keys.json colour HOSTILE qwzzt ?!\x1b",
        "lookup texts.json colour -n 3 -v",
        "lookup texts.json colour qwzzt -n 3 -v",
        "lookup texts.json colour --json",
        "lookup head.csv x",
        "explain keys.json colour HOSTILE ?!\x1b",
        "explain keys.json colour --json",
        "attend keys.json HOSTILE",
        "attend keys.json colour --mask HOSTILE",
        "attend keys.json colour --plot HOSTILE.png\x1b",
        "map keys.json head.csv --column HOSTILE",
        "map keys.json e.jsonl --column query --prefix HOSTILE -o o.jsonl",
        "map texts.json e.jsonl --column query -o o.jsonl --review SHOWN.csv",
        "fit keys.json e.jsonl -o SHOWN.fuzzydict --validation 0",
        "fit car.json e.jsonl -o o.fuzzydict",
        "evaluate SHOWN.json --no-peers --no-pairs",
        "lookup car.json colour HOSTILE",
        "HOSTILE",
        "demo HOSTILE",
    ],
    ids=lambda command: command.replace("\x1b", ""),
)
@pytest.mark.usefixtures("hostile")
def test_nothing_printed_is_obeyed(command: str) -> None:
    result = run(*words_of(command, HOSTILE=HOSTILE, SHOWN=SHOWN))
    assert result.exit_code in (0, 1, 2)
    assert is_only_shown(result.stdout)
    assert is_only_shown(result.stderr)
    assert result.output
    option = run("lookup", "car.json", "colour", f"--{HOSTILE}")
    assert (option.exit_code, is_only_shown(option.stderr)) == (2, True)


# ---- streams and surroundings -------------------------------------------------------------------


def real(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([SCRIPT, *arguments], timeout=60, **streams)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
@pytest.mark.usefixtures("folder")
def test_a_line_without_an_end_is_refused_in_bounded_memory() -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))

    with Path("/dev/zero").open("rb") as endless:
        done = real("lookup", "car.json", stdin=endless, preexec_fn=limited)
    assert (done.returncode, done.stdout) == (2, b"")
    told = b"Error: standard input: line 1 has more than 16777216 bytes; expected a query on each l"
    assert done.stderr == told + b"ine\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["map car.json table.csv --column what", "map --help"])
def test_standard_output_that_is_full_is_one_line(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = real(*command.split(), stdout=full)
    told = b"Error: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)


@posix
@pytest.mark.usefixtures("folder")
def test_the_surroundings_may_be_odd() -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    odd = (
        "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii:strict "
        "PYTHONSAFEPATH=1 TERM=dumb COLUMNS=0 NO_COLOR=1 MPLBACKEND=nonsense"
    )
    surroundings = dict(one.split("=") for one in odd.split())
    done = real("attend", "car.json", "cölour", "--plot", "car.svg", env=surroundings)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"attention of 'c\\udcc3\\udcb6lour'\n  color" in done.stdout
    assert Path("car.svg").read_bytes().startswith(b"<?xml")


@posix
@pytest.mark.usefixtures("folder")
def test_arguments_lines_and_answers_may_be_of_any_bytes() -> None:
    done = real("lookup", "car.json", b"col\xffour\x1b")  # type: ignore[arg-type]
    assert (done.returncode, done.stdout, done.stderr) == (0, b"black\n", b"")
    done = real("lookup", "car.json", input=b"\xff\xfe\ncolo\xffur\n\0\n")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"\nblack\n\n", 2)
    Path("odd.json").write_bytes(rb'{"color": "gr\u00fcn \u65e5", "hue": ["\udfff"]}')
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = real("lookup", "odd.json", "color", "hue", env=latin)
    told = b'gr\xfcn \\u65e5\n["\\udfff"]\n'
    assert (done.returncode, done.stdout, done.stderr) == (0, told, b"")
