"""What holds for every command: examples in the help, bugs, interrupts, pipes, terminals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.__main__ import main as start
from tests.support.commands import COMMANDS, SCRIPT, posix, run
from tests.support.properties import one_process

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
    shown = run(*command.split(), "--help")
    assert shown.exit_code == 0
    program, *arguments = shown.stdout.splitlines()[-1].split()
    assert program == "fuzzydict"
    assert not command or arguments[0] == command
    before = set(folder.iterdir())
    monkeypatch.chdir(folder)
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout or set(folder.iterdir()) - before
    assert "code: MIT\n" in run("--version").stdout


# ---- errors, bugs, warnings ---------------------------------------------------------------


@pytest.fixture
def car(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "car.json"
    path.write_text(json.dumps({"color": "black", "top speed": 260}))
    (tmp_path / "table.csv").write_text("what\ncolour\ntopSpeed\n")
    return path


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_bug_is_one_line_that_tells_how_to_see_the_traceback(
    car: Path, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("one\nand two")

    monkeypatch.setenv("FUZZYDICT_DEBUG", debug)
    monkeypatch.setattr(FuzzyDict, "nearest", fail)
    result = run("lookup", car, "colour")
    assert (result.exit_code, result.stdout) == (3, "")
    *traceback, line = result.stderr.splitlines()
    assert line == (
        "Error: this is a bug in fuzzydict (ValueError: one and two); please report it with the "
        "traceback that FUZZYDICT_DEBUG=1 shows"
    )
    assert bool(traceback) == bool(debug)
    assert not debug or traceback[0] == "Traceback (most recent call last):"


# ---- signals and pipes --------------------------------------------------------------------


def test_ctrl_c_while_the_command_is_imported_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting(MetaPathFinder):
        def find_spec(self, fullname: str, *_: object) -> None:
            if fullname == "fuzzydict.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "fuzzydict.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        start()
    assert (ended.value.code, *capsys.readouterr()) == (130, "", "")


@posix
@pytest.mark.parametrize(
    ("sent", "usual", "code"),
    [
        (signal.SIGINT, signal.default_int_handler, 130),
        (signal.SIGTERM, signal.SIG_DFL, 143),
        (getattr(signal, "SIGHUP", None), signal.SIG_DFL, 129),
    ],
)
def test_a_signal_ends_a_command_without_a_word_and_without_litter(
    car: Path, sent: signal.Signals, usual: Any, code: int
) -> None:
    os.mkfifo(fifo := car.parent / "fifo.csv")
    with subprocess.Popen(
        [SCRIPT, "map", "car.json", "fifo.csv", "--column", "what", "-o", "out.csv"],
        cwd=car.parent,
        stderr=subprocess.PIPE,
        # The tests may have been started with signals ignored.
        preexec_fn=lambda: signal.signal(sent, usual),
    ) as process:
        with fifo.open("wb", buffering=0) as file:  # which waits until it is read
            file.write(b"what\ncolour\n")
            end(process, sent)
        assert process.returncode == code
        assert process.stderr
        assert process.stderr.read() == b""
    names = {path.name for path in car.parent.iterdir()}
    assert names == {"car.json", "fifo.csv", "table.csv"}


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
