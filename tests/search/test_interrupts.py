"""Ctrl-C at any line of a read or write: all is as before or after it, as in a new dict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import fuzzydict
from fuzzydict import FuzzyDict
from tests.benchmarks.campaigns import campaign
from tests.support.interrupting import at_line
from tests.support.properties import SLOW

PACKAGE = str(Path(str(fuzzydict.__file__)).parent)


def is_ours(path: str) -> bool:
    return path.startswith(PACKAGE)


@pytest.mark.more
def test_an_interrupt_leaves_what_was_before_or_after() -> None:
    assert not campaign("interrupts", 700 if SLOW else 50, seed=3)[0]


@pytest.mark.parametrize(
    "remove",
    [
        lambda d: d.clear(),
        lambda d: d.__delitem__("key"),
        lambda d: d.pop("key"),
        lambda d: d.popitem(),
    ],
)
def test_an_interrupted_removal_leaves_no_alias_that_comes_back(
    remove: Callable[[Any], Any],
) -> None:
    for line in range(1, 400):
        d = FuzzyDict({"other": 1, "key": 2}, scorer="spelling")
        d.aliases = {"alias": "key"}
        if at_line(partial(remove, d), line, KeyboardInterrupt, is_ours) < line:
            break
        was_removed = "key" not in d
        d["key"] = 3
        assert d.aliases == ({} if was_removed else {"alias": "key"})
