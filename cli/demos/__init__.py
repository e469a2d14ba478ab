"""Demos: each file is a short lesson, to read and to run; ``--save`` draws its picture."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from fuzzydict._files import replacing
from fuzzydict.cli._options import check_picture, option
from fuzzydict.cli._output import Command, Group, echo, echo_text
from fuzzydict.results.plotting import drawn, panels, plot_heatmap

__all__ = ["DEMOS", "Picture", "command", "demo", "echo", "echo_text", "heat_maps"]

#: Their names, in an order to read them in.
DEMOS = (
    *("dictionary", "column", "http_status", "colors"),
    *("selfattention", "sentence", "heads", "kernels", "performance", "decoder"),
)
#: What draws the picture of a lesson: it returns axes of matplotlib, or an array of them.
Picture: TypeAlias = Callable[[], Any]


def demo(lesson: Callable[..., Picture]) -> click.Command:
    """Return the command of a lesson, a function that returns what draws its picture."""
    name = Path(lesson.__code__.co_filename).stem

    @click.command(name, cls=Command, example=f"fuzzydict demo {name} --save {name}.png")
    @option("--save FILE", "Draw its picture to FILE.png or FILE.svg, with matplotlib.")
    @functools.wraps(lesson)
    def run(save: Path | None, **options: Any) -> None:
        kind = check_picture("--save", save, "png", "svg") if save else ""
        picture = lesson(**options)
        if save:
            with replacing(save) as file:
                file.write(drawn(picture(), kind))

    command: click.Command = run
    return command


def heat_maps(
    maps: Mapping[str, tuple[Any, Sequence[str], Sequence[str]]], size: tuple[float, float]
) -> Any:
    """Draw weights side by side by their titles, with the names of their rows and columns."""
    grid = panels(1, len(maps), size)
    for axes, (title, shown) in zip(grid[0], maps.items(), strict=True):
        plot_heatmap(*shown, title=title, axes=axes)
    return grid


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
