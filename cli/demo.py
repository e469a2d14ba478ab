"""``fuzzydict demo``: short scripts that explain attention."""

from __future__ import annotations

from importlib import import_module

import click

from fuzzydict.errors import quoted

from ._output import echo_text
from ._problems import Reporting, one_of
from .demos import DEMOS


class _Demos(Reporting, click.Group):
    """Imports a demo when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(DEMOS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in DEMOS:
            if ctx.resilient_parsing:  # a shell completes a command line
                return None
            ctx.fail(f"No such demo {quoted(cmd_name)}{one_of(cmd_name, DEMOS)}")
        demo: click.Command = import_module(f".demos.{cmd_name}", __package__).main
        return demo

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("For example"):
            formatter.write("  fuzzydict demo dictionary\n")


@click.group("demo", cls=_Demos, subcommand_metavar="[NAME]", invoke_without_command=True)
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
