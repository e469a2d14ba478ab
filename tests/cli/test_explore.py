"""``fuzzydict explore`` as its users run it: the page, its options, and what goes wrong."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, WordVectors

from .javascript import data_of

CAR = {"color": "black", "doors": 4}
main: click.Command = import_module("fuzzydict.cli").main


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


def explore(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["explore", *map(str, arguments)])


def test_the_page_is_saved_and_told_of(car: Path, tmp_path: Path) -> None:
    page = tmp_path / "my car.html"
    done = explore(car, "-o", page, "--words", "100", "--cutoff", "0.4")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"2 keys: {page} (")
    text = page.read_text("utf-8")
    assert "<title>my car</title>" in text
    data = data_of(text)
    assert (data["keys"], data["cutoff"]) == (["color", "doors"], 0.4)
    assert len(data["vocabulary"]["words"]) < 105


def test_a_title_and_vectors_of_ones_own(car: Path, tmp_path: Path) -> None:
    vectors, page = tmp_path / "mine.vectors", tmp_path / "page.html"
    WordVectors.from_mapping({"hue": [1.0, 0.0], "color": [0.9, 0.1]}).save(vectors)
    done = explore(car, "-o", page, "--vectors", vectors, "--title", "A & <b>")
    assert done.exit_code == 0
    text = page.read_text("utf-8")
    assert "<title>A &amp; &lt;b&gt;</title>" in text
    assert data_of(text)["vocabulary"]["words"] == ["hue", "color"]


def test_the_files_that_are_read_are_not_overwritten(car: Path) -> None:
    done = explore(car, "-o", car)
    assert done.exit_code == 2
    assert "is one of the files to read" in done.stderr
    assert json.loads(car.read_text()) == CAR


def test_a_dict_that_no_page_can_hold_is_an_error_of_one_line(tmp_path: Path) -> None:
    saved = tmp_path / "car.fuzzydict"
    FuzzyDict(CAR, scorer="cosine").save(saved)
    done = explore(saved, "-o", tmp_path / "page.html")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("Error: scorer: ")
    assert not (tmp_path / "page.html").exists()


def test_a_place_that_is_not_there_is_an_error_of_one_line(car: Path, tmp_path: Path) -> None:
    done = explore(car, "-o", tmp_path / "nowhere" / "page.html")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "No such file or directory" in done.stderr
