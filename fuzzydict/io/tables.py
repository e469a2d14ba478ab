"""Tables in files: CSV, TSV, JSON Lines and Parquet.

`open_table` opens a `Table`. Its rows come in blocks, with their cells of one column, so that
memory does not grow with the table. A `Writer` copies the blocks with new cells beside each row;
everything else stays as it is written.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeVar

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
    as_cell,
    as_json,
    column_index,
    csv_blocks,
    csv_row,
    encoded,
    format_by_ending,
    json_blocks,
    no_column,
)
from fuzzydict.mapping import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

T = TypeVar("T")

#: The formats of tables.
TABLES = (*ROW_FORMATS, "parquet")


class CellBlock(NamedTuple):
    """Rows that follow each other, and their cells of one column.

    Attributes:
        cells: texts, or None if empty; one for each row, unless ``counts`` is given.
        counts: if each cell is listed once, how many rows have it.
        rows: the rows as their `Writer` takes them.
    """

    cells: list[str | None]
    counts: list[int] | None
    rows: Any


class Writer(Protocol[T]):
    """Writes the blocks of a table with new cells at the end of each row."""

    def beside(self, cells: Sequence[Any]) -> T:
        """Return values, one for each new column, as they are written beside a row."""

    def write(self, block: CellBlock, beside: list[T]) -> None:
        """Write the rows of a block, with what goes beside each of its cells."""


class Table(Protocol):
    """A table in a file.

    Attributes:
        name: of the file in messages.
    """

    name: str

    def blocks(self, column: str) -> Iterator[CellBlock]:
        """Check that there is a column of this name, and return the rows with its cells.

        Raises:
            FileFormatError: there is no such column, or a row cannot be read.
        """

    def writer(self, output: BinaryIO, names: Sequence[str]) -> AbstractContextManager[Writer[Any]]:
        """Return a writer to a file of the same format.

        Raises:
            FileFormatError: the table has a column of one of the new ``names``.
        """

    def progress(self) -> tuple[int, int] | None:
        """Return how much of the table was read and how much there is; None if nobody knows."""


def table_format(path: Path) -> str | None:
    """Return the one of `TABLES` that a file's ending names, or None."""
    return format_by_ending(path, TABLES)


@contextmanager
def open_table(
    table: Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002 - the usual name
) -> Iterator[Table]:
    """Open a table to read it.

    Args:
        table: a file, or a stream of bytes, which cannot be Parquet.
        format: one of `TABLES`; by default the file's ending says.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the table is not of its format.
        OptionError: the format is unknown.
        MissingExtraError: pyarrow, which reads Parquet, is not installed.
    """
    form, name = checked_format(table, format), name_of(table)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        match form:
            case "jsonl":
                yield _JsonLines(file, name)
            case "parquet":
                with _parquet(file, name) as parquet:
                    yield parquet
            case _:
                yield _Csv(file, name, DELIMITERS[form])


def checked_format(table: Path | BinaryIO, format: str | None = None) -> str:  # noqa: A002
    """Return the format of a table; arguments and errors as for `open_table`."""
    form = format or (table_format(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    return form


def name_of(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def _check_names(existing: Iterable[str], names: Iterable[str], place: str) -> None:
    taken = set(existing)
    for name in filter(taken.__contains__, names):
        raise FileFormatError(f"{place} has a column {quoted(name)} already; choose another prefix")


def _write_text(parts: list[str], output: BinaryIO) -> None:
    output.write(encoded("".join(parts)))
    output.flush()  # a reader of the stream may wait for these rows


def _bytes_read(file: BinaryIO) -> tuple[int, int] | None:
    try:
        return file.tell(), os.fstat(file.fileno()).st_size
    except OSError:  # a pipe, or a stream in memory
        return None


def _is_regular(file: BinaryIO) -> bool:
    """Return whether a file is one on a disk, whose rows are there at once."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except OSError:  # a stream in memory
        return False


# ---- CSV and TSV --------------------------------------------------------------------------


class _Csv:
    """A table of CSV or TSV, whose first line names the columns."""

    def __init__(self, file: BinaryIO, name: str, delimiter: str) -> None:
        header, self._blocks = csv_blocks(file, name, delimiter)
        if header is None or header.line > 1:
            raise FileFormatError(f"{name}: line 1 is empty; expected the names of the columns")
        self.name, self.header, self.delimiter, self._file = name, header, delimiter, file

    def blocks(self, column: str) -> Iterator[CellBlock]:
        index = column_index(column, self.header, self.name)
        return (
            CellBlock([cells[index] for cells in rows if cells], None, (raws, rows))
            for _, raws, rows in self._blocks
            # What comes next in a file is on the disk, or is refused.
            if rows or not _is_regular(self._file)
        )

    @contextmanager
    def writer(self, output: BinaryIO, names: Sequence[str]) -> Iterator[_CsvWriter]:
        _check_names(self.header.content, names, self.name)
        writer = _CsvWriter(self, output, names)
        yield writer
        writer.finish()

    def progress(self) -> tuple[int, int] | None:
        return _bytes_read(self._file)


class _CsvWriter:
    """Writes rows as they were, each with more cells; a blank line gets none."""

    def __init__(self, table: _Csv, output: BinaryIO, names: Sequence[str]) -> None:
        self._output, self._delimiter = output, table.delimiter
        raw = table.header.raw
        row = raw.rstrip("\r\n")
        # The header is written with the first rows, or at the end if there are none.
        self._header = [row, self.beside(names), raw[len(row) :]]

    def beside(self, cells: Sequence[Any]) -> str:
        return self._delimiter + csv_row(map(as_cell, cells), self._delimiter)

    def write(self, block: CellBlock, beside: list[str]) -> None:
        parts, self._header = self._header, []
        new = iter(beside)
        for raw, cells in zip(*block.rows, strict=True):
            if not cells:
                parts.append(raw)
                continue
            row = raw.rstrip("\r\n")
            parts += row, next(new), raw[len(row) :]
        _write_text(parts, self._output)

    def finish(self) -> None:
        if self._header:
            _write_text(self._header, self._output)


# ---- JSON Lines ---------------------------------------------------------------------------


class _JsonLines:
    """A table of objects, one a line, each with fields of its own."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name, self._file = name, file

    def blocks(self, column: str) -> Iterator[CellBlock]:
        found, fields = False, dict[str, None]()
        for lines, raws, contents in json_blocks(self._file, self.name):
            rows = [row for row in zip(lines, contents, strict=True) if row[1] is not BLANK]
            cells = [self._text(*row, column) for row in rows]
            found = found or any(column in content for _, content in rows)
            fields = fields or dict.fromkeys(field for _, content in rows for field in content)
            yield CellBlock(cells, None, (lines, raws, contents))
        if not found:
            raise FileFormatError(
                f"{self.name}: no line has a field {quoted(column)}{suggestion(column, fields)}"
            )

    def _text(self, line: int, content: Any, column: str) -> str | None:
        """Return the text to match in the object of a line."""
        place = f"{self.name}: line {line}"
        if not isinstance(content, dict):
            raise FileFormatError(f"{place} holds {JSON_TYPES[type(content)]}; expected an object")
        cell = content.get(column)
        if cell is None or isinstance(cell, str):
            return cell
        if isinstance(cell, dict | list):
            raise FileFormatError(
                f"{place}: {quoted(column)} is {JSON_TYPES[type(cell)]}; expected a text"
            )
        return as_json(cell)

    @contextmanager
    def writer(self, output: BinaryIO, names: Sequence[str]) -> Iterator[_JsonLinesWriter]:
        yield _JsonLinesWriter(self.name, output, names)

    def progress(self) -> tuple[int, int] | None:
        return _bytes_read(self._file)


class _JsonLinesWriter:
    """Writes lines as they were, each object with more fields; a blank line stays so."""

    def __init__(self, name: str, output: BinaryIO, names: Sequence[str]) -> None:
        self._name, self._output, self._names = name, output, names

    def beside(self, cells: Sequence[Any]) -> str:
        return as_json(dict(zip(self._names, cells, strict=True)))[1:]

    def write(self, block: CellBlock, beside: list[str]) -> None:
        parts, new = list[str](), iter(beside)
        for line, raw, content in zip(*block.rows, strict=True):
            if content is BLANK:
                parts.append(raw)
                continue
            if not content.keys().isdisjoint(self._names):
                _check_names(content, self._names, f"{self._name}: line {line}")
            text = raw.rstrip()
            parts += text[:-1].rstrip(), ", " * bool(content), next(new), raw[len(text) :]
        _write_text(parts, self._output)


# ---- Parquet ------------------------------------------------------------------------------

_PARQUET_ROWS = 16_384  # of a block, which becomes a row group


@contextmanager
def _parquet(file: BinaryIO, name: str) -> Iterator[_Parquet]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed; install it with: "
            "pip install 'fuzzydict[parquet]'"
        ) from error
    with _arrow_errors(name, pyarrow), parquet.ParquetFile(file) as table:
        yield _Parquet(table, name, pyarrow)


@contextmanager
def _arrow_errors(name: str, arrow: Any) -> Iterator[None]:
    """Report a file that pyarrow cannot read; errors of the disk pass through."""
    try:
        yield
    except FuzzyDictError:
        raise
    except (arrow.ArrowException, ArithmeticError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{name} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


class _Parquet:
    """A Parquet file. A block has each of its different cells once."""

    def __init__(self, table: Any, name: str, arrow: Any) -> None:
        self.name, self._table, self._arrow = name, table, arrow
        self._done = 0

    def blocks(self, column: str) -> Iterator[CellBlock]:
        names = self._table.schema_arrow.names
        if names.count(column) != 1:
            raise no_column(column, names, self.name)
        return self._blocks(column)

    def _blocks(self, column: str) -> Iterator[CellBlock]:
        for batch in self._table.iter_batches(_PARQUET_ROWS):
            cells = self._texts(batch[column], column).dictionary_encode(null_encoding="encode")
            different = cells.dictionary.to_pylist()
            counts = np.bincount(cells.indices, minlength=len(different)).tolist()
            self._done += batch.num_rows
            yield CellBlock(different, counts, (batch, cells.indices))

    def _texts(self, column: Any, name: str) -> Any:
        """Return an array as one of texts."""
        types = self._arrow.types
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_string(column.type) or types.is_large_string(column.type):
            return column
        cells = column.to_pylist()
        for kind in {type(cell) for cell in cells} & {bytes, dict, list}:
            raise FileFormatError(
                f"{self.name}: the column {quoted(name)} holds {kind.__name__}s; expected texts"
            )
        texts = [None if cell is None else str(cell) for cell in cells]
        return self._arrow.array(texts, self._arrow.string())

    @contextmanager
    def writer(self, output: BinaryIO, names: Sequence[str]) -> Iterator[_ParquetWriter]:
        from pyarrow.parquet import ParquetWriter

        arrow, schema = self._arrow, self._table.schema_arrow
        _check_names(schema.names, names, self.name)
        types = (arrow.string(), arrow.string(), arrow.float64())
        for new, kind in zip(names, types, strict=True):
            schema = schema.append(arrow.field(new, kind))
        with ParquetWriter(output, schema, compression=self._compression()) as writer:
            yield _ParquetWriter(writer, types, arrow)

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

    def progress(self) -> tuple[int, int] | None:
        return self._done, self._table.metadata.num_rows


class _ParquetWriter:
    """Writes each block as a row group."""

    def __init__(self, writer: Any, types: Sequence[Any], arrow: Any) -> None:
        self._writer, self._types, self._arrow = writer, types, arrow

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            cell if cell is None or kind == self._arrow.float64() else self._text(cell)
            for cell, kind in zip(cells, self._types, strict=True)
        )

    @staticmethod
    def _text(cell: Any) -> str:
        return encoded(as_cell(cell)).decode()

    def write(self, block: CellBlock, beside: list[tuple[Any, ...]]) -> None:
        batch, indices = block.rows
        added = [
            self._arrow.array([cells[part] for cells in beside], kind).take(indices)
            for part, kind in enumerate(self._types)
        ]
        arrays = [*batch.columns, *added]
        rows = self._arrow.record_batch(arrays, schema=self._writer.schema)
        self._writer.write_batch(rows, _PARQUET_ROWS)
