"""Text files of records: the rows of CSV and TSV, and the lines of JSON Lines.

A record comes with its line number, so that errors can name it, and with its text as it stands in
the file, so that it can be written again as it was.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from contextlib import contextmanager
from datetime import date, time
from io import StringIO
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from fuzzydict._files import decoded
from fuzzydict.errors import FileFormatError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = [
    "BLANK",
    "DELIMITERS",
    "ENDINGS",
    "KINDS",
    "MARK",
    "ROWS",
    "Record",
    "as_cell",
    "as_json",
    "as_line",
    "csv_row",
    "csv_table",
    "encoded",
    "format_by_ending",
    "json_records",
    "limits",
    "other_delimiter",
    "parse_json",
    "place_of",
]


#: Control characters except tabs, and Unicode's ends of lines.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_KEYS = str | int | float | bool | None


def as_line(value: Any) -> str:
    r"""Return text on one line as it is, and anything else as JSON.

    Text with control characters other than tabs becomes JSON, too, for a terminal would obey
    them. Numbers that are not finite become NaN, Infinity or -Infinity.

    >>> as_line("black"), as_line(260), as_line("two\nlines"), as_line(["roof", None])
    ('black', '260', '"two\\nlines"', '["roof", null]')
    >>> as_line("a\x1b[2Jb"), as_line(date(2024, 2, 29))
    ('"a\\u001b[2Jb"', '2024-02-29')
    """
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str) and not _CONTROL.search(value):
        return value
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return json.dumps(float(value))
    return as_json(value)


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: text as it is, and None as an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_line(value)


def as_json(value: Any) -> str:
    """Return a value as JSON: arrays, tuples and sets as lists, dates and other types as text.

    NaN and infinity become null. Control characters are escaped.

    >>> import numpy as np
    >>> as_json({"at": date(2024, 2, 29), (1, 2): np.array([0.5, np.nan])})
    '{"at": "2024-02-29", "(1, 2)": [0.5, null]}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """Return a value as one of the types of JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, dict):
        return {_as_key(key): _plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _as_key(key: Any) -> Any:
    if isinstance(key, float) and not math.isfinite(key):
        return str(key)
    return key if isinstance(key, _KEYS) else str(key)


#: The format that a file name's ending says.
ENDINGS = {f".{form}": form for form in ("json", "toml", "yaml", "csv", "tsv", "jsonl", "parquet")}
ENDINGS |= {".yml": "yaml", ".tab": "tsv", ".ndjson": "jsonl", ".pq": "parquet"}
ENDINGS |= {".fuzzydict": "fuzzydict"}
#: The formats read here.
ROWS = ("csv", "tsv", "jsonl")
DELIMITERS = {"csv": ",", "tsv": "\t"}
#: The byte-order mark, with which some programs begin their UTF-8.
MARK = "\ufeff"
#: The content of a blank line of JSON Lines (null is None).
BLANK = object()
#: What messages call the types of JSON.
KINDS = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}
_LONGEST = 2**24  # bytes of a line
_SHOWN = 20  # columns that an error names


class Record(NamedTuple):
    """A row of CSV, with a list of cells as content; or a line of JSON, with its value."""

    line: int  # where it begins, from 1
    raw: str  # as it stands in the file, with the end of its line
    content: Any

    @property
    def blank(self) -> bool:
        """Whether the line has nothing but blanks."""
        return not self.raw.strip(f" \r\n{MARK}")


def format_by_ending(path: Path, formats: Iterable[str]) -> str | None:
    """Return the one of ``formats`` that the ending of a file's name says, or None."""
    form = ENDINGS.get(path.suffix.lower(), "")
    return form if form in formats else None


# ---- CSV and TSV --------------------------------------------------------------------------


def csv_table(
    file: BinaryIO, name: object, delimiter: str
) -> tuple[Record | None, Iterator[Record]]:
    """Return the first row that is not blank, and an iterator over the rows below it.

    The rows have as many cells as the first, except that blank lines have none. The first is None
    if there is no such row.

    Args:
        file: open for bytes.
        name: what errors call the file.
        delimiter: what separates cells.

    Raises:
        FileFormatError: a line is not UTF-8 or not CSV, or has more cells than the first row, or
            fewer; the message names the line. Rows raise it when the iterator comes to them.
    """
    records = _csv_records(file, name, delimiter)
    header = next((record for record in records if not record.blank), None)
    return header, iter(()) if header is None else _rows_below(header, records, name, delimiter)


def place_of(column: str, header: Record, name: object) -> int:
    """Return the index of a column in the header of a table.

    Raises:
        FileFormatError: no column has this name, or several have.
    """
    columns = header.content
    if columns.count(column) == 1:
        return int(columns.index(column))
    if column in columns:
        raise FileFormatError(f"{name}: has several columns {quoted(column)}; rename all but one")
    shown = ", ".join(map(quoted, columns[:_SHOWN])) + (", ..." if len(columns) > _SHOWN else "")
    raise FileFormatError(
        f"{name}: has no column {quoted(column)}; its columns are {shown}{other_delimiter(header)}"
    )


def other_delimiter(header: Record) -> str:
    """Return advice for a row of one cell that holds another delimiter, or nothing.

    >>> other_delimiter(Record(1, "id;item", ["id;item"]))
    "; is it separated by ';'? save it with commas as .csv, or with tabs as .tsv"
    """
    cells = header.content
    found = next((sign for sign in ";\t|," if len(cells) == 1 and sign in cells[0]), None)
    if found is None:
        return ""
    return f"; is it separated by {found!r}? save it with commas as .csv, or with tabs as .tsv"


def csv_row(cells: Iterable[object], delimiter: str) -> str:
    """Return cells as a row, without the end of its line.

    >>> csv_row(["Zoë", "one, two", 1.5], ",")
    'Zoë,"one, two",1.5'
    """
    row = StringIO()
    csv.writer(row, delimiter=delimiter).writerow(cells)
    return row.getvalue().removesuffix("\r\n")


def encoded(text: str) -> bytes:
    """Return text as UTF-8. Lone surrogates, which UTF-8 lacks, become escapes as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def _csv_records(file: BinaryIO, name: object, delimiter: str) -> Iterator[Record]:
    taken: list[str] = []
    reader = csv.reader(_recorded(file, name, taken), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            why = _csv_problem("".join(taken), error)
            raise FileFormatError(f"{name}: line {line} {why}") from error
        if cells is None:
            return
        raw = "".join(taken)
        taken.clear()
        yield Record(line, raw, cells)


def _recorded(file: BinaryIO, name: object, taken: list[str]) -> Iterator[str]:
    """Yield the lines of a file, and append each to ``taken``."""
    for number, line in _lines(file, name):
        if "\0" in line:
            raise FileFormatError(
                f"{name}: line {number} holds a zero byte; expected a text file, in UTF-8"
            )
        taken.append(line)
        yield line.removeprefix(MARK) if number == 1 else line


def _rows_below(
    header: Record, records: Iterator[Record], name: object, delimiter: str
) -> Iterator[Record]:
    cells = len(header.content)
    for record in records:
        if len(record.content) == cells:
            yield record
        elif record.blank:
            yield record._replace(content=[])
        else:
            raise FileFormatError(
                f"{name}: line {record.line} has {len(record.content)} cells where line "
                f"{header.line} has {cells}; put a cell that holds {delimiter!r} in quotes, and "
                f"leave no cell out"
            )


def _csv_problem(raw: str, error: csv.Error) -> str:
    if "unexpected end" in str(error):
        return "opens a quote that is not closed; close it, or double the quotes inside a cell"
    if "field larger" in str(error):
        return f"has a cell of more than {csv.field_size_limit()} characters; is a quote left open?"
    if "\r" in raw.rstrip("\r\n"):
        return "holds a carriage return; lines end in a line feed, with or without one before it"
    return f"is not as CSV should be ({error}); double the quotes inside a quoted cell"


# ---- JSON ---------------------------------------------------------------------------------


def json_records(file: BinaryIO, name: object) -> Iterator[Record]:
    """Yield the lines of a file that is open for bytes; a blank line has the content `BLANK`.

    Raises:
        FileFormatError: a line is not UTF-8 or not JSON; the message names the file and the line.
    """
    expected = 'one value on each line, such as {"color": "black"}'
    for line, raw in _lines(file, name):
        text = (raw.removeprefix(MARK) if line == 1 else raw).rstrip("\r\n")
        content = parse_json(text, name, expected, line) if text.strip() else BLANK
        yield Record(line, raw, content)


def parse_json(text: str, name: object, expected: str, line: int | None = None) -> Any:
    """Return the value of a text of JSON.

    Args:
        text: the text.
        name: what errors call the file.
        expected: what errors say that was expected.
        line: the number of the line, if the text is one line of the file.

    Raises:
        FileFormatError: it is not JSON, or an object in it has a key twice.
    """
    place = str(name) if line is None else f"{name}: line {line}"
    with limits(place):
        try:
            return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, place))
        except json.JSONDecodeError as error:
            raise FileFormatError(
                f"{name}: line {line or error.lineno}, column {error.colno} is not JSON "
                f"({error.msg}); expected {expected}"
            ) from error


@contextmanager
def limits(place: str) -> Iterator[None]:
    """Report what exceeds the limits of Python's parsers as an error at ``place``."""
    try:
        yield
    except FileFormatError:
        raise
    except RecursionError as error:
        raise FileFormatError(f"{place}: is nested too deeply; flatten it") from error
    except ValueError as error:  # int() takes 4,300 digits at most
        raise FileFormatError(
            f"{place}: one of its numbers has too many digits; put it in quotes"
        ) from error


def _object(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """Return the dict of an object's items. The json module would drop all but a key's last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise FileFormatError(
            f"{place}: the key {quoted(twice)} comes twice in one object; keep one"
        )
    return content


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
