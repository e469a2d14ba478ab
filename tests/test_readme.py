"""The README: its examples hold, its defaults are those of the code."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
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


@pytest.mark.skipif(os.name != "posix", reason="the commands are written for a POSIX shell")
def test_its_commands_run_from_the_folder_of_the_repository(tmp_path: Path) -> None:
    section = README.read_text("utf-8").split("\n## On the command line\n")[1]
    lines = section.split("```sh\n")[1].split("```")[0].splitlines()
    # These take minutes where nltk has its corpora.
    quick = [
        line for line in lines if not re.search(r"--download|--wordnet|fuzzydict evaluate", line)
    ]
    assert 10 <= len(quick) == len(lines) - 3
    shutil.copytree(README.parent / "data", tmp_path / "data")
    shutil.copy(README, tmp_path)
    done = subprocess.run(
        ["sh", "-e"],
        input="\n".join(quick),
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("black\n260 km/h\nblack\n260 km/h\n260 km/h\ttop speed\t")
    assert "Error" not in done.stderr
    made = {"clean.csv", "doubtful.csv", "car.html", "mine.vectors", "car.fuzzydict"}
    assert {path.name for path in tmp_path.iterdir()} == {*made, "data", "README.md"}


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
