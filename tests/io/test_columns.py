"""A column matched with a dict: rows as they were, and beside them what the dict answers."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FuzzyDict, NoMatchError, OptionError
from fuzzydict.io.columns import Cleaned, clean_column

COUNTRIES = FuzzyDict(
    {"Germany": "DE", "France": "FR", "Great Britain": ["GB", 44], "Spain": None}, score_cutoff=0.2
)
ADDED = ["country_key", "country_value", "country_score"]
MESSY = ["germany", "FRANCE", "Germny", "qwzzt", "", "great_britain", "  ", "Spain", "?!", "France"]


def cleaned(
    table: Path, column: str = "country", d: FuzzyDict[Any] = COUNTRIES, **options: Any
) -> tuple[bytes, Cleaned]:
    """Return what is written, and the counts."""
    output = table.parent / "out"
    counts = clean_column(d, table, column, output, **options)
    return output.read_bytes(), counts


def reference(d: FuzzyDict[Any], cell: str) -> tuple[Any, Any, Any]:
    """Answer a cell slowly: alone, by the dict itself."""
    try:
        key, value, score = d.nearest(cell)
    except NoMatchError:
        return None, None, None
    return key, value, pytest.approx(score, abs=1e-3)


def write_csv(path: Path, rows: list[list[str]], **dialect: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, **dialect).writerows(rows)
    return path


def test_each_row_gets_key_value_and_score(tmp_path: Path) -> None:
    rows = [["id", "country"], *([str(i), cell] for i, cell in enumerate(MESSY))]
    data, counts = cleaned(write_csv(tmp_path / "t.csv", rows))
    header, *body = csv.reader(io.StringIO(data.decode(), newline=""))
    assert header == ["id", "country", *ADDED]
    assert [row[:2] for row in body] == rows[1:]
    for row in body:
        key, value, score = reference(COUNTRIES, row[1])
        shown = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        assert row[2:4] == [key or "", shown]
        assert (float(row[4]) if row[4] else None) == score
    assert counts == Cleaned(matched=6, unmatched=2, blank=2, doubtful=0)


# ---- whatever the length ------------------------------------------------------------------


def test_a_long_table_is_read_in_batches_and_each_query_looked_up_once(
    tmp_path: Path,
) -> None:
    table = tmp_path / "t.csv"
    cells = [f"{cell}{i % 5}" for i in range(3000) for cell in ("germany ", "france ", "qwzzt")]
    table.write_text("\n".join(["country", *cells]))
    queries: list[str] = []

    class Recording(FuzzyDict[Any]):
        def most_similar(self, query: Any, topn: int | None = 10) -> Any:
            queries.extend(query)
            return super().most_similar(query, topn)

    d = Recording(COUNTRIES, score_cutoff=0.2)
    progress: list[tuple[int, int]] = []
    data, counts = cleaned(table, d=d, progress=lambda done, total: progress.append((done, total)))
    assert sorted(queries) == sorted(set(cells))
    assert len(progress) > 1
    assert progress == sorted(progress)
    assert progress[-1] == (table.stat().st_size, table.stat().st_size)
    assert counts.rows == len(cells)
    assert len(data.splitlines()) == len(cells) + 1


# ---- all or nothing -----------------------------------------------------------------------


def test_the_table_itself_may_be_replaced(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], *([cell] for cell in MESSY)])
    table.chmod(0o640)
    expected, _ = cleaned(table)
    clean_column(COUNTRIES, table, "country", table)
    assert table.read_bytes() == expected
    if os.name == "posix":
        assert table.stat().st_mode & 0o777 == 0o640


def test_a_review_comes_with_its_table_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], *([cell] for cell in MESSY)])
    before, review = table.read_bytes(), tmp_path / "review.csv"
    rename = Path.replace

    def refused(path: Path, target: Path) -> Path:
        if target == table:
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refused)
        with pytest.raises(PermissionError, match=r"t\.csv"):
            clean_column(COUNTRIES, table, "country", table, review=review)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert table.read_bytes() == before
    clean_column(COUNTRIES, table, "country", table, review=review)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["review.csv", "t.csv"]
    corrected = review.read_bytes()
    with pytest.raises(OptionError, match=r"review\.csv exists already and may hold corrections"):
        clean_column(COUNTRIES, table, "country", table, prefix="x_", review=review)
    assert review.read_bytes() == corrected


def test_a_format_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(OptionError, match=r"t.xlsx: expected a table of format csv, tsv, jsonl"):
        cleaned(tmp_path / "t.xlsx")


# ---- which keys ---------------------------------------------------------------------------


def test_whatever_dict_it_is_the_cells_get_what_it_answers(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], *([cell] for cell in MESSY)])
    dicts: list[FuzzyDict[Any]] = [
        FuzzyDict(),
        FuzzyDict({"?!": "marks", 5: "five"}),
        FuzzyDict({"  ": "blanks", "": "nothing", "France": "FR"}),
        FuzzyDict(COUNTRIES, scorer="cosine", score_cutoff=0.4),
        FuzzyDict(COUNTRIES, scorer="boxcar"),
        FuzzyDict(COUNTRIES, score_cutoff=float("inf")),
    ]
    for d in dicts:
        data, _ = cleaned(table, d=d)
        keys = [row[1] for row in csv.reader(io.StringIO(data.decode()))][1:]
        assert keys == [reference(d, cell)[0] or "" for cell in MESSY]


def test_a_dict_that_pools_is_asked_for_its_nearest_keys(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["c"], ["red"], ["Blue"]])
    data, _ = cleaned(table, "c", FuzzyDict({"red": 1.0, "blue": 3.0}, mode="pool"))
    assert [line.split(b",")[1:3] for line in data.splitlines()[1:]] == [
        [b"red", b"1.0"],
        [b"blue", b"3.0"],
    ]


# ---- blank cells and doubtful matches ------------------------------------------------------


@pytest.mark.parametrize("cell", ["n/a", "NA", " none", "Null", "unknown", "-", "?", "N/A "])
def test_a_cell_that_says_nothing_finds_only_a_key_that_says_the_same(
    tmp_path: Path, cell: str
) -> None:
    table = write_csv(tmp_path / "t.csv", [["c"], [cell]])
    sofa = FuzzyDict({"sofa": 1, "no name": 2, "unknowns": 3, "n a b": 4}, score_cutoff=0.0)
    data, counts = cleaned(table, "c", sofa)
    assert data.decode().splitlines()[1] == f"{cell},,,"
    assert counts == Cleaned(matched=0, unmatched=0, blank=1)
    said = FuzzyDict({**sofa, "Unknown": "U", "Na": "sodium", cell: "said"})
    data, counts = cleaned(table, "c", said)
    assert data.decode().splitlines()[1].startswith(f"{cell},{cell},said,1.0")
    assert counts == Cleaned(matched=1, unmatched=0, blank=0)


def test_a_key_that_says_nothing_is_found_however_it_is_written(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["c"], ["unknown"], ["na"], ["none"]])
    data, counts = cleaned(table, "c", FuzzyDict({"Unknown": "U", "NA": "Namibia"}))
    assert [row[1] for row in csv.reader(data.decode().splitlines())] == [
        *("c_key", "Unknown", "NA", "")
    ]
    assert counts[:3] == (2, 0, 1)


def test_matches_below_sure_are_counted(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", [["country"], *([cell] for cell in MESSY)])
    for sure in (0.0, 0.9, 0.9999, 2.0):
        _, counts = cleaned(table, sure=sure)
        matches = [reference(COUNTRIES, cell)[0] and COUNTRIES.nearest(cell) for cell in MESSY]
        doubtful = [m for m, c in zip(matches, MESSY, strict=True) if m and m.key != c]
        assert counts.doubtful == sum(m.score < sure for m in doubtful)
