"""``fuzzydict map``: match the cells of a column with the keys of a dict, in one table or many."""

from hashlib import file_digest
from pathlib import Path
from typing import Any

import click

from fuzzydict import Matcher, RemoteDict
from fuzzydict.frames.dask import LOCAL
from fuzzydict.io.columns import SURE, Cleaned, Deciding, Source, clean_column
from fuzzydict.io.dict_files import dict_format
from fuzzydict.io.folders import Workers, map_parts
from fuzzydict.io.text_tables import Reading
from fuzzydict.stores.base import is_address
from fuzzydict.stores.remote import AnyDict

from . import _options as shared
from ._options import FILE, FOLDER, TABLE, check_place, dict_command, option
from ._output import echo, progress_bar

#: What says how DICT is read, on which all answers depend; `map_parts` knows the rest.
_OF_DICT = (
    *("format", "key", "value", "dict_sheet", "dict_delimiter", "dict_encoding"),
    *("embedding", "scorer", "score_cutoff"),
)


def _output(ctx: click.Context, output: click.Parameter, value: str | None) -> Any:
    """Return the file to write to, or a folder, which need not exist, if TABLE is one."""
    kind = FOLDER if ctx.params["table"].is_dir() else FILE
    return None if value is None else kind.convert(value, output, ctx)


@dict_command(
    "map",
    "data/countries.csv data/orders.csv --column country -o orders.csv",
    takes_store=True,
    beside_table=True,
)
@click.argument("table", type=TABLE, is_eager=True)
@option("--column NAME", "The column to match.", required=True)
@option(
    "-o --output OUT", "A file, which may be TABLE, or for a folder a new one.", callback=_output
)
@shared.FAIL_UNMATCHED
@option("--prefix", "Prefix of the names of the new columns; by default NAME and `_`.")
@option("--review FILE", "List doubtful texts in a .csv, .tsv or .jsonl file, to decide on.")
@option("--decisions FILE", "A review to take decisions from. It is only read.")
@option(
    "--sure",
    "Matches with a lower score are doubtful, and go into the review.",
    float,
    default=SURE,
)
@option("--jobs N", "Look texts up in N processes.", click.IntRange(1))
@option("--engine", "Who looks texts up, if not this process.", click.Choice(["processes", "dask"]))
@option(
    "--scheduler ADDRESS", "As tcp://host:8786; by default a cluster with N workers is started."
)
def command(
    d: AnyDict,
    table: Path,
    column: str,
    output: Path | None,
    fail_unmatched: bool,
    prefix: str | None,
    review: Path | None,
    decisions: Path | None,
    sure: float,
    jobs: int | None,
    engine: str | None,
    scheduler: str | None,
    **given: Any,
) -> None:
    """Add the matching key of DICT, its value and its score to each row of TABLE.

    TABLE is a CSV, TSV, JSON Lines or Parquet file of any length, an .xlsx workbook, or - for
    standard input (not Parquet or .xlsx); without -o it is printed. Rows keep their order and their
    text. If no key matches a cell, the new cells are empty. Cells that are blank or say n/a, na,
    nan, none, -, ? or the like are not looked up, unless a key says the same. If anything fails, no
    file is changed.

    TABLE may be a folder of CSV, TSV, JSON Lines or Parquet files; each is written to OUT under its
    own name. Then, and with --jobs or --engine, each different text of all files is looked up once.
    If the command is ended or killed, start it again: it goes on after the files that are written.

    A review has the columns query, count, key, score and target, and a row for each text that
    matches nothing, or by a score below --sure. To decide on a target, replace it, question mark
    included, by the right key, or by nothing if no key is right. Run the command again: what was
    decided holds, and only what is new is asked. `fuzzydict fit` learns from the file.
    """
    if review is not None:
        check_place(review)
    parallel = (jobs, engine, scheduler) != (None, None, None)
    workers = _workers(d, jobs, engine, scheduler) if parallel else Workers()
    source = shared.opened(table, column, given)
    place: Any = output if table.is_dir() else shared.place_of(source, output)
    common: dict[str, Any] = {"prefix": prefix, "deciding": Deciding(decisions, review, sure)}
    if table.is_dir() or parallel:
        counts = _map_parts(d, source, output, workers, common)
    else:
        shown = isinstance(place, Path) or not place.isatty()
        with progress_bar("matching", shown=shown) as progress:
            counts = clean_column(d, source, place, **common, progress=progress)
    texts = f"{counts.undecided or 'no'} text{'s' * (counts.undecided != 1)}"
    more = [f"{review}: {texts} to decide on"] if review else []
    shared.finish(place, counts, sure, *more, fails=fail_unmatched)


def _workers(d: AnyDict, jobs: int | None, engine: str | None, scheduler: str | None) -> Workers:
    """Return who looks texts up; they open a store or a saved dict, as it stands, by themselves."""
    if scheduler is not None and engine != "dask":
        raise click.UsageError("--scheduler is of Dask; give --engine dask, too")
    if scheduler is not None and jobs is not None:
        raise click.UsageError("--jobs: the cluster has its own number of workers; leave it out")
    given, matcher = click.get_current_context().params, None
    file = given["dict_file"]
    is_saved = is_address(file) or dict_format(file, Reading(given["format"])) == "fuzzydict"
    if is_saved and not given["scorer"] and not given["synonyms"]:
        embedding: Any = None if given["embedding"] is None else d.embedding
        matcher = Matcher(file, score_cutoff=given["score_cutoff"], embedding=embedding)
    return Workers(jobs, scheduler or (LOCAL if engine == "dask" else None), matcher)


def _map_parts(
    d: AnyDict, source: Source, output: Path | None, workers: Workers, common: dict[str, Any]
) -> Cleaned:
    """Match the column of all tables in a folder, or of one, in several processes."""
    ctx, table = click.get_current_context(), source.table
    dict_file = ctx.params["dict_file"]
    if output is None:
        ctx.fail("no place to write to; name one (-o)")
    if not isinstance(table, Path):
        ctx.fail("standard input can be read only once; name a file")
    if isinstance(dict_file, Path) and not dict_file.is_file():
        ctx.fail(f"{dict_file} is no regular file; save the dict in one")
    if table.is_dir() and output.is_file():
        ctx.fail(f"{output} is a file; name a folder for those of {table}")
    if table.is_dir() and not output.exists():
        check_place(output)
    basis = {f"the option --{name.replace('_', '-')}": ctx.params[name] for name in _OF_DICT}
    basis["the option --synonyms"] = dict(d.synonyms)
    if isinstance(d, RemoteDict):
        basis["the dict"] = d.place
    else:
        with Path(dict_file).open("rb") as file:
            basis["the dict"] = file_digest(file, "blake2b").hexdigest()
    try:
        with progress_bar("matching") as progress:
            return map_parts(
                d, source, output, **common, workers=workers, basis=basis, progress=progress
            )
    except KeyboardInterrupt:
        # A review is about all parts, so that all are mapped again for it.
        is_kept = table.is_dir() and common["deciding"].review is None
        then = "goes on after the parts that are written" if is_kept else "begins again"
        echo(f"interrupted; the same command {then}", err=True)
        raise
