"""``fuzzydict lookup``: several answers, keys and scores, JSON, and dicts of every format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.records import as_line
from tests.cli.test_lookup import CAR, check_refused, lookup
from tests.io.test_dict_files import BAD


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


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
    assert lookup(tmp_path / "tabs.json", "-v", "a b").stdout == '"c\\td"\t"a\\tb"\t1.000\n'


def test_control_characters_are_quoted_for_a_terminal_would_obey_them(tmp_path: Path) -> None:
    signs = "".join(map(chr, [*range(9), *range(10, 32), *range(127, 160), 0x2028, 0x2029]))
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


def test_a_header_that_is_taken_as_an_item_is_told_beside_the_answers(tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("product,unit price\nsofa,100\nlamp,20\n")
    result = lookup(table, "sofas", "lamp")
    assert (result.exit_code, result.stdout) == (0, "100\n20\n")
    note = "line 1 looks like a header, but was read as an item; if it is a header, add"
    assert result.stderr == f"Warning: {table}: {note} --key product --value 'unit price'\n"
    told = lookup(table, "sofas", "--key", "product", "--value", "unit price")
    assert (told.stdout, told.stderr) == ("100\n", "")


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[bad[0] for bad in BAD])
def test_a_bad_file_of_any_format_is_one_line_with_its_name(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    check_refused(lookup(tmp_path / name, "colour"), str(tmp_path / name), message)
