"""The argument DICT, and the options that say how to read it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, OptionError, WordVectors
from fuzzydict.embedding.word_vectors import ENGLISH, English
from fuzzydict.io.dict_files import FORMATS, open_dict
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.search.score import SPELLING

from ._problems import FILE, Choice

__all__ = [
    "VECTORS_HELP",
    "cutoff_option",
    "dict_argument",
    "dict_options",
    "embedding_of",
    "no_nan",
    "opens_dict",
]

dict_argument = click.argument("dict_file", metavar="DICT", type=FILE)


def no_nan(ctx: click.Context, option: click.Parameter, number: float | None) -> float | None:
    """Refuse NaN as the value of an option: it is neither above nor below any score."""
    if number is not None and math.isnan(number):
        raise click.BadParameter("expected a number, got NaN", ctx, option)
    return number


cutoff_option = click.option(
    "--cutoff",
    type=float,
    callback=no_nan,
    help="Lowest score that counts as a match; by default 0.5, more likely right than not.",
)

_scorer_option = click.option(
    "--scorer",
    type=Choice([SPELLING, *SCORERS]),
    help="How keys are scored; by default by spelling and meaning. `spelling` is for configuration "
    "and identifiers.",
)

VECTORS_HELP = (
    f"Word vectors made by `fuzzydict train`, or `{ENGLISH}`, which is free for commercial use; by "
    f"default the Brown vectors, which are not."
)

_OPTIONS = [
    click.option(
        "--format",
        type=Choice(FORMATS),
        help="Format of DICT; by default what its ending says, or else JSON. Files written by "
        "d.save are recognized.",
    ),
    click.option(
        "--key", metavar="NAME", help="Column of the keys in a CSV, TSV or JSON Lines file."
    ),
    click.option("--value", metavar="NAME", help="Column of the values."),
    click.option(
        "--vectors",
        type=FILE,
        help=VECTORS_HELP,
    ),
]


def embedding_of(vectors: Path | None) -> WordVectors | None:
    """Return what ``--vectors`` names; None for the default."""
    if vectors is None:
        return None
    if str(vectors) == ENGLISH:
        return English()
    if not vectors.exists():
        raise OptionError(
            f"--vectors: {vectors}: No such file; name one that `fuzzydict train` made, or "
            f"`{ENGLISH}`"
        )
    return WordVectors.load(vectors)


def dict_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--format``, ``--key``, ``--value`` and ``--vectors`` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def opens_dict(command: Callable[..., None]) -> Callable[..., None]:
    """Add options of reading to a command, and pass it the `FuzzyDict` of its file.

    They are ``--scorer`` and those of `dict_options`.

    Put `dict_argument` above this decorator, and `cutoff_option` if the command matches.
    """

    @_scorer_option
    @dict_options
    @functools.wraps(command)
    def run(
        dict_file: Path,
        format: str | None,  # noqa: A002
        key: str | None,
        value: str | None,
        vectors: Path | None,
        scorer: str | None,
        cutoff: float | None = None,
        **others: Any,
    ) -> None:
        d: FuzzyDict[Any] = open_dict(
            dict_file,
            format=format,
            key=key,
            value=value,
            embedding=embedding_of(vectors),
            scorer=scorer,
            score_cutoff=cutoff,
        )
        command(d, **others)

    return run
