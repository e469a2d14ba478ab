"""Tables of all formats: rows as they were, and beside them what the dict answers."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, MissingExtraError, NoMatchError, OptionError
from fuzzydict.io import columns
from fuzzydict.io.columns import Cleaned
from fuzzydict.io.dict_files import read_dict
from fuzzydict.results.answers import Match, Matches
from tests.io.files import FORMATS, SCALARS, Trickle, clean, pyarrow, read, write, written
from tests.support.properties import examples

COUNTRIES = FuzzyDict(
    {"Germany": "DE", "France": "FR", "Great Britain": ["GB", 44], "Spain": None}, score_cutoff=0.2
)
ADDED = ["country_key", "country_value", "country_score"]
MESSY = ["germany", "FRANCE", "Germny", "qwzzt", "", "great_britain", "  ", "Spain", "?!", "France"]


def table_of(cells: list[str], path: Path) -> Path:
    return write(path, ["country"], [(cell,) for cell in cells])


def cleaned(
    table: Path, column: str = "country", d: FuzzyDict[Any] = COUNTRIES, **options: Any
) -> tuple[bytes, Cleaned]:
    """Return what is written, and the counts."""
    output = table.parent / "out"
    counts = clean(d, table, column, output, **options)
    return output.read_bytes(), counts


def reference(d: FuzzyDict[Any], cell: str) -> tuple[Any, Any, Any]:
    """Answer a cell slowly: alone, by the dict itself."""
    try:
        key, value, score = d.nearest(cell)
    except NoMatchError:
        return None, None, None
    return key, value, pytest.approx(score, abs=1e-3)


@pytest.mark.parametrize("form", FORMATS)
def test_each_row_gets_key_value_and_score(tmp_path: Path, form: str) -> None:
    table = write(tmp_path / f"t.{form}", ["n", "country"], list(enumerate(MESSY)))
    before = read(table)
    assert clean(COUNTRIES, table, "country", table, sure=0) == Cleaned(6, unmatched=2, blank=2)
    names, *rows = read(table)
    assert names == ["n", "country", *ADDED]
    assert [row[:2] for row in rows] == before[1:]
    doubtful = 0
    for cell, row in zip(MESSY, rows, strict=True):
        key, value, score = reference(COUNTRIES, cell)
        doubtful += key not in (None, cell)
        if form != "jsonl" and not isinstance(value, str | None):
            value = json.dumps(value)
        if "sv" in form:
            assert row[2:4] == [key or "", value or ""]
            assert (float(row[4]) if row[4] else None) == score
        else:
            assert row[2:] == [key, value, score]
    again = clean(COUNTRIES, table, "country", table, sure=2, prefix="x ")
    assert again.doubtful == doubtful
    with pytest.raises(FileFormatError, match=r"t\..* has a column 'x key' already.*prefix"):
        clean(COUNTRIES, table, "country", tmp_path / "no", prefix="x ")
    with pytest.raises(FileFormatError, match=r"'cuontry' \(did you mean 'country'\?\)"):
        clean(COUNTRIES, table, "cuontry", tmp_path / "no")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_without_rows_gets_columns(tmp_path: Path, form: str) -> None:
    table = table_of([], tmp_path / f"t.{form}")
    if form == "jsonl":
        table.write_text('{"country": null}\n')
    assert clean(COUNTRIES, table, "country", table).matched == 0
    assert read(table)[0] == ["country", *ADDED]


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    class Changing(FuzzyDict[Any]):
        def most_similar(self, query: Any, topn: int | None = 10) -> Any:
            with table.open("ab") as file:
                file.write(b"\n")
            return super().most_similar(query, topn)

    for form in ("csv", "jsonl", "xlsx"):
        table = table_of(["Germny"], tmp_path / f"t.{form}")
        with pytest.raises(FileFormatError, match=f"t.{form} has changed while it was read; start"):
            clean(Changing(COUNTRIES), table, "country", tmp_path / "out")
        assert not (tmp_path / "out").exists()


# ---- by blocks and by rows -----------------------------------------------------------------


class ByLength(FuzzyDict[Any]):
    """Finds "Spain", with a score that is the length of the query."""

    def most_similar(self, query: Any, topn: int | None = 10) -> Any:
        assert topn == 1
        scores = [(one, min(len(one) / 5, 1)) for one in query]
        return [
            Matches([Match("Spain", "a,b", score, query=one, matches=score >= 0.5)])
            for one, score in scores
        ]


SPAIN = ByLength({"Spain": "a,b", "?!": None, "France": "FR"})
# Separators of lines that neither CSV nor JSON Lines know as such are among them.
ANY_CELL = st.sampled_from(
    [*MESSY, "-", 'a "b", c', "two\r\nlines", "\u2028", "\x0b\x1c", "\x85"]
) | (st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6))
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig"])


def assert_as_by_rows(lines: list[str], encoding: str, form: str, size: int) -> None:
    """Assert that lines below the first get in blocks what each gets alone."""

    def cleaned(some: list[str], size: int = 999) -> tuple[bytes, list[int]]:
        output, data = io.BytesIO(), "".join(some).encode(encoding)
        given = {"delimiter": ","} if form == "csv" else {}
        counts = clean(SPAIN, Trickle(data, size), "country", output, format=form, **given)
        return output.getvalue(), [int(n) for n in counts]

    first, of_first = cleaned(lines[:1])
    alone = [cleaned([lines[0], line]) for line in lines[1:]]
    sums = [sum(column) for column in zip(*(counts for _, counts in alone), strict=True)]
    written, counts = cleaned(lines, size)
    assert written == first + b"".join(one.removeprefix(first) for one, _ in alone)
    if alone:
        assert counts == [n - len(alone[1:]) * k for n, k in zip(sums, of_first, strict=True)]


@examples(200)
@given(
    st.lists(st.tuples(ANY_CELL, ANY_CELL) | st.none(), max_size=9),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    ENCODINGS,
    st.booleans(),
    st.integers(1, 99),
)
def test_rows_of_csv_in_blocks_are_those_one_by_one(
    body: list[tuple[str, str] | None],
    end: str,
    quoting: Any,
    encoding: str,
    is_ended: bool,
    size: int,
) -> None:
    lines = []
    for row in [("country", "note"), *body]:
        text = io.StringIO(newline="")
        if row is not None:  # with its own end, csv quotes both of the characters that end lines
            csv.writer(text, quoting=quoting).writerow(row)
        lines.append(text.getvalue().removesuffix("\r\n") + end)
    lines[-1] = lines[-1].removesuffix("" if is_ended else end)
    assert_as_by_rows(lines, encoding, "csv", size)


FIELDS = SCALARS | ANY_CELL


@examples(200)
@given(
    st.lists(st.dictionaries(st.sampled_from(["country", "a", "b"]), FIELDS) | st.none()),
    st.sampled_from(["\n", "\r\n", " \n"]),
    st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")]),
    st.booleans(),
    ENCODINGS,
    st.integers(1, 99),
)
def test_lines_of_json_in_blocks_are_those_one_by_one(
    rows: list[dict[str, Any] | None],
    end: str,
    separators: tuple[str, str],
    ensure_ascii: bool,
    encoding: str,
    size: int,
) -> None:
    lines = ['{"country": null}\n']
    for row in rows:
        as_text = json.dumps(row, separators=separators, ensure_ascii=ensure_ascii)
        lines.append(end if row is None else f" {as_text}{end}")
    assert_as_by_rows(lines, encoding, "jsonl", size)


def test_cells_that_are_forgotten_and_come_again_are_counted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [f"{cell}{i % 7}" for i in range(60) for cell in ("German", "abc", "no", "", "France")]
    data = ("country\n" + "\n".join(f'"{cell}"' for cell in cells)).encode()
    found = []
    for remembered in (10**6, 3):
        monkeypatch.setattr(columns, "_REMEMBERED", remembered)
        output, review = io.BytesIO(), tmp_path / f"{remembered}.csv"
        counts = clean(SPAIN, Trickle(data, 50), "country", output, format="csv", review=review)
        found.append((output.getvalue(), counts, review.read_bytes()))
    assert found[0] == found[1]
    assert min(found[0][1].doubtful, found[0][1].undecided) > 0


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_of_a_stream_are_written_as_they_come_in(form: str) -> None:
    output, rows = io.BytesIO(), [b"France", b"Spain", b"qwzzt"]
    lines = [b'{"country": "%b"}\n' % row for row in rows]
    if form == "csv":
        lines = [b"country\n", *(b"%b\n" % row for row in rows)]
    left, written = iter(lines), list[int]()

    class Waiting(io.BytesIO):
        def read1(self, _: int | None = -1) -> bytes:
            written.append(output.getvalue().count(b"\n"))
            return next(left, b"")

    clean(SPAIN, Waiting(), "country", output, format=form)
    assert written == list(range(len(lines) + 1))


@pytest.mark.parametrize(
    ("form", "module"), [("parquet", "pyarrow"), ("xlsx", "openpyxl"), ("yaml", "ruamel.yaml")]
)
def test_without_its_package_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    path = written(tmp_path, f"t.{form}", b"PAR1")
    with pytest.raises(MissingExtraError, match=f"pip install {module}"):
        read_dict(path) if form == "yaml" else cleaned(path)


# ---- which keys ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "d",
    [
        FuzzyDict(),
        FuzzyDict({"?!": "marks", 5: "five"}),
        FuzzyDict({"  ": "blanks", "": "nothing", "France": "FR"}),
        FuzzyDict(COUNTRIES, scorer="cosine", score_cutoff=0.4),
        FuzzyDict(COUNTRIES, scorer="boxcar"),
        FuzzyDict(COUNTRIES, score_cutoff=float("inf")),
        FuzzyDict({"Germany": 1.0, "Spain": 3.0}, mode="pool"),
    ],
    ids=["empty", "marks", "blanks", "cosine", "boxcar", "nothing", "pools"],
)
def test_whatever_dict_it_is_the_cells_get_what_it_answers(
    tmp_path: Path, d: FuzzyDict[Any]
) -> None:
    table, told = table_of(MESSY, tmp_path / "t.csv"), "there is no key to match with"
    with nullcontext() if d else pytest.warns(UserWarning, match=told):
        data, _ = cleaned(table, d=d)
    keys = [row[1] for row in csv.reader(io.StringIO(data.decode()))][1:]
    assert keys == [reference(d, cell)[0] or "" for cell in MESSY]


@pytest.mark.parametrize("cell", ["n/a", "NA", " none", "Null", "unknown", "-", "?", "N/A "])
def test_a_cell_that_says_nothing_finds_only_a_key_that_says_the_same(
    tmp_path: Path, cell: str
) -> None:
    table = table_of([cell], tmp_path / "t.csv")
    sofa = FuzzyDict({"sofa": 1, "no name": 2, "unknowns": 3, "n a b": 4}, score_cutoff=0.0)
    said = FuzzyDict({**sofa, "Unknown": "U", "Na": "sodium", cell: "said"})
    data, counts = cleaned(table, d=sofa)
    assert (data.decode().splitlines()[1], counts) == (f"{cell},,,", Cleaned(0, 0, 1))
    data, counts = cleaned(table, d=said)
    assert data.decode().splitlines()[1].startswith(f"{cell},{cell},said,1.0")
    assert counts == Cleaned(1, 0, 0)


def test_parquet_keeps_types_metadata_and_order_in_few_groups(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    cells = [*MESSY, None] * 30_000  # more than a group has
    table = arrow.table(
        {
            "n": arrow.array([i % 100 for i in range(len(cells))], arrow.int16()),
            "country": arrow.array(cells).dictionary_encode(),
            "nested": [{"x": [i]} for i in range(len(cells))],
        }
    ).replace_schema_metadata({"made": "by hand"})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd", row_group_size=700)
    _, counts = cleaned(tmp_path / "t.parquet")
    after = parquet.read_table(tmp_path / "out")
    assert after.select(["n", "country", "nested"]).equals(table)
    assert after.schema.metadata[b"made"] == b"by hand"
    assert after.schema.names[3:] == ADDED
    assert after.schema.types[3:] == [arrow.string(), arrow.string(), arrow.float64()]
    facts = parquet.read_metadata(tmp_path / "out")
    assert facts.row_group(0).column(0).compression == "ZSTD"
    assert facts.num_row_groups == 2
    assert counts == Cleaned(matched=180_000, unmatched=60_000, blank=90_000)


# ---- tables that are refused --------------------------------------------------------------

BAD = {
    "no header.csv": (b"", "line 1 is empty; expected the names of the columns"),
    "a blank header.csv": (b"\n\ncountry\nFrance\n", "line 1 is empty"),
    "a list as cell.jsonl": (b'{"country": ["France"]}\n', "line 1: 'country' is an array"),
    "a name taken.jsonl": (b'{"country": 1}\n' * 9000 + b'{"country_key": 1}', "line 9001 has a c"),
    "no field.jsonl": (b'{"Country": "a"}\n{"x": 1}\n', "'country' (did you mean 'Country'?)"),
    "no line.jsonl": (b"", "no line has a field 'country'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_and_nothing_is_changed(tmp_path: Path, name: str) -> None:
    (data, message), old = BAD[name], written(tmp_path, "out", "old")
    path = written(tmp_path, name, data)
    for output in (path, old):
        with pytest.raises(FileFormatError) as caught:
            clean(COUNTRIES, path, "country", output)
        assert str(caught.value).startswith(str(path))
        assert message in str(caught.value)
    assert (path.read_bytes(), old.read_text()) == (data, "old")
    with pytest.raises(OptionError, match=r"t.xls: expected a table of format csv, tsv, jsonl"):
        cleaned(written(tmp_path, "t.xls", b"PK"))
