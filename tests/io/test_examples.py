"""Doubtful queries out to a person, and the corrected examples back in."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.columns import clean_column
from fuzzydict.io.examples import Doubt, Review, read_examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
QUERIES = TEXTS.filter(lambda text: bool(text.strip()))


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---- the review ---------------------------------------------------------------------------


def reviewed(folder: Path, cells: list[str], d: FuzzyDict[Any], sure: float) -> list[Any]:
    table = folder / "t.jsonl"
    table.write_text("\n".join(json.dumps({"c": cell}) for cell in cells))
    review = folder / "review.jsonl"
    review.unlink(missing_ok=True)
    clean_column(d, table, "c", folder / "out", review=review, sure=sure)
    return [json.loads(line) for line in review.read_text().splitlines()]


def test_the_doubtful_are_written_once_with_what_a_person_needs(tmp_path: Path) -> None:
    d = FuzzyDict({"Germany": "DE", "France": "FR"}, score_cutoff=0.2)
    cells = ["qwzzt", "germny", "Germany", "France", "?!", "", "germny", "qwzzt", "germny", "Frnce"]
    best = {cell: d.most_similar(cell)[0] for cell in ("germny", "qwzzt", "Frnce")}
    rows = reviewed(tmp_path, cells, d, sure=2)
    # The most frequent first, equal ones in the order of the table.
    assert [(row["query"], row["count"]) for row in rows] == [
        *(("germny", 3), ("qwzzt", 2), ("?!", 1), ("Frnce", 1))
    ]
    for row in rows:
        key, _, score = best.get(row["query"], (None, None, None))
        assert row["key"] == key
        assert row["score"] == (None if score is None else pytest.approx(score, abs=1e-3))
        # Nobody has said that the guess is right; below the cutoff there is none.
        guess = {"germny": "? Germany", "Frnce": "? France"}
        assert row["target"] == guess.get(row["query"], "?")


def test_only_what_is_below_sure_is_doubtful(tmp_path: Path) -> None:
    d = FuzzyDict({"Germany": "DE", "France": "FR"})
    much, little = (d.most_similar(query)[0].score for query in ("germny", "qwzzt"))
    assert little < much
    between = (little + much) / 2
    for sure, queries in [(0.0, []), (between, ["qwzzt"]), (9.0, ["germny", "qwzzt"])]:
        rows = reviewed(tmp_path, ["germny", "qwzzt", "Germany"], d, sure)
        assert [row["query"] for row in rows] == queries


def test_a_review_counts_over_many_batches(tmp_path: Path) -> None:
    with Review() as review:
        for i in range(50):
            review.add(Doubt(f"q{j}", 1, "k", 0.5, None) for j in range(i, 50))
        review.save(tmp_path / "review.csv")
    with (tmp_path / "review.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["query"], int(row["count"])) for row in rows] == [
        (f"q{j}", j + 1) for j in range(49, -1, -1)
    ]


@pytest.mark.parametrize("name", ["review.parquet", "review.txt", "review"])
def test_a_review_is_for_people(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_text("c\nx\n")
    with pytest.raises(OptionError, match=r"a review ends in \.csv, \.tsv or \.jsonl"):
        clean_column(FuzzyDict(), tmp_path / "t.csv", "c", tmp_path / "out", review=tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@settings(max_examples=30)
@given(st.dictionaries(QUERIES, st.none() | QUERIES))
@pytest.mark.parametrize("name", ["review.csv", "review.tsv", "review.jsonl"])
def test_what_a_review_says_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, targets: dict[str, str | None]
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    with Review() as review:
        review.add(Doubt(query, 1, "k", 0.5, target) for query, target in targets.items())
        review.save(path)
    assert read_examples(path) == list(targets.items())


def test_half_a_surrogate_pair_is_written_as_an_escape(tmp_path: Path) -> None:
    rows = reviewed(tmp_path, ["a\udfffb"], FuzzyDict({"x": 1}), 0.8)
    assert rows[0]["query"] == "a\udfffb"


# ---- the examples -------------------------------------------------------------------------

EXPECTED = [("germny", "Germany"), ("qwzzt", None), ("Frnce", "France")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "query,target\ngermny,Germany\nqwzzt,\n\nFrnce,France\n"),
        ("e.csv", "\ufeffcount,target,query\r\n3,Germany,germny\r\n2,  ,qwzzt\r\n1,France,Frnce"),
        ("e.tsv", 'query\ttarget\n"germny"\tGermany\nqwzzt\t\nFrnce\tFrance\n'),
        (
            "e.jsonl",
            '{"query": "germny", "target": "Germany", "count": 3}\n{"query": "qwzzt", '
            '"target": null}\n\n{"target": "France", "query": "Frnce"}',
        ),
        ("e.ndjson", "\n".join(json.dumps({"query": q, "target": t or ""}) for q, t in EXPECTED)),
    ],
)
def test_examples_are_queries_with_their_targets(tmp_path: Path, name: str, content: str) -> None:
    assert read_examples(written(tmp_path, name, content)) == EXPECTED
    form = {".csv": "csv", ".tsv": "tsv"}.get(Path(name).suffix, "jsonl")
    assert read_examples(written(tmp_path, "e.txt", content), format=form) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "query,target\npower,battery\nhue,color\npower,horse power\n"),
        (
            "e.jsonl",
            '{"query": "power", "target": ["battery"]}\n{"query": "hue", "target": "color"}\n'
            '{"query": "power", "target": "horse power"}\n',
        ),
        (
            "e.jsonl",
            '{"query": "power", "target": ["battery", "horse power"]}\n'
            '{"query": "hue", "target": ["color"]}\n',
        ),
    ],
)
def test_a_query_may_have_several_right_keys(tmp_path: Path, name: str, content: str) -> None:
    examples = read_examples(written(tmp_path, name, content))
    assert sorted(examples) == [("hue", "color"), ("power", "battery"), ("power", "horse power")]
    d = FuzzyDict({"battery": 1, "color": 2, "horse power": 3})
    queries, targets = zip(*examples, strict=True)
    report = d.fit(queries, targets, epochs=1)
    same = d.fit({"power": ["battery", "horse power"], "hue": "color"}, epochs=1)
    assert (report.examples, report.history) == (2, same.history)


def test_an_example_may_come_twice_if_it_says_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "e.csv", "query,target\na,b\na,b\n")
    assert read_examples(path) == [("a", "b"), ("a", "b")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "is empty; expected the columns query and target"),
        ("e.csv", "query,key\na,b\n", "has no column 'target'; its columns are 'query', 'key'"),
        ("e.csv", "query,target\na,b,c\n", "line 2 has 3 cells where line 1 has 2"),
        ("e.csv", "query,target\na,b\n ,c\n", "line 3 has a blank query; fill it in, or"),
        ("e.csv", "query,target\na,b\n\na,\n", "'a' has two targets, 'b' on line 2 and None on l"),
        ("e.csv", "query,target\na,\na,b\n", "'a' has two targets, None on line 2 and 'b' on lin"),
        ("e.jsonl", '{"query": "a", "target": []}\n', "line 1: expected the right keys as target"),
        ("e.jsonl", '{"query": "a", "target": ["b", " "]}\n', "line 1: expected the right keys as"),
        ("e.jsonl", '{"query": "a", "target": ["b", 3]}\n', "line 1: expected the right keys as t"),
        ("e.csv", b"query,target\n\xff,b\n", "line 2: byte 0 is not UTF-8"),
        ("e.jsonl", '{"query": "a"}\n', 'line 1: expected {"query": ..., "target": ...}'),
        ("e.jsonl", '["a", "b"]\n', 'line 1: expected {"query": ..., "target": ...}'),
        ("e.jsonl", '{"query": 1, "target": "b"}\n', "line 1 has a number where a text is expect"),
        ("e.jsonl", '{"query": ["a"], "target": "b"}\n', "line 1 has an array where a text is ex"),
        ("e.jsonl", '{"query": "a", "target": {}}\n', "line 1 has an object where a text is expec"),
        ("e.jsonl", '{"query": "a"\n', "line 1, column 14 is not JSON"),
    ],
)
def test_bad_examples_are_refused(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_examples(written(tmp_path, name, content))
    assert str(caught.value).startswith(str(tmp_path / name))
    assert message in str(caught.value)


def test_examples_of_another_format_are_refused(tmp_path: Path) -> None:
    for name in ("e.parquet", "e.txt"):
        with pytest.raises(OptionError, match=r"expected examples of format csv, tsv, jsonl"):
            read_examples(written(tmp_path, name, ""))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_examples(tmp_path / "nowhere.csv")
