"""``fuzzydict map``: a column of a table, each cell with the key that matches it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import click

from fuzzydict import FuzzyDict
from fuzzydict.cleaning import clean_column
from fuzzydict.tables import TABLES, table_format

from ._dicts import cutoff_option, dict_argument, no_nan, opens_dict
from ._problems import Command, check_ending, check_place
from ._progress import progress_bar

_SURE = 0.8
_STANDARD = Path("-")  # input


@click.command(
    "map",
    cls=Command,
    example="fuzzydict map data/countries.csv data/orders.csv --column country -o orders.csv",
)
@dict_argument
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--column", metavar="NAME", required=True, help="The column to match.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Where to write the table; it may be TABLE. By default standard output.",
)
@click.option(
    "--table-format",
    "form",
    type=click.Choice(TABLES),
    help="What TABLE is written in; by default what its ending tells. `-` has none.",
)
@click.option(
    "--prefix", help="What the names of the new columns begin with; by default NAME and `_`."
)
@click.option(
    "--review",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the doubtful queries there (.csv, .tsv or .jsonl), for a person to decide.",
)
@click.option(
    "--sure",
    type=float,
    callback=no_nan,
    help=f"Least score of a match that is not doubtful; by default {_SURE}.",
)
@cutoff_option
@opens_dict
def command(
    d: FuzzyDict[Any],
    table: Path,
    column: str,
    output: Path | None,
    form: str | None,
    prefix: str | None,
    review: Path | None,
    sure: float | None,
) -> None:
    """Write TABLE with the key, value and score of DICT that match the cells of a column.

    TABLE is a file of CSV, TSV, JSON Lines or Parquet, of any length, or - for standard input, not
    of Parquet; rows, their order and the way that they are written are kept. A cell that nothing
    matches gets empty ones, and the exit code is then 1. A cell that is blank, or says n/a, na,
    none, null, unknown, - or ?, asks nothing, unless a key says the same. OUT is replaced as a
    whole in the end, or left as it is if anything fails.

    A review has the columns query, count, key, score and target: the queries whose best key is
    below --sure, each once. Decide on their targets, which begin with a question mark: the right
    key, without the mark, or nothing if none is right.
    """
    form = form or _told(table)
    _check(form, table, output, review)
    sure = _SURE if sure is None else sure
    place = _standard_output() if output is None else output
    with progress_bar("matching", shown=not _on_terminal(output)) as progress:
        counts = clean_column(
            d,
            _standard_input() if table == _STANDARD else table,
            column,
            place,
            format=form,
            prefix=prefix,
            review=review,
            sure=sure,
            progress=progress,
        )
    if not isinstance(place, Path):
        place.flush()  # while a reader that has gone can still be told from an error
    click.echo(
        f"{counts.rows} rows: {counts.matched} matched ({counts.doubtful} doubtful, with a score "
        f"below {sure:g}), {counts.unmatched} unmatched, {counts.blank} blank",
        err=True,
    )
    sys.exit(1 if counts.unmatched else 0)


def _standard_input() -> BinaryIO:
    # There is none if whoever started the command closed it.
    return Path(os.devnull).open("rb") if sys.stdin is None else sys.stdin.buffer


def _standard_output() -> BinaryIO:
    # There is none if whoever started the command closed it.
    return Path(os.devnull).open("wb") if sys.stdout is None else sys.stdout.buffer


def _told(table: Path) -> str:
    form = table_format(table)
    if form is None:
        raise click.UsageError(
            f"the ending of {str(table)!r} tells no format of tables; name it with --table-format"
        )
    return form


def _check(form: str, table: Path, output: Path | None, review: Path | None) -> None:
    """Refuse what would be a mistake, before there is any work."""
    if table == _STANDARD and form == "parquet":
        raise click.UsageError("a Parquet table is not read from standard input; name a file")
    if output is None and form == "parquet":
        raise click.UsageError("a Parquet table needs a file to be written to (-o)")
    if output is not None:
        check_ending(output, form, form)
    dict_file: Path = click.get_current_context().params["dict_file"]
    if output is not None and output.exists() and output.samefile(dict_file):
        raise click.UsageError(f"{output} is the dict; write the table elsewhere (-o)")
    for place in (output, review):
        if place is not None:
            check_place(place)


def _on_terminal(output: Path | None) -> bool:
    """Tell whether the table itself goes to the terminal, where a bar would mix with it."""
    return output is None and sys.stdout is not None and sys.stdout.isatty()
