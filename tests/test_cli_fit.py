"""``fuzzydict fit`` as its users run it: from examples, from WordNet, and what goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict, WordVectors
from fuzzydict.projections import Projections
from fuzzydict.wordnet import Synset

from .test_fits_kept import AT_ODDS, CAR

main: click.Command = import_module("fuzzydict.cli").main
SYNSETS = [
    Synset("car", ("car", "auto"), "a motor vehicle"),
    Synset("ship", ("ship", "boat"), "a vessel"),
]
WORDS = ["a", "car", "auto", "motor", "vehicle", "ship", "boat", "vessel"]


def fit(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "mine.vectors"
    WordVectors(WORDS, [[float(i == j) for j in range(8)] for i in range(8)]).save(path)
    return path


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzzydict import retrofitting

    few = retrofitting.Recipe(steps=3, batch=4, buckets=16, size=2, kept_words=4)
    monkeypatch.setattr(retrofitting, "wordnet_synsets", lambda: SYNSETS)
    monkeypatch.setattr(retrofitting, "Recipe", lambda seed: replace(few, seed=seed))


@pytest.mark.usefixtures("tiny")
def test_projections_are_learned_for_ones_own_vectors(vectors: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.projections"
    result = fit("--wordnet", "--vectors", vectors, "-o", output)
    assert result.exit_code == 0
    assert result.stderr == "learning from WordNet, without the 0 pairs to exclude\n"
    projections = Projections.load(output)
    assert projections.embedding == WordVectors.load(vectors).fingerprint()["name"]
    assert projections.project_keys([[1.0] * 8], ["car"]).shape == (1, 10)
    assert result.stdout == f"projections for {projections.embedding}: {output} (0.0 MB)\n"


@pytest.mark.usefixtures("tiny")
def test_equal_seeds_give_equal_bytes_and_excluded_pairs_other_ones(
    vectors: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "set.json"
    queries = [{"query": "boat", "accept": ["ship"]}]
    asked.write_text(json.dumps({"dictionaries": [{"keys": ["ship"], "queries": queries}]}))
    options: list[list[str | Path]] = [[], [], ["--seed", "2"], ["--exclude", asked, asked]]
    files = [tmp_path / str(i) for i in range(len(options))]
    for file, given in zip(files, options, strict=True):
        result = fit("--wordnet", "--vectors", vectors, "-o", file, *given)
        assert result.exit_code == 0
    assert "without the 1 pairs" in result.stderr
    first, again, seeded, without = (file.read_bytes() for file in files)
    assert first == again
    assert len({first, seeded, without}) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to learn from; give DICT and EXAMPLES, or --wordnet"),
        (["d.json"], "expected two files, DICT and EXAMPLES"),
        (["d.json", "e.csv", "f.csv"], "expected two files, DICT and EXAMPLES"),
        (["d.json", "e.csv"], "say where to save the dict: -o FILE.fuzzydict"),
        (["d.json", "e.csv", "--exclude", "f.json"], "--exclude needs --wordnet"),
        (["--wordnet", "--format", "json"], "--format is for DICT"),
        (["--wordnet", "--num-heads", "2"], "--num-heads is for DICT"),
        (["d.json", "e.csv", "--num-heads", "0"], "0 is not in the range"),
        (["--wordnet", "some.json"], "unexpected argument 'some.json'"),
        (["--wordnet", "--epochs", "3"], "No such option"),
        (["--wordnet", "--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_misuse_is_exit_2_with_a_hint(arguments: list[str], message: str) -> None:
    result = fit(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "--help" in result.stderr


def test_files_that_cannot_be_read_or_written(vectors: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    output = tmp_path / "mine.projections"
    cases: list[tuple[list[str | Path], str]] = [
        (["--exclude", tmp_path / "no.json"], "no.json: No such file or directory"),
        (["--exclude", bad], "bad.json"),
        (["--vectors", bad], "bad.json is not a fuzzydict file"),
        (["-o", tmp_path], "Is a directory"),
        (["--vectors", vectors, "-o", vectors], "one of the files to read"),
    ]
    for arguments, message in cases:
        result = fit("--wordnet", "-o", output, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
    assert not output.exists()


def test_without_wordnet_one_line_tells_how_to_get_it(tmp_path: Path) -> None:
    program = (
        "import sys, nltk; nltk.data.path[:] = [sys.argv.pop()];"
        "from fuzzydict.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "fit", "--wordnet", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    *_, line = done.stderr.splitlines()
    assert line.startswith("Error: WordNet is not on this machine")
    assert line.endswith("python -m nltk.downloader wordnet")
    assert not list(tmp_path.iterdir())


# ---- from examples ------------------------------------------------------------------------


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
    assert result.stdout.startswith("kept: ")
    assert result.stdout.endswith(f"saved: {output} ({output.stat().st_size / 1e6:.1f} MB)\n")
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert (d["hue"], d["maker"], d.get("zebra")) == ("black", "Porsche", None)


def test_heads_are_learned_and_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    asked = questions(tmp_path, "hue,color", "maker,brand")
    result = fit(car, asked, "--num-heads", "2", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert FuzzyDict.load(output).projections.num_heads == 2


def test_what_does_not_help_is_not_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    at_odds = questions(tmp_path, *(f"{query},{key}" for query, key in AT_ODDS.items()))
    car.write_text(json.dumps(dict.fromkeys(CAR, 1)))
    result = fit(car, at_odds, "-o", output)
    assert result.exit_code == 1
    assert result.stdout.startswith("not kept: ")
    assert "give more" in result.stdout or "validation=0" in result.stdout  # what to do next
    assert "nothing was saved" in result.stderr
    assert not output.exists()


def test_examples_and_dicts_that_are_wrong_are_told_in_a_line(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    good = questions(tmp_path, "hue,color")
    bad = tmp_path / "bad.csv"
    bad.write_text("query,target\nhue,colour\n")
    cases: list[tuple[list[str | Path], str]] = [
        ([car, bad, "-o", output], "bad.csv: 'colour', the target of 'hue', is no key"),
        ([car, tmp_path / "no.csv", "-o", output], "no.csv: No such file or directory"),
        ([tmp_path / "no.json", good, "-o", output], "no.json: No such file or directory"),
        ([car, good, "-o", car], "one of the files to read"),
        ([car, good, "-o", output, "--num-heads", "9"], "num_heads: expected 3 at most"),
        (
            [car, good, "-o", output, "--format", "xml"],
            "'--format': 'xml' is not one of 'json', 'toml'",
        ),
    ]
    for arguments, message in cases:
        result = fit(*arguments)
        assert (result.exit_code, result.stdout) == (2, ""), message
        assert message in result.stderr
    assert not output.exists()


ENDINGS = ["json", "toml", "yml", "yaml", "CSV", "tab", "jsonl", "parquet", "fuzzydict"]
ENDINGS += ["vectors", "projections", "html", "HTM", "png", "svg"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_that_tells_of_something_else_is_refused(
    car: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"mine.{ending}"
    output.write_text("kept")
    examples = questions(tmp_path, "hue,color")
    commands: dict[str, list[str | Path]] = {
        "a saved dict (.fuzzydict)": ["fit", car, examples],
        "projections": ["fit", "--wordnet"],
        "word vectors": ["train", "--corpus", examples],
        "a page of HTML": ["explore", car],
        "csv": ["map", car, examples, "--column", "query"],
    }
    own = {"CSV": "csv", "HTM": "a page of HTML", "html": "a page of HTML"}
    own |= {"fuzzydict": "a saved dict (.fuzzydict)", "projections": "projections"}
    own |= {"vectors": "word vectors"}
    for what, arguments in commands.items():
        if own.get(ending) != what:
            result = CliRunner().invoke(main, [*map(str, arguments), "-o", str(output)])
            assert (result.exit_code, result.stdout) == (2, "")
            assert f"mine.{ending} would hold {what}, not what its ending tells" in result.stderr
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
    assert "2 targets are not decided on, first '? color' for 'hue'" in result.stderr
    assert not output.exists()
    car.write_text(json.dumps({"color": "black", "brand": "Porsche", "? color": "none"}))
    decided = questions(tmp_path, "maker,brand", "hue,? color", "zebra,")
    assert fit(car, decided, "-o", output).exit_code in (0, 1)


def test_a_table_of_other_columns_learns_too(tmp_path: Path) -> None:
    table = tmp_path / "car.csv"
    table.write_text("name,unit,of\ncolor,-,black\nbrand,-,Porsche\n")
    output = tmp_path / "car.fuzzydict"
    asked = questions(tmp_path, "hue,color", "maker,brand")
    result = fit(table, asked, "--key", "name", "--value", "of", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert FuzzyDict.load(output)["hue"] == "black"
