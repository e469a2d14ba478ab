"""What a command says when it cannot go on: one line on standard error, never a traceback."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import click

from fuzzydict import FuzzyDictError

__all__ = ["told_in_a_line"]

P = ParamSpec("P")
_USAGE = 2


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

    return run


def _fail(message: str) -> None:
    click.echo("Error: " + " ".join(message.split()), err=True)
    sys.exit(_USAGE)
