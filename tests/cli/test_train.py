"""``fuzzydict train`` as its users run it: own texts, the same bytes again, and what goes wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from fuzzydict import WordVectors
from fuzzydict.embedding.word2vec import Model
from tests.support.commands import refused, run


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
    result = run("train", "--corpus", notes, "-o", output)
    assert result.exit_code == 0
    assert "training on 60 sentences" in result.stderr
    vectors = WordVectors.load(output)
    assert result.stdout == f"{len(vectors)} words, vectors of 350: {output} (0.0 MB)\n"
    assert vectors.words[0] == "the"
    assert "captain" in vectors.words


@pytest.mark.usefixtures("quickly")
def test_several_files_are_one_corpus_and_a_seed_gives_the_same_file(
    notes: Path, tmp_path: Path
) -> None:
    other = tmp_path / "letters.txt"
    other.write_text("The mule ate. The mule slept.")
    output = tmp_path / "mine.vectors"
    for between in ([], ["--corpus"]):
        result = run("train", "--corpus", notes, *between, other, "-o", output)
        assert "training on 62 sentences" in result.stderr
        assert "mule" in WordVectors.load(output).words
    files = [tmp_path / name for name in ("first", "again", "other")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        options = ["-o", file, "--seed", seed, "--min-count", "20"]
        assert run("train", "--corpus", notes, *options).exit_code == 0
    first, again, another = (file.read_bytes() for file in files)
    assert first == again != another
    assert WordVectors.load(files[0]).counts.min() >= 20


def test_without_the_brown_corpus_one_line_tells_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    line = refused("train", "-o", tmp_path / "mine.vectors")
    assert line.startswith("Error: the Brown corpus is not on this machine")
    assert line.endswith("python -m nltk.downloader brown; or with: fuzzydict train --download")
    assert not list(tmp_path.iterdir())
