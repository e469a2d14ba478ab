"""Retrieval sets, read with care."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from fuzzydict import FileFormatError
from fuzzydict.evaluation.datasets import Query, read_sets


def test_read_sets_of_files_and_folders(tmp_path: Path) -> None:
    set_file = tmp_path / "tiny.json"
    set_file.write_text(_one(keys=["brand", "color"]))
    (tmp_path / "README.md").write_text("no set")
    (from_file,), (from_folder,) = read_sets([set_file]), read_sets([tmp_path])
    assert from_file == from_folder
    assert from_file.name == "tiny"
    assert from_file.queries == [Query("colour", frozenset({"color"}))]
    assert from_file.dictionaries[0].keys == ["brand", "color"]


def _one(**changes: Any) -> str:
    query = {"query": "colour", "accept": ["color"]}
    return json.dumps({"dictionaries": [{"keys": ["color"], "queries": [query], **changes}]})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "line 1, column 2 is not JSON"),
        ("[]", 'holds an array; expected an object such as {"dictionaries"'),
        ("[" * 100_000, "too deeply"),
        ('{"dictionaries": [], "dictionaries": []}', "'dictionaries' comes twice"),
        ("{}", "no retrieval set"),
        ('{"dictionaries": []}', "no retrieval set"),
        ('{"dictionaries": [[]]}', 'dictionary 0: .*"keys"'),
        (_one(keys=[]), 'dictionary 0: .*"keys"'),
        (_one(keys=["color", 3]), '"keys" must all be strings, got 3'),
        (_one(keys=["color", "color"]), "'color' comes twice"),
        (_one(queries="colour"), 'dictionary 0: .*"queries"'),
        (_one(queries=["colour"]), 'query 0: .*"accept"'),
        (_one(queries=[{"query": 3, "accept": ["color"]}]), 'query 0: its "query".* got 3'),
        (
            _one(queries=[{"query": "hue", "accept": ["tint"]}]),
            "'hue' accepts 'tint', .* not among",
        ),
        (_one(queries=[{"query": "hue", "accept": [["color"]]}]), '"accept" must all be strings'),
    ],
)
def test_a_bad_set_is_told_of(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(FileFormatError, match=rf"bad\.json.*{complaint}"):
        read_sets([file])


def test_a_key_that_comes_twice_among_many_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(_one(keys=[*map(str, range(100_000)), "99999"]))
    began = monotonic()
    with pytest.raises(FileFormatError, match="the key '99999' comes twice"):
        read_sets([tmp_path / "bad.json"])
    assert monotonic() - began < 20


def test_an_empty_folder_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"no \.json file"):
        read_sets([tmp_path])
