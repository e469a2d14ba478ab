"""Tables of a folder, matched part by part: what is written, asked, refused, and gone on with."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from fuzzydict import FileFormatError, FuzzyDict, Matcher, OptionError
from fuzzydict.io import folders
from fuzzydict.io.columns import Cleaned, Deciding, Source, best_keys, clean_column
from fuzzydict.io.folders import Workers, map_parts, parts_in
from tests.io.files import read, write, written

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
pytestmark = pytest.mark.filterwarnings("ignore:.*read with:UserWarning")


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


def mapped(d: FuzzyDict[Any], source: Path, output: Path, **options: Any) -> Cleaned:
    return map_parts(d, Source(source, "country"), output, **options)


def local(d: FuzzyDict[Any], source: Path, output: Path) -> Counter[str]:
    """Write each table by itself, as a reference; return the rows of all."""
    rows = Counter[str]()
    for part in parts_in(source, output):
        part.target.parent.mkdir(parents=True, exist_ok=True)
        rows.update(clean_column(d, Source(part.source, "country"), part.target)._asdict())
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


def test_parts_are_those_of_the_local_map(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    texts, steps = asked(monkeypatch), list[tuple[str, int, int]]()
    counts = mapped(d, tables, tmp_path / "out", progress=lambda *step: steps.append(step))
    assert counts._asdict() == expected
    assert files(tmp_path / "out") == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert sorted(texts) == sorted(
        {"Germny", "the Netherlands", "Wales", "qwzzt", 'a "quoted" one', "GERMNY", "Curaçao"}
    )
    assert steps == sorted(steps)
    assert steps[-1][1] == steps[-1][2] > 0


@pytest.mark.parametrize(("saved", "given"), [(True, 2**14), (False, 1)])
def test_processes_write_the_same(
    d: FuzzyDict[str],
    tables: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    saved: bool,
    given: int,
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    d.save(tmp_path / "d.fuzzydict")
    workers = Workers(2, matcher=Matcher(tmp_path / "d.fuzzydict") if saved else None)
    monkeypatch.setattr(folders, "_GIVEN", given)
    texts, steps = asked(monkeypatch), list[tuple[Any, ...]]()
    output = tmp_path / "out"
    counts = mapped(d, tables, output, workers=workers, progress=lambda *step: steps.append(step))
    assert counts._asdict() == expected
    assert files(output) == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert not texts  # by this process
    assert {step for step, _, _ in steps} == {"reading", "looking up", "matching"}


@pytest.mark.parametrize("form", folders.FOLDER_FORMATS)
def test_a_folder_may_be_of_any_format(d: FuzzyDict[str], tmp_path: Path, form: str) -> None:
    (tmp_path / "in").mkdir()
    names = [f"a.{form}", f"b.{form}"]
    for name in names:
        write(tmp_path / "in" / name, ["n", "country"], [*enumerate(ROWS)])
    expected = local(d, tmp_path / "in", tmp_path / "expected")
    assert mapped(d, tmp_path / "in", tmp_path / "out")._asdict() == expected
    for name in names:
        assert read(tmp_path / "out" / name) == read(tmp_path / "expected" / name)


def test_a_single_table_is_written_to_a_file(d: FuzzyDict[str], tables: Path) -> None:
    source, output = tables / "a.csv", tables / "out.csv"
    clean_column(d, Source(source, "country"), tables / "expected.csv")
    assert mapped(d, source, output).matched == 4
    assert mapped(d, source, source, workers=Workers(2)).matched == 4  # in place
    expected = (tables / "expected.csv").read_bytes()
    assert (source.read_bytes(), output.read_bytes()) == (expected, expected)
    assert not [path for path in tables.iterdir() if "fuzzydict" in path.name]


def test_a_review_has_the_doubts_of_all_parts(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    review, decisions = tmp_path / "review.csv", tmp_path / "decisions.csv"
    decisions.write_text("query,target\nWales,Great Britain\nqwzzt,\n")
    deciding = Deciding(decisions, review, sure=2.0)
    counts = mapped(d, tables, tmp_path / "out", deciding=deciding)
    lines = review.read_text().splitlines()
    assert lines[1].startswith("Germny,6,Germany,0.")  # GERMNY is the same text
    assert (counts.refused, counts.undecided) == (1, len(lines) - 1)
    assert not [line for line in lines if line.startswith(("Wales", "qwzzt"))]
    assert mapped(d, tables, tmp_path / "again", deciding=deciding) == counts
    assert review.read_text().splitlines() == lines


def test_a_part_of_json_may_be_empty(d: FuzzyDict[str], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in {"a": "", "b": '{"country": "Germny"}\n', "c": "\n"}.items():
        (tmp_path / f"in/{name}.jsonl").write_text(text)
    for jobs in (1, 2):
        output = tmp_path / f"out{jobs}"
        assert mapped(d, tmp_path / "in", output, workers=Workers(jobs)) == Cleaned(1, 0, 0)
        assert [(output / f"{name}.jsonl").stat().st_size for name in "ac"] == [0, 1]
    (tmp_path / "in/d.jsonl").write_text('{"land": "Germny"}\n')
    with pytest.raises(FileFormatError, match=r"d\.jsonl: no line has a field 'country'"):
        mapped(d, tmp_path / "in", tmp_path / "other")


def test_folders_named_as_those_of_a_run_are_nobodys_but_the_users(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    (tmp_path / ".fuzzydict-map").mkdir()
    mine = written(tmp_path, ".fuzzydict-map/mine", "")
    mapped(d, tables / "a.csv", tmp_path / "out.csv", workers=Workers(2))
    with pytest.raises(OptionError, match="is not empty"):
        mapped(d, tables, tmp_path / ".fuzzydict-map")
    assert mine.exists()


# ---- what is gone on with ---------------------------------------------------------------------


def begun(d: FuzzyDict[Any], tables: Path, output: Path, **options: Any) -> dict[str, bytes]:
    """Begin a run that ends once it has written a part; return what is there."""

    def end(_step: str, _done: int, _total: int) -> None:
        if list(output.rglob("*.csv")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mapped(d, tables, output, progress=end, **options)
    assert not (output / "_SUCCESS").exists()
    return files(output)


@pytest.mark.parametrize("reviewed", [False, True])
def test_a_run_that_ended_early_is_gone_on_with(
    d: FuzzyDict[str],
    tables: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reviewed: bool,
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    output, review = tmp_path / "out", tmp_path / "review.csv"
    begun(d, tables, output)
    (output / ".fuzzydict-0123456789abcdef").write_text("left by a run that was killed")
    written = {path: path.stat().st_mtime_ns for path in output.rglob("*.csv")}
    assert 0 < len(written) < 3
    texts = asked(monkeypatch)
    counts = mapped(d, tables, output, deciding=Deciding(review=review if reviewed else None))
    assert counts._replace(undecided=0)._asdict() == expected
    if not reviewed:
        assert {path: path.stat().st_mtime_ns for path in written} == written
    assert files(output) == files(tmp_path / "expected") | {"_SUCCESS": b""}
    assert len(texts) == len(set(texts))
    if reviewed:  # it is about all parts
        again = tmp_path / "again.csv"
        mapped(d, tables, tmp_path / "whole", deciding=Deciding(review=again))
        assert review.read_bytes() == again.read_bytes()


CODE = """
import sys, time
from pathlib import Path
from fuzzydict import FuzzyDict
from fuzzydict.io.columns import Source
from fuzzydict.io.folders import map_parts

def progress(name, done, total):
    if list(Path("out").rglob("*.csv")):
        print("there", flush=True)
        time.sleep(60)
map_parts(FuzzyDict.load("d.fuzzydict"), Source(Path("in"), "country"), Path("out"),
          progress=progress)
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are killed as POSIX has it")
@pytest.mark.slow("it starts a process and kills it")
def test_a_run_that_was_killed_is_gone_on_with(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = local(d, tables, tmp_path / "expected")
    d.save(tmp_path / "d.fuzzydict")
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CODE], cwd=tmp_path, stdout=subprocess.PIPE
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
    monkeypatch.chdir(tmp_path)
    assert mapped(d, Path("in"), Path("out"))._asdict() == expected
    assert files(output) == files(tmp_path / "expected") | {"_SUCCESS": b""}


@pytest.mark.parametrize("content", ["country\nx\n", None], ids=["changed", "gone"])
def test_a_table_that_changed_meanwhile_is_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, content: str | None
) -> None:
    before = begun(d, tables, tmp_path / "out")
    (tables / "a.csv").unlink()
    if content is not None:
        (tables / "a.csv").write_text(content)
    with pytest.raises(OptionError, match=r"the table a\.csv has changed.*remove .*out to begin"):
        mapped(d, tables, tmp_path / "out")
    assert files(tmp_path / "out") == before


def test_a_part_that_is_mended_or_new_is_mapped_by_the_next_run(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    begun(d, tables, output)
    (tables / "c.csv").write_text("country\nGermny\n")
    (tables / "new.csv").write_text("country\nGermny\n")
    assert mapped(d, tables, output) == mapped(d, tables, tmp_path / "again")
    assert files(output) == files(tmp_path / "again")


def test_another_option_or_dict_is_told(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    output, basis = tmp_path / "out", {"the dict": "a", "the option cutoff": 1}
    decisions = written(tmp_path, "decisions.csv", "query,target\nWales,\n")
    other = FuzzyDict(CODES, scorer="spelling", embedding={"germany": [1.0, 0.0]})
    before = begun(d, tables, output, basis=basis)
    cases: list[tuple[str, FuzzyDict[str], dict[str, Any]]] = [
        ("the dict", d, {"basis": basis | {"the dict": "b"}}),
        ("the option cutoff", d, {"basis": basis | {"the option cutoff": 2}}),
        ("the option prefix", d, {"prefix": "x"}),
        ("the decisions", d, {"deciding": Deciding(decisions)}),
        ("the embedding", other, {}),
    ]
    for name, asked, options in cases:
        with pytest.raises(OptionError, match=f"^{name} has changed since the run began"):
            mapped(asked, tables, output, **{"basis": basis, **options})
    assert files(output) == before
    sure = mapped(d, tables, output, basis=basis, deciding=Deciding(sure=2.0))
    assert sure == mapped(d, tables, tmp_path / "again", deciding=Deciding(sure=2.0))


def test_a_table_that_changes_while_it_is_mapped_is_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    source = tables / "a.csv"

    def change(name: str, _done: int, _total: int) -> None:
        if name == "looking up":
            source.write_text("country\nother\n")

    with pytest.raises(FileFormatError, match=r"a\.csv has changed since it was read"):
        mapped(d, source, tmp_path / "out.csv", workers=Workers(2), progress=change)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(os.name != "posix", reason="files are locked as POSIX has it")
def test_two_runs_at_once_are_told(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    def again(_name: str, _done: int, _total: int) -> None:
        with pytest.raises(OptionError, match=r"another run writes to .*out"):
            mapped(d, tables, tmp_path / "out")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mapped(d, tables, tmp_path / "out", progress=again)


def test_a_table_in_place_and_its_review_are_both_written_or_none(
    d: FuzzyDict[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, review, content = tmp_path / "t.csv", tmp_path / "r.csv", "country\nGermny\nx\n"
    table.write_text(content)
    deciding, workers = Deciding(review=review), Workers(2)

    def decide(name: str, _done: int, _total: int) -> None:
        if name == "looking up":
            review.write_text("query,target\nx,\n")

    with pytest.raises(OptionError, match=r"r\.csv has changed since it was read"):
        mapped(d, table, table, deciding=deciding, workers=workers, progress=decide)
    review.unlink()
    full = Mock(side_effect=OSError(errno.ENOSPC, "the disk is full"))
    monkeypatch.setattr("fuzzydict.io.columns.ColumnMatcher.copy", full)
    with pytest.raises(OSError, match="the disk is full"):
        mapped(d, table, table, deciding=deciding)
    monkeypatch.undo()
    assert table.read_text() == content
    assert not review.exists()
    assert mapped(d, table, table, deciding=deciding).rows == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "t.csv"]


@pytest.mark.parametrize("damage", [b"[]\n", b'{}\n["a.csv"]\n', b"\xff\n"])
def test_a_damaged_note_is_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, damage: bytes
) -> None:
    output = tmp_path / "out"
    begun(d, tables, output)
    note = output / ".fuzzydict-map.jsonl"
    before = note.read_bytes()
    note.write_bytes(damage)
    with pytest.raises(FileFormatError, match=r"is damaged.*remove .*out to begin again"):
        mapped(d, tables, output)
    note.write_bytes(before + b"x")  # a line that was not written to its end
    assert mapped(d, tables, output) == mapped(d, tables, tmp_path / "again")


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("n\n1\n", r"z\.csv: has no column 'country'"),
        ("country,country_key\n1,2\n", r"z\.csv has a column 'country_key' already"),
    ],
)
def test_a_column_that_a_part_lacks_is_told_before_anything_is_written(
    d: FuzzyDict[str], tables: Path, tmp_path: Path, content: str, message: str
) -> None:
    written(tables, "z.csv", content)
    with pytest.raises(FileFormatError, match=message):
        mapped(d, tables, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_folders_that_cannot_be_mapped_are_told(
    d: FuzzyDict[str], tables: Path, tmp_path: Path
) -> None:
    def refused(match: str, output: Path = tmp_path / "out") -> None:
        with pytest.raises(OptionError, match=match):
            mapped(d, tables, output)

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
        mapped(d, tables, full)
    assert list(full.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="names are bytes, and links anybody's, in POSIX")
def test_names_that_are_no_text_and_links(d: FuzzyDict[str], tables: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\n.csv")
    try:
        (tables / name).write_text("country\nGermny\n")
    except OSError:
        pytest.skip("names are texts on this disk")
    (tables / "link.csv").symlink_to(tables / name)
    local(d, tables, tmp_path / "expected")
    mapped(d, tables, tmp_path / "out")
    assert files(tmp_path / "out") == files(tmp_path / "expected") | {"_SUCCESS": b""}
    (tables / "link").symlink_to(tables / "year=2021")
    with pytest.raises(OptionError, match="in/link is a link to a folder"):
        mapped(d, tables, tmp_path / "other")
    (tables / "link").unlink()
    os.mkfifo(tables / "pipe.csv")  # nobody writes into it
    with pytest.raises(OptionError, match=r"in/pipe\.csv is no regular file"):
        mapped(d, tables, tmp_path / "other")
    with pytest.raises(OptionError, match=r"pipe\.csv can be read only once"):
        mapped(d, tables / "pipe.csv", tmp_path / "other.csv", workers=Workers(2))
