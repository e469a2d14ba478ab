"""``fuzzydict push``: write the keys of a dict to a store."""

from typing import Any

import click

from fuzzydict import FuzzyDict, connect
from fuzzydict.stores.base import is_address

from ._options import dict_command, option
from ._output import echo, progress_bar

_STORES = "postgresql://HOST/DATABASE?table=NAME or qdrant://HOST:6334/NAME"


def _address(ctx: click.Context, argument: click.Parameter, url: str) -> str:
    """Refuse what is no address, without showing it: it may hold a password."""
    if not is_address(url):
        raise click.BadParameter(f"expected the address of a store: {_STORES}", ctx, argument)
    return url


@dict_command(
    "push", "data/countries.csv 'postgresql://localhost/names?table=countries'", scored_by=()
)
@click.argument("url", callback=_address)
@option("--index", "Then build PostgreSQL's index of keys, which may take minutes.", is_flag=True)
def command(d: FuzzyDict[Any], url: str, index: bool) -> None:
    """Write the keys, values, aliases and synonyms of DICT to the store at URL; the rest stays.

    What `fit` learned and the synonyms are written with the first keys, and hold for all that come
    later.

    URL is postgresql://USER@HOST/DATABASE?table=NAME or qdrant://HOST:6334/NAME. The table or
    collection is created if there is none. Equal keys get the values that DICT has. The password of
    PostgreSQL is better given in ~/.pgpass or PGPASSWORD than in URL.

    A push that broke can be run again: what was written is replaced, and nothing is there twice.
    """
    learned = None if d.projections == "identity" else d.projections
    options = {"embedding": d.embedding, "projections": learned, "synonyms": d.synonyms}
    with connect(url, create=True, **options) as remote:
        with progress_bar("writing") as progress:
            remote.update(d, progress=progress)  # with its aliases
        if index:
            with progress_bar("indexing") as progress:
                remote.build_index(progress=progress)
        count = len(remote)
        echo(f"{count} {'key' if count == 1 else 'keys'}: {remote.place}")
