"""``fuzzydict explore``: a page in the browser that asks a dict."""

from __future__ import annotations

from typing import Any

import click

from fuzzydict import FuzzyDict
from fuzzydict.errors import printable
from fuzzydict.io.explore.server import ExploreServer

from ._dicts import cutoff_option, dict_argument, opens_dict
from ._output import echo
from ._problems import Command


@click.command("explore", cls=Command, example="fuzzydict explore data/car.json")
@dict_argument
@click.option(
    "--port", type=click.IntRange(1024, 65535), help="Where to serve; by default any free port."
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@click.option("--title", metavar="TEXT", help="What the page is called; by default as its file.")
@cutoff_option
@opens_dict
def command(d: FuzzyDict[Any], port: int | None, no_browser: bool, title: str | None) -> None:
    """Serve a page on which queries to DICT can be typed, until Ctrl-C.

    It shows the nearest keys with their scores and reasons, the weights of attention at a
    temperature, and the pooled value, if values can be pooled. Only this machine can open it, by
    the address that is printed, which has a random token.
    """
    name = click.get_current_context().params["dict_file"].stem
    try:
        server = ExploreServer(d, title=printable(title or name), port=port or 0)
    except OSError as error:
        raise click.UsageError(
            f"--port: cannot serve on {port} ({error.strerror}); choose another, or leave it out"
        ) from None
    with server:
        echo(f"{len(d)} keys: {server.url} (Ctrl-C ends it)")
        if not no_browser:
            click.launch(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            echo("ended", err=True)
