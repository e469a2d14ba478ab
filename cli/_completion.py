"""What shells complete: the names of columns and sheets in the files that a command line names.

Only the beginning of a file is read. If anything is wrong with it, nothing is completed, and no
word is said: a line that somebody types is no place for errors.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import click

__all__ = ["Completion", "columns_of"]

_READ = 2**18  # bytes of a text file
_LINES = 100  # of JSON Lines
#: What completes the value of an option.
Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def columns_of(*places: int, form: str) -> Completion:
    """Return what completes the name of a column.

    Args:
        places: those of the files among the arguments; all of them must have the column.
        form: the name of the parameter that says how the files are read.
    """

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        files = _files(ctx)
        try:
            found = [_columns(files[place], ctx.params.get(form)) for place in places]
        except Exception:  # whatever is wrong, a command that runs will say so
            return []
        first, *others = found
        common = [name for name in first if all(name in names for names in others)]
        return [name for name in dict.fromkeys(common) if _completes(name, incomplete)]

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


def _columns(path: Path, form: str | None) -> list[str]:
    """Return the names of the columns of a table."""
    from fuzzydict.io.records import DELIMITERS, csv_table, format_by_ending
    from fuzzydict.io.tables import TABLES

    form = form or format_by_ending(path, TABLES)
    if not path.is_file():  # to open a pipe would wait for its writer
        return []
    with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
        if form in DELIMITERS:
            header, _ = csv_table(BytesIO(_beginning(file)), path, DELIMITERS[form])
            return [] if header is None else header.content
        if form == "jsonl":
            return [*dict.fromkeys(_fields(_beginning(file)))]
        if form == "parquet":
            from pyarrow.parquet import read_schema

            return list(read_schema(file).names)
    return []


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
