"""A column of texts: uploaded or pasted, matched, decided on, downloaded and taught."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from tests.browser.pages import Opened, Page

pytestmark = pytest.mark.more
COUNTRIES = {"Germany": "DE", "France": "FR", "Great Britain": "GB", "Netherlands": "NL"}
STATUS, ERROR = "#cells-status", "#cells-error"
TABLE = "id,country\n1,germny\n2,Germany\n3,Holland\n4,germny\n5,\n6,qwzzt\n"


def upload(page: Page, path: Path, column: str | None = None) -> None:
    page.click("#tab-column")
    page.find("#file").send_keys(str(path))
    if column is not None:
        page.wait(lambda: page.visible("#which-column"))
        page.choose("#which-column", column)
    page.click_button("Match")


def line_of(page: Page, text: str) -> Any:
    rows = page.driver.find_elements("css selector", ".cells tbody tr")
    return next(row for row in rows if row.text.startswith(text))


def choose(page: Page, text: str, key: str) -> None:
    """Choose what a text is decided to be."""
    from selenium.webdriver.support.ui import Select

    Select(line_of(page, text).find_element("css selector", "select")).select_by_visible_text(key)


def decisions(page: Page) -> dict[str, str]:
    file = page.driver.downloads / "decisions.csv"
    file.unlink(missing_ok=True)
    page.click_button("Download decisions")
    page.wait(lambda: file.exists() and file.stat().st_size > 0)
    with file.open(encoding="utf-8", newline="") as opened:
        return {row["query"]: row["target"] for row in csv.DictReader(opened)}


def test_a_column_of_a_file_is_matched_decided_downloaded_and_taught(
    opened: Opened, tmp_path: Path
) -> None:
    d, table = FuzzyDict(COUNTRIES), tmp_path / "typed.csv"
    table.write_text(TABLE, "utf-8")
    page = opened(d)
    upload(page, table, "country")
    page.wait(lambda: page.visible("#cells"))
    assert page.focused() == "Matched texts"
    assert page.text("#counts").startswith("6 rows, ")
    assert "1 blank" in page.text("#counts")
    assert {row[0].split("\n")[0].split(" \u00d7")[0] for row in page.rows(".cells")} == {
        *("germny", "Germany", "Holland", "qwzzt")
    }
    assert page.rows(".cells")[0][0] == "qwzzt"  # what needs a decision comes first
    assert "\u00d7 2" in line_of(page, "germny").text
    assert "is a key" in line_of(page, "Germany").text
    assert not page.find("#cells .main").is_enabled()

    line_of(page, "germny").find_element("css selector", "[type=checkbox]").click()
    select = line_of(page, "qwzzt").find_element("css selector", "select")
    assert select.accessible_name == "Key of qwzzt"
    line_of(page, "qwzzt").find_element("css selector", "[type=checkbox]").click()
    choose(page, "Holland", "another key …")
    assert page.focused() == "Another key for Holland"
    page.press("x")
    page.wait(lambda: page.visible(".cells .options"))
    page.press("ESCAPE", "ESCAPE", "ESCAPE")
    page.wait(lambda: page.focused() == "Key of Holland")
    assert not page.visible(".cells .chooser")
    choose(page, "Holland", "another key …")
    page.put(page.find(".cells .chooser input"), "nether")
    page.wait(lambda: page.visible(".cells .options"))
    page.press("ARROW_DOWN", "ENTER")
    page.wait(lambda: page.focused() == "Key of Holland")
    assert page.text(STATUS) == "3 texts decided."
    assert decisions(page) == {"germny": "Germany", "qwzzt": "", "Holland": "Netherlands"}

    page.click_button("Teach these")
    page.wait(lambda: len(page.texts("#taught-list li")) == 3)
    assert (d["Holland"], d.get("qwzzt")) == ("NL", None)


def test_decisions_can_be_taken_back_and_stay_when_a_column_is_matched_again(
    opened: Opened,
) -> None:
    page = opened(FuzzyDict(COUNTRIES))
    page.paste("germny\nfrankreich\nqwzzt")
    page.wait(lambda: len(page.rows(".cells")) == 3)
    page.click_button("Decide all shown")
    assert page.text(STATUS) == "3 texts decided."
    line_of(page, "germny").find_element("css selector", "[type=checkbox]").click()
    page.choose("#kind", "Decided")
    assert sorted(row[0] for row in page.rows(".cells")) == ["frankreich", "qwzzt"]
    kept = decisions(page)
    assert set(kept) == {"frankreich", "qwzzt"}
    page.click_button("Match")
    page.wait(lambda: page.focused() == "Matched texts")
    assert page.text(STATUS) == "2 texts decided."
    assert decisions(page) == kept
    page.paste("germny\nqwzzt\nholand")
    page.wait(lambda: len(page.rows(".cells")) == 3 and "dropped" in page.text(STATUS))
    assert page.text(STATUS) == "1 text decided. 1 decision dropped, on texts that are not here."
    assert decisions(page) == {"qwzzt": ""}


def test_what_cannot_be_taught_is_told_beside_what_is(opened: Opened) -> None:
    page = opened(d := FuzzyDict(COUNTRIES))
    page.expected = "400 (Bad Request)"
    page.paste("germny\nGERMNY\n" + "x" * 600)
    page.wait(lambda: len(page.rows(".cells")) == 3)
    page.click_button("Decide all shown")
    assert set(decisions(page).values()) == {"", "Germany"}
    assert page.text(STATUS).startswith("3 texts decided. decisions.csv has them.")
    choose(page, "GERMNY", "no key")  # which is of equal words
    for button in ("Download decisions", "Teach these"):
        page.click_button(button)
        page.wait(lambda: "'GERMNY'" in page.text(ERROR) and "'germny'" in page.text(ERROR))
        assert page.text(STATUS) == "3 texts decided."
    assert not d.aliases
    line_of(page, "GERMNY").find_element("css selector", "[type=checkbox]").click()
    page.click_button("Teach these")
    page.wait(lambda: "1 text not taught, first 'xxx" in page.text(ERROR))
    assert "shorten it to 500" in page.text(ERROR)
    assert page.text(STATUS) == "Taught 1 text. They are listed below."
    assert d.aliases == {"germny": "Germany"}


def test_many_texts_are_shown_in_pages(opened: Opened) -> None:
    page = opened(FuzzyDict(COUNTRIES))
    page.paste("\n".join(f"Germany {number} x" for number in range(120)))
    page.wait(lambda: page.visible("#cells"))
    assert len(page.rows(".cells")) == 50
    assert not page.find("#back").is_enabled()
    page.click_button("Next")
    assert "51\u2013100 of 120 texts" in page.text("#where")
    page.paste("\n".join(f"Germany {number} x" for number in range(5001)))
    page.expected = "400 (Bad Request)"
    page.wait(lambda: "5,000 different texts" in page.text("#column-error"))


def test_what_cannot_be_read_is_refused_beside_the_field(opened: Opened, tmp_path: Path) -> None:
    page = opened(FuzzyDict(COUNTRIES))
    page.expected = "400 (Bad Request)"
    page.click("#tab-column")
    page.click_button("Match")
    assert "Choose a file, or paste texts" in page.text("#column-error")
    for name, content, said in [
        ("picture.png", b"\x89PNG", "expected a file that ends in"),
        ("empty.csv", b"", "empty"),
        ("large.csv", b"country\n" + b"x\n" * 2_500_000, "more than 4 MB"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        page.find("#file").send_keys(str(path))
        page.wait(lambda said=said: said in page.text("#column-error"), said)  # type: ignore[misc]
    assert not page.visible("#cells")
