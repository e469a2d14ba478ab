"""What all commands share: errors and warnings in one line each, and checks of output files."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import click

from fuzzydict import FuzzyDictError, NoMatchError
from fuzzydict.errors import quoted
from fuzzydict.mapping import suggestion

from ._output import STANDARD_OUTPUT, echo, is_lost, prepare_streams

#: What adds an option to a command.
Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
# Exit codes; 130 is 128 plus the number of the signal, as in shells.
_USAGE, _BUG, _INTERRUPTED = 2, 3, 130
#: Endings of files that are neither dicts nor tables.
_OTHER_ENDINGS = {f".{name}": name for name in ("html", "png", "projections", "svg", "vectors")}
_OTHER_ENDINGS[".htm"] = "html"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|(?:postgres(?:ql)?|qdrant):", re.I)
#: The parts of an address in which passwords stand; a message may leave out what follows.
_SECRETS = re.compile(
    r"(?<=://).*(?:@|\.\.\.)|(?:(?<=[?&]api_key=)|(?<=password=))[^&\s]*", re.I | re.S
)
#: Options by the names that they had before those of Python.
_RENAMED = {"--cutoff": "--score-cutoff", "--number": "--topn", "--vectors": "--embedding"}


class _File(click.Path):
    """An argument that names a file; or a folder that may be a new one, or a store of keys."""

    def __init__(self, *, is_folder: bool = False, is_store: bool = False) -> None:
        super().__init__()
        self._is_folder, self._is_store = is_folder, is_store

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """Return the path, if the system can have a file of this name; an address as it is."""
        if is_address(value) and self._is_store:
            return str(value)
        if is_address(value):
            problem = (
                "expected a file, got the address of a store, which only DICT of explain, lookup "
                "and map may be"
            )
            self.fail(problem, param, ctx)
        try:
            is_possible = value and b"\0" not in os.fsencode(value)
        except UnicodeError:
            is_possible = False
        if not is_possible:
            self.fail(f"{quoted(value)} cannot be the name of a file", param, ctx)
        path = Path(value)
        ends_as_folder = os.path.split(value)[1] in ("", os.curdir)
        if ends_as_folder and not path.is_dir() and not self._is_folder:
            self.fail(f"{quoted(value)} names a folder, and there is none", param, ctx)
        return path


class _Unchecked(click.Path):
    """An option that names a file or a folder; which of them, another argument tells."""

    def convert(self, value: Any, _param: Any, _ctx: Any) -> str:
        """Return the name as it is."""
        return str(value)


#: The type of all arguments and options that name files.
FILE = _File()
FILE_OR_STORE = _File(is_store=True)
#: The type of those that name a folder, which need not exist.
FOLDER = _File(is_folder=True)
#: The type of an option that is of one of these, and is converted later.
FILE_OR_FOLDER = _Unchecked()
#: Addresses of stores, for errors.
STORES = "postgresql://HOST/DATABASE?table=NAME or qdrant://HOST:6334/NAME"


def is_address(value: Any) -> bool:
    """Tell whether an argument is the address of a store, and not the name of a file."""
    return isinstance(value, str) and _SCHEME.match(value) is not None


class Choice(click.Choice[str]):
    """An option that takes one of a few names."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return what is wrong, and which names are right."""
        return f"{quoted(value)}{one_of(value, self.choices)}"


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
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
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
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            valid = sorted(name for p in self.get_params(ctx) for name in p.opts if name[:1] == "-")
            name = error.option_name
            new = _RENAMED.get(name)
            told = f" (it is {new} now)" if new in valid else one_of(name, valid)
            raise click.UsageError(f"No such option: {name}{told}", ctx) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("For example"):
            formatter.write(f"  {self._example}\n")


class Group(Command, click.Group):
    """Commands that are imported when they are used, so that one does not wait for another.

    Args:
        members: the module and the name of each command, as "fuzzydict.cli.fit:command".
        kind: what errors call one.
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
            warnings.showwarning = _print_warning
            yield
    except click.exceptions.NoArgsIsHelpError as error:
        echo(*error.format_message().split("\n"), err=True)
        sys.exit(_USAGE)
    except click.ClickException as error:
        ctx = getattr(error, "ctx", None)  # of an error about arguments
        hint = "" if ctx is None else f" (see {ctx.command_path} --help)"
        _exit(_without_secrets(error.format_message()).rstrip(".") + hint, _USAGE)
    except (click.exceptions.Exit, click.Abort):
        raise  # click handles these
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # the reader has enough, and has closed the pipe
        is_lost(sys.stdout)
        sys.exit(0)
    except FuzzyDictError as error:
        _exit(str(error), _USAGE)
    except OSError as error:
        why = error.strerror or str(error)
        name = STANDARD_OUTPUT if is_lost(sys.stdout) else error.filename
        _exit(f"{name}: {why}" if name else why, _USAGE)
    except RecursionError:
        _exit("a value is nested too deeply to be printed; flatten it", _USAGE)
    except MemoryError:
        _exit("not enough memory for this file; use a smaller one", _USAGE)
    except Exception as error:
        bug = _without_secrets(f"{type(error).__name__}: {error}")
        report = "please report it with the traceback that FUZZYDICT_DEBUG=1 shows"
        _exit(f"this is a bug in fuzzydict ({bug}); {report}", _BUG)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    echo("Warning: " + " ".join(str(message).split()), err=True)


def _without_secrets(message: str) -> str:
    """Return a message without the user and password of an address that somebody typed."""
    return _SECRETS.sub(lambda found: "...@" if found[0].endswith("@") else "...", message)


def _exit(message: str, code: int) -> NoReturn:
    if os.environ.get("FUZZYDICT_DEBUG"):
        echo(*map(_without_secrets, traceback.format_exc().rstrip().split("\n")), err=True)
    echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(code)


def reason(error: NoMatchError) -> str:
    """Return why nothing matches, without the advice for programs."""
    return error.message.partition("; to forget it, ")[0]


def load_matplotlib() -> None:
    """Check that pictures can be drawn: into files, whatever window other programs draw to."""
    os.environ["MPLBACKEND"] = "agg"
    from fuzzydict.results.plotting import load_pyplot

    load_pyplot()


def check_place(output: Path, sources: Sequence[Path] = ()) -> None:
    """Check before any work that ``output`` can be written and is none of ``sources``."""
    with suppress(FileNotFoundError, NotADirectoryError):
        output.stat()  # fails if it is in a loop of links, or where nobody may look
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
