"""``fuzzydict join``: add to each row of a table the row of another that means the same."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzydict.frames.match import HOWS, SUFFIX
from fuzzydict.io.columns import SURE, Source, join_tables
from fuzzydict.io.records import Reading
from fuzzydict.io.tables import TABLES

from ._completion import LEFT, RIGHT, columns_of, sheets_of
from ._dicts import cutoff_option, embedding_of, scorer_option, vectors_option
from ._problems import FILE, Choice, Command
from ._progress import progress_bar
from ._tables import check_tables, counted, finish, format_of, on_terminal, place_of, source_of

#: What the options of each table name.
_READING = ("format", "sheet", "delimiter", "encoding")


@click.command(
    "join",
    cls=Command,
    example="fuzzydict join data/orders.csv data/countries.csv --left-on country --right-on key",
)
@click.argument("left", type=FILE)
@click.argument("right", type=FILE)
@click.option(
    "--on",
    metavar="NAME",
    shell_complete=columns_of(LEFT, RIGHT),
    help="The column of texts, if it has one name in both tables.",
)
@click.option(
    "--left-on", metavar="NAME", shell_complete=columns_of(LEFT), help="The column of LEFT."
)
@click.option(
    "--right-on",
    metavar="NAME",
    shell_complete=columns_of(RIGHT),
    help="The column of RIGHT, whose texts are the keys. Each comes once.",
)
@click.option(
    "--how",
    type=Choice(HOWS),
    default="left",
    show_default=True,
    help="Which rows of LEFT are written: all, those that match, or those that match nothing, as "
    "they are.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=FILE,
    help="File to write the table to, which may be LEFT; by default standard output.",
)
@click.option(
    "--suffix",
    default=SUFFIX,
    show_default=True,
    help="What is added to the names of columns of RIGHT that LEFT has as well.",
)
@click.option("--no-score", is_flag=True, help="Leave out the column `score`.")
@click.option(
    "--left-format",
    type=Choice(TABLES),
    help="Format of LEFT; by default what its ending says. `-` has no ending.",
)
@click.option(
    "--right-format", type=Choice(TABLES), help="Format of RIGHT; by default what its ending says."
)
@click.option(
    "--left-sheet",
    metavar="NAME",
    shell_complete=sheets_of(LEFT),
    help="Sheet of LEFT, an .xlsx workbook; by default the first that is not hidden.",
)
@click.option(
    "--right-sheet", metavar="NAME", shell_complete=sheets_of(RIGHT), help="Sheet of RIGHT."
)
@click.option(
    "--left-delimiter", metavar="SIGN", help="What is between cells of LEFT, if it is CSV."
)
@click.option("--right-delimiter", metavar="SIGN", help="What is between cells of RIGHT.")
@click.option("--left-encoding", metavar="NAME", help="Encoding of LEFT, if it is CSV.")
@click.option("--right-encoding", metavar="NAME", help="Encoding of RIGHT.")
@scorer_option
@cutoff_option
@vectors_option
def command(
    left: Path,
    right: Path,
    on: str | None,
    left_on: str | None,
    right_on: str | None,
    how: str,
    output: Path | None,
    suffix: str,
    no_score: bool,
    scorer: str | None,
    cutoff: float | None,
    vectors: Path | None,
    **reading: str | None,
) -> None:
    """Add to each row of LEFT the row of RIGHT whose text means the same, and the score.

    LEFT and RIGHT are CSV, TSV, JSON Lines, Parquet or .xlsx files, and LEFT may be - for standard
    input (not Parquet or .xlsx). The output has the format of LEFT. Rows keep their order and their
    text. If no row of RIGHT matches one of LEFT, its new cells are empty and the exit code is 1.
    Cells that are blank or say n/a, na, none, null, unknown, - or ? are not looked up, unless a key
    says the same. If anything fails, no file is changed.
    """
    of_left, of_right = _reading("left", left, reading), _reading("right", right, reading)
    check_tables(str(of_left.format), left, output, right, "right table")
    left_on, right_on = _columns(on, left_on, right_on)
    place = place_of(output)
    with progress_bar("joining", shown=not on_terminal(output)) as progress:
        counts = join_tables(
            Source(source_of(left), left_on, of_left),
            Source(right, right_on, of_right),
            place,
            how=how,
            add_score=not no_score,
            suffix=suffix,
            progress=progress,
            score_cutoff=cutoff,
            embedding=embedding_of(vectors),
            scorer=scorer,
        )
    finish(place, counts, counted(counts, SURE))


def _reading(side: str, table: Path, options: dict[str, str | None]) -> Reading:
    """Return how a table is read, as the options for its side say."""
    given = {name: options[f"{side}_{name}"] for name in _READING}
    form = given["format"] or format_of(table, f"--{side}-format")
    return Reading(**given, side=f"{side}-")._replace(format=form)


def _columns(on: str | None, left_on: str | None, right_on: str | None) -> tuple[str, str]:
    """Return the columns to join on; refuse too few names, and too many."""
    if on is not None and (left_on is not None or right_on is not None):
        raise click.UsageError("--on names a column of both; drop it, or --left-on and --right-on")
    if on is not None:
        return on, on
    if left_on is None or right_on is None:
        raise click.UsageError("no column to join on; give --on, or --left-on and --right-on")
    return left_on, right_on
