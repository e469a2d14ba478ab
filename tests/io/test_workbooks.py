"""Tables in .xlsx workbooks: what was there stays, what is written is data, bad files are told."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io import tables
from fuzzydict.io.columns import Cleaned
from fuzzydict.io.dict_files import read_dict
from fuzzydict.io.text_tables import Reading, cell_text
from tests.io.files import clean

openpyxl: Any = pytest.importorskip("openpyxl", reason="workbooks need the extra 'excel'")
Image: Any = pytest.importorskip("PIL.Image", reason="pictures in workbooks need Pillow")

COUNTRIES = FuzzyDict({"Germany": "DE", "France": "FR", "5": 5.5, "2024-02-29": date(2024, 2, 29)})


def workbook(path: Path, *rows: Sequence[Any], change: Callable[[Any], Any] | None = None) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if change:
        change(book)
    book.save(path)
    return path


def merge(path: Path, merged: str) -> Path:
    book = openpyxl.load_workbook(path)
    book.active.merge_cells(merged)
    book.save(path)
    return path


def cells(path: Path, sheet: str = "Sheet") -> list[list[Any]]:
    return [[*row] for row in openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)]


def repacked(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def with_value(path: Path, cell: str, value: str) -> Path:
    """Put a value into a formula, as programs that compute it do: openpyxl writes none."""

    def change(data: bytes) -> bytes:
        before, begin, after = data.decode().partition(f'<c r="{cell}"')
        formula, end, after = after.partition("</c>")
        formula = formula.replace("<v />", "<v/>").replace("<v/>", f"<v>{value}</v>")
        formula = formula.replace("><f>", ' t="str"><f>')
        return "".join([before, begin, formula, end, after]).encode()

    return repacked(path, SHEET, change)


MEDIA = "xl/media/image1.png"
SHEET = "xl/worksheets/sheet1.xml"


# ---- what is written ------------------------------------------------------------------------


def test_new_columns_are_written_and_all_else_stays(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        sheet, other = book.active, book.create_sheet("Other")
        sheet["B1"].font, sheet["C2"] = openpyxl.styles.Font(bold=True), "=A2*2"
        sheet.column_dimensions["B"].width = 33
        other["A1"], other["B2"] = "=Sheet!A2", "text"

    names, day = ["n", "country", "twice"], datetime(2024, 2, 29)
    rows: list[list[Any]] = [names, [1, "Germny"], [2], [], [3, "qwzzt", day]]
    table = workbook(tmp_path / "t.xlsx", *rows, change=change)
    assert clean(COUNTRIES, table, "country", table) == Cleaned(1, unmatched=1, blank=1)
    header, first, *_, last = cells(table)
    assert header == ["n", "country", "twice", "country_key", "country_value", "country_score"]
    assert first == [1, "Germny", "=A2*2", "Germany", "DE", pytest.approx(1, abs=0.1)]
    assert last == [3, "qwzzt", datetime(2024, 2, 29), None, None, None]
    book = openpyxl.load_workbook(table)
    assert book["Sheet"]["B1"].font.b
    assert book["Sheet"].column_dimensions["B"].width == 33
    assert book["Other"]["A1"].value == "=Sheet!A2"


def test_texts_that_begin_as_formulas_are_written_as_texts(tmp_path: Path) -> None:
    texts = ["=1+1", "=cmd|' /C calc'!A0", "#N/A", "+1", "=", "\x07bell", "lone \udfff"]
    d = FuzzyDict(dict(zip(["a1", "b2", "c3", "d4", "e5", "f6", "g7"], texts, strict=True)))
    table = workbook(tmp_path / "t.xlsx", ["c"], *([key] for key in d))
    clean(d, table, "c", table)
    sheet = openpyxl.load_workbook(table).active
    assert {cell.data_type for cell in sheet["C"]} == {"s"}
    assert [cell.value for cell in sheet["C"]][1:] == [*texts[:5], "\\x07bell", "lone \\udfff"]
    # They are still texts when the workbook is written once more.
    clean(d, table, "c", table, prefix="again_")
    assert {cell.data_type for cell in openpyxl.load_workbook(table).active["C"]} == {"s"}


def test_numbers_and_dates_are_asked_as_texts_and_written_as_themselves(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx", ["c"], [5], [5.0], [datetime(2024, 2, 29)], [True])
    assert clean(COUNTRIES, table, "c", table)[:2] == (3, 1)
    assert [row[2] for row in cells(table)[1:4]] == [5.5, 5.5, datetime(2024, 2, 29)]
    before = table.read_bytes()
    with pytest.raises(FileFormatError, match=r"would have a text of 40000 characters, and a cell"):
        clean(FuzzyDict({"5": "x" * 40_000}), table, "c", table, prefix="long_")
    assert table.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.xlsx"]


def test_new_columns_are_written_right_of_all_cells(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["c", "n"], ["Germany", 1], ["France", 2]]
    book = openpyxl.load_workbook(table := workbook(tmp_path / "t.xlsx", *rows))
    book.active["C2"], book.active["D3"] = "=SUM(A2:A3)", "#N/A"
    book.active["D3"].data_type = "e"
    book.save(table)
    clean(COUNTRIES, table, "c", table)
    assert [row[2:6] for row in cells(table)] == [
        [None, None, "c_key", "c_value"],
        ["=SUM(A2:A3)", None, "Germany", "DE"],
        [None, "#N/A", "France", "FR"],
    ]
    for merged in ("A3:F3", "B1:F1"):
        merge(workbook(table, *rows), merged)
        clean(COUNTRIES, table, "c", table)
        assert [row[6] for row in cells(table)] == ["c_key", "Germany", "France"]
        assert str(openpyxl.load_workbook(table).active.merged_cells) == merged
    merge(workbook(table, *rows), "A3:XFD3")
    with pytest.raises(FileFormatError, match=r"no room for new columns right of A3:XFD3; clear"):
        clean(COUNTRIES, table, "c", table)


def with_picture(path: Path, width: int) -> Path:
    """Make a workbook with a picture, which says that it is so wide."""
    picture = io.BytesIO()
    Image.new("RGB", (1, 1)).save(picture, "png")
    image = openpyxl.drawing.image.Image(picture)
    workbook(path, ["c"], ["Germany"], change=lambda book: book.active.add_image(image, "D5"))
    header = b"IHDR" + struct.pack(">II", width, width) + b"\x08\x02\0\0\0"
    checked = header + struct.pack(">I", zlib.crc32(header))
    return repacked(path, MEDIA, lambda data: data[:12] + checked + data[12 + len(checked) :])


def test_pictures_stay_or_a_warning_says_that_they_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, output = with_picture(tmp_path / "t.xlsx", 1), tmp_path / "copy.xlsx"
    clean(COUNTRIES, table, "c", output)
    with zipfile.ZipFile(output) as archive:
        assert MEDIA in archive.namelist()
    for module in ("drawing.image", "reader.drawings"):
        monkeypatch.setattr(f"openpyxl.{module}.PILImage", False)
    with pytest.warns(UserWarning, match=r"t.xlsx: pictures will be lost, as Pillow is not inst"):
        clean(COUNTRIES, table, "c", output)
    monkeypatch.undo()
    refused(with_picture(tmp_path / "bomb.xlsx", 2**16), "exceeds limit")


# ---- what is read ---------------------------------------------------------------------------


def test_dates_have_their_times_whatever_their_format_shows(tmp_path: Path) -> None:
    noon, midnight = datetime(2024, 2, 29, 12), datetime(2024, 2, 29)
    values = {
        ("dd.mm.yy", noon): noon,
        ("dd.mm.yy", midnight): midnight.date(),
        ('[$-409]d\\ "has"', midnight): midnight.date(),
        ("YYYY-MM-DD HH:MM", midnight): midnight,
        ("mm:ss.0", noon): noon,
        ("mm:ss.0", time(0, 12, 30)): time(0, 12, 30),
        ("[h]:mm", timedelta(hours=30)): timedelta(hours=30),
    }
    rows = [[f"key {n}", value] for n, (_, value) in enumerate(values)]
    book = openpyxl.load_workbook(workbook(tmp_path / "t.xlsx", ["key", "value"], *rows))
    for row, (form, _) in enumerate(values, 2):
        book.active.cell(row, 2).number_format = form
    book.save(tmp_path / "t.xlsx")
    d = read_dict(tmp_path / "t.xlsx")
    assert [(type(value), value) for value in d.values()] == [
        (type(value), value) for value in values.values()
    ]
    clean(FuzzyDict(d), tmp_path / "t.xlsx", "key", out := tmp_path / "out.xlsx")
    assert cells(out)[-1][3] == timedelta(hours=30)
    assert cell_text(timedelta(hours=30)) == "1 day, 6:00:00"


def test_formulas_have_the_values_that_were_computed(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx", ["c", "d"], ['="Ger"&"many"', "=1+1"], ["France", 1])
    output, reading = tmp_path / "out.xlsx", Reading(key="c", value="d")
    with_value(table, "A2", "Germany")
    assert clean(COUNTRIES, table, "c", output).matched == 2
    assert cells(output)[1][:3] == ['="Ger"&"many"', "=1+1", "Germany"]
    for read in (lambda: clean(COUNTRIES, table, "d", output), lambda: read_dict(table, reading)):
        with pytest.raises(FileFormatError, match=r"has no value of the formula in B2; open it in"):
            read()
    with_value(table, "B2", "")
    assert read_dict(table, reading) == {"Germany": None, "France": 1}


def test_cells_that_are_merged_downwards_have_the_value_of_the_first(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["n", "c"], [1, "Germny"], [2, None], [3, "x"]]
    table = merge(workbook(tmp_path / "t.xlsx", *rows), "B2:B3")
    assert clean(COUNTRIES, table, "c", table).matched == 2
    assert [row[2] for row in cells(table)] == ["c_key", "Germany", "Germany", None]
    merge(workbook(table, *rows), "A4:B4")
    assert clean(COUNTRIES, table, "c", table).blank == 2
    merge(workbook(table, *rows), "B1:B2")
    with pytest.raises(FileFormatError, match=r"B1:B2 is merged; expected the names of the col"):
        clean(COUNTRIES, table, "c", table)


def test_a_sheet_is_named_or_the_first_that_is_shown(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.active.sheet_state = "hidden"
        for name in ("Orders", "Prices"):
            book.create_sheet(name).append(["key", "value"])
            book[name].append([name, 1])

    table = workbook(tmp_path / "t.xlsx", ["key", "value"], ["hidden", 1], change=change)
    assert [*read_dict(table)] == ["Orders"]
    assert [*read_dict(table, Reading(sheet="Prices"))] == ["Prices"]
    assert [*read_dict(table, Reading(sheet="Sheet"))] == ["hidden"]
    with pytest.raises(OptionError, match=r"no sheet 'Prizes' \(did you mean 'Prices'\?\); its s"):
        read_dict(table, Reading(sheet="Prizes"))


# ---- files that are refused -------------------------------------------------------------------


def refused(path: Path, message: str) -> None:
    before = path.read_bytes()
    output = path.with_name("out.xlsx")
    for read in (
        lambda: clean(COUNTRIES, path, "c", output),
        lambda: read_dict(path, Reading(format="xlsx")),
    ):
        with pytest.raises(FileFormatError, match=message) as caught:
            read()
        assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert not output.exists()


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["c"], ["x"])
    whole, damaged = path.read_bytes(), "is damaged, or not an .xlsx workbook"
    refused(repacked(path, SHEET, lambda data: data[:300]), damaged)
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500
    for data, message in [
        *((data, damaged) for data in (b"", b"c\nx\n", whole[:-30])),
        (whole[:200] + b"\0" * 90 + whole[290:], damaged),
        (ole, "is an old .xls workbook, or encrypted; save it as .xlsx, without a password"),
    ]:
        path.write_bytes(data)
        refused(path, message)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "no workbook")
    refused(path, damaged)
    for rows in ([], [[None, None], ["c", "d"]], [[None], [None]]):
        refused(workbook(path, *rows), "sheet 'Sheet': row 1 is empty; expected")


def test_a_workbook_that_would_fill_the_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(
        old: bytes, new: bytes, message: str = "holds more than is read of a w", part: str = SHEET
    ) -> None:
        path = workbook(tmp_path / "t.xlsx", ["c", "d"], ["x", "y"])
        refused(repacked(path, part, lambda data: data.replace(old, new)), message)

    merged = b'<mergeCells count="1"><mergeCell ref="A3:XFD1048576"/></mergeCells><pageMargins'
    refuse(b"<pageMargins", merged)
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    refuse(b"</sheetData>", far, "has cells in 1048576 rows and 16384 columns, more than")
    below = b'<row r="1048577"><c r="A1048577"><v>1</v></c></row></sheetData>'
    refuse(
        b"</sheetData>", below, "has cells in 1048577 rows and 2 columns, more than 1048576 rows"
    )
    for part, end in {
        "xl/styles.xml": b"</fonts>",
        "xl/workbook.xml": b"</workbook>",
        "[Content_Types].xml": b"</Types>",
        "docProps/core.xml": b"</cp:coreProperties>",
    }.items():
        refuse(end, b"<a/>" * 2**19 + end, part=part)
    again = b'<sheet name="%d" sheetId="%d" r:id="rId1" xmlns:r="http://schemas.openxmlformats.org/'
    again += b'officeDocument/2006/relationships"/>'
    sheets = b"".join(again % (number, number) for number in range(9, 999))
    refuse(b"</sheets>", sheets + b"</sheets>", part="xl/workbook.xml")
    typed = b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet'
    refuse(b"<worksheet", typed, "sheet1.xml defines a type, as no workbook does")
    for limit, most in {"_MAX_TAGS": 50_000, "_MAX_BYTES": 200_000}.items():
        with monkeypatch.context() as patched:
            patched.setattr(tables, limit, most)
            refuse(b"</sheetData>", b"<row/>" * 99_999 + b"</sheetData>")
