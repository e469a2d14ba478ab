"""What all demos share: each is a command, and draws a picture with ``--save``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fuzzydict._files import replacing
from fuzzydict.cli._problems import FILE, Command, check_place, load_matplotlib
from fuzzydict.results.plotting import drawn

__all__ = ["as_command", "save_picture"]

_PICTURES = (".png", ".svg")


def as_command(lesson: Callable[..., None]) -> click.Command:
    """Return the command of a lesson, a function of ``save``: the picture's file, or None."""
    name = Path(lesson.__code__.co_filename).stem
    save = click.option(
        "--save",
        metavar="FILE",
        type=FILE,
        help="Draw its picture to FILE.png or FILE.svg, with matplotlib.",
    )

    @functools.wraps(lesson)
    def run(save: Path | None, **options: Any) -> None:
        if save is not None:
            _check(save)
        lesson(save, **options)

    example = f"fuzzydict demo {name} --save {name}.png"
    as_it_is_called: Any = click.command(name, cls=Command, example=example)
    command: click.Command = as_it_is_called(save(run))
    return command


def save_picture(axes: Any, place: Path) -> None:
    """Save the figure of matplotlib's ``axes``, or of an array of them."""
    picture = drawn(axes, place.suffix[1:].lower())
    with replacing(place) as file:
        file.write(picture)


def _check(place: Path) -> None:
    """Check before the lesson that its picture can be drawn there."""
    if place.suffix.lower() not in _PICTURES:
        raise click.UsageError(f"--save: {place} ends in none of {', '.join(_PICTURES)}")
    check_place(place)
    load_matplotlib()
