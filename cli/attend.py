"""``fuzzydict attend``: the attention weights of a query."""

import sys
from html import escape
from pathlib import Path

import click

from fuzzydict import NoMatchError, RemoteDict
from fuzzydict.errors import quoted
from fuzzydict.mapping import suggestion
from fuzzydict.stores.remote import AnyDict

from ._options import SCORER, check_picture, dict_command, option
from ._output import echo, echo_text, reason

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Attention of {}</title></head>
<body style="font-family:sans-serif">{}</body>
</html>
"""


@dict_command("attend", "data/car.json performance -n 3", takes_store=True, scored_by=(SCORER,))
@click.argument("query")
@option("-n --topn N", "Show the N keys with the largest weights.", click.IntRange(1), default=10)
@option("--temperature", "Divide the scores by this before the softmax.", float)
@option("--mask KEY", "Leave out this key; may be repeated.", multiple=True)
@option("--plot FILE", "Draw the weights to a .html file, or with matplotlib to .png or .svg.")
def command(
    d: AnyDict,
    query: str,
    topn: int,
    temperature: float | None,
    mask: tuple[str, ...],
    plot: Path | None,
) -> None:
    """Show the attention weights of QUERY over the keys of DICT as bars.

    The weights are the softmax of the scores, without a cutoff. Of a store, whose address DICT may
    be, the nearest keys are shown, and how much weight the others have. The exit code is 1 if there
    is no key to attend to.
    """
    in_store = isinstance(d, RemoteDict)
    if mask and in_store:
        raise click.UsageError("--mask is for a dict in a file; DICT is a store, so leave it out")
    for key in mask:
        if key not in d:
            meant = suggestion(key, d)
            raise click.UsageError(
                f"--mask: {quoted(key)} is not a key of the dict{meant}; give a key exactly"
            )
    kind = check_picture("--plot", plot, "png", "svg", "html") if plot else ""
    if temperature is not None:
        d.temperature = temperature
    try:
        attn_mask = (lambda key: key not in mask) if mask else None
        attention = d.attend(query, attn_mask=attn_mask, topn=topn if in_store else None)
    except NoMatchError as error:
        echo(reason(error), err=True)
        sys.exit(1)
    chart = attention.chart(topn)
    try:
        "█".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # the terminal has no block characters
        chart = chart.replace("█", "#").replace("…", "~")
    if plot is not None:
        from fuzzydict._files import replacing
        from fuzzydict.results.plotting import drawn

        page = _PAGE.format(escape(attention.text), attention.chart_html(topn))
        data = page.encode("utf-8", "xmlcharrefreplace")
        with replacing(plot) as file:
            file.write(data if kind == "html" else drawn(attention.plot(topn), kind))
    echo_text(chart)  # at the end, for a reader may leave
