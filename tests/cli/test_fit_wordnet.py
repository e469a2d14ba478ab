"""``fuzzydict fit --wordnet`` as its users run it: projections out of WordNet."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzydict import WordVectors
from fuzzydict.embedding.projections import Projections
from fuzzydict.learning.wordnet import Synset
from tests.cli.test_fit import fit

SYNSETS = [
    Synset("car", ("car", "auto"), "a motor vehicle"),
    Synset("ship", ("ship", "boat"), "a vessel"),
]
WORDS = ["a", "car", "auto", "motor", "vehicle", "ship", "boat", "vessel"]


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "mine.vectors"
    WordVectors(WORDS, [[float(i == j) for j in range(8)] for i in range(8)]).save(path)
    return path


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzzydict.learning import wordnet

    few = wordnet.Recipe(steps=3, batch=4, buckets=16, size=2, kept_words=4)
    monkeypatch.setattr(wordnet, "wordnet_synsets", lambda: SYNSETS)
    monkeypatch.setattr(wordnet, "Recipe", lambda seed: replace(few, seed=seed))


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
