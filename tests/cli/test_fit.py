"""``fuzzydict fit`` as its users run it: from examples, and what goes wrong."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict
from tests.support.fits import AT_ODDS, CAR

main: click.Command = import_module("fuzzydict.cli").main


def fit(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'DICT'"),
        (["d.json", "-o", "o.fuzzydict"], "Missing argument 'EXAMPLES'"),
        (["d.json", "e.csv"], "Missing option '-o'"),
        (["d.json", "e.csv", "--epochs", "0"], "0 is not in the range"),
        (["d.json", "e.csv", "--rank", "3"], "No such option"),
        (["d.json", "e.csv", "--seed", "-1"], "-1 is not in the range"),
        (["d.json", "e.csv", "--validation", "0.6"], "0.6 is not in the range"),
    ],
)
def test_misuse_is_exit_2_with_a_hint(arguments: list[str], message: str) -> None:
    result = fit(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "--help" in result.stderr


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
    result = fit(car, questions(tmp_path, "hue,color", "maker,brand", "zebra,"), "-o", output)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""  # a bar is for terminals
    assert result.stdout.startswith("remembered: 3 texts, ")
    assert result.stdout.endswith(f"saved: {output} ({output.stat().st_size / 1e3:,.0f} kB)\n")
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert (d["hue"], d["Maker"], d.get("zebra")) == ("black", "Porsche", None)
    assert d.aliases == {"hue": "color", "maker": "brand", "zebra": None}
    assert d.projections is None


def test_a_query_may_be_taught_several_keys(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    lines = ["value,price", "value,brand", "hue,color", "maker,brand"]
    result = fit(car, questions(tmp_path, *lines), "-o", output, "--validation", "0")
    assert result.exit_code == 0, result.stderr
    assert "3 of 3 examples" in result.stdout
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert d.aliases.keys() == {"value", "hue", "maker"}
    assert d.aliases["value"] in {"price", "brand"}


def test_what_does_not_help_is_not_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    at_odds = questions(tmp_path, *(f"{query},{key}" for query, key in AT_ODDS.items()))
    car.write_text(json.dumps(dict.fromkeys(CAR, 1)))
    arguments: list[str | Path] = [car, at_odds, "-o", output]
    result = fit(*arguments, "--no-remember", "--validation", "0.2", "--epochs", "5")
    assert result.exit_code == 1
    assert result.stdout.startswith("not kept: ")
    assert "to do: give more examples, or set validation to 0" in result.stdout
    assert "nothing was saved" in result.stderr
    assert not output.exists()
    remembering = fit(*arguments)
    assert (remembering.exit_code, remembering.stdout) == (2, "")
    assert "is to find 'color', but" in remembering.stderr
    assert "same text" in remembering.stderr


def test_examples_and_dicts_that_are_wrong_are_told_in_a_line(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    good = questions(tmp_path, "hue,color")
    bad = tmp_path / "bad.csv"
    bad.write_text("query,target\nhue,colour\n")
    cases: list[tuple[list[str | Path], str]] = [
        ([car, bad, "-o", output], "bad.csv: 'colour', the target of 'hue', is not a key"),
        ([car, tmp_path / "no.csv", "-o", output], "no.csv: No such file or directory"),
        ([tmp_path / "no.json", good, "-o", output], "no.json: No such file or directory"),
        ([car, good, "-o", car], "one of the files to read"),
        (
            [car, good, "-o", output, "--format", "xml"],
            "'--format': 'xml'; valid are json, toml, yaml",
        ),
    ]
    for arguments, message in cases:
        result = fit(*arguments)
        assert (result.exit_code, result.stdout) == (2, ""), message
        assert message in result.stderr
    assert not output.exists()


ENDINGS = ["json", "yaml", "CSV", "tab", "jsonl", "parquet", "fuzzydict"]
ENDINGS += ["vectors", "projections", "HTM", "svg"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_that_tells_of_something_else_is_refused(
    car: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"mine.{ending}"
    output.write_text("kept")
    examples = questions(tmp_path, "hue,color")
    commands: dict[str, tuple[str, list[str | Path]]] = {
        "fuzzydict": ("a saved dict (.fuzzydict)", ["fit", car, examples]),
        "vectors": ("word vectors", ["train", "--corpus", examples]),
        "CSV": ("csv", ["map", car, examples, "--column", "query"]),
    }
    for own, (what, arguments) in commands.items():
        if own != ending:
            result = CliRunner().invoke(main, [*map(str, arguments), "-o", str(output)])
            assert (result.exit_code, result.stdout) == (2, "")
            told = f"mine.{ending} would hold {what}, but its ending says otherwise"
            assert told in result.stderr
    assert output.read_text() == "kept"


def test_a_dict_that_cannot_be_saved_is_told_before_it_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(*_: object, **__: object) -> None:
        raise AssertionError("it learns")

    monkeypatch.setattr(FuzzyDict, "fit", learn)
    car, output = tmp_path / "car.toml", tmp_path / "car.fuzzydict"
    car.write_text('color = "black"\nbuilt = 2024-02-29\n')
    result = fit(car, questions(tmp_path, "hue,color"), "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: the item of key 'built' cannot be saved: ")
    assert result.stderr.count("\n") == 1
    assert not output.exists()


def test_guesses_of_a_review_that_nobody_decided_on_are_not_learned(
    car: Path, tmp_path: Path
) -> None:
    output = tmp_path / "car.fuzzydict"
    review = questions(tmp_path, "maker,brand", "hue,? color", "zebra,?")
    result = fit(car, review, "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "2 targets are undecided, first '? color' for 'hue'" in result.stderr
    assert not output.exists()
    car.write_text(json.dumps({"color": "black", "brand": "Porsche", "? color": "none"}))
    decided = questions(tmp_path, "maker,brand", "hue,? color", "zebra,")
    assert fit(car, decided, "-o", output).exit_code == 0


def test_a_table_of_other_columns_learns_too(tmp_path: Path) -> None:
    table = tmp_path / "car.csv"
    table.write_text("name,unit,of\ncolor,-,black\nbrand,-,Porsche\n")
    output = tmp_path / "car.fuzzydict"
    queries_file = questions(tmp_path, "hue,color", "maker,brand")
    result = fit(table, queries_file, "--key", "name", "--value", "of", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert FuzzyDict.load(output).get("hue", score_cutoff=0) == "black"
