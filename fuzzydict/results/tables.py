"""Tables in files: three columns are added, and everything else is kept as it is written.

Rows are read and written in batches, so that memory does not grow with the table.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from fuzzydict.errors import FileFormatError, OptionError, quoted
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
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fuzzydict.io.records import Record

__all__ = [
    "TABLES",
    "Cell",
    "Columns",
    "Number",
    "add_columns",
    "html_table",
    "name_of",
    "table_format",
]


# Half transparent, so that whatever colour the page gives its text stays legible before it.
_BAR = "rgba(0,114,178,0.4)"


class Number(NamedTuple):
    """A number in a table: its text, before a bar that fills ``share`` (0 to 1) of the cell."""

    text: str
    share: float = 0.0


#: What a table holds: a text, or a number. Both are escaped.
Cell: TypeAlias = str | Number


def html_table(
    rows: Sequence[Sequence[Cell]],
    *,
    header: Sequence[Cell] = (),
    caption: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return a table of HTML, whose first column names the rows, and under it notes.

    A title of the header that is a `Number` stands at the right, above numbers.

    >>> html_table([["<b>"]], notes=["that is all"])
    "<table><tr><th style='text-align:left'>&lt;b&gt;</th></tr></table><p>that is all</p>"
    """
    titles = "".join(_cell(name, "th") for name in header)
    lines = [f"<caption>{escape(caption)}</caption>"] if caption else []
    lines += [f"<tr>{titles}</tr>"] if header else []
    lines += [f"<tr>{_cell(row[0], 'th')}{''.join(map(_cell, row[1:]))}</tr>" for row in rows]
    below = "".join(f"<p>{escape(note.strip())}</p>" for note in notes)
    return f"<table>{''.join(lines)}</table>{below}"


def _cell(cell: Cell, tag: str = "td") -> str:
    if isinstance(cell, str):
        return f"<{tag} style='text-align:left'>{escape(cell)}</{tag}>"
    style = "text-align:right"
    if cell.share > 0:
        end = f"{min(cell.share, 1.0):.1%}"
        bar = f"linear-gradient(to right,{_BAR} {end},transparent {end})"
        style += f";min-width:8em;background:{bar}"
    return f"<{tag} style='{style}'>{escape(cell.text)}</{tag}>"


TABLES = (*ROWS, "parquet")
_ROWS = 4096  # of a batch
_CHARACTERS = 2**20  # of a batch, roughly


Answer = tuple[str, Any, float]


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
                from fuzzydict.io.tables import add_to_parquet

                add_to_parquet(file, name, output, columns)
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
