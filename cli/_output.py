"""What people read of a command: its lines, progress, and each error and warning in one line."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from importlib import import_module
from threading import Timer
from typing import Any, NoReturn, TextIO

import click

from fuzzydict import FuzzyDictError, NoMatchError
from fuzzydict.errors import printable, quoted
from fuzzydict.mapping import suggestion

STANDARD_OUTPUT = "standard output"  # as errors name it
_STEPS = 1000  # of a whole bar
_PATIENCE = 2.0  # seconds
# Exit codes; 130 is 128 plus the number of the signal, as in shells.
_USAGE, _BUG, _INTERRUPTED = 2, 3, 130
#: The parts of an address in which passwords stand; a message may leave out what follows.
_SECRETS = re.compile(
    r"(?<=://).*(?:@|\.\.\.)|(?:(?<=[?&]api_key=)|(?<=password=))[^&\s]*", re.I | re.S
)
#: Where a context has the arguments as they were given.
GIVEN = "fuzzydict.given"


def echo(*lines: str, err: bool = False, now: bool = True) -> None:
    """Print lines on standard output, or on standard error if ``err``; flush them if ``now``.

    Escapes replace what a terminal would obey, except for tabs. If nobody reads standard error any
    more, its lines are dropped, and the command goes on.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # it was closed before the start
        return
    try:
        for line in lines:
            print(printable(line, keep="\t"), file=stream)
        if now:
            stream.flush()
    except OSError as error:
        is_lost(stream)
        if not err:
            raise OSError(error.errno, error.strerror, STANDARD_OUTPUT) from error


def echo_text(text: str) -> None:
    """Print a text of several lines on standard output, as `echo` prints each."""
    echo(*text.split("\n"))


def is_lost(stream: TextIO | None) -> bool:
    """Tell whether a stream cannot be written; then it takes no more, and the exit is quiet."""
    if stream is None:
        return False
    try:
        stream.flush()
    except OSError:  # throw away what it has kept: Python would fail to write it on exit
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return True
    return False


def prepare_streams() -> None:
    """Let the standard streams write any character, and standard output all that it is given."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED: it would write a part, and not say so
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = os.fdopen(raw.fileno(), "w", -1, encoding, errors, closefd=False)


# ---- progress, for terminals only ---------------------------------------------------------


def is_watched() -> bool:
    """Tell whether standard error is a terminal, where somebody may wait."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the amount done and the total amount."""
    hidden = not shown or os.environ.get("TERM") == "dumb" or not is_watched()
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda done, total: bar.update(_STEPS * done // max(1, total) - bar.pos)


@contextmanager
def telling_if_slow(what: str) -> Iterator[None]:
    """Print on a terminal what is done, if it takes more than two seconds."""
    timer = Timer(_PATIENCE, lambda: echo(f"{what} ...", err=True))
    timer.daemon = True
    if is_watched():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


# ---- commands -----------------------------------------------------------------------------


def one_of(name: str, valid: Iterable[str]) -> str:
    """Return what follows a wrong name in an error: the name that was meant, and all valid ones."""
    valid = list(valid)
    return f"{suggestion(name, valid)}; valid are {', '.join(valid)}"


class Command(click.Command):
    """A command that reports its problems, and ends its help with an example."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._example = example

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Read the arguments."""
        with nullcontext() if parent else reporting_problems():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with nullcontext() if ctx.parent else reporting_problems():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an error about an option names the valid ones."""
        ctx.meta[GIVEN] = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            valid = sorted(name for p in self.get_params(ctx) for name in p.opts if name[:1] == "-")
            told = f"No such option: {error.option_name}{one_of(error.option_name, valid)}"
            raise click.UsageError(told, ctx) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("For example"):
            formatter.write(f"  {self._example}\n")


class Group(Command, click.Group):
    """Commands that are imported when they are used, such as "fuzzydict.cli.fit:command".

    ``kind`` is what errors call one.
    """

    def __init__(
        self, *args: Any, members: Mapping[str, str], kind: str = "command", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._members, self._kind = members, kind

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._members:
            module, _, name = self._members[cmd_name].partition(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        if not ctx.resilient_parsing:  # else a shell completes a command line
            meant = one_of(cmd_name, self._members)
            ctx.fail(f"No such {self._kind} {quoted(cmd_name)}{meant}")
        return None


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Print errors and warnings in one line each; exit with 2 for bad input, 3 for a bug.

    ``FUZZYDICT_DEBUG=1`` in the environment shows the traceback as well.
    """
    prepare_streams()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: echo(
                f"Warning: {' '.join(str(message).split())}", err=True
            )
            yield
    except click.exceptions.NoArgsIsHelpError as error:
        echo(*error.format_message().split("\n"), err=True)
        sys.exit(_USAGE)
    except click.ClickException as error:
        ctx = getattr(error, "ctx", None)  # of an error about arguments
        hint = "" if ctx is None else f" (see {ctx.command_path} --help)"
        _exit(_without_secrets(error.format_message()).rstrip(".") + hint)
    except (click.exceptions.Exit, click.Abort):
        raise  # click handles these
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # the reader has enough, and has closed the pipe
        is_lost(sys.stdout)
        sys.exit(0)
    except FuzzyDictError as error:
        _exit(str(error))
    except OSError as error:
        why = error.strerror or str(error)
        name = STANDARD_OUTPUT if is_lost(sys.stdout) else error.filename
        _exit(f"{name}: {why}" if name else why)
    except RecursionError:
        _exit("a value is nested too deeply to be printed; flatten it")
    except MemoryError:
        _exit("not enough memory for this file; use a smaller one")
    except Exception as error:
        bug = _without_secrets(f"{type(error).__name__}: {error}")
        report = "please report it with the traceback that FUZZYDICT_DEBUG=1 shows"
        _exit(f"this is a bug in fuzzydict ({bug}); {report}", _BUG)


def _without_secrets(message: str) -> str:
    """Return a message without the user and password of an address that somebody typed."""
    return _SECRETS.sub(lambda found: "...@" if found[0].endswith("@") else "...", message)


def _exit(message: str, code: int = _USAGE) -> NoReturn:
    if os.environ.get("FUZZYDICT_DEBUG"):
        echo(*map(_without_secrets, traceback.format_exc().rstrip().split("\n")), err=True)
    echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(code)


def reason(error: NoMatchError) -> str:
    """Return why nothing matches, without the advice for programs."""
    return error.message.partition("; to forget it, ")[0]
