"""``fuzzydict map``: match the cells of a column with the keys of a dict."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzydict import OptionError
from fuzzydict.io.columns import SURE, Cleaned, clean_column
from fuzzydict.io.tables import TABLES

from ._completion import TABLE, columns_of
from ._dicts import AnyDict, cutoff_option, dict_or_store_argument, no_nan, opens_dict_beside_table
from ._problems import FILE, Choice, Command, check_place
from ._progress import progress_bar
from ._tables import (
    check_tables,
    counted,
    finish,
    format_of,
    is_same,
    on_terminal,
    place_of,
    source_of,
)


@click.command(
    "map",
    cls=Command,
    example="fuzzydict map data/countries.csv data/orders.csv --column country -o orders.csv",
)
@dict_or_store_argument
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
    d: AnyDict,
    table: Path,
    column: str,
    output: Path | None,
    form: str | None,
    sheet: str | None,
    delimiter: str | None,
    encoding: str | None,
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
    form = form or format_of(table, "--table-format")
    _check(form, table, output, review, decisions)
    sure = SURE if sure is None else sure
    place = place_of(output)
    with progress_bar("matching", shown=not on_terminal(output)) as progress:
        counts = clean_column(
            d,
            source_of(table),
            column,
            place,
            format=form,
            sheet=sheet,
            delimiter=delimiter,
            encoding=encoding,
            prefix=prefix,
            decisions=decisions,
            review=review,
            sure=sure,
            progress=progress,
        )
    finish(place, counts, *_summary(counts, sure, review))


def _summary(counts: Cleaned, sure: float, review: Path | None) -> list[str]:
    summary = counted(counts, sure)
    if review is None:
        return [summary]
    texts = "1 text" if counts.undecided == 1 else f"{counts.undecided or 'no'} texts"
    return [summary, f"{review}: {texts} to decide on"]


def _check(
    form: str, table: Path, output: Path | None, review: Path | None, decisions: Path | None
) -> None:
    """Refuse misuse before any work."""
    dict_file: Path | str = click.get_current_context().params["dict_file"]
    check_tables(form, table, output, dict_file, "dict")
    for option, path in {"--review": review, "--decisions": decisions}.items():
        if path is not None and is_same(path, dict_file):
            raise OptionError(f"{path} is the dict; name another file as {option}")
    if review is not None:
        check_place(review)
    if decisions is not None and not decisions.exists():
        raise OptionError(
            f"{decisions}: No such file; name one that `--review` wrote, or one with the columns "
            f"query and target"
        )
