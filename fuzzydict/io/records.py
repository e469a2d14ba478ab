"""Text files of records: the rows of CSV and TSV, and the lines of JSON Lines.

A record has its line number, for error messages, and its text as it stands in the file, so that it
can be written again unchanged. Files are read in blocks of whole lines, streams as they come in.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from io import BytesIO, StringIO
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from fuzzydict._files import decoded
from fuzzydict.errors import OBEYED, FileFormatError, quoted
from fuzzydict.mapping import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


#: The formats that are read here.
ROW_FORMATS = ("csv", "tsv", "jsonl")
DELIMITERS = {"csv": ",", "tsv": "\t"}
#: All formats by the ending of a file's name.
ENDINGS = {
    **{
        f".{name}": name
        for name in ("json", "toml", "yaml", *ROW_FORMATS, "parquet", "xlsx", "fuzzydict")
    },
    ".yml": "yaml",
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".pq": "parquet",
}
#: Some programs write it before UTF-8 text.
BYTE_ORDER_MARK = "\ufeff"
#: The content of a blank line of JSON Lines; None is null.
BLANK = object()
#: The types of JSON, as messages name them.
JSON_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}
#: Bytes of the longest line that is read.
MAX_LINE = 2**24
_BLOCK = 2**17  # bytes that are read at once
_MAX_COLUMNS_NAMED = 20  # in an error


class Record(NamedTuple):
    """A row of CSV, whose content is a list of cells, or a line of JSON, whose content is a value.

    ``line`` is the number of its first line, from 1; ``raw`` its text with the end of the line.
    """

    line: int
    raw: str
    content: Any

    @property
    def is_blank(self) -> bool:
        """Whether the line is blank."""
        return not self.raw.strip(f" \r\n{BYTE_ORDER_MARK}")


class Block(NamedTuple):
    """Records that follow each other, as columns: their lines, raw texts and contents."""

    lines: Sequence[int]
    raws: list[str]
    contents: list[Any]

    def first(self, records: int) -> Block:
        """Return the first of the records."""
        return Block(self.lines[:records], self.raws[:records], self.contents[:records])

    def after(self, records: int) -> Block:
        """Return the others."""
        return Block(self.lines[records:], self.raws[records:], self.contents[records:])


def format_by_ending(path: Path, formats: Iterable[str]) -> str | None:
    """Return the format that a file's ending names, if it is one of ``formats``, else None."""
    form = ENDINGS.get(path.suffix.lower(), "")
    return form if form in formats else None


def _line_blocks(file: BinaryIO, name: object) -> Iterator[tuple[int, list[str]]]:
    """Yield lines, in blocks, each with the number of its first line.

    Lines before one that is refused come first; then the error is raised.
    """
    first = 1
    for data in _blocks(file):
        if (data.find(b"\n") + 1 or len(data)) > MAX_LINE:
            raise FileFormatError(
                f"{name}: line {first} has more than {MAX_LINE} bytes; expected a text file of "
                f"shorter lines"
            )
        lines, error = _lines(data, first, name)
        yield first, lines
        if error is not None:
            raise error
        first += len(lines)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's bytes as they come in, in blocks of whole lines.

    The last line may lack its end. So may one that is longer than lines may be.
    """
    read = getattr(file, "read1", file.read)  # `read` would wait for a whole block
    parts, length = list[bytes](), 0  # of the line that is being read
    while data := read(_BLOCK):
        end = data.rfind(b"\n") + 1
        if not end and length + len(data) > MAX_LINE:
            end = len(data)
        if end:
            yield b"".join((*parts, data[:end]))
            parts, length, data = [], 0, data[end:]
        parts.append(data)
        length += len(data)
    if any(parts):
        yield b"".join(parts)


def _lines(data: bytes, first: int, name: object) -> tuple[list[str], FileFormatError | None]:
    """Return the lines of some bytes up to one that is no text, and the error of that one."""
    with suppress(UnicodeDecodeError):
        if b"\0" not in data:
            return StringIO(data.decode(), newline="\n").readlines(), None
    lines: list[str] = []
    for number, line in enumerate(BytesIO(data), first):
        place = f"{name}: line {number}"
        try:
            lines.append(decoded(line, place))
        except FileFormatError as error:
            return lines, error
        if b"\0" in line:
            problem = f"{place} holds a zero byte; expected a text file, in UTF-8"
            return lines[:-1], FileFormatError(problem)
    return lines, None


def _without_mark(lines: list[str]) -> list[str]:
    return [line.removeprefix(BYTE_ORDER_MARK) for line in lines[:1]] + lines[1:]


def _records(blocks: Iterable[Block]) -> Iterator[Record]:
    return chain.from_iterable(map(Record, *block) for block in blocks)


# ---- CSV and TSV --------------------------------------------------------------------------


def csv_table(
    file: BinaryIO, name: object, delimiter: str
) -> tuple[Record | None, Iterator[Record]]:
    """Return the first row that is not blank, or None, and an iterator over the rows below it.

    Each row has as many cells as the first; a blank line has none. ``name`` is the file's in
    messages.

    Raises:
        FileFormatError: a line is not UTF-8, not CSV, or has more or fewer cells than the first
            row. The iterator raises it at that line.
    """
    header, blocks = csv_blocks(file, name, delimiter)
    return header, _records(blocks)


def csv_blocks(
    file: BinaryIO, name: object, delimiter: str
) -> tuple[Record | None, Iterator[Block]]:
    """Return the same as `csv_table`, the rows in blocks; those before a refused one come first."""
    blocks = _csv_blocks(file, name, delimiter)
    for block in blocks:
        for place, record in enumerate(_records([block]), 1):
            if not record.is_blank:
                below = chain([block.after(place)], blocks)
                return record, _of_equal_width(record, below, name, delimiter)
    return None, iter(())


def column_index(column: str, header: Record, name: object) -> int:
    """Return the index of a column in the first row of a table.

    Raises:
        FileFormatError: no column has this name, or several have.
    """
    columns: list[str] = header.content
    if columns.count(column) == 1:
        return columns.index(column)
    raise no_column(column, columns, name, delimiter_advice(header))


def no_column(
    column: str, columns: Sequence[str], name: object, advice: str = ""
) -> FileFormatError:
    """Return the error for a column that a table has not, or several times.

    Args:
        column: the name that was asked for.
        columns: those of the table.
        name: the file's name in messages.
        advice: what to do, at the end of the message.

    >>> print(no_column("colum", ["row", "column"], "t.csv"))
    t.csv: has no column 'colum' (did you mean 'column'?); its columns are 'row', 'column'
    """
    if column in columns:
        return FileFormatError(f"{name}: has several columns {quoted(column)}; rename all but one")
    names = ", ".join(map(quoted, columns[:_MAX_COLUMNS_NAMED]))
    more = ", ..." if len(columns) > _MAX_COLUMNS_NAMED else ""
    return FileFormatError(
        f"{name}: has no column {quoted(column)}{suggestion(column, columns)}; its columns are "
        f"{names}{more}{advice}"
    )


def counted_cells(row: Record) -> str:
    """Return how many cells a row has, as messages tell it."""
    return "1 cell" if len(row.content) == 1 else f"{len(row.content)} cells"


def delimiter_advice(header: Record) -> str:
    """Return advice if a row of one cell contains another delimiter, else "".

    >>> delimiter_advice(Record(1, "id;item", ["id;item"]))
    "; is it separated by ';'? then name the delimiter"
    """
    cells = header.content
    found = next((sign for sign in ";\t|," if len(cells) == 1 and sign in cells[0]), None)
    if found is None:
        return ""
    return f"; is it separated by {found!r}? then name the delimiter"


def csv_row(cells: Iterable[object], delimiter: str) -> str:
    """Return cells as a row without the end of its line.

    >>> csv_row(["Zoë", "one, two", 1.5], ",")
    'Zoë,"one, two",1.5'
    """
    row = StringIO()
    csv.writer(row, delimiter=delimiter).writerow(cells)
    return row.getvalue().removesuffix("\r\n")


#: What spreadsheets may take for a formula, with quotes before it or not; signs of full width, too.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")


def without_formula(text: str) -> str:
    """Return a text as a cell that a spreadsheet shows and does not compute.

    A text that begins as a formula gets a quote in front, as spreadsheets mark texts. So does one
    that begins with quotes and a formula, so that `with_formula` returns each text as it was.

    >>> without_formula("=1+1"), without_formula("'=1+1"), without_formula("'tis")
    ("'=1+1", "''=1+1", "'tis")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def with_formula(cell: str) -> str:
    """Return the text of a cell that `without_formula` made, or of one that was left as it was.

    >>> with_formula("'=1+1"), with_formula("=1+1"), with_formula("'tis")
    ('=1+1', '=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def encoded(text: str) -> bytes:
    """Return text as UTF-8. Lone surrogates, which UTF-8 lacks, become escapes as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def _csv_blocks(file: BinaryIO, name: object, delimiter: str) -> Iterator[Block]:
    """Yield the rows; those before a row that is no CSV come first."""
    source = _line_blocks(file, name)
    for first, lines in source:
        while lines:
            block, used, error = _csv_rows(first, lines, source, name, delimiter)
            yield block
            if error is not None:
                raise error
            first, lines = first + used, lines[used:]


def _csv_rows(
    first: int,
    lines: list[str],
    source: Iterator[tuple[int, list[str]]],
    name: object,
    delimiter: str,
) -> tuple[Block, int, FileFormatError | None]:
    """Return the rows that begin in some lines, of which ``first`` is the number of the first.

    The lines that the last row goes on for are taken from ``source`` and added to ``lines``.

    Returns:
        The rows up to one that is no CSV; how many lines they have; and the error of that one.
    """
    text = _without_mark(lines) if first == 1 else lines[:]
    with suppress(csv.Error):
        rows = list(csv.reader(text, delimiter=delimiter, strict=True))
        if len(rows) == len(lines):  # no row has several lines
            return Block(range(first, first + len(lines)), lines, rows), len(lines), None
    numbers, raws, rows, used, begun = list[int](), list[str](), list[list[str]](), 0, len(lines)
    reader = csv.reader(chain(text, _lines_of_row(lines, source)), delimiter=delimiter, strict=True)
    error: FileFormatError | None = None
    try:
        while used < begun:
            rows.append(next(reader))
            numbers.append(first + used)
            raws.append("".join(lines[used : reader.line_num]))
            used = reader.line_num
    except FileFormatError as refused:  # a line of the last row is no text
        error = refused
    except (csv.Error, _RowTooLongError) as refused:
        problem = _csv_problem("".join(lines[used : reader.line_num]), refused)
        error = FileFormatError(f"{name}: line {first + used} {problem}")
        error.__cause__ = refused
    return Block(numbers, raws, rows), used, error


class _RowTooLongError(Exception):
    """A row goes on for more lines than are read."""


def _lines_of_row(lines: list[str], source: Iterator[tuple[int, list[str]]]) -> Iterator[str]:
    """Yield more lines, and add them to ``lines``, for a row that goes on in them."""
    length = 0
    for _, more in source:
        lines += more
        yield from more
        length += sum(map(len, more))
        if length > MAX_LINE:
            raise _RowTooLongError


def _of_equal_width(
    header: Record, blocks: Iterable[Block], name: object, delimiter: str
) -> Iterator[Block]:
    """Yield the rows with the cells of blank lines taken away; those before a refused one first."""
    width = len(header.content)
    for block in blocks:
        if not {*map(len, block.contents)} <= {0, width}:
            for place, record in enumerate(_records([block])):
                if len(record.content) == width:
                    continue
                if not record.is_blank:
                    yield block.first(place)
                    raise FileFormatError(
                        f"{name}: line {record.line} has {counted_cells(record)} where line "
                        f"{header.line} has {width}; put a cell that holds {delimiter!r} in "
                        f"quotes, and leave no cell out"
                    )
                block.contents[place] = []
        yield block


def _csv_problem(raw: str, error: Exception) -> str:
    if isinstance(error, _RowTooLongError):
        return f"begins a row of more than {MAX_LINE} characters; is a quote left open?"
    if "unexpected end" in str(error):
        return "opens a quote that is not closed; close it, or double the quotes inside a cell"
    if "field larger" in str(error):
        return f"has a cell of more than {csv.field_size_limit()} characters; is a quote left open?"
    if "\r" in raw.rstrip("\r\n"):
        return "holds a carriage return; lines end in a line feed, with or without one before it"
    return f"is not valid CSV ({error}); double the quotes inside a quoted cell"


# ---- JSON ---------------------------------------------------------------------------------


def json_records(file: BinaryIO, name: object) -> Iterator[Record]:
    """Yield the lines of a JSON Lines file; the content of a blank line is `BLANK`.

    Raises:
        FileFormatError: a line is not UTF-8 or not JSON; the message names the file and the line.
    """
    return _records(json_blocks(file, name))


def json_blocks(file: BinaryIO, name: object) -> Iterator[Block]:
    """Yield the same as `json_records`, in blocks; lines before a refused one come first."""
    expected = 'one value on each line, such as {"color": "black"}'
    decode = json.JSONDecoder(object_pairs_hook=_without_repeats).raw_decode

    def content(raw: str, line: int) -> Any:
        text = raw.strip(" \t\r\n")
        if not text:
            return BLANK
        try:
            found, end = decode(text)
        except (ValueError, RecursionError):  # `parse_json` says why
            end = -1
        if end == len(text):
            return found
        return parse_json(raw.rstrip("\r\n"), name, expected, line) if raw.strip() else BLANK

    for first, raws in _line_blocks(file, name):
        block = Block(range(first, first + len(raws)), raws, [])
        try:
            for line, text in enumerate(_without_mark(raws) if first == 1 else raws, first):
                block.contents.append(content(text, line))
        except FileFormatError:
            yield block.first(len(block.contents))
            raise
        yield block


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key comes twice")
    return content


def parse_json(text: str, name: object, expected: str, line: int | None = None) -> Any:
    """Return the value of a JSON text.

    Args:
        text: the text.
        name: the file's name in messages.
        expected: what messages say was expected.
        line: the line number, if the text is one line of the file.

    Raises:
        FileFormatError: the text is not JSON, or an object in it repeats a key.
    """
    place = str(name) if line is None else f"{name}: line {line}"

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)  # the json module would keep the last of equal keys
        if len(content) < len(pairs):
            ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise FileFormatError(
                f"{place}: the key {quoted(key)} comes twice in one object; keep one"
            )
        return content

    with parser_limits(place):
        try:
            return json.loads(text, object_pairs_hook=as_dict)
        except json.JSONDecodeError as error:
            raise FileFormatError(
                f"{name}: line {line or error.lineno}, column {error.colno} is not JSON "
                f"({error.msg}); expected {expected}"
            ) from error


@contextmanager
def parser_limits(place: str) -> Iterator[None]:
    """Report what exceeds the limits of Python's parsers as a FileFormatError at ``place``."""
    try:
        yield
    except FileFormatError:
        raise
    except RecursionError as error:
        raise FileFormatError(f"{place}: is nested too deeply; flatten it") from error
    except ValueError as error:  # int() takes at most 4,300 digits
        raise FileFormatError(
            f"{place}: one of its numbers has too many digits; put it in quotes"
        ) from error


# ---- values as text -----------------------------------------------------------------------

#: Types that are written as JSON; others as texts.
_IN_JSON = (str, int, float, type(None), dict, list, tuple, set, frozenset, np.ndarray, np.generic)
#: Integers from here on are no longer exact as floats in every program.
MAX_EXACT = 10**15
_NOT_ON_A_LINE = re.compile(rf"(?!\t){OBEYED.pattern}")
_NOT_IN_JSON = re.compile(rf"(?!\n){OBEYED.pattern}")  # ends of lines are the json module's own


def as_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON: arrays, tuples and sets as lists, dates and other types as text.

    NaN and infinity become null. What a terminal would obey is escaped.

    >>> import numpy as np
    >>> as_json({"at": date(2024, 2, 29), (1, 2): np.array([0.5, np.nan])})
    '{"at": "2024-02-29", "(1, 2)": [0.5, null]}'
    """
    text = json.dumps(_json_value(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_line(value: Any) -> str:
    r"""Return text as it is if it fits on one line, and anything else as JSON.

    Text with what a terminal would obey, except for tabs, becomes JSON as well. Dates are written
    in ISO format; NaN and infinity as NaN, Infinity or -Infinity; what JSON lacks, as a decimal
    number, as its own text.

    >>> as_line("black"), as_line(260), as_line("two\nlines"), as_line(["roof", None])
    ('black', '260', '"two\\nlines"', '["roof", null]')
    >>> as_line("a\x1b[2Jb"), as_line(date(2024, 2, 29))
    ('"a\\u001b[2Jb"', '2024-02-29')
    """
    if isinstance(value, np.generic):
        value = value.tolist()
    if isinstance(value, date | time):
        return value.isoformat()
    if not isinstance(value, _IN_JSON):
        value = str(value)
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value)  # as JSON has it
    if isinstance(value, str) and not _NOT_ON_A_LINE.search(value):
        return value
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return json.dumps(float(value))
    return as_json(value)


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: text as it is, None as an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_line(value)


def cell_text(value: Any) -> str | None:
    """Return a cell's value as a text to match, the same for each format of tables.

    Whole numbers lose their zeros, dates at midnight their time, and NaN is an empty cell: programs
    add these when they put integers beside an empty cell, or dates into a column.

    >>> cell_text(5.0), cell_text(datetime(2024, 2, 29)), cell_text(True), cell_text(" ok ")
    ('5', '2024-02-29', 'true', ' ok ')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value == datetime.combine(value, time()):
        value = value.date()
    return as_line(value)


def _json_value(value: Any) -> Any:
    """Return a value made of the types of JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, dict):
        return {_json_key(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _json_key(key: Any) -> Any:
    is_plain = isinstance(key, str | int | None) or (isinstance(key, float) and math.isfinite(key))
    return key if is_plain else str(key)
