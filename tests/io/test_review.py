"""Reviews: doubtful queries out to a person, and what was decided back in, exactly."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.columns import Cleaned
from fuzzydict.io.review import Review, read_examples, review_of, with_formula, without_formula
from fuzzydict.text.words import same_text
from tests.io.files import clean, written
from tests.support.properties import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
QUERIES = TEXTS.filter(lambda text: bool(text.strip()))
COUNTRIES = FuzzyDict({"Germany": "DE", "France": "FR", "Great Britain": "GB"}, score_cutoff=0.35)


def table_of(folder: Path, cells: list[str], name: str = "t.jsonl") -> Path:
    table = folder / name
    table.write_text("\n".join(json.dumps({"c": cell}) for cell in cells))
    return table


def mapped(
    folder: Path, cells: list[str], d: FuzzyDict[Any] = COUNTRIES, /, **options: Any
) -> tuple[list[str | None], Cleaned]:
    """Return the keys of some cells, and the counts."""
    counts = clean(d, table_of(folder, cells), "c", folder / "out.jsonl", **options)
    rows = map(json.loads, (folder / "out.jsonl").read_text().splitlines())
    return [row["c_key"] for row in rows], counts


def read_rows(path: Path, sign: str = ",") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=sign))


# ---- what is asked ------------------------------------------------------------------------


def are_different(texts: Iterable[str]) -> bool:
    same = list(map(same_text, texts))
    return len(set(same)) == len(same)


def reviewed(folder: Path, cells: list[str], d: FuzzyDict[Any], sure: float) -> list[Any]:
    review = folder / "review.jsonl"
    review.unlink(missing_ok=True)
    mapped(folder, cells, d, review=review, sure=sure)
    return [json.loads(line) for line in review.read_text().splitlines()]


def test_the_doubtful_are_written_once_with_what_a_person_needs(tmp_path: Path) -> None:
    d = FuzzyDict({"Germany": "DE", "France": "FR"}, score_cutoff=0.2)
    cells = ["qwzzt", "germny", "Germany", "France", "?!", "", "germny", "qwzzt", "germny", "Frnce"]
    best = {cell: d.most_similar(cell)[0] for cell in ("germny", "qwzzt", "Frnce")}
    rows = reviewed(tmp_path, cells, d, sure=2)
    # The most frequent first, equal ones as in the table; below the cutoff there is no guess.
    assert [(row["query"], row["count"], row["target"]) for row in rows] == [
        ("germny", 3, "? Germany"), ("qwzzt", 2, "?"), ("?!", 1, "?"), ("Frnce", 1, "? France")
    ]  # fmt: skip
    for row in rows:
        key, _, score = best.get(row["query"], (None, None, None))
        assert row["key"] == key
        assert row["score"] == (None if score is None else pytest.approx(score, abs=1e-3))
    assert [row["query"] for row in reviewed(tmp_path, cells, d, sure=0)] == ["qwzzt", "?!"]


@examples(30)
@given(st.dictionaries(QUERIES, st.none() | QUERIES).filter(are_different))
@pytest.mark.parametrize("name", ["review.csv", "review.tsv", "review.jsonl"])
def test_what_a_review_says_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, targets: dict[str, str | None]
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(review_of(path.suffix[1:], targets))
    assert read_examples(path) == list(targets.items())


# ---- what is decided ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "cell", "key"),
    [
        ("", "Germny", None),  # no key
        ("Great Britain", "The Isles!", "Great Britain"),
        ("? Germany", "Frnce", "France"),  # is not decided
        ("?", "qwzzt", "?"),  # unless that is a key
        ("? what", "qwzzt", "? what"),
        ("Germany", "N/A", "Germany"),  # a blank cell
        (" Germany ", "Allemagne", "Germany"),
        ("a ", "spaced", "a "),
        ("'round", "foo", "'round"),  # a key that begins with a quote
        ("'-round", "foo", "'-round"),
        ("''-round", "foo", "'-round"),
    ],
)
def test_a_target_is_a_key_or_none_or_undecided(
    tmp_path: Path, target: str, cell: str, key: str | None
) -> None:
    keys = ["Germany", "France", "Great Britain", "? what", "?", "a ", "'round", "'-round"]
    review = tmp_path / "review.csv"
    review.write_text(f"query,count,key,score,target\n{cell.upper()},1,,,{target}\n")
    d = FuzzyDict(dict.fromkeys(keys, 1))
    assert mapped(tmp_path, [cell], d, decisions=review, sure=0)[0] == [key]


# ---- the file that is decided in ------------------------------------------------------------

OPEN = ["qwzzt", "zzzyx", "zzzyx", "Germny", "Germny", "Germny"]


@pytest.mark.parametrize(("end", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
def test_decided_rows_stay_and_others_are_asked_again(tmp_path: Path, end: str, mark: str) -> None:
    review = tmp_path / "review.csv"
    kept = [
        "target,note,query,count",
        'Germany,"by ""Ann""",Allemagne,7',
        " ,sure,Atlantis,03",
        "?,of another table,Narnia,4",
        "France , ,Gaul,",
    ]
    refreshed = ["? Germany,old,ZZZYX,9", "? France,,germny,1", "?,,Mordor,1"]
    rows = [*kept[:2], refreshed[0], *kept[2:], *refreshed[1:]]
    review.write_text(mark + end.join(rows), newline="")
    counts = mapped(tmp_path, [*OPEN, "gaul"], review=review, sure=2)[1]
    new = ["? Germany,,Germny,3", "?,,zzzyx,2", "?,,qwzzt,1"]
    lines = review.read_bytes().decode().split(end)
    assert lines == [mark + kept[0], *kept[1:], "?,,Mordor,1", *new, ""]
    assert counts.undecided == len([*new, "Narnia", "Mordor"])
    before = review.stat()
    assert mapped(tmp_path, [*OPEN, "gaul"], review=review, sure=2)[1] == counts
    after = review.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # not written


def test_what_is_decided_elsewhere_or_known_by_now_is_asked_no_more(tmp_path: Path) -> None:
    decisions, review = tmp_path / "decided.csv", tmp_path / "review.csv"
    decisions.write_text("query,target\nGERMNY,Germany\n")
    review.write_text("query,target\nqwzzt,\ngermny,?\nQwzzt.,? France\n")
    mapped(tmp_path, OPEN, decisions=decisions, review=review, sure=2)
    assert [row["query"] for row in read_rows(review)] == ["qwzzt", "zzzyx"]
    assert decisions.read_text() == "query,target\nGERMNY,Germany\n"
    mapped(tmp_path, OPEN, FuzzyDict(COUNTRIES | {"zzzyx": 1}, score_cutoff=0.2), review=review)
    assert [row["query"] for row in read_rows(review)] == ["qwzzt"]


def test_of_runs_that_end_at_once_one_writes_the_review(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are not locked here")
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(Review(tmp_path / "r.csv", None).save) for _ in range(5)]
    assert [type(run.exception()) for run in runs].count(OptionError) == 4


# ---- files that are refused -----------------------------------------------------------------

BAD = {
    "x,\nAllemagne,germany": "line 3: 'germany', the target of 'Allemagne', is not a key of the "
    "dict (its nearest key is 'Germany'); write one of its keys, or nothing if none is right",
    "x,qwzzt\ny,zzzyx\nz,vvvxw": "line 2: 'qwzzt', the target of 'x', is not a key of the dict; "
    "write one of its keys, or nothing if none is right",
    "qwzzt,qwzzt": "line 2: 'qwzzt', the target of 'qwzzt', is not a key of the dict; write one",
    "France,Germany": "line 2: 'France' is a key of the dict and always finds itself; its target "
    "cannot be 'Germany': remove the row",
    "France,": "line 2: 'France' is a key of the dict and always finds itself; its target cannot "
    "be blank: remove the row",
    "the  isles,Great Britain\nx,\n The Isles!,France": "line 4: the target of ' The Isles!' is "
    "'France', and at {path}: line 2 that of 'the  isles' is 'Great Britain'; these are one text",
    "x,\nX,France": "line 3: the target of 'X' is 'France', and at {path}: line 2 that of 'x' is "
    "blank",
}


@pytest.mark.parametrize("rows", BAD)
@pytest.mark.parametrize("option", ["decisions", "review"])
def test_a_file_that_cannot_be_decided_by_is_refused_and_nothing_is_written(
    tmp_path: Path, option: str, rows: str
) -> None:
    path = written(tmp_path, "d.csv", content := f"query,target\n{rows}\n")
    with pytest.raises(FileFormatError) as caught:
        mapped(tmp_path, OPEN, COUNTRIES, **{option: path})
    assert str(caught.value).startswith(f"{path}: {BAD[rows].format(path=path)}")
    assert path.read_text() == content
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d.csv", "t.jsonl"]


@pytest.mark.parametrize("option", ["decisions", "review"])
def test_a_review_has_a_file_of_its_own(tmp_path: Path, option: str) -> None:
    table, ending = table_of(tmp_path, OPEN), r"a file that ends in \.csv, \.tsv or \.jsonl"
    for name, message in [
        ("t.jsonl", r"t\.jsonl is the table to be read; name another file for the"),
        ("out.jsonl", r"out\.jsonl is the table to be written; name another file for the"),
        *((name, ending) for name in ("r.parquet", "r.txt", "r")),
    ]:
        with pytest.raises(OptionError, match=message):
            mapped(tmp_path, OPEN, COUNTRIES, **{option: tmp_path / name})
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        mapped(tmp_path, OPEN, decisions=tmp_path / "nowhere.csv")
    assert [path.name for path in tmp_path.iterdir()] == [table.name]


# ---- formulas, which spreadsheets compute --------------------------------------------------

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
STARTS = st.sampled_from([*SIGNS, *"\t\r\n' ", "'=", " =", "\u00a0="])
FORMULAS = st.builds(str.__add__, STARTS, TEXTS) | TEXTS


def is_computed(cell: str) -> bool:
    """Tell whether a spreadsheet may take a cell for a formula."""
    return cell[:1] in tuple("\t\r\n") or cell.strip()[:1] in tuple(SIGNS)


@given(FORMULAS)
def test_no_text_is_a_formula_and_each_is_read_as_it_was(text: str) -> None:
    cell = without_formula(text)
    assert not is_computed(cell)
    assert with_formula(cell) == text
    if is_computed(text):
        assert cell == f"'{text}"
        assert with_formula(text) == text  # where a spreadsheet has dropped the quote


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("drops", [False, True], ids=["kept", "dropped"])
def test_formulas_of_strangers_are_decided_on_like_other_texts(
    tmp_path: Path, form: str, drops: bool
) -> None:
    """Whether a spreadsheet keeps the quote before a formula, or drops it."""
    cells = ['=HYPERLINK("http://evil","Germny")', "@SUM(Frnce)", "-2+3+cmd|' /C calc'!A0", "\tx"]
    d = FuzzyDict({"=1+1 Germany": "DE", "'+France": "FR", "Spain": "ES"}, score_cutoff=0)
    review, sign = tmp_path / f"review.{form}", "," if form == "csv" else "\t"
    mapped(tmp_path, cells, d, review=review, sure=2)
    rows = read_rows(review, sign)
    assert {row["query"] for row in rows} == {f"'{cell}" for cell in cells}
    shown = [row[name] for row in rows for name in ("query", "key", "target")]
    assert not any(map(is_computed, shown))
    assert [query for query, _ in read_examples(review)] == [row["query"][1:] for row in rows]
    for row in rows:
        row["target"] = "=1+1 Germany" if "Germny" in row["query"] else "'+France"
        row["query"] = row["query"].removeprefix("'") if drops else row["query"]
    with review.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=sign).writerows([[*rows[0]], *(row.values() for row in rows)])
    keys, counts = mapped(tmp_path, cells, d, decisions=review)
    assert keys == ["=1+1 Germany", "'+France", "'+France", "'+France"]
    assert counts.doubtful == 0


# ---- examples -------------------------------------------------------------------------------

EXPECTED = [("ger", "Germany"), ("ger", "German"), ("q", None), ("f", "France")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "\ufeffn,target,query\r\n3,Germany,ger\r\n,German,ger\r\n2,  ,q\r\n1,France,f"),
        ("e.tsv", 'query\ttarget\n"ger"\tGermany\n\t\nger\tGerman\nq\t\n\nf\tFrance\n \t\n'),
        (
            "e.jsonl",
            '{"query": "ger", "target": ["Germany", "German"], "count": 3}\n{"query": "q", '
            '"target": null}\n\n{"target": "France", "query": "f"}',
        ),
        ("e.ndjson", "\n".join(json.dumps({"query": q, "target": t or ""}) for q, t in EXPECTED)),
    ],
)
def test_examples_are_queries_with_their_targets(tmp_path: Path, name: str, content: str) -> None:
    assert read_examples(written(tmp_path, name, content)) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "is empty; expected the columns query and target"),
        ("e.csv", "query,target\na,b\n ,c\n", "line 3 has a blank query; fill it in, or"),
        ("e.csv", "query,target\na,b\n\na,\n", "'a' has two targets, 'b' on line 2 and None on l"),
        ("e.csv", "query,target\na,\na,b\n", "'a' has two targets, None on line 2 and 'b' on lin"),
        ("e.jsonl", '{"query": "a", "target": []}\n', "line 1: expected the right k"),
        ("e.jsonl", '{"query": "a", "target": ["b", " "]}\n', "line 1: expected the right k"),
        ("e.jsonl", '{"query": "a", "target": ["b", 3]}\n', "line 1: expected the right k"),
        ("e.jsonl", '{"query": "a"}\n', 'line 1: expected {"query": ..., "target": ...}'),
        ("e.jsonl", '{"query": 1, "target": "b"}\n', "line 1 has a number where a text is expect"),
        ("e.jsonl", '{"query": "a", "target": {}}\n', "line 1 has an object where a text is expec"),
    ],
)
def test_bad_examples_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_examples(written(tmp_path, name, content))
    assert str(caught.value).startswith(str(tmp_path / name))
    assert message in str(caught.value)
    for other in ("e.parquet", "e.txt"):
        with pytest.raises(OptionError, match=r"expected a file that ends in \.csv, "):
            read_examples(written(tmp_path, other, content))
