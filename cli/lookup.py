"""``fuzzydict lookup``: the value of the key nearest to each query."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, NoMatchError

from ._problems import Command, told_in_a_line


@click.command("lookup", cls=Command)
@click.argument("dict_file", metavar="DICT", type=click.Path(path_type=Path))
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option("--cutoff", type=float, help="Least score of a match; by default 0.15.")
@told_in_a_line
def command(dict_file: Path, queries: tuple[str, ...], cutoff: float | None) -> None:
    """Print the value of the key of DICT that is nearest to each QUERY, one a line.

    DICT is a file that holds a JSON object. Without a QUERY, read queries from standard input, a
    line each, and answer each at once. A query that nothing matches is answered with an empty
    line, and a note on standard error; the exit code is then 1.

    For example:

        fuzzydict lookup data/car.json colour
    """
    from fuzzydict.dictfiles import read_dict

    d = FuzzyDict(read_dict(dict_file), score_cutoff=cutoff)
    missed = 0
    asked = queries or _lines()
    for query in asked:
        try:
            answer = _shown(d[query])
        except NoMatchError as error:
            answer, missed = "", missed + 1
            click.echo(str(error), err=True)
        click.echo(answer)  # and flush, so that whoever reads has it at once
    sys.exit(1 if missed else 0)


def _lines() -> Iterable[str]:
    if sys.stdin is None:  # closed by whoever started the command
        return ()
    # Bytes that are not UTF-8 must not end the answers to all other lines.
    return (line.decode("utf-8", "replace").rstrip("\r\n") for line in sys.stdin.buffer)


def _shown(value: Any) -> str:
    """Return a text of one line as it is, anything else as JSON, which is on one line."""
    if isinstance(value, str) and value.splitlines() in ([], [value]):
        return value
    return json.dumps(value, ensure_ascii=False)
