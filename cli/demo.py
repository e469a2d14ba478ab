"""``fuzzydict demo``: short scripts that explain attention."""

from __future__ import annotations

import click

from ._output import echo_text
from ._problems import Group
from .demos import DEMOS


@click.group(
    "demo",
    cls=Group,
    kind="demo",
    members={name: f"fuzzydict.cli.demos.{name}:main" for name in DEMOS},
    example="fuzzydict demo dictionary",
    subcommand_metavar="[NAME]",
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run the demo NAME, or list the demos.

    Each is a short script, cli/demos/NAME.py, to read and to change. With --save FILE it also
    saves a picture.
    """
    if ctx.invoked_subcommand is None:
        formatter = ctx.make_formatter()
        command.format_commands(ctx, formatter)
        echo_text(formatter.getvalue().rstrip("\n").split("\n", 1)[1])
