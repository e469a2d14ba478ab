"""What commands share that write a table: where it comes from and goes to, and the last line."""

from __future__ import annotations

import os
import sys
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import click

from fuzzydict.io.columns import Cleaned
from fuzzydict.io.tables import FILES_ONLY, TABLES, check_output, table_format

from ._options import Choice, Decorator, check_place, option
from ._output import echo

STANDARD = Path("-")  # standard input
_BEGINNINGS = {b"PK\3\4": "xlsx", b"PAR1": "parquet"}

fail_option = option("--fail-unmatched", "Exit with 1 if a row matches nothing.", is_flag=True)


def format_option(name: str, table: str) -> Decorator:
    """Return the option that names the format of a table."""
    text = f"Format of {table}; by default what its ending says."
    return option(name, text, type=Choice(TABLES))


def opened(table: Path, form: str | None, option: str) -> tuple[Path | BinaryIO, str]:
    """Return the file of a table, or the bytes of standard input, and its format.

    An option gives the format; otherwise the ending tells it, or the first line of standard input.
    """
    if table == STANDARD:
        return _standard_input(form)
    form = form or table_format(table)
    if form is None and table.suffix.lower() == ".xls":
        raise click.UsageError(
            f"{str(table)!r}: .xls is not read; save the workbook as .xlsx, or give {option}"
        )
    if form is None:
        raise click.UsageError(f"the ending of {str(table)!r} names no table format; give {option}")
    return table, form


def _standard_input(form: str | None) -> tuple[BinaryIO, str]:
    # Standard streams are None if they were closed before the start.
    stream: Any = BytesIO() if sys.stdin is None else sys.stdin.buffer
    if form is None:
        stream = stream if hasattr(stream, "peek") else BufferedReader(stream)
        line = stream.peek().partition(b"\n")[0]
        form = _BEGINNINGS.get(line[:4], "csv")
        if line.lstrip()[:1] in (b"{", b"["):
            form = "jsonl"
        elif b"\t" in line and not {*b",;|"} & {*line}:
            form = "tsv"
    if form in FILES_ONLY:
        raise click.UsageError(f"{form} cannot be read from standard input; name a file")
    return stream, form


def place_of(output: Path | None) -> Path | BinaryIO:
    """Return the file to write a table to, or the bytes of standard output if none is named."""
    if output is not None:
        return output
    # Standard streams are None if they were closed before the start.
    return Path(os.devnull).open("wb") if sys.stdout is None else sys.stdout.buffer


def on_terminal(output: Path | None) -> bool:
    """Return whether the table is printed to the terminal, where a bar would mix with it."""
    return output is None and sys.stdout is not None and sys.stdout.isatty()


def check_tables(form: str, table: Path, output: Path | None, other: Path | str, what: str) -> None:
    """Check before any work that a table of a format can be written to ``output``.

    That may be the table itself, but not another file that is read.
    """
    if output is None:
        if form in FILES_ONLY:
            raise click.UsageError(f"{form} needs a file to be written to (-o)")
        return
    check_output(output, table, form)
    if is_same(output, other):
        raise click.UsageError(f"{output} is the {what}; write the table elsewhere (-o)")
    given = click.get_current_context().params
    check_place(output, [given[name] for name in ("embedding", "synonyms") if given[name]])


def is_same(path: Path, other: Path | str) -> bool:
    """Return whether two paths lead to one file; a store, which is a text, is none."""
    return isinstance(other, Path) and path.exists() and other.exists() and path.samefile(other)


def finish(
    place: Path | BinaryIO, counts: Cleaned, sure: float, *more: str, fails: bool
) -> NoReturn:
    """Print the numbers of rows, and more lines, on standard error; exit, with 1 if it fails."""
    if not isinstance(place, Path):
        place.flush()  # so that a closed pipe is handled as one
    refused = f"{counts.refused} without a key as decided, " if counts.refused else ""
    rows = "1 row" if counts.rows == 1 else f"{counts.rows} rows"
    told = (
        f"{rows}: {counts.matched} matched ({counts.doubtful} doubtful, with a score "
        f"below {sure:g}), {counts.unmatched} unmatched, {refused}{counts.blank} blank"
    )
    echo(told, *more, err=True)
    sys.exit(1 if fails and counts.unmatched else 0)
