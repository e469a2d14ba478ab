"""``fuzzydict push``: write the keys of a dict to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fuzzydict import connect
from fuzzydict.io.dict_files import open_dict
from fuzzydict.io.records import Reading

from ._dicts import dict_argument, dict_options, embedding_of
from ._output import echo
from ._problems import STORES, Command, is_address
from ._progress import progress_bar


def _address(ctx: click.Context, argument: click.Parameter, url: str) -> str:
    """Refuse what is no address, without showing it: it may hold a password."""
    if not is_address(url):
        raise click.BadParameter(f"expected the address of a store: {STORES}", ctx, argument)
    return url


@click.command(
    "push",
    cls=Command,
    example="fuzzydict push data/countries.csv 'postgresql://localhost/names?table=countries'",
)
@dict_argument
@click.argument("url", callback=_address)
@click.option(
    "--index",
    is_flag=True,
    help="Afterwards build the index by which PostgreSQL finds keys among many, if there is none. "
    "It may take minutes, while others read and write. Without one, a read compares with all keys.",
)
@dict_options
def command(dict_file: Path, url: str, index: bool, vectors: Path | None, **reading: Any) -> None:
    """Write the keys, values and aliases of DICT to the store at URL, and keep what is there.

    What `fit` learned is written with the first keys, and holds for all that come later.

    URL is postgresql://USER@HOST/DATABASE?table=NAME or qdrant://HOST:6334/NAME. The table or
    collection is created if there is none. Equal keys get the values that DICT has. The password of
    PostgreSQL is better given in ~/.pgpass or PGPASSWORD than in URL.

    A push that broke can be run again: what was written is replaced, and nothing is there twice.
    """
    d = open_dict(dict_file, Reading(**reading), embedding=embedding_of(vectors))
    learned = None if d.projections == "identity" else d.projections
    with connect(url, embedding=d.embedding, create=True, projections=learned) as remote:
        with progress_bar("writing") as progress:
            remote.update(d, progress=progress)  # with its aliases
        if index:
            remote.build_index()
        count = len(remote)
        echo(f"{count} {'key' if count == 1 else 'keys'}: {remote.place}")
