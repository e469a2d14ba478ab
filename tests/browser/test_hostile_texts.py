"""Keys, values, queries, titles and files that try to be more than text do nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from tests.browser.pages import Opened, Page

pytestmark = pytest.mark.more
IMAGE = "<img src=x onerror='window.hit = 1'>"
ATTACKS = [
    IMAGE,
    "<script>window.hit = 1</script>",
    "</title></textarea></script><svg onload='window.hit = 1'>",
    "javascript:window.hit=1//",
    "\"'><iframe srcdoc='<script>parent.hit=1</script>'>",
    "{{constructor.constructor('window.hit=1')()}}",
]


def nothing_ran(page: Page) -> None:
    assert page.script("return window.hit") is None
    assert page.script("return document.querySelectorAll('img, iframe, body script').length") == 0


def test_hostile_keys_values_titles_and_queries_are_text(opened: Opened) -> None:
    page = opened(FuzzyDict(dict(zip(ATTACKS, reversed(ATTACKS), strict=True))), title=IMAGE)
    assert page.text("h1") == IMAGE
    for attack in ATTACKS:
        page.type("#query", attack)
        page.wait(lambda attack=attack: page.text(".keys tbody th") == attack)  # type: ignore[misc]
    page.wait(lambda: page.texts("#map circle") != [])
    page.put(page.find("#query"), f"image {IMAGE}")
    page.wait(lambda: page.visible("#teach"))
    page.wait(lambda: "image" in page.text("#verdict"))
    page.put(page.find("#teach input"), "onerror")
    page.wait(lambda: page.visible(".options"))
    page.press("ARROW_DOWN", "ENTER", "ENTER")
    page.wait(lambda: len(page.texts("#taught-list li")) == 1)
    page.click("#tab-several")
    page.type("#queries", "\n".join(ATTACKS))
    page.wait(lambda: len(page.rows(".heat")) == len(ATTACKS))
    nothing_ran(page)
    for attack in ATTACKS:
        page.driver.get("about:blank")
        page.driver.get(f"{page.server.url}#query={attack}&query=<b>")
        page.wait(lambda: page.text("#verdict") != "")
        nothing_ran(page)


def test_hostile_aliases_and_decisions_are_text(opened: Opened, tmp_path: Path) -> None:
    keys = [*ATTACKS, "=1+1", "none", "another key …", "a\nb", "__proto__"]
    d, output = FuzzyDict(dict.fromkeys(keys, IMAGE)), tmp_path / "taught.fuzzydict"
    page = opened(d, output=output)
    texts = [f"{attack} x{place}" for place, attack in enumerate([*ATTACKS, "=2+2", "a b", "lone"])]
    page.paste("\n".join(texts))
    page.wait(lambda: len(page.rows(".cells")) == len(texts))
    for place, key in enumerate(keys[-len(texts) :]):  # each text means another of the keys
        select = page.driver.find_elements("css selector", ".cells select")[place]
        page.script(
            "arguments[0].selectedIndex = arguments[0].length - 1;"
            "arguments[0].dispatchEvent(new Event('change'))",
            select,
        )
        page.put(page.find(".cells .chooser input"), key.replace("\n", " "))
        page.wait(lambda key=key: key in page.texts(".cells .options li"), key)  # type: ignore[misc]
        page.script(
            "[...document.querySelectorAll('.cells .options li')]"
            ".find((e) => e.textContent === arguments[0]).click()",
            key,
        )
        page.wait(lambda: page.texts(".cells .chooser") == [])
    page.click_button("Teach these")
    page.wait(lambda: len(page.texts("#taught-list li")) == len(texts))
    assert page.text("#cells-error") == ""
    assert sorted(dict(FuzzyDict.load(output).aliases).values()) == sorted(keys[-len(texts) :])
    nothing_ran(page)


def test_hostile_files_columns_and_cells_are_text(opened: Opened, tmp_path: Path) -> None:
    table = tmp_path / "<img src=x onerror=hit()>.csv"
    header, cells = (",".join(f'"{text.replace(chr(34), "")}"' for text in ATTACKS) for _ in "ab")
    table.write_text(f"{header}\n{cells}\n", "utf-8")
    page = opened(FuzzyDict({IMAGE: IMAGE, "red": 1}))
    page.click("#tab-column")
    page.find("#file").send_keys(str(table))
    page.wait(lambda: page.visible("#which-column"))
    page.click_button("Match")
    page.wait(lambda: page.visible("#cells"))
    page.click_button("Match")
    page.expected = "400 (Bad Request)"
    bad = tmp_path / "<img src=x onerror=hit()>.csv.exe"
    bad.write_bytes(b"MZ")
    page.find("#file").send_keys(str(bad))
    page.wait(lambda: "<img src=x onerror=hit()>" in page.text("#column-error"))
    nothing_ran(page)
