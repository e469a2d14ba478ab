"""What all commands share: errors and warnings in one line each, and checks of output files."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fuzzydict import FuzzyDictError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Command", "check_ending", "check_place", "reporting_problems"]

_USAGE, _BUG = 2, 3  # exit codes
#: Endings of files that are neither dicts nor tables.
_OTHER_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_OTHER_ENDINGS[".htm"] = "html"


class Command(click.Command):
    """A command that reports its problems, and has an example at the end of its help."""

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

    def invoke(self, ctx: click.Context) -> Any:
        with reporting_problems():
            return super().invoke(ctx)


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Print errors and warnings in one line each; exit with 2 for bad input, 3 for a bug.

    ``FUZZYDICT_DEBUG=1`` in the environment shows the traceback as well.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A value may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _print_warning
            yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise  # click prints these
    except BrokenPipeError:
        # The reader has closed the pipe. Python would fail again when it flushes on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except FuzzyDictError as error:
        _exit(str(error), _USAGE)
    except OSError as error:
        why = error.strerror or str(error)
        _exit(f"{error.filename}: {why}" if error.filename else why, _USAGE)
    except RecursionError:
        _exit("a value is nested too deeply to be printed; flatten it", _USAGE)
    except MemoryError:
        _exit("not enough memory for this file; use a smaller one", _USAGE)
    except Exception as error:
        _exit(
            f"this is a bug in fuzzydict ({type(error).__name__}: {error}); please report it with "
            f"the traceback that FUZZYDICT_DEBUG=1 shows",
            _BUG,
        )


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo("Warning: " + " ".join(str(message).split()), err=True)


def _exit(message: str, code: int) -> NoReturn:
    if os.environ.get("FUZZYDICT_DEBUG"):
        traceback.print_exc()
    click.echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(code)


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


def check_ending(output: Path, content: str, own: str) -> None:
    """Refuse an output file whose ending names another format than ``own``."""
    from fuzzydict.io.records import ENDINGS

    if (ENDINGS | _OTHER_ENDINGS).get(output.suffix.lower(), own) != own:
        raise click.UsageError(f"{output} would hold {content}, but its ending says otherwise")
