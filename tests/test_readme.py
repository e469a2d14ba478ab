"""The README: its examples hold, its defaults are those of the code."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from fuzzydict.matching import MeaningAndSpelling

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_hold() -> None:
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    result = doctest.testfile(str(README), module_relative=False, optionflags=flags)
    assert result.failed == 0
    assert result.attempted > 10


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("temperature", MeaningAndSpelling.temperature),
        ("score_cutoff", MeaningAndSpelling.score_cutoff),
    ],
)
def test_the_defaults_are_those_of_the_code(option: str, value: float) -> None:
    row = next(
        line for line in README.read_text("utf-8").splitlines() if line.startswith(f"| `{option}`")
    )
    assert row.split("|")[2].strip().startswith(str(value))
    told = inspect.getdoc(FuzzyDict) or ""
    assert re.search(rf"{option}: [^:]*by default[^:]*\b{re.escape(str(value))}\b", told)
