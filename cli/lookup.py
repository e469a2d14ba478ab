"""``fuzzydict lookup``: the value of the key nearest to each query."""

import math
import sys
from collections.abc import Iterator
from itertools import count

import click

from fuzzydict import Match, NoMatchError
from fuzzydict.errors import FileFormatError, quoted
from fuzzydict.io.text_tables import MAX_LINE, as_json, as_line
from fuzzydict.results.answers import below
from fuzzydict.stores.remote import AnyDict
from fuzzydict.text.words import plain

from ._options import dict_command, option
from ._output import echo, is_watched, reason


@dict_command("lookup", "data/car.json colour", takes_store=True)
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@option(
    "-n --topn N", "Print N keys per query, best first, whatever their scores.", click.IntRange(1)
)
@option("--json in_json", "Print query, key, score and value as JSON.", is_flag=True)
@option("-v --verbose", "Print value, key and score, separated by tabs.", is_flag=True)
def command(
    d: AnyDict, queries: tuple[str, ...], topn: int | None, in_json: bool, verbose: bool
) -> None:
    """Print the value of the key of DICT that is nearest to each QUERY, one a line.

    DICT is a file of JSON, TOML, YAML, CSV, TSV, JSON Lines or .xlsx, a saved dict, or the address
    of a store. Without a QUERY, or if it is -, queries are read from standard input, one a line,
    and answered as they come. A query without a match gives an empty line (with --json, nulls) and
    a message on standard error, and the exit code is 1.

    Each command encodes the keys anew. If they are many, ask all queries in one command; a dict
    saved before, by FuzzyDict.save, answers sooner.
    """
    if topn is not None and click.get_current_context().params["score_cutoff"] is None:
        d.score_cutoff = -math.inf  # the best keys, whatever their scores
    missed, topn = 0, topn or 1
    queries = () if queries == ("-",) else queries
    mixed = len(queries) != 1 and topn > 1  # a line's query cannot be counted
    for query in queries or _lines():
        matches: list[Match | None] = [None]
        try:
            nearest = d.nearest(query)
            best = d.most_similar(query, topn=topn) if topn > 1 and plain(query) else []
            others = [one for one in best if one.key != nearest.key][: topn - 1]
            matches = [nearest, *(one for one in others if one.matches)]
        except NoMatchError as error:
            missed, problem = 1, reason(error)
            if error.score is not None and error.cutoff is not None:
                problem = (
                    f"no key matches {quoted(query)}: the nearest is {quoted(error.key)} with "
                    f"score {below(error.score, error.cutoff)} (--score-cutoff sets it)"
                )
            echo(problem, err=True)
        for match in matches:
            key, value, score = match or (None, None, None)
            line = "" if match is None else as_line(value)
            if in_json:
                line = as_json({"query": query, "key": key, "score": score, "value": value})
            elif match is not None and verbose:
                fields = [line, as_line(key), f"{score:.3f}", *([query] if mixed else [])]
                line = "\t".join(as_json(one) if "\t" in one else one for one in fields)
            echo(line)
    sys.exit(missed)


def _lines() -> Iterator[str]:
    """Yield the lines of standard input, each as soon as it is there."""
    if sys.stdin.isatty() and is_watched():
        echo("Type a query on each line; end with Ctrl-D.", err=True)
    for number in count(1):
        try:
            line = sys.stdin.buffer.readline(MAX_LINE + 1)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard input") from error
        if len(line) > MAX_LINE:
            raise FileFormatError(
                f"standard input: line {number} has more than {MAX_LINE} bytes; expected a query "
                f"on each line"
            )
        if not line:
            return
        # Bytes that are not UTF-8 must not stop the answers to other lines.
        yield line.decode("utf-8", "replace").removesuffix("\n").rstrip("\r")
