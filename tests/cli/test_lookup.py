"""``fuzzydict lookup`` as its users run it: values, options, lines, exit codes, bad files."""

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
import numpy as np
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict.io.records import as_line
from tests.support.properties import one_process

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


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_bytes(rb'{"color": "gr\u00fcn \u65e5", "hue": ["\udfff"]}')
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = run(tmp_path / "odd.json", "color", "hue", env=latin)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b'gr\xfcn \\u65e5\n["\\udfff"]\n'


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX only")
def test_a_query_that_is_not_utf_8_is_answered(car: Path) -> None:
    done = subprocess.run([SCRIPT, "lookup", car, b"colo\xffur"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"black\n")


# ---- options -----------------------------------------------------------------------------


def test_several_matches_are_lines_with_the_best_first(car: Path) -> None:
    d = FuzzyDict(CAR)
    for query in ("colour", "doors", "speed"):
        matches = [match for match in d.most_similar(query, topn=3) if match.score >= 0.2]
        result = lookup(car, query, "-n", "3", "--cutoff", "0.2")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [as_line(match.value) for match in matches]
    several = lookup(car, "colour", "?!", "doors", "-n", "1")
    assert (several.exit_code, several.stdout) == (1, "black\n\n4\n")


def test_the_best_that_are_asked_for_are_shown_whatever_their_score(
    car: Path, tmp_path: Path
) -> None:
    FuzzyDict(CAR, score_cutoff=0.9).save(tmp_path / "car.fuzzydict")
    for path in (car, tmp_path / "car.fuzzydict"):
        for n in (1, 3, 99):
            expected = [[m.key, f"{m.score:.3f}"] for m in FuzzyDict(CAR).most_similar("xyzzy", n)]
            result = lookup(path, "xyzzy", "-v", "-n", n)
            assert (result.exit_code, result.stderr) == (0, "")
            assert [line.split("\t")[1:] for line in result.stdout.splitlines()] == expected
    one = lookup(car, "speed", "-n", "3", "--cutoff", "0.02", "-v")
    assert [line.split("\t")[1] for line in one.stdout.splitlines()] == ["top speed"]
    nothing = lookup(car, "?!", "-n", "3")
    assert (nothing.exit_code, nothing.stdout) == (1, "\n")


def test_key_and_score_are_added_after_tabs(car: Path, tmp_path: Path) -> None:
    result = lookup(car, "-v", "colour", "doors", "xyzzy")
    first, second, third = result.stdout.split("\n")[:3]
    value, key, score = first.split("\t")
    assert (value, key) == ("black", "color")
    assert 0 <= float(score) <= 1
    assert (second, third) == ("4\tdoors\t1.000", "")
    (tmp_path / "tabs.json").write_text(r'{"a\tb": "c\td"}')
    assert lookup(tmp_path / "tabs.json", "-v", "a b").stdout.startswith('"c\\td"\t"a\\tb"\t0.9')


def test_the_query_is_told_where_lines_of_several_are_mixed(car: Path) -> None:
    queries = ("colour", "top\tspeed")
    lines = lookup(car, "-v", "-n", 2, *queries).stdout.splitlines()
    assert [line.split("\t")[3:] for line in lines] == [["colour"]] * 2 + [['"top\\tspeed"']] * 2
    piped = lookup(car, "-v", "-n", 2, lines="\n".join(queries).encode())
    assert piped.stdout.splitlines() == lines
    for query, two in zip(queries, (lines[:2], lines[2:]), strict=True):
        alone = lookup(car, "-v", "-n", 2, query).stdout.splitlines()
        assert alone == [line.rsplit("\t", 1)[0] for line in two]


def test_control_characters_are_quoted_for_a_terminal_would_obey_them(tmp_path: Path) -> None:
    signs = "\0\a\n\x1b\x7f\x9b\u2028"
    for sign in signs:
        (tmp_path / "odd.json").write_text(json.dumps({f"a{sign}b": f"c{sign}d"}))
        for options in ([], ["-v"], ["--json"]):
            result = lookup(tmp_path / "odd.json", *options, f"a{sign}b", "-n", "1")
            assert result.exit_code == 0
            assert not set(signs) & set(result.stdout.removesuffix("\n"))
        assert json.loads(result.stdout)["value"] == f"c{sign}d"
    (tmp_path / "odd.json").write_text(json.dumps({"color": "c\x1b[31md"}))
    assert lookup(tmp_path / "odd.json", "colour").stdout == '"c\\u001b[31md"\n'


def test_answers_as_json_are_an_object_a_line(car: Path) -> None:
    result = lookup(car, "--json", "extras", "xyzzy", "colour")
    assert result.exit_code == 1
    extras, missed, colour = map(json.loads, result.stdout.splitlines())
    assert extras == {"query": "extras", "key": "extras", "score": 1.0, "value": CAR["extras"]}
    assert missed == {"query": "xyzzy", "key": None, "score": None, "value": None}
    assert (colour["key"], colour["value"]) == ("color", "black")
    assert list(colour) == ["query", "key", "score", "value"]


def test_what_is_printed_as_json_is_json(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"color": NaN, "size": [Infinity, {"x": -Infinity}]}')
    result = lookup(tmp_path / "odd.json", "--json", "colour", "size")
    strict = [json.loads(line, parse_constant=pytest.fail) for line in result.stdout.splitlines()]
    assert [row["value"] for row in strict] == [None, [None, {"x": None}]]
    assert lookup(tmp_path / "odd.json", "colour").stdout == "NaN\n"


def test_a_dict_of_another_format_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "car.toml").write_text('color = "black"\nmade = 2024-02-29\n')
    result = lookup(tmp_path / "car.toml", "colour", "made")
    assert (result.exit_code, result.stdout) == (0, "black\n2024-02-29\n")
    (tmp_path / "car").write_text("id,what,is\n1,color,black\n")
    options = ["--format", "csv", "--key", "what", "--value", "is"]
    assert lookup(tmp_path / "car", "colour", *options).stdout == "black\n"
    values = {"color": np.arange(3), "size": (1, {(2, 3): np.float32(0.5)})}
    FuzzyDict(values, mode="pool").save(tmp_path / "car.fuzzydict")
    result = lookup(tmp_path / "car.fuzzydict", "colour", "size")
    assert (result.exit_code, result.stdout) == (0, '[0, 1, 2]\n[1, {"(2, 3)": 0.5}]\n')


def test_a_header_that_was_read_as_an_item_is_a_warning(tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("product,unit price\nsofa,100\nlamp,20\n")
    result = lookup(table, "sofas", "lamp")
    assert (result.exit_code, result.stdout) == (0, "100\n20\n")
    message = "line 1 looks like a header, but was read as an item; if it is a header, add"
    assert result.stderr == f"Warning: {table}: {message} --key product --value 'unit price'\n"
    named = lookup(table, "sofas", "--key", "product", "--value", "unit price")
    assert (named.stdout, named.stderr) == ("100\n", "")


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
    queries: list[str] = []
    nearest = FuzzyDict.nearest

    def recorded(d: FuzzyDict[Any], query: str) -> Any:
        queries.append(query)
        return nearest(d, query)

    monkeypatch.setattr(FuzzyDict, "nearest", recorded)
    once = lookup(car, *options, lines=b"colour\n?!\n").stdout
    many = lookup(car, *options, lines=b"colour\n?!\n" * 50)
    assert (many.exit_code, many.stdout) == (1, once * 50)
    assert many.stderr.count("no key matches '?!'") == 50
    assert queries == ["colour", "?!"] * 2


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


@pytest.mark.skipif(os.name != "posix", reason="streams are closed this way on POSIX only")
@pytest.mark.parametrize("closed", one_process("colour >&-", "<&-", "colour '?!' 2>&-"))
def test_a_closed_stream_is_no_error(car: Path, closed: str) -> None:
    command = ["sh", "-c", f'"$0" lookup "$1" {closed}', SCRIPT, str(car)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == (1 if "?!" in closed else 0)
    assert done.stdout == (b"black\n\n" if "?!" in closed else b"")
    assert done.stderr == b""


def test_the_table_of_english_words(car: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzydict.embedding.encoder.Brown", lambda: pytest.fail("it was opened"))
    assert lookup(car, "hue", "--vectors", "english").output == "black\n"


def test_vectors_of_ones_own_and_a_cutoff(car: Path, tmp_path: Path) -> None:
    axes = {"color": [1.0, 0.0], "brand": [0.0, 1.0], "hue": [0.9, 0.1]}
    WordVectors.from_mapping(axes).save(tmp_path / "mine.vectors")
    options: list[str | Path] = [car, "hue", "--vectors", tmp_path / "mine.vectors", "--cutoff"]
    found, refused = lookup(*options, "0"), lookup(*options, "0.999999")
    assert (found.exit_code, found.stdout) == (0, "black\n")
    assert (refused.exit_code, refused.stdout) == (1, "\n")
    assert "below the cutoff 1.000 (--cutoff sets it)" in refused.stderr


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


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.toml", "color = black", "line 1 is not TOML"),
        ("broken.yaml", "color: black\n  top: [1", "line 2 is not YAML"),
        ("ragged.csv", "a,1\nb,2,3\n", "line 2 has 3 cells"),
        ("cut.fuzzydict", "fuzzydct", "is not a fuzzydict file"),
    ],
)
def test_a_bad_file_of_another_format_is_one_line(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    check_refused(lookup(tmp_path / name, "colour"), str(tmp_path / name), message)


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
    check_refused(lookup(f"{nowhere}/", "colour"), "Invalid value for 'DICT'", "names a folder")
    check_refused(lookup("", "colour"), "Invalid value for 'DICT'", "'' cannot be the name")


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
