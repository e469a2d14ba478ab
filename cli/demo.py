"""``fuzzydict demo``: attention explained by doing, a lesson at a time."""

from __future__ import annotations

from importlib import import_module

import click

from .demos import DEMOS


class _Demos(click.Group):
    """The demos by the names of their files, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(DEMOS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in DEMOS:
            if ctx.resilient_parsing:  # a shell asks what may follow
                return None
            ctx.fail(f"No such demo {cmd_name!r}; there are {', '.join(DEMOS)}.")
        demo: click.Command = import_module(f".demos.{cmd_name}", __package__).main
        return demo

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("For example"):
            formatter.write("  fuzzydict demo dictionary\n")


@click.group("demo", cls=_Demos, subcommand_metavar="[NAME]", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Explain attention by doing: run the demo NAME, or list them all.

    Each is a script of one page, cli/demos/NAME.py, to read and to change. With --save FILE it
    draws its picture too.
    """
    if ctx.invoked_subcommand is None:
        formatter = ctx.make_formatter()
        command.format_commands(ctx, formatter)
        click.echo(formatter.getvalue().split("\n", 1)[1], nl=False)
