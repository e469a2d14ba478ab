"""Tables of text, and HTML tables, which notebooks show: of results, lists of them, and a dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

from fuzzydict.errors import quoted
from fuzzydict.text.words import label

T = TypeVar("T")

_SHADE = "rgba(0,114,178,{:.2f})"  # transparent, so that text of any colour stays legible on it
_BAR = _SHADE.format(0.4)
_DARKEST = 0.5
_DEFAULTS = {"embedding": "the default (Brown vectors and English words)"}
_ITEMS = 8  # items of a dict, and as many aliases


class Number(NamedTuple):
    """A number in a table, on a bar that fills ``share`` of the cell, or shades all of it."""

    text: str
    share: float = 0.0
    is_shaded: bool = False


#: A cell of a table: a text or a number. They are escaped.
Cell: TypeAlias = str | Number


class Results(list[T]):
    """A list of what reads return, which notebooks show as a table. It equals a plain list."""

    _most = 50  # that are shown

    def __getitem__(self, place: Any) -> Any:
        """Return a result, or for a slice such a list."""
        found = super().__getitem__(place)
        return type(self)(found) if isinstance(place, slice) else found

    def _first(self, what: str) -> tuple[Self, list[str]]:
        """Return those that are shown, and a note that counts the others."""
        return self[: self._most], and_more(len(self) - self._most, what)


def aligned(rows: Sequence[Sequence[str]], *, texts: int) -> list[str]:
    """Return rows as lines, with the first ``texts`` columns aligned left, the others right."""
    ends = ["<"] * texts + [">"] * len(rows[0]) if rows else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [[f"{c:{e}{w}}" for c, e, w in zip(row, ends, widths, strict=False)] for row in rows]
    return ["  ".join(row).rstrip() for row in cells]


def html_table(
    rows: Sequence[Sequence[Cell]],
    *,
    header: Sequence[Cell] = (),
    caption: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return an HTML table, whose first column names the rows, and notes below it.

    Titles in the header are aligned left, or right if they are a `Number`.
    """
    titles = "".join(_cell(name, "th") for name in header)
    lines = [f"<caption>{_escaped(caption)}</caption>"] if caption else []
    lines += [f"<tr>{titles}</tr>"] if header else []
    lines += [f"<tr>{_cell(row[0], 'th')}{''.join(map(_cell, row[1:]))}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>{''.join(map(paragraph, notes))}"


def paragraph(text: str) -> str:
    """Return a text as a paragraph of HTML."""
    return f"<p>{_escaped(text.strip())}</p>"


def and_more(count: int, what: str) -> list[str]:
    """Return a note that counts what is not shown, if that is anything."""
    return [f"and {count:,} more {what}"] if count > 0 else []


def dict_html(
    d: dict[Any, Any],
    defaults: Mapping[str, Any],
    aliases: Mapping[str, str | None],
    synonyms: Mapping[str, str],
) -> str:
    """Return HTML that shows a dict: its size, some of its items, its options, and what it knows.

    Of the options, which are attributes, those that differ from ``defaults`` are shown, and the
    first two in any case; of aliases and synonyms, what each stands for: None or "" is nothing.
    """
    size = f"{type(d).__name__} of {len(d):,} item{'' if len(d) == 1 else 's'}"
    some = [(label(key), label(value)) for key, value in islice(dict.items(d), _ITEMS)]
    told = and_more(len(d) - _ITEMS, "items")
    for place, (name, default) in enumerate(defaults.items()):
        value = getattr(d, name)
        if place < 2 or value is not default:
            told.append(f"{name}: {_DEFAULTS.get(name) if value is None else quoted(value)}")
    known = (("aliases", dict(aliases), "no key"), ("synonyms", dict(synonyms), "left out"))
    for what, texts, nothing in known:
        pairs = islice(texts.items(), _ITEMS)
        shown = [f"{label(one)} → {label(other) if other else nothing}" for one, other in pairs]
        if shown:
            told.append(f"{what}: {', '.join([*shown, *and_more(len(texts) - _ITEMS, what)])}")
    items = html_table(some, header=["key", "value"]) if some else ""
    return f"<div>{paragraph(size)}{items}{''.join(map(paragraph, told))}</div>"


def _cell(cell: Cell, tag: str = "td") -> str:
    if isinstance(cell, str):
        return f"<{tag} style='text-align:left'>{_escaped(cell)}</{tag}>"
    style, share = "text-align:right", min(cell.share, 1.0)
    if share > 0 and cell.is_shaded:
        style += f";background:{_SHADE.format(_DARKEST * share)}"
    elif share > 0:
        bar = f"linear-gradient(to right,{_BAR} {share:.1%},transparent {share:.1%})"
        style += f";min-width:8em;background:{bar}"
    return f"<{tag} style='{style}'>{_escaped(cell.text)}</{tag}>"


def _escaped(text: str) -> str:
    from html import escape  # it is not loaded before something is shown

    return escape(text)
