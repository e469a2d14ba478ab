"""Two tables in files joined: each row of the left with the row of the right that it means."""

from __future__ import annotations

import io
import math
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.columns import Cleaned, Source, join_tables
from tests.io.files import FORMATS, join, pyarrow, read, workbooks, write, written

LEFT = [("1", "Germny"), ("2", "qwzzt"), ("3", ""), ("4", "FRANCE"), ("5", "Germny")]
RIGHT: list[tuple[Any, ...]] = [("France", "FR", 33), ("Germany", "DE", 49), ("Spain", "ES", 34)]


def tables(folder: Path, left: str = "csv", right: str = "csv") -> tuple[Path, Path]:
    return (
        write(folder / f"left.{left}", ["n", "country"], [*LEFT]),
        write(folder / f"right.{right}", ["country", "code", "n"], RIGHT),
    )


@pytest.mark.parametrize("left_form", FORMATS)
@pytest.mark.parametrize("right_form", FORMATS)
def test_any_format_is_joined_with_any(tmp_path: Path, left_form: str, right_form: str) -> None:
    left, right = tables(tmp_path, left_form, right_form)
    output = tmp_path / f"out.{left_form}"
    d = FuzzyDict({row[0]: [*row] for row in RIGHT})
    scores = {query: round(d.nearest(query).score, 4) for query in ("Germny", "FRANCE")}
    text = str if "sv" in left_form or ("sv" in right_form) else lambda value: value
    empty = "" if "sv" in left_form else None

    def joined(n: str, query: str) -> list[Any]:
        if query not in scores:
            return [n, query or (None if left_form == "xlsx" else ""), *[empty] * 4]
        name, code, number = d[query]
        score = str(scores[query]) if "sv" in left_form else scores[query]
        return [n, query, name, code, text(number), score]

    assert join(left, right, output) == Cleaned(3, 1, 1)
    names, *rows = read(output)
    assert names == ["n", "country", "country_right", "code", "n_right", "score"]
    assert rows == [joined(*row) for row in LEFT]

    assert join(left, right, output, how="inner").rows == 5
    assert read(output)[1:] == [joined(*row) for row in LEFT if row[1] in scores]

    join(left, right, output, how="anti")
    assert [row[0] for row in read(output)] == ["n", "2", "3"]
    assert read(output)[0] == ["n", "country"]


def test_columns_suffix_score_and_cutoff_are_chosen(tmp_path: Path) -> None:
    left, right = tables(tmp_path)
    sources, output = (Source(left, "country"), Source(right, "code")), io.BytesIO()
    counts = join_tables(*sources, output, add_score=False, suffix=" of B", score_cutoff=math.inf)
    assert output.getvalue().splitlines()[0] == b"n,country,country of B,code,n of B"
    assert counts.matched == 0
    join(left, right, output := io.BytesIO(), scorer="spelling", how="inner")
    assert len(output.getvalue().splitlines()) == 4
    join(right, right, tmp_path / "out.csv")  # with itself
    assert [row[3] for row in read(tmp_path / "out.csv")[1:]] == ["France", "Germany", "Spain"]
    join(left, right, left, how="inner")  # in place
    assert len(read(left)) == 4
    before = right.read_bytes()
    with pytest.raises(OptionError, match=r"right\.csv is the right table; write to another file"):
        join(left, right, right)
    assert right.read_bytes() == before


def test_rows_left_out_of_a_workbook_leave_values_in_a_new_one(tmp_path: Path) -> None:
    left, right, output = (tmp_path / f"{name}.xlsx" for name in ("l", "r", "o"))
    day, book = datetime(2024, 2, 29, 13, 45), workbooks().Workbook()
    for row in [["country", None, "code"], ["Germany", "=A1", "DE"], ["France", "note", "FR"]]:
        book.active.append(row)  # a column without a name is left out
    book.save(right)
    book = workbooks().Workbook()
    for row in [["country", "x", "at"], ["qwzzt", 1, 2], ["Germny", "#DIV/0!", day], ["France", 3]]:
        book.active.append(row)
    book.active["B3"].data_type = "e"
    book.active["C3"].number_format = "dd.mm.yy"
    book.active.merge_cells("C3:C4")
    book.active["E2"] = "far off"
    book.create_sheet("Notes")["A1"] = "important"
    book.save(left)
    before = left.read_bytes()
    for how in ("inner", "anti"):
        with pytest.raises(OptionError, match=r"l.xlsx would lose its other sheets, formulas and"):
            join(left, right, left, how=how)
    assert left.read_bytes() == before
    with pytest.warns(UserWarning, match=r"only rows of sheet 'Sheet' are written, .* nor 'Notes'"):
        join(left, right, output, how="inner", add_score=False)
    sheet = workbooks().load_workbook(output).active
    assert [[*row] for row in sheet.iter_rows(values_only=True)] == [
        ["country", "x", "at", None, None, "country_right", "code"],
        ["Germny", "#DIV/0!", day, None, None, "Germany", "DE"],
        ["France", 3, day, None, None, "France", "FR"],
    ]
    assert (sheet["B2"].data_type, sheet["C2"].number_format) == ("e", "dd.mm.yy")
    book.active["E3"] = "=B4*2"
    book.save(left)
    with pytest.raises(FileFormatError, match=r"has no value of the formula in E3"):
        join(left, right, output, how="inner")


@pytest.mark.parametrize("form", FORMATS)
def test_a_text_that_comes_twice_on_the_right_is_named_with_its_lines(
    tmp_path: Path, form: str
) -> None:
    left, _ = tables(tmp_path)
    names, first = ["country", "code"], 1 if form in ("jsonl", "parquet") else 2
    for other, message in {
        "Spain": f"'Spain' comes twice in column 'country', on lines {first} and {first + 3}; keep",
        "SPAIN ": f"'Spain' and .* in column 'country', on lines {first} and {first + 3}, are one",
    }.items():
        rows = [("Spain", "ES"), ("", ""), ("France", "FR"), (other, "SP")]
        right = write(tmp_path / f"twice.{form}", names, [*rows])
        with pytest.raises(FileFormatError, match=rf"twice\.{form}: {message}"):
            join(left, right, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    blank = write(tmp_path / f"blank.{form}", names, [("France", "FR"), ("", "a"), ("", "b")])
    assert join(left, blank, tmp_path / "out.csv", score_cutoff=0.9).matched == 1


def test_types_in_parquet_are_those_of_the_values(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    left, _ = tables(tmp_path, "parquet")
    right = written(
        tmp_path,
        "right.jsonl",
        '{"country": "France", "a": 1, "b": 1.5, "c": "x", "d": 1, "e": [1], "f": null}\n'
        '{"country": "Germany", "a": 2, "b": 2, "c": null, "d": "y", "e": [], "f": null}\n',
    )
    join(left, right, tmp_path / "out.parquet", add_score=False)
    schema = parquet.read_schema(tmp_path / "out.parquet")
    kinds = [arrow.int64(), arrow.float64(), arrow.string(), arrow.string()]
    assert schema.types[3:] == [*kinds, arrow.list_(arrow.int64()), arrow.string()]


@pytest.mark.parametrize("left_form", FORMATS)
@pytest.mark.parametrize("right_form", FORMATS)
def test_a_value_has_the_same_text_in_all_formats(
    tmp_path: Path, left_form: str, right_form: str
) -> None:
    days = [datetime(2024, 2, 29), datetime(2024, 3, 1)]  # as pandas has dates
    typed: list[tuple[list[Any], list[str], list[str]]] = [
        ([5.0, 12.0], ["5", "12"], ["parquet", "xlsx", "jsonl"]),
        ([True, False], ["true", "false"], ["parquet", "xlsx", "jsonl"]),
        (days, ["2024-02-29", "2024-03-01"], ["parquet", "xlsx"]),
    ]
    for values, texts, forms in typed:
        left, right = (
            write(tmp_path / f"{side}.{form}", ["c"], [*zip(values if form in forms else texts)])
            for side, form in (("left", left_form), ("right", right_form))
        )
        join(left, right, output := tmp_path / f"out.{left_form}", "c")
        assert [float(row[-1]) for row in read(output, "c")[1:]] == [1.0, 1.0]


@pytest.mark.parametrize(
    "column",
    [
        lambda pa: pa.array([2**63 + 5, None], pa.uint64()),
        lambda pa: pa.array([1, None], pa.int8()),
        lambda pa: pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
        lambda pa: pa.array([1704067200123456789, None], pa.timestamp("ns")),
        lambda pa: pa.array([timedelta(1), None]),
        lambda pa: pa.array(["x", None]).dictionary_encode(),
        lambda pa: pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        lambda pa: pa.array([None, None], pa.int32()),
    ],
)
def test_columns_of_parquet_keep_their_types_and_digits(tmp_path: Path, column: Any) -> None:
    pa, parquet = pyarrow()
    array = column(pa)
    parquet.write_table(pa.table({"k": ["Germany", "Spain"], "v": array}), tmp_path / "r.parquet")
    left = write(tmp_path / "l.parquet", ["c"], [("Spain",), ("qwzzt",), ("Germany",)])
    output = tmp_path / "o.parquet"
    join_tables(Source(left, "c"), Source(tmp_path / "r.parquet", "k"), output)
    found = parquet.read_table(output)["v"].combine_chunks()
    assert found.type == parquet.read_table(tmp_path / "r.parquet")["v"].type
    assert found.is_null().to_pylist() == [True, True, array[0].as_py() is None]
    assert found[2] == array[0] or not array[0].is_valid
