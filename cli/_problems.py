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

__all__ = ["Command", "check_ending", "check_place", "told_in_a_line"]

P = ParamSpec("P")
_USAGE = 2
#: The formats of files that are no dicts and no tables, by their endings.
_OTHER_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_OTHER_ENDINGS[".htm"] = "html"


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
            _fail(str(error))
        except OSError as error:
            _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except RecursionError:
            _fail("a value is nested too deeply to be written; flatten it")
        except MemoryError:
            _fail("there is not enough memory for this file; take a smaller one")

    return run


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
    """Refuse an output file whose ending says another format than ``own``."""
    from fuzzydict.records import ENDINGS

    if (ENDINGS | _OTHER_ENDINGS).get(output.suffix.lower(), own) != own:
        raise click.UsageError(f"{output} would hold {holds}, which is not what its ending says")


def _fail(message: str) -> None:
    click.echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(_USAGE)
