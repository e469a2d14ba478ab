"""The ``fuzzydict`` command: each subcommand is a file here, imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["main"]

_COMMANDS = ("lookup", "train", "evaluate", "demo")


class _Commands(click.Group):
    """Subcommands by the names of their files, so that ``lookup`` does not wait for ``train``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in _COMMANDS:
            ctx.fail(f"No such command {cmd_name!r}; valid are {', '.join(_COMMANDS)}.")
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(package_name="fuzzydict")
def main() -> None:
    """Look things up by what they mean and how they are spelled."""
