"""``fuzzydict explore``: a dict as a page that answers queries in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict
from fuzzydict.io.explore import WORDS, explore_page

from ._dicts import cutoff_option, dict_argument, opens_dict
from ._problems import Command, check_ending, check_place


@click.command("explore", cls=Command, example="fuzzydict explore data/car.json -o car.html")
@dict_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    default="explore.html",
    show_default=True,
    help="Where to save the page.",
)
@click.option(
    "--words",
    type=click.IntRange(min=0),
    default=WORDS,
    show_default=True,
    help="The page knows so many of the most frequent words, and those of the keys.",
)
@click.option("--title", metavar="TEXT", help="What the page is called; by default as its file.")
@cutoff_option
@opens_dict
def command(d: FuzzyDict[Any], output: Path, words: int, title: str | None) -> None:
    """Save DICT as a page of HTML on which queries can be typed.

    It shows the nearest keys with their probabilities, the weights of attention at a temperature,
    and the pooled value, if values can be pooled. The page is one file that needs no server and no
    network; it holds the keys, the values and word vectors, 0.5 MB for each thousand words.
    """
    from fuzzydict._files import replacing

    given = click.get_current_context().params
    check_place(output, [path for path in (given["dict_file"], given["vectors"]) if path])
    check_ending(output, "a page of HTML", "html")
    page = explore_page(d, title=title or output.stem, words=words).encode("utf-8", "replace")
    with replacing(output) as file:
        file.write(page)
    click.echo(f"{len(d)} keys: {output} ({len(page) / 1e6:.1f} MB)")
