"""Judged data, read with care, and the measures by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FileFormatError, WordVectors
from tests.benchmarks.measures import (
    JudgedPair,
    Query,
    hit_at_1,
    mean_reciprocal_rank,
    rank_correlation,
    read_pairs,
    read_sets,
)


def test_measures_by_hand() -> None:
    accepted = [{"a"}, {"b", "c"}, {"d"}, {"e"}]
    assert hit_at_1(["a", "c", "a", None], accepted) == 0.5
    ranked = [["a"], ["x", "c"], ["x", "y", "z"], []]
    assert mean_reciprocal_rank(ranked, accepted) == (1 + 1 / 2) / 4
    assert mean_reciprocal_rank([["x", "a"]], [{"a"}], topn=1) == 0


def test_rank_correlation_takes_the_order_alone_and_leaves_no_pair_out() -> None:
    vectors = WordVectors(["n", "e", "ne"], [[0.0, 1.0], [1.0, 0.0], [0.9, 1.0]])
    pairs = [JudgedPair("n", "ne", 9), JudgedPair("e", "ne", 8.9), JudgedPair("n", "e", 0)]
    assert rank_correlation(vectors, pairs) == pytest.approx(1)
    assert rank_correlation(vectors, [p._replace(judged=-p.judged) for p in pairs]) < -0.99

    class Blank:
        def encode(self, texts: Any) -> Any:
            return np.array([[float(text != "?!"), 0.0] for text in texts], np.float32)

    with_blank = [JudgedPair("?!", "n", 0.0), JudgedPair("n", "e", 1.0)]
    assert rank_correlation(Blank(), with_blank) == pytest.approx(1)


def test_read_pairs_says_which_line_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("# by hand\nlove\tsex\t6.77\n\nold\tnew\t1.58\n")
    assert read_pairs(file) == [("love", "sex", 6.77), ("old", "new", 1.58)]
    file.write_text("love\tsex\t6.77\nold new 1.58\n")
    with pytest.raises(FileFormatError, match=r"pairs\.tsv: line 2 .*'old new 1\.58'"):
        read_pairs(file)
    file.write_text("# nothing\n")
    with pytest.raises(FileFormatError, match="no pair"):
        read_pairs(file)


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
        ("{", "is not JSON"),
        ("[]", "no retrieval set"),
        ('{"dictionaries": []}', "no retrieval set"),
        ('{"dictionaries": [[]]}', 'dictionary 0: .*"keys"'),
        (_one(keys=[]), 'dictionary 0: .*"keys"'),
        (_one(keys=["color", 3]), "keys must all be strings"),
        (_one(keys=["color", "color"]), "'color' comes twice"),
        (_one(queries="colour"), 'dictionary 0: .*"queries"'),
        (_one(queries=["colour"]), 'query 0: .*"accept"'),
        (_one(queries=[{"query": 3, "accept": ["color"]}]), 'query 0: its "query".* got 3'),
        (
            _one(queries=[{"query": "hue", "accept": ["tint"]}]),
            "'hue' accepts 'tint', .* not among",
        ),
        (_one(queries=[{"query": "hue", "accept": [["color"]]}]), "accepts .* not among"),
    ],
)
def test_a_bad_set_is_told_of(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(FileFormatError, match=rf"bad\.json.*{complaint}"):
        read_sets([file])


def test_an_empty_folder_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"no \.json file"):
        read_sets([tmp_path])
