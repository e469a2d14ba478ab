"""``fuzzydict explain`` as its users run it: text, JSON, exit codes, and bad files."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, WordVectors

CAR = {"color": "black", "top speed": 260, "doors": 4}
main: click.Command = import_module("fuzzydict.cli").main


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


def explain(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)])


def test_the_text_is_that_of_the_explanation(car: Path) -> None:
    result = explain(car, "colour", "topSpeed")
    first, second = FuzzyDict(CAR).explain(["colour", "topSpeed"])
    assert (result.exit_code, result.stdout) == (0, f"{first}\n\n{second}\n")
    assert result.stderr == ""


def test_a_query_that_finds_nothing_is_explained_and_exit_1(car: Path) -> None:
    result = explain(car, "?!", "qwzzt", "colour")
    assert result.exit_code == 1
    assert result.stdout.startswith("'qwzzt' finds nothing: the best, ")
    assert result.stdout.count("\n\n") == 1
    assert result.stderr == (
        "no key matches '?!': it has no letters or digits to compare, "
        "so that only an equal key could match\n"
    )
    refused = explain(car, "colour", "--cutoff", "1.5")
    assert refused.exit_code == 1
    assert "below the cutoff 1.500" in refused.stdout


def test_keys_are_scored_by_the_scorer_that_is_named(car: Path) -> None:
    assert explain(car, "colr", "--scorer", "spelling").stdout.startswith("'colr' finds 'color'")
    assert explain(car, "hue", "--scorer", "spelling").exit_code == 1
    assert "there is no cutoff" in explain(car, "colour", "--scorer", "cosine").stdout
    saved = car.with_suffix(".fuzzydict")
    FuzzyDict(CAR, scorer="cosine").save(saved)
    assert "the cutoff is 0.500" in explain(saved, "colr", "--scorer", "spelling").stdout
    refused = explain(car, "colr", "--scorer", "speling").stderr
    assert "'--scorer': 'speling' (did you mean 'spelling'?); valid are spelling, dot" in refused


def test_json_has_all_numbers_an_object_a_line(car: Path) -> None:
    result = explain(car, "--json", "colourr", "?!", "color")
    assert result.exit_code == 1
    colour, marks, color = map(json.loads, result.stdout.splitlines())
    e = FuzzyDict(CAR).explain("colourr")
    assert (colour["query"], colour["matches"], colour["equal"]) == ("colourr", True, False)
    for name, match, parts in (
        ("best", e.best, e.best_parts),
        ("runner_up", e.runner_up, e.runner_up_parts),
    ):
        given = colour[name]
        assert (given["key"], given["value"]) == match[:2]
        assert given["score"] == pytest.approx(match.score)
        assert given["parts"] == pytest.approx(parts._asdict())
    assert colour["none"] == pytest.approx(e.none)
    assert colour["margin"] == pytest.approx(e.margin)
    assert colour["cutoff"] == e.cutoff
    (word,) = colour["words"]
    assert (word["text"], word["known"], word["stand_in"]) == ("colourr", False, "colour")
    assert marks == {"query": "?!", "matches": False, "best": None}
    assert (color["equal"], color["best"]["score"]) == (True, 1.0)


def test_json_is_valid_whatever_the_cutoff(car: Path) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    result = explain(car, "--json", "colour", "--cutoff", "inf")
    assert result.exit_code == 1
    assert json.loads(result.stdout, parse_constant=refuse)["cutoff"] is None


def test_other_vectors_know_other_words(car: Path, tmp_path: Path) -> None:
    WordVectors(["hue", "color"], [[1.0, 0.1], [1.0, 0.0]]).save(tmp_path / "mine.vectors")
    result = explain(car, "hue", "--vectors", tmp_path / "mine.vectors", "--json")
    content = json.loads(result.stdout)
    assert [word["known"] for word in content["words"]] == [True]
    assert content["best"]["key"] == "color"


@pytest.mark.parametrize(
    "arguments",
    [["nowhere.json", "colour"], ["car.json"], ["car.json", "colour", "--cutoff", "high"]],
)
def test_a_wrong_file_or_argument_is_exit_2_and_a_line(
    car: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(car.parent)
    result = explain(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith(("Error: ", "nowhere.json"))
