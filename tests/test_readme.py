"""The README: its examples hold, its defaults are those of the code."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
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


def test_its_pictures_are_there_described_and_small() -> None:
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", README.read_text("utf-8"))
    assert len(pictures) == 4
    for description, place in pictures:
        assert len(description.split()) > 5
        picture = (README.parent / place).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < 60_000
    folder = README.parent / "cli" / "demos" / "pictures"
    assert {path.name for path in folder.iterdir()} == {Path(p).name for _, p in pictures}


def test_its_demos_are_those_of_the_command() -> None:
    section = README.read_text("utf-8").split("\n## Demos\n")[1].split("\n## ")[0]
    names = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert tuple(names) == import_module("fuzzydict.cli.demos").DEMOS


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
