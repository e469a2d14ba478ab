"""What commands advise is what the library says, in words that suit both."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from fuzzydict import FuzzyDict

main: click.Command = import_module("fuzzydict.cli").main
CAR = {"color": "black", "price": 109000}


def masked(_: Path) -> list[str]:
    return ["attend", "car.json", "colour", "--mask", "color", "--mask", "price"]


def saved(*command: str, **options: Any) -> Callable[[Path], list[str]]:
    """Return what saves a dict with options and returns the command that opens it."""

    def run(folder: Path) -> list[str]:
        FuzzyDict(CAR, **options).save(folder / "car.fuzzydict")
        return [*command[:1], "car.fuzzydict", *command[1:]]

    return run


@pytest.mark.parametrize(
    ("made", "code", "advice"),
    [
        (masked, 1, "; mask fewer keys, or widen the scorer"),
        (
            saved("lookup", "hue", index="usearch"),
            2,
            "install it with: pip install 'fuzzydict[usearch]', or set the dict's index to 'exact'",
        ),
        (
            saved("lookup", "hue", index="usearch", scorer="gaussian"),
            2,
            "which needs every key; set the dict's index to 'exact', or choose another scorer",
        ),
        (
            saved("lookup", "hue", embedding={"color": [1.0, 0.0]}),
            2,
            "; open it with the first",
        ),
    ],
)
def test_the_advice_suits_whoever_runs_the_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: Callable[[Path], list[str]],
    code: int,
    advice: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "usearch", None)
    (tmp_path / "car.json").write_text('{"color": "black", "price": 109000}')
    result = CliRunner().invoke(main, made(tmp_path))
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.endswith(f"{advice}\n")
    assert result.stderr.count("\n") == 1


def test_what_a_file_says_is_reported_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "car.json"
    path.write_text('{"validation=0": 1, "validation=0": 2}')
    result = CliRunner().invoke(main, ["lookup", str(path), "hue"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the key 'validation=0' comes twice" in result.stderr
