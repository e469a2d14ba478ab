"""What shells complete: the names of columns and sheets in the files that a command line names.

Only the beginning of a file is read. If anything is wrong with it, nothing is completed, and no
word is said: a line that somebody types is no place for errors.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

_READ = 2**18  # bytes of a text file
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
        from fuzzydict.io.records import Reading
        from fuzzydict.io.tables import open_table

        path, form = self._file(ctx)
        is_only = self is DICT and "dict_sheet" not in ctx.params
        prefix = "" if is_only else self.prefix
        reading: dict[str, Any] = {
            name: ctx.params.get(prefix + name) for name in ("sheet", "delimiter", "encoding")
        }
        if form == "xlsx":
            return _first_row(path, reading["sheet"])
        table = path if form == "parquet" else _beginning(path)
        with open_table(table, Reading(format=form, side=None, **reading)) as opened:
            return [*filter(None, opened.names)]

    def sheets(self, ctx: click.Context) -> list[str]:
        """Return the names of the sheets, if it is a workbook."""
        path, form = self._file(ctx)
        return list(_workbook(path).sheetnames) if form == "xlsx" else []

    def _file(self, ctx: click.Context) -> tuple[Path, str | None]:
        """Return the path, and the format."""
        from fuzzydict.io.tables import table_format

        words: list[str | Path] = []
        for parameter in ctx.command.params:
            if isinstance(parameter, click.Argument):
                given = ctx.params.get(parameter.name or "") or ()
                words += given if isinstance(given, tuple) else [given]
        # click leaves arguments unread where the last option has no value yet.
        path = Path([*words, *ctx.args][self.place]).expanduser()
        form = ctx.params.get(self.form) or table_format(path)
        if not path.is_file():  # to open a pipe would wait for its writer
            raise FileNotFoundError(path)
        return path, form


#: That of a command which reads no table has the options of one.
DICT = Source(0, "format", "dict_")
TABLE = Source(1, "table_format", "")
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
        begin = incomplete.casefold()
        try:
            with warnings.catch_warnings(action="ignore"):
                offered = dict.fromkeys(names(ctx))
                found = [name for name in offered if name.casefold().startswith(begin)]
        except Exception:  # whatever is wrong, a command that runs will say so
            return []
        # A name with the end of a line cannot be typed.
        return [*filter(None, (_as_taken(name) for name in found if name.isprintable()))]

    return complete


def _as_taken(name: str) -> str | None:
    """Return a name as the script of click for a shell takes it; None if it cannot."""
    from click.shell_completion import split_arg_string

    shell = os.environ.get("_FUZZYDICT_COMPLETE", "").partition("_")[0]
    words, place = os.environ.get("COMP_WORDS", ""), os.environ.get("COMP_CWORD", "")
    if shell == "bash":
        if (quote := words.split("\n")[int(place)][:1]) in ("'", '"'):
            special = "'" if quote == "'" else '$`"\\!'  # which the shell would expand
            return None if set(special) & set(name) else name
        escaped = re.sub(r"([^\w@%+=:,./-])", r"\\\1", name)
        return escaped.replace("\\", r"\\")  # of which `read` in the script takes half
    if shell == "fish" and "," in name:  # its script would take the first part
        return None
    # What is offered takes the place of the whole of --option=value.
    typed = split_arg_string(words)  # in which an empty last word is left out
    word = place if shell == "fish" else "".join(typed[int(place) : int(place) + 1])
    option, sign, _ = word.partition("=")
    return f"{option}={name}" if sign and option.startswith("--") else name


def _beginning(path: Path) -> BinaryIO:
    """Return the first lines of a text file."""
    with path.open("rb") as file:
        data = file.read(_READ)
    return BytesIO(data if len(data) < _READ else data[: data.rfind(b"\n") + 1])


def _first_row(path: Path, sheet: str | None) -> list[str]:
    """Return the texts of the first row of a sheet; by default of the first that is shown."""
    from fuzzydict.io.records import cell_text
    from fuzzydict.io.sheets import cell_value

    book = _workbook(path)
    shown = [one for one in book.worksheets if one.sheet_state == "visible"]
    (row,) = (book[sheet] if sheet else shown[0]).iter_rows(max_row=1)
    return [*filter(None, (cell_text(cell_value(cell)) for cell in row))]


def _workbook(path: Path) -> Any:
    """Open a workbook whose parts are so small that they are read at once."""
    from zipfile import ZipFile

    from openpyxl import load_workbook

    with ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if "/worksheets/" not in part.filename]
    if max(part.file_size for part in parts) > _MOST:
        raise ValueError("too large to be read in a moment")
    return load_workbook(path, read_only=True, data_only=True)
