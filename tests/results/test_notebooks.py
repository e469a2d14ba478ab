"""What notebooks show: tables that are whole, escaped, and legible on light and dark pages."""

from __future__ import annotations

import copy
import pickle
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from fuzzydict import FuzzyDict, Match
from fuzzydict.results.answers import Matches
from fuzzydict.results.tables import Number, html_table

MARKUP = "<script>alert('x') & more</script>"
BEST = [Match("color", "black", 0.9), Match("top speed", 260, 0.05)]


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


def shown(what: Any) -> str:
    page: str = what._repr_html_()
    return page


def test_matches_are_a_table() -> None:
    rows = Table(shown(Matches(BEST))).rows
    assert rows[0] == ["key", "score", "value"]
    assert rows[1:] == [["color", "0.900", "black"], ["top speed", "0.050", "260"]]
    assert Table(shown(BEST[0])).rows == rows[:2]
    assert "no matches" in shown(Matches())


@pytest.mark.parametrize("key", [MARKUP, "a" * 500, "a\nb", "\x00a", "'a' \"b\"", "&lt;a&gt;"])
def test_any_key_and_value_is_shown_as_text(key: str) -> None:
    d = FuzzyDict({key: key, "other": {"<b>": "</td>"}})
    for page in (shown(d.most_similar("a")), shown(d.attend(key)), shown(d.nearest(key))):
        cells = [cell for row in Table(page).rows for cell in row]
        assert any(cell and cell[:5] in key.replace("\n", " ").replace("\0", " ") for cell in cells)
        assert not re.search("<(script|b)>", page)
        assert all(len(cell) < 100 for cell in cells)


def test_nothing_is_fetched_and_no_colour_hides_the_text() -> None:
    d = FuzzyDict({"color": 1, "top speed": 2})
    for page in (shown(d.most_similar("colour")), shown(d.attend("colour"))):
        assert not re.search("(src|href|class|id)=|https?:|url", page)
        assert not re.search(r"[;'\s]color:", page)
        shades = re.findall(r"rgba?\(([^)]*)\)|#[0-9a-f]{3,6}", page)
        assert shades
        assert all(0 < float(shade.split(",")[3]) < 0.6 for shade in shades)


def test_bars_are_as_long_as_the_shares() -> None:
    page = html_table([["a", Number("1/4", 0.25)], ["b", Number("none")], ["c", Number("", 7)]])
    assert re.findall(r"\) ([\d.]+%),transparent ([\d.]+%)", page) == [
        ("25.0%", "25.0%"),
        ("100.0%", "100.0%"),
    ]
    d = FuzzyDict({"a": 1, "b": 2}, embedding={"a": [3.0, 0], "b": [0, 1.0]}, scorer="dot")
    assert "gradient" not in shown(d.most_similar("a"))  # a score of 9 is no share


def test_matches_are_a_list() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    found = d.most_similar("colour")
    assert isinstance(found, list)
    assert found == list(found)
    assert repr(found) == repr(list(found))
    assert isinstance(found[0], Match)
    assert isinstance(found[:1], Matches)
    assert found[:1] == [found[0]]
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert isinstance(again, Matches)


def test_reads_of_several_give_tables_too() -> None:
    d = FuzzyDict({"color": "black", "top speed": 260})
    queries = ["colour", "topSpeed"]
    assert [row[0] for row in Table(shown(d.nearest(queries))).rows[1:]] == ["color", "top speed"]
    for row in d.most_similar(queries):
        assert len(Table(shown(row)).rows) == 3
    assert shown(d.nearest([])) == shown(FuzzyDict().most_similar("a"))
