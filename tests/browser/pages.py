"""The page of ``fuzzydict explore`` as a person uses it: by typing, pressing keys and looking."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from fuzzydict.io.explore.server import ExploreServer

_PATIENCE = 60  # seconds, for a busy machine
CAR = {"brand": "Porsche", "color": "black", "top speed": 260, "price": 109000}
COLORS = {"red": (255, 0, 0), "navy": (0, 0, 128), "sea green": (46, 139, 87)}
RENTS = {"studio flat": 650, "detached house": 1900, "parking space": 90}


class Page:
    """The page of a server in a browser.

    Attributes:
        expected: a part of what the browser may report, such as that the server is gone.
    """

    def __init__(self, driver: Any, server: ExploreServer) -> None:
        self.driver, self.server = driver, server
        self.expected: str | None = None

    def open(self, query: str = "") -> None:
        self.driver.get("about:blank")  # an address that differs by its hash alone is not loaded
        self.driver.get_log("browser")
        self.driver.get(self.server.url + (f"#{urlencode({'query': query})}" if query else ""))
        self.wait(lambda: self.text("#about") != "" and self.text("#saves") != "")
        if query:
            self.answered(query)

    def show_as(self, width: int, **media: str) -> None:
        """Set the width in pixels, and features of the medium such as forced_colors="active"."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wanted = {"prefers_color_scheme": "light", "forced_colors": "none"} | media
        features = [{"name": k.replace("_", "-"), "value": v} for k, v in wanted.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    # ---- looking --------------------------------------------------------------------------

    def wait(self, condition: Callable[[], Any], what: str = "") -> Any:
        """Return what a condition gives once it is true."""
        end = time.monotonic() + _PATIENCE
        while not (found := condition()):
            assert time.monotonic() < end, what or "it did not come"
            time.sleep(0.02)
        return found

    def answered(self, query: str) -> None:
        """Wait for the answer to a query."""
        self.wait(lambda: self.visible("#answer") and repr(query) in self.text("#verdict"), query)

    def find(self, css: str) -> Any:
        return self.driver.find_element("css selector", css)

    def script(self, body: str, *arguments: Any) -> Any:
        return self.driver.execute_script(body, *arguments)

    def text(self, css: str) -> str:
        """Return the text of the first element, seen or not; "" if there is none."""
        body = "return document.querySelector(arguments[0])?.textContent ?? ''"
        return str(self.script(body, css))

    def texts(self, css: str) -> list[str]:
        body = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return [str(text) for text in self.script(body, css)]

    def visible(self, css: str) -> bool:
        body = "return document.querySelector(arguments[0])?.checkVisibility() ?? false"
        return bool(self.script(body, css))

    def focused(self) -> str:
        """Return the accessible name of what has the focus."""
        return str(self.driver.switch_to.active_element.accessible_name)

    def reported(self) -> list[str]:
        """Return what the browser reported, such as what its policy forbade."""
        lines = [line["message"] for line in self.driver.get_log("browser")]
        return [line for line in lines if self.expected is None or self.expected not in line]

    # ---- doing ----------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        """Press keys by their names, such as "ARROW_DOWN"; what is no name is typed."""
        from selenium.webdriver import ActionChains, Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def type(self, css: str, text: str) -> None:
        """Type a text into a field instead of what is in it."""
        self.script("arguments[0].focus(); arguments[0].select()", self.find(css))
        self.press(text or "BACKSPACE")

    def put(self, field: Any, text: str) -> None:
        """Put a text into a field at once, as from the clipboard: one question follows."""
        self.script(
            "arguments[0].focus();"
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
            *(field, text),
        )

    def paste(self, lines: str) -> None:
        """Match lines in the tab of a column."""
        self.click("#tab-column")
        self.put(self.find("#lines"), lines)
        self.click_button("Match")

    def ask(self, query: str) -> None:
        self.type("#query", query)
        self.answered(query)

    def click(self, css: str) -> None:
        self.find(css).click()

    def click_button(self, name: str, within: str = "body") -> None:
        """Click the visible button of an accessible name."""
        buttons = self.driver.find_elements("css selector", f"{within} button")
        next(b for b in buttons if b.is_displayed() and b.accessible_name == name).click()

    def choose(self, css: str, text: str) -> None:
        """Choose the option of a text."""
        from selenium.webdriver.support.ui import Select

        Select(self.find(css)).select_by_visible_text(text)

    def rows(self, css: str) -> list[list[str]]:
        """Return the texts of the cells of a table, row by row."""
        body = (
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
        )
        return [[str(cell) for cell in row] for row in self.script(body, css)]


#: Opens the page of a dict, see the fixture.
Opened = Callable[..., Page]
