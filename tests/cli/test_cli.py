"""What holds for every command: examples in the help, exit codes, interrupts, pipes, terminals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from fuzzydict import FuzzyDict
from tests.support.properties import one_process

main: click.Group = import_module("fuzzydict.cli").main
COMMANDS = main.list_commands(click.Context(main))
# The script stands beside the interpreter of the environment that the package is installed in.
SCRIPT = Path(sys.executable).with_name("fuzzydict")
posix = pytest.mark.skipif(os.name != "posix", reason="shells and signals are those of POSIX")


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([SCRIPT, *arguments], capture_output=True, timeout=60, **options)


# ---- help ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, themes: Path) -> Path:
    """Return a folder with all that the examples name."""
    (tmp_path / "data").mkdir()
    for sample in resources.files("fuzzydict.data").iterdir():
        if sample.name.endswith((".json", ".csv", ".jsonl", ".toml", ".yaml")):
            (tmp_path / "data" / sample.name).write_bytes(sample.read_bytes())
    for name in ("notes.txt", "letters.txt"):
        shutil.copy(themes, tmp_path / name)
    return tmp_path


# `explore` serves until it is interrupted, `push` needs a database; they have tests of their own.
@pytest.mark.parametrize("command", ["", *sorted({*COMMANDS} - {"explore", "push"})])
def test_the_help_ends_in_an_example_that_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    shown = CliRunner().invoke(main, [*command.split(), "--help"])
    assert shown.exit_code == 0
    program, *arguments = shown.stdout.splitlines()[-1].split()
    assert program == "fuzzydict"
    assert not command or arguments[0] == command
    before = set(folder.iterdir())
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout or set(folder.iterdir()) - before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_every_command_and_option(command: str) -> None:
    assert f"  {command} " in CliRunner().invoke(main, ["-h"]).stdout
    found = main.get_command(click.Context(main), command)
    assert found is not None
    shown = CliRunner().invoke(main, [command, "-h"]).stdout
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert all(name in shown for name in parameter.opts)
            assert parameter.help


# ---- exit codes ---------------------------------------------------------------------------


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps({"color": "black", "top speed": 260}))
    (tmp_path / "table.csv").write_text("what\ncolour\ntopSpeed\n")
    (tmp_path / "more.csv").write_text("what\ncolour\nqwzzt\n\n")
    (tmp_path / "marks.json").write_text('{"?!": 1}')
    return path


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, "lookup car.json colour topSpeed"),
        (1, "lookup car.json colour qwzzt"),
        (2, "lookup nowhere.json colour"),
        (2, "lookup car.json colour --cutoff high"),
        (0, "map car.json table.csv --column what"),
        (1, "map car.json more.csv --column what"),
        (2, "map car.json table.csv --column that"),
        (2, "map car.json table.csv"),
        (0, "attend car.json colour"),
        (1, "attend marks.json colour"),
        (0, "explain car.json colour topSpeed"),
        (1, "explain car.json colour qwzzt"),
        (2, "explain car.json"),
        (1, "attend car.json ?!"),
        (2, "attend car.json colour --temperature 0"),
        (2, "attend car.json"),
        (2, "unknown"),
        (0, "--version"),
    ],
)
def test_exit_codes_are_those_of_every_command(
    car: Path, monkeypatch: pytest.MonkeyPatch, code: int, arguments: str
) -> None:
    monkeypatch.chdir(car.parent)
    result = CliRunner().invoke(main, arguments.split())
    assert result.exit_code == code
    if code == 2:
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("--versoin", "No such option: --versoin (did you mean '--version'?); valid are --help, "),
        ("lookpu car.json", "No such command 'lookpu' (did you mean 'lookup'?); valid are attend"),
        ("qwzzt car.json", "No such command 'qwzzt'; valid are attend, demo"),
        ("demo --hepl", "No such option: --hepl (did you mean '--help'?); valid are"),
        ("demo kernel", "No such demo 'kernel' (did you mean 'kernels'?); valid are dictionary"),
        ("demo heads --sav a.png", "No such option: --sav (did you mean '--save'?); valid are"),
        ("map car.json t.csv --colum x", "No such option: --colum (did you mean '--column'?)"),
        ("map car.json t.csv --colum=x", "No such option: --colum (did you mean '--column'?)"),
        ("lookup car.json -q", "No such option: -q; valid are --cutoff, --"),
        ("lookup car.json --scorer cosin", "'cosin' (did you mean 'cosine'?); valid are spelling,"),
        ("lookup car.json --format tomll", "'tomll' (did you mean 'toml'?); valid are json, toml"),
        ("evaluate --peer difflb", "'difflb' (did you mean 'difflib'?); valid are difflib, rapid"),
        ("attend car.json x --mask colour", "is not a key of the dict (did you mean 'color'?); gi"),
        ("fit car.json colors.csv -o a.fuzzydict", "is not a key of the dict (did you mean 'color"),
    ],
)
def test_a_wrong_name_is_told_what_was_probably_meant(
    car: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, meant: str
) -> None:
    monkeypatch.chdir(car.parent)
    (car.parent / "colors.csv").write_text("query,target\nhue,colour\n")
    result = CliRunner().invoke(main, arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert meant in line


@pytest.mark.parametrize(("arguments", "code"), [("lookup car.json qwzzt", 1), ("lookup no", 2)])
def test_the_installed_script_ends_with_the_exit_code(car: Path, arguments: str, code: int) -> None:
    done = run(*arguments.split(), cwd=car.parent)
    assert (done.returncode, done.stderr.count(b"\n")) == (code, 1)


# ---- errors, bugs, warnings ---------------------------------------------------------------


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_bug_is_one_line_that_tells_how_to_see_the_traceback(
    car: Path, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("one\nand two")

    monkeypatch.setenv("FUZZYDICT_DEBUG", debug)
    monkeypatch.setattr(FuzzyDict, "nearest", fail)
    result = CliRunner().invoke(main, ["lookup", str(car), "colour"])
    assert isinstance(result.exception, SystemExit)
    assert (result.exit_code, result.stdout) == (3, "")
    *traceback, line = result.stderr.splitlines()
    assert line == (
        "Error: this is a bug in fuzzydict (ValueError: one and two); please report it with the "
        "traceback that FUZZYDICT_DEBUG=1 shows"
    )
    assert bool(traceback) == bool(debug)
    assert not debug or traceback[0] == "Traceback (most recent call last):"


def test_a_command_that_cannot_be_loaded_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fuzzydict.cli.map", None)
    result = CliRunner().invoke(main, ["map"])
    assert isinstance(result.exception, SystemExit)
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)


@pytest.mark.filterwarnings("always")
def test_a_warning_of_the_library_is_one_line(car: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nearest = FuzzyDict.nearest

    def warned(d: FuzzyDict[Any], query: str) -> Any:
        warnings.warn("two\nlines", RuntimeWarning, stacklevel=1)
        return nearest(d, query)

    monkeypatch.setattr(FuzzyDict, "nearest", warned)
    result = CliRunner().invoke(main, ["lookup", str(car), "colour"])
    assert (result.exit_code, result.stdout) == (0, "black\n")
    assert result.stderr == "Warning: two lines\n"


def masked(_: Path) -> list[str]:
    return ["attend", "car.json", "colour", "--mask", "color", "--mask", "price"]


def saved(*command: str, **options: Any) -> Callable[[Path], list[str]]:
    """Return what saves a dict with options and returns the command that opens it."""

    def run(folder: Path) -> list[str]:
        FuzzyDict({"color": "black", "price": 109000}, **options).save(folder / "car.fuzzydict")
        return [*command[:1], "car.fuzzydict", *command[1:]]

    return run


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (masked, 1, "every key is masked"),
        (saved("lookup", "hue", index="usearch"), 2, "pip install 'fuzzydict[usearch]'"),
        (saved("lookup", "hue", index="usearch", scorer="gaussian"), 2, "'gaussian'"),
        (saved("lookup", "hue", embedding={"color": [1.0, 0.0]}), 2, "open it with"),
    ],
)
def test_what_a_dict_cannot_do_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[Path], list[str]],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "usearch", None)
    (tmp_path / "car.json").write_text('{"color": "black", "price": 109000}')
    result = CliRunner().invoke(main, command(tmp_path))
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_a_file_says_is_reported_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "car.json"
    path.write_text('{"validation=0": 1, "validation=0": 2}')
    result = CliRunner().invoke(main, ["lookup", str(path), "hue"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the key 'validation=0' comes twice" in result.stderr


# ---- signals and pipes --------------------------------------------------------------------


@posix
@pytest.mark.parametrize("arguments", [["lookup", "car.json"], ["map", "car.json", "fifo.csv"]])
@pytest.mark.parametrize(
    ("sent", "usual", "code"),
    [
        (signal.SIGINT, signal.default_int_handler, 130),
        (signal.SIGTERM, signal.SIG_DFL, 143),
        pytest.param(
            getattr(signal, "SIGHUP", None),
            signal.SIG_DFL,
            129,
            marks=pytest.mark.slow("it starts a process, much as the others do"),
        ),
    ],
)
def test_a_signal_ends_a_command_without_a_word_and_without_litter(
    car: Path, arguments: list[str], sent: signal.Signals, usual: Any, code: int
) -> None:
    fifo = car.parent / "fifo.csv"
    os.mkfifo(fifo)
    pipe = subprocess.PIPE
    more = ["--column", "what", "-o", "out.csv"] if arguments[0] == "map" else []
    with subprocess.Popen(
        [SCRIPT, *arguments, *more],
        cwd=car.parent,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        # The tests may have been started with signals ignored.
        preexec_fn=lambda: signal.signal(sent, usual),
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        if arguments[0] == "lookup":
            process.stdin.write(b"colour\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"black\n"
            end(process, sent)
        else:
            with fifo.open("wb", buffering=0) as file:  # which waits until it is read
                file.write(b"what\ncolour\n")
                end(process, sent)
        assert process.returncode == code
        assert process.stderr.read() == b""
    names = {path.name for path in car.parent.iterdir()}
    assert names == {"car.json", "fifo.csv", "marks.json", "more.csv", "table.csv"}


def end(process: subprocess.Popen[bytes], sent: signal.Signals) -> None:
    """Signal a process to end; again, as a person would, if it was just about to wait for input."""
    for _ in range(10):
        process.send_signal(sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(6)
            return


@posix
@pytest.mark.parametrize(
    "command",
    one_process(
        "map car.json long.csv --column what",
        "lookup car.json $(yes colour | head -2000)",
        "attend car.json colour",
    ),
)
def test_a_reader_that_has_enough_ends_it_quietly(car: Path, command: str) -> None:
    (car.parent / "long.csv").write_text("what\n" + "colour\n" * 100_000)
    line = f'("$0" {command}; echo $? >code) | head -1'
    done = subprocess.run(
        ["sh", "-c", line, SCRIPT], cwd=car.parent, capture_output=True, timeout=60
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Error" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert (car.parent / "code").read_text() == "0\n"


# ---- terminals ----------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_bar_is_shown_on_a_terminal_that_the_table_does_not_go_to(car: Path, stream: str) -> None:
    import pty

    (car.parent / "long.csv").write_text("what\n" + "colour\n" * 20_000)
    ours, theirs = pty.openpty()
    output = [] if stream == "stdout" else ["-o", "out.csv"]
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    with subprocess.Popen(
        [SCRIPT, "map", "car.json", "long.csv", "--column", "what", *output],
        cwd=car.parent,
        **options,
    ) as process:
        os.close(theirs)
        seen = b"".join(until_closed(ours))
        assert process.wait(60) == 0
    os.close(ours)
    assert (b"matching" in seen) == (stream == "stderr")
    assert (b"100%" in seen) == (stream == "stderr")


@posix
def test_a_terminal_shows_how_to_type_queries(car: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, "lookup", "car.json"], cwd=car.parent, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        assert os.read(ours, 100).startswith(b"Type a query")
        os.write(ours, b"colour\n\x04")
        seen = b"".join(until_closed(ours))
        assert process.wait(60) == 0
    os.close(ours)
    assert b"black" in seen


def until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # what Linux says of a terminal that nobody writes to any more
            return
        if not data:
            return
        yield data


def test_there_is_no_bar_and_no_colour_elsewhere(car: Path) -> None:
    done = run("map", "car.json", "table.csv", "--column", "what", "-o", "out.csv", cwd=car.parent)
    assert done.stdout == b""
    assert done.stderr == (
        b"2 rows: 2 matched (0 doubtful, with a score below 0.8), 0 unmatched, 0 blank\n"
    )


def test_a_lookup_loads_no_more_than_it_needs(car: Path) -> None:
    program = """if True:
        import sys
        from fuzzydict.cli import main
        try:
            main(["lookup", sys.argv[1], "colour"])
        finally:
            print(*sorted({"tomllib", "ruamel.yaml", "sqlite3", "pyarrow", "matplotlib", "gensim",
                           "nltk", "scipy", "fuzzydict.io.columns"} & set(sys.modules)), "loaded")
    """
    done = subprocess.run([sys.executable, "-c", program, car], capture_output=True, timeout=60)
    assert done.stdout == b"black\nloaded\n"
