"""A browser without a window, and the page of ``fuzzydict explore`` in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict
from tests.browser.pages import Page
from tests.support.exploring import serving

_SWITCHES = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --window-size=1280,900"
)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Debian's chromium by its chromium-driver; skip where they or selenium are not there."""
    reason = "selenium is not installed (extra browser)"
    webdriver = pytest.importorskip("selenium.webdriver", reason=reason)
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian's chromium, chromium-driver)")
    folder = tmp_path_factory.mktemp("chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for switch in (*_SWITCHES.split(), f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(switch)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(found["chromedriver"])
    started = webdriver.Chrome(options=options, service=service)
    started.downloads = folder
    yield started
    started.quit()


@pytest.fixture
def opened(driver: Any) -> Iterator[Callable[..., Page]]:
    """Return what opens the page of a dict; in the end, the browser must have reported nothing."""
    with ExitStack() as stack:
        pages: list[Page] = []

        def open_page(
            d: FuzzyDict[Any],
            query: str = "",
            *,
            title: str = "a dict",
            output: Path | None = None,
            width: int = 1280,
            **media: str,
        ) -> Page:
            server = stack.enter_context(serving(d, title=title, output=output))
            page = Page(driver, server)
            page.show_as(width, **media)
            page.open(query)
            pages.append(page)
            return page

        yield open_page
        for page in pages:
            assert page.reported() == []
        driver.get("about:blank")  # it asks no more
