"""``fuzzydict lookup`` as its users run it: values, lines, exit codes, and bad files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, WordVectors

CAR = {
    "color": "black",
    "top speed": "260 km/h",
    "doors": 4,
    "extras": ["roof", {"é": None}],
    "electric": True,
    "notes": "two\nlines",
    "motto": "it goes\n",
    "void": "",
}
main: click.Command = import_module("fuzzydict.cli").main
# The script stands beside the interpreter of the environment that the package is installed in.
SCRIPT = str(Path(sys.executable).with_name("fuzzydict"))


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


def lookup(*arguments: str | Path | int, lines: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["lookup", *map(str, arguments)], input=lines)


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [SCRIPT, "lookup", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, **options)


# ---- answers ------------------------------------------------------------------------------


def test_the_script_answers(car: Path) -> None:
    done = run(car, "colour", "topSpeed")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"black\n260 km/h\n", b"")


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("colour", "black"),
        ("doors", "4"),
        ("extras", '["roof", {"é": null}]'),
        ("electric", "true"),
        ("notes", r'"two\nlines"'),
        ("motto", r'"it goes\n"'),
        ("void", ""),
    ],
)
def test_a_text_is_printed_as_it_is_anything_else_as_json(
    car: Path, query: str, answer: str
) -> None:
    result = lookup(car, query)
    assert (result.exit_code, result.stdout) == (0, answer + "\n")


def test_a_query_that_nothing_matches_is_an_empty_line_and_exit_1(car: Path) -> None:
    result = lookup(car, "?!", "colour", "xyzzy")
    assert (result.exit_code, result.stdout) == (1, "\nblack\n\n")
    first, second = result.stderr.splitlines()
    assert first.startswith("no key matches '?!'")
    assert second.startswith("no key matches 'xyzzy': the nearest is")


def test_a_cutoff_is_held(car: Path) -> None:
    assert lookup(car, "colour", "--cutoff", "0.5").stdout == "black\n"
    refused = lookup(car, "colour", "--cutoff", "1.5")
    assert (refused.exit_code, refused.stdout) == (1, "\n")
    assert "below the cutoff 1.500" in refused.stderr


def test_a_query_may_begin_with_a_dash_after_two_dashes(car: Path) -> None:
    assert lookup(car, "--", "-colour").stdout == "black\n"


def test_an_empty_dict_matches_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")
    result = lookup(tmp_path / "empty.json", "colour")
    assert (result.exit_code, result.stdout) == (1, "\n")
    assert result.stderr.count("\n") == 1


def test_a_value_that_no_terminal_can_show_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(r'{"color": "bl\ud800ack", "hue": ["\udfff"]}')
    done = run(tmp_path / "odd.json", "color", "hue")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b'bl\\ud800ack\n["\\udfff"]\n'


def test_a_terminal_of_few_letters_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"color": "grün 日"}', encoding="utf-8")
    done = run(tmp_path / "odd.json", "color", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"gr\xfcn \\u65e5\n", b"")


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX only")
def test_a_query_that_is_not_utf_8_is_answered(car: Path) -> None:
    done = subprocess.run([SCRIPT, "lookup", car, b"colo\xffur"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"black\n")


# ---- queries from standard input ----------------------------------------------------------


def test_lines_are_answered_line_by_line(car: Path) -> None:
    result = lookup(car, lines=b"colour\r\ntop speed\n\n  doors  \n\xff\xfe\ncolo\xffr")
    assert result.exit_code == 1
    assert result.stdout == "black\n260 km/h\n\n4\n\nblack\n"
    assert result.stderr.count("\n") == 2


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_lines_are_whole_however_the_input_comes(
    car: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(import_module("fuzzydict.cli.lookup"), "_CHUNK", chunk)
    result = lookup(car, lines=b"color\r\ntop speed\n\n\ndoors\ncolor")
    assert result.stdout == "black\n260 km/h\n\n\n4\nblack\n"


@pytest.mark.parametrize("options", [[], ["-v"], ["--json"], ["-n", "2"]])
def test_a_query_that_comes_again_is_looked_up_once(
    car: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    asked: list[str] = []
    nearest = FuzzyDict.nearest

    def noted(d: FuzzyDict[Any], query: str) -> Any:
        asked.append(query)
        return nearest(d, query)

    monkeypatch.setattr(FuzzyDict, "nearest", noted)
    once = lookup(car, *options, lines=b"colour\n?!\n").stdout
    many = lookup(car, *options, lines=b"colour\n?!\n" * 50)
    assert (many.exit_code, many.stdout) == (1, once * 50)
    assert many.stderr.count("no key matches '?!'") == 50
    assert asked == ["colour", "?!"] * 2


def test_no_line_no_answer(car: Path) -> None:
    result = lookup(car, lines=b"")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.fixture
def conversation(car: Path) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen([SCRIPT, "lookup", car], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        late = threading.Timer(60, process.kill)
        late.start()
        yield process
        late.cancel()


def test_each_line_is_answered_before_the_next_is_sent(
    conversation: subprocess.Popen[bytes],
) -> None:
    assert conversation.stdin
    assert conversation.stdout
    # Each comes with the beginning of the one after it.
    for line, answer in [(b"colour\n\r", b"black\n"), (b"\ndo", b"\n"), (b"ors\n", b"4\n")]:
        conversation.stdin.write(line)
        conversation.stdin.flush()
        assert conversation.stdout.readline() == answer
    conversation.stdin.close()
    assert conversation.wait(60) == 1


def test_a_reader_that_has_enough_ends_it_quietly(conversation: subprocess.Popen[bytes]) -> None:
    assert conversation.stdin
    assert conversation.stdout
    assert conversation.stderr
    conversation.stdin.write(b"colour\n")
    conversation.stdin.flush()
    assert conversation.stdout.readline() == b"black\n"
    conversation.stdout.close()
    conversation.stdin.write(b"colour\n" * 1000)
    conversation.stdin.flush()
    assert conversation.stderr.read() == b""
    assert conversation.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="streams are closed this way on POSIX only")
@pytest.mark.parametrize("closed", ["<&-", "colour >&-", "colour '?!' 2>&-"])
def test_a_closed_stream_is_no_error(car: Path, closed: str) -> None:
    command = ["sh", "-c", f'"$0" lookup "$1" {closed}', SCRIPT, str(car)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == (1 if "?!" in closed else 0)
    assert done.stdout == (b"black\n\n" if "?!" in closed else b"")
    assert done.stderr == b""


def test_vectors_of_ones_own_and_a_cutoff(car: Path, tmp_path: Path) -> None:
    axes = {"color": [1.0, 0.0], "brand": [0.0, 1.0], "hue": [0.9, 0.1]}
    WordVectors.from_mapping(axes).save(tmp_path / "mine.vectors")
    command = [SCRIPT, "lookup", str(car), "hue", "--vectors", str(tmp_path / "mine.vectors")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "black\n")
    refused = subprocess.run([*command, "--cutoff", "0.9"], capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (1, "\n")
    assert "below the cutoff 0.900 (--cutoff sets it)" in refused.stderr


# ---- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"color: black", "is not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not UTF-8"),
        (b'["black"]', "expected an object"),
        (b"null", "expected an object"),
        (b'{"a": 1, "a": 2}', "comes twice"),
        (b'{"\\n": 1, "\\n": 2}', "comes twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
    ],
    ids=lambda content: repr(content)[:24],
)
def test_a_bad_file_is_one_line_with_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    check_refused(lookup(tmp_path / "bad.json", "colour"), str(tmp_path / "bad.json"), message)


def check_refused(result: Result, name: str, message: str) -> None:
    assert isinstance(result.exception, SystemExit)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"Error: {name}")
    assert message in line


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.json"
    check_refused(lookup(nowhere, "colour"), f"{nowhere}:", "No such file")
    check_refused(lookup(tmp_path, "colour"), f"{tmp_path}:", "directory")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "bom.json").write_bytes('{"color": "grün"}'.encode("utf-8-sig"))
    assert lookup(tmp_path / "bom.json", "colour").stdout == "grün\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seek"], "No such command 'seek'"),
        (["lookup"], "Missing argument 'DICT'"),
        (["lookup", "car.json", "--cut", "1"], "No such option"),
        (["lookup", "car.json", "colour", "--cutoff", "high"], "'high' is not a valid float"),
        (["--unknown"], "No such option"),
    ],
)
def test_misuse_is_exit_2_with_a_hint(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "--help" in result.stderr


@pytest.mark.parametrize("command", ["lookup", "explain", "map", "explore"])
def test_a_cutoff_that_is_no_number_is_refused_by_its_name(car: Path, command: str) -> None:
    result = CliRunner().invoke(main, [command, str(car), "colour", "--cutoff", "nan"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: Invalid value for '--cutoff': expected a number, got NaN" in result.stderr
