"""``fuzzydict explore`` as its users run it: the address, the browser, Ctrl-C, what goes wrong."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import click
import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.server import ExploreServer
from tests.support.commands import posix, refused, run
from tests.support.properties import one_process


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps({"color": "black", "doors": 4}))
    return path


@contextmanager
def exploring(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command, and give the process and the address that it prints."""
    command = [sys.executable, "-m", "fuzzydict", "explore", *map(str, arguments), "--no-browser"]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Where the tests run in the background, a shell lets their children ignore it.
    streams["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, **streams) as process:
        try:
            assert process.stdout
            said = r"2 keys: (http://127\.0\.0\.1:\d+/\S+/) \(Ctrl-C ends it\)\n"
            found = re.fullmatch(said, process.stdout.readline())
            assert found
            yield process, found[1]
        finally:
            process.kill()


def post(address: str, name: str, **content: object) -> Any:
    headers = {"Content-Type": "application/json", "Origin": address.rsplit("/", 2)[0]}
    asked = Request(f"{address}{name}", json.dumps(content).encode(), headers)
    with urlopen(asked, timeout=20) as response:
        return json.load(response)


@posix
@pytest.mark.parametrize("ending", one_process("fuzzydict", ""))
def test_the_page_is_served_and_teaches_until_ctrl_c(car: Path, ending: str) -> None:
    output = car.with_suffix(".fuzzydict")
    with exploring(car, *(("-o", output) if ending else ())) as (process, address):
        about = post(address, "about")
        assert (about["title"], about["embedding"]) == ("car", "Brown")
        assert "licensed for non-commercial use" in about["licence"]
        told = post(address, "teach", query="varnish", key="color")
        assert told == {"taught": 1, "saved": output.name if ending else None}
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    where = f"in {output}" if ending else "not saved, as -o was not given"
    taught = f"ended: 1 taught, {where}\n"
    assert (process.returncode, out, errors) == (0, f"{about['licence']}\n", taught)
    assert not ending or FuzzyDict.load(output)["varnish"] == "black"


@posix
@pytest.mark.parametrize("number", one_process(signal.SIGTERM, signal.SIGHUP))
def test_a_signal_ends_it_and_leaves_no_file_behind(car: Path, number: signal.Signals) -> None:
    output = car.with_suffix(".fuzzydict")
    with exploring(car, "-o", output) as (process, address), ThreadPoolExecutor(4) as pool:
        done = [pool.submit(post, address, "teach", query=f"n {i}", key=None) for i in range(40)]
        done[0].result()
        process.send_signal(number)
        process.wait(timeout=20)
        wait(done)
    assert process.returncode == 128 + number
    assert {path.name for path in car.parent.iterdir()} == {"car.json", "car.fuzzydict"}
    assert len(FuzzyDict.load(output).aliases) >= 1


def test_the_browser_is_opened_and_options_are_the_dicts(
    car: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    served: list[ExploreServer] = []
    monkeypatch.setattr(click, "launch", opened.append)
    monkeypatch.setattr(ExploreServer, "serve_forever", lambda self: served.append(self))
    assert run("explore", car, "--score-cutoff", "0.4", "--title", "a\nb\x85").exit_code == 0
    assert len(opened) == 1
    assert served[0].token not in opened[0]  # other users can read what a browser is told
    assert served[0].dict.score_cutoff == 0.4
    saved = car.with_suffix(".fuzzydict")
    FuzzyDict({"color": "black"}).save(saved)
    assert run("explore", saved, "--no-browser", "-o", saved).exit_code == 0
    car.rename(hostile := car.with_name("\x1b\u202e.json"))
    assert run("explore", hostile, "--no-browser").exit_code == 0
    assert len(opened) == 1
    assert [one.title for one in served] == ["a\\nb\\x85", "car", "\\x1b\\u202e"]  # nothing obeyed


def test_a_port_that_is_taken_is_an_error_that_names_the_option(car: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        line = refused("explore", car, "--no-browser", "--port", port)
    assert f"--port: cannot serve on {port} (Address already in use)" in line
