"""Teaching by the page: the right key, or none; what was taught, undone; where it is saved."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from tests.browser.pages import CAR, Opened

pytestmark = pytest.mark.more


def saved(output: Path) -> dict[str, str]:
    rows = csv.DictReader(output.read_text("utf-8").splitlines())
    return {row["query"]: row["target"] for row in rows}


def test_a_key_is_taught_by_keyboard_saved_and_undone(opened: Opened, tmp_path: Path) -> None:
    d, output = FuzzyDict(CAR), tmp_path / "decisions.csv"
    page = opened(d, "thirst", output=output)
    assert "decisions.csv" in page.text("#saves")
    page.press("TAB")
    assert page.focused() == "The right key"
    field = page.find("#teach input")
    field.click()
    page.wait(lambda: page.visible(".options"))
    assert page.texts(".options li") == [row[0] for row in page.rows(".keys")]  # nearest first
    page.press("ESCAPE")
    assert not page.visible(".options")
    page.put(field, "to")
    page.wait(lambda: page.visible(".options"))
    assert field.get_attribute("aria-expanded") == "true"
    page.press("ARROW_DOWN")
    chosen = page.find(".options [aria-selected='true']").get_attribute("id")
    assert chosen == field.get_attribute("aria-activedescendant")
    page.press("ENTER")
    assert field.get_attribute("value") == "top speed"
    assert not page.visible(".options")
    page.press("ENTER")
    page.wait(lambda: page.text("#badge") == "Taught")
    assert page.rows(".keys")[0][0] == "top speed"
    assert d["thirst"] == 260
    assert saved(output) == {"thirst": "top speed"}
    assert page.texts("#taught-list li")[0].startswith("thirst is top speed")

    page.click_button("Undo: thirst")
    page.wait(lambda: page.texts("#taught-list li") == [])
    page.wait(lambda: page.text("#badge") != "Taught")
    assert "thirst" not in d.aliases
    assert saved(output) == {}
    assert page.focused() == "Taught here"


def test_what_is_no_key_is_refused_where_it_was_typed(opened: Opened) -> None:
    page = opened(FuzzyDict(CAR), "thirst")
    page.expected = "400 (Bad Request)"
    page.click_button("Teach")
    assert "Choose the right key" in page.text("#teach-error")
    page.type("#teach input", "colr")
    page.press("ENTER")
    page.wait(lambda: "did you mean" in page.text("#teach-error"))
    assert page.texts("#taught-list li") == []
    page.ask("brand")
    assert page.text("#teach-error") == ""


def test_what_cannot_be_saved_is_told_and_is_taught_all_the_same(
    opened: Opened, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    d = FuzzyDict(CAR)
    page = opened(d, "colour", output=folder / "decisions.csv")
    assert not page.visible("#teach-undo")
    page.expected = "500 (Internal Server Error)"
    folder.rename(tmp_path / "away")
    page.click_button("None is right")
    page.wait(lambda: page.text("#badge") == "Taught")
    assert "decisions.csv was not saved" in page.text("#teach-error")
    assert page.texts("#taught-list li") == ["colour is no key Undo"]
    assert d.get("colour") is None
    page.click_button("Undo", "#teach")
    page.wait(lambda: page.text("#badge") == "Match" and not page.visible("#teach-undo"))
    assert page.texts("#taught-list li") == []
    assert "decisions.csv was not saved" in page.text("#teach-error")
    assert d["colour"] == "black"
    assert "holds until the command ends" in opened(d).text("#saves")
