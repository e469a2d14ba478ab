"""What a command says when it cannot go on: one line on standard error, never a traceback."""

from __future__ import annotations

import errno
import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec

import click

from fuzzydict import FuzzyDictError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Command", "check_ending", "check_place", "for_commands", "told_in_a_line"]

P = ParamSpec("P")
_USAGE = 2
#: What endings tell that are those of no dicts and tables.
_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_ENDINGS[".htm"] = "html"
#: What messages advise in Python, and what that is to who runs a command.
_ADVICE = {
    "validation=0": "--validation 0",
    "loosen attn_mask, or widen the scorer": "give fewer --mask, or a dict with a wider scorer",
    "or set d.index = 'exact'": "or save the dict from Python with d.index = 'exact'",
    "set d.index = 'exact',": "save the dict from Python with d.index = 'exact',",
    "pass the first as embedding=": "name the first with --vectors",
    "set d.scorer = None first": "save the dict from Python with d.scorer = None",
}


class Command(click.Command):
    """A command whose help ends in an example, and that names its options where one is unknown."""

    def __init__(self, *args: Any, example: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.example:
            with formatter.section("For example"):
                formatter.write(f"  {self.example}\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            valid = sorted(name for p in self.get_params(ctx) for name in p.opts if name[:1] == "-")
            raise click.UsageError(
                f"No such option: {error.option_name}; valid are {', '.join(valid)}.", ctx
            ) from error


def told_in_a_line(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command end with exit code 2 and one line where a file or an argument is wrong."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A value may hold what the terminal's encoding has no bytes for.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            # The reader has enough. Python would complain again when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except FuzzyDictError as error:
            _fail(for_commands(str(error)))
        except OSError as error:
            _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except RecursionError:
            _fail("a value is nested too deeply to be written; flatten it")
        except MemoryError:
            _fail("there is not enough memory for this file; take a smaller one")

    return run


def for_commands(message: str) -> str:
    """Return a message whose advice goes for the command line."""
    for python, command in _ADVICE.items():
        message = message.replace(python, command)
    return message


def check_place(output: Path, sources: Sequence[Path] = ()) -> None:
    """Say at once, not after minutes of work, that nothing can be saved at ``output``."""
    if any(output.exists() and source.exists() and output.samefile(source) for source in sources):
        raise click.UsageError(f"{output} is one of the files to read; save elsewhere (-o)")
    if output.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    folder = next(place for place in output.parents if place.exists())
    if not folder.is_dir():
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if folder != output.parent:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(output.parent))


def check_ending(output: Path, holds: str, own: str) -> None:
    """Refuse a name that tells of something else than the file will be, which is its ``own``."""
    from fuzzydict.dictfiles import told_format
    from fuzzydict.tables import table_format

    other = _ENDINGS.get(output.suffix.lower())
    if (told_format(output) or table_format(output) or other) not in (None, own):
        raise click.UsageError(f"{output} would hold {holds}, not what its ending tells")


def _fail(message: str) -> None:
    click.echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(_USAGE)
