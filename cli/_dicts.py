"""The argument DICT, the options that say how it is read and scored, and those of tables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import click

from fuzzydict import (
    ArgumentTypeError,
    FuzzyDict,
    OptionError,
    RemoteDict,
    WordVectors,
    connect,
)
from fuzzydict.embedding.word_vectors import ENGLISH, English
from fuzzydict.io.dict_files import FORMATS, open_dict, read_dict
from fuzzydict.io.records import Reading
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.search.score import SPELLING
from fuzzydict.search.synonyms import SynonymRules

from ._completion import DICT, Source, columns_of, sheets_of, sheets_of_table
from ._problems import FILE, FILE_OR_STORE, Choice, Decorator
from ._progress import is_watched, telling_if_slow

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
    "--score-cutoff",
    type=float,
    callback=no_nan,
    help="Lowest score that counts as a match; by default 0.5, more likely right than not.",
)
embedding_option = click.option(
    "--embedding",
    metavar="NAME",
    type=FILE,
    help=f"`{ENGLISH}`, which is free for commercial use, or a file of word vectors that "
    f"`fuzzydict train` made; by default the Brown vectors, which are for non-commercial use.",
)
synonyms_option = click.option(
    "--synonyms",
    metavar="FILE",
    type=FILE,
    help="Words, and the text that stands for each in all texts, or nothing: a CSV file of two "
    "columns without a header, or a JSON object.",
)
scorer_option = click.option(
    "--scorer",
    type=Choice([SPELLING, *SCORERS]),
    help="How keys are scored; by default by spelling and meaning. `spelling` is for configuration "
    "and identifiers.",
)


def scoring_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what says how texts are compared to a command."""
    return embedding_option(synonyms_option(scorer_option(command)))


_KEY_AND_VALUE = (
    click.option(
        "--key",
        metavar="NAME",
        shell_complete=columns_of(DICT),
        help="Column of the keys in a CSV, TSV, JSON Lines or .xlsx file.",
    ),
    click.option(
        "--value", metavar="NAME", shell_complete=columns_of(DICT), help="Column of the values."
    ),
)
_SHEET = "Sheet of an .xlsx workbook; by default the first that is not hidden."
_DELIMITER = (
    "What is between cells of CSV: one character, `comma`, `semicolon`, `tab` or `pipe`; by "
    "default a guess, which is told."
)
_ENCODING = "Encoding of CSV, such as windows-1252; by default UTF-8, or a guess, which is told."


def reading_options(side: str = "", of: str = "", source: Source | None = None) -> Decorator:
    """Return what adds the options that say how a table is read: sheet, delimiter, encoding.

    Args:
        side: what they begin with, if there are two tables.
        of: which table they are of then.
        source: the same, for completion.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name, metavar, text in (
            ("encoding", "NAME", _ENCODING),
            ("delimiter", "SIGN", _DELIMITER),
            ("sheet", "NAME", _SHEET),
        ):
            complete = sheets_of(source) if source else sheets_of_table
            command = click.option(
                f"--{side}{name}",
                metavar=metavar,
                shell_complete=complete if name == "sheet" else None,
                help=f"{name.capitalize()} of {of}." if of else text,
            )(command)
        return command

    return add


def embedding_of(embedding: Path | None) -> WordVectors | None:
    """Return what ``--embedding`` names; None for the default."""
    if embedding is None:
        return None
    if str(embedding) == ENGLISH:
        return English()
    if not embedding.exists():
        raise OptionError(
            f"--embedding: {embedding}: No such file; name one that `fuzzydict train` made, or "
            f"`{ENGLISH}`"
        )
    return WordVectors.load(embedding)


def synonyms_of(synonyms: Path | None) -> dict[str, str]:
    """Return what the file that ``--synonyms`` names says, with numbers as texts."""
    if synonyms is None:
        return {}
    found = read_dict(synonyms).items()
    texts = {name: str(text) if type(text) in (int, float) else text for name, text in found}
    try:
        return SynonymRules(texts).given
    except (ArgumentTypeError, OptionError) as error:
        raise OptionError(f"{synonyms}: {error}") from None


def opens_dict(*, beside_table: bool = False, is_scored: bool = True) -> Decorator:
    """Return what adds the options of DICT to a command, and passes it the `FuzzyDict`.

    Put `dict_argument` above, and `cutoff_option` if the command matches.

    Args:
        beside_table: whether the command reads a table, too, which has the options without a side.
        is_scored: whether the command compares texts.
    """
    side = "dict-" if beside_table else ""

    def decorate(asked: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(asked)
        def run(dict_file: Path | str, **given: Any) -> None:
            reading = {name: given.pop(name) for name in ("format", "key", "value")}
            for name in ("sheet", "delimiter", "encoding"):
                reading[name] = given.pop(f"{side}{name}".replace("-", "_"))
            options: dict[str, Any] = {"embedding": embedding_of(given.pop("embedding"))}
            options |= {name: given.pop(name, None) for name in ("scorer", "score_cutoff")}
            synonyms = synonyms_of(given.pop("synonyms"))
            if isinstance(dict_file, str):
                _refuse_reading(reading, side)
                with _connected(dict_file, synonyms, **options) as remote:
                    asked(remote, **given)
                return
            with telling_if_slow(f"reading {dict_file}"):
                d = open_dict(dict_file, Reading(**reading, side=side), **options)
                if synonyms:
                    d.synonyms.update(synonyms)
            if is_scored and is_watched():  # before the command shows a bar of its own
                with telling_if_slow("loading the word vectors, and encoding the keys"):
                    d.nearest(["first of all"], default=None)
            asked(d, **given)

        added: list[Decorator] = [reading_options()]
        if beside_table:
            added.append(reading_options("dict-", "DICT", DICT))
        added += [scoring_options] if is_scored else [synonyms_option, embedding_option]
        added += [*_KEY_AND_VALUE[::-1], _format_option]
        command: Callable[..., None] = run
        for option in added:
            command = option(command)
        return command

    return decorate


_format_option = click.option(
    "--format",
    type=Choice(FORMATS),
    help="Format of DICT; by default what its ending says, or else JSON. A saved dict is "
    "recognized.",
)


def _refuse_reading(reading: Mapping[str, Any], side: str) -> None:
    """Refuse options that say how a file is read, for a store."""
    for name, value in reading.items():
        if value is not None:
            option = f"--{side if name in ('sheet', 'delimiter', 'encoding') else ''}{name}"
            raise click.UsageError(f"{option} is for a file; DICT is a store, so leave it out")


def _connected(url: str, synonyms: Mapping[str, str], *, embedding: Any, **options: Any) -> Any:
    if synonyms:
        raise click.UsageError(
            "--synonyms is for a file; keys in a store were written with theirs: give them to "
            "`fuzzydict push`"
        )
    remote = connect(url, embedding=embedding)
    for name, value in options.items():
        if value is not None:
            setattr(remote, name, value)
    return remote
