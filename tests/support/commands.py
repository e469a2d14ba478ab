"""The ``fuzzydict`` command, run in this process as its users run it."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

main: click.Group = import_module("fuzzydict.cli").main
COMMANDS = main.list_commands(click.Context(main))
# The script stands beside the interpreter of the environment that the package is installed in.
SCRIPT = str(Path(sys.executable).with_name("fuzzydict"))
posix = pytest.mark.skipif(os.name != "posix", reason="streams, links and signals are of POSIX")


def run(*arguments: object, lines: bytes | None = None) -> Result:
    """Run a command, which must end by itself."""
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=lines)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result


def refused(*arguments: object) -> str:
    """Check that a command ends with code 2, and return its last line, before which are notes."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    *notes, line = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert all(note.startswith("training on ") or ": read with " in note for note in notes)
    return str(line)
