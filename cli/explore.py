"""``fuzzydict explore``: a page in the browser that asks a dict."""

from pathlib import Path
from typing import Any

import click

from fuzzydict import FuzzyDict, RemoteDict
from fuzzydict.errors import printable
from fuzzydict.io.dict_files import is_saved_dict
from fuzzydict.io.explore.server import ExploreServer
from fuzzydict.io.explore.teaching import saved_as
from fuzzydict.io.text_tables import is_same
from fuzzydict.saving import check_items
from fuzzydict.stores.remote import AnyDict

from ._options import check_place, dict_command, option
from ._output import echo

_MOST = 100_000  # keys of a store that are read into memory


@dict_command("explore", "data/car.json", takes_store=True)
@option("--port", "Where to serve; by default any free port.", click.IntRange(1024, 65535))
@option("--no-browser", "Print the address, and open nothing.", is_flag=True)
@option("--title TEXT", "What the page is called; by default as its file.")
@option(
    "-o --output FILE",
    "Save at once what is taught: the dict (.fuzzydict), or decisions (.csv, .tsv or .jsonl).",
)
def command(
    d: AnyDict, port: int | None, no_browser: bool, title: str | None, output: Path | None
) -> None:
    """Serve a page on which queries to DICT can be typed, until Ctrl-C.

    It shows the nearest keys with their scores and reasons, the weights of attention at a
    temperature, and the pooled value, if values can be pooled. Where a key is wrong, the right one
    can be chosen, or none: the dict answers so at once. Without -o, that is forgotten at the end.
    A table can be uploaded, and its doubtful texts decided on. Only this machine can open the page,
    by the address that is printed, which has a random token. If DICT is a store, its keys are read
    into memory, and nothing is written to it.
    """
    if title is None:
        file = Path(click.get_current_context().params["dict_file"])
        title = d.place if isinstance(d, RemoteDict) else file.stem
    if isinstance(d, RemoteDict):
        if len(d) > _MOST:
            raise click.UsageError(
                f"{d.place} has {len(d):,} keys, and the page shows {_MOST:,} at most; ask it by "
                f"lookup, explain or attend"
            )
        d = d.copy()
    if output is not None:
        _check_output(output, d)
    try:
        server = ExploreServer(d, title=printable(title), port=port or 0, output=output)
    except OSError as error:
        if error.filename is not None:  # the output
            raise
        raise click.UsageError(
            f"--port: cannot serve on {port} ({error.strerror}); choose another, or leave it out"
        ) from None
    with server:
        echo(f"{len(d)} keys: {server.url} (Ctrl-C ends it)")
        if licence := server.answers.about()["licence"]:
            echo(licence)
        if not no_browser:
            click.launch(server.url_for_once)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            kept = "not saved, as -o was not given" if output is None else f"in {output}"
            told = f": {len(server.teaching)} taught, {kept}" if server.teaching else ""
            echo(f"ended{told}", err=True)


def _check_output(output: Path, d: FuzzyDict[Any]) -> None:
    """Refuse before any work what cannot be saved, or would overwrite what is read."""
    form, dict_file = saved_as(output), click.get_current_context().params["dict_file"]
    goes_on = is_same(output, dict_file) and form == "fuzzydict" and is_saved_dict(output)
    if not goes_on:
        check_place(output)
    if form == "fuzzydict" and output.exists() and not goes_on:
        raise click.UsageError(
            f"{output} exists, and what it was taught would be lost; go on with it: "
            f"fuzzydict explore {output} -o {output}, or save elsewhere (-o)"
        )
    if form == "fuzzydict":
        check_items(d)
