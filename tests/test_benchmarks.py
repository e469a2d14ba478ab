"""The measuring commands, each run on very little: do they say what one relies on?"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from fuzzydict import MissingCorpusError, WordVectors
from fuzzydict.matching import MeaningOrSpelling
from fuzzydict.reporting import environment
from fuzzydict.training import Model
from tests.benchmarks import pooling, recipes, startup, tables
from tests.benchmarks.development import development_set, pairs_of
from tests.benchmarks.single_models import Corpus, Part, Trainer, join

_SET = {
    "dictionaries": [
        {
            "keys": ["brand", "color", "model"],
            "queries": [
                {"query": "colour", "accept": ["color"]},
                {"query": "modell", "accept": ["model"]},
                {"query": "?!", "accept": ["brand"]},
            ],
        }
    ]
}
_SENTENCES = [
    "the old boat lay on the shore of the cold lake",
    "a small ship lay on the shore of the old harbour",
    "the cold lake and the old harbour lay near the small shore",
] * 5
_SYNONYMS = {"boat": {"ship"}, "ship": {"boat"}, "cold": {"old"}, "old": {"cold"}}


@pytest.fixture
def set_file(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.json"
    file.write_text(json.dumps(_SET))
    return file


@pytest.fixture
def corpus() -> Corpus:
    split = [sentence.split() for sentence in _SENTENCES]
    return Corpus(split, split, [[word for sentence in split for word in sentence]])


def _rows(output: str) -> dict[str, list[str]]:
    """Return the cells of all tables, by their first one."""
    lines = [line for line in output.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


# ---- the commands -------------------------------------------------------------------------


def test_a_bad_file_ends_a_command_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.json"
    for write in (lambda: None, lambda: bad.write_text("{}")):
        write()
        with pytest.raises(SystemExit) as ended:
            pooling.main([str(bad)])
        assert ended.value.code == 2
        assert "bad.json" in capsys.readouterr().err.splitlines()[-1]


def test_pooling(set_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pooling.main([str(set_file), "--seeds", "2"], keys=30)
    output = capsys.readouterr().out
    assert environment() in output
    assert "among 30 keys" in output
    assert output.count("(default)") == 2
    rows = _rows(output)
    least, _, middle, share = map(float, rows["**0.05** (default)"])
    assert 0 < least <= middle <= 1
    assert 0 <= share <= 1
    lost, all_lost, refused = map(
        float, rows[f"**{MeaningOrSpelling.score_cutoff:.2f}** (default)"]
    )
    assert lost == all_lost == 0
    assert 0 <= float(rows["0.05"][-1]) <= refused <= float(rows["0.50"][-1]) <= 1


def test_startup(capsys: pytest.CaptureFixture[str]) -> None:
    startup.main(["--runs", "1"])
    rows = _rows(capsys.readouterr().out)
    for what, unit in {
        "open": "ms",
        "exact": "ns",
        "size": "MB",
        "`fuzzydict lookup": "ms",
    }.items():
        cells = next(cells for name, cells in rows.items() if name.startswith(what))
        number, got = cells[0].split()
        assert float(number) > 0
        assert got == unit


@pytest.mark.skipif(os.name != "posix", reason="memory is told of a process on POSIX only")
def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(["--rows", "20", "30", "--distinct", "5"])
    rows = _rows(capsys.readouterr().out)
    assert list(rows)[1:] == ["20 rows", "30 rows"]
    for seconds, megabytes in list(rows.values())[1:]:
        assert float(seconds.removesuffix(" s")) > 0
        assert float(megabytes.removesuffix(" MB")) > 10


def test_startup_says_that_the_package_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: "/nowhere")
    with pytest.raises(SystemExit):
        startup.main(["--runs", "1"])
    assert "pip install ." in capsys.readouterr().err


# ---- recipes ------------------------------------------------------------------------------

_TINY = Part(Model(sg=True, window=2, vector_size=4, epochs=1, sample=0.1))
_OTHER = Part(Model(sg=False, window=2, vector_size=6, epochs=1, sample=0.1, stems=True))
_TWO = {
    "one": recipes.Recipe((_TINY,)),
    "both, centred": recipes.Recipe((_TINY, _OTHER), centred=1.0),
}


def test_recipes(
    corpus: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(recipes, "wordnet_synonyms", lambda _: _SYNONYMS)
    command = ["--cache", str(tmp_path / "cache")]
    recipes.main(command, recipes=_TWO, corpus=lambda: corpus)
    first = capsys.readouterr()
    assert first.err.count("training") == 2
    rows = _rows(first.out)
    assert rows["one"][1] == "4"
    words, dims, megabytes, seconds, *measured = rows["both, centred"]
    assert (int(words), dims) == (len({w for s in _SENTENCES for w in s.split()}), "10")
    assert float(megabytes) >= 0
    assert int(seconds) >= 0
    assert all(-1 <= float(number) <= 1 for number in measured[:2])
    assert all(0 <= float(number) <= 1 for number in measured[2:])

    recipes.main([*command, "--only", "both, centred"], recipes=_TWO, corpus=lambda: corpus)
    again = capsys.readouterr()
    assert "training" not in again.err
    assert _rows(again.out)["both, centred"] == rows["both, centred"]
    assert "one" not in _rows(again.out)


def test_recipes_without_wordnet_leave_its_columns_empty(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_: object) -> None:
        raise MissingCorpusError("WordNet is not on this machine")

    monkeypatch.setattr(recipes, "wordnet_synonyms", missing)
    recipes.main(["--only", "one"], recipes=_TWO, corpus=lambda: corpus)
    told = capsys.readouterr()
    assert _rows(told.out)["one"][-2:] == ["", ""]
    assert "WordNet is not on this machine" in told.err


def test_recipes_end_with_a_line_where_they_cannot_go_on(
    set_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Corpus:
        raise MissingCorpusError("the Brown corpus is not on this machine")

    set_file.write_text("{}")
    for command, complaint in {
        (): "the Brown corpus is not on this machine",
        ("--only", "three"): "no recipe 'three'; there are: one; both, centred",
        ("--exclude", str(set_file)): "tiny.json",
    }.items():
        with pytest.raises(SystemExit) as ended:
            recipes.main(command, recipes=_TWO, corpus=missing)
        assert ended.value.code == 2
        assert complaint in capsys.readouterr().err


def test_the_recipes_name_what_ships() -> None:
    (shipped,) = (name for name in recipes.RECIPES if name.startswith("**shipped**"))
    assert len(recipes.RECIPES[shipped].parts) > 1
    assert len(recipes.RECIPES) > 8


def test_parts_are_joined_as_training_would_join_them(corpus: Corpus) -> None:
    trainer = Trainer(corpus, tell=lambda _: None)
    parts = [trainer(part).trained for part in (_TINY, _OTHER)]
    recipe = [_TINY.model, _OTHER.model]
    together = WordVectors.train(corpus.sentences, recipe=recipe)
    joined = join(parts)
    assert joined.words == together.words
    np.testing.assert_array_equal(joined.vectors, together.vectors)
    np.testing.assert_allclose(join(parts, centred=1.0).vectors.mean(axis=0), 0, atol=1e-6)
    with pytest.raises(ValueError, match="same words"):
        join([parts[0], parts[1]._replace(words=parts[1].words[::-1])])


def test_the_development_set_asks_what_it_may() -> None:
    words = [f"{letter}{i:03}" for letter in "abc" for i in range(40)] + ["abcd", "abcdef"]
    synonyms = {f"a{i:03}": {f"b{i:03}", f"c{i:03}"} for i in range(40)}
    synonyms |= {"abcd": {"abcdef"}, "abcdef": {"abcd"}}
    excluded = {frozenset((f"b{i:03}", f"a{i:03}")) for i in range(0, 40, 2)}
    made = development_set(words, synonyms, excluded, dictionaries=2, keys=50, queries=15)
    assert made == development_set(words, synonyms, excluded, dictionaries=2, keys=50, queries=15)
    assert pairs_of([made]).isdisjoint(excluded)
    asked = [query.text for query in made.queries]
    assert len(asked) == len(set(asked)) > 15
    assert not {"abcd", "abcdef"} & set(asked)
    for dictionary in made.dictionaries:
        assert len(set(dictionary.keys)) == 50
        for query in dictionary.queries:
            assert query.text not in dictionary.keys
            assert query.accept == synonyms[query.text] & set(dictionary.keys) != set()
