"""``fuzzydict attend``: the share of each key in the attention of a query."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, NoMatchError
from fuzzydict.text import quoted

from ._dicts import dict_argument, opens_dict
from ._problems import Command, check_place

_PICTURES = ("png", "svg", "html")


@click.command("attend", cls=Command, example="fuzzydict attend data/car.json performance -n 3")
@dict_argument
@click.argument("query")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Show so many keys, those of the largest weights.",
)
@click.option("--temperature", type=float, help="What scores are divided by before the softmax.")
@click.option("--mask", metavar="KEY", multiple=True, help="Do not attend to this key; repeatable.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw the weights to FILE.png, FILE.svg (both with matplotlib) or FILE.html.",
)
@opens_dict
def command(
    d: FuzzyDict[Any],
    query: str,
    number: int,
    temperature: float | None,
    mask: tuple[str, ...],
    plot: Path | None,
) -> None:
    """Show how the attention of QUERY is shared among the keys of DICT, as bars.

    The weights are the softmax of the scores, whatever these are: there is no cutoff. The exit
    code is 1 if there is nothing to attend to.
    """
    _check(d, mask, plot)
    if temperature is not None:
        d.temperature = temperature
    try:
        attention = d.attend(query, attn_mask=(lambda key: key not in mask) if mask else None)
    except NoMatchError as error:
        click.echo(error.message, err=True)
        sys.exit(1)
    click.echo(_as_the_terminal_can(attention.chart(number)))
    if plot is not None:
        from fuzzydict.atomic import replacing
        from fuzzydict.plotting import picture

        drawn = picture(attention, plot.suffix[1:].lower(), number)
        with replacing(plot) as file:
            file.write(drawn)


def _check(d: FuzzyDict[Any], mask: tuple[str, ...], plot: Path | None) -> None:
    for key in mask:
        if key not in d:
            raise click.UsageError(f"--mask: {quoted(key)} is no key of the dict; keys are exact")
    if plot is not None:
        if plot.suffix[1:].lower() not in _PICTURES:
            raise click.UsageError(f"--plot: {plot} ends in none of .png, .svg, .html")
        check_place(plot)
        if plot.suffix.lower() != ".html":  # a page does without matplotlib
            from fuzzydict.plotting import load_pyplot

            load_pyplot()


def _as_the_terminal_can(chart: str) -> str:
    """Draw bars of # where the terminal's letters have no blocks."""
    try:
        "█".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return chart.replace("█", "#").replace("…", "~")
    return chart
