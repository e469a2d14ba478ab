"""``fuzzydict map``: match the cells of a column with the keys of a dict."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import click

from fuzzydict import FuzzyDict, OptionError
from fuzzydict.io.columns import SURE, Cleaned, clean_column
from fuzzydict.io.tables import FILES_ONLY, TABLES, check_output, table_format

from ._completion import TABLE, columns_of
from ._dicts import cutoff_option, dict_argument, no_nan, opens_dict_beside_table
from ._output import echo
from ._problems import FILE, Choice, Command, check_place
from ._progress import progress_bar

_STANDARD = Path("-")  # standard input


@click.command(
    "map",
    cls=Command,
    example="fuzzydict map data/countries.csv data/orders.csv --column country -o orders.csv",
)
@dict_argument
@click.argument("table", type=FILE)
@click.option(
    "--column",
    metavar="NAME",
    required=True,
    shell_complete=columns_of(TABLE),
    help="The column to match.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=FILE,
    help="File to write the table to, which may be TABLE; by default standard output.",
)
@click.option(
    "--table-format",
    "form",
    type=Choice(TABLES),
    help="Format of TABLE; by default what its ending says. `-` has no ending.",
)
@click.option("--prefix", help="Prefix of the names of the new columns; by default NAME and `_`.")
@click.option(
    "--review",
    metavar="FILE",
    type=FILE,
    help="File (.csv, .tsv or .jsonl) for the doubtful queries, for a person to decide on. What is "
    "decided in it holds, and stays.",
)
@click.option(
    "--decisions",
    metavar="FILE",
    type=FILE,
    help="A review to take decisions from. It is only read.",
)
@click.option(
    "--sure",
    type=float,
    callback=no_nan,
    help=f"Matches with a lower score are doubtful; by default {SURE}.",
)
@cutoff_option
@opens_dict_beside_table
def command(
    d: FuzzyDict[Any],
    table: Path,
    column: str,
    output: Path | None,
    form: str | None,
    sheet: str | None,
    prefix: str | None,
    review: Path | None,
    decisions: Path | None,
    sure: float | None,
) -> None:
    """Add the matching key of DICT, its value and its score to each row of TABLE.

    TABLE is a CSV, TSV, JSON Lines or Parquet file of any length, an .xlsx workbook, or - for
    standard input (not Parquet or .xlsx). Rows keep their order and their text. If no key matches a
    cell, the new cells are empty and the exit code is 1. Cells that are blank or say n/a, na, none,
    null, unknown, - or ? are not looked up, unless a key says the same. If anything fails, no file
    is changed.

    A review has the columns query, count, key, score and target, and a row for each text whose
    best score is below --sure. To decide on a target, replace it, question mark included, by the
    right key, or by nothing if no key is right. Run the command again: what was decided holds, and
    only what is new is asked. `fuzzydict fit` learns from the file.
    """
    form = form or _format_of(table)
    _check(form, table, output, review, decisions)
    sure = SURE if sure is None else sure
    place = _standard_output() if output is None else output
    with progress_bar("matching", shown=not _on_terminal(output)) as progress:
        counts = clean_column(
            d,
            _standard_input() if table == _STANDARD else table,
            column,
            place,
            format=form,
            sheet=sheet,
            prefix=prefix,
            decisions=decisions,
            review=review,
            sure=sure,
            progress=progress,
        )
    if not isinstance(place, Path):
        place.flush()  # so that a closed pipe is handled as one
    echo(*_summary(counts, sure, review), err=True)
    sys.exit(1 if counts.unmatched else 0)


def _summary(counts: Cleaned, sure: float, review: Path | None) -> list[str]:
    refused = f"{counts.refused} without a key as decided, " if counts.refused else ""
    rows = "1 row" if counts.rows == 1 else f"{counts.rows} rows"
    summary = (
        f"{rows}: {counts.matched} matched ({counts.doubtful} doubtful, with a score "
        f"below {sure:g}), {counts.unmatched} unmatched, {refused}{counts.blank} blank"
    )
    if review is None:
        return [summary]
    texts = "1 text" if counts.undecided == 1 else f"{counts.undecided or 'no'} texts"
    return [summary, f"{review}: {texts} to decide on"]


def _standard_input() -> BinaryIO:
    # Standard streams are None if they were closed before the start.
    return Path(os.devnull).open("rb") if sys.stdin is None else sys.stdin.buffer


def _standard_output() -> BinaryIO:
    # Standard streams are None if they were closed before the start.
    return Path(os.devnull).open("wb") if sys.stdout is None else sys.stdout.buffer


def _format_of(table: Path) -> str:
    form = table_format(table)
    if form is None:
        raise click.UsageError(
            f"the ending of {str(table)!r} names no table format; give --table-format"
        )
    return form


def _check(
    form: str, table: Path, output: Path | None, review: Path | None, decisions: Path | None
) -> None:
    """Refuse misuse before any work."""
    if table == _STANDARD and form in FILES_ONLY:
        raise click.UsageError(f"{form} cannot be read from standard input; name a file")
    if output is None and form in FILES_ONLY:
        raise click.UsageError(f"{form} needs a file to be written to (-o)")
    if output is not None:
        check_output(output, table, form)
    dict_file: Path = click.get_current_context().params["dict_file"]
    if output is not None and _is_same(output, dict_file):
        raise click.UsageError(f"{output} is the dict; write the table elsewhere (-o)")
    for option, path in {"--review": review, "--decisions": decisions}.items():
        if path is not None and _is_same(path, dict_file):
            raise OptionError(f"{path} is the dict; name another file as {option}")
    for place in (output, review):
        if place is not None:
            check_place(place)
    if decisions is not None and not decisions.exists():
        raise OptionError(
            f"{decisions}: No such file; name one that `--review` wrote, or one with the columns "
            f"query and target"
        )


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


def _on_terminal(output: Path | None) -> bool:
    """Return whether the table is printed to the terminal, where a bar would mix with it."""
    return output is None and sys.stdout is not None and sys.stdout.isatty()
