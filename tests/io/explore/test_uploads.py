"""Tables uploaded to the page: matched as `fuzzydict map` would, of every format, or refused."""

from __future__ import annotations

import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, FuzzyDictError, OptionError
from fuzzydict.io.columns import Source, clean_column
from fuzzydict.io.explore import uploads
from fuzzydict.io.explore.answers import Answers
from tests.benchmarks.hostile_files import ATTACKS
from tests.io.test_mutated_files import CHANGES, TABLES, changed
from tests.support.exploring import BYTES, posted, sent, serving, upload

CELLS = ["Germny", "france", "Germny", "", "n/a", "qwzzt", "France", "?!", "Great Britian", "GB"]
KEYS = {"Germany": "DE", "France": "FR", "Great Britain": "GB", "NA": "Namibia"}


def countries() -> FuzzyDict[Any]:
    d = FuzzyDict(KEYS)
    d.aliases["GB"] = "Great Britain"
    d.aliases["qwzzt"] = None
    return d


def table_of(form: str, cells: list[str]) -> bytes:
    """Return a table with a column of numbers and one of texts."""
    match form:
        case "txt":
            return "".join(f"{cell}\n" for cell in cells).encode()
        case "jsonl":
            objects = [{"n": place, "country": cell} for place, cell in enumerate(cells)]
            return "".join(f"{json.dumps(one)}\n" for one in objects).encode()
        case "parquet":
            arrow = pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
            parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'parquet'")
            file = BytesIO()
            parquet.write_table(arrow.table({"n": range(len(cells)), "country": cells}), file)
            return file.getvalue()
        case "xlsx":
            openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'excel'")
            file, book = BytesIO(), openpyxl.Workbook()
            for row in [("n", "country"), *enumerate(cells)]:
                book.active.append(row)
            book.save(file)
            return file.getvalue()
    comma = "\t" if form == "tsv" else ","
    rows = [f"n{comma}country", *(f"{place}{comma}{cell}" for place, cell in enumerate(cells))]
    return "".join(f"{row}\r\n" for row in rows).encode()


FORMS = ["csv", "tsv", "jsonl", "parquet", "xlsx", "txt"]


@pytest.mark.parametrize("form", FORMS)
def test_a_column_is_matched_as_map_does(tmp_path: Path, form: str) -> None:
    data, name = table_of(form, CELLS), f"orders.{form}"
    with serving(countries()) as server:
        told = upload(server, "table", data, name=name)
        assert told["rows"] == len(CELLS)
        if form == "txt":
            found = upload(server, "column", data, name=name)
        else:
            assert told["columns"] == ["n", "country"]
            found = upload(server, "column", data, name=name, column="country")
    cells = {cell["query"]: cell for cell in found.pop("cells")}
    assert found == {"rows": 10, "matched": 6, "unmatched": 2, "blank": 2, "notes": []}
    path = tmp_path / "cells.jsonl"
    path.write_bytes(table_of("jsonl", CELLS))
    cleaned = clean_column(
        countries(), Source(path, "country"), output := tmp_path / "output.jsonl"
    )
    assert (cleaned.matched, cleaned.blank) == (6, 2)
    assert cleaned.unmatched + cleaned.refused == 2
    for row in map(json.loads, output.read_text("utf-8").splitlines()):
        cell = cells.get(row["country"])
        assert (cell is None) == (row["country"] in ("", "n/a"))
        if cell:
            assert (cell["key"] if cell["matches"] else None) == row["country_key"]
            assert cell["count"] == Counter(CELLS)[row["country"]]
    for query, cell in cells.items():
        assert cell["taught"] == (query in ("GB", "qwzzt"))
        assert (query == "?!") == (cell["key"] is None)
        assert len(cell["others"]) == (0 if cell["key"] is None else 3)


def test_what_is_to_be_decided_comes_first() -> None:
    keys = ["color", "top speed", "price", "brand", "engine power"]
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=0.1)
    d.aliases["zip"] = None
    lines = b"price\ncolour\nzip\nqwzzt\nzzz\nzzz\npower\ntopspeed\nmarque\nmarque"
    found = uploads.column(d, "a.txt", lines, None)["cells"]
    kinds = [
        "doubtful" if one["doubtful"] else "sure" if one["matches"] or one["taught"] else "none"
        for one in found
    ]
    assert kinds == sorted(kinds, key=["doubtful", "none", "sure"].index)
    assert set(kinds) == {"doubtful", "none", "sure"}
    assert found[0]["count"] == 2  # the most frequent of the doubtful
    for one in found:
        best = d.most_similar(one["query"], 6)
        assert [one["key"], *(other["key"] for other in one["others"])] == [m.key for m in best]
        assert one["score"] == pytest.approx(best[0].score)


def test_decisions_taught_are_certain_when_the_column_is_matched_again() -> None:
    with serving(countries()) as server:
        sent(server, "teach", query="Germny", key="France")
        found = upload(server, "column", b"Germny", name="pasted.txt")
    (cell,) = found["cells"]
    assert (cell["key"], cell["doubtful"], cell["taught"]) == ("France", False, True)


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_short_parquet_file_takes_no_large_memory(is_packed: bool, is_nested: bool) -> None:
    arrow = pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'parquet'")
    cells = ["x" * 100_000] * 2_000  # 200 MB
    file = BytesIO()
    table = arrow.table({"n": ["1"] * 2000, "text": [[c] for c in cells] if is_nested else cells})
    parquet.write_table(table, file, compression="zstd", use_dictionary=is_packed)
    assert len(file.getvalue()) < 100_000
    with pytest.raises(FileFormatError, match="bytes or more when it is unpacked"):
        uploads.table("a.parquet", file.getvalue())
    with pytest.raises(FileFormatError, match="bytes or more when it is unpacked"):
        uploads.column(countries(), "a.parquet", file.getvalue(), "n")


@pytest.mark.parametrize("scorer", [None, "spelling", "dot", "cosine"])
def test_what_was_taught_is_not_doubtful_whatever_the_score(scorer: str | None) -> None:
    vectors = {"germany": [0.1, 0.2], "france": [0.2, 0.1], "deutschland": [0.3, 0.3]}
    d = FuzzyDict({"germany": 1, "france": 2}, scorer=scorer, embedding=vectors)
    d.aliases["deutschland"] = "germany"
    (cell,) = uploads.column(d, "a.txt", b"deutschland", None)["cells"]
    assert (cell["key"], cell["doubtful"], cell["taught"]) == ("germany", False, True)
    answer = Answers(d).answer("deutschland")
    assert (answer["matches"], answer["doubtful"], answer["taught"]) == (True, False, True)


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
    told = {"columns": ["text"], "rows": len(lines), "notes": []}
    assert uploads.table("a.TXT", data) == told
    found = uploads.column(FuzzyDict(KEYS), "a.TXT", data, None)
    assert found["rows"] == len(lines)
    assert {cell["query"] for cell in found["cells"]} == set(filter(None, lines))


def test_a_dict_that_matches_nothing_leaves_all_to_decide() -> None:
    found = uploads.column(FuzzyDict({7: 1}), "a.txt", b"one\ntwo\none", None)
    assert (found["matched"], found["unmatched"]) == (0, 3)
    assert [(cell["query"], cell["key"]) for cell in found["cells"]] == [
        ("one", None),
        ("two", None),
    ]


def test_the_page_is_told_how_a_file_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    data = "land;code\nS\u00fcdafrika;ZA\nGerm\u00e4ny;DE\n".encode("cp1252")
    with serving(countries()) as server:
        told = upload(server, "table", data, name="a.csv")
        found = upload(server, "column", data, name="a.csv", column="land")
    assert (told["columns"], told["rows"]) == (["land", "code"], 2)
    assert told["notes"] == found["notes"] == ["a.csv: read with ';' and windows-1252"]
    assert {cell["query"] for cell in found["cells"]} == {"S\u00fcdafrika", "Germ\u00e4ny"}
    assert capsys.readouterr() == ("", "")


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "column", "why"),
    [
        ("a.csv", b"", "n", "a.csv: line 1 is empty"),
        ("a.csv", b"n,m\n1\n", "n", "a.csv: line 2 has 1 cell where line 1 has 2"),
        ("a.csv", b"name,m\n1,2\n", "nmae", "has no column 'nmae' (did you mean 'name'?)"),
        ("a.csv", b"n,n\n1,2\n", "n", "several columns 'n'"),
        ("a.csv", b"n,m\n1,2\n", None, "expected the name of a column"),
        ("a.jsonl", b"[1]\n", "n", "line 1"),
        ("a.jsonl", b"\n", "n", "n"),
        ("a.jsonl", b'{"n": {}}\n', "n", "is an object; expected a text"),
        ("a.parquet", b"PAR1", "n", "a.parquet is damaged"),
        ("a.xlsx", b"PK\3\4", "n", "a.xlsx is damaged"),
        ("a.xls", b"", "n", "a.xls: expected a file that ends in .txt or .csv"),
        ("a.pdf", b"", "n", "expected a file that ends in"),
        ("", b"", "n", "expected a file that ends in"),
        ("../../etc/passwd", b"", "n", "expected a file that ends in"),
        ("a.txt", b"\xff", None, "is not UTF-8"),
    ],
)
def test_a_file_that_is_no_table_is_refused(
    name: str, data: bytes, column: str | None, why: str
) -> None:
    if name.endswith(("parquet", "xlsx")):
        table_of(name.partition(".")[2], CELLS)  # or it is skipped
    with pytest.raises(FuzzyDictError) as refused:
        uploads.column(FuzzyDict(KEYS), name, data, column)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("data", "why", "is_table"),
    [
        (b"red\n" + b"x" * 131_073, "a text of more than 131,072 characters in 'text'", True),
        ("\n".join(map(str, range(5_001))).encode(), "more than 5,000 different texts", True),
        (b"a\n" * 1_000_001, "more than 1,000,000 rows; match it with the command", False),
    ],
)
def test_there_is_a_limit_to_what_is_matched(data: bytes, why: str, is_table: bool) -> None:
    with pytest.raises(OptionError, match=why):
        uploads.column(FuzzyDict(KEYS), "a.txt", data, None)
    if is_table:
        assert uploads.table("a.txt", data)["rows"] == data.count(b"\n") + 1
        return
    with pytest.raises(OptionError, match=why):
        uploads.table("a.txt", data)


def test_a_short_file_of_very_many_rows_is_refused_soon() -> None:
    arrow = pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'parquet'")
    file, part = BytesIO(), arrow.table({"c": ["a"] * 100_000})
    with parquet.ParquetWriter(file, part.schema) as writer:
        for _ in range(11):
            writer.write_table(part)
    assert len(file.getvalue()) < 10_000
    with pytest.raises(OptionError, match="more than 1,000,000 rows"):
        uploads.table("a.parquet", file.getvalue())
    with pytest.raises(OptionError, match="more than 1,000,000 rows"):
        uploads.column(FuzzyDict(KEYS), "a.parquet", file.getvalue(), "c")


def test_a_column_of_something_else_does_not_hide_the_rows() -> None:
    data = b'{"tags": [1], "name": "a"}\n{"tags": [], "name": "b"}\n'
    told = uploads.table("a.jsonl", data)
    assert (told["columns"], told["rows"]) == (["tags", "name"], 2)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@given(CHANGES, st.binary(max_size=20) | st.none())
def test_a_file_that_somebody_changed_is_matched_or_refused(
    form: str, changes: list[tuple[int, int, str]], noise: bytes | None
) -> None:
    data, name = changed(TABLES[form], changes) + (noise or b""), f"file.{form}"
    try:
        told = uploads.table(name, data)
        found = uploads.column(FuzzyDict(KEYS), name, data, told["columns"][0])
    except FuzzyDictError as error:
        assert name in str(error)  # noqa: PT017 - it may be read as well
        return
    assert found["rows"] == told["rows"]
    assert found["matched"] + found["unmatched"] + found["blank"] == found["rows"]


@pytest.mark.parametrize(
    ("form", "attack"), [(form, name) for form in ("csv", "jsonl") for name in ATTACKS[form]]
)
def test_hostile_tables_are_answered(form: str, attack: str) -> None:
    data = ATTACKS[form][attack](30_000).encode()
    with serving(FuzzyDict(KEYS)) as server:
        for path in ("table", "column"):
            response, body = posted(server, f"{path}?name=a.{form}&column=key", data, BYTES)
            assert response.status in (200, 400)
            assert json.loads(body)
