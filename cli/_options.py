"""What commands share: files as arguments, the options of each, and DICT, opened as these say."""

from __future__ import annotations

import errno
import functools
import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import click

from fuzzydict import (
    ArgumentTypeError,
    FileFormatError,
    FuzzyDict,
    OptionError,
    RemoteDict,
    WordVectors,
    connect,
)
from fuzzydict.embedding.word_vectors import ENGLISH, English
from fuzzydict.errors import quoted
from fuzzydict.io.dict_files import FORMATS, open_dict, read_dict
from fuzzydict.io.text_tables import ENDINGS, Reading
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.search.score import SPELLING, is_probability
from fuzzydict.search.taught import SynonymRules
from fuzzydict.stores.base import is_address

from ._output import Command, is_watched, one_of, telling_if_slow

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
#: What a command that only reads may get as DICT.
AnyDict: TypeAlias = FuzzyDict[Any] | RemoteDict
#: Endings of files that are neither dicts nor tables.
_OTHER_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_OTHER_ENDINGS[".htm"] = "html"


# ---- files --------------------------------------------------------------------------------


class _File(click.Path):
    """Names a file; or what it may be as well: "a folder" to make, "a store" of keys, or "-"."""

    def __init__(self, or_else: str = "") -> None:
        super().__init__()
        self._or_else = or_else

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Path | str:
        """Return the path, if the system can have a file of this name; an address as it is."""
        if is_address(value):
            if self._or_else == "a store":
                return str(value)
            problem = (
                "expected a file, got the address of a store, which only DICT of attend, explain, "
                "explore, lookup and map may be"
            )
            self.fail(problem, param, ctx)
        is_name = False
        with suppress(UnicodeError):
            is_name = value not in ("", "-") and b"\0" not in os.fsencode(value)
        if not is_name and value != self._or_else:
            self.fail(f"expected the name of a file, got {quoted(value)}", param, ctx)
        path = Path(value)
        ends_as_folder = os.path.split(value)[1] in ("", os.curdir)
        if ends_as_folder and not path.is_dir() and self._or_else != "a folder":
            self.fail(f"{quoted(value)} names a folder, and there is none", param, ctx)
        return path


#: The types of what names a file, a folder that need not exist, or a table, which may be `-`.
FILE, FOLDER, TABLE = _File(), _File("a folder"), _File("-")


def check_place(output: Path, sources: Sequence[Path] = ()) -> None:
    """Check before any work that ``output`` can be written and is none of ``sources``."""
    with suppress(FileNotFoundError):
        output.stat()  # or say that it is in a file, in a loop of links, or where nobody may look
    output.parent.stat()  # or say that there is no such folder
    if output.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    if any(output.exists() and source.exists() and output.samefile(source) for source in sources):
        raise click.UsageError(f"{output} is one of the files to read; save elsewhere (-o)")


def check_ending(output: Path, content: str, own: str) -> None:
    """Refuse an output file whose ending names another format than ``own``."""
    if (ENDINGS | _OTHER_ENDINGS).get(output.suffix.lower(), own) != own:
        raise click.UsageError(f"{output} would hold {content}, but its ending says otherwise")


def check_picture(option: str, output: Path, *kinds: str) -> str:
    """Return the kind of a picture to be drawn, once it is one of some and can be drawn."""
    kind = output.suffix[1:].lower()
    if kind not in kinds:
        endings = " or ".join([", ".join(f".{one}" for one in kinds[:-1]), f".{kinds[-1]}"])
        raise click.UsageError(f"{option}: {output}: expected a name that ends in {endings}")
    check_place(output)
    if kind != "html":  # into files, whatever window other programs draw to
        os.environ["MPLBACKEND"] = "agg"
        from fuzzydict.results.plotting import load_pyplot

        load_pyplot()
    return kind


# ---- options ------------------------------------------------------------------------------


def option(written: str, text: str, **settings: Any) -> Decorator:
    """Return what adds an option, written as the help shows it: "-o --output FILE", a path."""
    *words, last = written.split()
    if last == "FILE":
        settings.setdefault("type", FILE)
    settings["show_default"] = "default" in settings
    if last.isupper():
        return click.option(*words, metavar=last, help=text, **settings)
    return click.option(*words, last, help=text, **settings)


class Integer(click.IntRange):
    """An option that takes an integer in a range, and says so in plain words."""

    name = "integer"


class Number(click.FloatRange):
    """An option that takes a number in a range."""

    name = "number"


class Choice(click.Choice[str]):
    """An option that takes one of a few names."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return what is wrong, and which names are right."""
        return f"{quoted(value)}{one_of(value, self.choices)}"


def check_limits(scorer: Any) -> None:
    """Refuse limits of scores that are no scores, nor infinite: NaN, or 2 for a probability."""
    low, high = (0, 1) if is_probability(scorer) else (-math.inf, math.inf)
    ctx = click.get_current_context()
    for name in ("score_cutoff", "sure"):
        number = ctx.params.get(name)
        if number is not None and not (low <= number <= high or math.isinf(number)):
            hint = f"'--{name.replace('_', '-')}'"
            expected = f"expected a number from {low} to {high}, got {number:g}"
            raise click.BadParameter(expected, ctx, param_hint=hint)


CUTOFF = option(
    "--score-cutoff",
    "Lowest score that counts as a match; by default 0.5, more likely right than not.",
    type=float,
)
EMBEDDING = option(
    "--embedding NAME",
    f"`{ENGLISH}`, which is free for commercial use, or a file of word vectors that "
    f"`fuzzydict train` made; by default the Brown vectors, which are for non-commercial use.",
    type=FILE,
)
SYNONYMS = option(
    "--synonyms FILE",
    "Words, and the text that stands for each in all texts, or nothing: a CSV file of two "
    "columns without a header, or a JSON object.",
)
SCORER = option(
    "--scorer",
    "How keys are scored; by default by spelling and meaning. `spelling` is for configuration "
    "and identifiers.",
    type=Choice([SPELLING, *SCORERS]),
)
SEED = Integer(0, 2**32 - 1)
_OF_DICT = (
    option(
        "--format",
        "Format of DICT; by default what its ending says, or else JSON. A saved dict is "
        "recognized.",
        type=Choice(FORMATS),
    ),
    option("--key NAME", "Column of the keys in a CSV, TSV, JSON Lines or .xlsx file."),
    option("--value NAME", "Column of the values."),
)
_READING = {
    "sheet": "Sheet of an .xlsx workbook; by default the first that is not hidden.",
    "delimiter": "What is between cells of CSV: one character, `comma`, `semicolon`, `tab` or "
    "`pipe`; by default a guess, which is told.",
    "encoding": "Encoding of CSV, such as windows-1252; by default UTF-8, or a guess, which is "
    "told.",
}


def reading_options(file: str, side: str = "") -> list[Decorator]:
    """Return the options that say how a table is read: its sheet, delimiter and encoding.

    They begin with ``side``, if there are two tables.
    """
    return [
        option(
            f"--{side}{name} {'SIGN' if name == 'delimiter' else 'NAME'}",
            f"{name.capitalize()} of {file.upper()}." if side else text,
        )
        for name, text in _READING.items()
    ]


def taken(given: dict[str, Any], side: str = "") -> dict[str, Any]:
    """Take what `reading_options` of a side say out of the options that are given."""
    prefix = side.replace("-", "_")
    return {name: given.pop(f"{prefix}{name}") for name in _READING}


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
    try:
        found = read_dict(synonyms).items()
    except FileFormatError as error:  # which tells of options that are for DICT
        what = str(error).partition("; ")[0]
        raise OptionError(
            f"--synonyms: {what}; give rows of a word and its text, such as KST,cost center, or a "
            f'JSON object, such as {{"KST": "cost center", "Ltd": ""}}'
        ) from None
    texts = {name: str(text) if type(text) in (int, float) else text for name, text in found}
    try:
        return SynonymRules(texts).given
    except (ArgumentTypeError, OptionError) as error:
        raise OptionError(f"{synonyms}: {error}") from None


# ---- DICT ---------------------------------------------------------------------------------


def dict_command(
    name: str,
    example: str,
    *,
    takes_store: bool = False,
    has_cutoff: bool = True,
    beside_table: bool = False,
    is_scored: bool = True,
) -> Callable[[Callable[..., None]], click.Command]:
    """Return what makes a command of a function that gets the dict which DICT names.

    The dict may be beside a table, which then has the options without a side.
    """
    side = "dict-" if beside_table else ""
    shared = [CUTOFF] if has_cutoff else []
    shared += [*_OF_DICT, EMBEDDING, SYNONYMS, *([SCORER] if is_scored else [])]
    shared += reading_options("dict", side)
    shared += reading_options("table") if beside_table else []

    def decorate(asked: Callable[..., None]) -> click.Command:
        @click.argument("dict_file", metavar="DICT", type=_File("a store" if takes_store else ""))
        @functools.wraps(asked)
        def run(dict_file: Path | str, **given: Any) -> None:
            d = _opened(dict_file, given, side)
            check_limits(d.scorer)
            if is_scored and is_watched() and isinstance(d, FuzzyDict):  # before another bar
                with telling_if_slow("loading the word vectors, and encoding the keys"):
                    d.nearest(["first of all"], default=None)
            asked(d, **given)

        command = click.command(name, cls=Command, example=example)(run)
        for add in shared:  # at the end of its own
            add(command)
        return command

    return decorate


def _opened(dict_file: Path | str, given: dict[str, Any], side: str) -> AnyDict:
    """Open a file, or the store at an address, as options say, which are taken out of ``given``."""
    reading = {name: given.pop(name) for name in ("format", "key", "value")}
    reading |= taken(given, side)
    embedding = embedding_of(given.pop("embedding"))
    options = {name: given.pop(name, None) for name in ("scorer", "score_cutoff")}
    synonyms = synonyms_of(given.pop("synonyms"))
    if not isinstance(dict_file, str):
        with telling_if_slow(f"reading {dict_file}"):
            d = open_dict(dict_file, Reading(**reading, side=side), embedding=embedding, **options)
            if synonyms:
                d.synonyms.update(synonyms)
        return d
    for name, value in reading.items():
        if value is not None:
            option = f"--{side if name in _READING else ''}{name}"
            raise click.UsageError(f"{option} is for a file; DICT is a store, so leave it out")
    if synonyms:
        raise click.UsageError(
            "--synonyms is for a file; keys in a store were written with theirs: give them to "
            "`fuzzydict push`"
        )
    remote = connect(dict_file, embedding=embedding)
    click.get_current_context().with_resource(remote)  # which ends with the command
    for name, value in options.items():
        if value is not None:
            setattr(remote, name, value)
    return remote
