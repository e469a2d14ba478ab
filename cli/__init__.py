"""The ``fuzzydict`` command: each subcommand is a file here, imported when it is called."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

__all__ = ["main"]

_COMMANDS = (
    "attend",
    "demo",
    "evaluate",
    "explain",
    "explore",
    "fit",
    "lookup",
    "map",
    "train",
)
# 128 and the number of the signal, as shells have it:
_INTERRUPTED, _TERMINATED = 130, 143


class _Commands(click.Group):
    """Subcommands by the names of their files, so that ``lookup`` does not wait for ``train``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            if ctx.resilient_parsing:  # a shell asks what may follow
                return None
            ctx.fail(f"No such command {cmd_name!r}; valid are {', '.join(_COMMANDS)}.")
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("For example"):
            formatter.write("  fuzzydict lookup data/car.json colour topSpeed\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _ending_when_terminated():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)


@contextmanager
def _ending_when_terminated() -> Iterator[None]:
    """Let the signal that ends a process end the command as Ctrl-C does: it leaves no litter."""
    asked, is_main = signal.SIGTERM, threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(asked) is not signal.SIG_DFL:
        yield  # where signals are somebody else's business
        return
    signal.signal(asked, lambda *_: sys.exit(_TERMINATED))
    try:
        yield
    finally:
        signal.signal(asked, signal.SIG_DFL)


@click.group(cls=_Commands, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(package_name="fuzzydict")
def main() -> None:
    """Look things up by what they mean and how they are spelled.

    Exit codes: 0 if every query had a match, 1 if one had none, 2 if a file or an argument is
    wrong, 130 if it was interrupted, 143 if it was terminated.
    """
