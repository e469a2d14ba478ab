"""``fuzzydict lookup``: the value of the key nearest to each query."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from fuzzydict import FuzzyDict, Match, NoMatchError
from fuzzydict.asking import matches
from fuzzydict.lines import as_json, as_line
from fuzzydict.text import quoted

from ._dicts import cutoff_option, dict_argument, opens_dict
from ._problems import Command


@click.command("lookup", cls=Command, example="fuzzydict lookup data/car.json colour")
@dict_argument
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=1,
    help="Up to so many matches a query, best first, each on a line.",
)
@click.option("--json", "in_json", is_flag=True, help="Print query, key, score, value as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Add key and score to the value, after tabs.")
@cutoff_option
@opens_dict
def command(
    d: FuzzyDict[Any], queries: tuple[str, ...], number: int, in_json: bool, verbose: bool
) -> None:
    """Print the value of the key of DICT that is nearest to each QUERY, one a line.

    DICT is a file of JSON, TOML, YAML, CSV, TSV or JSON Lines, or one that FuzzyDict.save wrote.
    Without a QUERY, read queries from standard input, a line each, and answer each at once. A
    query that nothing matches, such as a blank line, is answered with an empty line (with --json,
    with nulls), and a note on standard error; the exit code is then 1.
    """
    missed = 0
    for query in queries or _lines():
        try:
            found: list[Match | None] = [*matches(d, query, number)]
        except NoMatchError as error:
            found, missed = [None], missed + 1
            click.echo(_why(error), err=True)
        for match in found:
            # It is flushed, so that whoever reads has it at once.
            click.echo(_as_object(query, match) if in_json else _as_text(match, verbose))
    sys.exit(1 if missed else 0)


def _as_object(query: str, match: Match | None) -> str:
    key, value, score = match or (None, None, None)
    return as_json({"query": query, "key": key, "score": score, "value": value})


def _as_text(match: Match | None, verbose: bool) -> str:
    if match is None:
        return ""
    value = as_line(match.value)
    if not verbose:
        return value
    parts = (as_json(part) if "\t" in part else part for part in (value, as_line(match.key)))
    return "\t".join([*parts, f"{match.score:.3f}"])


def _why(error: NoMatchError) -> str:
    """Say why nothing matched, in the words of the command line."""
    if error.key is None:
        return error.message
    return (
        f"no key matches {quoted(error.args[0])}: the nearest is {quoted(error.key)} with score "
        f"{error.score:.3f}, below the cutoff {error.cutoff:.3f} (--cutoff sets it)"
    )


def _lines() -> Iterable[str]:
    if sys.stdin is None:  # closed by whoever started the command
        return ()
    if sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty():
        click.echo("a query a line, please; the end of input (Ctrl-D) ends it", err=True)
    # Bytes that are not UTF-8 must not end the answers to all other lines.
    return (line.decode("utf-8", "replace").rstrip("\r\n") for line in sys.stdin.buffer)
