"""``fuzzydict fit`` as its users run it: from examples, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzydict import FuzzyDict
from tests.support.commands import refused, run
from tests.support.fits import AT_ODDS, CAR


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps({"color": "black", "price": 109000, "brand": "Porsche"}))
    return path


def questions(folder: Path, *lines: str) -> Path:
    path = folder / "questions.csv"
    path.write_text("\n".join(["query,target", *lines, ""]))
    return path


def test_a_dict_learns_and_is_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    examples = questions(tmp_path, "hue,color", "maker,brand", "zebra,")
    result = run("fit", car, examples, "-o", output)
    assert (result.exit_code, result.stderr) == (0, "")  # a bar is for terminals
    assert result.stdout.startswith("remembered: 3 texts, ")
    assert result.stdout.endswith(f"saved: {output} ({output.stat().st_size / 1e3:,.0f} kB)\n")
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert (d["hue"], d["Maker"], d.get("zebra")) == ("black", "Porsche", None)
    assert d.aliases == {"hue": "color", "maker": "brand", "zebra": None}
    assert d.projections is None


def test_a_query_may_be_taught_several_keys(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    lines = ["value,price", "value,brand", "hue,color", "maker,brand"]
    result = run("fit", car, questions(tmp_path, *lines), "-o", output, "--validation", "0")
    assert "3 of 3 examples" in result.stdout
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert d.aliases.keys() == {"value", "hue", "maker"}
    assert d.aliases["value"] in {"price", "brand"}


def test_what_does_not_help_is_not_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    at_odds = questions(tmp_path, *(f"{query},{key}" for query, key in AT_ODDS.items()))
    car.write_text(json.dumps(dict.fromkeys(CAR, 1)))
    options = ["--no-remember", "--validation", "0.2", "--epochs", "5"]
    result = run("fit", car, at_odds, "-o", output, *options)
    assert result.exit_code == 1
    assert result.stdout.startswith("not kept: ")
    assert "to do: give more examples, or set validation to 0" in result.stdout
    assert "nothing was saved" in result.stderr
    assert "is to find 'color', but" in refused("fit", car, at_odds, "-o", output)
    assert not output.exists()
