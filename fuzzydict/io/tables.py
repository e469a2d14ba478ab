"""Add three columns to the table in a file, and keep everything else as it is.

Tables are CSV, TSV, JSON Lines or Parquet. Rows are read and written in batches, so that memory
does not grow with the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict.errors import FileFormatError, MissingExtraError, OptionError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    as_cell,
    as_json,
    column_index,
    csv_row,
    csv_table,
    encoded,
    format_by_ending,
    json_records,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fuzzydict.io.records import Record

__all__ = ["TABLES", "Answer", "NewColumns", "add_columns", "table_format", "table_name"]

TABLES = (*ROW_FORMATS, "parquet")
_BATCH_ROWS = 4096
_BATCH_CHARACTERS = 2**20  # roughly
_PARQUET_ROWS = 16_384  # of a batch, which becomes a row group

#: The key, value and score that match a cell.
Answer: TypeAlias = tuple[str, Any, float]
_NO_ANSWER = (None, None, None)


class NewColumns(NamedTuple):
    """The columns to add to a table.

    Attributes:
        column: the name of the column to match.
        names: the names of the new columns, for key, value and score.
        answer: returns the answers to a batch of cells (text, or None if empty), by cell.
        progress: called after each batch with the amount done and the total amount.
    """

    column: str
    names: tuple[str, str, str]
    answer: Callable[[Sequence[str | None]], Mapping[str | None, Answer]]
    progress: Callable[[int, int], None] = lambda _done, _total: None


def table_format(path: Path) -> str | None:
    """Return the one of `TABLES` that a file's ending names, or None."""
    return format_by_ending(path, TABLES)


def table_name(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def add_columns(table: Path | BinaryIO, output: BinaryIO, form: str, columns: NewColumns) -> None:
    """Copy a table to ``output``, in the same format, with columns added at the end.

    The text of CSV, TSV and JSON Lines stays the same: quotes, byte-order marks, line ends, blank
    lines. So do the types, metadata and (first) compression of Parquet, whose new columns are text
    (values as JSON unless they are text) and 64-bit floats.

    Raises:
        OSError: the file cannot be read, or ``output`` cannot be written.
        FileFormatError: the file is not of its format, lacks the column, or has one of the new
            names already; the message names the line.
        MissingExtraError: pyarrow, which reads Parquet, is not installed.
    """
    name = table_name(table)
    with table.open("rb") if isinstance(table, Path) else nullcontext(table) as file:
        match form:
            case "csv" | "tsv":
                _add_to_csv(file, name, output, DELIMITERS[form], columns)
            case "jsonl":
                _add_to_jsonl(file, name, output, columns)
            case "parquet":
                _add_to_parquet(file, name, output, columns)
            case _:
                raise OptionError(f"format: expected one of {', '.join(TABLES)}, got {form!r}")


def _check_names(existing: Iterable[str], names: Iterable[str], place: str) -> None:
    for name in set(names) & set(existing):
        raise FileFormatError(f"{place} has a column {quoted(name)} already; choose another prefix")


# ---- CSV, TSV, JSON Lines -----------------------------------------------------------------


def _add_to_csv(
    file: BinaryIO, name: str, output: BinaryIO, delimiter: str, columns: NewColumns
) -> None:
    header, rows = csv_table(file, name, delimiter)
    if header is None or header.line > 1:
        raise FileFormatError(f"{name}: line 1 is empty; expected the names of the columns")
    index = column_index(columns.column, header, name)
    _check_names(header.content, columns.names, name)
    output.write(_extended_row(header.raw, columns.names, delimiter))
    for batch in _batches(rows):
        answers = columns.answer([row.content[index] for row in batch if row.content])
        cells = {cell: [*map(as_cell, answer)] for cell, answer in answers.items()}
        for row in batch:
            if row.content:
                added = cells.get(row.content[index], ["", "", ""])
                output.write(_extended_row(row.raw, added, delimiter))
            else:
                output.write(row.raw.encode())
        _show_progress(columns, file)


def _add_to_jsonl(file: BinaryIO, name: str, output: BinaryIO, columns: NewColumns) -> None:
    found = False
    for batch in _batches(json_records(file, name)):
        rows = [record for record in batch if record.content is not BLANK]
        cells = {row.line: _field(row, name, columns) for row in rows}
        found = found or any(columns.column in row.content for row in rows)
        answers = columns.answer([*cells.values()])
        for record in batch:
            if record.content is BLANK:
                output.write(record.raw.encode())
            else:
                answer = answers.get(cells[record.line], _NO_ANSWER)
                added = dict(zip(columns.names, answer, strict=True))
                output.write(_extended_object(record, added))
        _show_progress(columns, file)
    if not found:
        raise FileFormatError(f"{name}: no line has a field {quoted(columns.column)}")


def _field(record: Record, name: str, columns: NewColumns) -> str | None:
    """Return the text to match from a line of JSON."""
    place, content = f"{name}: line {record.line}", record.content
    if not isinstance(content, dict):
        raise FileFormatError(f"{place} holds {JSON_TYPES[type(content)]}; expected an object")
    _check_names(content, columns.names, place)
    cell = content.get(columns.column)
    if isinstance(cell, dict | list):
        raise FileFormatError(
            f"{place}: {quoted(columns.column)} is {JSON_TYPES[type(cell)]}; expected a text"
        )
    return cell if cell is None or isinstance(cell, str) else as_json(cell)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.raw)
        if len(batch) == _BATCH_ROWS or size > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _extended_row(raw: str, cells: Iterable[str], delimiter: str) -> bytes:
    """Return a row with cells added before the end of its line."""
    kept = raw.removesuffix("\n").removesuffix("\r")
    return encoded(kept + delimiter + csv_row(cells, delimiter) + raw[len(kept) :])


def _extended_object(record: Record, added: dict[str, Any]) -> bytes:
    """Return a line of JSON with fields added to its object."""
    text = record.raw.rstrip()
    kept = text[:-1].rstrip() + (", " if record.content else "")
    return encoded(kept + as_json(added)[1:] + record.raw[len(text) :])


def _show_progress(columns: NewColumns, file: BinaryIO) -> None:
    if file.seekable():  # the length of a pipe is unknown
        columns.progress(file.tell(), os.fstat(file.fileno()).st_size)


# ---- Parquet ------------------------------------------------------------------------------


def _add_to_parquet(file: BinaryIO, name: str, output: BinaryIO, columns: NewColumns) -> None:
    arrow, parquet = _pyarrow()
    with _arrow_errors(name, arrow), parquet.ParquetFile(file) as table:
        schema = _extended_schema(table.schema_arrow, name, columns, arrow)
        metadata, done = table.metadata, 0
        compression = "snappy"
        if metadata.num_row_groups and metadata.num_columns:
            compression = metadata.row_group(0).column(0).compression.lower()
        compression = compression.replace("uncompressed", "none")
        with parquet.ParquetWriter(output, schema, compression=compression) as writer:
            for batch in table.iter_batches(_PARQUET_ROWS):
                cells = [_text(c, name, columns) for c in batch[columns.column].to_pylist()]
                answers = columns.answer(cells)
                rows = [answers.get(cell, _NO_ANSWER) for cell in cells]
                keys, values, scores = zip(*rows, strict=True)
                arrays = [
                    *batch.columns,
                    arrow.array(map(_encodable, keys), arrow.string()),
                    arrow.array(map(_encodable, values), arrow.string()),
                    arrow.array(scores, arrow.float64()),
                ]
                writer.write_batch(arrow.record_batch(arrays, schema=schema), _PARQUET_ROWS)
                done += batch.num_rows
                columns.progress(done, metadata.num_rows)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed; install it with: "
            "pip install 'fuzzydict[parquet]'"
        ) from error
    return pyarrow, parquet


@contextmanager
def _arrow_errors(name: str, arrow: Any) -> Iterator[None]:
    """Report a file that pyarrow cannot read; errors of the disk pass through."""
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{name} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


def _extended_schema(schema: Any, name: str, columns: NewColumns, arrow: Any) -> Any:
    if schema.names.count(columns.column) != 1:
        number = "several columns" if columns.column in schema.names else "no column"
        raise FileFormatError(
            f"{name}: has {number} {quoted(columns.column)}; "
            f"its columns are {', '.join(map(quoted, schema.names))}"
        )
    _check_names(schema.names, columns.names, name)
    types = (arrow.string(), arrow.string(), arrow.float64())
    for new, kind in zip(columns.names, types, strict=True):
        schema = schema.append(arrow.field(new, kind))
    return schema


def _text(cell: Any, name: str, columns: NewColumns) -> str | None:
    if isinstance(cell, bytes | dict | list):
        raise FileFormatError(
            f"{name}: the column {quoted(columns.column)} holds {type(cell).__name__}s; "
            f"expected texts"
        )
    return cell if cell is None or isinstance(cell, str) else str(cell)


def _encodable(value: Any) -> str | None:
    return None if value is None else encoded(as_cell(value)).decode()
