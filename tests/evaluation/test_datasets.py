"""Data sets in files: what is read, and what is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError
from fuzzydict.evaluation.datasets import Query, read_sets, similarity_pairs


def test_read_sets_of_files_and_folders(tmp_path: Path) -> None:
    set_file = tmp_path / "tiny.json"
    set_file.write_text(_one(keys=["brand", "color"]))
    (tmp_path / "README.md").write_text("no set")
    (from_file,), (from_folder,) = read_sets([set_file]), read_sets([tmp_path])
    assert from_file == from_folder
    assert from_file.name == "tiny"
    assert from_file.queries == [Query("colour", frozenset({"color"}))]
    assert from_file.dictionaries[0].keys == ["brand", "color"]
    set_file.write_text(_one(queries=[{"query": "xyzzy", "accept": []}]))
    assert read_sets([set_file])[0].queries == [Query("xyzzy", frozenset())]  # no key answers it
    kind = {"query": "hue", "accept": ["color"], "kind": "synonym"}
    set_file.write_text(_one(queries=[kind]))
    assert read_sets([set_file])[0].queries[0].kind == "synonym"
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"has no \.json file"):
        read_sets([tmp_path / "empty"])


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
        (_one(keys=[]), 'dictionary 0: its "keys" is an empty list; name a key'),
        (_one(keys=["color", 3]), '"keys" must all be strings, got 3'),
        (_one(keys=["color", "color"]), "'color' comes twice"),
        (_one(keys=[*map(str, range(100_000)), "99999"]), "the key '99999' comes twice"),
        (_one(queries="colour"), 'dictionary 0: .*"queries"'),
        (_one(queries=[]), 'dictionary 0: its "queries" is an empty list'),
        (_one(queries=[{"query": "hue"}]), 'query 0: .*"accept" is a list'),
        (_one(queries=["colour"]), 'query 0: .*"accept"'),
        (
            _one(queries=[{"query": "hue", "accept": [], "kind": 3}]),
            '"kind" must be a string, got 3',
        ),
        (_one(queries=[{"query": 3, "accept": ["color"]}]), 'query 0: its "query".* got 3'),
        (
            _one(queries=[{"query": "hue", "accept": ["tint"]}]),
            "'hue' accepts 'tint', .* not among",
        ),
        (_one(queries=[{"query": "hue", "accept": [["color"]]}]), '"accept" must all be strings'),
    ],
)
def test_a_bad_set_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(FileFormatError, match=rf"bad\.json.*{complaint}"):
        read_sets([file])


# ---- pairs of words -----------------------------------------------------------------------


def test_all_pairs_are_there() -> None:
    pairs = similarity_pairs()
    assert {name: len(judged) for name, judged in pairs.items()} == {
        "WordSim-353": 353,
        "SimLex-999": 999,
    }
    assert ("love", "sex", 6.77) in pairs["WordSim-353"]
    assert ("old", "new", 1.58) in pairs["SimLex-999"]
