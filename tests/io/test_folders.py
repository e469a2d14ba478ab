"""Tables of a folder, matched in three steps: what is written, asked, refused, and gone on with."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from fuzzydict import FileFormatError, FuzzyDict, Matcher, OptionError
from fuzzydict.io import folders
from fuzzydict.io.columns import best_keys, clean_column, copy_rows
from fuzzydict.io.folders import map_parts, parts_in

CODES = {"Germany": "DE", "France": "FR", "Netherlands": "NL", "Great Britain": "GB"}
ROWS = [
    "Germny",
    "the Netherlands",
    "",
    "Wales",
    "n/a",
    "qwzzt",
    "France",
    'a "quoted" one',
    "GERMNY",
]
needs_arrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")


@pytest.fixture
def d() -> FuzzyDict[str]:
    return FuzzyDict(CODES, scorer="spelling")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Return a folder of three CSV files of other line ends, encodings and delimiters."""
    folder = tmp_path / "in"
    for name in ("year=2020", "year=2021", "_hidden", ".hidden"):
        (folder / name).mkdir(parents=True)
        (folder / name / "no table").write_bytes(b"")
    for hidden in folder.glob("y*/no table"):
        hidden.unlink()
    (folder / "_SUCCESS").write_bytes(b"")
    cells = ['"{}"'.format(row.replace('"', '""')) for row in ROWS]
    (folder / "a.csv").write_text(
        "n,country\r\n" + "1,Germny\r\n" * 3 + "\r\n2,France\r\n", newline=""
    )
    lines = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    (folder / "year=2020/part.csv").write_text("n,country\n" + lines)
    (folder / "year=2021/part.csv").write_text("country;n\nCuraçao;7\nGermny;8\n", "cp1252")
    return folder


def local(d: FuzzyDict[Any], source: Path, output: Path, **options: Any) -> Counter[str]:
    """Write each table by itself, as a reference; return the rows of all."""
    rows = Counter[str]()
    for part in parts_in(source, output):
        part.target.parent.mkdir(parents=True, exist_ok=True)
        rows.update(clean_column(d, part.source, "country", part.target, **options)._asdict())
    return rows


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file by its path in a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the texts that are looked up."""
    texts = list[str]()

    def noted(d: FuzzyDict[Any], queries: list[str]) -> Any:
        texts.extend(queries)
        return best_keys(d, queries)

    monkeypatch.setattr("fuzzydict.io.folders.best_keys", noted)
    return texts


# ---- what is written --------------------------------------------------------------------------

guesses = pytest.mark.filterwarnings("ignore:.*read with:UserWarning")


@guesses
def test_parts_are_those_of_the_local_map(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    texts, steps = asked(monkeypatch), list[tuple[str, int, int]]()
    counts = map_parts(
        d, tables, "country", tmp_path / "out", progress=lambda *step: steps.append(step)
    )
    assert counts._asdict() == expected
    assert files(tmp_path / "out") == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert sorted(texts) == sorted(
        {"Germny", "the Netherlands", "Wales", "qwzzt", 'a "quoted" one', "GERMNY", "Curaçao"}
    )
    for name in ("reading", "looking up", "writing"):
        (*_, last) = [step[1:] for step in steps if step[0] == name]
        assert last[0] == last[1] > 0


@guesses
@pytest.mark.parametrize("saved", [True, False])
def test_processes_write_the_same(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, saved: bool
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    d.save(tmp_path / "d.fuzzydict")
    matcher = Matcher(tmp_path / "d.fuzzydict") if saved else None
    counts = map_parts(d, tables, "country", tmp_path / "out", jobs=2, matcher=matcher)
    assert counts._asdict() == expected
    assert files(tmp_path / "out") == files(tmp_path / "expected") | {"_SUCCESS": b""}


def test_a_single_table_is_written_to_a_file(d: FuzzyDict[str], tables: Path) -> None:
    source, output = tables / "a.csv", tables / "out.csv"
    clean_column(d, source, "country", tables / "expected.csv")
    assert map_parts(d, source, "country", output).matched == 4
    assert output.read_bytes() == (tables / "expected.csv").read_bytes()
    assert map_parts(d, source, "country", source).matched == 4  # in place
    assert source.read_bytes() == output.read_bytes()
    assert not [path for path in tables.iterdir() if "fuzzydict" in path.name]


@guesses
def test_a_review_has_the_doubts_of_all_parts(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    review, decisions = tmp_path / "review.csv", tmp_path / "decisions.csv"
    decisions.write_text("query,target\nWales,Great Britain\nqwzzt,\n")
    given: dict[str, Any] = {"review": review, "decisions": decisions, "sure": 2.0}
    counts = map_parts(d, tables, "country", tmp_path / "out", **given)
    lines = review.read_text().splitlines()
    assert lines[1].startswith("Germny,6,Germany,0.")  # GERMNY is the same text
    assert (counts.refused, counts.undecided) == (1, len(lines) - 1)
    assert len([line for line in lines if line.startswith(("Wales", "qwzzt"))]) == 0
    again = map_parts(d, tables, "country", tmp_path / "again", **given)
    assert again == counts
    assert review.read_text().splitlines() == lines


@needs_arrow
@pytest.mark.more
def test_parquet_keeps_types_and_metadata(d: FuzzyDict[str], tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    source = tmp_path / "in"
    source.mkdir()
    kinds = {
        "plain": pa.array(ROWS * 5),
        "with nulls": pa.array([None, "Germny", None] * 15, pa.large_string()),
        "categories": pa.array(ROWS * 5).dictionary_encode(),
    }
    for name, cells in kinds.items():
        others = {"n": pa.array(range(45), pa.int16()), "deep": pa.array([{"a": [1, None]}] * 45)}
        table = pa.table({**others, "country": cells}).replace_schema_metadata({"made": "by us"})
        parquet.write_table(table, source / f"{name}.parquet", row_group_size=7, compression="zstd")
    expected = local(d, source, tmp_path / "expected")
    assert map_parts(d, source, "country", tmp_path / "out")._asdict() == expected
    for name in kinds:
        one, other = (
            parquet.ParquetFile(tmp_path / folder / f"{name}.parquet")
            for folder in ("out", "expected")
        )
        assert one.schema_arrow.equals(other.schema_arrow, check_metadata=True)
        assert one.read().equals(other.read())
        assert one.read()["n"].to_pylist() == list(range(45))
        assert one.metadata.row_group(0).column(0).compression == "ZSTD"


@needs_arrow
@pytest.mark.more
def test_parquet_of_many_rows_is_written_in_groups(d: FuzzyDict[str], tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    cells = [ROWS[i % 7] for i in range(300_000)]
    parquet.write_table(pa.table({"country": cells}), tmp_path / "in.parquet", row_group_size=1000)
    counts = map_parts(d, tmp_path / "in.parquet", "country", tmp_path / "out.parquet")
    assert counts.rows == 300_000
    written = parquet.ParquetFile(tmp_path / "out.parquet")
    assert written.read()["country"].to_pylist() == cells
    groups = [written.metadata.row_group(i).num_rows for i in range(written.num_row_groups)]
    assert sum(groups) == 300_000
    assert len(groups) == 2


# ---- what is gone on with ---------------------------------------------------------------------


class EndError(Exception):
    """Ends a run at some point, as a crash does."""


@guesses
@pytest.mark.parametrize("step", ["reading", "looking up", "writing"])
def test_a_run_that_ended_early_is_gone_on_with(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(folders, "_SECONDS", -1.0)  # each part is noted
    monkeypatch.setattr(folders, "_PAGE", 2)
    monkeypatch.setattr(folders, "_KEPT_CHARACTERS", 9)
    expected = local(d, tables, tmp_path / "expected")
    texts, output = asked(monkeypatch), tmp_path / "out"

    def end(name: str, done: int, total: int) -> None:
        if name == step and 0 < done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_parts(
            d, tables, "country", output, progress=end if step != "looking up" else end_at_once
        )
    assert not (output / "_SUCCESS").exists()
    counts = map_parts(d, tables, "country", output)
    assert counts._asdict() == expected
    assert files(output) == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert len(texts) == len(set(texts)) == 7


def end_at_once(name: str, _done: int, _total: int) -> None:
    if name == "looking up":
        raise KeyboardInterrupt


CODE = """
import sys, time
from pathlib import Path
from fuzzydict import FuzzyDict
from fuzzydict.io import folders
from fuzzydict.io.folders import map_parts

folders._SECONDS = -1.0
step = sys.argv[1]
def progress(name, done, total):
    if name == step and (0 < done < total or name == "looking up"):
        print("there", flush=True)
        time.sleep(60)
d = FuzzyDict.load("d.fuzzydict")
map_parts(d, Path("in"), "country", Path("out"), progress=progress)
"""


@guesses
@pytest.mark.skipif(os.name != "posix", reason="processes are killed as POSIX has it")
@pytest.mark.parametrize("step", ["reading", "looking up", "writing"])
@pytest.mark.slow("it starts processes and kills them")
def test_a_run_that_was_killed_is_gone_on_with(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    d.save(tmp_path / "d.fuzzydict")
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CODE, step], cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    output = tmp_path / "out"
    for name, data in files(output).items():
        if not name.startswith("."):
            assert data == (tmp_path / "expected" / name).read_bytes()
    texts = asked(monkeypatch)
    monkeypatch.chdir(tmp_path)
    written = {path: path.stat().st_mtime_ns for path in output.rglob("*.csv")}
    assert map_parts(d, Path("in"), "country", Path("out"))._asdict() == expected
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert files(output) == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert len(texts) == (7 if step == "reading" else 0)


@guesses
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda folder: (folder / "a.csv").write_text("country\nx\n"),
            "the table .*a.csv has changed",
        ),
        (lambda folder: (folder / "new.csv").write_text("country\nx\n"), "the table .*new.csv has"),
        (lambda folder: (folder / "a.csv").unlink(), "the table .*a.csv has changed"),
        (
            lambda folder: (folder / "../d.csv").write_text("key,value\na,b\n"),
            "the dict has changed",
        ),
    ],
)
def test_what_changed_meanwhile_is_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, change: Callable[[Path], Any], message: str
) -> None:
    output, dict_file = tmp_path / "out", tmp_path / "d.csv"
    dict_file.write_text("key,value\n")
    with pytest.raises(KeyboardInterrupt):
        map_parts(d, tables, "country", output, dict_file=dict_file, progress=end_at_once)
    before = files(output)
    change(tables)
    with pytest.raises(OptionError, match=f"{message}.*remove .*out to begin again"):
        map_parts(d, tables, "country", output, dict_file=dict_file)
    assert files(output) == before


@guesses
def test_another_option_is_told(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    output, decisions = tmp_path / "out", tmp_path / "decisions.csv"
    decisions.write_text("query,target\nWales,\n")
    with pytest.raises(KeyboardInterrupt):
        map_parts(d, tables, "country", output, options={"cutoff": 1}, progress=end_at_once)
    for others, name in [
        ({"options": {"cutoff": 2}}, "the option cutoff"),
        ({"options": {"cutoff": 1}, "prefix": "x"}, "the option prefix"),
        ({"options": {"cutoff": 1}, "decisions": decisions}, "the decisions"),
    ]:
        with pytest.raises(OptionError, match=f"^{name} has changed since the run began"):
            map_parts(d, tables, "country", output, **others)  # type: ignore[arg-type]
    other = FuzzyDict(CODES, scorer="spelling", embedding={"germany": [1.0, 0.0]})
    with pytest.raises(OptionError, match="the embedding has changed since the run began"):
        map_parts(other, tables, "country", output, options={"cutoff": 1})
    map_parts(d, tables, "country", output, options={"cutoff": 1}, sure=0.3)


def test_a_table_that_changes_while_it_is_mapped_is_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    source = tables / "a.csv"

    def change(name: str, _done: int, _total: int) -> None:
        if name == "looking up":
            source.write_text("country\nother\n")

    with pytest.raises(FileFormatError, match=r"a\.csv has changed since it was read"):
        map_parts(d, source, "country", tmp_path / "out.csv", progress=change)
    assert not (tmp_path / "out.csv").exists()


def test_two_runs_at_once_are_told(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    def again(_name: str, _done: int, _total: int) -> None:
        with pytest.raises(OptionError, match=r"another run writes to .*out"):
            map_parts(d, tables, "country", tmp_path / "out")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_parts(d, tables, "country", tmp_path / "out", progress=again)


def test_parts_that_were_written_before_an_error_are_gone_on_with(
    d: FuzzyDict[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / f"in/{name}.csv").write_text("country\nFrance\n")  # a key: nothing to look up

    def fail(*copied: Any) -> None:
        if (tmp_path / "out/a.csv").exists():
            raise OSError(errno.ENOSPC, "the disk is full")
        copy_rows(*copied)

    monkeypatch.setattr(folders, "copy_rows", fail)
    with pytest.raises(OSError, match="the disk is full"):
        map_parts(d, tmp_path / "in", "country", tmp_path / "out")
    monkeypatch.undo()
    assert map_parts(d, tmp_path / "in", "country", tmp_path / "out").matched == 3
    assert sorted(files(tmp_path / "out")) == ["_SUCCESS", "a.csv", "b.csv", "c.csv"]


def test_a_table_in_place_and_its_review_are_both_written_or_none(
    d: FuzzyDict[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, review, content = tmp_path / "t.csv", tmp_path / "r.csv", "country\nGermny\nx\n"
    table.write_text(content)

    def decide(name: str, _done: int, _total: int) -> None:
        if name == "looking up":
            review.write_text("query,target\nx,\n")

    with pytest.raises(OptionError, match=r"r\.csv has changed since it was read"):
        map_parts(d, table, "country", table, review=review, progress=decide)
    review.unlink()
    full = Mock(side_effect=OSError(errno.ENOSPC, "the disk is full"))
    monkeypatch.setattr(folders, "copy_rows", full)
    with pytest.raises(OSError, match="the disk is full"):
        map_parts(d, table, "country", table, review=review)
    monkeypatch.undo()
    assert table.read_text() == content
    assert not review.exists()
    assert map_parts(d, table, "country", table, review=review).rows == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "t.csv"]


@guesses
def test_a_damaged_database_is_told(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        map_parts(d, tables, "country", tmp_path / "out", progress=end_at_once)
    database = tmp_path / "out/.fuzzydict-map/run.sqlite"
    data, page = database.read_bytes(), 4096
    for start in (0, 3 * page):  # of the first page, and of those of the texts
        database.write_bytes(data[:start] + b"x" * (len(data) - start))
        with pytest.raises(FileFormatError, match=r"is damaged.*remove .*out to begin again"):
            map_parts(d, tables, "country", tmp_path / "out")


# ---- what is refused --------------------------------------------------------------------------


@guesses
def test_a_column_that_a_part_lacks_is_told_before_anything_is_written(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    (tables / "z.csv").write_text("n\n1\n")
    with pytest.raises(FileFormatError, match=r"z\.csv: has no column 'country'"):
        map_parts(d, tables, "country", tmp_path / "out")
    (tables / "z.csv").write_text("country,country_key\n1,2\n")
    with pytest.raises(FileFormatError, match=r"z\.csv has a column 'country_key' already"):
        map_parts(d, tables, "country", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_folders_that_cannot_be_mapped_are_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    def refused(match: str, output: Path = tmp_path / "out") -> None:
        with pytest.raises(OptionError, match=match):
            map_parts(d, tables, "country", output)

    for output in (tables, tables / "out", tmp_path):
        refused("in it or around it", output)
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("")
    refused("full is not empty", full)
    (tables / "z.jsonl").write_text("{}\n")
    refused("tables of several formats, a.csv and z.jsonl")
    (tables / "z.jsonl").rename(tables / "b.xlsx")
    refused(r"b\.xlsx: expected a table of format csv, tsv, jsonl, parquet")
    for path in tables.rglob("*"):
        if path.is_file():
            path.unlink()
    refused("has no tables in it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "in"]
    (tables / "a.csv").write_text("other\n")
    (full / "x").unlink()
    with pytest.raises(FileFormatError, match="has no column 'country'"):
        map_parts(d, tables, "country", full)
    assert list(full.iterdir()) == []


@guesses
@pytest.mark.skipif(os.name != "posix", reason="names are bytes, and links anybody's, in POSIX")
def test_names_that_are_no_text_and_links(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\n.csv")
    try:
        (tables / name).write_text("country\nGermny\n")
    except OSError:
        pytest.skip("names are texts on this disk")
    (tables / "link.csv").symlink_to(tables / name)
    local(d, tables, tmp_path / "expected")
    map_parts(d, tables, "country", tmp_path / "out")
    assert files(tmp_path / "out") == files(tmp_path / "expected") | {"_SUCCESS": b""}
    (tables / "link").symlink_to(tables / "year=2021")
    with pytest.raises(OptionError, match="in/link is a link to a folder"):
        map_parts(d, tables, "country", tmp_path / "other")
