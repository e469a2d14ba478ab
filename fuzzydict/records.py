"""Records of a text file, one at a time: the rows of CSV and TSV, the lines of JSON Lines.

Each comes with the line where it begins and with its text as it stands in the file, so that errors
can name a place, and what is written again is written as it was.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from io import StringIO
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from fuzzydict.errors import FileFormatError
from fuzzydict.text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "DELIMITERS",
    "KINDS",
    "NOTHING",
    "Record",
    "csv_records",
    "csv_row",
    "decoded",
    "json_records",
    "place_of",
    "rows_below",
    "separated_otherwise",
]

#: What a blank line of JSON Lines says, which is not null.
NOTHING = object()
DELIMITERS = {"csv": ",", "tsv": "\t"}
_LONGEST = 2**24  # bytes of a line
_SHOWN = 20  # columns that an error names
_MARK = "\ufeff"  # the byte-order mark, with which some programs begin their UTF-8
#: What the types that JSON gives are called in messages.
KINDS = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


class Record(NamedTuple):
    """A row of CSV, whose content is a list of texts; or a line of JSON, and what it says."""

    line: int  # where it begins, from 1
    raw: str  # as it stands in the file, with the end of its line
    content: Any

    @property
    def blank(self) -> bool:
        """Whether it is a line of nothing but blanks."""
        return not self.raw.strip(f" \r\n{_MARK}")


def csv_records(file: BinaryIO, name: object, delimiter: str) -> Iterator[Record]:
    """Give the rows of a file that is open for bytes; blank lines have no cells.

    Raises:
        FileFormatError: a line is not UTF-8, or not CSV; the message names the file and the line.
    """
    taken: list[str] = []
    reader = csv.reader(_noted(file, name, taken), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            why = _why("".join(taken), error)
            raise FileFormatError(f"{name}: line {line} {why}") from error
        if cells is None:
            return
        raw = "".join(taken)
        taken.clear()
        yield Record(line, raw, cells)


def json_records(file: BinaryIO, name: object, *, blanks: bool = False) -> Iterator[Record]:
    """Give what each line of a file says that is open for bytes.

    Blank lines are left out or, if they are asked for, have `NOTHING` as content.

    Raises:
        FileFormatError: a line is not UTF-8, or not JSON; the message names the file and the line.
    """
    for line, raw in _lines(file, name):
        text = (raw.removeprefix(_MARK) if line == 1 else raw).rstrip("\r\n")
        if text.strip():
            yield Record(line, raw, _parsed(text, f"{name}: line {line}"))
        elif blanks:
            yield Record(line, raw, NOTHING)


def separated_otherwise(header: Record) -> str:
    """Return what to ask where a row is one cell, and that looks like several; else nothing.

    >>> separated_otherwise(Record(1, "id;item", ["id;item"]))
    "; is it separated by ';'? save it with commas as .csv, or with tabs as .tsv"
    """
    if len(header.content) != 1:
        return ""
    found = next((sign for sign in ";\t|," if sign in header.content[0]), None)
    if found is None:
        return ""
    return f"; is it separated by {found!r}? save it with commas as .csv, or with tabs as .tsv"


def place_of(column: str, header: Record, name: object) -> int:
    """Return the place of the one column of this name.

    Raises:
        FileFormatError: there is none, or there are several.
    """
    columns = header.content
    if columns.count(column) == 1:
        return int(columns.index(column))
    if column in columns:
        raise FileFormatError(f"{name}: has several columns {quoted(column)}; rename all but one")
    shown = ", ".join(map(quoted, columns[:_SHOWN])) + (", ..." if len(columns) > _SHOWN else "")
    raise FileFormatError(
        f"{name}: has no column {quoted(column)}; its columns are {shown}"
        f"{separated_otherwise(header)}"
    )


def rows_below(
    header: Record, records: Iterator[Record], name: object, delimiter: str
) -> Iterator[Record]:
    """Give the rows below a header, which have as many cells as it has; a blank line has none.

    Raises:
        FileFormatError: a row has more cells, or fewer.
    """
    for record in records:
        if len(record.content) != len(header.content) and record.blank:
            yield record._replace(content=[])
            continue
        if len(record.content) != len(header.content):
            raise FileFormatError(
                f"{name}: line {record.line} has {len(record.content)} cells where line "
                f"{header.line} has {len(header.content)}; put a cell that holds "
                f"{delimiter!r} in quotes, and leave no cell out"
            )
        yield record


def csv_row(cells: Iterable[object], delimiter: str) -> str:
    """Return cells as a row, without the end of its line.

    >>> csv_row(["Zoë", "one, two", 1.5], ",")
    'Zoë,"one, two",1.5'
    """
    row = StringIO()
    csv.writer(row, delimiter=delimiter).writerow(cells)
    return row.getvalue().removesuffix("\r\n")


def _parsed(text: str, place: str) -> Any:
    """Return what a text of JSON says.

    Raises:
        FileFormatError: it is not JSON, or one of its objects names a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, place))
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{place}, column {error.colno} is not JSON ({error.msg}); expected one value on each "
            f'line, such as {{"color": "black"}}'
        ) from error
    except RecursionError as error:
        raise FileFormatError(f"{place}: its JSON is nested too deeply; flatten it") from error
    except FileFormatError:
        raise
    except ValueError as error:  # Python's limit to the digits of a whole number
        raise FileFormatError(
            f"{place}: one of its numbers has too many digits; put it in quotes"
        ) from error


def decoded(data: bytes, place: str) -> str:
    """Return bytes of UTF-8 as text.

    Raises:
        FileFormatError: they are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{place}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error


def _lines(file: BinaryIO, name: object) -> Iterator[tuple[int, str]]:
    for number in count(1):
        data = file.readline(_LONGEST + 1)
        if not data:
            return
        place = f"{name}: line {number}"
        if len(data) > _LONGEST:
            raise FileFormatError(
                f"{place} has more than {_LONGEST} bytes; expected a text file of shorter lines"
            )
        yield number, decoded(data, place)


def _noted(file: BinaryIO, name: object, taken: list[str]) -> Iterator[str]:
    """Give the lines of a file to a reader, and note those that it takes for one record."""
    for number, line in _lines(file, name):
        if "\0" in line:
            raise FileFormatError(
                f"{name}: line {number} holds a zero byte; expected a text file, in UTF-8"
            )
        taken.append(line)
        yield line.removeprefix(_MARK) if number == 1 else line


def _why(raw: str, error: csv.Error) -> str:
    if "unexpected end" in str(error):
        return "opens a quote that is not closed; close it, or double the quotes inside a cell"
    if "field larger" in str(error):
        return f"has a cell of more than {csv.field_size_limit()} characters; is a quote left open?"
    if "\r" in raw.rstrip("\r\n"):
        return "holds a carriage return; lines end in a line feed, with or without one before it"
    return f"is not as CSV should be ({error}); double the quotes inside a quoted cell"


def _once(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """Make an object of its pairs. JSON lets a key come twice, and would lose the first value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise FileFormatError(f"{place}: the key {twice!r} comes twice in one object; keep one")
    return content
