"""What a table in a file is, and tables of lines: CSV, TSV and JSON Lines.

A row keeps its text, and new cells are put at its end. A delimiter or encoding that nobody names is
guessed, with a UserWarning if it is not the usual one. Streams are read as they come in.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from functools import partial
from io import BytesIO, StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from fuzzydict.errors import OBEYED, FileFormatError, OptionError, printable, quoted
from fuzzydict.mapping import suggestion

#: The formats of lines, of tables, and of tables that are read from any place in a file.
ROW_FORMATS = ("csv", "tsv", "jsonl")
TABLES = (*ROW_FORMATS, "parquet", "xlsx")
FILES_ONLY = ("parquet", "xlsx")
#: All formats by the ending of a file's name.
ENDINGS = {f".{name}": name for name in ("json", "toml", "yaml", *TABLES, "fuzzydict")}
ENDINGS |= {".yml": "yaml", ".tab": "tsv", ".ndjson": "jsonl", ".pq": "parquet"}
ZIP = b"PK\3\4"  # as which a workbook begins
DELIMITERS = {"csv": ",", "tsv": "\t"}
#: Delimiters by their names; any other character stands for itself.
NAMED_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


class Reading(NamedTuple):
    """How to read a file, as far as somebody says so. CSV has a delimiter and an encoding."""

    format: str | None = None  # by default the file's ending says
    sheet: str | None = None  # of a workbook; by default the first that is not hidden
    delimiter: str | None = None  # a character or one of `NAMED_DELIMITERS`; by default a guess
    encoding: str | None = None  # by default a guess
    key: str | None = None  # the column of a dict's keys; by default "key"
    value: str | None = None  # the column of a dict's values; by default "value"
    #: What begins the options of the command line that name another delimiter or encoding, "left-"
    #: for ``--left-delimiter``, "dict-" for a dict beside a table; None where there are none.
    side: str | None = ""

    def check(self, name: object, form: str) -> None:
        """Raise OptionError if files of a format have no sheet, delimiter or encoding to name."""
        if self.sheet is not None and form != "xlsx":
            raise OptionError(f"sheet: {name} is {form}, which has no sheets; leave it out")
        for option in ("delimiter", "encoding"):
            if getattr(self, option) is not None and form not in DELIMITERS:
                problem = f"{name} is {form}, and only CSV and TSV have one to choose"
                raise OptionError(f"{option}: {problem}")


def format_by_ending(path: Path, formats: Iterable[str] = TABLES) -> str | None:
    """Return the format that a file's ending names, if it is one of ``formats``, else None."""
    form = ENDINGS.get(path.suffix.lower(), "")
    return form if form in formats else None


def refuse_workbook(data: bytes, name: object) -> None:
    """Raise FileFormatError if what is read as a text is a workbook, by its first bytes."""
    if data.startswith(ZIP):
        raise FileFormatError(
            f"{name}: is a zip file, as .xlsx workbooks are; end its name in .xlsx, or give xlsx "
            f"as its format (--table-format, or --format of DICT)"
        )


def is_same(file: object, other: object) -> bool:
    """Tell whether two files are paths that lead to one place, where there may be no file yet."""
    if not isinstance(file, Path) or not isinstance(other, Path):
        return False
    if file.exists() and other.exists():
        return file.samefile(other)
    return os.path.realpath(file) == os.path.realpath(other)


# ---- what a table is ----------------------------------------------------------------------

#: A row that is not blank: the number of its first line, from 1; in a table of lines its text, and
#: blank lines before it; and its cells, or in JSON Lines any value.
Row: TypeAlias = tuple[int, str, Any]


class Block(NamedTuple):
    """Rows that follow each other, and their cells of a column."""

    rows: Any  # a list of `Row`; of Parquet what `write` takes
    cells: Sequence[str | None] = ()  # None if empty
    counts: list[int] | None = None  # if each cell is listed once, how many rows have it


#: A block, and for each of its cells what is written beside it, or None to leave its rows out.
Beside: TypeAlias = tuple[Block, list[Any]]


class Contents(NamedTuple):
    """All of a table: the names of its columns; and of each row what is here a list."""

    names: list[str]
    lines: Sequence[int]
    texts: list[str | None]  # in one column
    rows: list[Any]  # lists of a value for each name; of Parquet scalars of Arrow, see `as_python`


class Table(ABC):
    """A table in a file, which can be copied with new cells at the end of each row."""

    name: str  # of the file in messages
    names: list[str]  # of the columns; in JSON Lines, of the lines that were read, 1,000 at most
    header: Row | None = None  # the first row of CSV, TSV and .xlsx
    dialect: Dialect  # of tables of lines
    blanks: list[str]  # there, the blank lines before the row that is read next, or at the end
    may_be_empty = False  # JSON Lines without a line, which show no column
    _blocks: Iterator[list[Row]] = iter(())

    def rows(self) -> Iterator[Row]:
        """Return the rows below the header, one by one; not of Parquet."""
        return chain.from_iterable(self._blocks)

    def count(self) -> int:
        """Return how many rows there are, whatever is in them."""
        return sum(map(len, self._blocks))

    @abstractmethod
    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:
        """Check that there is a column of this name, and return the rows with its cells.

        If only this column is wanted ``alone``, other columns need not be read, nor written.
        FileFormatError says that there is no such column, or that a row cannot be read.
        """

    def contents(self, column: str) -> Contents:
        """Return the whole table; errors as for `blocks`."""
        blocks = [*self.blocks(column)]
        rows = [row for block in blocks for row in block.rows]
        texts = [cell for block in blocks for cell in block.cells]
        return Contents(self.names, [row[0] for row in rows], texts, [row[2] for row in rows])

    @abstractmethod
    def copy(
        self, output: BinaryIO, added: Mapping[str, Sequence[Any]], blocks: Iterable[Beside]
    ) -> None:
        """Write the table's blocks to a file of the same format, with new cells in each row.

        ``added`` has the new columns, each with values such as it will hold.
        """

    @abstractmethod
    def beside(self, cells: Sequence[Any]) -> Any:
        """Return values, one for each new column, as `copy` takes them for a row."""

    def progress(self) -> tuple[int, int] | None:
        """Return how much of the table was read and how much there is; None if nobody knows."""
        return None


def check_names(existing: Collection[str], added: Iterable[str], place: str) -> None:
    """Raise FileFormatError if a table has a column of the name of a new one."""
    for name in added:
        if name in existing:
            raise FileFormatError(
                f"{place} has a column {quoted(name)} already; rename it, or choose another prefix "
                f"or suffix"
            )


_MAX_COLUMNS_NAMED = 20  # in an error


def column_index(column: str, columns: Sequence[str], name: object) -> int:
    """Return the index of a column; raise FileFormatError if none has this name, or several."""
    if columns.count(column) == 1:
        return columns.index(column)
    if column in columns:
        raise FileFormatError(f"{name}: has several columns {quoted(column)}; rename all but one")
    named = [name for name in columns if name] or [*columns]
    names = ", ".join(map(quoted, named[:_MAX_COLUMNS_NAMED]))
    more = ", ..." if len(named) > _MAX_COLUMNS_NAMED else ""
    raise FileFormatError(
        f"{name}: has no column {quoted(column)}{suggestion(column, named)}; its columns are "
        f"{names}{more}"
    )


# ---- the dialect of CSV -------------------------------------------------------------------

#: Some programs write it before UTF-8 text.
BYTE_ORDER_MARK = "\ufeff"
_WESTERN = "windows-1252"
#: Encodings that escape signs, so that their rows and cells are not those of the file.
_ESCAPING = ("idna", "punycode", "raw-unicode-escape", "unicode-escape")
#: Bytes that are no text of windows-1252; and letters of UTF-8, in which others are damaged.
_NOT_WESTERN = re.compile(
    rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]|[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
)
_SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\r?\n', re.I)  # a first line, by which Excel reads
# Bytes that are read at once, by which a delimiter is guessed, too. More take longer: the garbage
# collection visits older rows again.
_BLOCK = 2**16
_ROWS = 100  # by which a delimiter is guessed


class Dialect(NamedTuple):
    """The delimiter and the encoding of a file of CSV."""

    delimiter: str
    encoding: str = "utf-8"

    def encoded(self, text: str, name: object) -> bytes:
        """Return text in this encoding; raise FileFormatError if that lacks a character of it."""
        data = encoded(text)
        try:
            return data if self.encoding == "utf-8" else data.decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            raise FileFormatError(
                f"{name}: {quoted(error.object[error.start])} cannot be written in "
                f"{self.encoding}, its encoding; save it as UTF-8 before"
            ) from error


def _named_dialect(reading: Reading) -> tuple[str | None, str | None]:
    """Return the delimiter and Python's name of the encoding that are named, or OptionError."""
    sign, encoding = reading.delimiter, reading.encoding
    if sign is not None:
        sign = NAMED_DELIMITERS.get(sign.lower(), "\t" if sign == r"\t" else sign)
        if len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
            raise OptionError(
                f"delimiter: expected one character, or {', '.join(NAMED_DELIMITERS)}, got "
                f"{quoted(sign)}"
            )
    if encoding is not None:
        with suppress(LookupError, ValueError):
            "".encode(encoding)  # some codecs are none of texts
            if (found := codecs.lookup(encoding).name) not in _ESCAPING:
                return sign, found.removesuffix("-sig")
        raise OptionError(
            f"encoding: expected one such as utf-8, {_WESTERN} or utf-16, got {quoted(encoding)}"
        )
    return sign, None


def dialect_of(file: BinaryIO, name: object, usual: str, reading: Reading) -> tuple[Dialect, bytes]:
    """Return how a file of CSV is written, and what had to be read of a stream to guess it.

    A UserWarning tells of another delimiter than the ``usual`` one, or another encoding than UTF-8.
    """
    sign, encoding = _named_dialect(reading)
    begun, guesses = b"", dict[str, str]()
    if is_stream := not file.seekable():  # only its first line is read: the next may take long
        read = getattr(file, "read1", file.read)
        while b"\n" not in begun and len(begun) < _BLOCK and (data := read(_BLOCK)):
            begun += data
    sample = BytesIO(begun) if is_stream else file
    place = sample.tell()
    beginning = sample.read(_BLOCK)
    sample.seek(place)
    encoding = encoding or _guessed_encoding(sample, beginning)
    sample.seek(place)
    if encoding in ("utf-16", "utf-32"):  # as which each text would be written with a mark
        big = beginning.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        encoding += "-be" if big else "-le"
    if sign is None:
        is_all = not is_stream and len(beginning) < _BLOCK
        text = codecs.getincrementaldecoder(encoding)("replace").decode(beginning, is_all)
        named = _SEPARATOR.match(text.removeprefix(BYTE_ORDER_MARK))
        sign, *others = [named[1]] if named else _guessed_delimiters(text, is_all, usual)
        if not named and (sign != usual or others):
            guesses["delimiter"] = f"{sign!r} (or {others[0]!r}?)" if others else repr(sign)
    if reading.encoding is None and encoding != "utf-8":
        guesses["encoding"] = encoding
    if guesses:
        message = f"{name}: read with {' and '.join(guesses.values())}"
        if reading.side is not None:
            options = " and ".join(f"--{reading.side}{guess}" for guess in guesses)
            message += f"; name {'others' if len(guesses) > 1 else 'another'} by {options}"
        warnings.warn(printable(message), stacklevel=5)
    return Dialect(sign, encoding), begun


def _guessed_encoding(file: BinaryIO, beginning: bytes) -> str:
    """Return utf-16 if a mark says so, windows-1252 if all that follows can be it, or utf-8."""
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    place, decode = file.tell(), codecs.getincrementaldecoder("utf-8")().decode
    blocks = partial(iter, partial(file.read, 8 * _BLOCK), b"")
    try:
        for data in blocks():
            decode(data)
    except UnicodeDecodeError:
        file.seek(place)
        return "utf-8" if any(map(_NOT_WESTERN.search, blocks())) else _WESTERN
    return "utf-8"


def _guessed_delimiters(text: str, is_all: bool, usual: str) -> list[str]:
    """Return the delimiters that cut the first rows into the same number of cells, two or more.

    The ``usual`` one goes first, even if there is no other; then the one that makes the most cells.
    """
    lines = StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="\n").readlines()
    if not is_all and len(lines) > 1:
        del lines[-1]  # it may be cut
    cells = dict[str, int]()
    for sign in (usual, *NAMED_DELIMITERS.values()):
        with suppress(csv.Error):
            reader = csv.reader(lines, delimiter=sign, strict=True)
            widths = {len(row) for row in islice(reader, _ROWS) if row}
            if len(widths) == 1 and widths != {1}:
                cells[sign] = widths.pop()
    by_cells = sorted(cells, key=cells.__getitem__)[::-1]
    return sorted(by_cells, key=usual.__ne__) or [usual]


# ---- tables of lines ----------------------------------------------------------------------

MAX_LINE = 2**24  # characters of the longest line that is read
_MAX_NAMES = 1000  # that are kept of JSON Lines, in which each line may have others


class _Lines(Table):
    """A table of lines. Blank ones stay with the row that follows them, or at the end."""

    def __init__(self, name: str, file: BinaryIO, dialect: Dialect, begun: bytes = b"") -> None:
        self.name, self._file, self.dialect, self._begun = name, file, dialect, begun
        self.names, self.blanks = [], []
        blocks = self._parsed()
        self._blocks = chain([next(blocks, [])], blocks)  # the names are known by the first

    @abstractmethod
    def _parsed(self) -> Iterator[list[Row]]:
        """Yield the rows below the header; those that end in the same block of lines together."""

    def _lines(self) -> Iterator[list[str]]:
        """Yield lines as they come in, in blocks. A mark of the byte order is like a blank line."""
        read = getattr(self._file, "read1", self._file.read)  # `read` would wait for a whole block
        encoding, line, text = self.dialect.encoding, 1, ""  # the text that came of this line
        decode = codecs.getincrementaldecoder(encoding)().decode
        for data in chain(filter(None, [self._begun]), iter(partial(read, _BLOCK), b""), [b""]):
            if line == 1 and not text:
                refuse_workbook(data, self.name)
            before = len(text)
            try:
                text += decode(data, not data)
            except UnicodeDecodeError as error:
                text += error.object[: error.start].decode(encoding, "ignore")
                problem = f" is not {encoding.upper()}; name the encoding that it has"
                if encoding == "utf-8":
                    mark = "".join(self.blanks) if line == 1 else ""
                    byte = len((mark + text).rpartition("\n")[2].encode())
                    problem = f": byte {byte} is not UTF-8; save the file so, or name its encoding"
                raise self._error(line + text.count("\n"), problem) from error
            if (zero := text.find("\0", before)) >= 0:
                at = line + text.count("\n", 0, zero)
                encoding = self.dialect.encoding.upper()
                problem = f" holds a zero byte; expected a text in {encoding}, or another encoding"
                raise self._error(at, problem)
            if line == 1 and not self.blanks and text.startswith(BYTE_ORDER_MARK):
                self.blanks.append(BYTE_ORDER_MARK)
                text = text[1:]
            if end := text.rfind("\n", before) + 1:
                lines = StringIO(text[:end], newline="\n").readlines()
                yield lines
                line, text = line + len(lines), text[end:]
            if len(text) > MAX_LINE:
                problem = f" has more than {MAX_LINE} characters; expected a text file of shorter "
                raise self._error(line, f"{problem}lines")
        if text:
            yield [text]

    def _error(self, line: int, problem: str) -> FileFormatError:
        return FileFormatError(f"{self.name}: line {line}{problem}")

    def progress(self) -> tuple[int, int] | None:
        try:
            return self._file.tell(), os.fstat(self._file.fileno()).st_size
        except OSError:  # a pipe, or a stream in memory
            return None

    def copy(
        self, output: BinaryIO, added: Mapping[str, Sequence[Any]], blocks: Iterable[Beside]
    ) -> None:
        self._added = added
        header = [(Block([self.header]), [self.beside([*added])])] if self.header else []
        for block, beside in chain(header, blocks):
            pairs = zip(block.rows, beside, strict=True)
            text = "".join(self._joined(pair for pair in pairs if pair[1] is not None))
            output.write(self.dialect.encoded(text, self.name))
            output.flush()  # a reader of the stream may wait for these rows
        output.write(self.dialect.encoded("".join(self.blanks), self.name))

    @abstractmethod
    def _joined(self, pairs: Iterable[tuple[Row, str]]) -> Iterator[str]:
        """Yield the text of each row with its new cells before the end of the line."""


class Csv(_Lines):
    """A table of CSV or TSV. Its first row names the columns, and all rows have as many cells."""

    _first = 1  # the line of the header, which goes before it where that names the delimiter

    def _parsed(self) -> Iterator[list[Row]]:
        raw, rows = self.blanks, list[Row]()  # raw has the lines of the row that is read, too
        line, width = 1, -1
        came = goal = length = 0  # lines that came, and end a block; characters of a row and more

        def lines() -> Iterator[str]:
            nonlocal came, length
            for some in self._lines():
                if length > MAX_LINE:
                    problem = f"begins a row of more than {MAX_LINE} characters; is a quote left "
                    raise self._error(line, f" {problem}open?")
                came, length = came + len(some), length + sum(map(len, some))
                for one in some:
                    raw.append(one)
                    yield one

        reader = csv.reader(lines(), delimiter=self.dialect.delimiter, strict=True)
        try:
            for cells in reader:
                if not goal:
                    goal, length = came, 0
                if len(cells) == width:
                    rows.append((line, "".join(raw), cells))
                    raw.clear()
                elif not raw[-1].strip(f" \r\n{BYTE_ORDER_MARK}"):
                    pass  # blank
                elif line == 1 and _SEPARATOR.fullmatch(raw[-1]):
                    self._first = 2
                elif self.header is None:
                    self.header, self.names, width = (line, "".join(raw), cells), cells, len(cells)
                    raw.clear()
                else:
                    raise self._error(
                        line,
                        f" has {len(cells)} cell{'s' * (len(cells) != 1)} where line "
                        f"{self.header[0]} has {width}; put a cell that holds "
                        f"{self.dialect.delimiter!r} in quotes, and leave no cell out",
                    )
                line = reader.line_num + 1
                if line > goal:
                    if self.header:
                        yield rows
                    rows, goal = [], 0
        except csv.Error as error:
            raise self._error(line, _csv_problem(str(error))) from error

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:  # noqa: ARG002
        if self.header is None or self.header[0] > self._first:
            raise self._error(1, " is empty; expected the names of the columns")
        index = column_index(column, self.names, self.name)
        for rows in self._blocks:
            yield Block(rows, [row[2][index] for row in rows])

    def beside(self, cells: Sequence[Any]) -> str:
        texts = [as_cell(as_python(cell)) for cell in cells]
        return csv_row(["", *texts], self.dialect.delimiter) if cells else ""

    def _joined(self, pairs: Iterable[tuple[Row, str]]) -> Iterator[str]:
        for (_, raw, _), cells in pairs:
            text = raw.rstrip("\r\n")
            yield text + cells + raw[len(text) :]


def _csv_problem(error: str) -> str:
    """Return what an error of the csv module says of a row, and what to do."""
    if "unexpected end" in error:
        return " opens a quote that is not closed; close it, or double the quotes inside a cell"
    if "field larger" in error:
        limit = csv.field_size_limit()
        return f" has a cell of more than {limit} characters; is a quote left open?"
    if "new-line" in error:
        return " holds a carriage return; lines end in a line feed, with or without one before it"
    return f" is not valid CSV ({error}); double the quotes inside a quoted cell"


def csv_row(cells: Iterable[object], delimiter: str) -> str:
    """Return cells as a row without the end of its line."""
    row = StringIO()
    csv.writer(row, delimiter=delimiter).writerow(cells)
    return row.getvalue().removesuffix("\r\n")


class JsonLines(_Lines):
    """A table of objects, one a line, each with fields of its own."""

    def _parsed(self) -> Iterator[list[Row]]:
        expected, line, known = 'one value on each line, such as {"color": "black"}', 0, set[str]()
        for lines in self._lines():
            rows = list[Row]()
            for raw in lines:
                line += 1
                self.blanks.append(raw)
                if raw.isspace():
                    continue
                content = parse_json(raw, self.name, expected, line)
                rows.append((line, "".join(self.blanks), content))
                self.blanks.clear()
                if len(known) < _MAX_NAMES and isinstance(content, dict):
                    self.names += [name for name in content if name not in known]
                    known.update(content)
            yield rows

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:  # noqa: ARG002
        is_there = None if self.may_be_empty else False
        for rows in self._blocks:
            cells = list[str | None]()
            for line, _, content in rows:
                if not isinstance(content, dict):
                    kind = JSON_TYPES[type(content)]
                    raise self._error(line, f" holds {kind}; expected an object")
                cell = content.get(column)
                if isinstance(cell, dict | list):
                    kind = JSON_TYPES[type(cell)]
                    raise self._error(line, f": {quoted(column)} is {kind}; expected a text")
                is_there = is_there or column in content
                cells.append(cell_text(cell))
            yield Block(rows, cells)
        if is_there is False:
            raise FileFormatError(
                f"{self.name}: no line has a field {quoted(column)}{suggestion(column, self.names)}"
            )

    def contents(self, column: str) -> Contents:
        found = super().contents(column)
        names = [*dict.fromkeys(chain.from_iterable(found.rows))]
        return found._replace(names=names, rows=[[*map(row.get, names)] for row in found.rows])

    def beside(self, cells: Sequence[Any]) -> str:
        fields = dict(zip(self._added, map(as_python, cells), strict=True))
        return as_json(fields)[1:] if fields else ""

    def _joined(self, pairs: Iterable[tuple[Row, str]]) -> Iterator[str]:
        for (line, raw, content), cells in pairs:
            if not content.keys().isdisjoint(self._added):
                check_names(content, self._added, f"{self.name}: line {line}")
            text = raw.rstrip() if cells else ""
            yield text[:-1].rstrip() + ", " * bool(text and content) + cells + raw[len(text) :]


# ---- JSON --------------------------------------------------------------------------------

#: The types of JSON, as messages name them.
JSON_TYPES: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}
JSON_TYPES |= {bool: "a boolean", int: "a number", float: "a number", type(None): "null"}


def _as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Of a key that comes twice, the json module would keep the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise FileFormatError(f"the key {quoted(key)} comes twice in one object; keep one")
    return content


_decode = json.JSONDecoder(object_pairs_hook=_as_dict).decode


def parse_json(text: str, name: object, expected: str, line: int | None = None) -> Any:
    """Return the value of a JSON text; ``line`` is its number if it is a line of the file."""
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        column = error.colno if line is None else min(error.pos, len(text.rstrip("\r\n"))) + 1
        raise FileFormatError(
            f"{name}: line {line or error.lineno}, column {column} is not JSON ({error.msg}); "
            f"expected {expected}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise beyond_limits(f"{name}: line {line}" if line else str(name), error) from error


def beyond_limits(place: str, error: Exception) -> FileFormatError:
    """Return the error for what a parser of Python refused by its limits, or `_as_dict` did."""
    problem = "one of its numbers has too many digits; put it in quotes"  # more than 4,300
    if isinstance(error, RecursionError):
        problem = "is nested too deeply; flatten it"
    return FileFormatError(f"{place}: {error if isinstance(error, FileFormatError) else problem}")


# ---- values as text -----------------------------------------------------------------------

#: Integers from here on are no longer exact as floats in every program.
MAX_EXACT = 10**15
_NOT_ON_A_LINE = re.compile(rf"(?!\t){OBEYED.pattern}")
_NOT_IN_JSON = re.compile(rf"(?!\n){OBEYED.pattern}")  # ends of lines are the json module's own


def as_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON: arrays, tuples and sets as lists, dates and other types as text.

    NaN and infinity become null. What a terminal would obey is escaped.
    """
    text = json.dumps(_json_value(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_line(value: Any) -> str:
    r"""Return text as it is if it fits on one line, and anything else as JSON.

    Text with what a terminal would obey, except for tabs, becomes JSON as well. Dates are written
    in ISO format; NaN and infinity by their names; what JSON lacks, as a decimal number, as text.

    >>> as_line("black"), as_line(260), as_line("two\nlines"), as_line(["roof", None])
    ('black', '260', '"two\\nlines"', '["roof", null]')
    """
    text = _json_value(value)
    plain = value.tolist() if hasattr(value, "tolist") else value
    if text is None and isinstance(plain, float):  # NaN or infinity
        return json.dumps(plain)
    return as_json(text) if not isinstance(text, str) or _NOT_ON_A_LINE.search(text) else text


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: text as it is, None as an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_line(value)


def as_python(value: Any) -> Any:
    """Return a value of a row, which may be a scalar of Arrow, as one of Python."""
    if not hasattr(value, "as_py"):
        return value
    try:
        return value.as_py()
    except ValueError:  # nanoseconds, for which Python has no type
        return str(value.cast("string"))


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
        return {
            key if isinstance(key, str | int | None) else str(key): _json_value(part)
            for key, part in value.items()
        }
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [*map(_json_value, value)]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def encoded(text: str) -> bytes:
    """Return text as UTF-8. Lone surrogates, which UTF-8 lacks, become escapes as in JSON."""
    return text.encode("utf-8", "backslashreplace")
