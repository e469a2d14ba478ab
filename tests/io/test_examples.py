"""Examples in files: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzydict import FileFormatError, OptionError
from fuzzydict.io.examples import is_undecided, read_examples


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


EXPECTED = [("germny", "Germany"), ("qwzzt", None), ("Frnce", "France")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "query,target\ngermny,Germany\nqwzzt,\n\nFrnce,France\n"),
        ("e.csv", "\ufeffcount,target,query\r\n3,Germany,germny\r\n2,  ,qwzzt\r\n1,France,Frnce"),
        ("e.tsv", 'query\ttarget\n"germny"\tGermany\nqwzzt\t\nFrnce\tFrance\n'),
        ("e.csv", "query,target\ngermny,Germany\n,\nqwzzt,\nFrnce,France\n ,\n,\n"),
        (
            "e.jsonl",
            '{"query": "germny", "target": "Germany", "count": 3}\n{"query": "qwzzt", '
            '"target": null}\n\n{"target": "France", "query": "Frnce"}',
        ),
        ("e.ndjson", "\n".join(json.dumps({"query": q, "target": t or ""}) for q, t in EXPECTED)),
    ],
)
def test_examples_are_queries_with_their_targets(tmp_path: Path, name: str, content: str) -> None:
    assert read_examples(written(tmp_path, name, content)) == EXPECTED
    form = {".csv": "csv", ".tsv": "tsv"}.get(Path(name).suffix, "jsonl")
    assert read_examples(written(tmp_path, "e.txt", content), format=form) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "query,target\npower,battery\nhue,color\npower,horse power\n"),
        (
            "e.jsonl",
            '{"query": "power", "target": ["battery"]}\n{"query": "hue", "target": "color"}\n'
            '{"query": "power", "target": "horse power"}\n',
        ),
        (
            "e.jsonl",
            '{"query": "power", "target": ["battery", "horse power"]}\n'
            '{"query": "hue", "target": ["color"]}\n',
        ),
    ],
)
def test_a_query_may_have_several_right_keys(tmp_path: Path, name: str, content: str) -> None:
    examples = read_examples(written(tmp_path, name, content))
    assert sorted(examples) == [("hue", "color"), ("power", "battery"), ("power", "horse power")]


@pytest.mark.parametrize("target", ["?", "? Germany", "?Germany", " ? "])
def test_a_target_with_a_question_mark_is_undecided(target: str) -> None:
    assert is_undecided(target)
    assert not is_undecided("Who?")


def test_an_example_may_come_twice_if_it_says_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "e.csv", "query,target\na,b\na,b\n")
    assert read_examples(path) == [("a", "b"), ("a", "b")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "is empty; expected the columns query and target"),
        ("e.csv", "query,key\na,b\n", "has no column 'target'; its columns are 'query', 'key'"),
        ("e.csv", "query,target\na,b,c\n", "line 2 has 3 cells where line 1 has 2"),
        ("e.csv", "query,target\na,b\n ,c\n", "line 3 has a blank query; fill it in, or"),
        ("e.csv", "query,target\na,b\n\na,\n", "'a' has two targets, 'b' on line 2 and None on l"),
        ("e.csv", "query,target\na,\na,b\n", "'a' has two targets, None on line 2 and 'b' on lin"),
        ("e.jsonl", '{"query": "a", "target": []}\n', "line 1: expected the right keys as target"),
        ("e.jsonl", '{"query": "a", "target": ["b", " "]}\n', "line 1: expected the right keys as"),
        ("e.jsonl", '{"query": "a", "target": ["b", 3]}\n', "line 1: expected the right keys as t"),
        ("e.csv", b"query,target\n\x81,b\n", "line 2: byte 0 is not UTF-8"),
        ("e.jsonl", '{"query": "a"}\n', 'line 1: expected {"query": ..., "target": ...}'),
        ("e.jsonl", '["a", "b"]\n', 'line 1: expected {"query": ..., "target": ...}'),
        ("e.jsonl", '{"query": 1, "target": "b"}\n', "line 1 has a number where a text is expect"),
        ("e.jsonl", '{"query": ["a"], "target": "b"}\n', "line 1 has an array where a text is ex"),
        ("e.jsonl", '{"query": "a", "target": {}}\n', "line 1 has an object where a text is expec"),
        ("e.jsonl", '{"query": "a"\n', "line 1, column 14 is not JSON"),
    ],
)
def test_bad_examples_are_refused(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_examples(written(tmp_path, name, content))
    assert str(caught.value).startswith(str(tmp_path / name))
    assert message in str(caught.value)


def test_examples_of_another_format_are_refused(tmp_path: Path) -> None:
    for name in ("e.parquet", "e.txt"):
        with pytest.raises(OptionError, match=r"expected examples of format csv, tsv, jsonl"):
            read_examples(written(tmp_path, name, ""))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_examples(tmp_path / "nowhere.csv")
