"""Tables in files: what was there is kept, what is added fits, what is damaged is refused."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, MissingExtraError
from fuzzydict.io.columns import Cleaned, clean_column
from tests.io.test_columns import ADDED, COUNTRIES, MESSY, cleaned, reference, write_csv

# ---- CSV and TSV --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        b"country\nFrance\n",
        b"country\nFrance",  # no end of the last line
        b"\xef\xbb\xbfcountry,b\r\nFrance,1\r\n",  # a mark, and ends of lines as on Windows
        b'"country","b"\n"France","1"\n\n"a ""b""\nc",\'2\'\n\n\n',
        b"b,country\n\"two\r\nlines\",x\n3 , 'y' \n",
        "b,country\nZoë,日本\n".encode(),
        b"country,b\nFrance,\n,\n",
    ],
)
def test_what_was_there_is_kept_byte_for_byte(tmp_path: Path, table: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(table)
    nothing = FuzzyDict({"country": ""}, score_cutoff=float("inf"))
    data, _ = cleaned(tmp_path / "t.csv", d=nothing)
    assert data.replace(b",country_key,country_value,country_score", b"").replace(b",,,", b"") in (
        table,
        table.replace(b",\n", b"\n").replace(b"\n,\n", b"\n\n"),  # a cell that was empty as well
    )


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@given(
    st.lists(st.tuples(CELLS, st.sampled_from([*MESSY, 'a "b", c'])), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["utf-8", "utf-8-sig"]),
)
def test_any_table_keeps_its_cells_and_order(
    tmp_path_factory: pytest.TempPathFactory,
    body: list[tuple[str, str]],
    end: str,
    quoting: Any,
    encoding: str,
) -> None:
    rows = [["note", "country"], *([f".{note}", cell] for note, cell in body)]
    text = io.StringIO(newline="")
    # With its ends of lines put in later, csv quotes both of their characters.
    csv.writer(text, quoting=quoting).writerows(rows)
    table = tmp_path_factory.mktemp("any") / "t.tsv"
    table.write_bytes(text.getvalue().encode(encoding))
    data, counts = cleaned(table, format="csv")
    assert data.startswith(b"\xef\xbb\xbf") == (encoding == "utf-8-sig")
    read = list(csv.reader(io.StringIO(data.decode(encoding), newline="")))
    assert [row[:2] for row in read] == rows
    assert [row[2] for row in read[1:]] == [reference(COUNTRIES, c)[0] or "" for _, c in body]
    assert counts.rows == len(body)
    assert end


def test_a_table_of_tabs(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"country\tb\nFrance\tx, y\n")
    d = FuzzyDict({"France": "a\tb"})
    data, _ = cleaned(tmp_path / "t.tsv", d=d)
    assert data.splitlines()[1] == b'France\tx, y\tFrance\t"a\tb"\t1.0'


def test_the_new_columns_are_named_by_a_prefix(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], ["France"]])
    for prefix, names in [(None, ADDED), ("x ", ["x key", "x value", "x score"])]:
        data, _ = cleaned(table, prefix=prefix)
        assert data.decode().splitlines()[0].split(",") == ["country", *names]
    (tmp_path / "out").rename(tmp_path / "again.csv")
    with pytest.raises(FileFormatError, match=r"again.csv has a column .* already.*prefix"):
        cleaned(tmp_path / "again.csv", prefix="x ")


# ---- JSON Lines ---------------------------------------------------------------------------


def test_lines_of_json_get_fields(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    lines = [
        '{"n": 1.50, "country": "germany"}',
        '{ "country":"Great Britain" }  ',
        "{}",
        '{"country": null, "x": [{"y": 1e3}]}',
        '{"country": 44}',
        '{"country": "qw\\udfffzzt", "z": "\\udfff"}',
    ]
    table.write_bytes("\r\n".join(lines).encode())
    data, counts = cleaned(table)
    read = [json.loads(line) for line in data.decode().splitlines()]
    for row, line in zip(read, lines, strict=True):
        before = json.loads(line)
        assert {name: row[name] for name in before} == before
        cell = before.get("country")
        expected = reference(COUNTRIES, str(cell)) if cell else (None, None, None)
        assert [row[name] for name in ADDED] == [*expected]
    assert data.startswith(b'{"n": 1.50, "country": "germany", ')
    assert read[1]["country_value"] == ["GB", 44]
    assert data.count(b"\r\n") == 5
    assert counts == Cleaned(matched=2, unmatched=2, blank=2)


def test_blank_lines_among_lines_of_json_stay_as_they_are(tmp_path: Path) -> None:
    blank = b"\xef\xbb\xbf \r\n\n"
    row = b'{"country": "qwzzt"}\n'
    (tmp_path / "t.jsonl").write_bytes(blank + row + b"\t \n\n" + row + b"\n  ")
    data, counts = cleaned(tmp_path / "t.jsonl")
    added = b', "country_key": null, "country_value": null, "country_score": null}'
    longer = row.replace(b"}", added)
    assert data == blank + longer + b"\t \n\n" + longer + b"\n  "
    assert counts == Cleaned(matched=0, unmatched=2, blank=0)


# ---- tables that are refused --------------------------------------------------------------

BAD = {
    "no header": (b"", "line 1 is empty; expected the names of the columns"),
    "a blank header": (b"\n\ncountry\nFrance\n", "line 1 is empty"),
    "another column": (b"Country\nFrance\n", "has no column 'country'; its columns are 'Country'"),
    "the column twice": (b"country,country\na,b\n", "has several columns 'country'"),
    "semicolons": (b"id;country\n1;France\n", "are 'id;country'; is it separated by ';'? save it"),
    "a name that is taken": (b"country,country_key\na,b\n", "has a column 'country_key' already"),
    "a cell too many": (b"country,b\nFrance,1\nSpain,2,3\n", "line 3 has 3 cells where line 1 has"),
    "a cell too few": (b"country,b\nFrance,1\nSpain\n", "line 3 has 1 cells where line 1 has 2"),
    "no UTF-8": (b"country\nFrance\nCura\xe7ao\n", "line 3: byte 4 is not UTF-8"),
    "an open quote": (b'country\n"France\nSpain\n', "line 2 opens a quote"),
    "an endless quote": (b'country\n"France\n' + b"Spain\n" * 99_999, "line 2 has a cell of more"),
    "zero bytes": (b"country\nFr\0ance\n", "line 2 holds a zero byte"),
    "other ends of lines": (b"country\rFrance\rSpain\r", "line 1 holds a carriage return"),
    "a binary file": (b"\x89PNG\r\n\x1a\n\0", "line 1: byte 0 is not UTF-8"),
}
BAD_LINES = {
    "no object": (b'{"country": "France"}\n[1]\n', "line 2 holds an array; expected an object"),
    "a list as cell": (b'{"country": ["France"]}\n', "line 1: 'country' is an array"),
    "no JSON": (b'{"country": "France"}\n{"country"}\n', "line 2, column 11 is not JSON"),
    "a field that is taken": (b'{"country": "a"}\n{"country_key": 1}\n', "line 2 has a column"),
    "no such field": (b'{"Country": "a"}\n{"x": 1}\n', "no line has a field 'country'"),
    "no line": (b"", "no line has a field 'country'"),
    "a field twice": (
        b'{"country": "a", "country": "b"}\n',
        "line 1: the key 'country' comes twice",
    ),
}


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [("t.csv", *bad) for bad in BAD.values()] + [("t.jsonl", *bad) for bad in BAD_LINES.values()],
    ids=[*BAD, *BAD_LINES],
)
def test_a_bad_table_is_refused_and_nothing_is_changed(
    tmp_path: Path, name: str, table: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(table)
    (tmp_path / "out").write_text("old")
    for output in (tmp_path / name, tmp_path / "out"):
        with pytest.raises(FileFormatError) as caught:
            clean_column(
                COUNTRIES, tmp_path / name, "country", output, review=tmp_path / "review.csv"
            )
        assert str(caught.value).startswith(str(tmp_path / name))
        assert message in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "out"])
    assert (tmp_path / name).read_bytes() == table
    assert (tmp_path / "out").read_text() == "old"


# ---- Parquet ------------------------------------------------------------------------------


def pyarrow() -> tuple[Any, Any]:
    why = "Parquet needs the extra 'parquet'"
    return tuple(pytest.importorskip(name, reason=why) for name in ("pyarrow", "pyarrow.parquet"))


def test_a_parquet_table_keeps_types_metadata_and_order(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    cells = [*MESSY, None] * 2000
    table = arrow.table(
        {
            "n": arrow.array(range(len(cells)), arrow.int16()),
            "country": arrow.array(cells).dictionary_encode(),
            "nested": [{"x": [i]} for i in range(len(cells))],
        }
    ).replace_schema_metadata({"made": "by hand"})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd", row_group_size=700)
    _, counts = cleaned(tmp_path / "t.parquet")
    after = parquet.read_table(tmp_path / "out")
    assert after.select(["n", "country", "nested"]).equals(table)
    assert after.schema.metadata[b"made"] == b"by hand"
    assert after.schema.names[3:] == ADDED
    assert after.schema.types[3:] == [arrow.string(), arrow.string(), arrow.float64()]
    for row in after.slice(0, len(MESSY) + 1).to_pylist():
        key, value, score = reference(COUNTRIES, row["country"] or "")
        assert [row[name] for name in ADDED[::2]] == [key, score]
        assert row["country_value"] == (json.dumps(value) if isinstance(value, list) else value)
    facts = parquet.read_metadata(tmp_path / "out")
    assert facts.row_group(0).column(0).compression == "ZSTD"
    assert counts == Cleaned(matched=12_000, unmatched=4_000, blank=6_000)


def test_parquet_files_that_do_not_fit(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    table = tmp_path / "t.parquet"
    parquet.write_table(
        arrow.table({"a": ["x"] * 999, "b": [[1]] * 999, "a_key": [1] * 999}), table
    )
    whole = table.read_bytes()
    for column, message in [
        ("c", r"no column 'c'; its columns are 'a', 'b', 'a_key'"),
        ("a", r"has a column 'a_key' already"),
        ("b", r"the column 'b' holds lists; expected texts"),
    ]:
        with pytest.raises(FileFormatError, match=message):
            cleaned(table, column)
    for damaged in (b"", b"PAR1", whole[:-20], whole[:200] + whole[240:], b"\0" * 99):
        table.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"t.parquet is damaged, or not a Parquet file"):
            cleaned(table, "a", prefix="x")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_parquet_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"pip install 'fuzzydict\[parquet\]'"):
        cleaned(tmp_path / "t.parquet")
