"""``fuzzydict attend`` as its users run it: bars, pictures, and what goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict

main: click.Command = import_module("fuzzydict.cli").main
SCRIPT = Path(sys.executable).with_name("fuzzydict")
CAR = {"color": "black", "top speed": "260 km/h", "doors": 4, "price <€>": [1, 2]}


@pytest.fixture
def car(tmp_path: Path) -> Path:
    path = tmp_path / "car.json"
    path.write_text(json.dumps(CAR))
    return path


def attend(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["attend", *map(str, arguments)])


def test_the_weights_are_shown_as_bars(car: Path) -> None:
    result = attend(car, "colour")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{FuzzyDict(CAR).attend('colour')}\n"


def test_options_reach_the_attention(car: Path) -> None:
    d = FuzzyDict(CAR, temperature=0.5)
    kept = d.attend("colour", attn_mask=lambda key: key not in ("color", "doors"))
    options = ["-n", "2", "--temperature", "0.5", "--mask", "color", "--mask", "doors"]
    assert attend(car, "colour", *options).stdout == f"{kept.chart(2)}\n"
    first, *bars, rest, _ = kept.chart(2).splitlines()
    assert first == "attention of 'colour'"
    assert {bar.split("  ")[1].strip() for bar in bars} == {"top speed", "price <€>"}
    assert rest == "  and 2 more keys with 0.0% together"


def test_a_very_low_temperature_leaves_the_best_key_alone(car: Path) -> None:
    result = attend(car, "colour", "--temperature", "1e-320")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1].split()[:2] == ["color", "100.0%"]


def test_a_terminal_of_few_letters_gets_bars_of_other_signs(car: Path) -> None:
    done = subprocess.run(
        [SCRIPT, "attend", car, "colour"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b" ##############################" in done.stdout


def test_a_page_is_whole(car: Path) -> None:
    page = car.parent / "weights.HTML"
    assert attend(car, "colour <b>", "--plot", page, "-n", "2").exit_code == 0
    text = page.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
    assert "<title>Attention of colour &lt;b&gt;</title>" in text
    assert text.count("<tr>") == 2
    assert "and 2 more keys" in text


@pytest.mark.parametrize(("name", "begin"), [("w.png", b"\x89PNG"), ("w.svg", b"<?xml")])
def test_pictures_are_drawn(
    car: Path, monkeypatch: pytest.MonkeyPatch, name: str, begin: bytes
) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    monkeypatch.setenv("MPLBACKEND", "agg")
    drawn = []
    for _ in range(2):
        result = attend(car, "colour", "--plot", car.parent / name)
        assert (result.exit_code, result.stderr) == (0, "")
        drawn.append((car.parent / name).read_bytes())
    assert drawn[0].startswith(begin)
    assert drawn[0] == drawn[1]


def test_a_picture_without_matplotlib_names_the_extra(
    car: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = attend(car, "colour", "--plot", car.parent / "w.png")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'fuzzydict[plot]'" in result.stderr.splitlines()[-1]
    assert [path.name for path in car.parent.iterdir()] == ["car.json"]
    assert attend(car, "colour", "--plot", car.parent / "w.html").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["colour", "--plot", "w.pdf"],
            "--plot: w.pdf: expected a name that ends in .png, .svg or .html",
        ),
        (["colour", "--plot", "no/w.png"], "no: No such file or directory"),
        (
            ["colour", "--mask", "colour"],
            "--mask: 'colour' is not a key of the dict (did you mean 'color'?); give a key",
        ),
        (["colour", "--temperature", "-1"], "temperature"),
        (["colour", "--temperature", "nan"], "temperature"),
        (["colour", "-n", "0"], "0 is not in the range x>=1"),
        (["colour", "speed"], "Got unexpected extra argument (speed)"),
    ],
)
def test_misuse_is_exit_2(
    car: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(car.parent)
    result = attend(car, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments", [["?!"], ["", "-n", "1"], ["x", *(f"--mask={k}" for k in CAR)]]
)
def test_nothing_to_attend_to_is_exit_1(car: Path, arguments: list[str]) -> None:
    result = attend(car, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
