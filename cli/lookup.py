"""``fuzzydict lookup``: the value of the key nearest to each query."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, NoMatchError, WordVectors
from fuzzydict.matching import MeaningAndSpelling
from fuzzydict.text import quoted

from ._problems import Command, told_in_a_line


@click.command("lookup", cls=Command)
@click.argument("dict_file", metavar="DICT", type=click.Path(path_type=Path))
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option(
    "--cutoff",
    type=float,
    help=f"Least score of a match; by default {MeaningAndSpelling.score_cutoff:g}.",
)
@click.option(
    "--vectors",
    type=click.Path(path_type=Path),
    help="Word vectors that `fuzzydict train` made; by default those that ship.",
)
@told_in_a_line
def command(
    dict_file: Path, queries: tuple[str, ...], cutoff: float | None, vectors: Path | None
) -> None:
    """Print the value of the key of DICT that is nearest to each QUERY, one a line.

    DICT is a file that holds a JSON object. Without a QUERY, read queries from standard input, a
    line each, and answer each at once. A query that nothing matches is answered with an empty
    line, and a note on standard error; the exit code is then 1.

    For example:

        fuzzydict lookup data/car.json colour
    """
    from fuzzydict.dictfiles import read_dict

    embedding = None if vectors is None else WordVectors.load(vectors)
    d = FuzzyDict(read_dict(dict_file), embedding=embedding, score_cutoff=cutoff)
    missed = 0
    for query in queries or _lines():
        try:
            answer = _shown(d[query])
        except NoMatchError as error:
            answer, missed = "", missed + 1
            click.echo(_why(error), err=True)
        click.echo(answer)  # and flush, so that whoever reads has it at once
    sys.exit(1 if missed else 0)


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
    # Bytes that are not UTF-8 must not end the answers to all other lines.
    return (line.decode("utf-8", "replace").rstrip("\r\n") for line in sys.stdin.buffer)


def _shown(value: Any) -> str:
    """Return a text of one line as it is, anything else as JSON, which is on one line."""
    if isinstance(value, str) and value.splitlines() in ([], [value]):
        return value
    return json.dumps(value, ensure_ascii=False)
