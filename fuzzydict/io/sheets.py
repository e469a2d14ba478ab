"""Sheets of .xlsx workbooks, read and written by openpyxl (extra ``excel``).

The first row of a sheet names its columns. Cells that are merged downwards have the value of the
first; formulas have the values that the program computed that saved the file. Workbooks are read
as a whole, so what they may hold is bounded, before openpyxl reads them.
"""

from __future__ import annotations

import math
import re
import warnings
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

from fuzzydict.errors import (
    FileFormatError,
    FuzzyDictError,
    MissingExtraError,
    OptionError,
    printable,
    quoted,
)
from fuzzydict.io.records import (
    MAX_EXACT,
    Added,
    CellBlock,
    Contents,
    Record,
    Table,
    as_cell,
    as_python,
    cell_text,
    column_index,
    encoded,
)
from fuzzydict.mapping import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MAX_BYTES = 2**28  # of a workbook's parts, unpacked
_MAX_TAGS = 2**24  # in them; a cell has four
_MAX_CELLS = 2**22  # of a sheet, and of merged cells and links
_MAX_COLUMNS = 2**14
_MAX_TEXT = 32_767  # characters of a cell
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LITERAL = re.compile(r'"[^"]*"|\\.|\[\$[^]]*]')  # in the format of a number
#: What openpyxl repeats for each cell of a range.
_RANGE = re.compile(rb"<(?:\w+:)?(?:mergeCell|hyperlink)\s[^<>]*?\bref\s*=\s*[\"']([^\"'<>]*)")


class Sheet(Table):
    """A sheet of a workbook, by default the first that is not hidden. It is one block."""

    def __init__(self, name: str, file: BinaryIO, sheet: str | None = None) -> None:
        self.name = name
        _check_workbook(file, name)
        with _telling_what_is_lost(name), _workbook_errors(name):
            self._book = _load(file, rich_text=True)
        self._sheet = self._shown = _sheet_of(self._book, name, sheet)
        place = f"{name}: sheet {quoted(self._sheet.title)}"
        if self._sheet.max_row * self._sheet.max_column > _MAX_CELLS:
            raise FileFormatError(
                f"{place} has cells in {self._sheet.max_row} rows and {self._sheet.max_column} "
                f"columns, more than {_MAX_CELLS} in all; save the table as CSV or Parquet"
            )
        with _workbook_errors(name):
            self._unknown = self._compute(file)
            rows = [[cell_value(cell) for cell in row] for row in self._shown.iter_rows()]
        while rows and all(value is None for value in rows[-1]):
            del rows[-1]
        filled = (end for row in rows for end, value in enumerate(row, 1) if value is not None)
        width = max(filled, default=0)
        self._values = [row[:width] for row in rows]
        used: list[tuple[int, str]] = [
            (cell.column, cell.coordinate)
            for row in self._sheet.iter_rows()
            for cell in row
            if cell.value is not None
        ]
        for merged in self._sheet.merged_cells.ranges:
            if merged.min_row == 1 and merged.max_row > 1:
                raise FileFormatError(
                    f"{place}: {merged.coord} is merged; expected the names of the columns in row "
                    f"1, and the first row of the table in row 2"
                )
            used.append((merged.max_col, merged.coord))
            for row in self._values[merged.min_row : merged.max_row]:
                if merged.min_col <= len(row):
                    row[merged.min_col - 1] = self._values[merged.min_row - 1][merged.min_col - 1]
        #: The last column in which anything is, or is merged, and the cells there.
        self._width, self._last = max(used, default=(0, ""))
        self.header = Record(1, "", self._values[0] if self._values else [])
        self.names = [cell_text(value) or "" for value in self.header.content]
        if not any(self.names):
            raise FileFormatError(f"{place}: row 1 is empty; expected the names of the columns")

    def _compute(self, file: BinaryIO) -> dict[int, str]:
        """Show the values of formulas in their places; return one without a value by its column."""
        formulas = list[Any]()
        for row in self._sheet.iter_rows():
            formulas += [cell for cell in row if cell.data_type == "f"]
        if formulas:
            with warnings.catch_warnings(action="ignore"):
                self._shown = _load(file, data_only=True)[self._sheet.title]
        unknown: dict[int, str] = {}
        for cell in formulas:
            computed = self._shown.cell(cell.row, cell.column)
            if computed.value is None and computed.data_type == "n":  # "" is a text
                unknown.setdefault(cell.column - 1, cell.coordinate)
        return unknown

    def _check_formulas(self, columns: Iterable[int]) -> None:
        """Check that the program that saved the file has computed all formulas in some columns."""
        for cell in filter(None, map(self._unknown.get, columns)):
            raise FileFormatError(
                f"{self.name}: the file has no value of the formula in {cell}; open it in a "
                f"spreadsheet program and save it again"
            )

    def records(self) -> Iterator[Record]:
        self._check_formulas(range(len(self.names)))
        return self._records()

    def _records(self) -> Iterator[Record]:
        for line, values in enumerate(self._values[1:], 2):
            yield Record(line, "", values if any(value is not None for value in values) else [])

    def _rows(self, column: str) -> tuple[list[int], list[str | None]]:
        """Return the lines of the rows that are not empty, and their texts in a column."""
        index = column_index(column, self.names, self.name)
        self._check_formulas([index])
        rows = [(line, values) for line, _, values in self._records() if values]
        return [line for line, _ in rows], [cell_text(values[index]) for _, values in rows]

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:  # noqa: ARG002
        lines, texts = self._rows(column)
        return iter([CellBlock(texts, None, lines)])

    def contents(self, column: str) -> Contents:
        """Return the columns that have names."""
        lines, texts = self._rows(column)
        named = [place for place, name in enumerate(self.names) if name]
        self._check_formulas(named)
        rows = [[self._values[line - 1][place] for place in named] for line in lines]
        return Contents([self.names[place] for place in named], lines, texts, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        self._written: list[tuple[int, Sequence[Any] | None]] = []
        with super().copying(output, added):
            yield
        kept = [(line, cells) for line, cells in self._written if cells is not None]
        rows = [(1, [one.name for one in added]), *kept]
        with _workbook_errors(self.name):
            if len(kept) < len(self._written):
                self._some(rows).save(output)
                return
            for line, cells in rows:
                self._add(self._sheet, line, cells)
            self._book.save(output)

    def beside(self, cells: Sequence[Any]) -> Sequence[Any]:
        return [*map(as_python, cells)]

    def write(self, block: CellBlock, beside: list[Sequence[Any] | None]) -> None:
        """Keep the rows, which are written at the end."""
        self._written += zip(block.rows, beside, strict=True)

    def _some(self, rows: Sequence[tuple[int, Sequence[Any]]]) -> Any:
        """Return a new workbook with some rows of the sheet as values, and cells beside them."""
        from openpyxl import Workbook

        # Rows are not deleted in the old one: openpyxl does not move what formulas refer to.
        self._check_formulas(range(self._width))
        if others := [name for name in self._book.sheetnames if name != self._sheet.title]:
            names = ", ".join(map(quoted, others))
            warnings.warn(
                f"{self.name}: only rows of sheet {quoted(self._sheet.title)} are written, as "
                f"values; not its formulas and formats, nor {names}",
                stacklevel=4,
            )
        book = Workbook()
        book.active.title = self._sheet.title
        for number, (line, cells) in enumerate(rows, 1):
            values = dict(enumerate(self._values[line - 1], 1))
            for column in range(1, self._width + 1):
                shown, cell = self._shown.cell(line, column), book.active.cell(number, column)
                self._set(cell, values.get(column))
                if shown.data_type == "e":
                    cell.value, cell.data_type = shown.value, "e"
                if shown.value is not None:
                    cell.number_format = shown.number_format
            self._add(book.active, number, cells)
        return book

    def _add(self, sheet: Any, line: int, cells: Sequence[Any]) -> None:
        """Write cells right of all that the sheet holds; a text as one, whatever it begins with."""
        if self._width + len(cells) > _MAX_COLUMNS:
            raise FileFormatError(
                f"{self.name}: sheet {quoted(self._sheet.title)} has no room for new columns right "
                f"of {self._last}; clear or unmerge that, or save the table as CSV"
            )
        for column, value in enumerate(cells, self._width + 1):
            if value is not None:
                self._set(sheet.cell(line, column), _for_cell(value))

    def _set(self, cell: Any, value: Any) -> None:
        if isinstance(value, str) and len(value) > _MAX_TEXT:
            raise FileFormatError(
                f"{self.name}: {cell.coordinate} would have a text of {len(value)} characters, "
                f"and a cell can have {_MAX_TEXT}; save the table as CSV"
            )
        cell.value = value
        if isinstance(value, str):
            cell.data_type = "s"  # openpyxl takes "=..." for a formula


def _for_cell(value: Any) -> Any:
    """Return a value as a cell can hold it: numbers, dates, times and durations, or a text."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, Decimal) and value.is_finite() and Decimal(repr(float(value))) == value:
        value = float(value)
    if isinstance(value, bool) or (type(value) is int and abs(value) < MAX_EXACT):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, date | time | timedelta) and getattr(value, "tzinfo", None) is None:
        return value
    text = encoded(as_cell(value)).decode()
    return ILLEGAL_CHARACTERS_RE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def cell_value(cell: Any) -> Any:
    """Return the value of a cell; None if it is empty, or holds an error such as #N/A."""
    value = None if cell.data_type == "e" else cell.value
    if isinstance(value, datetime) and value.time() == time():
        shown = _LITERAL.sub("", cell.number_format.lower())
        return value if "h" in shown or "s" in shown else value.date()
    return str(value) if isinstance(value, str | list) else value  # text in several fonts


# ---- the workbook -------------------------------------------------------------------------


def _check_workbook(file: BinaryIO, name: str) -> None:
    """Refuse what is no workbook, or one of too many bytes, tags, or merged cells."""
    if file.read(len(OLE)) == OLE:
        what = "is encrypted" if _ENCRYPTED in file.read(_MAX_BYTES) else "is an old .xls workbook"
        raise FileFormatError(f"{name}: {what}; save it as .xlsx, without a password")
    try:
        import openpyxl.drawing.image
        import openpyxl.utils
    except ImportError as error:
        raise MissingExtraError(
            "An .xlsx workbook needs openpyxl, which is not installed; install it with: "
            "pip install openpyxl"
        ) from error
    too_large = FileFormatError(
        f"{name} holds more than is read of a workbook ({_MAX_BYTES} bytes when unpacked, "
        f"{_MAX_TAGS} tags, {_MAX_CELLS} merged cells); save the table as CSV or Parquet"
    )
    tags = cells = 0
    with _workbook_errors(name), ZipFile(file) as archive:
        if sum(part.file_size for part in archive.infolist()) > _MAX_BYTES:
            raise too_large
        for part in archive.namelist():
            if not part.lower().endswith((".xml", ".rels", ".vml")):
                continue
            data = archive.read(part)
            if b"\0" in data:
                raise FileFormatError(f"{name}: {part} is not in UTF-8; save it again")
            tags += data.count(b"<")
            for reference in _RANGE.findall(data):
                try:
                    left, top, right, bottom = openpyxl.utils.range_boundaries(reference.decode())
                    cells += (right - left + 1) * (bottom - top + 1)
                except (TypeError, ValueError):  # as of a whole column
                    cells += _MAX_CELLS + 1 if b":" in reference else 0
            if tags > _MAX_TAGS or cells > _MAX_CELLS:
                raise too_large
        has_pictures = any(part.startswith("xl/media/") for part in archive.namelist())
        if has_pictures and not openpyxl.drawing.image.PILImage:
            warnings.warn(  # openpyxl would drop them without a word
                f"{name}: pictures will be lost, as Pillow is not installed; install it with: "
                f"pip install pillow",
                stacklevel=4,
            )


def _load(file: BinaryIO, **options: bool) -> Any:
    from openpyxl import load_workbook

    file.seek(0)
    return load_workbook(file, **options)


def _sheet_of(book: Any, name: str, sheet: str | None) -> Any:
    titles = {one.title: one for one in book.worksheets}
    if sheet in titles:
        return titles[sheet]
    if sheet is not None:
        raise OptionError(
            f"{name}: has no sheet {quoted(sheet)}{suggestion(sheet, titles)}; its sheets are "
            f"{', '.join(map(quoted, titles))}"
        )
    if not titles:
        raise FileFormatError(f"{name}: has no sheet of cells")
    shown = [one for one in book.worksheets if one.sheet_state == "visible"]
    return (shown or book.worksheets)[0]


@contextmanager
def _workbook_errors(name: str) -> Iterator[None]:
    """Report a workbook that openpyxl cannot read or write; errors of the disk pass through."""
    try:
        yield
    except (FuzzyDictError, MemoryError):
        raise
    except Exception as error:  # zipfile, the parser of XML, openpyxl and Pillow raise many kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{name} is damaged, or not an .xlsx workbook: {error}; save it again"
        ) from error


@contextmanager
def _telling_what_is_lost(name: str) -> Iterator[None]:
    """Warn of what openpyxl does not read, and so will not write."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(one.message) for one in caught):
        if any(word in text for word in ("dropped", "lost", "removed")):
            warnings.warn(printable(f"{name}: {text}"), stacklevel=4)
