"""``fuzzydict lookup``: the value of the key nearest to each query."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import click

from fuzzydict import FuzzyDict, Match, NoMatchError
from fuzzydict.asking import matches
from fuzzydict.lines import as_json, as_line
from fuzzydict.text import quoted

from ._dicts import cutoff_option, dict_argument, opens_dict
from ._problems import Command

if TYPE_CHECKING:
    from io import BufferedIOBase

_REMEMBERED = 1024  # queries,
_LONGEST = 256  # of at most so many characters
_CHUNK = 65_536  # bytes of input that are read at once, if so many are there
_PATIENCE = 0.1  # seconds that an answer may wait for the next ones

Found = tuple[list[Match | None], str]


@click.command("lookup", cls=Command, example="fuzzydict lookup data/car.json colour")
@dict_argument
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    help="So many keys a query, each on a line, the best first, whatever their score; with "
    "--cutoff, those of them that reach it.",
)
@click.option("--json", "in_json", is_flag=True, help="Print query, key, score, value as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Add key and score to the value, after tabs.")
@cutoff_option
@opens_dict
def command(
    d: FuzzyDict[Any], queries: tuple[str, ...], number: int | None, in_json: bool, verbose: bool
) -> None:
    """Print the value of the key of DICT that is nearest to each QUERY, one a line.

    DICT is a file of JSON, TOML, YAML, CSV, TSV or JSON Lines, or one that FuzzyDict.save wrote.
    Without a QUERY, read queries from standard input, a line each, and answer each at once. A
    query that nothing matches, such as a blank line, is answered with an empty line (with --json,
    with nulls), and a note on standard error; the exit code is then 1.
    """
    if number is not None and click.get_current_context().params["cutoff"] is None:
        d.score_cutoff = -math.inf  # the best are asked for, not those that are near enough
    answer, missed = _answers(d, number or 1), 0
    for query in queries or _lines():
        found, why = answer(query)
        if why:
            missed += 1
            _flush()  # so that a terminal shows the note after the answers before it
            click.echo(why, err=True)
        for match in found:
            print(_as_object(query, match) if in_json else _as_text(match, verbose))
    _flush()
    sys.exit(1 if missed else 0)


def _answers(d: FuzzyDict[Any], number: int) -> Callable[[str], Found]:
    """Return what looks a query up; what the last short ones found is remembered."""

    def look_up(query: str) -> Found:
        try:
            return [*matches(d, query, number)], ""
        except NoMatchError as error:
            return [None], _why(error)

    remembered = lru_cache(_REMEMBERED)(look_up)
    return lambda query: (remembered if len(query) <= _LONGEST else look_up)(query)


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


def _lines() -> Iterator[str]:
    """Give the lines of standard input; whoever reads the answers has them before a wait."""
    if sys.stdin is None:  # closed by whoever started the command
        return
    if sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty():
        click.echo("a query a line, please; the end of input (Ctrl-D) ends it", err=True)
    begun, flushed = bytearray(), monotonic()
    stdin = cast("BufferedIOBase", sys.stdin.buffer)
    while data := stdin.read1(_CHUNK):  # what is there, or a wait
        begun += data
        if b"\n" not in data:
            continue
        *lines, rest = begun.split(b"\n")
        for line in lines:
            yield _decoded(line)
            if monotonic() - flushed > _PATIENCE:
                _flush()
                flushed = monotonic()
        _flush()
        begun = rest
    if begun:
        yield _decoded(begun)


def _decoded(line: bytearray) -> str:
    # Bytes that are not UTF-8 must not end the answers to all other lines.
    return line.decode("utf-8", "replace").rstrip("\r")


def _flush() -> None:
    print(end="", flush=True)  # which does nothing where standard output was closed
