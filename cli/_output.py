"""What people read: lines, which all go through `echo`, and progress on standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TextIO

import click

from fuzzydict.errors import printable

STANDARD_OUTPUT = "standard output"  # as errors name it
_STEPS = 1000  # of a whole bar
_PATIENCE = 2.0  # seconds


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
