"""``fuzzydict join``: add to each row of a table the row of another that means the same."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzydict.frames.match import HOWS, SUFFIX
from fuzzydict.io.columns import SURE, Source, join_tables
from fuzzydict.io.records import Reading

from ._completion import LEFT, RIGHT, columns_of
from ._dicts import cutoff_option, embedding_of, reading_options, scoring_options, synonyms_of
from ._problems import FILE, Choice, Command
from ._progress import progress_bar
from ._tables import (
    STANDARD,
    check_tables,
    counted,
    fail_option,
    finish,
    format_option,
    on_terminal,
    opened,
    output_option,
    place_of,
)

#: What the options of each table name.
_READING = ("sheet", "delimiter", "encoding")


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
@output_option("LEFT")
@fail_option
@click.option(
    "--suffix",
    default=SUFFIX,
    show_default=True,
    help="What is added to the names of columns of RIGHT that LEFT has as well.",
)
@click.option("--no-score", is_flag=True, help="Leave out the column `score`.")
@format_option("--left-format", "LEFT")
@format_option("--right-format", "RIGHT")
@reading_options("left-", "LEFT", LEFT)
@reading_options("right-", "RIGHT", RIGHT)
@scoring_options
@cutoff_option
def command(
    left: Path,
    right: Path,
    on: str | None,
    left_on: str | None,
    right_on: str | None,
    how: str,
    output: Path | None,
    fail_unmatched: bool,
    suffix: str,
    no_score: bool,
    scorer: str | None,
    score_cutoff: float | None,
    embedding: Path | None,
    synonyms: Path | None,
    **reading: str | None,
) -> None:
    """Add to each row of LEFT the row of RIGHT whose text means the same, and the score.

    LEFT and RIGHT are CSV, TSV, JSON Lines, Parquet or .xlsx files, and LEFT may be - for standard
    input (not Parquet or .xlsx). The output has the format of LEFT. Rows keep their order and their
    text. If no row of RIGHT matches one of LEFT, its new cells are empty. Cells that are blank or
    say n/a, na, none, null, unknown, - or ? are not looked up, unless a key says the same. If
    anything fails, no file is changed.
    """
    if right == STANDARD:
        raise click.UsageError("RIGHT cannot be standard input; give it as LEFT")
    tables = []
    for side, table in (("left", left), ("right", right)):
        source, form = opened(table, reading[f"{side}_format"], f"--{side}-format")
        given = {name: reading[f"{side}_{name}"] for name in _READING}
        tables.append((source, Reading(form, **given, side=f"{side}-")))
    (of_left, left_reading), (of_right, right_reading) = tables
    check_tables(str(left_reading.format), left, output, right, "right table")
    left_on, right_on = _columns(on, left_on, right_on)
    place = place_of(output)
    with progress_bar("joining", shown=not on_terminal(output)) as progress:
        counts = join_tables(
            Source(of_left, left_on, left_reading),
            Source(of_right, right_on, right_reading),
            place,
            how=how,
            add_score=not no_score,
            suffix=suffix,
            progress=progress,
            score_cutoff=score_cutoff,
            embedding=embedding_of(embedding),
            scorer=scorer,
            synonyms=synonyms_of(synonyms),
        )
    finish(place, counts, counted(counts, SURE), fails=fail_unmatched)


def _columns(on: str | None, left_on: str | None, right_on: str | None) -> tuple[str, str]:
    """Return the columns to join on; refuse too few names, and too many."""
    if on is not None and (left_on is not None or right_on is not None):
        raise click.UsageError("--on names a column of both; drop it, or --left-on and --right-on")
    if on is not None:
        return on, on
    if left_on is None or right_on is None:
        raise click.UsageError("no column to join on; give --on, or --left-on and --right-on")
    return left_on, right_on
