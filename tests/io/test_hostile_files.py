"""Files that are damaged, or made to cost time or memory: each is read or refused with its name."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict.io.dict_files import read_dict
from fuzzydict.io.review import DecidedFile, read_examples
from fuzzydict.io.text_tables import Reading
from tests.benchmarks.hostile_files import ATTACKS, FORMATS, damaged, reading
from tests.io.files import clean, pyarrow, written

CODES = FuzzyDict({"colour": 1, "price": 2})
#: What reads a table of the columns query and target.
READERS: dict[str, Callable[[Path], Any]] = {
    "dict": lambda path: read_dict(path, Reading(key="query", value="target")),
    "table": lambda path: clean(
        CODES, path, "query", path.with_name("out"), review=path.with_name("review.csv")
    ),
    "examples": read_examples,
    "review": lambda path: DecidedFile(path, CODES),
}
CSV, LINE = b"query,target\na,b\n", b'{"query": "a", "target": "b"}\n'
DAMAGES: dict[str, tuple[bytes, str]] = {
    "cells too many.csv": (CSV + b"c,d,e\n", "line 3 has 3 cells where line 1 has 2; put a cell"),
    "cells too few.csv": (CSV + b"c\n", "line 3 has 1 cell where line 1 has 2"),
    "column twice.csv": (b"query,target,query\na,b,c\n", "has several columns 'query'"),
    "no column.csv": (b"quer,target\na,b\n", "has no column 'query' (did you mean 'quer'?)"),
    "semicolons.csv": (b"query;target\na;b;\n", "its columns are 'query;target'"),
    "open quote.csv": (CSV + b'"c,d\ne,f\n', "line 3 opens a quote that is not closed"),
    "inner quote.csv": (CSV + b'"c"d,e\n', "line 3 is not valid CSV"),
    "endless quote.csv": (CSV + b'"c,d\n' + b"e,f\n" * 99_999, "line 3 has a cell of more than"),
    "large cell.csv": (CSV + b"c," + b"x" * 200_000, "line 3 has a cell of more than"),
    "long line.tsv": (b"a" * (2**24 + 1), "line 1 has more than 16777216 characters"),
    "old ends.csv": (b"query,target\ra,b\r", "line 1 holds a carriage return; lines end"),
    "zero byte.csv": (CSV + b"c,\0\n", "line 3 holds a zero byte"),
    "binary.csv": (b"\x89PNG\r\n\x1a\n\0", "line 1: byte 0 is not UTF-8"),
    "no text.csv": (CSV + b"\x89PNG\x1a\n", "line 3: byte 0 is not UTF-8; save the file"),
    "damaged.csv": (CSV + b"Fran\xc3\xa7a,c\nCura\xe7ao,d\n", "line 4: byte 4 is not UTF-8; save"),
    "cut.jsonl": (LINE + b'{"query": "a"', "line 2, column 14 is not JSON"),
    "no value.jsonl": (LINE + b'{"query"}\n', "line 2, column 9 is not JSON"),
    "no object.jsonl": (LINE + b"[1]\n", "line 2"),
    "key twice.jsonl": (
        LINE + b'{"query": {"b": 1, "b": 2}}\n',
        "line 2: the key 'b' comes twice in one object",
    ),
    "deep.jsonl": (LINE + b"[" * 100_000, "line 2: is nested too deeply"),
    "long number.jsonl": (
        LINE + b'["a", ' + b"9" * 5000 + b"]",
        "line 2: one of its numbers has too many digits; put it in quotes",
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_refused_with_its_line_and_nothing_is_written(
    tmp_path: Path, name: str, reader: str
) -> None:
    (data, message), path = DAMAGES[name], tmp_path / name
    path.write_bytes(data)
    path.with_name("out").write_text("old")
    with pytest.raises(FileFormatError) as caught:
        READERS[reader](path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "out"])
    assert (path.read_bytes(), path.with_name("out").read_text()) == (data, "old")


EVERY = 1 if os.environ.get("FUZZYDICT_SLOW") else 3  # so many bytes of a footer one is changed
FILES = [(form, name) for form, attacks in ATTACKS.items() for name in attacks]


@pytest.mark.parametrize(("form", "name"), FILES, ids=["-".join(file) for file in FILES])
def test_a_hostile_file_is_read_or_refused(tmp_path: Path, form: str, name: str) -> None:
    if form == "parquet":
        pyarrow()
    size = 3_000 if form == "yaml" else 30_000
    assert reading(form, ATTACKS[form][name](size), tmp_path / f"file.{form}")()


def test_a_row_of_csv_without_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "a,1\nb," + '"\n",' * 5_000_000)
    with pytest.raises(FileFormatError, match="line 2 begins a row of more than 16777216 char"):
        read_dict(path)


@pytest.mark.filterwarnings("ignore:.*read with")
@pytest.mark.parametrize("form", FORMATS)
def test_mutated_files_are_read_or_refused(tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pyarrow()
    outcomes = {damaged(form, random.Random(number), tmp_path) for number in range(60)}
    assert outcomes == {"read", "refused"}


def test_parquet_with_any_byte_of_its_footer_changed_is_read_or_refused(tmp_path: Path) -> None:
    """Some of these once ended the process, and some gave errors of other kinds."""
    arrow, parquet = pyarrow()
    path, output = tmp_path / "t.parquet", tmp_path / "out.parquet"
    parquet.write_table(arrow.table({"c": ["colour", "x"]}).replace_schema_metadata(), path)
    data, refused = path.read_bytes(), 0
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in range(footer, len(data) - 8, EVERY):
        for byte in (102, 232, data[place] ^ 1):
            path.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            try:
                assert clean(CODES, path, "c", output).rows >= 0
            except FileFormatError as error:
                assert str(error).startswith(str(path))  # noqa: PT017 - it may be read as well
                refused += 1
    assert refused > 100 / EVERY
