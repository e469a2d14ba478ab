"""The argument DICT, and the options that say how to read it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from fuzzydict import FuzzyDict, OptionError, RemoteDict, WordVectors, connect
from fuzzydict.embedding.word_vectors import ENGLISH, English
from fuzzydict.io.dict_files import FORMATS, open_dict
from fuzzydict.io.records import Reading
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.search.score import SPELLING

from ._completion import DICT, columns_of, sheets_of, sheets_of_table
from ._problems import FILE, FILE_OR_STORE, Choice

__all__ = [
    "VECTORS_HELP",
    "AnyDict",
    "cutoff_option",
    "dict_argument",
    "dict_options",
    "dict_or_store_argument",
    "embedding_of",
    "no_nan",
    "opens_dict",
    "opens_dict_beside_table",
    "scorer_option",
    "vectors_option",
]

#: What a command that only reads may get as DICT.
AnyDict: TypeAlias = FuzzyDict[Any] | RemoteDict

dict_argument = click.argument("dict_file", metavar="DICT", type=FILE)
#: Of a command that only reads, and may read from a store.
dict_or_store_argument = click.argument("dict_file", metavar="DICT", type=FILE_OR_STORE)


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

scorer_option = click.option(
    "--scorer",
    type=Choice([SPELLING, *SCORERS]),
    help="How keys are scored; by default by spelling and meaning. `spelling` is for configuration "
    "and identifiers.",
)

VECTORS_HELP = (
    f"Word vectors made by `fuzzydict train`, or `{ENGLISH}`, which is free for commercial use; by "
    f"default the Brown vectors, which are not."
)

vectors_option = click.option("--vectors", type=FILE, help=VECTORS_HELP)

_OPTIONS = [
    click.option(
        "--format",
        type=Choice(FORMATS),
        help="Format of DICT; by default what its ending says, or else JSON. Files written by "
        "d.save are recognized.",
    ),
    click.option(
        "--key",
        metavar="NAME",
        shell_complete=columns_of(DICT),
        help="Column of the keys in a CSV, TSV, JSON Lines or .xlsx file.",
    ),
    click.option(
        "--value",
        metavar="NAME",
        shell_complete=columns_of(DICT),
        help="Column of the values.",
    ),
    vectors_option,
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


def _reading(side: str, of: str, sheets: Any) -> list[Any]:
    """Return the options that say how to read a table: its sheet, delimiter and encoding."""
    helps = {
        "sheet": "Sheet of an .xlsx workbook; by default the first that is not hidden.",
        "delimiter": "What is between cells of CSV: one character, `comma`, `semicolon`, `tab` or "
        "`pipe`; by default a guess, which is told.",
        "encoding": "Encoding of CSV, such as windows-1252; by default UTF-8, or a guess, which is "
        "told.",
    }
    return [
        click.option(
            f"--{side}{name}",
            metavar="SIGN" if name == "delimiter" else "NAME",
            shell_complete=sheets if name == "sheet" else None,
            help=f"As --{name}, for {of}." if of else text,
        )
        for name, text in helps.items()
    ]


_TABLE_OPTIONS = _reading("", "", sheets_of_table)
#: The same for DICT where the options above are those of a table.
_DICT_OPTIONS = _reading("dict-", "DICT", sheets_of(DICT))


def dict_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--format``, ``--key``, ``--value``, ``--vectors`` and those of a table to a command."""
    return _with([*_OPTIONS, *_TABLE_OPTIONS], command)


def _with(options: Sequence[Any], command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command


def opens_dict(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--scorer`` and `dict_options` to a command, and pass it the `FuzzyDict` of its file.

    Put `dict_argument` above this decorator, and `cutoff_option` if the command matches.
    """
    return dict_options(_opening(command, ""))


def opens_dict_beside_table(command: Callable[..., None]) -> Callable[..., None]:
    """Do the same for a command with another file, to which the options of a table belong.

    The command gets their values.
    """
    options = [*_OPTIONS, *_DICT_OPTIONS]
    return _with(options, _opening(_with(_TABLE_OPTIONS, command), "dict-"))


def _opening(command: Callable[..., None], side: str) -> Callable[..., None]:
    """Pass a command the dict; ``side`` is what the options begin with that say how to read it."""

    @scorer_option
    @functools.wraps(command)
    def run(
        dict_file: Path | str,
        vectors: Path | None,
        scorer: str | None,
        cutoff: float | None = None,
        **others: Any,
    ) -> None:
        embedding = embedding_of(vectors)
        scoring: dict[str, Any] = {"scorer": scorer, "score_cutoff": cutoff}
        reading: dict[str, Any] = {name: others.pop(name) for name in ("format", "key", "value")}
        for name in ("sheet", "delimiter", "encoding"):
            reading[name] = others.pop(f"{side}{name}".replace("-", "_"))
        if not isinstance(dict_file, str):
            d = open_dict(dict_file, Reading(**reading, side=side), embedding=embedding, **scoring)
            command(d, **others)
            return
        for name, value in reading.items():
            if value is not None:
                option = f"--{side if name in ('sheet', 'delimiter', 'encoding') else ''}{name}"
                raise click.UsageError(f"{option} is for a file; DICT is a store, so leave it out")
        with connect(dict_file, embedding=embedding) as remote:
            for name, value in scoring.items():
                if value is not None:
                    setattr(remote, name, value)
            command(remote, **others)

    return run
