"""What all demos share: each is a command, and draws a picture with ``--save``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from fuzzydict._files import replacing
from fuzzydict.cli._output import echo, echo_text
from fuzzydict.cli._problems import FILE, Command, check_place, load_matplotlib
from fuzzydict.results.plotting import drawn

__all__ = ["Picture", "demo", "echo", "echo_text", "heat_maps"]

#: What draws the picture of a lesson: it returns axes of matplotlib, or an array of them.
Picture: TypeAlias = Callable[[], Any]


def demo(lesson: Callable[..., Picture]) -> click.Command:
    """Return the command of a lesson, a function that returns what draws its picture."""
    name = Path(lesson.__code__.co_filename).stem

    @click.option(
        "--save",
        metavar="FILE",
        type=FILE,
        help="Draw its picture to FILE.png or FILE.svg, with matplotlib.",
    )
    @functools.wraps(lesson)
    def run(save: Path | None, **options: Any) -> None:
        if save is not None:
            if save.suffix.lower() not in (".png", ".svg"):
                raise click.UsageError(f"--save: {save} ends in none of .png, .svg")
            check_place(save)
            load_matplotlib()
        picture = lesson(**options)
        if save is not None:
            data = drawn(picture(), save.suffix[1:].lower())
            with replacing(save) as file:
                file.write(data)

    example = f"fuzzydict demo {name} --save {name}.png"
    as_it_is_called: Any = click.command(name, cls=Command, example=example)
    command: click.Command = as_it_is_called(run)
    return command


def heat_maps(
    maps: Mapping[str, tuple[Any, Sequence[str], Sequence[str]]], size: tuple[float, float]
) -> Any:
    """Draw weights side by side by their titles, with the names of their rows and columns."""
    from fuzzydict.results.plotting import panels, plot_heatmap

    grid = panels(1, len(maps), size)
    for axes, (title, shown) in zip(grid[0], maps.items(), strict=True):
        plot_heatmap(*shown, title=title, axes=axes)
    return grid
