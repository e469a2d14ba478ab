"""What commands share that write a table: where it comes from and goes to, and the last line."""

import os
import sys
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import click

from fuzzydict.errors import OptionError
from fuzzydict.io.columns import Cleaned, Source
from fuzzydict.io.text_tables import FILES_ONLY, TABLES, Reading, format_by_ending

from ._options import Decorator, check_place, option, taken
from ._output import echo

_BEGINNINGS = {b"PK\3\4": "xlsx", b"PAR1": "parquet"}

fail_option = option("--fail-unmatched", "Exit with 1 if a row matches nothing.", is_flag=True)


def format_option(name: str, table: str) -> Decorator:
    """Return the option that names the format of a table."""
    return option(name, f"Format of {table}; by default as its ending says.", click.Choice(TABLES))


def opened(table: Path, column: str, option: str, given: dict[str, Any], side: str = "") -> Source:
    """Return the column of a table, a folder of tables, or standard input for `-`.

    An option gives the format; otherwise the ending tells it, or the first line of standard input.
    This and what `reading_options` say are taken out of the options that are given.
    """
    form = given.pop(option[2:].replace("-", "_"))
    reading = {**taken(given, side), "side": side}
    if table != Path("-"):
        form = form or format_by_ending(table)
        if form is None and not table.is_dir():
            table.stat()  # or raise FileNotFoundError
            told = f"the ending of {str(table)!r} names no table format; give {option}"
            raise click.UsageError(told)
        return Source(table, column, Reading(form, **reading))
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
    return Source(stream, column, Reading(form, **reading))


def place_of(source: Source, output: Path | None, *others: Path | str) -> Path | BinaryIO:
    """Return where a table is written: a file, or standard output if none is named.

    Before any work it checks that this can be done. The file may be the table itself, but none of
    the others that are read.
    """
    form = str(source.reading.format)
    if output is None:
        if form in FILES_ONLY:
            raise click.UsageError(f"{form} needs a file to be written to (-o)")
        # Standard streams are None if they were closed before the start.
        return Path(os.devnull).open("wb") if sys.stdout is None else sys.stdout.buffer
    named, ending = format_by_ending(output), output.suffix.lower()
    of_table = source.table.suffix.lower() if isinstance(source.table, Path) else ""
    if named != form and (named or ending not in ("", ".txt", of_table)):
        told = f"{output} would hold {form}, but its ending says otherwise; end it in .{form}"
        raise OptionError(told)
    check_place(output, *others)
    return output


def finish(
    place: Path | BinaryIO, counts: Cleaned, sure: float, *more: str, fails: bool
) -> NoReturn:
    """Print the numbers of rows, and more lines, on standard error; exit, with 1 if it fails."""
    if not isinstance(place, Path):
        place.flush()  # so that a closed pipe is handled as one
    refused = f"{counts.refused} without a key as decided, " if counts.refused else ""
    told = (
        f"{counts.rows} row{'s' * (counts.rows != 1)}: {counts.matched} matched "
        f"({counts.doubtful} doubtful, with a score below {sure:g}), "
        f"{counts.unmatched} unmatched, {refused}{counts.blank} blank"
    )
    echo(told, *more, err=True)
    sys.exit(1 if fails and counts.unmatched else 0)
