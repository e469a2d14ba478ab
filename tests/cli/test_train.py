"""``fuzzydict train`` as its users run it: own texts, the same bytes again, and what goes wrong."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import WordVectors
from fuzzydict.embedding.word2vec import Model

main: click.Command = import_module("fuzzydict.cli").main


def train(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


@pytest.fixture
def notes(tmp_path: Path, themes: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_bytes(themes.read_bytes())
    return path


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch, light: tuple[Model, ...]) -> None:
    """Let the command train by a recipe that takes a moment."""
    monkeypatch.setattr(WordVectors, "train", partial(WordVectors.train, recipe=light, size=None))


def test_one_file_is_trained_on(notes: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.vectors"
    result = train("--corpus", notes, "-o", output)
    assert result.exit_code == 0
    assert "training on 60 sentences" in result.stderr
    vectors = WordVectors.load(output)
    assert result.stdout == f"{len(vectors)} words, vectors of 350: {output} (0.0 MB)\n"
    assert vectors.words[0] == "the"
    assert "captain" in vectors.words


@pytest.mark.usefixtures("quickly")
def test_several_files_are_one_corpus(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "letters.txt"
    other.write_text("The mule ate. The mule slept.")
    output = tmp_path / "mine.vectors"
    for between in ([], ["--corpus"]):
        result = train("--corpus", notes, *between, other, "-o", output)
        assert result.exit_code == 0
        assert "training on 62 sentences" in result.stderr
        assert "mule" in WordVectors.load(output).words
        output.unlink()


@pytest.mark.usefixtures("quickly")
def test_options_reach_the_training(notes: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("first", "again", "other")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        result = train("--corpus", notes, "-o", file, "--seed", seed, "--min-count", "20")
        assert result.exit_code == 0
    first, again, other = (file.read_bytes() for file in files)
    assert first == again != other
    assert WordVectors.load(files[0]).counts.min() >= 20


# ---- bad input ----------------------------------------------------------------------------


def last_line(result: Result) -> str:
    """Return the error, before which there is nothing but progress."""
    assert isinstance(result.exception, SystemExit)
    assert (result.exit_code, result.stdout) == (2, "")
    *before, line = result.stderr.splitlines()
    assert all(one.startswith("training") for one in before)
    assert line.startswith("Error: ")
    return line


def test_files_that_cannot_be_read(notes: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.vectors"
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    for bad, message in [
        (tmp_path / "nowhere.txt", "nowhere.txt: No such file or directory"),
        (tmp_path, f"{tmp_path}: Is a directory"),
        (tmp_path / "latin.txt", "latin.txt: byte 3 is not UTF-8"),
    ]:
        assert message in last_line(train("--corpus", notes, bad, "-o", output))
    assert not output.exists()


@pytest.mark.parametrize("text", ["", "?!\n", "Each word once."])
def test_too_little_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "small.txt").write_text(text)
    line = last_line(train("--corpus", tmp_path / "small.txt", "-o", tmp_path / "mine.vectors"))
    assert "give more text" in line
    assert [path.name for path in tmp_path.iterdir()] == ["small.txt"]


def test_a_corpus_is_not_overwritten_by_its_vectors(notes: Path) -> None:
    before = notes.read_bytes()
    done = train("--corpus", notes, "-o", notes)
    assert (done.exit_code, "one of the files to read" in done.stderr) == (2, True)
    assert notes.read_bytes() == before


def test_an_output_that_cannot_be_saved_is_refused_before_training(
    notes: Path, tmp_path: Path
) -> None:
    missing = train("--corpus", notes, "-o", tmp_path / "missing" / "mine.vectors")
    assert last_line(missing) == f"Error: {tmp_path / 'missing'}: No such file or directory"
    folder = train("--corpus", notes, "-o", tmp_path)
    assert last_line(folder) == f"Error: {tmp_path}: Is a directory"
    assert "training" not in missing.stderr + folder.stderr
    assert list(tmp_path.iterdir()) == [notes]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["notes.txt"], "unexpected argument 'notes.txt'; put --corpus before"),
        (["--epochs", "3"], "No such option"),
        (["--seed", "-3"], "-3 is not in the range"),
        (["--corpus", "x", "--download"], "--download is for the Brown corpus"),
        (["--seed", "x"], "'x' is not a valid integer"),
        (["--min-count", "0"], "0 is not in the range"),
    ],
)
def test_misuse_is_exit_2_with_a_hint(arguments: list[str], message: str) -> None:
    result = train(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "--help" in result.stderr


def test_without_the_brown_corpus_one_line_tells_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    line = last_line(train("-o", tmp_path / "mine.vectors"))
    assert line.startswith("Error: the Brown corpus is not on this machine")
    assert line.endswith("python -m nltk.downloader brown; or with: fuzzydict train --download")
    assert not list(tmp_path.iterdir())
