"""Tables in files: CSV, TSV, JSON Lines, Parquet and sheets of .xlsx workbooks.

`open_table` opens a `Table`. Its rows come in blocks, with their cells of one column, so that
memory does not grow with the table. The blocks are copied with new cells beside each row; all else
stays as it is written.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

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
    Added,
    Block,
    CellBlock,
    Contents,
    Csv,
    Dialect,
    Reading,
    Table,
    TextTable,
    as_cell,
    as_json,
    as_python,
    cell_text,
    check_names,
    column_index,
    encoded,
    format_by_ending,
    line_blocks,
    parse_json,
    without_mark,
)
from fuzzydict.io.sheets import Sheet
from fuzzydict.mapping import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fuzzydict.io.records import Record


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

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the table is not of its format, or has changed while it was read.
        OptionError: the format is unknown, or has no sheet, delimiter or encoding such as is named.
        MissingExtraError: pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    form, name = checked_format(table, reading.format), str(name or _name_of(table))
    reading.check(name, form)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        before = _state(file)
        match form:
            case "jsonl":
                yield JsonLines(name, file)
            case "parquet":
                with _parquet_file(file, name) as parquet:
                    yield Parquet(name, parquet)
            case "xlsx":
                yield Sheet(name, file, reading.sheet)
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


def checked_format(table: Path | BinaryIO, format: str | None = None) -> str:  # noqa: A002
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


# ---- JSON Lines ---------------------------------------------------------------------------


class JsonLines(TextTable):
    """A table of objects, one a line, each with fields of its own."""

    dialect = Dialect("")

    def __init__(self, name: str, file: BinaryIO) -> None:
        super().__init__(name, file)
        blocks = self._parsed(line_blocks(file, name))
        first = next(blocks, Block((), [], []))
        objects = (content for content in first.contents if isinstance(content, dict))
        self.names = list(dict.fromkeys(chain.from_iterable(objects)))
        self._blocks = chain([first], blocks)

    def _parsed(self, source: Iterator[tuple[int, list[str]]]) -> Iterator[Block]:
        expected = 'one value on each line, such as {"color": "black"}'
        for first, raws in source:
            contents = list[Any]()
            for line, text in enumerate(without_mark(first, raws), first):
                is_blank = not text or text.isspace()
                contents.append(BLANK if is_blank else parse_json(text, self.name, expected, line))
            yield Block(range(first, first + len(raws)), raws, contents)

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:  # noqa: ARG002
        found, is_empty = False, True
        for block in self._blocks:
            cells = list[str | None]()
            for line, _, content in block.records():
                if content is BLANK:
                    continue
                place = f"{self.name}: line {line}"
                if not isinstance(content, dict):
                    kind = JSON_TYPES[type(content)]
                    raise FileFormatError(f"{place} holds {kind}; expected an object")
                cell = content.get(column)
                if isinstance(cell, dict | list):
                    kind = JSON_TYPES[type(cell)]
                    raise FileFormatError(f"{place}: {quoted(column)} is {kind}; expected a text")
                cells.append(cell_text(cell))
                found = found or column in content
            is_empty = is_empty and not cells
            yield CellBlock(cells, None, block)
        if not found and not (is_empty and self.may_be_empty):
            raise FileFormatError(
                f"{self.name}: no line has a field {quoted(column)}{suggestion(column, self.names)}"
            )

    def contents(self, column: str) -> Contents:
        texts: list[str | None] = []
        found: list[Record] = []
        for cells, _, block in self.blocks(column):
            texts += cells
            found += [record for record in block.records() if record.content is not BLANK]
        names = list(dict.fromkeys(chain.from_iterable(row.content for row in found)))
        rows = [[*map(row.content.get, names)] for row in found]
        return Contents(names, [row.line for row in found], texts, rows)

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
    """Refuse a Parquet file whose cells take more bytes than so many, before they are unpacked."""

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


class Parquet(Table):
    """A Parquet file. A block has each of its different cells once."""

    def __init__(self, name: str, table: Any) -> None:
        self.name, self.names = name, table.schema_arrow.names
        self._table, self._done = table, 0

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[CellBlock]:
        column_index(column, self.names, self.name)
        return self._blocks(column, [column] if alone else None)

    def _blocks(self, column: str, columns: list[str] | None) -> Iterator[CellBlock]:
        """Yield the rows, as many together as a row group has."""
        arrow, some, rows, size = _pyarrow(), list[Any](), 0, 0
        most = _GROUP_ROWS if columns is None else _COLUMN_ROWS
        batches = self._table.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=False)
        for batch in chain(batches, [None]):
            if some and (batch is None or rows >= most or size >= _GROUP_BYTES):
                (joined,) = arrow.Table.from_batches(some).combine_chunks().to_batches()
                cells = self._texts(joined[column], column).dictionary_encode("encode")
                different = cells.dictionary.to_pylist()
                counts = np.bincount(cells.indices, minlength=len(different)).tolist()
                self._done += rows
                yield CellBlock(different, counts, (joined, cells.indices))
                some, rows, size = [], 0, 0
            if batch is not None:
                some.append(batch)
                rows += batch.num_rows
                size += batch.nbytes

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
        texts, rows = list[str | None](), list[list[Any]]()
        for cells, _, (batch, indices) in self.blocks(column):
            texts += [cells[place] for place in indices.to_pylist()]
            rows += [[*row] for row in zip(*batch.columns, strict=True)]
        return Contents(self.names, [*range(1, len(rows) + 1)], texts, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Sequence[Added]) -> Iterator[None]:
        arrow, table = _pyarrow(), self._table
        schema, compression = table.schema_arrow, "snappy"
        self._types = [_type_of(new.values) for new in added]
        for new, kind in zip(added, self._types, strict=True):
            schema = schema.append(arrow.field(new.name, kind))
        with super().copying(output, added):
            # That of the first column, if there are rows. One is read first: where a column's
            # description is damaged, that raises an error, while pyarrow ends the process when it
            # is asked for the description alone.
            groups = range(min(table.num_row_groups, 1))
            if next(table.iter_batches(1, row_groups=groups), None) is not None:
                found = table.metadata.row_group(0).column(0).compression
                compression = found.lower().replace("uncompressed", "none")
            with arrow.parquet.ParquetWriter(output, schema, compression=compression) as writer:
                self._writer = writer
                yield

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values as columns of these types take them."""
        arrow, values = _pyarrow(), []
        for cell, kind in zip(cells, self._types, strict=True):
            if isinstance(cell, arrow.Scalar):
                values.append(cell if cell.is_valid else None)
            else:
                is_text = cell is not None and arrow.types.is_string(kind)
                values.append(encoded(as_cell(cell)).decode() if is_text else cell)
        return tuple(values)

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
