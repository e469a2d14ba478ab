"""Text files of records: the rows of CSV and TSV, and the lines of JSON Lines; values as texts.

A record has its line number, for error messages, and its text as it stands in the file, so that it
can be written again unchanged. Files are read in blocks of whole lines, streams as they come in.
Where nobody names the delimiter or the encoding of CSV, it is guessed; a UserWarning says so.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
import re
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from io import StringIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from fuzzydict.errors import OBEYED, FileFormatError, OptionError, printable, quoted
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
#: Characters of the longest line that is read.
MAX_LINE = 2**24
_BLOCK = 2**17  # bytes that are read at once
_MAX_COLUMNS_NAMED = 20  # in an error


class Reading(NamedTuple):
    """How to read a file, as far as somebody says so.

    Attributes:
        format: by default the file's ending says.
        sheet: the name of a sheet of a workbook; by default the first that is not hidden.
        delimiter: of CSV or TSV, a character or one of `NAMED_DELIMITERS`; by default a guess.
        encoding: of CSV or TSV; by default a guess.
        key: the column of a dict's keys; by default "key".
        value: the column of a dict's values; by default "value".
        side: what the options of the command line begin with that name another delimiter or
            encoding, "left-" for ``--left-delimiter``, "dict-" for a dict beside a table; None
            where there are no options.
    """

    format: str | None = None
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    key: str | None = None
    value: str | None = None
    side: str | None = ""

    def check(self, name: object, form: str) -> None:
        """Raise OptionError if files of a format have no sheet, delimiter or encoding to name."""
        if self.sheet is not None and form != "xlsx":
            raise OptionError(f"sheet: {name} is {form}, which has no sheets; leave it out")
        for option in ("delimiter", "encoding"):
            if getattr(self, option) is not None and form not in DELIMITERS:
                raise OptionError(
                    f"{option}: {name} is {form}, and only CSV and TSV have one to choose"
                )


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

    def records(self) -> Iterator[Record]:
        """Return the records one by one."""
        return map(Record, *self)

    def after(self, records: int) -> Block:
        """Return the others than the first of the records."""
        return Block(self.lines[records:], self.raws[records:], self.contents[records:])


def format_by_ending(path: Path, formats: Iterable[str]) -> str | None:
    """Return the format that a file's ending names, if it is one of ``formats``, else None."""
    form = ENDINGS.get(path.suffix.lower(), "")
    return form if form in formats else None


def encoded(text: str) -> bytes:
    """Return text as UTF-8. Lone surrogates, which UTF-8 lacks, become escapes as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def _line_blocks(
    file: BinaryIO, name: object, encoding: str = "utf-8", begun: bytes = b""
) -> Iterator[tuple[int, list[str]]]:
    """Yield a file's lines as they come in, in blocks, each with the number of its first line.

    ``begun`` is what was read of a stream before.
    """
    read = getattr(file, "read1", file.read)  # `read` would wait for a whole block
    decode = codecs.getincrementaldecoder(encoding)().decode
    first, parts, length = 1, list[str](), 0  # of the line that is being read
    data = begun or read(_BLOCK)
    while True:
        try:
            text = decode(data, not data)
        except UnicodeDecodeError as error:
            before = "".join(parts) + error.object[: error.start].decode(encoding, "ignore")
            raise _not_decoded(before, name, first, encoding) from error
        if "\0" in text:
            line = first + text[: text.index("\0")].count("\n")
            raise FileFormatError(
                f"{name}: line {line} holds a zero byte; expected a text file, in UTF-8"
            )
        if end := text.rfind("\n") + 1:
            lines = StringIO("".join([*parts, text[:end]]), newline="\n").readlines()
            yield first, lines
            first, parts, length, text = first + len(lines), [], 0, text[end:]
        parts.append(text)
        length += len(text)
        if length > MAX_LINE:
            raise FileFormatError(
                f"{name}: line {first} has more than {MAX_LINE} characters; expected a text file "
                f"of shorter lines"
            )
        if not data:
            break
        data = read(_BLOCK)
    if any(parts):
        yield first, ["".join(parts)]


def _not_decoded(before: str, name: object, first: int, encoding: str) -> FileFormatError:
    """Return the error for bytes that come after some text, whose first line has this number."""
    place = f"{name}: line {first + before.count(chr(10))}"
    if encoding != "utf-8":
        return FileFormatError(f"{place} is not {encoding.upper()}; name the encoding that it has")
    byte = len(before.rpartition("\n")[2].encode())
    return FileFormatError(f"{place}: byte {byte} is not UTF-8; save the file as UTF-8")


def _without_mark(first: int, lines: list[str]) -> list[str]:
    """Return a copy of lines, without the byte-order mark that a file may begin with."""
    return [lines[0].removeprefix(BYTE_ORDER_MARK), *lines[1:]] if first == 1 else lines[:]


# ---- how CSV is written -------------------------------------------------------------------

#: Delimiters by their names; any other character stands for itself.
NAMED_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_WESTERN = "windows-1252"
#: Bytes that are no text of windows-1252; and letters of UTF-8, in which others are damaged.
_NOT_WESTERN = re.compile(
    rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]|[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
)
_BEGINNING = 2**16  # bytes by which a delimiter is guessed
_ROWS = 100  # by which it is, too
_LARGE_BLOCK = 2**20  # bytes in which a file is read to guess its encoding


class Dialect(NamedTuple):
    """The delimiter and the encoding of a file of CSV."""

    delimiter: str
    encoding: str = "utf-8"

    def encoded(self, text: str, name: object) -> bytes:
        """Return text in this encoding.

        Raises:
            FileFormatError: the encoding, which is no Unicode, lacks a character of it.
        """
        if self.encoding == "utf-8":
            return encoded(text)
        try:
            return encoded(text).decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            raise FileFormatError(
                f"{name}: {quoted(text[error.start])} cannot be written in {self.encoding}, its "
                f"encoding; save it as UTF-8 before"
            ) from error


def as_delimiter(text: str) -> str:
    r"""Return the delimiter that a text names, or is.

    >>> as_delimiter("semicolon"), as_delimiter("|"), as_delimiter(r"\t")
    (';', '|', '\t')

    Raises:
        OptionError: it is none.
    """
    sign = NAMED_DELIMITERS.get(text.lower(), "\t" if text == r"\t" else text)
    if len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
        raise OptionError(
            f"delimiter: expected one character, or {', '.join(NAMED_DELIMITERS)}, got "
            f"{quoted(text)}"
        )
    return sign


def as_encoding(name: str) -> str:
    """Return the name of an encoding that Python knows.

    Raises:
        OptionError: it knows none of this name, or it is one that escapes signs, whose rows and
            cells are not those of the file.
    """
    expected = f"encoding: expected one such as utf-8, {_WESTERN} or utf-16, got {quoted(name)}"
    try:
        found = codecs.lookup(name).name
        "".encode(name)  # some codecs are none of texts
        encode = codecs.getincrementalencoder(name)().encode
        parts = [encode(sign) for sign in ("a", ",", "\n")]
        is_same = b"".join(parts).decode(found) == "a,\n" and len(parts[1]) == len(parts[2])
        escapes = not is_same or rb"\u0041".decode(found, "replace") == "A"
    except (LookupError, ValueError) as error:
        raise OptionError(expected) from error
    if escapes:
        raise OptionError(f"{expected}, which escapes signs")
    return "utf-8" if found == "utf-8-sig" else found


def guess_dialect(
    file: BinaryIO, name: object, usual: str, reading: Reading
) -> tuple[Dialect, bytes]:
    """Return how a file of CSV is written, and what had to be read of a stream to guess it.

    A UserWarning tells of another delimiter than the ``usual`` one, or another encoding than UTF-8.

    Raises:
        OptionError: the delimiter or the encoding that is named is none.
    """
    sign = None if reading.delimiter is None else as_delimiter(reading.delimiter)
    known = None if reading.encoding is None else as_encoding(reading.encoding)
    beginning, is_all = _beginning(file)
    encoding = known or _guessed_encoding(file, beginning)
    if encoding in ("utf-16", "utf-32"):
        big = beginning.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        encoding += "-be" if big else "-le"
    guesses: dict[str, str] = {}
    if sign is None:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(beginning, is_all)
        sign, also = _guessed_delimiter(text, is_all, usual)
        if sign != usual or also:
            guesses["delimiter"] = repr(sign) + (f" (or {also!r}?)" if also else "")
    if known is None and encoding != "utf-8":
        guesses["encoding"] = encoding
    if guesses:
        message = f"{name}: read with {' and '.join(guesses.values())}"
        if reading.side is not None:
            other = "others" if len(guesses) > 1 else "another"
            options = " and ".join(f"--{reading.side}{guess}" for guess in guesses)
            message += f"; name {other} by {options}"
        warnings.warn(printable(message), stacklevel=5)
    return Dialect(sign, encoding), b"" if file.seekable() else beginning


def _beginning(file: BinaryIO) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether these are all.

    Of a stream, no more is read than its first line, for what comes next may take long.
    """
    if file.seekable():
        place = file.tell()
        beginning = file.read(_BEGINNING)
        file.seek(place)
        return beginning, len(beginning) < _BEGINNING
    read, beginning = getattr(file, "read1", file.read), b""
    while data := read(_BEGINNING):
        beginning += data
        if b"\n" in data or len(beginning) >= _BEGINNING:
            break
    return beginning, not data


def _guessed_encoding(file: BinaryIO, beginning: bytes) -> str:
    """Return "utf-16-le" or "-be" if a mark says so, windows-1252 if it can be, or "utf-8"."""
    for mark, encoding in _MARKS.items():
        if beginning.startswith(mark):
            return encoding
    decode = codecs.getincrementaldecoder("utf-8")().decode
    try:
        for data in _pieces(file, beginning):
            decode(data)
    except UnicodeDecodeError:
        if not any(map(_NOT_WESTERN.search, _pieces(file, beginning))):
            return _WESTERN
    return "utf-8"


def _pieces(file: BinaryIO, beginning: bytes) -> Iterator[bytes]:
    """Yield all of a file, or the beginning of a stream."""
    if not file.seekable():
        yield beginning
        return
    place = file.tell()
    try:
        while data := file.read(_LARGE_BLOCK):
            yield data
    finally:
        file.seek(place)


def _guessed_delimiter(text: str, is_all: bool, usual: str) -> tuple[str, str]:
    """Return the delimiter that cuts the first rows into the same number of cells, two or more.

    The usual one goes first, then the one that makes the most cells.

    Returns:
        It; and another one that does so, or "".
    """
    lines = StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="\n").readlines()
    if not is_all and len(lines) > 1:
        del lines[-1]  # it may be cut
    signs = dict.fromkeys((usual, *NAMED_DELIMITERS.values()))
    cells = {sign: _width(lines, sign) for sign in signs}
    possible = [sign for sign in sorted(cells, key=cells.__getitem__)[::-1] if cells[sign] > 1]
    best = usual if usual in possible or not possible else possible[0]
    return best, next((sign for sign in possible if sign != best), "")


def _width(lines: Iterable[str], delimiter: str) -> int:
    """Return how many cells each of the first rows has; 0 if not all have as many."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        widths = {len(row) for row in islice(reader, _ROWS) if row}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 else 0


# ---- CSV and TSV --------------------------------------------------------------------------


def csv_blocks(
    file: BinaryIO, name: object, dialect: Dialect, begun: bytes = b""
) -> tuple[Record | None, Iterator[Block]]:
    """Return the first row of a file that is not blank, or None, and the rows below, in blocks.

    Each has as many cells as the first; a blank line has none. ``begun`` is what was read of a
    stream before.

    Raises:
        FileFormatError: a line is not of its encoding, not CSV, or has more or fewer cells than
            the first row. The iterator of rows raises it there.
    """
    source = _line_blocks(file, name, dialect.encoding, begun)
    blocks = _row_blocks(source, name, dialect.delimiter)
    for block in blocks:
        for place, record in enumerate(block.records(), 1):
            if not record.is_blank:
                below = chain([block.after(place)], blocks)
                return record, _of_equal_width(record, below, name, dialect.delimiter)
    return None, iter(())


def _row_blocks(
    source: Iterator[tuple[int, list[str]]], name: object, delimiter: str
) -> Iterator[Block]:
    """Yield the rows of all lines."""
    for first, lines in source:
        while lines:
            block, used = _csv_rows(first, lines, source, name, delimiter)
            yield block
            first, lines = first + used, lines[used:]


def _csv_rows(
    first: int,
    lines: list[str],
    source: Iterator[tuple[int, list[str]]],
    name: object,
    delimiter: str,
) -> tuple[Block, int]:
    """Return the rows that begin in some lines, and how many lines they have.

    ``first`` is the number of the first line. Lines that the last row goes on in are taken from
    ``source`` and added to ``lines``.
    """
    text = _without_mark(first, lines)
    with suppress(csv.Error):
        rows = list(csv.reader(text, delimiter=delimiter, strict=True))
        if len(rows) == len(lines):  # no row has several lines
            return Block(range(first, first + len(lines)), lines, rows), len(lines)
    numbers, raws, rows, used, begun = list[int](), list[str](), list[list[str]](), 0, len(lines)
    reader = csv.reader(chain(text, _lines_of_row(lines, source)), delimiter=delimiter, strict=True)
    while used < begun:
        try:
            rows.append(next(reader))
        except csv.Error as error:
            problem = _csv_problem("".join(lines[used : reader.line_num]), str(error))
            raise FileFormatError(f"{name}: line {first + used} {problem}") from error
        numbers.append(first + used)
        raws.append("".join(lines[used : reader.line_num]))
        used = reader.line_num
    return Block(numbers, raws, rows), used


_TOO_LONG = "the row is too long"


def _lines_of_row(lines: list[str], source: Iterator[tuple[int, list[str]]]) -> Iterator[str]:
    """Yield more lines, and add them to ``lines``, for a row that goes on in them."""
    length = 0
    for _, more in source:
        lines += more
        yield from more
        length += sum(map(len, more))
        if length > MAX_LINE:
            raise csv.Error(_TOO_LONG)


def _of_equal_width(
    header: Record, blocks: Iterable[Block], name: object, delimiter: str
) -> Iterator[Block]:
    """Yield the rows, with the cells of blank lines taken away."""
    width = len(header.content)
    for block in blocks:
        if not {*map(len, block.contents)} <= {0, width}:
            for place, record in enumerate(block.records()):
                if len(record.content) == width:
                    continue
                if not record.is_blank:
                    raise FileFormatError(
                        f"{name}: line {record.line} has {counted_cells(record)} where line "
                        f"{header.line} has {width}; put a cell that holds {delimiter!r} in "
                        f"quotes, and leave no cell out"
                    )
                block.contents[place] = []
        yield block


def _csv_problem(raw: str, error: str) -> str:
    if error == _TOO_LONG:
        return f"begins a row of more than {MAX_LINE} characters; is a quote left open?"
    if "unexpected end" in error:
        return "opens a quote that is not closed; close it, or double the quotes inside a cell"
    if "field larger" in error:
        return f"has a cell of more than {csv.field_size_limit()} characters; is a quote left open?"
    if "\r" in raw.rstrip("\r\n"):
        return "holds a carriage return; lines end in a line feed, with or without one before it"
    return f"is not valid CSV ({error}); double the quotes inside a quoted cell"


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


# ---- JSON ---------------------------------------------------------------------------------


class _TwiceError(ValueError):
    """A key that comes twice in one object, of which the json module would keep the last."""


def _as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise _TwiceError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return content


_decode = json.JSONDecoder(object_pairs_hook=_as_dict).decode


def json_records(file: BinaryIO, name: object) -> Iterator[Record]:
    """Yield the lines of a JSON Lines file; the content of a blank line is `BLANK`.

    Raises:
        FileFormatError: a line is not UTF-8 or not JSON; the message names the file and the line.
    """
    return chain.from_iterable(block.records() for block in json_blocks(file, name))


def json_blocks(file: BinaryIO, name: object) -> Iterator[Block]:
    """Yield the same as `json_records`, in blocks."""
    expected = 'one value on each line, such as {"color": "black"}'
    for first, raws in _line_blocks(file, name):
        contents = list[Any]()
        for line, text in enumerate(_without_mark(first, raws), first):
            if not text or text.isspace():
                contents.append(BLANK)
            else:
                contents.append(parse_json(text, name, expected, line))
        yield Block(range(first, first + len(raws)), raws, contents)


def parse_json(text: str, name: object, expected: str, line: int | None = None) -> Any:
    """Return the value of a JSON text; ``line`` is its number if it is a line of the file.

    Raises:
        FileFormatError: the text is not JSON, or an object in it repeats a key.
    """
    try:
        return _decode(text)
    except (RecursionError, ValueError) as error:
        place = str(name) if line is None else f"{name}: line {line}"
        if isinstance(error, _TwiceError):
            key = quoted(error.args[0])
            raise FileFormatError(
                f"{place}: the key {key} comes twice in one object; keep one"
            ) from None
        if isinstance(error, json.JSONDecodeError):
            is_line = line is not None
            column = min(error.pos, len(text.rstrip("\r\n"))) + 1 if is_line else error.colno
            raise FileFormatError(
                f"{name}: line {line or error.lineno}, column {column} is not JSON "
                f"({error.msg}); expected {expected}"
            ) from error
        with parser_limits(place):
            raise


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
