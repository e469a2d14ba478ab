"""The page for everybody: keyboard alone, names for screen readers, any width, light and dark."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from tests.browser.pages import COLORS, RENTS, Opened, Page

pytestmark = pytest.mark.more
LINES = "navvy\ngreenish\nqwzzt\nبحر\ndark see green"

#: Long texts, of other directions, of many marks, and of no words.
ODD = {
    "مرحبا بالعالم": 1e6,
    "🎉 party time 🎈": -5,
    "\u202egreen\u202c": 1,
    "e" + "\u0301" * 40: 2,
    "Donaudampfschifffahrt" * 30: 3,
    "a very long key of many words " * 30: 4,
}
ROLES = {
    *("button", "checkbox", "combobox", "listbox", "option", "searchbox", "slider", "tab"),
    *("textbox", "region", "form", "search", "table", "image", "tabpanel", "tablist", "group"),
}
# What is beyond the right edge, too low to be hit, and the levels of headings.
WIDE = (
    "[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility()"
    " && !e.closest('#heat-table > *, .unseen, .keys thead, .cells thead')"
    " && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML)"
)
SMALL = (
    "[...document.querySelectorAll('button, select, input')].filter((e) =>"
    " e.checkVisibility() && e.getBoundingClientRect().height < 19).map((e) => e.outerHTML)"
)
LEVELS = (
    "[...document.querySelectorAll('h1, h2, h3')].filter((e) => e.checkVisibility())"
    ".map((e) => Number(e.tagName[1]))"
)
# Texts whose contrast to what is behind them is too low.
FAINT = Path(__file__).with_name("faint.js").read_text("utf-8")


def views(page: Page) -> Any:
    """Yield the name of each view once it is shown."""
    yield "nothing typed"
    page.ask("reddish")
    page.wait(lambda: page.texts("#map circle") != [])
    yield "one"
    page.click_button("None is right")
    page.wait(lambda: page.texts("#taught-list li") != [])
    yield "taught"
    page.click("#tab-several")
    page.type("#queries", LINES)
    page.wait(lambda: len(page.rows(".heat")) == 5)
    yield "several"
    page.paste(LINES)
    page.wait(lambda: len(page.rows(".cells")) == 5)
    yield "column"
    page.click_button("Decide all shown")
    yield "decided"


def in_page(page: Page, expression: str) -> Any:
    return page.script(f"return {expression}")


@pytest.mark.parametrize(
    ("values", "width", "scheme"),
    [(COLORS, 320, "light"), (RENTS, 768, "dark"), (COLORS, 1400, "dark"), (ODD, 320, "dark")],
)
def test_every_view_fits_has_contrast_and_names(
    opened: Opened, values: dict[str, Any], width: int, scheme: str
) -> None:
    media = {"prefers_color_scheme": scheme, "prefers_reduced_motion": "reduce"}
    page = opened(FuzzyDict(values), width=width, **media)
    ground = in_page(page, "getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(20, 22, 26)") == (scheme == "dark")
    for view in views(page):
        assert page.script(FAINT) == [], view
        assert in_page(page, "document.documentElement.scrollWidth") <= width, view
        assert in_page(page, WIDE) == in_page(page, SMALL) == [], view
        tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        nodes = [node for node in tree if not node["ignored"]]
        named = [(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes]
        assert [role for role, name in named if role in ROLES and not name] == [], view
        assert {"main", "banner", "tablist", "tabpanel"} <= {role for role, _ in named}
        levels = in_page(page, LEVELS)
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        ids = in_page(page, "[...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))


def test_the_keyboard_alone_reaches_everything(opened: Opened) -> None:
    page = opened(FuzzyDict(COLORS), "reddish")
    page.wait(lambda: page.texts("#map circle") != [])
    page.click("#query")
    order = []
    for _ in range(7):
        order.append(page.focused())
        outline = page.script("return getComputedStyle(document.activeElement).outlineStyle")
        stroke = page.script("return getComputedStyle(document.activeElement).strokeWidth")
        assert outline == "solid" or stroke == "3px", order  # the focus can be seen
        page.press("TAB")
    assert order[:6] == ["Query", "The right key", "Teach", "None is right", "Temperature", "Why"]
    assert "red" in order[6]  # on the map, from where arrow keys lead on
    page.click("#tab-one")
    page.press("ARROW_RIGHT")
    assert page.focused() == "Several queries"
    assert page.visible("#several")
    page.press("TAB", "navy blue")
    page.wait(lambda: page.rows(".heat") != [])
    page.press("TAB", "ARROW_LEFT", "TAB", "TAB")
    assert page.focused() == "Heat map"
    page.click("#tab-several")
    page.press("END")
    assert page.focused() == "A column"
    page.press("TAB", "TAB", "nayvy", "TAB", "ENTER")
    page.wait(lambda: page.focused() == "Matched texts")
    page.press("TAB", "TAB", "ARROW_DOWN")
    assert page.focused() == "Key of nayvy"
    page.press("TAB", "SPACE")
    page.press("TAB")
    assert page.focused() == "Decide all shown"


def test_colors_that_a_person_forces_leave_the_page_readable(opened: Opened) -> None:
    page = opened(FuzzyDict(COLORS), "reddish", forced_colors="active")
    body = "return getComputedStyle(document.querySelector('.swatch')).backgroundColor"
    assert page.script(body) == "rgb(255, 0, 0)"  # a swatch is its colour
    assert page.script(FAINT) == []
