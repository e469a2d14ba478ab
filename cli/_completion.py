"""What shells complete: the names of columns and sheets in the files that a command line names.

Only the beginning of a file is read. If anything is wrong with it, nothing is completed, and no
word is said: a line that somebody types is no place for errors.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

__all__ = ["DICT", "LEFT", "RIGHT", "TABLE", "columns_of", "sheets_of", "sheets_of_table"]

_READ = 2**18  # bytes of a text file
_LINES = 100  # of JSON Lines
_MOST = 2**22  # bytes of what is read of a workbook before its first row
#: What completes the value of an option.
Completion = Callable[[click.Context, click.Parameter, str], list[str]]


class Source(NamedTuple):
    """A file that a command reads.

    Attributes:
        place: its place among the arguments.
        form: the parameter that names its format.
        prefix: of the parameters that name its sheet, delimiter and encoding, if there are such.
    """

    place: int
    form: str
    prefix: str

    def columns(self, ctx: click.Context) -> list[str]:
        """Return the names of the columns."""
        is_only = self is DICT and "dict_sheet" not in ctx.params
        prefix = "" if is_only else self.prefix
        reading = (ctx.params.get(prefix + name) for name in ("sheet", "delimiter", "encoding"))
        with self._opened(ctx) as (form, file):
            return _columns(form, file, *reading)

    def sheets(self, ctx: click.Context) -> list[str]:
        """Return the names of the sheets, if it is a workbook."""
        with self._opened(ctx) as (form, file):
            return _workbook(file).sheetnames if form == "xlsx" else []

    @contextmanager
    def _opened(self, ctx: click.Context) -> Iterator[tuple[str | None, BinaryIO]]:
        from fuzzydict.io.records import format_by_ending
        from fuzzydict.io.tables import TABLES

        path = _files(ctx)[self.place]
        if not path.is_file():  # to open a pipe would wait for its writer
            raise FileNotFoundError(path)
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            yield ctx.params.get(self.form) or format_by_ending(path, TABLES), file


#: That of a command which reads no table has the options of one.
DICT = Source(0, "format", "dict_")
TABLE = Source(1, "form", "")
LEFT = Source(0, "left_format", "left_")
RIGHT = Source(1, "right_format", "right_")


def columns_of(*sources: Source) -> Completion:
    """Return what completes the name of a column, which all of some files must have."""

    def names(ctx: click.Context) -> list[str]:
        first, *others = (source.columns(ctx) for source in sources)
        return [name for name in first if all(name in columns for columns in others)]

    return _completing(names)


def sheets_of(source: Source) -> Completion:
    """Return what completes the name of a sheet."""
    return _completing(source.sheets)


def sheets_of_table(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a sheet of the table, or of DICT in a command that reads no table."""
    reads_table = any(parameter.name == "dict_sheet" for parameter in ctx.command.params)
    return sheets_of(TABLE if reads_table else DICT)(ctx, option, incomplete)


def _completing(names: Callable[[click.Context], list[str]]) -> Completion:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        try:
            found = [name for name in dict.fromkeys(names(ctx)) if _completes(name, incomplete)]
        except Exception:  # whatever is wrong, a command that runs will say so
            return []
        return found

    return complete


def _completes(name: str, incomplete: str) -> bool:
    # A name with the end of a line cannot be typed.
    return name.isprintable() and name.casefold().startswith(incomplete.casefold())


def _files(ctx: click.Context) -> list[Path]:
    """Return the arguments of a command, of which some may be missing."""
    words: list[str | Path] = []
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument) and parameter.name in ctx.params:
            given = ctx.params[parameter.name] or ()
            words += given if isinstance(given, tuple) else [given]
    # click leaves arguments unread where the last option has no value yet.
    return [Path(word).expanduser() for word in [*words, *ctx.args]]


def _columns(
    form: str | None,
    file: BinaryIO,
    sheet: str | None,
    delimiter: str | None,
    encoding: str | None,
) -> list[str]:
    """Return the names of the columns of a table."""
    from fuzzydict.io.records import DELIMITERS, Reading, csv_table

    if form in DELIMITERS:
        reading = Reading(delimiter=delimiter, encoding=encoding)
        header = csv_table(BytesIO(_beginning(file)), "", DELIMITERS[form], reading).header
        return [] if header is None else header.content
    if form == "jsonl":
        return [*_fields(_beginning(file))]
    if form == "parquet":
        from pyarrow.parquet import read_schema

        return list(read_schema(file).names)
    if form == "xlsx":
        from fuzzydict.io.records import cell_text
        from fuzzydict.io.sheets import cell_value

        book = _workbook(file)
        shown = [one for one in book.worksheets if one.sheet_state == "visible"]
        (row,) = (book[sheet] if sheet else shown[0]).iter_rows(max_row=1)
        return [*filter(None, (cell_text(cell_value(cell)) for cell in row))]
    return []


def _workbook(file: BinaryIO) -> Any:
    """Open a workbook whose parts are so small that they are read at once."""
    from zipfile import ZipFile

    from openpyxl import load_workbook

    with ZipFile(file) as archive:
        parts = [part for part in archive.infolist() if "/worksheets/" not in part.filename]
    if max(part.file_size for part in parts) > _MOST:
        raise ValueError("too large to be read in a moment")
    return load_workbook(file, read_only=True, data_only=True)


def _beginning(file: BinaryIO) -> bytes:
    """Return the first lines of a text file."""
    data = file.read(_READ)
    return data if len(data) < _READ else data[: data.rfind(b"\n") + 1]


def _fields(text: bytes) -> Iterator[str]:
    """Yield the fields of the first lines of JSON Lines."""
    for line in text.removeprefix(b"\xef\xbb\xbf").splitlines()[:_LINES]:
        try:
            content = json.loads(line or b"{}")
        except ValueError:
            return
        if isinstance(content, dict):
            yield from content
