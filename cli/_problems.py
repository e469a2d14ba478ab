"""Errors of commands: one line on standard error, never a traceback."""

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

__all__ = ["Command", "check_ending", "check_place", "report_errors"]

P = ParamSpec("P")
_USAGE = 2
#: Endings of files that are neither dicts nor tables.
_OTHER_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_OTHER_ENDINGS[".htm"] = "html"


class Command(click.Command):
    """A command with an example at the end of its help. An unknown option lists the valid ones."""

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


def report_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Report errors of files and arguments in one line, and exit with code 2."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A value may hold characters that the terminal's encoding lacks.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            # The reader has closed the pipe. Python would fail again when it flushes on exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except FuzzyDictError as error:
            _fail(str(error))
        except OSError as error:
            why = error.strerror or str(error)
            _fail(f"{error.filename}: {why}" if error.filename else why)
        except RecursionError:
            _fail("a value is nested too deeply to be printed; flatten it")
        except MemoryError:
            _fail("not enough memory for this file; use a smaller one")

    return run


def check_place(output: Path, sources: Sequence[Path] = ()) -> None:
    """Check before any work that ``output`` can be written and is none of ``sources``."""
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
    from fuzzydict.io.records import ENDINGS

    if (ENDINGS | _OTHER_ENDINGS).get(output.suffix.lower(), own) != own:
        raise click.UsageError(f"{output} would hold {holds}, which is not what its ending says")


def _fail(message: str) -> None:
    click.echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(_USAGE)
