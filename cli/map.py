"""``fuzzydict map``: match the cells of a column with the keys of a dict, in one table or many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, Matcher, OptionError
from fuzzydict.frames.dask import LOCAL
from fuzzydict.io.columns import SURE, Cleaned, clean_column
from fuzzydict.io.dict_files import is_saved_dict
from fuzzydict.io.folders import map_parts, parts_in
from fuzzydict.io.tables import TABLES

from ._completion import TABLE, columns_of
from ._dicts import AnyDict, cutoff_option, dict_or_store_argument, no_nan, opens_dict_beside_table
from ._problems import FILE, FILE_OR_FOLDER, FOLDER, Choice, Command, check_place
from ._progress import progress_bar, progress_bars
from ._tables import (
    STANDARD,
    check_tables,
    counted,
    finish,
    format_of,
    is_same,
    on_terminal,
    place_of,
    source_of,
)

_PROCESSES, _DASK = "processes", "dask"
#: Options on which no answer depends.
_OTHERS = {"output", "jobs", "engine", "scheduler", "review", "decisions", "sure"}


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
    type=FILE_OR_FOLDER,
    help="File to write the table to, which may be TABLE; by default standard output. If TABLE is "
    "a folder, a new one.",
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
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    help="Look texts up in N processes.",
)
@click.option(
    "--engine",
    type=Choice([_PROCESSES, _DASK]),
    help="Who looks texts up: processes of this machine, or the workers of a Dask cluster. By "
    "default this process alone.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Address of the scheduler of a Dask cluster, such as tcp://host:8786; by default a "
    "cluster is started on this machine, with N workers.",
)
@cutoff_option
@opens_dict_beside_table
def command(
    d: AnyDict,
    table: Path,
    column: str,
    output: str | None,
    form: str | None,
    sheet: str | None,
    delimiter: str | None,
    encoding: str | None,
    prefix: str | None,
    review: Path | None,
    decisions: Path | None,
    sure: float | None,
    jobs: int | None,
    engine: str | None,
    scheduler: str | None,
) -> None:
    """Add the matching key of DICT, its value and its score to each row of TABLE.

    TABLE is a CSV, TSV, JSON Lines or Parquet file of any length, an .xlsx workbook, or - for
    standard input (not Parquet or .xlsx). Rows keep their order and their text. If no key matches a
    cell, the new cells are empty and the exit code is 1. Cells that are blank or say n/a, na, none,
    null, unknown, - or ? are not looked up, unless a key says the same. If anything fails, no file
    is changed.

    TABLE may be a folder of CSV, TSV, JSON Lines or Parquet files; each is written to OUT under its
    own name. Then, and with --jobs or --engine, each different text of all files is looked up once.
    If the command is ended or killed, start it again: it goes on where it was.

    A review has the columns query, count, key, score and target, and a row for each text whose
    best score is below --sure. To decide on a target, replace it, question mark included, by the
    right key, or by nothing if no key is right. Run the command again: what was decided holds, and
    only what is new is asked. `fuzzydict fit` learns from the file.
    """
    sure = SURE if sure is None else sure
    place = _output(output, table)
    reading: dict[str, Any] = {
        "sheet": sheet,
        "delimiter": delimiter,
        "encoding": encoding,
        "prefix": prefix,
    }
    deciding: dict[str, Any] = {"decisions": decisions, "review": review, "sure": sure}
    _check_files(review, decisions)
    if table.is_dir() or jobs is not None or engine is not None or scheduler is not None:
        form = form if table.is_dir() else form or format_of(table, "--table-format")
        scheduler = _scheduler(jobs, engine, scheduler)
        counts = _map_parts(d, table, column, place, form, jobs, scheduler, **reading, **deciding)
        finish(table, counts, *_summary(counts, sure, review))
    form = form or format_of(table, "--table-format")
    check_tables(form, table, place, _dict_file(), "dict")
    with progress_bar("matching", shown=not on_terminal(place)) as progress:
        counts = clean_column(
            d,
            source_of(table),
            column,
            place_of(place),
            format=form,
            progress=progress,
            **reading,
            **deciding,
        )
    finish(place_of(place), counts, *_summary(counts, sure, review))


def _map_parts(
    d: AnyDict,
    table: Path,
    column: str,
    output: Path | None,
    form: str | None,
    jobs: int | None,
    scheduler: str | None,
    **others: Any,
) -> Cleaned:
    """Match the column of all tables in a folder, or of one, in several processes."""
    ctx, dict_file = click.get_current_context(), _dict_file()
    if not isinstance(d, FuzzyDict) or not isinstance(dict_file, Path):
        raise click.UsageError(
            "a folder, --jobs and --engine need a DICT in a file, which processes open; name one: "
            "FuzzyDict(d.items()).save(path) makes one of keys in a database",
            ctx,
        )
    if output is None:
        raise click.UsageError("no place to write to; name one (-o)", ctx)
    if table == STANDARD:
        raise click.UsageError("standard input can be read only once; name a file", ctx)
    if not dict_file.is_file():
        raise click.UsageError(f"{dict_file} is no regular file; save the dict in one", ctx)
    if table.is_dir():
        if output.is_file():
            raise click.UsageError(f"{output} is a file; name a folder for those of {table}", ctx)
        if not output.exists():
            check_place(output)
        parts_in(table, output, form)
    elif form is not None:
        check_tables(form, table, output, dict_file, "dict")
    options = {name: value for name, value in ctx.params.items() if name not in _OTHERS}
    matcher = None
    if is_saved_dict(dict_file) and options["scorer"] is None:
        embedding = None if options["vectors"] is None else d.embedding
        matcher = Matcher(dict_file, score_cutoff=options["cutoff"], embedding=embedding)
    with progress_bars() as progress:
        return map_parts(
            d,
            table,
            column,
            output,
            matcher=matcher,
            dict_file=dict_file,
            options=options,
            jobs=jobs,
            scheduler=scheduler,
            format=form,
            progress=progress,
            **others,
        )


def _scheduler(jobs: int | None, engine: str | None, scheduler: str | None) -> str | None:
    """Return the scheduler that the options name."""
    if scheduler is None:
        return LOCAL if engine == _DASK else None
    if engine != _DASK:
        raise click.UsageError(f"--scheduler is of Dask; give --engine {_DASK}, too")
    if jobs is not None:
        raise click.UsageError("--jobs: the cluster has its own number of workers; leave it out")
    return scheduler


def _dict_file() -> Path | str:
    path: Path | str = click.get_current_context().params["dict_file"]
    return path


def _output(output: str | None, table: Path) -> Path | None:
    """Return where the table goes to: a file, or a folder if it is one."""
    if output is None:
        return None
    ctx = click.get_current_context()
    option = next(one for one in ctx.command.params if one.name == "output")
    return Path((FOLDER if table.is_dir() else FILE).convert(output, option, ctx))


def _summary(counts: Cleaned, sure: float, review: Path | None) -> list[str]:
    summary = counted(counts, sure)
    if review is None:
        return [summary]
    texts = "1 text" if counts.undecided == 1 else f"{counts.undecided or 'no'} texts"
    return [summary, f"{review}: {texts} to decide on"]


def _check_files(review: Path | None, decisions: Path | None) -> None:
    """Refuse misuse before any work."""
    for option, path in {"--review": review, "--decisions": decisions}.items():
        if path is not None and is_same(path, _dict_file()):
            raise OptionError(f"{path} is the dict; name another file as {option}")
    if review is not None:
        check_place(review)
    if decisions is not None and not decisions.exists():
        raise OptionError(
            f"{decisions}: No such file; name one that `--review` wrote, or one with the columns "
            f"query and target"
        )
