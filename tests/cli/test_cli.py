"""What holds for every command: examples in the help, bugs, interrupts, pipes, terminals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import resources
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fuzzydict import FuzzyDict
from fuzzydict.__main__ import main as start
from tests.support.commands import COMMANDS, SCRIPT, main, posix, run
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", COMMANDS),
        ("demo col", ["column", "colors"]),
        ("unknown ", []),
        ("lookup --score-", ["--score-cutoff"]),
        ("lookup --format y", ["yaml"]),
        ("lookup t.c", ["t.c"]),
        ("join t.csv t.jsonl --how ", ["left", "inner", "anti"]),
    ],
)
def test_commands_options_and_their_values_are_completed(words: str, expected: list[str]) -> None:
    variables = {"COMP_WORDS": f"fuzzydict {words}", "COMP_CWORD": str(len(words.split(" ")))}
    variables["_FUZZYDICT_COMPLETE"] = "bash_complete"
    done = CliRunner().invoke(main, prog_name="fuzzydict", env=variables)
    assert (done.exit_code, done.stderr) == (0, "")
    found = [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]
    assert found == expected or "unknown" in words


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


def on_terminal(car: Path, *command: str, typed: bytes = b"", **streams: Any) -> bytes:
    """Run a command whose other streams are a terminal, and return what is seen there."""
    import pty

    ours, theirs = pty.openpty()
    terminal = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    with subprocess.Popen([SCRIPT, *command], cwd=car.parent, **terminal | streams) as process:
        os.close(theirs)
        os.write(ours, typed)
        seen = b""
        with suppress(OSError):  # as Linux says that nobody writes to it any more
            while data := os.read(ours, 65_536):
                seen += data
        assert process.wait(60) == 0
    os.close(ours)
    return seen


@posix
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_bar_is_shown_on_a_terminal_that_the_table_does_not_go_to(car: Path, stream: str) -> None:
    (car.parent / "long.csv").write_text("what\n" + "colour\n" * 20_000)
    command = ["map", "car.json", "long.csv", "--column", "what"]
    if stream == "stdout":
        seen = on_terminal(car, *command, stderr=subprocess.DEVNULL)
    else:
        seen = on_terminal(car, *command, "-o", "out.csv", stdout=subprocess.DEVNULL)
    assert (b"matching" in seen) == (b"100%" in seen) == (stream == "stderr")


@posix
def test_a_terminal_shows_how_to_type_queries(car: Path) -> None:
    seen = on_terminal(car, "lookup", "car.json", typed=b"colour\n\x04")
    assert b"Type a query" in seen
    assert b"black" in seen
