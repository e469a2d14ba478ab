"""Examples in files: queries, each with the key that it should find.

A review (`io.review`) is such a file as well, in which some targets may be undecided.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzydict._files import bytes_of
from fuzzydict.errors import FileFormatError, OptionError, quoted
from fuzzydict.io.dialect import Dialect, opened
from fuzzydict.io.records import (
    BLANK,
    DELIMITERS,
    JSON_TYPES,
    ROW_FORMATS,
    column_index,
    csv_table,
    format_by_ending,
    json_records,
    with_formula,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fuzzydict.io.records import Record


#: The columns of a review; a table that has them all is one.
REVIEW_COLUMNS = ("query", "count", "key", "score", "target")
_UNDECIDED = "?"  # begins a target that nobody has decided on


def undecided(guess: str | None) -> str:
    """Return the target of a query for which nobody has confirmed the guess.

    >>> undecided("Germany"), undecided(None)
    ('? Germany', '?')
    """
    return _UNDECIDED if guess is None else f"{_UNDECIDED} {guess}"


def is_undecided(target: str) -> bool:
    """Return whether a target looks like one of `undecided`. A key may look so as well."""
    return target.lstrip().startswith(_UNDECIDED)


def read_examples(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the usual name
) -> list[tuple[str, str | None]]:
    """Return the examples in a file, such as a corrected review.

    Args:
        path: a table with the columns (in JSON Lines, the fields) ``query`` and ``target``; others
            are ignored. A blank target, or null, means that no key should match. A query with
            several right keys has a row for each; in JSON Lines they may be an array. In a review
            in CSV or TSV, a quote in front of what a spreadsheet takes for a formula (``'=``) is
            not read. The delimiter and the encoding of CSV and TSV are guessed; a UserWarning says
            so if they are not what the ending says, and UTF-8.
        format: "csv", "tsv" or "jsonl"; by default the file's ending says.

    Returns:
        Pairs of query and target in the order of the file; None means that no key should match.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: the file is not of its format, lacks a column, has a blank query, or has
            both a key and no key as targets of a query; the message names the lines.
        OptionError: the format is another one.
    """
    examples: list[tuple[str, str | None]] = []
    first: dict[str, Row] = {}
    for row in read_table(bytes_of(path), path, format=format).rows():
        before = first.setdefault(row.query, row)
        if (before.target is None) != (row.target is None):
            raise FileFormatError(
                f"{path}: the query {quoted(row.query)} has two targets, {quoted(before.target)} "
                f"on line {before.line} and {quoted(row.target)} on line {row.line}, where None "
                f"says that no key should match; keep one"
            )
        examples.append((row.query, row.target))
    return examples


# ---- the rows -----------------------------------------------------------------------------


class Row(NamedTuple):
    """An example and the number of its line; ``target`` is None if no key should match.

    ``written`` is the target as it is in the file, where a quote may be in front.
    """

    line: int
    query: str
    target: str | None
    written: str | None


class ExampleTable(NamedTuple):
    """The examples of a file, with the text of its lines.

    Attributes:
        form: "csv", "tsv" or "jsonl".
        dialect: how CSV or TSV is written.
        header: the first row of CSV or TSV; None in JSON Lines.
        lines: each row's text as it is in the file, with its examples: none if the row is blank,
            several if its target is an array.
    """

    form: str
    dialect: Dialect
    header: Record | None
    lines: list[tuple[str, list[Row]]]

    def rows(self) -> Iterator[Row]:
        """Yield the examples."""
        for _, rows in self.lines:
            yield from rows


def read_table(data: bytes, path: Path, *, format: str | None = None) -> ExampleTable:  # noqa: A002
    """Return the examples in the bytes of a file; arguments and errors as in `read_examples`."""
    form = format or format_by_ending(path, ROW_FORMATS)
    if form not in ROW_FORMATS:
        raise OptionError(f"{path}: expected examples of format {', '.join(ROW_FORMATS)}; name it")
    if form == "jsonl":
        lines = [
            (record.raw, _of_json(record, path)) for record in json_records(BytesIO(data), path)
        ]
        return ExampleTable(form, Dialect(""), None, lines)
    file, dialect = opened(BytesIO(data), path, DELIMITERS[form], side=None)
    header, records = csv_table(file, path, dialect.delimiter)
    if header is None:
        raise FileFormatError(f"{path}: is empty; expected the columns query and target")
    query, target = (column_index(column, header, path) for column in ("query", "target"))
    text_of = with_formula if {*REVIEW_COLUMNS} <= {*header.content} else str
    lines = []
    for line, raw, cells in records:
        rows = []
        if any(map(str.strip, cells)):  # spreadsheets write rows of empty cells
            row = _row(line, text_of(cells[query]), text_of(cells[target]), path)
            rows = [row._replace(written=cells[target])]
        lines.append((raw, rows))
    return ExampleTable(form, dialect, header, lines)


def _of_json(record: Record, path: Path) -> list[Row]:
    """Return the examples of a line of JSON."""
    line, _, content = record
    if content is BLANK:
        return []
    if not isinstance(content, dict) or not {"query", "target"} <= content.keys():
        raise FileFormatError(
            f'{path}: line {line}: expected {{"query": ..., "target": ...}}, where null as '
            f"target says that no key should match"
        )
    query, target = content["query"], content["target"]
    if not isinstance(target, list):
        return [_row(line, query, target, path)]
    if not all(isinstance(key, str) and key.strip() for key in target) or not target:
        raise FileFormatError(
            f"{path}: line {line}: expected the right keys as target, texts that are not "
            f"blank, or null if none is right"
        )
    return [_row(line, query, key, path) for key in target]


def _row(line: int, query: Any, target: Any, path: Path) -> Row:
    place = f"{path}: line {line}"
    if not isinstance(query, str) or not isinstance(target, str | None):
        kind = JSON_TYPES[type(target if isinstance(query, str) else query)]
        raise FileFormatError(f"{place} has {kind} where a text is expected; put it in quotes")
    if not query.strip():
        raise FileFormatError(f"{place} has a blank query; fill it in, or remove the line")
    return Row(line, query, target if target and target.strip() else None, target)
