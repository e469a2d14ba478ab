"""HTML tables are whole and escaped, and bars have the right lengths; a dict in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from fuzzydict import FuzzyDict
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


def test_titles_cells_and_notes_are_text_beside_bars_and_shades() -> None:
    page = html_table([["<b>", "1 & 2"]], header=["", "<i>"], caption="<u>", notes=[" <p> "])
    assert Table(page).rows == [["", "<i>"], ["<b>", "1 & 2"]]
    assert not re.search("<[biu]>", page)
    assert page.endswith("<p>&lt;p&gt;</p>")
    page = html_table([["a", Number("1/4", 0.25)], ["b", Number("none")], ["c", Number("", 7)]])
    ends = re.findall(r"\) ([\d.]+%),transparent ([\d.]+%)", page)
    assert ends == [("25.0%", "25.0%"), ("100.0%", "100.0%")]
    page = html_table(
        [["a", Number("1", 1.0, True), Number("1/2", 0.5, True), Number("0", 0.0, True)]]
    )
    assert re.findall(r"background:rgba\(0,114,178,([\d.]+)\)", page) == ["0.50", "0.25"]


def shown(what: Any) -> str:
    page: str = what._repr_html_()
    return page


MARKUP = "<script>alert('x') & more</script>"
PAGES: dict[str, Callable[[FuzzyDict[Any], str], Any]] = {
    "match": lambda d, query: d.nearest(query),
    "matches": lambda d, query: d.most_similar(query),
    "of several": lambda d, query: d.most_similar([query, "a"]),
    "attention": lambda d, query: d.attend(query),
    "attentions": lambda d, query: d.attend([query, "a"]),
    "explanation": lambda d, query: d.explain(query),
    "by a function": lambda d, query: FuzzyDict(d, embedding=lengths).explain(query + "b"),
    "by a scorer": lambda d, query: FuzzyDict(d, embedding=lengths, scorer="dot").explain(query),
    "explanations": lambda d, query: d.explain([query, "w " * 100, 5]),
    "dict": lambda d, _: d,
}


def lengths(texts: list[str]) -> list[list[int]]:
    return [[len(text), text.count("a"), 1] for text in texts]


@pytest.mark.parametrize("what", PAGES)
@pytest.mark.parametrize("key", [MARKUP, "a" * 500, "a\nb", "\x00a", "'a' \"b\"", "&lt;a&gt;"])
def test_any_page_is_whole_escaped_and_fetches_nothing(what: str, key: str) -> None:
    d = FuzzyDict({key: key, "other": {"<b>": "</td>"}, 5: "five"})
    page = shown(PAGES[what](d, key))
    cells = [cell for row in Table(page).rows for cell in row]
    assert any(cell and cell[:5] in key.replace("\n", " ").replace("\0", " ") for cell in cells)
    assert all(len(cell) < 100 for cell in cells)
    assert not re.search("<(script|b)>", page)
    assert not re.search(r"(src|href|class|id)=|https?:|url|[;'\s]color:", page)
    shades = re.findall(r"rgba?\(([^)]*)\)|#[0-9a-f]{3,6};", page)
    assert all(0 <= float(shade.split(",")[3]) < 0.6 for shade in shades)
    assert shades or what in ("dict", "by a scorer")


def test_a_dict_shows_its_size_a_sample_of_its_items_and_what_it_was_taught() -> None:
    page = shown(FuzzyDict({f"key {i}": i for i in range(1200)}))
    assert "<p>FuzzyDict of 1,200 items</p>" in page
    assert Table(page).rows == [["key", "value"], *([f"key {i}", str(i)] for i in range(8))]
    assert "<p>and 1,192 more items</p>" in page
    assert "FuzzyDict of 1 item<" in shown(FuzzyDict({5: None}))
    assert not Table(shown(FuzzyDict())).rows
    d = FuzzyDict({"color": 1, "price": 2})
    d.aliases.update({"hue": "color", "zip": None})
    assert "<p>aliases: hue → color, zip → no key</p>" in shown(d)
    d.aliases.update({f"cost {letter}": "price" for letter in "abcdefgh"})
    assert "cost f → price, and 2 more aliases</p>" in shown(d)


def test_a_dict_shows_its_mode_its_embedding_and_the_options_that_are_no_defaults() -> None:
    class Strict(FuzzyDict[int]):
        scorer = "spelling"

    page = shown(Strict({"a": 1}))
    assert "Strict of 1 item" in page
    assert "scorer: &#x27;spelling&#x27;" in page
    page = shown(FuzzyDict({"a": 1}))
    assert "<p>mode: &#x27;nearest&#x27;</p><p>embedding: the default" in page
    assert not re.search("scorer|temperature|score_cutoff|projections|index|aliases", page)
    d = FuzzyDict({"a": 1}, mode="pool", embedding={"a": [1.0, 0]}, score_cutoff=2)
    page = shown(d).replace("&#x27;", "'")
    for line in ("mode: 'pool'", "embedding: {'a': [1.0, 0]}", "score_cutoff: 2.0"):
        assert f"<p>{line}</p>" in page


def test_everything_in_a_dict_is_escaped_and_short() -> None:
    large = list(range(10**5))

    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    d: FuzzyDict[Any] = FuzzyDict({MARKUP: [MARKUP], "b": Hostile(), "c" * 500: 1})
    d.aliases[MARKUP + "!"] = MARKUP
    page = shown(d)
    assert "<script" not in page
    assert "an object of Hostile" in page
    assert all(len(cell) <= 24 for row in Table(page).rows for cell in row)
    values: list[Any] = ["x" * 10**7, b"x" * 10**7, large, dict.fromkeys(large), set(large)]
    assert len(shown(FuzzyDict(enumerate([*values, d, *large])))) < 5000


def test_ipython_prints_the_values_of_a_dict_that_pools() -> None:
    printed: list[Any] = []
    printer: Any = SimpleNamespace(text=printed.append, pretty=printed.append)
    for cycle in (False, True):
        FuzzyDict({"color": "black", "size": 5}, mode="pool")._repr_pretty_(printer, cycle=cycle)
    assert printed == [{"color": "black", "size": 5}, "{...}"]
    assert type(printed[0]) is dict
