"""Tables in files: CSV, TSV, JSON Lines, Parquet and sheets of .xlsx workbooks.

`open_table` opens a `Table`. Its rows come in blocks, with their cells of one column, so that
memory does not grow with the table. The blocks are copied with new cells beside each row; all else
stays as it is written. Parquet is read by pyarrow and .xlsx by openpyxl, which may be missing.
"""

from __future__ import annotations

import codecs
import csv
import math
import os
import re
import stat
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from io import BytesIO, StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias
from zipfile import ZipFile

import numpy as np

from fuzzydict._files import open_to_read
from fuzzydict.errors import (
    FileFormatError,
    FuzzyDictError,
    OptionError,
    needing,
    printable,
    quoted,
)
from fuzzydict.io.values import (
    JSON_TYPES,
    MAX_EXACT,
    as_cell,
    as_json,
    as_python,
    cell_text,
    encoded,
    parse_json,
)
from fuzzydict.mapping import suggestion

#: The formats of lines, of tables, and of tables that are read from any place in a file.
ROW_FORMATS = ("csv", "tsv", "jsonl")
TABLES = (*ROW_FORMATS, "parquet", "xlsx")
FILES_ONLY = ("parquet", "xlsx")
#: All formats by the ending of a file's name.
ENDINGS = {f".{name}": name for name in ("json", "toml", "yaml", *TABLES, "fuzzydict")} | {
    ".yml": "yaml",
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".pq": "parquet",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
#: Delimiters by their names; any other character stands for itself.
NAMED_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


# ---- files and their formats --------------------------------------------------------------


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
                raise OptionError(
                    f"{option}: {name} is {form}, and only CSV and TSV have one to choose"
                )


def format_by_ending(path: Path, formats: Iterable[str] = TABLES) -> str | None:
    """Return the format that a file's ending names, if it is one of ``formats``, else None."""
    form = ENDINGS.get(path.suffix.lower(), "")
    return form if form in formats else None


def checked_format(table: Path | BinaryIO, format: str | None) -> str:  # noqa: A002
    """Return the one of `TABLES` that is given, or that a file's ending names, or OptionError."""
    form = format or (format_by_ending(table) if isinstance(table, Path) else None)
    if form not in TABLES:
        raise OptionError(
            f"{_name_of(table)}: expected a table of format {', '.join(TABLES)}; name the format"
        )
    return form


def check_output(output: Path, table: Path, form: str) -> None:
    """Check that the ending of an output file is that of a format, or of a text, or the table's."""
    named, ending = format_by_ending(output), output.suffix.lower()
    if named != form and (named or ending not in ("", ".txt", table.suffix.lower())):
        raise OptionError(
            f"{output} would hold {form}, but its ending says otherwise; end it in .{form}"
        )


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

    FileFormatError says that it is not of its format, or has changed while it was read; OptionError
    that the format is unknown, or has no sheet, delimiter or encoding such as is named;
    MissingExtraError that pyarrow or openpyxl, which read Parquet and .xlsx, is not installed.
    """
    form, name = checked_format(table, reading.format), str(name or _name_of(table))
    reading.check(name, form)
    with open_to_read(table) if isinstance(table, Path) else nullcontext(table) as file:
        before = _state(file)
        match form:
            case "jsonl":
                yield _JsonLines(name, file)
            case "parquet":
                arrow = _pyarrow()
                kinds = arrow.ArrowException, ArithmeticError, OSError, ValueError
                with _reading(name, "a Parquet file", kinds):
                    yield _Parquet(name, file, arrow)
            case "xlsx":
                yield _Sheet(name, file, reading.sheet)
            case _:
                yield _Csv(name, file, DELIMITERS[form], reading)
        if _state(file) != before:
            raise FileFormatError(f"{name} has changed while it was read; start again")


def _name_of(table: Path | BinaryIO) -> str:
    return str(table) if isinstance(table, Path) else str(getattr(table, "name", "the stream"))


def _state(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and the time of a file on a disk, by which a change can be told."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # a stream in memory
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _reading(
    name: str, what: str = "an .xlsx workbook", kinds: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Report what a library cannot read or write; errors of the disk pass through.

    For a workbook, zipfile, the parser of XML, openpyxl and Pillow raise many kinds.
    """
    try:
        yield
    except (FuzzyDictError, MemoryError):
        raise
    except kinds as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        damage = f"{name} is damaged, or not {what}: {error}"
        raise FileFormatError(f"{damage}; save it again") from error


# ---- what a table is ----------------------------------------------------------------------

#: A row that is not blank: the number of its first line, from 1; in a table of lines its text, and
#: blank lines before it; and its cells, or in JSON Lines any value.
Row: TypeAlias = tuple[int, str, Any]


class Block(NamedTuple):
    """Rows that follow each other, and their cells of a column."""

    rows: Any  # a list of `Row`; of Parquet what `write` takes
    cells: Sequence[str | None] = ()  # None if empty
    counts: list[int] | None = None  # if each cell is listed once, how many rows have it


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

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        """Copy the table to a file of the same format: the blocks that `write` gets in between.

        ``added`` has the new columns, each with values such as it will hold.
        """
        check_names(self.names, added, self.name)
        self._output, self._added = output, added
        yield

    @abstractmethod
    def beside(self, cells: Sequence[Any]) -> Any:
        """Return values, one for each new column, as they are written beside a row."""

    @abstractmethod
    def write(self, block: Block, beside: list[Any]) -> None:
        """Write a block, with what goes beside each of its cells; None leaves the row out."""

    def progress(self) -> tuple[int, int] | None:
        """Return how much of the table was read and how much there is; None if nobody knows."""
        return None


def check_names(existing: Iterable[str], added: Iterable[str], place: str) -> None:
    """Raise FileFormatError if a table has a column of the name of a new one."""
    taken = set(existing)
    for name in filter(taken.__contains__, added):
        raise FileFormatError(
            f"{place} has a column {quoted(name)} already; rename it, or choose another prefix or "
            f"suffix"
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


def counted_cells(cells: Sequence[Any]) -> str:
    """Return how many cells a row has, as messages tell it."""
    return "1 cell" if len(cells) == 1 else f"{len(cells)} cells"


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


def _dialect_of(
    file: BinaryIO, name: object, usual: str, reading: Reading
) -> tuple[Dialect, bytes]:
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
        sign, *others = _guessed_delimiters(text, is_all, usual)
        if sign != usual or others:
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

    def __init__(self, name: str, file: BinaryIO, dialect: Dialect) -> None:
        self.name, self._file, self.dialect, self.names, self.blanks = name, file, dialect, [], []

    def _lines(self, begun: bytes = b"") -> Iterator[list[str]]:
        """Yield lines as they come in, in blocks; ``begun`` was read of a stream before.

        A mark of the byte order is like a blank line.
        """
        read = getattr(self._file, "read1", self._file.read)  # `read` would wait for a whole block
        decode = codecs.getincrementaldecoder(self.dialect.encoding)().decode
        line, text = 1, ""  # the number of the line that is being read, and what came of it
        for data in chain([begun] if begun else [], iter(partial(read, _BLOCK), b""), [b""]):
            before = len(text)
            try:
                text += decode(data, not data)
            except UnicodeDecodeError as error:
                raise self._undecoded(line, text, error) from error
            if (zero := text.find("\0", before)) >= 0:
                at = line + text.count("\n", 0, zero)
                raise self._error(at, " holds a zero byte; expected a text file, in UTF-8")
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

    def _undecoded(self, line: int, text: str, error: UnicodeDecodeError) -> FileFormatError:
        encoding, mark = self.dialect.encoding, "".join(self.blanks) if line == 1 else ""
        text = mark + text + error.object[: error.start].decode(encoding, "ignore")
        problem = f" is not {encoding.upper()}; name the encoding that it has"
        if encoding == "utf-8":
            byte = len(text.rpartition("\n")[2].encode())
            problem = f": byte {byte} is not UTF-8; save the file as UTF-8"
        return self._error(line + text.count("\n"), problem)

    def _error(self, line: int, problem: str) -> FileFormatError:
        return FileFormatError(f"{self.name}: line {line}{problem}")

    def progress(self) -> tuple[int, int] | None:
        try:
            return self._file.tell(), os.fstat(self._file.fileno()).st_size
        except OSError:  # a pipe, or a stream in memory
            return None

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        with super().copying(output, added):
            if self.header:
                self.write(Block([self.header]), [self.beside([*added])])
            yield
        self._write(self.blanks)

    def _write(self, parts: Iterable[str]) -> None:
        self._output.write(self.dialect.encoded("".join(parts), self.name))
        self._output.flush()  # a reader of the stream may wait for these rows


class _Csv(_Lines):
    """A table of CSV or TSV, whose first line names the columns.

    All rows have as many cells as the first that is not blank.
    """

    def __init__(self, name: str, file: BinaryIO, usual: str, reading: Reading) -> None:
        dialect, begun = _dialect_of(file, name, usual, reading)
        super().__init__(name, file, dialect)
        blocks = self._parsed(begun)
        self._blocks = chain([next(blocks, [])], blocks)

    def _parsed(self, begun: bytes) -> Iterator[list[Row]]:
        """Yield the rows below the header; those that end in the same block of lines together."""
        raw, rows = self.blanks, list[Row]()  # raw has the lines of the row that is read, too
        line, width = 1, -1
        came = goal = length = 0  # lines that came, and end a block; characters of a row and more

        def lines() -> Iterator[str]:
            nonlocal came, length
            for some in self._lines(begun):
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
                elif self.header is None:
                    self.header, self.names, width = (line, "".join(raw), cells), cells, len(cells)
                    raw.clear()
                else:
                    raise self._error(
                        line,
                        f" has {counted_cells(cells)} where line {self.header[0]} has {width}; put "
                        f"a cell that holds {self.dialect.delimiter!r} in quotes, and leave no "
                        f"cell out",
                    )
                line = reader.line_num + 1
                if line > goal:
                    if self.header:
                        yield rows
                    rows, goal = [], 0
        except csv.Error as error:
            raise self._error(line, _csv_problem(str(error))) from error

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:  # noqa: ARG002
        if self.header is None or self.header[0] > 1:
            raise self._error(1, " is empty; expected the names of the columns")
        index = column_index(column, self.names, self.name)
        for rows in self._blocks:
            yield Block(rows, [row[2][index] for row in rows])

    def beside(self, cells: Sequence[Any]) -> str:
        texts = [as_cell(as_python(cell)) for cell in cells]
        return csv_row(["", *texts], self.dialect.delimiter) if cells else ""

    def write(self, block: Block, beside: list[str | None]) -> None:
        parts = list[str]()
        for (_, raw, _), added in zip(block.rows, beside, strict=True):
            if added is not None:
                row = raw.rstrip("\r\n")
                parts += row, added, raw[len(row) :]
        self._write(parts)


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


class _JsonLines(_Lines):
    """A table of objects, one a line, each with fields of its own."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        super().__init__(name, file, Dialect(""))
        blocks = self._parsed()
        self._blocks = chain([next(blocks, [])], blocks)

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

    def write(self, block: Block, beside: list[str | None]) -> None:
        parts = list[str]()
        for (line, raw, content), added in zip(block.rows, beside, strict=True):
            if not content.keys().isdisjoint(self._added):
                check_names(content, self._added, f"{self.name}: line {line}")
            if added:
                text = raw.rstrip()
                parts += text[:-1].rstrip(), ", " * bool(content), added, raw[len(text) :]
            elif added is not None:
                parts.append(raw)
        self._write(parts)


# ---- Parquet ------------------------------------------------------------------------------

_PARQUET_ROWS = 16_384  # that are read at once
#: Of a block, which becomes a row group; it ends when it has so many rows, or so many bytes.
_GROUP_ROWS, _GROUP_BYTES = 16 * _PARQUET_ROWS, 2**24


def _pyarrow() -> Any:
    """Return the module pyarrow, with its parts that read Parquet."""
    with needing("Parquet needs pyarrow", "pyarrow"):
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    return pyarrow


class _Parquet(Table):
    """A Parquet file. A block has each of its different cells once.

    Its rows are a batch of Arrow, and the place of each row's cell among the cells.
    """

    def __init__(self, name: str, file: BinaryIO, arrow: Any) -> None:
        self.name, self._arrow, self._file, self._done = name, arrow, file, 0
        self._table = arrow.parquet.ParquetFile(file)
        self.names = self._table.schema_arrow.names

    def count(self) -> int:
        return int(self._table.metadata.num_rows)

    def progress(self) -> tuple[int, int] | None:
        return self._done, self.count()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:
        column_index(column, self.names, self.name)
        kind, types = self._table.schema_arrow.field(column).type, self._arrow.types
        kind = getattr(kind, "storage_type", kind)
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_nested(kind) or "binary" in str(kind):
            raise FileFormatError(
                f"{self.name}: the column {quoted(column)} is of type {kind}; expected texts"
            )
        return self._counted(column) if alone else self._with_rows(column)

    def _counted(self, column: str) -> Iterator[Block]:
        """Yield the cells of a column. However often a text comes, it is unpacked once."""
        table = self._arrow.parquet.ParquetFile(self._file, read_dictionary=[column])
        for batch in table.iter_batches(_PARQUET_ROWS, columns=[column], use_threads=False):
            found = self._arrow.compute.value_counts(self._texts(batch.column(0)))
            yield Block(None, *(part.to_pylist() for part in found.flatten()))

    def _with_rows(self, column: str) -> Iterator[Block]:
        """Yield the rows, as many together as a row group has."""
        arrow, some = self._arrow, list[Any]()
        for batch in chain(self._table.iter_batches(_PARQUET_ROWS, use_threads=False), [None]):
            rows, size = (sum(getattr(one, of) for one in some) for of in ("num_rows", "nbytes"))
            if some and (batch is None or rows >= _GROUP_ROWS or size >= _GROUP_BYTES):
                (joined,) = arrow.Table.from_batches(some).combine_chunks().to_batches()
                cells = self._texts(joined[column])
                if arrow.types.is_dictionary(cells.type):
                    cells = cells.dictionary_decode()
                cells = cells.dictionary_encode("encode")
                counts = np.bincount(cells.indices, minlength=len(cells.dictionary)).tolist()
                self._done += rows
                yield Block((joined, cells.indices), cells.dictionary.to_pylist(), counts)
                some = []
            some.append(batch)

    def _texts(self, column: Any) -> Any:
        """Return an array as one of texts, or of places in a dictionary of texts."""
        types, is_dictionary = self._arrow.types, self._arrow.types.is_dictionary(column.type)
        kind = column.type.value_type if is_dictionary else column.type
        if types.is_string(kind) or types.is_large_string(kind):
            return column
        cells = map(as_python, column.dictionary_decode() if is_dictionary else column)
        return self._arrow.array(map(cell_text, cells), self._arrow.string())

    def contents(self, column: str) -> Contents:
        texts, rows = list[str | None](), list[list[Any]]()
        for (batch, places), cells, _ in self.blocks(column):
            texts += [cells[place] for place in places.to_pylist()]
            rows += map(list, zip(*batch.columns, strict=True))
        return Contents(self.names, range(1, len(rows) + 1), texts, rows)

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        self._types, schema = [*map(self._type_of, added.values())], self._table.schema_arrow
        for field in map(self._arrow.field, added, self._types):
            schema = schema.append(field)
        with super().copying(output, added):
            options = {"compression": self._compression()}
            with self._arrow.parquet.ParquetWriter(output, schema, **options) as self._writer:
                yield

    def _compression(self) -> str:
        """Return that of the first column, if there are rows.

        One is read first: where a column's description is damaged, that raises an error, while
        pyarrow ends the process when it is asked for the description alone.
        """
        groups = range(min(self._table.num_row_groups, 1))
        if next(self._table.iter_batches(_PARQUET_ROWS, row_groups=groups), None) is None:
            return "snappy"
        found: str = self._table.metadata.row_group(0).column(0).compression
        return found.lower().replace("uncompressed", "none")

    def _type_of(self, values: Sequence[Any]) -> Any:
        """Return the type of a new column: text, if its values have no type in common."""
        arrow = self._arrow
        if values and isinstance(values[0], arrow.Scalar):  # of a column, which has one type
            return values[0].type
        with suppress(arrow.ArrowException, ArithmeticError, TypeError, ValueError):
            if not arrow.types.is_null(found := arrow.array(values).type):
                return found
        return arrow.string()

    def beside(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values as columns of these types take them."""

        def of_type(cell: Any, kind: Any) -> Any:
            if isinstance(cell, self._arrow.Scalar):
                return cell if cell.is_valid else None
            is_text = cell is not None and self._arrow.types.is_string(kind)
            return encoded(as_cell(cell)).decode() if is_text else cell

        return tuple(map(of_type, cells, self._types))

    def write(self, block: Block, beside: list[tuple[Any, ...] | None]) -> None:
        """Write the block as a row group."""
        arrow, (batch, places) = self._arrow, block.rows
        if None in beside:
            kept = arrow.array([cells is not None for cells in beside]).take(places)
            batch, places = batch.filter(kept), places.filter(kept)
        added = [
            arrow.array([cells and cells[part] for cells in beside], kind).take(places)
            for part, kind in enumerate(self._types)
        ]
        rows = arrow.record_batch([*batch.columns, *added], schema=self._writer.schema)
        self._writer.write_batch(rows, max(1, rows.num_rows))


# ---- sheets of .xlsx workbooks --------------------------------------------------------------

# The first row of a sheet names its columns. Cells that are merged downwards have the value of the
# first; formulas have the values that the program computed that saved the file. Workbooks are read
# as a whole by openpyxl, so what they may hold is bounded before.

_MAX_BYTES = 2**28  # of a workbook's parts, unpacked
_MAX_TAGS = 2**24  # in its sheets and the texts in them; a cell has four
_MAX_OTHER_TAGS = 2**19  # in the other parts: styles, names, comments ...
_MAX_CELLS = 2**22  # of a sheet, and of merged cells and links
_MAX_ROWS, _MAX_COLUMNS = 2**20, 2**14
_MAX_TEXT = 32_767  # characters of a cell
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LITERAL = re.compile(r'"[^"]*"|\\.|\[\$[^]]*]')  # in the format of a number
#: What openpyxl repeats for each cell of a range.
_RANGE = re.compile(rb"<(?:\w+:)?(?:mergeCell|hyperlink)\s[^<>]*?\bref\s*=\s*[\"']([^\"'<>]*)")


class _Archive(ZipFile):
    """The parts of a workbook, of which none is too large; all may be read twice at most.

    Many sheets may name one part.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__(file)
        self.problem = FileFormatError(
            f"{name} holds more than is read of a workbook ({_MAX_BYTES} bytes when unpacked, "
            f"{_MAX_TAGS} tags in its sheets and {_MAX_OTHER_TAGS} elsewhere, {_MAX_CELLS} merged "
            f"cells); save the table as CSV or Parquet"
        )
        size = sum(part.file_size for part in self.infolist())
        if size > _MAX_BYTES:
            raise self.problem
        self.left = 3 * size + 2**16  # bytes; the check below reads them, too
        tags, cells = {True: 0, False: 0}, 0  # tags in the cells and their texts, or elsewhere
        for part in self.namelist():
            data = self.read(part)
            if not part.lower().endswith((".xml", ".rels", ".vml")):
                continue
            if b"\0" in data:
                raise FileFormatError(f"{name}: {part} is not in UTF-8; save it again")
            if b"<!DOCTYPE" in data:
                raise FileFormatError(f"{name}: {part} defines a type, as no workbook does")
            tags["/worksheets/" in part or part.endswith("sharedStrings.xml")] += data.count(b"<")
            cells += sum(map(_cells_in, _RANGE.findall(data)))
            if tags[True] > _MAX_TAGS or tags[False] > _MAX_OTHER_TAGS or cells > _MAX_CELLS:
                raise self.problem

    def open(self, name: Any, *given: Any, **options: Any) -> Any:
        self.left -= self.getinfo(getattr(name, "filename", name)).file_size
        if self.left < 0:
            raise EOFError
        return super().open(name, *given, **options)


def _cells_in(reference: bytes) -> int:
    """Return how many cells a range has."""
    from openpyxl.utils import range_boundaries

    try:
        left, top, right, bottom = range_boundaries(reference.decode())
        return int((right - left + 1) * (bottom - top + 1))
    except (TypeError, ValueError):  # as of a whole column
        return _MAX_CELLS + 1 if b":" in reference else 0


def _load(file: BinaryIO, name: str, **options: bool) -> Any:
    """Read a workbook."""
    from openpyxl.drawing.image import PILImage
    from openpyxl.reader.excel import ExcelReader

    file.seek(0)
    with _Archive(file, name) as archive:
        if not PILImage and any(part.startswith("xl/media/") for part in archive.namelist()):
            told = "pictures will be lost, as Pillow is not installed; install it with: pip install"
            warnings.warn(f"{told} pillow", stacklevel=2)  # openpyxl drops them without a word
        reader = ExcelReader(file, **options)
        reader.archive = archive
        try:
            reader.read()
        except EOFError:
            raise (archive.problem if archive.left < 0 else EOFError) from None
    return reader.wb


class _Sheet(Table):
    """A sheet of a workbook, by default the first that is not hidden. It is one block."""

    def __init__(self, name: str, file: BinaryIO, sheet: str | None) -> None:
        self.name = name
        if file.read(len(OLE)) == OLE:
            raise FileFormatError(
                f"{name}: is an old .xls workbook, or encrypted; save it as .xlsx, without a "
                f"password"
            )
        with needing("An .xlsx workbook needs openpyxl", "openpyxl"):
            import openpyxl  # noqa: F401
        with warnings.catch_warnings(record=True) as caught, _reading(name):
            warnings.simplefilter("always")
            self._book = _load(file, name, rich_text=True)
        for text in dict.fromkeys(str(one.message) for one in caught):
            if any(word in text for word in ("dropped", "lost", "removed")):
                warnings.warn(printable(f"{name}: {text}"), stacklevel=4)
        self._sheet = _sheet_of(self._book, name, sheet)
        self._place = f"{name}: sheet {quoted(self._sheet.title)}"
        height, width = self._sheet.max_row, self._sheet.max_column
        if height > _MAX_ROWS or height * width > _MAX_CELLS:
            raise FileFormatError(
                f"{self._place} has cells in {height} rows and {width} columns, more than "
                f"{_MAX_ROWS} rows or {_MAX_CELLS} cells in all; save the table as CSV or Parquet"
            )
        with warnings.catch_warnings(action="ignore"), _reading(name):
            self._values = self._read(file)
        self.header = 1, "", self._values[0] if self._values else []
        self.names = [cell_text(value) or "" for value in self.header[2]]
        if not any(self.names):
            raise FileFormatError(
                f"{self._place}: row 1 is empty; expected the names of the columns"
            )
        rows = enumerate(self._values[1:], 2)
        self._blocks = iter([[(at, "", row) for at, row in rows if row.count(None) < len(row)]])

    def _read(self, file: BinaryIO) -> list[list[Any]]:
        """Return the values of all cells, up to the last column that has one."""
        cells = [cell for row in self._sheet.iter_rows() for cell in row if cell.value is not None]
        formulas = [cell for cell in cells if cell.data_type == "f"]
        self._shown = self._sheet  # with the computed values
        if formulas:
            self._shown = _load(file, self.name, data_only=True)[self._sheet.title]
        #: The first formula without a computed value in each column.
        self._unknown = dict[int, str]()
        for cell in formulas:
            computed = self._shown.cell(cell.row, cell.column)
            if computed.value is None and computed.data_type == "n":  # "" is a text
                self._unknown.setdefault(cell.column - 1, cell.coordinate)
        rows = [[cell_value(cell) for cell in row] for row in self._shown.iter_rows()]
        used: list[tuple[int, str]] = [(cell.column, cell.coordinate) for cell in cells]
        for merged in self._sheet.merged_cells.ranges:
            if merged.min_row == 1 and merged.max_row > 1:
                raise FileFormatError(
                    f"{self._place}: {merged.coord} is merged; expected the names of the columns "
                    f"in row 1, and the first row of the table in row 2"
                )
            used.append((merged.max_col, merged.coord))
            for row in rows[merged.min_row : merged.max_row]:
                row[merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
        #: The last column in which anything is, or is merged, and the cells there.
        self._width, self._last = max(used, default=(0, ""))
        ends = (end for row in rows for end, value in enumerate(row, 1) if value is not None)
        width = max(ends, default=0)
        return [row[:width] for row in rows]

    def _check_formulas(self, columns: Iterable[int]) -> None:
        """Check that the program that saved the file has computed all formulas in some columns."""
        for cell in filter(None, map(self._unknown.get, columns)):
            raise FileFormatError(
                f"{self.name}: the file has no value of the formula in {cell}; open it in a "
                f"spreadsheet program and save it again"
            )

    def rows(self) -> Iterator[Row]:
        self._check_formulas(range(len(self.names)))
        return super().rows()

    def blocks(self, column: str, *, alone: bool = False) -> Iterator[Block]:  # noqa: ARG002
        index = column_index(column, self.names, self.name)
        self._check_formulas([index])
        for rows in self._blocks:
            yield Block(rows, [cell_text(cells[index]) for *_, cells in rows])

    def contents(self, column: str) -> Contents:
        """Return the columns that have names."""
        _, lines, texts, rows = super().contents(column)
        named = [place for place, name in enumerate(self.names) if name]
        self._check_formulas(named)
        names = [self.names[place] for place in named]
        return Contents(names, lines, texts, [[row[place] for place in named] for row in rows])

    @contextmanager
    def copying(self, output: BinaryIO, added: Mapping[str, Sequence[Any]]) -> Iterator[None]:
        self._written: list[tuple[int, Sequence[Any] | None]] = [(1, [*added])]
        with super().copying(output, added):
            yield
        if self._width + len(added) > _MAX_COLUMNS:
            raise FileFormatError(
                f"{self._place} has no room for new columns right of {self._last}; clear or "
                f"unmerge that, or save the table as CSV"
            )
        kept = [(line, cells) for line, cells in self._written if cells is not None]
        with _reading(self.name):
            if len(kept) < len(self._written):
                kept = self._leave(kept)
            for line, cells in kept:
                for column, value in enumerate(cells, self._width + 1):
                    if value is not None:
                        self._set(self._sheet.cell(line, column), _for_cell(value))
            self._book.save(output)

    def beside(self, cells: Sequence[Any]) -> Sequence[Any]:
        return [*map(as_python, cells)]

    def write(self, block: Block, beside: list[Sequence[Any] | None]) -> None:
        """Keep the rows, which are written at the end."""
        self._written += zip((line for line, *_ in block.rows), beside, strict=True)

    def _leave(self, rows: list[tuple[int, Sequence[Any]]]) -> list[tuple[int, Sequence[Any]]]:
        """Go on with a new workbook that has some rows of the sheet, as values.

        Rows are not deleted in the old one: openpyxl does not move what formulas refer to.
        """
        from openpyxl import Workbook

        self._check_formulas(range(self._width))
        title = self._sheet.title
        if others := [name for name in self._book.sheetnames if name != title]:
            names = ", ".join(map(quoted, others))
            warnings.warn(
                f"{self.name}: only rows of sheet {quoted(title)} are written, as values; not its "
                f"formulas and formats, nor {names}",
                stacklevel=4,
            )
        self._book = Workbook()
        self._sheet = self._book.active
        self._sheet.title = title
        for number, (line, _) in enumerate(rows, 1):
            for column, value in enumerate(self._values[line - 1], 1):
                shown, cell = self._shown.cell(line, column), self._sheet.cell(number, column)
                self._set(cell, value)
                if shown.data_type == "e":
                    cell.value, cell.data_type = shown.value, "e"
                if shown.value is not None:
                    cell.number_format = shown.number_format
        return [(number, added) for number, (_, added) in enumerate(rows, 1)]

    def _set(self, cell: Any, value: Any) -> None:
        """Give a cell its value; a text stays one, whatever it begins with."""
        cell.value = value
        if isinstance(value, str):
            if len(value) > _MAX_TEXT:
                raise FileFormatError(
                    f"{self.name}: {cell.coordinate} would have a text of {len(value)} characters, "
                    f"and a cell can have {_MAX_TEXT}; save the table as CSV"
                )
            cell.data_type = "s"  # openpyxl takes "=..." for a formula


def _sheet_of(book: Any, name: str, sheet: str | None) -> Any:
    titles = {one.title: one for one in book.worksheets}
    if sheet in titles:
        return titles[sheet]
    if sheet is not None:
        raise OptionError(
            f"{name}: has no sheet {quoted(sheet)}{suggestion(sheet, titles)}; its sheets are "
            f"{', '.join(map(quoted, titles))}"
        )
    if not titles:
        raise FileFormatError(f"{name}: has no sheet of cells")
    shown = [one for one in book.worksheets if one.sheet_state == "visible"]
    return (shown or book.worksheets)[0]


def cell_value(cell: Any) -> Any:
    """Return the value of a cell; None if it is empty, or holds an error such as #N/A."""
    value = None if cell.data_type == "e" else cell.value
    if isinstance(value, datetime) and value.time() == time():
        shown = _LITERAL.sub("", cell.number_format.lower())
        return value if "h" in shown or "s" in shown else value.date()
    return str(value) if isinstance(value, str | list) else value  # text in several fonts


def _for_cell(value: Any) -> Any:
    """Return a value as a cell can hold it: numbers, dates, times and durations, or a text."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, Decimal) and value.is_finite() and Decimal(repr(float(value))) == value:
        value = float(value)
    if isinstance(value, bool) or (type(value) is int and abs(value) < MAX_EXACT):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, date | time | timedelta) and getattr(value, "tzinfo", None) is None:
        return value
    text = encoded(as_cell(value)).decode()
    return ILLEGAL_CHARACTERS_RE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
