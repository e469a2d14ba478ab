"""What people read of a command: its lines, progress, and each error and warning in one line."""

import io
import os
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from threading import Timer
from typing import Any, TextIO

import click

from fuzzydict import FuzzyDictError, NoMatchError
from fuzzydict._files import NamedFile
from fuzzydict.errors import printable, quoted
from fuzzydict.mapping import suggestion

_STEPS = 1000  # of a whole bar
_PATIENCE = 2.0  # seconds
# Exit codes; 130 is 128 plus the number of the signal, as in shells.
_USAGE, _BUG, _INTERRUPTED = 2, 3, 130
#: The parts of an address in which passwords stand; a message may leave out what follows.
_SECRETS = re.compile(
    r"(?<=://).*(?:@|\.\.\.)|(?:(?<=[?&]api_key=)|(?<=password=))[^&\s]*", re.I | re.S
)
#: What messages say to programs, and what says the same here.
_AS_OPTIONS = {
    "set validation to 0": "give --validation 0",
    "give remember=True": "give --remember",
    "raise score_cutoff": "raise --score-cutoff",
}
#: Where a context has the arguments as they were given.
GIVEN = "fuzzydict.given"


def echo(*lines: str, err: bool = False) -> None:
    """Print lines on standard output, or on standard error if ``err``, at once.

    Escapes replace what a terminal would obey, except for tabs. If nobody reads standard error any
    more, its lines are dropped, and the command goes on.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        for line in lines:
            print(printable(line, keep="\t"), file=stream)
        stream.flush()
    except OSError:
        if not err:
            raise
        quiet_if_lost(stream)


def echo_text(text: str) -> None:
    """Print a text of several lines on standard output, as `echo` prints each."""
    echo(*text.split("\n"))


def reason(error: NoMatchError) -> str:
    """Return why nothing matches, without the advice for programs."""
    return error.message.partition("; to forget it, ")[0]


def with_options(message: str) -> str:
    """Return a message whose advice names options of the command line, not arguments of Python."""
    for words, options in _AS_OPTIONS.items():
        message = message.replace(words, options)
    return message


# ---- progress, for terminals only ---------------------------------------------------------


def is_watched() -> bool:
    """Tell whether standard error is a terminal, where somebody may wait."""
    return sys.stderr.isatty()


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


# ---- problems -----------------------------------------------------------------------------


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Print errors and warnings in one line each; exit with 2 for bad input, 3 for a bug.

    ``FUZZYDICT_DEBUG=1`` in the environment shows the traceback as well.
    """
    _prepare_streams()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: echo(
                f"Warning: {with_options(' '.join(str(message).split()))}", err=True
            )
            yield
    except (click.exceptions.Exit, click.Abort, click.exceptions.NoArgsIsHelpError):
        raise  # click handles these
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # the reader has enough, and has closed the pipe
        quiet_if_lost(sys.stdout)
        sys.exit(0)
    except Exception as error:
        told, code = _told(error)
        if os.environ.get("FUZZYDICT_DEBUG"):
            echo(*map(_without_secrets, traceback.format_exc().rstrip().split("\n")), err=True)
        echo("Error: " + " ".join(told.split()), err=True)
        sys.exit(code)


def _prepare_streams() -> None:
    """Let the standard streams write any character, and standard output name itself in errors."""
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:  # it was closed before the start
            # What is written to standard output then fails; what would be told is dropped.
            way = os.O_RDONLY if name == "stdout" else os.O_RDWR
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    buffer: Any = getattr(sys.stdout, "buffer", None)
    # With PYTHONUNBUFFERED there is no buffer, and a raw file may write a part alone.
    raw = getattr(buffer, "raw", buffer)
    if type(raw) is io.FileIO:
        named = NamedFile(raw.fileno(), "w", closefd=False)
        named.name = "standard output"
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(named), encoding, errors)


def _told(error: Exception) -> tuple[str, int]:
    """Return what is told of an error, and the exit code."""
    match error:
        case click.ClickException():
            ctx = getattr(error, "ctx", None)  # of an error about arguments
            hint = "" if ctx is None else f" (see {ctx.command_path} --help)"
            message = error.format_message()
            if ctx and isinstance(error, click.NoSuchOption):
                message = _no_such_option(error.option_name, ctx)
            return _without_secrets(message).rstrip(".") + hint, _USAGE
        case FuzzyDictError():
            return with_options(str(error)), _USAGE
        case OSError():
            quiet_if_lost(sys.stdout)  # which may be what failed
            return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "), _USAGE
        case RecursionError():
            return "a value is nested too deeply to be printed; flatten it", _USAGE
        case MemoryError():
            return "not enough memory for this file; use a smaller one", _USAGE
    bug = _without_secrets(f"{type(error).__name__}: {error}")
    report = "please report it with the traceback that FUZZYDICT_DEBUG=1 shows"
    return f"this is a bug in fuzzydict ({bug}); {report}", _BUG


def _no_such_option(name: str, ctx: click.Context) -> str:
    """Return what is told of an option that is not there; click guesses what is less near."""
    options = [one for one in ctx.command.get_params(ctx) if isinstance(one, click.Option)]
    known = [one for option in options for one in (*option.opts, *option.secondary_opts)]
    return f"No such option {quoted(name)}{suggestion(name, known)}"


def _without_secrets(message: str) -> str:
    """Return a message without the user and password of an address that somebody typed."""
    return _SECRETS.sub(lambda found: "...@" if found[0].endswith("@") else "...", message)


def quiet_if_lost(stream: TextIO) -> None:
    """If a stream cannot be written, let it take no more, so that the exit is quiet."""
    try:
        stream.flush()
    except OSError:  # throw away what it has kept: Python would fail to write it on exit
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


# ---- commands -----------------------------------------------------------------------------


class Command(click.Command):
    """A command that reports its problems, and ends its help with an example."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        kwargs["epilog"] = f"\b\nFor example:\n  {example}"
        super().__init__(*args, **kwargs)

    @reporting_problems()
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep them as they were given."""
        ctx.meta[GIVEN] = [*args]
        if not ctx.resilient_parsing:
            self._refuse_repeated(ctx, [*args])
        return super().parse_args(ctx, args)

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a second value of an option that has one: click would drop the first."""
        for one, times in Counter(self.make_parser(ctx).parse_args(args)[-1]).items():
            if isinstance(one, click.Option) and times > 1 and not (one.is_flag or one.multiple):
                hint = one.get_error_hint(ctx)
                ctx.fail(f"{hint} takes one value, and is given {times} times; keep one")

    @reporting_problems()
    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        return super().invoke(ctx)


class Group(Command, click.Group):
    """Commands of a ``kind``, imported when they are used, such as "fuzzydict.cli.fit:command"."""

    def __init__(
        self, *args: Any, members: dict[str, str], kind: str = "command", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._members, self._kind = members, kind

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._members:
            command: click.Command = resolve_name(self._members[cmd_name])
            return command
        if not ctx.resilient_parsing:  # else a shell completes a command line
            meant, valid = suggestion(cmd_name, self._members), ", ".join(self._members)
            ctx.fail(f"No such {self._kind} {quoted(cmd_name)}{meant}; valid are {valid}")
        return None
