"""What several test files share: the shipped vectors, and a small text to train on."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Generator
from pathlib import Path

# Before numpy is imported: each worker has one processor, for which threads would only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Other processes that tests start import what is installed, too, not the checkout they stand in.
os.environ["PYTHONSAFEPATH"] = "1"

import pytest
from hypothesis import is_hypothesis_test, settings

from fuzzydict import Brown, WordVectors
from fuzzydict.embedding.word2vec import Model
from tests.support.properties import ALL, SLOW, SOME

#: What a test file imports that does something beside the test, or at a moment of its own.
_BUSY = re.compile(
    r"^ *(?:from|import) (?:concurrent|multiprocessing|signal|socket|subprocess|threading)", re.M
)
_PASSED = "fuzzydict/passed"  # in pytest's cache: the tests that passed in the last run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rest",
        action="store_true",
        help="leave out tests that passed in the last run, but for those marked 'more'",
    )
    parser.addoption(
        "--again",
        choices=["examples", "order"],
        help="only properties; or these, and what another order or load may change as well",
    )


def _is_drawn(item: pytest.Item) -> bool:
    return is_hypothesis_test(getattr(item, "obj", None))


def _cache(config: pytest.Config) -> pytest.Cache | None:
    return getattr(config, "cache", None)  # there is none with -p no:cacheprovider


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what stays to the end, modules and thousands of tests, out of garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if (slow := item.get_closest_marker("slow")) and not SLOW:
            item.add_marker(pytest.mark.skip(reason=f"{slow.args[0]}; set FUZZYDICT_SLOW=1"))
        if _is_drawn(item):
            item.add_marker("more")
    if again := config.getoption("--again"):
        paths = {item.path for item in items} if again == "order" else set()
        busy = {path for path in paths if _BUSY.search(path.read_text("utf-8"))}
        left_out = [i for i in items if i.path not in busy and not _is_drawn(i)]
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)
    if config.getoption("--rest") and (cache := _cache(config)):
        passed = set(cache.get(_PASSED, []))
        left_out = [i for i in items if i.nodeid in passed and not i.get_closest_marker("more")]
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Keep the names of the tests that passed; with xdist, only the main process has them all."""
    if not (config.getoption("--rest") or config.getoption("--again")) and (
        cache := _cache(config)
    ):
        passed = [report.nodeid for report in terminalreporter.getreports("passed")]
        cache.set(_PASSED, passed)


# Speed is measured in benchmarks; a busy machine must not fail a property.
# Where a variable CI is set, Hypothesis would draw the same examples in every run.
settings.register_profile(
    "untimed", deadline=None, derandomize=False, max_examples=ALL if SLOW else SOME
)
# With --hypothesis-profile=brief: as on another processor, or with other releases.
settings.register_profile("brief", deadline=None, derandomize=False, max_examples=5)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def brown() -> WordVectors:
    return Brown()


@pytest.fixture(scope="session")
def themes() -> Path:
    """Return a text of sixty sentences: the first half of ships, the second of baking."""
    return Path(__file__).with_name("support") / "two_themes.txt"


@pytest.fixture(scope="session")
def light() -> tuple[Model, ...]:
    """Return a recipe that takes a moment: one model of words, one of stems."""
    return (
        Model(sg=True, window=5, vector_size=20, epochs=80, sample=0.0),
        Model(sg=False, window=3, vector_size=12, epochs=40, sample=0.0, stems=True),
    )
