"""Tables in files: CSV, TSV, JSON Lines, Parquet and sheets of .xlsx workbooks.

`open_table` opens a `Table`. Its rows come in blocks, with their cells of one column, so that
memory does not grow with the table. The blocks are copied with new cells beside each row; all else
stays as it is written. Parquet is read by pyarrow and .xlsx by openpyxl, which may be missing.
"""

from __future__ import annotations

import math
import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
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
    ROW_FORMATS,
    Block,
    Contents,
    Csv,
    JsonLines,
    Reading,
    Row,
    Table,
    as_cell,
    as_python,
    cell_text,
    column_index,
    encoded,
    format_by_ending,
)
from fuzzydict.mapping import suggestion

#: The formats of tables.
TABLES = (*ROW_FORMATS, "parquet", "xlsx")
#: Those whose files are read from any place in them, and are no streams.
FILES_ONLY = ("parquet", "xlsx")


@contextmanager
def open_table(
    table: Path | BinaryIO,
    reading: Reading = Reading(),  # noqa: B008
    *,
    name: object = None,
) -> Iterator[Table]:
    """Open a table, a file or a stream of bytes (but for `FILES_ONLY`), to read it.

    A UserWarning says what is guessed, if that is not what the ending says, and UTF-8. ``name``
    stands for the table in messages.

    FileFormatError says that it is not of its format, or has changed while it was read; OptionError
    that the format is unknown, or has no sheet, delimiter or encoding such as is named;
    MissingExtraError that pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    form, name = checked_format(table, reading.format), str(name or _name_of(table))
    reading.check(name, form)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        before = _state(file)
        match form:
            case "jsonl":
                yield JsonLines(name, file)
            case "parquet":
                arrow = _pyarrow()
                kinds = arrow.ArrowException, ArithmeticError, OSError, ValueError
                with _reading(name, "a Parquet file", kinds), arrow.parquet.ParquetFile(file) as it:
                    yield _Parquet(name, file, it)
            case "xlsx":
                yield _Sheet(name, file, reading.sheet)
            case _:
                yield Csv(name, file, DELIMITERS[form], reading)
        if _state(file) != before:
            raise FileFormatError(f"{name} has changed while it was read; start again")


def _state(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and the time of a file on a disk, by which a change can be told."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # a stream in memory
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def table_format(path: Path) -> str | None:
    """Return the one of `TABLES` that a file's ending names, or None."""
    return format_by_ending(path, TABLES)


def checked_format(table: Path | BinaryIO, format: str | None) -> str:  # noqa: A002
    """Return the one of `TABLES` that is given, or that a file's ending names, or OptionError."""
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{_name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    return form


def _name_of(table: Path | BinaryIO) -> str:
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def check_output(output: Path, table: Path, form: str) -> None:
    """Check that the ending of an output file is that of a format, or of a text, or the table's."""
    named, ending = table_format(output), output.suffix.lower()
    if named != form and (named or ending not in ("", ".txt", table.suffix.lower())):
        raise OptionError(
            f"{output} would hold {form}, but its ending says otherwise; end it in .{form}"
        )


@contextmanager
def _reading(
    name: str, what: str = "an .xlsx workbook", kinds: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Report what a library cannot read or write; errors of the disk pass through.

    For a workbook, zipfile, the parser of XML, openpyxl and Pillow raise many kinds.
    """
    try:
        yield
    except (FuzzyDictError, MemoryError):
        raise
    except kinds as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        damage = f"{name} is damaged, or not {what}: {error}"
        raise FileFormatError(f"{damage}; save it again") from error


# ---- Parquet ------------------------------------------------------------------------------

_PARQUET_ROWS = 16_384  # that are read at once
#: Of a block, which becomes a row group; it ends when it has so many rows, or so many bytes.
_GROUP_ROWS, _GROUP_BYTES = 16 * _PARQUET_ROWS, 2**24


def _pyarrow() -> Any:
    """Return the module pyarrow, with its parts that read Parquet."""
    with needing("Parquet needs pyarrow", "pyarrow"):
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    return pyarrow


class _Parquet(Table):
    """A Parquet file. A block has each of its different cells once.

    Its rows are a batch of Arrow, and the place of each row's cell among the cells.
    """

    def __init__(self, name: str, file: BinaryIO, table: Any) -> None:
        self.name, self.names = name, table.schema_arrow.names
        self._arrow, self._file, self._table, self._done = _pyarrow(), file, table, 0

    def count(self) -> int:
        return int(self._table.metadata.num_rows)

    def progress(self) -> tuple[int, int] | None:
        return self._done, self.count()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:
        column_index(column, self.names, self.name)
        kind, types = self._table.schema_arrow.field(column).type, self._arrow.types
        kind = getattr(kind, "storage_type", kind)
        kind = kind.value_type if types.is_dictionary(kind) else kind
        are_bytes = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
        if types.is_nested(kind) or any(test(kind) for test in are_bytes):
            raise FileFormatError(
                f"{self.name}: the column {quoted(column)} is of type {kind}; expected texts"
            )
        return self._counted(column) if alone else self._with_rows(column)

    def _counted(self, column: str) -> Iterator[Block]:
        """Yield the cells of a column. However often a text comes, it is unpacked once."""
        with self._arrow.parquet.ParquetFile(self._file, read_dictionary=[column]) as table:
            for batch in table.iter_batches(_PARQUET_ROWS, columns=[column], use_threads=False):
                found = self._arrow.compute.value_counts(self._texts(batch.column(0)))
                cells, counts = (part.to_pylist() for part in found.flatten())
                yield Block(None, cells, counts)

    def _with_rows(self, column: str) -> Iterator[Block]:
        """Yield the rows, as many together as a row group has."""
        arrow, some = self._arrow, list[Any]()
        for batch in chain(self._table.iter_batches(_PARQUET_ROWS, use_threads=False), [None]):
            rows, size = (sum(getattr(one, of) for one in some) for of in ("num_rows", "nbytes"))
            if some and (batch is None or rows >= _GROUP_ROWS or size >= _GROUP_BYTES):
                (joined,) = arrow.Table.from_batches(some).combine_chunks().to_batches()
                cells = self._texts(joined[column])
                if arrow.types.is_dictionary(cells.type):
                    cells = cells.dictionary_decode()
                cells = cells.dictionary_encode("encode")
                counts = np.bincount(cells.indices, minlength=len(cells.dictionary)).tolist()
                self._done += rows
                yield Block((joined, cells.indices), cells.dictionary.to_pylist(), counts)
                some = []
            some.append(batch)

    def _texts(self, column: Any) -> Any:
        """Return an array as one of texts, or of places in a dictionary of texts."""
        types, is_dictionary = self._arrow.types, self._arrow.types.is_dictionary(column.type)
        kind = column.type.value_type if is_dictionary else column.type
        if types.is_string(kind) or types.is_large_string(kind):
            return column
        cells = map(as_python, column.dictionary_decode() if is_dictionary else column)
        return self._arrow.array(map(cell_text, cells), self._arrow.string())

    def contents(self, column: str) -> Contents:
        texts, rows = list[str | None](), list[list[Any]]()
        for (batch, places), cells, _ in self.blocks(column):
            texts += [cells[place] for place in places.to_pylist()]
            rows += map(list, zip(*batch.columns, strict=True))
        return Contents(self.names, range(1, len(rows) + 1), texts, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        arrow, table, compression = self._arrow, self._table, "snappy"
        self._types, schema = [*map(self._type_of, added.values())], table.schema_arrow
        for name, kind in zip(added, self._types, strict=True):
            schema = schema.append(arrow.field(name, kind))
        with super().copying(output, added):
            # That of the first column, if there are rows. One is read first: where a column's
            # description is damaged, that raises an error, while pyarrow ends the process when it
            # is asked for the description alone. The rows of a batch hold for all reading.
            groups = range(min(table.num_row_groups, 1))
            if next(table.iter_batches(_PARQUET_ROWS, row_groups=groups), None) is not None:
                found = table.metadata.row_group(0).column(0).compression
                compression = found.lower().replace("uncompressed", "none")
            with arrow.parquet.ParquetWriter(output, schema, compression=compression) as writer:
                self._writer = writer
                yield

    def _type_of(self, values: Sequence[Any]) -> Any:
        """Return the type of a new column: text, if its values have no type in common."""
        arrow = self._arrow
        if values and isinstance(values[0], arrow.Scalar):  # of a column, which has one type
            return values[0].type
        try:
            found = arrow.array(values).type
        except (arrow.ArrowException, ArithmeticError, TypeError, ValueError):
            return arrow.string()
        return arrow.string() if arrow.types.is_null(found) else found

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values as columns of these types take them."""
        arrow, values = self._arrow, list[Any]()
        for cell, kind in zip(cells, self._types, strict=False):
            if isinstance(cell, arrow.Scalar):
                values.append(cell if cell.is_valid else None)
            else:
                is_text = cell is not None and arrow.types.is_string(kind)
                values.append(encoded(as_cell(cell)).decode() if is_text else cell)
        return tuple(values)

    def write(self, block: Block, beside: list[tuple[Any, ...] | None]) -> None:
        """Write the block as a row group."""
        arrow, (batch, places) = self._arrow, block.rows
        if None in beside:
            kept = arrow.array([cells is not None for cells in beside]).take(places)
            batch, places = batch.filter(kept), places.filter(kept)
        added = [
            arrow.array([cells and cells[part] for cells in beside], kind).take(places)
            for part, kind in enumerate(self._types)
        ]
        rows = arrow.record_batch([*batch.columns, *added], schema=self._writer.schema)
        self._writer.write_batch(rows, max(1, rows.num_rows))


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
#: What openpyxl repeats for each cell of a range.
_RANGE = re.compile(rb"<(?:\w+:)?(?:mergeCell|hyperlink)\s[^<>]*?\bref\s*=\s*[\"']([^\"'<>]*)")


class _Sheet(Table):
    """A sheet of a workbook, by default the first that is not hidden. It is one block."""

    def __init__(self, name: str, file: BinaryIO, sheet: str | None) -> None:
        self.name = name
        _check_workbook(file, name)
        with warnings.catch_warnings(record=True) as caught, _reading(name):
            warnings.simplefilter("always")
            self._book = _load(file, name, rich_text=True)
        for text in dict.fromkeys(str(one.message) for one in caught):
            if any(word in text for word in ("dropped", "lost", "removed")):
                warnings.warn(printable(f"{name}: {text}"), stacklevel=4)
        self._sheet = self._shown = _sheet_of(self._book, name, sheet)
        place = f"{name}: sheet {quoted(self._sheet.title)}"
        height, width = self._sheet.max_row, self._sheet.max_column
        if height > _MAX_ROWS or height * width > _MAX_CELLS:
            most = f"{_MAX_ROWS} rows" if height > _MAX_ROWS else f"{_MAX_CELLS} in all"
            raise FileFormatError(
                f"{place} has cells in {height} rows and {width} columns, more than {most}; save "
                f"the table as CSV or Parquet"
            )
        cells = [cell for row in self._sheet.iter_rows() for cell in row if cell.value is not None]
        formulas = [cell for cell in cells if cell.data_type == "f"]
        with warnings.catch_warnings(action="ignore"), _reading(name):
            if formulas:
                self._shown = _load(file, name, data_only=True)[self._sheet.title]
            rows = [[cell_value(cell) for cell in row] for row in self._shown.iter_rows()]
        #: The first formula without a computed value in each column.
        self._unknown = dict[int, str]()
        for cell in formulas:
            computed = self._shown.cell(cell.row, cell.column)
            if computed.value is None and computed.data_type == "n":  # "" is a text
                self._unknown.setdefault(cell.column - 1, cell.coordinate)
        used: list[tuple[int, str]] = [(cell.column, cell.coordinate) for cell in cells]
        for merged in self._sheet.merged_cells.ranges:
            if merged.min_row == 1 and merged.max_row > 1:
                raise FileFormatError(
                    f"{place}: {merged.coord} is merged; expected the names of the columns in row "
                    f"1, and the first row of the table in row 2"
                )
            used.append((merged.max_col, merged.coord))
            for row in rows[merged.min_row : merged.max_row]:
                row[merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
        #: The last column in which anything is, or is merged, and the cells there.
        self._width, self._last = max(used, default=(0, ""))
        ends = (end for row in rows for end, value in enumerate(row, 1) if value is not None)
        width = max(ends, default=0)
        self._values = [row[:width] for row in rows]
        self.header = 1, "", self._values[0] if rows else []
        self.names = [cell_text(value) or "" for value in self.header[2]]
        if not any(self.names):
            raise FileFormatError(f"{place}: row 1 is empty; expected the names of the columns")
        values = enumerate(self._values[1:], 2)
        self._blocks = iter([[(at, "", row) for at, row in values if row.count(None) < len(row)]])

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

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        self._written: list[tuple[int, Sequence[Any] | None]] = [(1, [*added])]
        with super().copying(output, added):
            yield
        kept = [(line, cells) for line, cells in self._written if cells is not None]
        with _reading(self.name):
            if len(kept) < len(self._written):
                self._leave(kept)
            for line, cells in kept:
                self._add(line, cells)
            self._book.save(output)

    def beside(self, cells: Sequence[Any]) -> Sequence[Any]:
        return [*map(as_python, cells)]

    def write(self, block: Block, beside: list[Sequence[Any] | None]) -> None:
        """Keep the rows, which are written at the end."""
        self._written += zip((line for line, *_ in block.rows), beside, strict=True)

    def _leave(self, rows: list[tuple[int, Sequence[Any]]]) -> None:
        """Go on with a new workbook that has some rows of the sheet, as values."""
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
        self._book = Workbook()
        self._book.active.title = self._sheet.title
        self._sheet = self._book.active
        for number, (line, added) in enumerate(rows, 1):
            for column, value in enumerate(self._values[line - 1], 1):
                shown, cell = self._shown.cell(line, column), self._sheet.cell(number, column)
                self._set(cell, value)
                if shown.data_type == "e":
                    cell.value, cell.data_type = shown.value, "e"
                if shown.value is not None:
                    cell.number_format = shown.number_format
            rows[number - 1] = number, added

    def _add(self, line: int, cells: Sequence[Any]) -> None:
        """Write cells right of all that the sheet holds."""
        if self._width + len(cells) > _MAX_COLUMNS:
            raise FileFormatError(
                f"{self.name}: sheet {quoted(self._sheet.title)} has no room for new columns right "
                f"of {self._last}; clear or unmerge that, or save the table as CSV"
            )
        for column, value in enumerate(cells, self._width + 1):
            if value is not None:
                self._set(self._sheet.cell(line, column), _for_cell(value))

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


def _check_workbook(file: BinaryIO, name: str) -> None:
    """Refuse what is no workbook, or one of too many bytes, tags, or merged cells."""
    if file.read(len(OLE)) == OLE:
        raise FileFormatError(
            f"{name}: is an old .xls workbook, or encrypted; save it as .xlsx, without a password"
        )
    with needing("An .xlsx workbook needs openpyxl", "openpyxl"):
        import openpyxl.drawing.image
        import openpyxl.utils
    tags = {True: 0, False: 0}  # in the cells and their texts, or in the other parts
    cells = 0
    with _reading(name), ZipFile(file) as archive:
        if sum(part.file_size for part in archive.infolist()) > _MAX_BYTES:
            raise _too_large(name)
        for part in archive.namelist():
            if not part.lower().endswith((".xml", ".rels", ".vml")):
                continue
            data = archive.read(part)
            if b"\0" in data:
                raise FileFormatError(f"{name}: {part} is not in UTF-8; save it again")
            if b"<!DOCTYPE" in data:
                raise FileFormatError(f"{name}: {part} defines a type, as no workbook does")
            tags["/worksheets/" in part or part.endswith("sharedStrings.xml")] += data.count(b"<")
            for reference in _RANGE.findall(data):
                try:
                    left, top, right, bottom = openpyxl.utils.range_boundaries(reference.decode())
                    cells += (right - left + 1) * (bottom - top + 1)
                except (TypeError, ValueError):  # as of a whole column
                    cells += _MAX_CELLS + 1 if b":" in reference else 0
            if tags[True] > _MAX_TAGS or tags[False] > _MAX_OTHER_TAGS or cells > _MAX_CELLS:
                raise _too_large(name)
        has_pictures = any(part.startswith("xl/media/") for part in archive.namelist())
        if has_pictures and not openpyxl.drawing.image.PILImage:
            warnings.warn(  # openpyxl would drop them without a word
                f"{name}: pictures will be lost, as Pillow is not installed; install it with: "
                f"pip install pillow",
                stacklevel=4,
            )


def _too_large(name: str) -> FileFormatError:
    return FileFormatError(
        f"{name} holds more than is read of a workbook ({_MAX_BYTES} bytes when unpacked, "
        f"{_MAX_TAGS} tags in its sheets and {_MAX_OTHER_TAGS} elsewhere, {_MAX_CELLS} merged "
        f"cells); save the table as CSV or Parquet"
    )


def _load(file: BinaryIO, name: str, **options: bool) -> Any:
    """Read a workbook, of which many sheets may name one part: all are read twice at most."""
    from openpyxl.reader.excel import ExcelReader

    class Archive(ZipFile):
        left = 2**16  # bytes

        def open(self, name: Any, *given: Any, **options: Any) -> Any:
            self.left -= self.getinfo(getattr(name, "filename", name)).file_size
            if self.left < 0:
                raise EOFError
            return super().open(name, *given, **options)

    file.seek(0)
    reader = ExcelReader(file, **options)
    with Archive(file) as archive:
        archive.left += 2 * sum(part.file_size for part in archive.infolist())
        reader.archive = archive
        try:
            reader.read()
        except EOFError as error:
            raise (_too_large(name) if archive.left < 0 else error) from None
    return reader.wb


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
