"""Tables in files: CSV, TSV, JSON Lines, Parquet and sheets of .xlsx workbooks.

`open_table` opens a `Table`. Its rows come in blocks, with their cells of one column, so that
memory does not grow with the table. The blocks are copied with new cells beside each row; all else
stays as it is written.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from fuzzydict._files import open_to_read
from fuzzydict.errors import (
    FileFormatError,
    FuzzyDictError,
    MissingExtraError,
    OptionError,
    quoted,
)
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    Dialect,
    Reading,
    Record,
    as_cell,
    as_json,
    cell_text,
    column_index,
    csv_blocks,
    csv_row,
    encoded,
    format_by_ending,
    guess_dialect,
    json_blocks,
    no_column,
)
from fuzzydict.io.sheets import Sheet
from fuzzydict.mapping import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fuzzydict.io.records import Block


#: The formats of tables.
TABLES = (*ROW_FORMATS, "parquet", "xlsx")
#: Those whose files are read from any place in them, and are no streams.
FILES_ONLY = ("parquet", "xlsx")


class CellBlock(NamedTuple):
    """Rows that follow each other, and their cells of one column.

    Attributes:
        cells: texts, or None if empty; one for each row, unless ``counts`` is given.
        counts: if each cell is listed once, how many rows have it.
        rows: the rows as `Table.write` takes them.
    """

    cells: list[str | None]
    counts: list[int] | None
    rows: Any


class Row(NamedTuple):
    """A row by itself: the number of its line, its text in one column, and all its values.

    Those of Parquet are scalars of Arrow, which have their exact type; see `as_python`.
    """

    line: int
    text: str | None
    values: list[Any]


class Contents(NamedTuple):
    """All of a table: the names of its columns, and its rows with a value for each."""

    names: list[str]
    rows: list[Row]


class Added(NamedTuple):
    """A column to add: its name, values such as it will hold, and what to do if there is one."""

    name: str
    values: Sequence[Any]
    advice: str


class Table(ABC):
    """A table in a file, which can be copied with new cells at the end of each row.

    Attributes:
        name: of the file in messages.
        names: of the columns; in JSON Lines, of the first lines: others may have more.
        header: the first row that is not blank; None in an empty file, and in JSON Lines and
            Parquet.
        dialect: how CSV or TSV is written.
        may_be_empty: whether JSON Lines without a line may be read, which show no column.
    """

    names: list[str]
    header: Record | None = None
    dialect = Dialect("")
    may_be_empty = False

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:
        """Check that there is a column of this name, and return the rows with its cells.

        If only this column is wanted ``alone``, other columns need not be read, nor written.

        Raises:
            FileFormatError: there is no such column, or a row cannot be read.
        """

    @abstractmethod
    def contents(self, column: str) -> Contents:
        """Return the whole table; errors as for `blocks`."""

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        """Copy the table to a file of the same format: the blocks that `write` gets in between.

        Raises:
            FileFormatError: the table has a column of the name of a new one.
        """
        check_names(self.names, added, self.name)
        self._output, self._added = output, added
        yield

    @abstractmethod
    def beside(self, cells: Sequence[Any]) -> Any:
        """Return values, one for each new column, as they are written beside a row."""

    @abstractmethod
    def write(self, block: CellBlock, beside: list[Any]) -> None:
        """Write the rows of a block, with what goes beside each of its cells.

        A row is left out if that is None; blank lines stay.
        """

    def progress(self) -> tuple[int, int] | None:
        """Return how much of the table was read and how much there is; None if nobody knows."""
        return None


class RecordTable(Table):
    """A table whose rows are records: any but Parquet."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Return the rows below the header, one by one, and blank ones."""


@contextmanager
def open_records(
    table: Path | BinaryIO, reading: Reading, *, name: object = None
) -> Iterator[RecordTable]:
    """Open a table as `open_table` does, to read its rows one by one.

    Raises:
        OptionError: it is Parquet; and what `open_table` raises.
    """
    with open_table(table, reading, name=name) as opened:
        if not isinstance(opened, RecordTable):
            raise OptionError(f"{opened.name}: Parquet has no rows of text; give another format")
        yield opened


@contextmanager
def open_table(
    table: Path | BinaryIO,
    reading: Reading = Reading(),  # noqa: B008
    *,
    name: object = None,
) -> Iterator[Table]:
    """Open a table to read it.

    Args:
        table: a file; or a stream of bytes, but for `FILES_ONLY`.
        reading: how it is read. A UserWarning says what is guessed, if that is not what the ending
            says, and UTF-8.
        name: of the table in messages; by default that of the file.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the table is not of its format, or has changed while it was read.
        OptionError: the format is unknown; there is no such sheet, delimiter or encoding, or the
            format has none.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    form, name = checked_format(table, reading.format), str(name or name_of(table))
    reading.check(name, form)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        before = _state(file)
        match form:
            case "jsonl":
                yield _JsonLines(name, file)
            case "parquet":
                with _parquet_file(file, name) as parquet:
                    yield _Parquet(name, parquet)
            case "xlsx":
                yield _Xlsx(name, Sheet(file, name, reading.sheet))
            case _:
                yield _Csv(name, file, DELIMITERS[form], reading)
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


def checked_format(table: Path | BinaryIO, format: str | None = None) -> str:  # noqa: A002
    """Return the format of a table, which its file's ending says if it is not given.

    Raises:
        OptionError: it is none of `TABLES`.
    """
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    return form


def check_output(output: Path, table: Path, form: str) -> None:
    """Check that the ending of an output file is that of a table's format.

    It may have none, that of a text, or that of the table.

    Raises:
        OptionError: it has another one.
    """
    named, ending = table_format(output), output.suffix.lower()
    if named != form and (named or ending not in ("", ".txt", table.suffix.lower())):
        raise OptionError(
            f"{output} would hold {form}, but its ending says otherwise; end it in .{form}"
        )


def name_of(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def check_names(existing: Iterable[str], added: Iterable[Added], place: str) -> None:
    """Raise FileFormatError if a table has a column of the name of a new one."""
    taken = set(existing)
    for one in added:
        if one.name in taken:
            raise FileFormatError(f"{place} has a column {quoted(one.name)} already; {one.advice}")


def as_python(value: Any) -> Any:
    """Return a value of a row as one of Python."""
    convert = getattr(value, "as_py", None)
    if convert is None:
        return value
    try:
        return convert()
    except ValueError:  # nanoseconds, for which Python has no type
        return str(value.cast("string"))


# ---- CSV, TSV and JSON Lines ----------------------------------------------------------------


class _Text(RecordTable):
    """A table of lines. A blank line stays as it is, with nothing beside it."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        super().__init__(name)
        self._file = file
        self._blocks: Iterator[Block] = iter(())

    def records(self) -> Iterator[Record]:
        return chain.from_iterable(block.records() for block in self._blocks)

    def progress(self) -> tuple[int, int] | None:
        try:
            return self._file.tell(), os.fstat(self._file.fileno()).st_size
        except OSError:  # a pipe, or a stream in memory
            return None

    def _write(self, parts: list[str]) -> None:
        self._output.write(self.dialect.encoded("".join(parts), self.name))
        self._output.flush()  # a reader of the stream may wait for these rows


class _Csv(_Text):
    """A table of CSV or TSV, whose first line names the columns."""

    def __init__(self, name: str, file: BinaryIO, usual: str, reading: Reading) -> None:
        super().__init__(name, file)
        self.dialect, begun = guess_dialect(file, name, usual, reading)
        self.header, self._blocks = csv_blocks(file, name, self.dialect, begun)

    @cached_property
    def names(self) -> list[str]:  # type: ignore[override]
        return list(self._first_line().content)

    def _first_line(self) -> Record:
        if self.header is None or self.header.line > 1:
            raise FileFormatError(
                f"{self.name}: line 1 is empty; expected the names of the columns"
            )
        return self.header

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:  # noqa: ARG002
        index = column_index(column, self._first_line(), self.name)
        return (
            CellBlock([cells[index] for cells in rows if cells], None, (raws, rows))
            for _, raws, rows in self._blocks
        )

    def contents(self, column: str) -> Contents:
        index = column_index(column, self._first_line(), self.name)
        rows = [Row(line, cells[index], cells) for line, _, cells in self.records() if cells]
        return Contents(self.names, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        raw = self._first_line().raw
        row = raw.rstrip("\r\n")
        # The header is written with the first rows, or at the end if there are none.
        self._begin = [row, self.beside([one.name for one in added]), raw[len(row) :]]
        with super().copying(output, added):
            yield
        self.write(CellBlock([], None, ([], [])), [])

    def beside(self, cells: Sequence[Any]) -> str:
        if not cells:
            return ""
        text = csv_row(["", *map(as_cell, map(as_python, cells))], self.dialect.delimiter)
        if self.dialect.encoding != "utf-8":
            self.dialect.encoded(text, self.name)  # so that no row is written if one cannot be
        return text

    def write(self, block: CellBlock, beside: list[str | None]) -> None:
        parts, self._begin = self._begin, []
        raws, rows = block.rows
        if len(beside) < len(rows):
            new = iter(beside)
            beside = [next(new) if cells else "" for cells in rows]
        for raw, added in zip(raws, beside, strict=True):
            if added is not None:
                row = raw.rstrip("\r\n")
                parts += row, added, raw[len(row) :]
        self._write(parts)


class _JsonLines(_Text):
    """A table of objects, one a line, each with fields of its own."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        super().__init__(name, file)
        self._blocks = json_blocks(file, name)

    @cached_property
    def names(self) -> list[str]:  # type: ignore[override]
        first = next(self._blocks, None)
        if first is None:
            return []
        self._blocks = chain([first], self._blocks)
        objects = (content for content in first.contents if isinstance(content, dict))
        return list(dict.fromkeys(name for content in objects for name in content))

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:  # noqa: ARG002
        found, is_empty, fields = False, True, dict[str, None]()
        for block in self._blocks:
            rows = [(line, one) for line, _, one in block.records() if one is not BLANK]
            cells = [self._text(*row, column) for row in rows]
            found = found or any(column in content for _, content in rows)
            fields = fields or dict.fromkeys(field for _, content in rows for field in content)
            is_empty = is_empty and not rows
            yield CellBlock(cells, None, block)
        if not found and not (is_empty and self.may_be_empty):
            raise FileFormatError(
                f"{self.name}: no line has a field {quoted(column)}{suggestion(column, fields)}"
            )

    def _text(self, line: int, content: Any, column: str) -> str | None:
        """Return the text to match in the object of a line."""
        place = f"{self.name}: line {line}"
        if not isinstance(content, dict):
            raise FileFormatError(f"{place} holds {JSON_TYPES[type(content)]}; expected an object")
        cell = content.get(column)
        if isinstance(cell, dict | list):
            raise FileFormatError(
                f"{place}: {quoted(column)} is {JSON_TYPES[type(cell)]}; expected a text"
            )
        return cell_text(cell)

    def contents(self, column: str) -> Contents:
        names, found = dict[str, None](), list[tuple[Record, str | None]]()
        for cells, _, block in self.blocks(column):
            rows = [record for record in block.records() if record.content is not BLANK]
            found += zip(rows, cells, strict=True)
            names.update(dict.fromkeys(name for row in rows for name in row.content))
        rows_of_all = [Row(row.line, cell, [*map(row.content.get, names)]) for row, cell in found]
        return Contents([*names], rows_of_all)

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        self._output, self._added = output, added  # names are checked in each line
        yield

    def beside(self, cells: Sequence[Any]) -> str:
        names = (one.name for one in self._added)
        return as_json(dict(zip(names, map(as_python, cells), strict=True)))[1:]

    def write(self, block: CellBlock, beside: list[str | None]) -> None:
        parts, new, names = list[str](), iter(beside), {one.name for one in self._added}
        for line, raw, content in block.rows.records():
            added = "" if content is BLANK else next(new)
            if added is None:
                continue
            if content is BLANK or not names:
                parts.append(raw)
                continue
            if not content.keys().isdisjoint(names):
                check_names(content, self._added, f"{self.name}: line {line}")
            text = raw.rstrip()
            parts += text[:-1].rstrip(), ", " * bool(content), added, raw[len(text) :]
        self._write(parts)


# ---- Parquet ------------------------------------------------------------------------------

_PARQUET_ROWS = 16_384  # that are read at once
#: Of a block, which becomes a row group; it ends when it has so many rows, or so many bytes.
_GROUP_ROWS, _GROUP_BYTES = 16 * _PARQUET_ROWS, 2**24
_COLUMN_ROWS = 2 * _GROUP_ROWS  # of a block of one column alone


def _pyarrow() -> Any:
    """Return the module pyarrow, with its parts that read Parquet."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed; install it with: pip install pyarrow"
        ) from error
    return pyarrow


@contextmanager
def _parquet_file(file: BinaryIO, name: str, **options: Any) -> Iterator[Any]:
    """Open a Parquet file. What pyarrow cannot read is told; errors of the disk pass through."""
    arrow = _pyarrow()
    try:
        with arrow.parquet.ParquetFile(file, **options) as table:
            yield table
    except FuzzyDictError:
        raise
    except (arrow.ArrowException, ArithmeticError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{name} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


def check_unpacked(file: BinaryIO, name: str, most: int) -> None:
    """Refuse a Parquet file whose cells take more bytes than so many, before they are unpacked.

    Raises:
        FileFormatError: they do, or the file is damaged.
        MissingExtraError: pyarrow is not installed.
    """

    def check(total: int) -> None:
        if total > most:
            raise FileFormatError(
                f"{name}: takes {total:,} bytes or more when it is unpacked, more than {most:,}"
            )

    with _parquet_file(file, name) as table:
        footer = table.metadata
        groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
        total = sum(group.total_byte_size for group in groups)
        check(max(total, 8 * footer.num_rows * footer.num_columns))
        paths = [footer.schema.column(place).path for place in range(footer.num_columns)]
        file.seek(0)
        total = 0
        with _parquet_file(file, name, read_dictionary=paths) as packed:
            for batch in packed.iter_batches(_PARQUET_ROWS):
                total += sum(map(_unpacked, batch.columns))
                check(total)


def _unpacked(column: Any) -> int:
    """Return how many bytes the cells of a column take, each text as often as it occurs."""
    arrow = _pyarrow()
    types, compute = arrow.types, arrow.compute
    if types.is_nested(column.type):
        parts = [column.keys, column.items] if types.is_map(column.type) else column.flatten()
        return sum(map(_unpacked, parts if isinstance(parts, list) else [parts]))
    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    texts = column.dictionary
    if not (types.is_string(texts.type) or types.is_binary(texts.type)):
        return int(texts.nbytes) * len(column)  # rare
    return compute.sum(compute.binary_length(texts).cast("int64").take(column.indices)).as_py() or 0


class _Parquet(Table):
    """A Parquet file. A block has each of its different cells once."""

    def __init__(self, name: str, table: Any) -> None:
        super().__init__(name)
        self._table, self.names, self._done = table, table.schema_arrow.names, 0

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:
        if self.names.count(column) != 1:
            raise no_column(column, self.names, self.name)
        return self._blocks(column, [column] if alone else None)

    def _blocks(self, column: str, columns: list[str] | None) -> Iterator[CellBlock]:
        for batch in self._batches(columns):
            cells = self._texts(batch[column], column).dictionary_encode(null_encoding="encode")
            different = cells.dictionary.to_pylist()
            counts = np.bincount(cells.indices, minlength=len(different)).tolist()
            self._done += batch.num_rows
            yield CellBlock(different, counts, (batch, cells.indices))

    def _batches(self, columns: list[str] | None) -> Iterator[Any]:
        """Yield the rows, as many together as a row group has."""
        some, rows, size = [], 0, 0
        most = _GROUP_ROWS if columns is None else _COLUMN_ROWS
        for batch in self._table.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=False):
            some.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if rows >= most or size >= _GROUP_BYTES:
                yield _joined(some)
                some, rows, size = [], 0, 0
        if some:
            yield _joined(some)

    def _texts(self, column: Any, name: str) -> Any:
        """Return an array as one of texts."""
        arrow = _pyarrow()
        if arrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
            return column
        cells = [*map(as_python, column)]
        for kind in {type(cell) for cell in cells} & {bytes, dict, list}:
            raise FileFormatError(
                f"{self.name}: the column {quoted(name)} holds {kind.__name__}s; expected texts"
            )
        return arrow.array(map(cell_text, cells), arrow.string())

    def contents(self, column: str) -> Contents:
        rows = list[Row]()
        for cells, _, (batch, indices) in self.blocks(column):
            for place, *values in zip(indices.to_pylist(), *batch.columns, strict=True):
                rows.append(Row(len(rows) + 1, cells[place], values))
        return Contents(self.names, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        arrow, schema = _pyarrow(), self._table.schema_arrow
        self._types = [_type_of(new.values) for new in added]
        for new, kind in zip(added, self._types, strict=True):
            schema = schema.append(arrow.field(new.name, kind))
        with super().copying(output, added):
            compression = self._compression()
            with arrow.parquet.ParquetWriter(output, schema, compression=compression) as writer:
                self._writer = writer
                yield

    def _compression(self) -> str:
        """Return the compression of the first column, or the usual one if there are no rows.

        The rows are read first. Where a column's description is damaged, that raises an error,
        while pyarrow ends the process when it is asked for the description alone.
        """
        table = self._table
        for _ in table.iter_batches(1, row_groups=range(min(table.num_row_groups, 1))):
            compression: str = table.metadata.row_group(0).column(0).compression.lower()
            return compression.replace("uncompressed", "none")
        return "snappy"

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(_arrow_value, cells, self._types))

    def write(self, block: CellBlock, beside: list[tuple[Any, ...] | None]) -> None:
        """Write the block as a row group."""
        arrow, (batch, indices) = _pyarrow(), block.rows
        if None in beside:
            kept = arrow.array([cells is not None for cells in beside]).take(indices)
            batch, indices = batch.filter(kept), indices.filter(kept)
        added = [
            arrow.array([cells and cells[part] for cells in beside], kind).take(indices)
            for part, kind in enumerate(self._types)
        ]
        rows = arrow.record_batch([*batch.columns, *added], schema=self._writer.schema)
        self._writer.write_batch(rows, max(1, rows.num_rows))

    def progress(self) -> tuple[int, int] | None:
        return self._done, self._table.metadata.num_rows


def _joined(batches: list[Any]) -> Any:
    """Return batches of rows as one."""
    if len(batches) == 1:
        return batches[0]
    (joined,) = _pyarrow().Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def _type_of(values: Sequence[Any]) -> Any:
    """Return the type of a new column: text, if its values have no type in common."""
    arrow = _pyarrow()
    if values and isinstance(values[0], arrow.Scalar):  # of a column, which has one type
        return values[0].type
    try:
        found = arrow.array(values).type
    except (arrow.ArrowException, ArithmeticError, TypeError, ValueError):
        return arrow.string()
    return arrow.string() if arrow.types.is_null(found) else found


def _arrow_value(cell: Any, kind: Any) -> Any:
    """Return a value as a column of a type takes it."""
    arrow = _pyarrow()
    if isinstance(cell, arrow.Scalar):
        return cell if cell.is_valid else None
    is_text = cell is not None and arrow.types.is_string(kind)
    return encoded(as_cell(cell)).decode() if is_text else cell


# ---- workbooks ----------------------------------------------------------------------------


class _Xlsx(RecordTable):
    """A sheet of a workbook, whose first row names the columns. It is one block."""

    def __init__(self, name: str, sheet: Sheet) -> None:
        super().__init__(name)
        self._sheet, self.names, self.header = sheet, sheet.names, sheet.header

    def records(self) -> Iterator[Record]:
        self._sheet.check_formulas(range(len(self.names)))
        return self._sheet.rows()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:  # noqa: ARG002
        rows = self._read(column)
        return iter([CellBlock([row.text for row in rows], None, rows)])

    def contents(self, column: str) -> Contents:
        """Return the columns that have names."""
        rows = self._read(column)
        named = [place for place, name in enumerate(self.names) if name]
        self._sheet.check_formulas(named)
        return Contents(
            [self.names[place] for place in named],
            [row._replace(values=[row.values[place] for place in named]) for row in rows],
        )

    def _read(self, column: str) -> list[Row]:
        if self.names.count(column) != 1:
            raise no_column(column, [*filter(None, self.names)], self.name)
        index = self.names.index(column)
        self._sheet.check_formulas([index])
        return [
            Row(line, cell_text(values[index]), values)
            for line, _, values in self._sheet.rows()
            if values
        ]

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        self._rows: list[tuple[Row, Sequence[Any] | None]] = []
        with super().copying(output, added):
            yield
        names = 1, [one.name for one in added]
        kept = [(row.line, cells) for row, cells in self._rows if cells is not None]
        is_whole = len(kept) == len(self._rows)
        (self._sheet.save_beside if is_whole else self._sheet.save_rows)(output, [names, *kept])

    def beside(self, cells: Sequence[Any]) -> Sequence[Any]:
        return [*map(as_python, cells)]

    def write(self, block: CellBlock, beside: list[Sequence[Any] | None]) -> None:
        """Keep the rows, which are written at the end."""
        self._rows += zip(block.rows, beside, strict=True)
