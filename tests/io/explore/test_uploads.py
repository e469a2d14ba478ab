"""Tables uploaded to the page: matched as `fuzzydict map` would, of every format, or refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError, FuzzyDict, FuzzyDictError
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.explore.answers import Answers
from tests.io.files import pyarrow, write
from tests.support.exploring import serving, upload

CELLS = ["Germny", "france", "Germny", "", "n/a", "qwzzt", "France", "?!", "Great Britian", "GB"]
KEYS = {"Germany": "DE", "France": "FR", "Great Britain": "GB", "NA": "Namibia"}


def countries() -> FuzzyDict[Any]:
    d = FuzzyDict(KEYS)
    d.aliases = {"GB": "Great Britain", "qwzzt": None}
    return d


def table(name: str, data: bytes) -> dict[str, Any]:
    return Answers(FuzzyDict()).table(data, lambda: None, name)


def column(d: FuzzyDict[Any], name: str, data: bytes, wanted: str = "") -> dict[str, Any]:
    return Answers(d).column(data, lambda: None, name, wanted)


def table_of(form: str, cells: list[str], folder: Path) -> bytes:
    """Return a table with a column of numbers and one of texts."""
    if form == "txt":
        return "".join(f"{cell}\n" for cell in cells).encode()
    return write(folder / f"table.{form}", ["n", "country"], [*enumerate(cells)]).read_bytes()


# ---- what is matched --------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "xlsx", "txt"])
def test_a_column_is_matched_as_map_does(tmp_path: Path, form: str) -> None:
    data, name = table_of(form, CELLS, tmp_path), f"orders.{form}"
    with serving(countries()) as server:
        told = upload(server, "table", data, name=name)
        found = upload(server, "column", data, name=name, column=told["columns"][-1])
    assert (told["rows"], told["columns"]) == (10, ["text"] if form == "txt" else ["n", "country"])
    cells = {cell["query"]: cell for cell in found.pop("cells")}
    assert found == {"rows": 10, "matched": 6, "unmatched": 2, "blank": 2, "notes": []}
    path, output = tmp_path / "cells.jsonl", tmp_path / "output.jsonl"
    path.write_bytes(table_of("jsonl", CELLS, tmp_path))
    cleaned = clean_column(countries(), Source(path, "country"), output)
    assert cleaned[:3] == (6, 1, 2)
    assert cleaned.refused == 1  # "qwzzt", for what the dict was taught is decided
    doubtful = [cell["doubtful"] for cell in cells.values()]  # which come first
    rows = sum(cell["count"] for cell in cells.values() if cell["doubtful"])
    assert (rows, doubtful) == (cleaned.doubtful, sorted(doubtful, reverse=True))
    for row in map(json.loads, output.read_text("utf-8").splitlines()):
        cell = cells.get(row["country"])
        assert (cell is None) == (row["country"] in ("", "n/a"))
        if cell:
            assert (cell["keys"][0]["key"] if cell["matches"] else None) == row["country_key"]
            assert cell["count"] == Counter(CELLS)[row["country"]]
    for query, cell in cells.items():
        assert cell["taught"] == (query in ("GB", "qwzzt"))
        assert len(cell["keys"]) == (0 if query == "?!" else 4)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"\xef\xbb\xbfa\r\nb\r\n\r\nc", ["a", "b", "", "c"]),
        ("\u00e9\u2028f\x0bg\n".encode(), ["é\u2028f\x0bg"]),
    ],
)
def test_each_line_of_a_text_is_a_cell(data: bytes, lines: list[str]) -> None:
    if data:
        assert table("a.TXT", data) == {"columns": ["text"], "rows": len(lines), "notes": []}
    found = column(FuzzyDict(KEYS), "a.TXT", data)
    assert found["rows"] == len(lines)
    assert {cell["query"] for cell in found["cells"]} == set(filter(None, lines))


def test_a_column_of_something_else_does_not_hide_the_rows() -> None:
    told = table("a.jsonl", b'{"tags": [1], "name": "a"}\n{"tags": [], "name": "b"}\n')
    assert (told["columns"], told["rows"]) == (["tags", "name"], 2)


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "wanted", "why"),
    [
        ("a.csv", b"n,m\n1\n", "n", "a.csv: line 2 has 1 cell where line 1 has 2"),
        ("a.csv", b"n,m\n1,2\n", "", "expected the name of a column"),
        ("a.jsonl", b'{"n": {}}\n', "n", "is an object; expected a text"),
        ("a.parquet", b"PAR1", "n", "a.parquet is damaged"),
        ("a.xls", b"", "n", "a.xls: expected a file that ends in .txt or .csv"),
        ("a.pdf", b"", "n", "expected a file that ends in"),
        ("", b"", "n", "expected a file that ends in"),
        ("../../etc/passwd", b"", "n", "expected a file that ends in"),
        ("a.txt", b"\xff", "", "is not UTF-8"),
        ("a.txt", b"red\n" + b"x" * 131_073, "text", "a text of more than 131,072 characters"),
        ("a.txt", "\n".join(map(str, range(5_001))).encode(), "", "more than 5,000 different"),
        pytest.param(
            *("a.csv", b"c\n" + b"a\n" * 1_000_001, "c", "1,000,000 rows; match it with the c"),
            marks=pytest.mark.slow("it reads a million rows, twice"),
        ),
    ],
)
def test_a_file_that_is_no_table_or_too_large_is_refused(
    name: str, data: bytes, wanted: str, why: str
) -> None:
    if name.endswith(".parquet"):
        pyarrow()
    with pytest.raises(FuzzyDictError) as refused:
        column(FuzzyDict(KEYS), name, data, wanted)
    assert why in str(refused.value)
    if "rows" in why:
        with pytest.raises(FuzzyDictError, match=why):
            table(name, data)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_short_parquet_file_takes_no_large_memory(tmp_path: Path, is_packed: bool) -> None:
    arrow, library = pyarrow()
    cells = ["x" * 100_000] * 2_000  # 200 MB, of which one text is unpacked
    given = arrow.table({"t": cells, "n": [[cell] for cell in cells]})
    path = tmp_path / "a.parquet"
    library.write_table(given, path, compression="zstd", use_dictionary=is_packed)
    data = path.read_bytes()
    assert len(data) < 100_000
    usual = arrow.default_memory_pool()
    arrow.set_memory_pool(counting := arrow.proxy_memory_pool(usual))
    try:
        assert table("a.parquet", data)["rows"] == 2_000
        (cell,) = column(countries(), "a.parquet", data, "t")["cells"]
    finally:
        arrow.set_memory_pool(usual)
    assert (cell["query"], cell["count"]) == (cells[0], 2_000)
    assert 0 < counting.max_memory() < 30_000_000
    with pytest.raises(FileFormatError, match=r"'n' is of type list<.*>; expected texts"):
        column(countries(), "a.parquet", data, "n")
