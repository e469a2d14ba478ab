"""HTML tables are whole and escaped, and their bars have the right lengths."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from fuzzydict.results.tables import Number, html_table


class Table(HTMLParser):
    """Reads a table: its rows of cells; each tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


def test_titles_cells_and_notes_are_shown_as_text() -> None:
    page = html_table([["<b>", "1 & 2"]], header=["", "<i>"], caption="<u>", notes=[" <p> "])
    assert Table(page).rows == [["", "<i>"], ["<b>", "1 & 2"]]
    assert not re.search("<[biu]>", page)
    assert page.endswith("<p>&lt;p&gt;</p>")


def test_bars_are_as_long_as_the_shares() -> None:
    page = html_table([["a", Number("1/4", 0.25)], ["b", Number("none")], ["c", Number("", 7)]])
    assert re.findall(r"\) ([\d.]+%),transparent ([\d.]+%)", page) == [
        ("25.0%", "25.0%"),
        ("100.0%", "100.0%"),
    ]
