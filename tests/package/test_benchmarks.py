"""The measuring commands, each run on very little: do they say what one relies on?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz import process
from rapidfuzz.distance import OSA

from fuzzydict import Brown, MissingCorpusError, WordVectors
from fuzzydict.embedding.word2vec import Model
from fuzzydict.evaluation.datasets import JudgedPair
from fuzzydict.evaluation.evaluate import environment
from fuzzydict.search.score import JudgedScore
from tests.benchmarks import __main__ as speed
from tests.benchmarks import (
    answers,
    by_cosine,
    engines,
    fitting_speed,
    graded,
    key_encoder,
    pooling,
    recipes,
    speed_data,
    speed_queries,
    speed_reads,
    startup,
    tables,
    turns,
    walk,
)
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
_PAIRS = [JudgedPair("boat", "ship", 0.9), JudgedPair("lake", "shore", 0.5)]
_PAIRS += [JudgedPair("cold", "lay", 0.1), JudgedPair("old", "small", 0.3)]
_SYNONYMS = {"boat": {"ship"}, "ship": {"boat"}, "cold": {"old"}, "old": {"cold"}}


slow = pytest.mark.skipif(
    "FUZZYDICT_SLOW" not in os.environ, reason="it starts many processes; set FUZZYDICT_SLOW=1"
)
measures = pytest.mark.slow("it measures what the pages of benchmarks show")


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


@slow
def test_speed_beside_peers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    least = speed_data.Sizes(
        keys=(3, 30),
        phrases=(20,),
        given=(20,),
        most=40,
        samples=1,
        build=30,
        unseen=20,
        cells=6,
        tables=(3,),
        rows=5,
        distinct=3,
        pairs=8,
        hits=10,
        batch=3,
    )
    monkeypatch.setattr(speed, "QUICK", least)
    monkeypatch.setattr(turns, "optional", _not_installed("faiss", "semantic_dictionary"))
    speed.main(["--quick", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    left_out = [note.removesuffix(" is not installed, and left out") for note in told["notes"]]
    assert {"faiss flat", "semantic-dictionary"} <= set(left_out)
    assert environment() in told["environment"]
    for row in told["rows"]:
        assert 0 < row["ours"][1] <= row["ours"][0] <= row["ours"][2]
        assert row["peer"] is None or row["ratio"] == row["ours"][0] / row["theirs"][0]
    whats = [row["what"] for row in told["rows"]]
    at_once = {row["what"] for row in told["rows"] if row["table"] == "Many reads at once"}
    assert at_once == {*speed_queries.SLIPS, *list(speed_queries.KINDS)[-4:]}
    for benchmark in ("exact", "put in", "asked before", "cells", "given", "build", "open", "map"):
        assert any(benchmark in what for what in whats)


def test_what_an_engine_finds_and_gains(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    engines.main(["--keys", "300", "--queries", "5"])
    output = capsys.readouterr().out
    rows = [line.split("|")[1:-1] for line in output.splitlines() if line.startswith("| 300 |")]
    assert [row[1].strip() for row in rows] == [
        *("near a key", "sharing a word"),
        *("keys with a slip", "pairs that share a word", "single words"),
    ]
    assert all(0.8 <= float(row[2]) <= 1 for row in rows)
    assert "`python -m tests.benchmarks.engines --keys 300 --queries 5`" in output


def test_speed_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("text", "markdown"):
        speed.main(["--quick", "--only", "exact", "--format", kind])
        output = capsys.readouterr().out
        assert output.count("exact hit") == 1
        assert f"`python -m tests.benchmarks --quick --only exact --format {kind}`" in output


def test_turns_are_taken_and_the_first_is_not_told() -> None:
    calls: list[str] = []
    case = turns.Case("it", lambda: calls.append("a"), {"b": lambda: calls.append("b")}, 2, 10)
    (row,) = turns.measured(case)
    assert calls == ["a", "b"] * 3
    assert (row.what, row.peer, row.samples, row.times) == ("it", "b", 2, 10)
    alone = turns.Case("it", lambda: calls.append("a"), {"gone": None}, 1)
    assert [row.ratio for row in turns.measured(alone)] == [None]


def test_what_is_quicker_may_be_done_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", count().__next__)  # each run takes a second
    case = turns.Case("it", lambda: None, {"b": lambda: None}, 1, times=10, peer_times=2)
    (row,) = turns.measured(case)
    assert (row.ours.median, row.theirs and row.theirs.median, row.ratio) == (0.1, 0.5, 0.2)


@pytest.mark.skipif(os.name != "posix", reason="processes that ended are told of on POSIX only")
def test_time_of_the_processor_is_that_of_work_here_and_in_processes() -> None:
    work = "sum(range(3_000_000))"
    before = turns.processor_time()
    time.sleep(0.2)
    slept = turns.processor_time()
    exec(work)
    worked = turns.processor_time()
    subprocess.run([sys.executable, "-c", work], check=True)
    assert slept - before < 0.1
    assert slept < worked < turns.processor_time() - 0.01


def test_queries_never_come_twice_and_are_of_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_queries, "asked", set())
    keys, counts = speed_data.keys_of(300), dict(zip(Brown().words, Brown().counts, strict=True))
    barred, known = set(keys), Brown().vocabulary
    asked = {name: list(islice(kind(keys), 60)) for name, kind in speed_queries.KINDS.items()}
    everything = [query for some in asked.values() for query in some]
    assert len(everything) == len(set(everything)) == 60 * len(asked)
    assert barred.isdisjoint(everything)
    for name, some in asked.items():
        for query in some:
            _, edits, _ = process.extractOne(query, keys, scorer=OSA.distance)
            near = [counts[key] for key in keys if OSA.distance(query, key) == 1]
            are_known = all(known.find(word).is_known for word in query.split())
            assert are_known == ("known word" in name), (name, query)
            if name == "a word never seen":
                assert edits > 1
            elif "known" not in name:
                assert edits == 1
                often = [count >= speed_queries.FREQUENT for count in near]
                assert ("frequent" in name) in often
    assert [len(some[0].split()) for some in list(asked.values())[-4:]] == [1, 2, 1, 5]


def test_slips_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_queries, "asked", set())
    found = list(speed_queries.any_slips(["government"], ["two letters swapped"]))
    assert len(found) == 9
    assert all(sorted(query) == sorted("government") != list(query) for query in found)
    assert not list(speed_queries.any_slips(["government"], ["two letters swapped"]))


def test_cells_of_a_column_are_different_and_as_many_as_there_are_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speed_queries, "asked", set())
    keys = ["engine power", "purchase price", "garden fence", "silver spoon", "river bank"]
    found = list(islice(speed_queries.cells(keys), 5_000))
    assert len(set(found)) == 5_000
    assert not set(keys) & set(found)
    words = {word for key in keys for word in key.split()}
    others = [cell for cell in found[2::3] if words & set(cell.split())]
    assert len(others) == len(found[2::3])


@measures
def test_reads_by_kind_are_a_table_of_medians_and_ratios(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two = dict(islice(speed_queries.KINDS.items(), 2))  # all kinds are asked with FUZZYDICT_SLOW=1
    monkeypatch.setattr(speed_reads, "KINDS", two)
    monkeypatch.setattr(speed, "QUICK", speed_data.QUICK._replace(samples=1))
    command = ["--quick", "--only", "first", "--keys", "100", "--keys", "200", "--processor"]
    speed.main([*command, "--format", "markdown"])
    rows = _rows(capsys.readouterr().out)
    assert list(rows)[:-2] == ["what", *two]
    assert rows["what"] == ["100 keys", "200 keys"]
    for cell in rows["asked before"]:
        assert float(cell.rpartition("(")[2].removesuffix(")")) > 0
    assert rows["rapidfuzz extractOne, median of these"]


def _not_installed(*names: str) -> Callable[[str], object]:
    optional = turns.optional
    return lambda module: None if module in names else optional(module)


def test_fitting_speed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="the comparison with torch needs torch")
    assert fitting_speed.main(["--turns", "1", "--pairs", "64", "--keys", "100"]) == 0
    for line in capsys.readouterr().out.splitlines()[-2:]:
        *_, ours, theirs = line.replace(",", "").split()
        assert float(ours) == pytest.approx(float(theirs), rel=0.05)


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


@measures
def test_pooling(set_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pooling.main([str(set_file), "--seeds", "2"], keys=30)
    output = capsys.readouterr().out
    assert environment() in output
    assert "among 30 keys" in output
    assert output.count("(default)") == 2
    rows = _rows(output)
    temperature, cutoff = JudgedScore.temperature, JudgedScore.score_cutoff
    least, _, middle, share = map(float, rows[f"**{temperature:g}** (default)"])
    assert 0 < least <= middle <= 1
    assert 0 <= share <= 1
    lost, all_lost, refused = map(float, rows[f"**{cutoff:g}** (default)"])
    assert lost == all_lost == 0
    assert 0 <= float(rows["0.001"][-1]) <= refused <= float(rows["0.5"][-1]) <= 1


@slow
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


@measures
@pytest.mark.skipif(os.name != "posix", reason="memory is told of a process on POSIX only")
def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(["--rows", "20", "--distinct", "5"])
    rows = _rows(capsys.readouterr().out)
    assert list(rows)[1:] == ["20 rows"]
    for seconds, megabytes in list(rows.values())[1:]:
        assert float(seconds.removesuffix(" s")) > 0
        assert float(megabytes.removesuffix(" MB")) > 10


@measures
def test_weights_as_features_beat_categories_that_were_not_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(key_encoder, "find_spec", lambda _: None)  # skrub takes its time
    key_encoder.main(["--rows", "80", "--asked", "80", "--draws", "1"])
    rows = _rows(capsys.readouterr().out)
    right = {
        name: [float(cell.split()[0]) for cell in cells]
        for name, cells in rows.items()
        if "`" in name
    }
    seen, given = (
        right[f"`FuzzyKeyEncoder`, weights over {what}"]
        for what in ("what was seen", "the right names")
    )
    assert min(seen[1], given[1]) > right["`OneHotEncoder`"][1]


@measures
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
    "both, combined": recipes.Recipe((_TINY, _OTHER), size=3),
}


@measures
def test_recipes(
    corpus: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(recipes, "wordnet_synonyms", lambda _: _SYNONYMS)
    monkeypatch.setattr(recipes, "graded_pairs", lambda *_: _PAIRS)
    command = ["--cache", str(tmp_path / "cache")]
    recipes.main(command, recipes=_TWO, corpus=lambda: corpus)
    first = capsys.readouterr()
    assert first.err.count("training") == 2
    rows = _rows(first.out)
    assert rows["one"][1] == "4"
    assert rows["both, combined"][1] == "3"
    words, dims, megabytes, seconds, *measured = rows["both, centred"]
    assert (int(words), dims) == (len({w for s in _SENTENCES for w in s.split()}), "10")
    assert float(megabytes) >= 0
    assert int(seconds) >= 0
    told = [number for number in measured[:2] + measured[4:] if number != "-"]  # too few pairs
    assert told
    assert all(-1 <= float(number) <= 1 for number in told)
    assert all(0 <= float(number) <= 1 for number in measured[2:4])

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
    assert _rows(told.out)["one"][-4:] == [""] * 4
    assert "WordNet is not on this machine" in told.err


def test_recipes_end_with_a_line_where_they_cannot_go_on(
    set_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Corpus:
        raise MissingCorpusError("the Brown corpus is not on this machine")

    set_file.write_text("{}")
    for command, complaint in {
        (): "the Brown corpus is not on this machine",
        ("--only", "three"): "no recipe 'three'; there are: one; both, centred; both, combined",
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
    for size in (None, 3):
        together = WordVectors.train(corpus.sentences, recipe=recipe, size=size)
        joined = join(parts, size=size)
        assert joined.words == together.words
        np.testing.assert_array_equal(joined.vectors, together.vectors)
    np.testing.assert_allclose(join(parts, centred=1.0).vectors.mean(axis=0), 0, atol=1e-6)
    with pytest.raises(ValueError, match="same words"):
        join([parts[0], parts[1]._replace(words=parts[1].words[::-1])])


class _Sense:
    """A sense in a binary tree of numbers, 1 at its root."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sense) and other.number == self.number

    def __hash__(self) -> int:
        return self.number

    def hypernyms(self) -> list[_Sense]:
        return [_Sense(self.number // 2)] if self.number > 1 else []

    def hyponyms(self) -> list[_Sense]:
        return [_Sense(child) for child in (2 * self.number, 2 * self.number + 1) if child < 128]

    def wup_similarity(self, other: _Sense) -> float:
        return 1 / (1 + abs(self.number - other.number))


def test_graded_pairs_are_near_in_the_tree_and_never_excluded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = {f"{number:04}s": 5 + number for number in range(1, 128)}
    senses = {word: [_Sense(int(word[:-1]))] for word in counts if word != "0100s"}
    monkeypatch.setattr(graded, "_senses", lambda word, _: senses.get(word, []))
    free = graded.graded_pairs(counts, "n", size=100)
    barred = {frozenset(pair[:2]) for pair in free[::2]}
    made = graded.graded_pairs(counts, "n", barred, size=100)
    assert made == graded.graded_pairs(counts, "n", barred, size=100)
    assert len(made) == len({frozenset(pair[:2]) for pair in made}) == 100
    for first, second, judged in made:
        assert first[:4] != second[:4]
        assert frozenset((first, second)) not in barred
        assert "0100s" not in (first, second)
        assert judged == senses[first][0].wup_similarity(senses[second][0])
    # Of pairs without regard to the tree, 6 in 100 are so near.
    assert sum(judged >= 0.2 for _, _, judged in made) > 12


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


def test_a_walk_is_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one looks for how a query is answered, there are few files and calls to read."""
    d = walk.dict_of_words()
    for query, calls, files in walk.READS.values():
        found = walk.read(d, query)
        assert found.files[0] == "mapping.py"
        assert 10 < len(found.calls) <= calls, found
        assert len(found.files) <= files, found.files
    monkeypatch.setattr(walk, "_EXAMPLES", {"hue": "color"})  # quickly learned
    walk.main(["--verbose"])
    assert "\n  mapping.py: FuzzyDict.__missing__\n" in capsys.readouterr().out


def test_answers_are_compared(set_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (set_file.with_name(name) for name in ("a", "b"))
    answers.main(["-o", str(first), str(set_file)])
    content = json.loads(first.read_text("utf-8"))
    rows = content[set_file.stem]["default"]
    assert rows[0][0][0] == "color"
    rows[0][1][0] += 0.25
    rows[1][0].reverse()
    second.write_text(json.dumps(content), "utf-8")
    answers.main(["--compare", str(first), str(second)])
    line = next(line for line in capsys.readouterr().out.splitlines() if "default" in line)
    assert line.split()[-3:] == [str(len(rows)), "1", "2.5e-01"]
    with pytest.raises(SystemExit):
        answers.main([str(set_file)])


# ---- vectors ------------------------------------------------------------------------------


def test_vectors_are_measured_by_the_cosine_alone(
    set_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["brand", "color", "colour", "model", "modell"]
    rows = [[0.2, 1.0, 0.0], [1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 0.0, 1.0], [0.9, 0.2, 0.1]]
    vectors = WordVectors(words, rows)
    assert by_cosine.hit_rate(vectors, set_file) == pytest.approx(2 / 3)
    vectors.save(set_file.with_name("few.vectors"))
    by_cosine.main([str(set_file.with_name("few.vectors")), "--sets", str(set_file)])
    rows_told = _rows(capsys.readouterr().out)
    assert rows_told["vectors"] == ["tiny", "WordSim-353", "SimLex-999"]
    assert float(rows_told["few"][0]) == pytest.approx(2 / 3, abs=0.001)
