"""``fuzzydict join``: add to each row of a table the row of another that means the same."""

from pathlib import Path
from typing import Any

import click

from fuzzydict.frames.match import HOWS, SUFFIX
from fuzzydict.io.columns import SURE, join_tables

from . import _options as shared
from ._options import FILE, TABLE, option
from ._output import Command, progress_bar


@click.command(
    "join",
    cls=Command,
    example="fuzzydict join data/orders.csv data/countries.csv --left-on country --right-on key",
)
@click.argument("left", type=TABLE)
@click.argument("right", type=FILE)
@option("--on NAME", "The column of texts, if it has one name in both tables.")
@option("--left-on NAME", "The column of LEFT.")
@option("--right-on NAME", "The column of RIGHT, whose texts are the keys. Each comes once.")
@option(
    "--how",
    "Write all rows of LEFT, those that match, or those that match nothing.",
    click.Choice(HOWS),
    default="left",
)
@option("-o --output FILE", "Write to a file, which may be LEFT; by default to standard output.")
@shared.FAIL_UNMATCHED
@option("--suffix", "Goes after names of columns of RIGHT that LEFT has as well.", default=SUFFIX)
@option("--no-score", "Leave out the column `score`.", is_flag=True)
def command(
    left: Path, right: Path, output: Path | None, fail_unmatched: bool, no_score: bool, **given: Any
) -> None:
    """Add to each row of LEFT the row of RIGHT whose text means the same, and the score.

    LEFT and RIGHT are CSV, TSV, JSON Lines, Parquet or .xlsx files, and LEFT may be - for standard
    input (not Parquet or .xlsx). The output has the format of LEFT. Rows keep their order and their
    text. If no row of RIGHT matches one of LEFT, its new cells are empty. Cells that are blank or
    say n/a, nan, none, null, -, ? or the like are not looked up, unless a key says the same. If
    anything fails, no file is changed.
    """
    on, left_on, right_on = (given.pop(name) for name in ("on", "left_on", "right_on"))
    if on is not None and (left_on is not None or right_on is not None):
        raise click.UsageError("--on names a column of both; drop it, or --left-on and --right-on")
    left_on, right_on = (left_on, right_on) if on is None else (on, on)
    if left_on is None or right_on is None:
        raise click.UsageError("no column to join on; give --on, or --left-on and --right-on")
    shared.check_limits(given["scorer"])
    of_left = shared.opened(left, left_on, given, "left-")
    of_right = shared.opened(right, right_on, given, "right-")
    place = shared.place_of(of_left, output, right)
    given["embedding"] = shared.embedding_of(given["embedding"])
    given["synonyms"] = shared.synonyms_of(given["synonyms"])
    given["add_score"] = not no_score
    with progress_bar("joining", shown=isinstance(place, Path) or not place.isatty()) as progress:
        counts = join_tables(of_left, of_right, place, progress=progress, **given)
    shared.finish(place, counts, SURE, fails=fail_unmatched)


_of_tables = shared.table_options("LEFT", "left-") + shared.table_options("RIGHT", "right-")
for add in (*_of_tables, shared.EMBEDDING, shared.SYNONYMS, shared.SCORER, shared.CUTOFF):
    add(command)
