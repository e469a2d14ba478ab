"""What commands share that write a table: where it comes from and goes to, and the last line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO, NoReturn

import click

from fuzzydict.io.columns import Cleaned
from fuzzydict.io.tables import FILES_ONLY, check_output, table_format

from ._output import echo
from ._problems import check_place

__all__ = [
    "STANDARD",
    "check_tables",
    "counted",
    "finish",
    "format_of",
    "is_same",
    "on_terminal",
    "place_of",
    "source_of",
]

STANDARD = Path("-")  # standard input


def source_of(table: Path) -> Path | BinaryIO:
    """Return the file of a table, or the bytes of standard input for `STANDARD`."""
    if table != STANDARD:
        return table
    # Standard streams are None if they were closed before the start.
    return Path(os.devnull).open("rb") if sys.stdin is None else sys.stdin.buffer


def place_of(output: Path | None) -> Path | BinaryIO:
    """Return the file to write a table to, or the bytes of standard output if none is named."""
    if output is not None:
        return output
    # Standard streams are None if they were closed before the start.
    return Path(os.devnull).open("wb") if sys.stdout is None else sys.stdout.buffer


def on_terminal(output: Path | None) -> bool:
    """Return whether the table is printed to the terminal, where a bar would mix with it."""
    return output is None and sys.stdout is not None and sys.stdout.isatty()


def format_of(table: Path, option: str) -> str:
    """Return the format that the ending of a table's file names.

    Raises:
        click.UsageError: it names none; the message names the ``option`` that would.
    """
    form = table_format(table)
    if form is None and table.suffix.lower() == ".xls":
        raise click.UsageError(
            f"{str(table)!r}: .xls is not read; save the workbook as .xlsx, or give {option}"
        )
    if form is None:
        raise click.UsageError(f"the ending of {str(table)!r} names no table format; give {option}")
    return form


def check_tables(form: str, table: Path, output: Path | None, other: Path | str, what: str) -> None:
    """Check before any work that a table can be read, and written again to ``output``.

    Args:
        form: its format.
        table: its file, or `STANDARD`.
        output: where it goes to, or None for standard output.
        other: another file that is read, which ``output`` must not replace; or a store.
        what: what that is.
    """
    if table == STANDARD and form in FILES_ONLY:
        raise click.UsageError(f"{form} cannot be read from standard input; name a file")
    if output is None:
        if form in FILES_ONLY:
            raise click.UsageError(f"{form} needs a file to be written to (-o)")
        return
    check_output(output, table, form)
    if is_same(output, other):
        raise click.UsageError(f"{output} is the {what}; write the table elsewhere (-o)")
    check_place(output)


def is_same(path: Path, other: Path | str) -> bool:
    """Return whether two paths lead to one file; a store, which is a text, is none."""
    return isinstance(other, Path) and path.exists() and other.exists() and path.samefile(other)


def counted(counts: Cleaned, sure: float) -> str:
    """Return the numbers of rows as a line."""
    refused = f"{counts.refused} without a key as decided, " if counts.refused else ""
    rows = "1 row" if counts.rows == 1 else f"{counts.rows} rows"
    return (
        f"{rows}: {counts.matched} matched ({counts.doubtful} doubtful, with a score "
        f"below {sure:g}), {counts.unmatched} unmatched, {refused}{counts.blank} blank"
    )


def finish(place: Path | BinaryIO, counts: Cleaned, *summary: str) -> NoReturn:
    """Print the last lines of a command, and exit: with 1 if a row matches nothing, otherwise 0.

    Args:
        place: where the table was written to.
        counts: its rows.
        summary: the lines, which are printed on standard error.
    """
    if not isinstance(place, Path):
        place.flush()  # so that a closed pipe is handled as one
    echo(*summary, err=True)
    sys.exit(1 if counts.unmatched else 0)
