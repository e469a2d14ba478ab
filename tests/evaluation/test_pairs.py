"""Pairs of words that people judged: the files that come along, and bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzydict import FileFormatError
from fuzzydict.evaluation.datasets import read_pairs, similarity_pairs


def test_all_pairs_are_there() -> None:
    pairs = similarity_pairs()
    assert {name: len(judged) for name, judged in pairs.items()} == {
        "WordSim-353": 353,
        "SimLex-999": 999,
    }
    assert ("love", "sex", 6.77) in pairs["WordSim-353"]
    assert ("old", "new", 1.58) in pairs["SimLex-999"]


def test_comments_and_blank_lines_are_no_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("# by hand\nlove\tsex\t6.77\n\nold\tnew\t1.58\n")
    assert read_pairs(file) == [("love", "sex", 6.77), ("old", "new", 1.58)]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"love\tsex\t6.77\nold new 1.58\n", r"line 2 .*'old new 1\.58'"),
        (b"old\tnew\tlow\n", "line 1 "),
        (b"old\tnew\tnan\n", "line 1 "),
        (b"old\tnew\t1.58\tA\n", "line 1 "),
        (b"# nothing\n", "no pair"),
        (b"old\tn\xe9w\t1.58\n", "byte 5 is not UTF-8"),
    ],
)
def test_a_bad_file_is_told_of(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"pairs\.tsv: .*{complaint}"):
        read_pairs(file)
