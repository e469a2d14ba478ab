"""Tables in files: three columns are added, and everything else is kept as it is written.

Rows are read and written in batches, so that memory does not grow with the table. Parquet files
are read and written by pyarrow (extra ``parquet``).
"""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict.errors import FileFormatError, MissingExtraError, OptionError, quoted
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    KINDS,
    ROWS,
    as_cell,
    as_json,
    csv_row,
    csv_table,
    encoded,
    format_by_ending,
    json_records,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fuzzydict.io.records import Record

__all__ = ["TABLES", "Answer", "Columns", "add_columns", "name_of", "table_format"]

TABLES = (*ROWS, "parquet")
_ROWS = 4096  # of a batch
_CHARACTERS = 2**20  # of a batch, roughly
_PARQUET_ROWS = 16_384  # of a batch, which becomes a row group

#: Key, value and score.
Answer: TypeAlias = tuple[str, Any, float]


class Columns(NamedTuple):
    """The columns to add to a table.

    Attributes:
        asked: the name of the column to match.
        names: the names of the new columns, for key, value and score.
        answer: takes a batch of cells (text, or None if empty), and returns key, value and score
            of each cell that has a match.
        progress: called after each batch with the amount done and the total amount.
    """

    asked: str
    names: tuple[str, str, str]
    answer: Callable[[Sequence[str | None]], Mapping[str | None, Answer]]
    progress: Callable[[int, int], None] = lambda _done, _total: None


def table_format(path: Path) -> str | None:
    """Return the format of `TABLES` that the ending of a file's name says, or None."""
    return format_by_ending(path, TABLES)


def name_of(table: Path | BinaryIO) -> str:
    """Return the name of a table for messages."""
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def add_columns(table: Path | BinaryIO, output: BinaryIO, form: str, columns: Columns) -> None:
    """Copy a table to ``output``, in the same format, with columns added at the end.

    The text of CSV, TSV and JSON Lines is kept: quotes, byte-order marks, ends of lines, blank
    lines.

    Raises:
        OSError: the file cannot be read, or ``output`` cannot be written.
        FileFormatError: the file is not of its format, has no such column, or has one of the
            new names already; the message names the line.
        MissingExtraError: the package that reads Parquet is not installed.
    """
    name = name_of(table)
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


def _add_to_csv(
    file: BinaryIO, name: str, output: BinaryIO, delimiter: str, columns: Columns
) -> None:
    header, rows = csv_table(file, name, delimiter)
    if header is None or header.line > 1:
        raise FileFormatError(f"{name}: line 1 is empty; expected the names of the columns")
    place, nothing = place_of(columns.asked, header, name), csv_row(["", "", ""], delimiter)
    _refuse_taken(header.content, columns.names, name)
    output.write(_longer(header.raw, csv_row(columns.names, delimiter), delimiter))
    for batch in _batches(rows):
        answers = columns.answer([row.content[place] for row in batch if row.content])
        added = {cell: csv_row(map(as_cell, answer), delimiter) for cell, answer in answers.items()}
        for record in batch:
            if record.content:
                end = added.get(record.content[place], nothing)
                output.write(_longer(record.raw, end, delimiter))
            else:
                output.write(record.raw.encode())
        _tell(columns, file)


def _add_to_jsonl(file: BinaryIO, name: str, output: BinaryIO, columns: Columns) -> None:
    seen = False
    for batch in _batches(json_records(file, name)):
        rows = [record for record in batch if record.content is not BLANK]
        cells = {record.line: _field(record, name, columns) for record in rows}
        seen = seen or any(columns.asked in record.content for record in rows)
        answers = columns.answer([*cells.values()])
        for record in batch:
            if record.line in cells:
                answer = answers.get(cells[record.line], (None, None, None))
                output.write(_longer_object(record, dict(zip(columns.names, answer, strict=True))))
            else:
                output.write(record.raw.encode())
        _tell(columns, file)
    if not seen:
        raise FileFormatError(f"{name}: no line has a field {quoted(columns.asked)}")


def _field(record: Record, name: str, columns: Columns) -> str | None:
    """Return the text to look up from a line of JSON."""
    place = f"{name}: line {record.line}"
    if not isinstance(record.content, dict):
        raise FileFormatError(f"{place} holds {KINDS[type(record.content)]}; expected an object")
    _refuse_taken(record.content, columns.names, place)
    cell = record.content.get(columns.asked)
    if isinstance(cell, dict | list):
        raise FileFormatError(
            f"{place}: {quoted(columns.asked)} is {KINDS[type(cell)]}; expected a text"
        )
    return cell if cell is None or isinstance(cell, str) else as_json(cell)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.raw)
        if len(batch) == _ROWS or size > _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _refuse_taken(present: Iterable[str], names: Iterable[str], place: str) -> None:
    for name in set(names) & set(present):
        raise FileFormatError(
            f"{place} has a column {quoted(name)} already; choose another prefix for what is added"
        )


def _longer(raw: str, added: str, delimiter: str) -> bytes:
    """Return a row with cells added before the end of its line."""
    kept = raw.removesuffix("\n").removesuffix("\r")
    return encoded(kept + delimiter + added + raw[len(kept) :])


def _longer_object(record: Record, added: dict[str, Any]) -> bytes:
    """Return a line of JSON with fields added to its object."""
    text = record.raw.rstrip()
    kept = text[:-1].rstrip() + (", " if record.content else "")
    return encoded(kept + as_json(added)[1:] + record.raw[len(text) :])


def _tell(columns: Columns, file: BinaryIO) -> None:
    if file.seekable():  # the length of a pipe is unknown
        columns.progress(file.tell(), os.fstat(file.fileno()).st_size)


def _add_to_parquet(file: BinaryIO, path: str, output: BinaryIO, columns: Columns) -> None:
    """Write a Parquet table to ``output`` with columns added, as `add_columns` does.

    The new columns are two of text (with values as JSON unless they are text) and one of 64-bit
    floats. Types and metadata of the other columns are kept, as is the first one's compression.
    """
    arrow, parquet = _pyarrow()
    with _errors_naming(path, arrow), parquet.ParquetFile(file) as table:
        schema = _longer_schema(table.schema_arrow, path, columns, arrow)
        facts, done = table.metadata, 0
        with parquet.ParquetWriter(output, schema, compression=_compression(facts)) as writer:
            for batch in table.iter_batches(_PARQUET_ROWS):
                cells = [_as_text(c, path, columns) for c in batch[columns.asked].to_pylist()]
                added = _arrays(cells, columns.answer(cells), arrow)
                longer = arrow.record_batch([*batch.columns, *added], schema=schema)
                writer.write_batch(longer, _PARQUET_ROWS)
                done += batch.num_rows
                columns.progress(done, facts.num_rows)


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
def _errors_naming(path: str, arrow: Any) -> Iterator[None]:
    """Report what pyarrow cannot read; errors of the disk pass through."""
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(
            f"{path} is damaged, or not a Parquet file: {error}; make it again"
        ) from error


def _longer_schema(schema: Any, path: str, columns: Columns, arrow: Any) -> Any:
    if schema.names.count(columns.asked) != 1:
        number = "several columns" if columns.asked in schema.names else "no column"
        shown = ", ".join(map(quoted, schema.names))
        raise FileFormatError(
            f"{path}: has {number} {quoted(columns.asked)}; its columns are {shown}"
        )
    kinds = (arrow.string(), arrow.string(), arrow.float64())
    for name, kind in zip(columns.names, kinds, strict=True):
        if name in schema.names:
            raise FileFormatError(
                f"{path} has a column {quoted(name)} already; "
                f"choose another prefix for what is added"
            )
        schema = schema.append(arrow.field(name, kind))
    return schema


def _compression(facts: Any) -> str:
    known = facts.num_row_groups and facts.num_columns
    name = facts.row_group(0).column(0).compression.lower() if known else "snappy"
    return {"uncompressed": "none"}.get(name, name)


def _as_text(cell: Any, path: str, columns: Columns) -> str | None:
    if isinstance(cell, bytes | dict | list):
        raise FileFormatError(
            f"{path}: the column {quoted(columns.asked)} holds {type(cell).__name__}s; "
            f"expected texts"
        )
    return cell if cell is None or isinstance(cell, str) else str(cell)


def _arrays(
    cells: Sequence[str | None], answers: Mapping[str | None, Answer], arrow: Any
) -> list[Any]:
    """Return three columns: keys and values as texts, and scores."""
    rows = [answers.get(cell, (None, None, None)) for cell in cells]
    texts = [
        [None if row[i] is None else encoded(as_cell(row[i])).decode() for row in rows]
        for i in (0, 1)
    ]
    scores = [row[2] for row in rows]
    return [*(arrow.array(t, arrow.string()) for t in texts), arrow.array(scores, arrow.float64())]
