"""``fuzzydict explain``: why a query finds a key, or none."""

from __future__ import annotations

import sys
from typing import Any

import click

from fuzzydict import Explanation, NoMatchError
from fuzzydict.io.records import as_json

from ._dicts import AnyDict, cutoff_option, dict_or_store_argument, opens_dict
from ._output import echo, echo_text
from ._problems import Command, reason


@click.command("explain", cls=Command, example="fuzzydict explain data/car.json colour")
@dict_or_store_argument
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--json", "in_json", is_flag=True, help="Print all numbers as JSON, one object per query."
)
@cutoff_option
@opens_dict()
def command(d: AnyDict, queries: tuple[str, ...], in_json: bool) -> None:
    """Explain why each QUERY finds a key of DICT, or none.

    It shows the words of the query, what replaces unknown words, the best two keys with the parts
    of their scores, and the cutoff. The exit code is 1 if a query finds nothing.
    """
    shown = missed = 0
    for query in queries:
        explanation: Explanation | None = None
        try:
            explanation = d.explain(query)
        except NoMatchError as error:  # there is nothing to compare
            echo(reason(error), err=True)
        missed += explanation is None or not explanation.matches
        if in_json:
            echo(as_json(_as_object(query, explanation)))
        elif explanation is not None:
            echo_text(f"\n{explanation}" if shown else str(explanation))
            shown += 1
    sys.exit(1 if missed else 0)


def _as_object(query: str, explanation: Explanation | None) -> dict[str, Any]:
    """Return an explanation as an object of JSON."""
    if explanation is None:
        return {"query": query, "matches": False, "best": None}
    named = ("query", "matches", "equal", "synonyms", "tells_words", "none", "margin", "cutoff")
    return {
        **{name: getattr(explanation, name) for name in named},
        "words": [word._asdict() for word in explanation.words],
        "best": _key(explanation.best, explanation.best_parts),
        "runner_up": _key(explanation.runner_up, explanation.runner_up_parts),
    }


def _key(match: Any, parts: Any) -> dict[str, Any] | None:
    return match and {**match._asdict(), "parts": parts and parts._asdict()}
