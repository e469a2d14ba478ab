"""``fuzzydict explore`` as its users run it: the address, the browser, Ctrl-C, what goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict.io.explore.server import ExploreServer

main: click.Command = import_module("fuzzydict.cli").main


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps({"color": "black", "doors": 4}))
    return path


def explore(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["explore", *map(str, arguments)])


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal of POSIX")
def test_the_page_is_served_until_ctrl_c(car: Path) -> None:
    command = [sys.executable, "-m", "fuzzydict", "explore", str(car), "--no-browser"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, a shell lets their children ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout
        line = process.stdout.readline()
        found = re.fullmatch(r"2 keys: (http://127\.0\.0\.1:\d+/\S+/) \(Ctrl-C ends it\)\n", line)
        assert found
        with urlopen(f"{found[1]}about", timeout=20) as response:
            assert json.load(response)["title"] == "car"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors) == (0, "", "ended\n")


def test_a_title_holds_nothing_that_is_obeyed(car: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = list[str]()
    monkeypatch.setattr(ExploreServer, "serve_forever", lambda self: titles.append(self.title))
    car.rename(hostile := car.with_name("\x1b\u202e.json"))
    for arguments in ([hostile], [hostile, "--title", "a\nb\x85"]):
        assert explore(*arguments, "--no-browser").exit_code == 0
    assert titles == ["\\x1b\\u202e", "a\\nb\\x85"]


def test_the_browser_is_opened_and_options_are_the_dicts(
    car: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    served: list[ExploreServer] = []
    monkeypatch.setattr(click, "launch", opened.append)
    monkeypatch.setattr(ExploreServer, "serve_forever", lambda self: served.append(self))
    assert explore(car, "--cutoff", "0.4", "--title", "mine").exit_code == 0
    assert opened == [served[0].url]
    assert (served[0].title, served[0].dict.score_cutoff) == ("mine", 0.4)
    assert explore(car, "--no-browser").exit_code == 0
    assert len(opened) == 1


def test_the_help_ends_in_an_example() -> None:
    assert explore("--help").stdout.splitlines()[-1] == "  fuzzydict explore data/car.json"


def test_a_port_that_is_taken_is_an_error_that_names_the_option(car: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = explore(car, "--no-browser", "--port", str(other.getsockname()[1]))
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.search(r"--port: cannot serve on \d+ \(Address already in use\)", done.stderr)


def test_a_file_that_is_not_there_is_an_error_of_one_line(tmp_path: Path) -> None:
    done = explore(tmp_path / "nowhere.json", "--no-browser")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
