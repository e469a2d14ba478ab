"""Tables in files: CSV, TSV, JSON Lines, Parquet and sheets of .xlsx workbooks.

The rows of a `Table` come in blocks, so that memory does not grow with it, and are copied with new
cells beside each. Parquet is read by pyarrow and .xlsx by openpyxl, which may be missing.
"""

from __future__ import annotations

import math
import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from fuzzydict._files import open_to_read
from fuzzydict.errors import (
    FileFormatError,
    FuzzyDictError,
    OptionError,
    needing,
    printable,
    quoted,
)
from fuzzydict.io.text_tables import (
    DELIMITERS,
    MAX_EXACT,
    TABLES,
    Beside,
    Block,
    Contents,
    Csv,
    Dialect,
    JsonLines,
    Reading,
    Row,
    Table,
    as_cell,
    as_python,
    cell_text,
    column_index,
    dialect_of,
    encoded,
    format_by_ending,
)
from fuzzydict.mapping import suggestion


def checked_format(table: Path | BinaryIO, format: str | None) -> str:  # noqa: A002
    """Return the one of `TABLES` that is given, or that a file's ending names, or OptionError."""
    form = format or (format_by_ending(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        name = _name_of(table)
        advice = "save it as .xlsx" if name.lower().endswith(".xls") else "name the format"
        raise OptionError(f"{name}: expected a table of format {', '.join(TABLES)}; {advice}")
    return form


@contextmanager
def open_table(
    table: Path | BinaryIO,
    reading: Reading = Reading(),  # noqa: B008
    *,
    name: object = None,
) -> Iterator[Table]:
    """Open a table, a file or a stream of bytes (but for `FILES_ONLY`), to read it.

    A UserWarning says what is guessed, if that is not what the ending says, and UTF-8.
    FileFormatError says that the table is not of its format, or has changed while it was read.
    ``name`` stands for it in messages.
    """
    form, name = checked_format(table, reading.format), str(name or _name_of(table))
    reading.check(name, form)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        before = _state(file)
        match form:
            case "jsonl":
                yield JsonLines(name, file, Dialect(""))
            case "parquet":
                with needing("Parquet needs pyarrow", "pyarrow"):
                    import pyarrow as arrow
                    import pyarrow.parquet
                kinds = arrow.ArrowException, ArithmeticError, OSError, ValueError
                with _reading(name, "a Parquet file", kinds):
                    yield _Parquet(name, file, arrow)
            case "xlsx":
                yield _Sheet(name, file, reading.sheet)
            case _:
                yield Csv(name, file, *dialect_of(file, name, DELIMITERS[form], reading))
        if _state(file) != before:
            raise FileFormatError(f"{name} has changed while it was read; start again")


def _name_of(table: Path | BinaryIO) -> str:
    name = table if isinstance(table, Path) else getattr(table, "name", "the stream")
    return "standard input" if isinstance(name, int) else str(name)


def _state(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and the time of a file on a disk, by which a change can be told."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # a stream in memory
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _reading(
    name: str, what: str = "an .xlsx workbook", kinds: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Report what a library cannot read or write; errors of the disk pass through."""
    try:
        yield
    except kinds as error:  # for a workbook zipfile, XML, openpyxl and Pillow raise many
        is_of_disk = isinstance(error, OSError) and error.errno is not None
        if is_of_disk or isinstance(error, FuzzyDictError | MemoryError):
            raise
        damage = f"{name} is damaged, or not {what}: {error}"
        raise FileFormatError(f"{damage}; save it again") from error


# ---- Parquet ------------------------------------------------------------------------------

_PARQUET_ROWS = 16_384  # that are read at once
#: Of a block, which becomes a row group; it ends when it has so many rows, or so many bytes.
_GROUP_ROWS, _GROUP_BYTES = 16 * _PARQUET_ROWS, 2**24


class _Parquet(Table):
    """A Parquet file. A block has each of its different cells once.

    Its rows are a batch of Arrow, and the place of each row's cell among the cells.
    """

    def __init__(self, name: str, file: BinaryIO, arrow: Any) -> None:
        self.name, self._arrow, self._file, self._done = name, arrow, file, 0
        self._table = arrow.parquet.ParquetFile(file)
        self.names = self._table.schema_arrow.names

    def count(self) -> int:
        return int(self._table.metadata.num_rows)

    def progress(self) -> tuple[int, int] | None:
        return self._done, self.count()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:
        column_index(column, self.names, self.name)
        arrow, table, only = self._arrow, self._table, None
        kind = table.schema_arrow.field(column).type
        if arrow.types.is_nested(kind) or "binary" in str(getattr(kind, "storage_type", kind)):
            raise FileFormatError(
                f"{self.name}: the column {quoted(column)} is of type {kind}; expected texts"
            )
        if alone:  # however often a text comes, it is unpacked once
            table, only = arrow.parquet.ParquetFile(self._file, read_dictionary=[column]), [column]
        batches = table.iter_batches(_PARQUET_ROWS, columns=only, use_threads=False)
        some = list[Any]()
        for batch in chain(batches, [None]):  # as many together as a row group has
            rows, size = (sum(getattr(one, of) for one in some) for of in ("num_rows", "nbytes"))
            if some and (batch is None or rows >= _GROUP_ROWS or size >= _GROUP_BYTES):
                (joined,) = arrow.Table.from_batches(some).combine_chunks().to_batches()
                self._done += rows
                yield self._block(joined, column)
                some = []
            some.append(batch)

    def _block(self, batch: Any, column: str) -> Block:
        """Return rows with the texts of a column, each of which is made once."""
        found = batch.column(column).dictionary_encode()
        places = found.indices.fill_null(len(found.dictionary)).to_numpy()
        used = np.bincount(places, minlength=len(found.dictionary) + 1).tolist()
        values = zip(chain(found.dictionary, [None]), used, strict=True)
        texts = [cell_text(as_python(value)) if rows else None for value, rows in values]
        place_of = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        places = np.array([place_of[text] for text in texts])[places]
        counts = np.bincount(places, minlength=len(place_of)).tolist()
        return Block((batch, places), [*place_of], counts)

    def contents(self, column: str) -> Contents:
        texts, rows = list[str | None](), list[list[Any]]()
        for (batch, places), cells, _ in self.blocks(column):
            texts += [cells[place] for place in places]
            rows += map(list, zip(*batch.columns, strict=True))
        return Contents(self.names, range(1, len(rows) + 1), texts, rows)

    def copy(
        self, output: BinaryIO, added: Mapping[str, Sequence[Any]], blocks: Iterable[Beside]
    ) -> None:
        """Write each block as a row group."""
        arrow, table, compression = self._arrow, self._table, "snappy"
        self._types, schema = [*map(self._type_of, added.values())], table.schema_arrow
        for field in map(arrow.field, added, self._types):
            schema = schema.append(field)
        # That of the first column, if there are rows. One is read first: where a column's
        # description is damaged, that raises an error, while pyarrow ends the process when it
        # is asked for the description alone. The rows of a batch hold for all reading.
        groups = range(min(table.num_row_groups, 1))
        if next(table.iter_batches(_PARQUET_ROWS, row_groups=groups), None) is not None:
            compression = table.metadata.row_group(0).column(0).compression.lower()
        options = {"compression": compression.replace("uncompressed", "none")}
        with arrow.parquet.ParquetWriter(output, schema, **options) as writer:
            for ((batch, places), *_), beside in blocks:
                if None in beside:
                    kept = np.array([cells is not None for cells in beside])[places]
                    batch, places = batch.filter(arrow.array(kept)), places[kept]
                new = [
                    arrow.array([cells and cells[n] for cells in beside], kind).take(places)
                    for n, kind in enumerate(self._types)
                ]
                rows = arrow.record_batch([*batch.columns, *new], schema=schema)
                writer.write_batch(rows, max(1, rows.num_rows))

    def _type_of(self, values: Sequence[Any]) -> Any:
        """Return the type of a new column: text, if its values have no type in common."""
        arrow = self._arrow
        if values and isinstance(values[0], arrow.Scalar):  # of a column, which has one type
            return values[0].type
        with suppress(arrow.ArrowException, ArithmeticError, TypeError, ValueError):
            if not arrow.types.is_null(found := arrow.array(values).type):
                return found
        return arrow.string()

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        def of_type(cell: Any, kind: Any) -> Any:
            if isinstance(cell, self._arrow.Scalar):
                return cell if cell.is_valid else None
            is_text = cell is not None and self._arrow.types.is_string(kind)
            return encoded(as_cell(cell)).decode() if is_text else cell

        return tuple(map(of_type, cells, self._types))


# ---- sheets of .xlsx workbooks --------------------------------------------------------------

# The first row of a sheet names its columns. Cells that are merged downwards have the value of the
# first; formulas have the values that the program computed that saved the file. Workbooks are read
# as a whole by openpyxl, so what they may hold is bounded before.

_MAX_BYTES = 2**28  # of a workbook's parts, unpacked
_MAX_TAGS = 2**24  # in its sheets and the texts in them; a cell has four
_MAX_OTHER_TAGS = 2**19  # in the other parts: styles, names, comments ...
_MAX_CELLS = 2**22  # of a sheet, and of merged cells and links
_MAX_ROWS, _MAX_COLUMNS = 2**20, 2**14
_MAX_TEXT = 32_767  # characters of a cell
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LITERAL = re.compile(r'"[^"]*"|\\.|\[\$[^]]*]')  # in the format of a number
_LOSS = re.compile("dropped|lost|removed")  # in a warning of openpyxl
#: What openpyxl repeats for each cell of a range.
_RANGE = re.compile(rb"<(?:\w+:)?(?:mergeCell|hyperlink)\s[^<>]*?\bref\s*=\s*[\"']([^\"'<>]*)")


class _Archive(ZipFile):
    """The parts of a workbook, none too large. All are read twice at most: sheets may share one."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        from openpyxl.utils import range_boundaries

        super().__init__(file)
        self.too_large = FileFormatError(
            f"{name} holds more than is read of a workbook ({_MAX_BYTES} bytes when unpacked, "
            f"{_MAX_TAGS} tags in its sheets and {_MAX_OTHER_TAGS} elsewhere, {_MAX_CELLS} merged "
            f"cells); save the table as CSV or Parquet"
        )
        size = sum(part.file_size for part in self.infolist())
        if size > _MAX_BYTES:
            raise self.too_large
        self.left = 3 * size + 2**16  # bytes; all are read here, too
        tags, cells = {True: 0, False: 0}, 0  # tags in the cells and their texts, or elsewhere
        for part in self.namelist():
            data = self.read(part)
            if not part.lower().endswith((".xml", ".rels", ".vml")):
                continue
            if b"\0" in data:
                raise FileFormatError(f"{name}: {part} is not in UTF-8; save it again")
            if b"<!DOCTYPE" in data:
                raise FileFormatError(f"{name}: {part} defines a type, as no workbook does")
            tags["/worksheets/" in part or part.endswith("sharedStrings.xml")] += data.count(b"<")
            for reference in _RANGE.findall(data):
                try:
                    left, top, right, bottom = range_boundaries(reference.decode())
                    cells += (right - left + 1) * (bottom - top + 1)
                except (TypeError, ValueError):  # as of a whole column
                    cells += _MAX_CELLS + 1 if b":" in reference else 0
            if tags[True] > _MAX_TAGS or tags[False] > _MAX_OTHER_TAGS or cells > _MAX_CELLS:
                raise self.too_large

    def open(self, name: Any, *given: Any, **options: Any) -> Any:
        self.left -= self.getinfo(getattr(name, "filename", name)).file_size
        if self.left < 0:
            raise EOFError  # which openpyxl lets through
        return super().open(name, *given, **options)


def _load(file: BinaryIO, name: str, **options: bool) -> Any:
    file.seek(0)
    if file.read(len(OLE)) == OLE:
        problem = "is an old .xls workbook, or encrypted; save it as .xlsx, without a password"
        raise FileFormatError(f"{name}: {problem}")
    with needing("An .xlsx workbook needs openpyxl", "openpyxl"):
        import openpyxl
    with _Archive(file, name) as archive:
        has_pictures = any(part.startswith("xl/media/") for part in archive.namelist())
        if has_pictures and not openpyxl.drawing.image.PILImage:  # they go without a word
            problem = "pictures will be lost, as Pillow is not installed"
            warnings.warn(f"{problem}; install it with: pip install pillow", stacklevel=2)
        reader = openpyxl.reader.excel.ExcelReader(file, **options)
        reader.archive = archive
        try:
            reader.read()
        except EOFError as error:
            raise (archive.too_large if archive.left < 0 else error) from None
    return reader.wb


class _Sheet(Table):
    """A sheet of a workbook, by default the first that is not hidden. It is one block."""

    def __init__(self, name: str, file: BinaryIO, sheet: str | None) -> None:
        self.name = name
        with warnings.catch_warnings(record=True) as caught, _reading(name):
            warnings.simplefilter("always")
            self._book = _load(file, name, rich_text=True)
            sheets = {one.title: one for one in self._book.worksheets}
            if sheet is not None and sheet not in sheets:
                raise OptionError(
                    f"{name}: has no sheet {quoted(sheet)}{suggestion(sheet, sheets)}; its sheets "
                    f"are {', '.join(map(quoted, sheets))}"
                )
            if not sheets:
                raise FileFormatError(f"{name}: has no sheet of cells")
            shown = (one for one in self._book.worksheets if one.sheet_state == "visible")
            self._sheet = sheets.get(sheet) or next(shown, self._book.worksheets[0])
            self._place = f"{name}: sheet {quoted(self._sheet.title)}"
            self._values = self._read(file)
        for text in filter(_LOSS.search, dict.fromkeys(str(one.message) for one in caught)):
            warnings.warn(printable(f"{name}: {text}"), stacklevel=4)
        self.header = 1, "", next(iter(self._values), [])
        self.names = [cell_text(value) or "" for value in self.header[2]]
        if not any(self.names):
            problem = "row 1 is empty; expected the names of the columns"
            raise FileFormatError(f"{self._place}: {problem}")
        rows = enumerate(self._values[1:], 2)
        self._blocks = iter([[(at, "", row) for at, row in rows if row.count(None) < len(row)]])

    def _read(self, file: BinaryIO) -> list[list[Any]]:
        """Return the values of all cells, up to the last column that has one."""
        sheet = self._shown = self._sheet  # what is shown: formulas with their values
        height, width = sheet.max_row, sheet.max_column
        if height > _MAX_ROWS or height * width > _MAX_CELLS:
            raise FileFormatError(
                f"{self._place} has cells in {height} rows and {width} columns, more than "
                f"{_MAX_ROWS} rows or {_MAX_CELLS} cells in all; save the table as CSV or Parquet"
            )
        cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
        formulas = [cell for cell in cells if cell.data_type == "f"]
        if formulas:
            self._shown = _load(file, self.name, data_only=True)[sheet.title]
        #: The first formula without a computed value in each column.
        self._unknown = dict[int, str]()
        for cell in formulas:
            computed = self._shown.cell(cell.row, cell.column)
            if computed.value is None and computed.data_type == "n":  # "" is a text
                self._unknown.setdefault(cell.column - 1, cell.coordinate)
        rows = [[cell_value(cell) for cell in row] for row in self._shown.iter_rows()]
        for merged in sheet.merged_cells.ranges:
            if merged.min_row == 1 and merged.max_row > 1:
                raise FileFormatError(
                    f"{self._place}: {merged.coord} is merged; expected the names of the columns "
                    f"in row 1, and the first row of the table in row 2"
                )
            for row in rows[merged.min_row : merged.max_row]:
                row[merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
        #: The last column in which anything is, or is merged, and the cells there.
        used: list[tuple[int, str]] = [(cell.column, cell.coordinate) for cell in cells]
        used += [(merged.max_col, merged.coord) for merged in sheet.merged_cells.ranges]
        self._width, self._last = max(used, default=(0, ""))
        ends = (end for row in rows for end, value in enumerate(row, 1) if value is not None)
        width = max(ends, default=0)
        return [row[:width] for row in rows]

    def _check_formulas(self, columns: Iterable[int]) -> None:
        """Check that the program that saved the file has computed all formulas in some columns."""
        for cell in filter(None, map(self._unknown.get, columns)):
            raise FileFormatError(
                f"{self.name}: the file has no value of the formula in {cell}; open it in a "
                f"spreadsheet program and save it again"
            )

    def rows(self) -> Iterator[Row]:
        self._check_formulas(range(len(self.names)))
        return super().rows()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:  # noqa: ARG002
        index = column_index(column, self.names, self.name)
        self._check_formulas([index])
        for rows in self._blocks:
            yield Block(rows, [cell_text(cells[index]) for *_, cells in rows])

    def contents(self, column: str) -> Contents:
        """Return the columns that have names."""
        _, lines, texts, rows = super().contents(column)
        named = [place for place, name in enumerate(self.names) if name]
        self._check_formulas(named)
        names = [self.names[place] for place in named]
        return Contents(names, lines, texts, [[row[place] for place in named] for row in rows])

    def copy(
        self, output: BinaryIO, added: Mapping[str, Sequence[Any]], blocks: Iterable[Beside]
    ) -> None:
        if self._width + len(added) > _MAX_COLUMNS:
            raise FileFormatError(
                f"{self._place} has no room for new columns right of {self._last}; clear or "
                f"unmerge that, or save the table as CSV"
            )
        written: list[tuple[int, Sequence[Any] | None]] = [(1, [*added])]
        for block, beside in blocks:
            written += zip((line for line, *_ in block.rows), beside, strict=True)
        kept = [(line, cells) for line, cells in written if cells is not None]
        with _reading(self.name):
            if len(kept) < len(written):
                self._go_on_alone([line for line, _ in kept])
                kept = [(number, cells) for number, (_, cells) in enumerate(kept, 1)]
            for line, cells in kept:
                for column, value in enumerate(cells, self._width + 1):
                    if value is not None:
                        self._set(self._sheet.cell(line, column), _for_cell(value))
            self._book.save(output)

    def beside(self, cells: Sequence[Any]) -> Sequence[Any]:
        return [*map(as_python, cells)]

    def _go_on_alone(self, lines: list[int]) -> None:
        """Go on with a new workbook that has some lines of the sheet alone, as values.

        In the old one rows are not deleted: openpyxl does not move what formulas refer to.
        """
        self._check_formulas(range(self._width))
        title = self._sheet.title
        if others := [name for name in self._book.sheetnames if name != title]:
            warnings.warn(
                f"{self.name}: only rows of sheet {quoted(title)} are written, as values; not its "
                f"formulas and formats, nor {', '.join(map(quoted, others))}",
                stacklevel=4,
            )
        self._book = type(self._book)()
        self._sheet = self._book.active
        self._sheet.title = title
        for number, line in enumerate(lines, 1):
            for shown, value in zip(self._shown[line], self._values[line - 1], strict=False):
                cell = self._sheet.cell(number, shown.column)
                self._set(cell, value)
                if shown.value is not None:
                    cell.number_format = shown.number_format
                if shown.data_type == "e":
                    cell.value, cell.data_type = shown.value, "e"

    def _set(self, cell: Any, value: Any) -> None:
        """Give a cell its value; a text stays one, whatever it begins with."""
        if isinstance(value, str) and len(value) > _MAX_TEXT:
            raise FileFormatError(
                f"{self.name}: {cell.coordinate} would have a text of {len(value)} characters, "
                f"and a cell can have {_MAX_TEXT}; save the table as CSV"
            )
        cell.value = value
        if isinstance(value, str):
            cell.data_type = "s"  # openpyxl takes "=..." for a formula


def cell_value(cell: Any) -> Any:
    """Return the value of a cell; None if it is empty, or holds an error such as #N/A."""
    value = None if cell.data_type == "e" else cell.value
    if isinstance(value, datetime) and value.time() == time():
        shown = _LITERAL.sub("", cell.number_format.lower())
        return value if "h" in shown or "s" in shown else value.date()
    return str(value) if isinstance(value, str | list) else value  # text in several fonts


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
