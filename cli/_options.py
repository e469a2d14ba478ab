"""What commands share: files, options, DICT as these say, and tables that are read and written."""

import errno
import functools
import math
import os
import sys
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

import click

from fuzzydict import FuzzyDict, FuzzyDictError, OptionError, WordVectors, connect
from fuzzydict.embedding.word_vectors import ENGLISH, English
from fuzzydict.errors import quoted
from fuzzydict.io.columns import Cleaned, Source
from fuzzydict.io.dict_files import FORMATS, open_dict, read_dict
from fuzzydict.io.text_tables import (
    ENDINGS,
    FILES_ONLY,
    TABLES,
    ZIP,
    Reading,
    format_by_ending,
    is_same,
)
from fuzzydict.nn.scorers import SCORERS
from fuzzydict.search.score import SPELLING, is_probability
from fuzzydict.search.taught import SynonymRules
from fuzzydict.stores.base import is_address
from fuzzydict.stores.remote import AnyDict

from ._output import Command, echo, is_watched, telling_if_slow

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
#: Endings of files whose format is known.
_KNOWN = {*ENDINGS, ".html", ".htm", ".png", ".projections", ".svg", ".vectors"}
_BEGINNINGS = {ZIP: "xlsx", b"PAR1": "parquet"}  # of files, and their formats


# ---- files --------------------------------------------------------------------------------


class _File(click.Path):
    """Names a file; or what it may be as well: "a folder" to make, "a store" of keys, or "-"."""

    def __init__(self, or_else: str = "") -> None:
        super().__init__()
        self._or_else = or_else

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Path | str:
        """Return the path; an address as it is."""
        if is_address(value):
            if self._or_else == "a store":
                return str(value)
            self.fail("expected a file, got the address of a store", param, ctx)
        if value in ("", "-") and value != self._or_else:
            self.fail(f"expected the name of a file, got {quoted(value)}", param, ctx)
        path, last = Path(value), os.path.split(value)[1]
        if last in ("", os.curdir) and not path.is_dir() and self._or_else != "a folder":
            self.fail(f"{quoted(value)} names a folder, and there is none", param, ctx)
        return path


#: The types of what names a file, a folder that need not exist, or a table, which may be `-`.
FILE, FOLDER, TABLE = _File(), _File("a folder"), _File("-")


def check_place(output: Path, *sources: Path | str, content: str = "", ending: str = "") -> None:
    """Check before any work that ``output`` can be written, and is no file that is read.

    If its ``content`` is told, nor may it end as files of another format than ``ending``.
    """
    given = click.get_current_context().params
    read = [*sources, *map(given.get, ("dict_file", "embedding", "synonyms"))]
    try:
        output.stat()  # or say that it is in a file, in a loop of links, or where nobody may look
    except FileNotFoundError:
        output.parent.stat()  # or say that there is no such folder
    if output.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    if any(is_same(output, source) for source in read):
        raise click.UsageError(f"{output} is one of the files to read; save elsewhere")
    if content and output.suffix.lower() in _KNOWN - {ending}:
        raise click.UsageError(f"{output} would hold {content}, but its ending says otherwise")


def check_picture(option: str, output: Path, *kinds: str) -> str:
    """Return the kind of a picture to be drawn, once it is one of some and can be drawn."""
    kind = output.suffix[1:].lower()
    if kind not in kinds:
        expected = f"expected a name that ends in {', '.join(f'.{one}' for one in kinds)}"
        raise click.UsageError(f"{option}: {output}: {expected}")
    check_place(output)
    if kind != "html":  # into files, whatever window other programs draw to
        os.environ["MPLBACKEND"] = "agg"
        from fuzzydict.results.plotting import load_pyplot

        load_pyplot()
    return kind


# ---- options ------------------------------------------------------------------------------


def option(written: str, text: str, kind: Any = None, **settings: Any) -> Decorator:
    """Return what adds an option, written as the help shows it: "-o --output FILE", a path."""
    *words, last = written.split()
    settings |= {"type": FILE if last == "FILE" else kind, "show_default": "default" in settings}
    if last.isupper():
        return click.option(*words, metavar=last, help=text, **settings)
    return click.option(*words, last, help=text, **settings)


def check_limits(scorer: Any) -> None:
    """Refuse limits of scores that are no scores, nor infinite: NaN, or 2 for a probability."""
    low, high = (0, 1) if is_probability(scorer) else (-math.inf, math.inf)
    ctx = click.get_current_context()
    for name in ("score_cutoff", "sure"):
        number = ctx.params.get(name)
        if number is not None and not (low <= number <= high or math.isinf(number)):
            expected = f"expected a number from {low} to {high}, got {number:g}"
            raise click.BadParameter(expected, ctx, param_hint=f"'--{name.replace('_', '-')}'")


CUTOFF = option("--score-cutoff", "Lowest score that counts as a match; by default 0.5.", float)
EMBEDDING = option(
    "--embedding NAME",
    f"`{ENGLISH}`, which is free for commercial use, or a file of word vectors that "
    f"`fuzzydict train` made; by default the Brown vectors, which are for non-commercial use.",
    FILE,
    envvar="FUZZYDICT_EMBEDDING",
    show_envvar=True,
)
SYNONYMS = option(
    "--synonyms FILE", "Words, and the text that stands for each: CSV without a header, or JSON."
)
SCORER = option(
    "--scorer",
    "How keys are scored; by default by meaning and spelling.",
    click.Choice([SPELLING, *SCORERS]),
)
FAIL_UNMATCHED = option("--fail-unmatched", "Exit with 1 if a row matches nothing.", is_flag=True)
_OF_DICT = (
    option("--format", "Format of DICT; by default as its ending says.", click.Choice(FORMATS)),
    option("--key NAME", "Column of the keys in a CSV, TSV, JSON Lines or .xlsx file."),
    option("--value NAME", "Column of the values."),
)
_READING = {
    "sheet": "Sheet of an .xlsx workbook; by default the first that is not hidden.",
    "delimiter": "A character, `comma`, `semicolon`, `tab` or `pipe`; by default it is guessed.",
    "encoding": "Encoding of CSV, such as windows-1252; by default it is guessed.",
}


def _reading_options(file: str, side: str) -> list[Decorator]:
    """Return the options that say how a file is read, which begin with ``side`` if it has one."""
    return [
        option(
            f"--{side}{name} {'SIGN' if name == 'delimiter' else 'NAME'}",
            f"{name.capitalize()} of {file}." if side else text,
        )
        for name, text in _READING.items()
    ]


def table_options(table: str, side: str = "") -> list[Decorator]:
    """Return the options that say how a table is read; if there are two, they begin otherwise."""
    told = f"Format of {table}; by default as its ending says."
    form = option(f"--{side or 'table-'}format", told, click.Choice(TABLES))
    return [*_reading_options(table, side), form]


def _reading(given: dict[str, Any], side: str, form: str, **columns: Any) -> Reading:
    """Return how a file is read, as options say, which are taken out of ``given``."""
    taken = {name: given.pop(f"{side.replace('-', '_')}{name}") for name in _READING}
    return Reading(format=given.pop(form.replace("-", "_")), side=side, **taken, **columns)


def embedding_of(embedding: Path | None) -> WordVectors | None:
    """Return what ``--embedding`` names; None for the default."""
    if embedding is None:
        return None
    if str(embedding) == ENGLISH:
        return English()
    if not embedding.is_file():
        made, got = f"`{ENGLISH}`, or a file that `fuzzydict train` made", quoted(str(embedding))
        click.get_current_context().fail(f"--embedding: expected {made}, got {got}")
    return WordVectors.load(embedding)


def synonyms_of(synonyms: Path | None) -> dict[str, str]:
    """Return what the file that ``--synonyms`` names says, with numbers as texts."""
    if synonyms is None:
        return {}
    try:
        found = read_dict(synonyms, Reading(side=None)).items()  # no option says how
        texts = {word: str(text) if type(text) in (int, float) else text for word, text in found}
        return SynonymRules(texts).given
    except FuzzyDictError as error:
        what = str(error).partition("; ")[0]  # the rest tells of options that are for DICT
        file = "" if what.startswith(str(synonyms)) else f"{synonyms}: "
        raise OptionError(
            f"--synonyms: {file}{what}; give a .csv file with rows such as KST,cost center, "
            f'or a .json file such as {{"KST": "cost center", "Ltd": ""}}'
        ) from None


# ---- DICT ---------------------------------------------------------------------------------


def dict_command(
    name: str,
    example: str,
    *,
    takes_store: bool = False,
    beside_table: bool = False,
    scored_by: tuple[Decorator, ...] = (CUTOFF, SCORER),
) -> Callable[[Callable[..., None]], click.Command]:
    """Return what makes a command of a function that gets the dict which DICT names."""
    side = "dict-" if beside_table else ""  # a table has the options of reading without a side
    shared = [*scored_by, *_OF_DICT, EMBEDDING, SYNONYMS, *_reading_options("DICT", side)]
    shared += table_options("TABLE") if beside_table else []

    def decorate(asked: Callable[..., None]) -> click.Command:
        @click.argument("dict_file", metavar="DICT", type=_File("a store" if takes_store else ""))
        @functools.wraps(asked)
        def run(dict_file: Path | str, **given: Any) -> None:
            with telling_if_slow("opening the dict"):
                d = _opened(dict_file, given, side)
                check_limits(d.scorer)
                if (cutoff := given.pop("score_cutoff", None)) is not None:
                    d.score_cutoff = cutoff
                if scored_by and is_watched() and isinstance(d, FuzzyDict):  # before another bar
                    d.nearest(["first of all"], default=None)
            asked(d, **given)

        command = click.command(name, cls=Command, example=f"fuzzydict {name} {example}")(run)
        for add in shared:  # at the end of its own
            add(command)
        return command

    return decorate


def _opened(dict_file: Path | str, given: dict[str, Any], side: str) -> AnyDict:
    """Open a file, or the store at an address, as options say, which are taken out of ``given``."""
    reading = _reading(given, side, "format", key=given.pop("key"), value=given.pop("value"))
    embedding = embedding_of(given.pop("embedding"))
    synonyms = synonyms_of(given.pop("synonyms"))
    scorer = given.pop("scorer", None)
    if not isinstance(dict_file, str):
        d = open_dict(dict_file, reading, embedding=embedding, scorer=scorer)
        if synonyms:
            d.synonyms.update(synonyms)
        return d
    for name, value in reading._replace(side=None)._asdict().items():
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
    if scorer is not None:
        remote.scorer = scorer
    return remote


# ---- tables -------------------------------------------------------------------------------


def opened(table: Path, column: str, given: dict[str, Any], side: str = "") -> Source:
    """Return the column of a table, a folder of tables, or standard input for `-`.

    What `table_options` say is taken out of the options that are given. If they name no format,
    the ending tells it, or the first line of standard input.
    """
    option_of_format = f"{side or 'table-'}format"
    reading = _reading(given, side, option_of_format)
    form = reading.format
    if table != Path("-"):
        form = form or format_by_ending(table)
        if form is None and not table.is_dir():
            table.stat()  # or raise FileNotFoundError
            is_old = table.suffix.lower() == ".xls"
            advice = "save it as .xlsx" if is_old else f"give --{option_of_format}"
            raise click.UsageError(f"the ending of {str(table)!r} names no table format; {advice}")
        return Source(table, column, reading._replace(format=form))
    stream: Any = sys.stdin.buffer
    if form is None:
        stream = stream if hasattr(stream, "peek") else BufferedReader(stream)
        line = stream.peek().partition(b"\n")[0]
        form = _BEGINNINGS.get(line[:4], "csv")
        if line.lstrip()[:1] in (b"{", b"["):
            form = "jsonl"
        elif b"\t" in line and not {*b",;|"} & {*line}:
            form = "tsv"
    if form in FILES_ONLY:
        raise click.UsageError(f"{form} cannot be read from standard input; name a file")
    return Source(stream, column, reading._replace(format=form))


def place_of(source: Source, output: Path | None, *others: Path | str) -> Path | BinaryIO:
    """Return where a table is written: a file, or standard output if none is named.

    Before any work it checks that this can be done. The file may be the table itself, but none of
    the others that are read.
    """
    form = str(source.reading.format)
    if output is None:
        if form in FILES_ONLY:
            raise click.UsageError(f"{form} needs a file to be written to (-o)")
        return sys.stdout.buffer
    named, ending = format_by_ending(output), output.suffix.lower()
    of_table = source.table.suffix.lower() if isinstance(source.table, Path) else ""
    if named != form and (named or ending not in ("", ".txt", of_table)):
        told = f"{output} would hold {form}, but its ending says otherwise; end it in .{form}"
        raise OptionError(told)
    check_place(output, *others)
    return output


def finish(
    place: Path | BinaryIO, counts: Cleaned, sure: float, *more: str, fails: bool
) -> NoReturn:
    """Print the numbers of rows, and more lines, on standard error; exit, with 1 if it fails."""
    if not isinstance(place, Path):
        place.flush()  # so that a closed pipe is handled as one
    refused = f"{counts.refused} without a key as decided, " if counts.refused else ""
    told = (
        f"{counts.rows} row{'s' * (counts.rows != 1)}: {counts.matched} matched "
        f"({counts.doubtful} doubtful, with a score below {sure:g}), "
        f"{counts.unmatched} unmatched, {refused}{counts.blank} blank"
    )
    echo(told, *more, err=True)
    sys.exit(1 if fails and counts.unmatched else 0)
