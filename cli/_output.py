"""Printing: every line that a command writes for people to read goes through `echo`."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from fuzzydict.errors import printable

STANDARD_OUTPUT = "standard output"  # as errors name it


def echo(*lines: str, err: bool = False, now: bool = True) -> None:
    """Print lines on standard output, or on standard error if ``err``.

    Escapes replace what a terminal would obey, except for tabs. So a line stays one line, and
    shows what stands in a key, a file or its name.

    Without lines, it flushes what was printed before. If nobody reads standard error any more, its
    lines are dropped, and the command goes on.

    Args:
        lines: the lines, without their ends.
        err: whether to print on standard error.
        now: whether to flush them, and what was printed before.

    Raises:
        OSError: standard output cannot be written.
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
        _lose(stream)
        if not err:
            raise OSError(error.errno, error.strerror, STANDARD_OUTPUT) from error


def echo_text(text: str) -> None:
    """Print a text of several lines on standard output, as `echo` prints each."""
    echo(*text.split("\n"))


def is_lost(stream: TextIO | None) -> bool:
    """Tell whether a stream cannot be written; then it takes no more, and the exit is quiet."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        _lose(stream)
        return True
    return False


def _lose(stream: TextIO | None) -> None:
    """Throw away what a stream has kept and will get; Python would fail to write it on exit."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
    """Let the standard streams write any character, and standard output all that it is given."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED: it would write a part, and not say so
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = os.fdopen(raw.fileno(), "w", -1, encoding, errors, closefd=False)
