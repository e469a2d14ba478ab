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
from typing import Any

import click

_READ = 2**18  # bytes of a text file
_MOST = 2**22  # bytes of what is read of a workbook before its first row
#: The files that commands read, by their place among the arguments.
_PLACES = {"dict": 0, "left": 0, "table": 1, "right": 1}
Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def columns_of(*files: str) -> Completion:
    """Return what completes the name of a column, which all of some files must have."""

    def names(ctx: click.Context) -> list[str]:
        first, *others = (_columns(ctx, file) for file in files)
        return [name for name in first if all(name in columns for columns in others)]

    return _completing(names)


def sheets_of(file: str) -> Completion:
    """Return what completes the name of a sheet."""

    def names(ctx: click.Context) -> list[str]:
        path, reading = _file(ctx, file)
        return list(_workbook(path).sheetnames) if reading["format"] == "xlsx" else []

    return _completing(names)


def _completing(names: Callable[[click.Context], list[str]]) -> Completion:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        begin = incomplete.casefold()
        try:
            with warnings.catch_warnings(action="ignore"):
                offered = dict.fromkeys(names(ctx))
        except Exception:  # whatever is wrong, a command that runs will say so
            return []
        # A name with the end of a line cannot be typed.
        found = [n for n in offered if n.casefold().startswith(begin) and n.isprintable()]
        if not os.environ.get("_FUZZYDICT_COMPLETE", "").startswith("bash"):
            return found
        word = os.environ["COMP_WORDS"].split("\n")[int(os.environ["COMP_CWORD"])]
        if word[:1] in ("'", '"'):
            special = "'" if word[0] == "'" else '$`"\\!'  # which the shell would expand
            return [name for name in found if not set(special) & set(name)]
        escaped = (re.sub(r"([^\w@%+=:,./-])", r"\\\1", name) for name in found)
        return [name.replace("\\", r"\\") for name in escaped]  # click's script reads half of it

    return complete


def _file(ctx: click.Context, file: str) -> tuple[Path, dict[str, Any]]:
    """Return the path of a file on a command line, and how it is read."""
    from fuzzydict.io.tables import table_format

    words: list[str | Path] = []
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument):
            given = ctx.params.get(parameter.name or "") or ()
            words += given if isinstance(given, tuple) else [given]
    # click leaves arguments unread where the last option has no value yet.
    path = Path([*words, *ctx.args][_PLACES[file]]).expanduser()
    if not path.is_file():  # to open a pipe would wait for its writer
        raise FileNotFoundError(path)
    prefix = f"{file}_" if f"{file}_sheet" in ctx.params else ""
    reading = {name: ctx.params[prefix + name] for name in ("sheet", "delimiter", "encoding")}
    form = ctx.params.get("format" if file == "dict" else f"{file}_format")
    return path, {"format": form or table_format(path), **reading}


def _columns(ctx: click.Context, file: str) -> list[str]:
    from fuzzydict.io.records import Reading, cell_text
    from fuzzydict.io.tables import cell_value, open_table

    path, reading = _file(ctx, file)
    if reading["format"] == "xlsx":
        book = _workbook(path)
        shown = (sheet for sheet in book.worksheets if sheet.sheet_state == "visible")
        (row,) = (book[reading["sheet"]] if reading["sheet"] else next(shown)).iter_rows(max_row=1)
        return [*filter(None, (cell_text(cell_value(cell)) for cell in row))]
    table: Path | BytesIO = path
    if reading["format"] != "parquet":
        with path.open("rb") as opened:
            data = opened.read(_READ)
        table = BytesIO(data if len(data) < _READ else data[: data.rfind(b"\n") + 1])
    with open_table(table, Reading(**reading, side=None)) as read:
        return [*filter(None, read.names)]


def _workbook(path: Path) -> Any:
    """Open a workbook whose parts are so small that they are read at once."""
    from zipfile import ZipFile

    from openpyxl import load_workbook

    with ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if "/worksheets/" not in part.filename]
    if max(part.file_size for part in parts) > _MOST:
        raise ValueError("too large to be read in a moment")
    return load_workbook(path, read_only=True, data_only=True)
