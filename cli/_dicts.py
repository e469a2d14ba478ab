"""The file of a dict as commands take it: DICT, and the options that say how to read it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict.dictfiles import FORMATS, open_dict

from ._problems import told_in_a_line

__all__ = ["cutoff_option", "dict_argument", "dict_options", "no_nan", "opens_dict", "told"]

dict_argument = click.argument("dict_file", metavar="DICT", type=click.Path(path_type=Path))


def no_nan(ctx: click.Context, option: click.Parameter, number: float | None) -> float | None:
    """Refuse as an option's number what no score reaches or falls short of."""
    if number is not None and math.isnan(number):
        raise click.BadParameter("expected a number, got NaN, which no score reaches", ctx, option)
    return number


cutoff_option = click.option(
    "--cutoff",
    type=float,
    callback=no_nan,
    help="Least score of a match; the default is lenient.",
)

_OPTIONS = [
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        help="What DICT is written in; by default what its ending tells, else JSON. What d.save "
        "wrote is known by itself.",
    ),
    click.option(
        "--key", metavar="NAME", help="The column of keys of a CSV, TSV or JSON Lines file."
    ),
    click.option("--value", metavar="NAME", help="Its column of values."),
    click.option(
        "--vectors",
        type=click.Path(path_type=Path),
        help="Word vectors that `fuzzydict train` made; by default those that ship.",
    ),
]


def told(note: str) -> None:
    """Show what is odd about a file, which is no error."""
    click.echo(f"Note: {note}", err=True)


def dict_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take ``--format``, ``--key``, ``--value`` and ``--vectors``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def opens_dict(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of a dict's file, and give it the `FuzzyDict` first.

    It ends as `told_in_a_line` says where the file is wrong. Above it go `dict_argument` and,
    where there is something to match, `cutoff_option`.
    """

    @dict_options
    @told_in_a_line
    @functools.wraps(command)
    def run(
        dict_file: Path,
        format: str | None,  # noqa: A002
        key: str | None,
        value: str | None,
        vectors: Path | None,
        cutoff: float | None = None,
        **others: Any,
    ) -> None:
        d: FuzzyDict[Any] = open_dict(
            dict_file,
            format=format,
            key=key,
            value=value,
            embedding=None if vectors is None else WordVectors.load(vectors),
            score_cutoff=cutoff,
            note=told,
        )
        command(d, **others)

    return run
