"""``fuzzydict explain``: why a query finds a key, or none."""

import sys
from typing import Any

import click

from fuzzydict import NoMatchError
from fuzzydict.io.text_tables import as_json
from fuzzydict.stores.remote import AnyDict

from ._options import dict_command, option
from ._output import echo, echo_text, reason

_SHOWN = ("query", "matches", "equal", "synonyms", "tells_words", "none", "margin", "cutoff")


@dict_command("explain", "data/car.json colour", takes_store=True)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@option("--json in_json", "Print all numbers as JSON, one object per query.", is_flag=True)
def command(d: AnyDict, queries: tuple[str, ...], in_json: bool) -> None:
    """Explain why each QUERY finds a key of DICT, or none.

    It shows the words of the query, what replaces unknown words, the best two keys with the parts
    of their scores, and the cutoff. The exit code is 1 if a query finds nothing.
    """
    missed, before = 0, ""
    for query in queries:
        told: dict[str, Any] = {"query": query, "matches": False, "best": None}
        try:
            explanation = d.explain(query)
        except NoMatchError as error:  # there is nothing to compare
            echo(reason(error), err=True)
            missed = 1
        else:
            missed |= not explanation.matches
            if not in_json:
                echo_text(f"{before}{explanation}")
                before = "\n"
            told = {name: getattr(explanation, name) for name in _SHOWN}
            told["words"] = [word._asdict() for word in explanation.words]
            for name in ("best", "runner_up"):
                match, parts = getattr(explanation, name), getattr(explanation, f"{name}_parts")
                told[name] = match and {**match._asdict(), "parts": parts and parts._asdict()}
        if in_json:
            echo(as_json(told))
    sys.exit(missed)
