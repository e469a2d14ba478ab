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

import openpyxl
import pytest
from openpyxl.drawing.image import Image as Picture
from openpyxl.styles import Font
from PIL import Image

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io import sheets
from fuzzydict.io.columns import Cleaned
from fuzzydict.io.dict_files import open_dict, read_dict
from fuzzydict.io.records import Reading, cell_text
from tests.io.files import clean

COUNTRIES = FuzzyDict({"Germany": "DE", "France": "FR", "5": 5.5, "2024-02-29": date(2024, 2, 29)})


def workbook(path: Path, *rows: Sequence[Any], change: Callable[[Any], Any] | None = None) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if change:
        change(book)
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
        return "".join(
            [before, begin, formula.replace("><f>", ' t="str"><f>'), end, after]
        ).encode()

    return repacked(path, SHEET, change)


MEDIA = "xl/media/image1.png"
SHEET = "xl/worksheets/sheet1.xml"


# ---- what is written ------------------------------------------------------------------------


def test_new_columns_are_written_and_all_else_stays(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        sheet = book.active
        sheet["B1"].font = Font(bold=True)
        sheet["C2"] = "=A2*2"
        sheet.column_dimensions["B"].width = 33
        other = book.create_sheet("Other")
        other["A1"], other["B2"] = "=Sheet!A2", "text"
        other["B2"].font = Font(italic=True)

    table = workbook(
        tmp_path / "t.xlsx",
        ["n", "country", "twice"],
        [1, "Germny", None],
        [2, None, None],
        [],
        [3, "qwzzt", datetime(2024, 2, 29)],
        change=change,
    )
    counts = clean(COUNTRIES, table, "country", table)
    assert counts == Cleaned(matched=1, unmatched=1, blank=1)
    header, first, *_, last = cells(table)
    assert header == ["n", "country", "twice", "country_key", "country_value", "country_score"]
    assert first == [1, "Germny", "=A2*2", "Germany", "DE", pytest.approx(1, abs=0.1)]
    assert last == [3, "qwzzt", datetime(2024, 2, 29), None, None, None]
    book = openpyxl.load_workbook(table)
    assert book["Sheet"]["B1"].font.b
    assert book["Sheet"].column_dimensions["B"].width == 33
    assert book["Other"]["A1"].value == "=Sheet!A2"
    assert book["Other"]["B2"].font.i


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
    counts = clean(COUNTRIES, table, "c", table)
    assert (counts.matched, counts.unmatched) == (3, 1)
    assert [row[2] for row in cells(table)[1:4]] == [5.5, 5.5, datetime(2024, 2, 29)]


def test_a_text_that_no_cell_can_hold_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx", ["c"], ["Germany"])
    before = table.read_bytes()
    with pytest.raises(FileFormatError, match=r"C2 would have a text of 40000 characters"):
        clean(FuzzyDict({"Germany": "x" * 40_000}), table, "c", table)
    assert table.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.xlsx"]


def test_new_columns_are_written_right_of_all_cells(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.active["C2"], book.active["D3"] = "=SUM(A2:A3)", "#N/A"
        book.active["D3"].data_type = "e"

    rows: list[list[Any]] = [["c", "n"], ["Germany", 1], ["France", 2]]
    table = workbook(tmp_path / "t.xlsx", *rows, change=change)
    clean(COUNTRIES, table, "c", table)
    assert [row[2:6] for row in cells(table)] == [
        [None, None, "c_key", "c_value"],
        ["=SUM(A2:A3)", None, "Germany", "DE"],
        [None, "#N/A", "France", "FR"],
    ]


def test_new_columns_are_written_right_of_merged_cells(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["c", "n"], ["Germany", 1], ["France", 2]]
    for merged in ("A3:F3", "B1:F1"):
        book = openpyxl.load_workbook(workbook(tmp_path / "t.xlsx", *rows))
        book.active.merge_cells(merged)
        book.save(table := tmp_path / "t.xlsx")
        clean(COUNTRIES, table, "c", table)
        assert [row[6] for row in cells(table)] == ["c_key", "Germany", "France"]
        assert str(openpyxl.load_workbook(table).active.merged_cells) == merged
    widest = workbook(
        tmp_path / "t.xlsx", *rows, change=lambda book: book.active.merge_cells("A3:XFD3")
    )
    with pytest.raises(FileFormatError, match=r"no room for new columns right of A3:XFD3; clear"):
        clean(COUNTRIES, widest, "c", widest)


def with_picture(path: Path, width: int) -> Path:
    """Make a workbook with a picture, which says that it is so wide."""
    picture = io.BytesIO()
    Image.new("RGB", (1, 1)).save(picture, "png")
    workbook(
        path, ["c"], ["Germany"], change=lambda book: book.active.add_image(Picture(picture), "D5")
    )
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
    with_value(table, "A2", "Germany")
    counts = clean(COUNTRIES, table, "c", tmp_path / "out.xlsx")
    assert counts.matched == 2
    assert cells(tmp_path / "out.xlsx")[1][:3] == ['="Ger"&"many"', "=1+1", "Germany"]
    with pytest.raises(FileFormatError, match=r"has no value of the formula in B2; open it in"):
        clean(COUNTRIES, table, "d", tmp_path / "out.xlsx")
    with pytest.raises(FileFormatError, match=r"has no value of the formula in B2"):
        read_dict(table, Reading(key="c", value="d"))
    with_value(table, "B2", "")
    assert read_dict(table, Reading(key="c", value="d")) == {"Germany": None, "France": 1}


def test_cells_that_are_merged_downwards_have_the_value_of_the_first(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["n", "c"], [1, "Germny"], [2, None], [3, "x"]]
    table = workbook(
        tmp_path / "t.xlsx", *rows, change=lambda book: book.active.merge_cells("B2:B3")
    )
    assert clean(COUNTRIES, table, "c", table).matched == 2
    assert [row[2] for row in cells(table)] == ["c_key", "Germany", "Germany", None]
    wide = workbook(
        tmp_path / "w.xlsx", *rows, change=lambda book: book.active.merge_cells("A4:B4")
    )
    assert clean(COUNTRIES, wide, "c", wide).blank == 2
    header = workbook(
        tmp_path / "h.xlsx", *rows, change=lambda book: book.active.merge_cells("B1:B2")
    )
    with pytest.raises(FileFormatError, match=r"B1:B2 is merged; expected the names of the col"):
        clean(COUNTRIES, header, "c", header)


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


def test_a_dict_in_a_sheet_has_texts_as_keys_and_values_of_any_type(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["price", "item"], [5, "brand"], [], [date(2024, 2, 29), 2024]]
    table = workbook(tmp_path / "t.xlsx", *rows)
    d = open_dict(table, Reading(key="item", value="price"))
    assert {**d} == {"brand": 5, "2024": date(2024, 2, 29)}
    assert d["brnd"] == 5
    pairs = workbook(tmp_path / "p.xlsx", ["brand", "Porsche"], ["color", "black"])
    assert read_dict(pairs) == {"brand": "Porsche", "color": "black"}
    priced = workbook(tmp_path / "q.xlsx", ["item", "price"], ["brand", 5])
    with pytest.warns(UserWarning, match=r"line 1 looks like a header, .* --key item --value pri"):
        assert read_dict(priced) == {"item": "price", "brand": 5}
    twice = workbook(tmp_path / "d.xlsx", ["key", "value"], ["a", 1], ["a", 2])
    with pytest.raises(FileFormatError, match=r"the key 'a' comes twice, on lines 2 and 3"):
        read_dict(twice)
    blank = workbook(tmp_path / "b.xlsx", ["key", "value"], [None, 1])
    with pytest.raises(FileFormatError, match=r"line 2 has null as key; fill it in"):
        read_dict(blank)


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
    whole = path.read_bytes()
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500
    for data, message in [
        (b"", "is damaged, or not an .xlsx workbook"),
        (b"c\nx\n", "is damaged, or not an .xlsx workbook"),
        (whole[:-30], "is damaged, or not an .xlsx workbook"),
        (whole[:200] + b"\0" * 90 + whole[290:], "is damaged, or not an .xlsx workbook"),
        (ole, "is an old .xls workbook; save it as .xlsx"),
        (ole + "EncryptedPackage".encode("utf-16-le"), "is encrypted; save it as .xlsx, without"),
    ]:
        path.write_bytes(data)
        refused(path, message)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "no workbook")
    refused(path, "is damaged, or not an .xlsx workbook")
    workbook(path, ["c"], ["x"])
    refused(repacked(path, SHEET, lambda data: data[:300]), "is damaged, or not an .xlsx")


def test_sheets_without_names_of_columns_are_refused(tmp_path: Path) -> None:
    for rows in ([], [[None, None], ["c", "d"]], [[None], [None]]):
        refused(workbook(tmp_path / "t.xlsx", *rows), "sheet 'Sheet': row 1 is empty; expected")


def test_a_workbook_that_would_fill_the_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "t.xlsx", ["c", "d"], ["x", "y"])
    merge = b'<mergeCells count="1"><mergeCell ref="A3:XFD1048576"/></mergeCells><pageMargins'
    repacked(path, SHEET, lambda data: data.replace(b"<pageMargins", merge))
    refused(path, "holds more than is read of a workbook")
    far = workbook(tmp_path / "far.xlsx", ["c", "d"])
    repacked(
        far,
        SHEET,
        lambda data: data.replace(b'r="B1"', b'r="XFD1"').replace(
            b"</sheetData>", b'<row r="1048576"><c r="A1048576"><v>1</v></c></row></sheetData>'
        ),
    )
    refused(far, "has cells in 1048576 rows and 16384 columns, more than")
    bomb = workbook(tmp_path / "bomb.xlsx", ["c"])
    repacked(
        bomb,
        SHEET,
        lambda data: data.replace(b"</sheetData>", b"<row/>" * 99_999 + b"</sheetData>"),
    )
    monkeypatch.setattr(sheets, "_MAX_TAGS", 50_000)
    refused(bomb, "holds more than is read of a workbook")
    monkeypatch.undo()
    monkeypatch.setattr(sheets, "_MAX_BYTES", 200_000)
    refused(bomb, "holds more than is read of a workbook")
