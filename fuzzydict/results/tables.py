"""HTML tables, which notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple, TypeAlias

# Half transparent, so that text of any colour stays legible on it.
_BAR = "rgba(0,114,178,0.4)"


class Number(NamedTuple):
    """A number in a table: its text, on a bar that fills ``share`` (0 to 1) of the cell."""

    text: str
    share: float = 0.0


#: A cell of a table: a text or a number. Both are escaped.
Cell: TypeAlias = str | Number


def html_table(
    rows: Sequence[Sequence[Cell]],
    *,
    header: Sequence[Cell] = (),
    caption: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return an HTML table, whose first column names the rows, and notes below it.

    Titles in the header are aligned left, or right if they are a `Number`.

    >>> html_table([["<b>"]], notes=["that is all"])
    "<table><tr><th style='text-align:left'>&lt;b&gt;</th></tr></table><p>that is all</p>"
    """
    titles = "".join(_cell(name, "th") for name in header)
    lines = [f"<caption>{escape(caption)}</caption>"] if caption else []
    lines += [f"<tr>{titles}</tr>"] if header else []
    lines += [f"<tr>{_cell(row[0], 'th')}{''.join(map(_cell, row[1:]))}</tr>" for row in rows]
    below = "".join(f"<p>{escape(note.strip())}</p>" for note in notes)
    return f"<table>{''.join(lines)}</table>{below}"


def _cell(cell: Cell, tag: str = "td") -> str:
    if isinstance(cell, str):
        return f"<{tag} style='text-align:left'>{escape(cell)}</{tag}>"
    style = "text-align:right"
    if cell.share > 0:
        end = f"{min(cell.share, 1.0):.1%}"
        bar = f"linear-gradient(to right,{_BAR} {end},transparent {end})"
        style += f";min-width:8em;background:{bar}"
    return f"<{tag} style='{style}'>{escape(cell.text)}</{tag}>"
