"""One query: what is typed is answered, with weights, a pooled value and a map."""

from __future__ import annotations

import time
from threading import Event
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.io.explore.answers import Answers
from tests.browser.pages import CAR, COLORS, RENTS, Opened, Page

pytestmark = pytest.mark.more


def percents(page: Page) -> list[str]:
    return [row[3].replace("\u202f", "") for row in page.rows(".keys")]


def test_what_is_typed_is_answered_as_the_dict_answers(opened: Opened) -> None:
    page, d = opened(FuzzyDict(CAR), title="my car"), FuzzyDict(CAR)
    assert page.find("#query") == page.driver.switch_to.active_element
    assert (page.driver.title[:6], page.text("h1")) == ("my car", "my car")
    assert not page.visible("#answer")
    page.ask("colour")
    best = d.most_similar("colour", topn=4)
    assert [row[:3] for row in page.rows(".keys")] == [
        [key, str(value), f"{score:.3f}"] for key, value, score in best
    ]
    assert page.text("#badge") == "Match"
    assert "spelling" in page.text("#why")
    page.ask("seats")
    assert page.text("#badge") == "No match"
    page.ask("brand")
    page.wait(lambda: "equal key" in page.text("#verdict"), "the equal key is told")
    page.wait(lambda: page.text("#said").startswith("Match: 'brand'"), "it is said aloud")
    page.type("#query", "")
    page.wait(lambda: not page.visible("#answer") and page.visible("#sample"))
    page.click_button("top speed")
    page.answered("top speed")
    page.wait(lambda: page.driver.current_url.endswith("#query=top+speed"))
    page.open("what it costs")
    assert page.find("#query").get_attribute("value") == "what it costs"


def test_a_stale_answer_never_takes_the_place_of_a_newer_one(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    right_away, late, begun = Answers.answer, [], Event()

    def answer(self: Answers, query: str, temperature: float | None = None) -> dict[str, Any]:
        told = right_away(self, query, temperature)
        if query == "colou":
            begun.set()
            time.sleep(0.8)
            late.append(query)
        return told

    monkeypatch.setattr(Answers, "answer", answer)
    page = opened(FuzzyDict(CAR))
    page.find("#query").send_keys("colou")
    assert begun.wait(20)
    page.find("#query").send_keys("r")
    page.answered("colour")
    page.wait(lambda: late)
    time.sleep(0.3)
    assert "'colour'" in page.text("#verdict")


def test_colors_have_swatches_and_are_mixed_as_the_temperature_says(opened: Opened) -> None:
    d = FuzzyDict(COLORS, mode="pool", score_cutoff=0.1)
    page = opened(d, "reddish navy")
    shown = (
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.style.backgroundColor)"
    )
    assert "cutoff 0.1" in page.text("#about")
    assert page.text("#badge") == "Pooled"
    assert "gives the pooled value; 'red' weighs most" in page.text("#verdict")
    assert page.script(shown, ".keys .swatch")[0] == "rgb(255, 0, 0)"
    assert len(page.script(shown, ".mixture .part")) >= 2
    assert page.find(".mixture").get_attribute("aria-label").startswith("Mixed of red ")
    red, green, blue = d.attend("reddish navy").output.round().astype(int).tolist()
    pooled = [f"rgb({red}, {green}, {blue})"]
    assert page.script(shown, ".result .swatch") == pooled
    before = percents(page)
    page.script("arguments[0].focus()", page.find("#temperature input"))
    page.press("END")
    page.wait(lambda: page.text("#temperature output") == "100")
    page.wait(lambda: all(30 < float(share.rstrip("%")) < 37 for share in percents(page)))
    assert page.script(shown, ".result .swatch") != pooled
    page.press("HOME")
    page.wait(lambda: percents(page)[0] == "100%")
    page.click_button("Reset the temperature", "#one")
    page.wait(lambda: (percents(page), page.script(shown, ".result .swatch")) == (before, pooled))
    page.ask("qwzzt")
    assert page.text("#badge") == "No match"
    assert "below the cutoff 0.100" in page.text("#verdict")


def test_numbers_are_summed_and_drawn(opened: Opened) -> None:
    page, d = opened(FuzzyDict(RENTS), "garage"), FuzzyDict(RENTS)
    attention = d.attend("garage")
    shown = float(page.text(".result").replace(",", ""))
    assert shown == pytest.approx(attention.output, rel=1e-4)
    assert f"{attention.weights.max():.3f} \u00d7 90" in page.text(".sum")
    page.wait(lambda: len(page.texts(".plot .row-name")) == 3)
    assert page.texts(".plot .row-name")[0] == "parking space"
    assert "Pooled value" in page.find(".plot").get_attribute("aria-label")
    page.ask("unicorn")
    assert "so this says little" in page.text(".unsure")


def test_the_map_names_a_key_that_is_pointed_at_focused_or_tapped(opened: Opened) -> None:
    from selenium.webdriver import ActionChains

    page = opened(FuzzyDict(COLORS), "crimson")
    page.wait(lambda: page.texts("#map .query") != [])  # it is drawn with the answer, once more
    assert len(page.texts("#map circle")) == 3

    for place, key in enumerate(COLORS):
        circle = page.driver.find_elements("css selector", "#map circle")[place]
        assert circle.accessible_name.startswith(key)
        ActionChains(page.driver).move_to_element(circle).perform()
        page.wait(lambda key=key: page.text("#named").startswith(key))  # type: ignore[misc]
    ActionChains(page.driver).move_to_element(page.find("h1")).perform()
    page.wait(lambda: page.text("#named").strip() == "")
    page.script("arguments[0].focus()", page.find("#map circle[tabindex='0']"))
    page.wait(lambda: page.text("#named").startswith("red"))
    found = {page.focused().partition(",")[0]}
    for key in ("ARROW_LEFT", "ARROW_RIGHT", "ARROW_UP", "ARROW_DOWN") * 3:
        page.press(key)
        found.add(page.focused().partition(",")[0])
    assert found == set(COLORS)
    assert len(page.driver.find_elements("css selector", "#map .query")) == 1


def test_what_cannot_be_shown_is_told(opened: Opened) -> None:
    page = opened(FuzzyDict(CAR, scorer="spelling"), "colr")
    page.wait(lambda: "no vectors" in page.text("#map-say"))
    assert not page.visible("#map")
    assert "cannot be pooled" in page.text("#pooled")
    page = opened(FuzzyDict())
    assert "no keys" in page.text("#nothing-text")
    page.type("#query", "colour")
    page.wait(lambda: page.text("#verdict") != "")
    assert page.text("#badge") == "No match"
    assert not page.visible("#keys-title")
    assert not page.visible("#teach")


def test_a_server_that_is_gone_is_told_of_where_one_types(opened: Opened) -> None:
    page = opened(FuzzyDict(CAR), "colour")
    page.expected = "net::ERR_CONNECTION_REFUSED"
    page.server.shutdown()
    page.server.server_close()
    page.type("#query", "brand")
    page.wait(lambda: "still running" in page.text("#ask-error"))
    assert page.find("#ask-error").get_attribute("role") == "alert"
    assert not page.visible("#answer")


def test_several_queries_are_a_table_of_weights(opened: Opened) -> None:
    page, d = opened(FuzzyDict(COLORS), "violet"), FuzzyDict(COLORS)
    page.click("#tab-several")
    page.wait(lambda: len(page.rows(".heat")) == 1)  # the query that was typed
    page.type("#queries", "see green\nscarlet\n\nsky")
    page.wait(lambda: len(page.rows(".heat")) == 3)
    keys = page.texts(".heat thead th")
    assert set(keys) == set(COLORS)
    for name, *cells in page.rows(".heat"):
        weights = dict(zip(d.attend(name).names, 100 * d.attend(name).weights, strict=True))
        for key, cell in zip(keys, cells, strict=True):
            assert float(cell) == pytest.approx(weights[key], abs=0.06)
    before = page.rows(".heat")
    page.script("arguments[0].focus()", page.find("#several-temperature input"))
    page.press("END")
    page.wait(lambda: page.rows(".heat") != before)
    page.type("#queries", "\n".join(f"number {i}" for i in range(25)))
    page.wait(lambda: len(page.rows(".heat")) == 20)
    page.wait(lambda: "5 more" in page.text("#several-error"))
