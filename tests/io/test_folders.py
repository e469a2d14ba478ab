"""Tables of a folder, matched part by part: what is written, asked, refused, and gone on with."""

from __future__ import annotations

import errno
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from fuzzydict import FileFormatError, FuzzyDict, Matcher, OptionError
from fuzzydict.io import columns, folders
from fuzzydict.io.columns import Cleaned, Deciding, Source, clean_column
from fuzzydict.io.folders import Workers, map_parts, parts_in
from tests.benchmarks.measuring import forked
from tests.io.files import read, write, written

CODES = {"Germany": "DE", "France": "FR", "Netherlands": "NL", "Great Britain": "GB"}
ROWS = ["Germny", "the Netherlands", "", "Wales", "n/a", "qwzzt", "France", 'a "quoted" one']
ROWS += ["GERMNY"]
D = FuzzyDict(CODES, scorer="spelling")
pytestmark = pytest.mark.filterwarnings("ignore:.*read with:UserWarning")


class Run(NamedTuple):
    """A folder of tables, and where they are written."""

    tables: Path
    out: Path

    def map(self, d: FuzzyDict[Any] = D, to: str = "out", **options: Any) -> Cleaned:
        return map_parts(d, Source(self.tables, "country"), self.out.parent / to, **options)

    def expected(self) -> tuple[Counter[str], dict[str, bytes]]:
        """Write each table by itself, as a reference; return the rows of all, and the files."""
        rows, output = Counter[str](), self.out.with_name("expected")
        for part in parts_in(self.tables, output):
            part.target.parent.mkdir(parents=True, exist_ok=True)
            rows.update(clean_column(D, Source(part.source, "country"), part.target)._asdict())
        return rows, files(output) | {"_SUCCESS": b""}

    def begun(self, *, is_killed: bool = False, **options: Any) -> dict[str, bytes]:
        """Begin a run that ends once it has written a part; return what is there."""

        def end(*_: Any) -> None:
            if list(self.out.rglob("*.csv")):
                if is_killed:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise KeyboardInterrupt

        if is_killed:
            child = forked(lambda: self.map(progress=end, **options))
            assert os.waitpid(child, 0)[1] == signal.SIGKILL
        else:
            with pytest.raises(KeyboardInterrupt):
                self.map(progress=end, **options)
        assert not (self.out / "_SUCCESS").exists()
        return files(self.out)


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file by its path in a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a folder of three CSV files of other line ends, encodings and delimiters."""
    folder = tmp_path / "in"
    for name in ("year=2020", "year=2021", "_hidden", ".hidden"):
        (folder / name).mkdir(parents=True)
    for name in ("_SUCCESS", "_hidden/no table", ".hidden/no table"):
        written(folder, name, "")
    cells = ['"{}"'.format(row.replace('"', '""')) for row in ROWS]
    lines = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    written(folder, "a.csv", "n,country\r\n" + "1,Germny\r\n" * 3 + "\r\n2,France\r\n")
    written(folder, "year=2020/part.csv", "n,country\n" + lines)
    written(folder, "year=2021/part.csv", "country;n\nCuraçao;7\nGermny;8\n".encode("cp1252"))
    return Run(folder, tmp_path / "out")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the texts that this process looks up."""
    texts, look_up = list[str](), FuzzyDict.most_similar

    def noted(d: FuzzyDict[Any], query: Any, **options: Any) -> Any:
        texts.extend(query)
        return look_up(d, query, **options)

    monkeypatch.setattr(FuzzyDict, "most_similar", noted)
    return texts


# ---- what is written --------------------------------------------------------------------------


def test_parts_are_those_of_the_local_map(run: Run, asked: list[str]) -> None:
    steps = list[tuple[int, int]]()
    counts = run.map(progress=lambda *step: steps.append(step))
    looked_up = sorted(asked)
    assert (counts._asdict(), files(run.out)) == run.expected()
    assert looked_up == sorted({*ROWS, "Curaçao"} - {"", "n/a", "France"})
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] > 0


@pytest.mark.parametrize(("saved", "held"), [(True, 2**15), (False, 1)])
def test_processes_write_the_same(
    run: Run, asked: list[str], monkeypatch: pytest.MonkeyPatch, saved: bool, held: int
) -> None:
    D.save(path := run.out.with_name("d.fuzzydict"))
    workers = Workers(2, matcher=Matcher(path) if saved else None)
    monkeypatch.setattr(columns, "_HELD_ROWS", held)
    counts = run.map(workers=workers)
    assert not asked
    assert (counts._asdict(), files(run.out)) == run.expected()


@pytest.mark.parametrize("form", folders.FOLDER_FORMATS)
def test_a_folder_may_be_of_any_format(tmp_path: Path, form: str) -> None:
    run = Run(tmp_path / "in", tmp_path / "out")
    run.tables.mkdir()
    for name in "ab":
        write(run.tables / f"{name}.{form}", ["n", "country"], [*enumerate(ROWS)])
    assert run.map()._asdict() == run.expected()[0]
    for name in (f"a.{form}", f"b.{form}"):
        assert read(run.out / name) == read(tmp_path / "expected" / name)


def test_a_review_has_the_doubts_of_all_parts(run: Run, tmp_path: Path) -> None:
    decisions = written(tmp_path, "d.csv", "query,target\nWales,Great Britain\nqwzzt,\n")
    deciding = Deciding(decisions, review := tmp_path / "review.csv", sure=2.0)
    counts = run.map(deciding=deciding)
    lines = review.read_text().splitlines()
    assert lines[1].startswith("Germny,6,Germany,0.")  # GERMNY is the same text
    assert (counts.refused, counts.undecided) == (1, len(lines) - 1)
    assert not [line for line in lines if line.startswith(("Wales", "qwzzt"))]
    assert run.map(to="again", deciding=deciding) == counts
    assert review.read_text().splitlines() == lines


def test_a_part_of_json_may_be_empty(tmp_path: Path) -> None:
    run = Run(tmp_path / "in", tmp_path / "out")
    run.tables.mkdir()
    for name, text in {"a": "", "b": '{"country": "Germny"}\n', "c": "\n"}.items():
        written(run.tables, f"{name}.jsonl", text)
    assert run.map() == Cleaned(1, 0, 0)
    assert [(run.out / f"{name}.jsonl").stat().st_size for name in "ac"] == [0, 1]
    written(run.tables, "d.jsonl", '{"land": "Germny"}\n')
    with pytest.raises(FileFormatError, match=r"d\.jsonl: no line has a field 'country'"):
        run.map(to="other")


# ---- what is gone on with ---------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked as POSIX has it")
@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("reviewed", [False, True])
def test_a_run_that_ended_early_is_gone_on_with(
    run: Run, asked: list[str], tmp_path: Path, reviewed: bool, is_killed: bool
) -> None:
    run.begun(is_killed=is_killed)
    left = written(run.out, ".fuzzydict-0123456789abcdef", "by a run that was killed")
    times = {path: path.stat().st_mtime_ns for path in run.out.rglob("*.csv")}
    assert 0 < len(times) < 3
    with pytest.MonkeyPatch.context() as patched:  # the next ends as it puts a part in place
        patched.setattr(Path, "replace", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run.map()
    asked.clear()
    review = tmp_path / "review.csv" if reviewed else None
    counts = run.map(deciding=Deciding(review=review))
    assert len(asked) == len(set(asked))
    assert (counts._replace(undecided=0)._asdict(), files(run.out)) == run.expected()
    assert not left.exists()
    if review is None:
        assert {path: path.stat().st_mtime_ns for path in times} == times
    else:  # it is about all parts
        run.map(to="whole", deciding=Deciding(review=tmp_path / "again.csv"))
        assert review.read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_part_that_is_mended_or_new_is_mapped_by_the_next_run(run: Run) -> None:
    run.begun()
    for name in ("c.csv", "new.csv"):
        written(run.tables, name, "country\nGermny\n")
    assert run.map() == run.map(to="again")
    assert files(run.out) == files(run.out.with_name("again"))


def test_another_option_dict_or_table_is_told(run: Run, tmp_path: Path) -> None:
    basis = {"the dict": "a", "the option cutoff": 1}
    decisions = written(tmp_path, "decisions.csv", "query,target\nWales,\n")
    other = FuzzyDict(CODES, scorer="spelling", embedding={"germany": [1.0, 0.0]})
    before = run.begun(basis=basis)
    first = (run.tables / "a.csv").read_bytes()
    cases: list[tuple[str, FuzzyDict[str], dict[str, Any]]] = [
        ("the dict", D, {"basis": basis | {"the dict": "b"}}),
        ("the option cutoff", D, {"basis": basis | {"the option cutoff": 2}}),
        ("the option prefix", D, {"prefix": "x"}),
        ("the option sure", D, {"deciding": Deciding(sure=2.0)}),
        ("the decisions", D, {"deciding": Deciding(decisions)}),
        ("the embedding", other, {}),
    ]
    for name, d, options in cases:
        with pytest.raises(OptionError, match=f"^{name} has changed since the run began"):
            run.map(d, **{"basis": basis, **options})
    for content in (first + b"3,x\n", None):
        (run.tables / "a.csv").unlink()
        if content is not None:
            written(run.tables, "a.csv", content)
        with pytest.raises(OptionError, match=r"the table a\.csv has changed.*remove .*out to beg"):
            run.map(basis=basis)
    assert files(run.out) == before


@pytest.mark.skipif(os.name != "posix", reason="files are locked as POSIX has it")
def test_two_runs_at_once_are_told(run: Run) -> None:
    def again(*_: Any) -> None:
        with pytest.raises(OptionError, match=r"another run writes to .*out"):
            run.map()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.map(progress=again)


def test_a_table_in_place_and_its_review_are_both_written_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path, "t.csv", content := "country\nGermny\nx\n")
    source, deciding = Source(table, "country"), Deciding(review=(review := tmp_path / "r.csv"))

    def decide(*_: Any) -> None:
        review.write_text("query,target\nx,\n")

    with pytest.raises(OptionError, match=r"r\.csv has changed since it was read"):
        map_parts(D, source, table, deciding=deciding, progress=decide)
    review.unlink()
    full = Mock(side_effect=OSError(errno.ENOSPC, "the disk is full"))
    with monkeypatch.context() as patched:
        patched.setattr("fuzzydict.io.columns.ColumnMatcher.copy", full)
        with pytest.raises(OSError, match="the disk is full"):
            map_parts(D, source, table, deciding=deciding)
    assert table.read_text() == content
    assert not review.exists()
    assert map_parts(D, source, table, deciding=deciding).rows == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "t.csv"]


@pytest.mark.parametrize("damage", [b"[]\n", b'{}\n["a.csv"]\n', b"\xff\n"])
def test_a_damaged_note_is_told(run: Run, damage: bytes) -> None:
    run.begun()
    note = run.out / ".fuzzydict-map.jsonl"
    before = note.read_bytes()
    note.write_bytes(damage)
    with pytest.raises(FileFormatError, match=r"is damaged.*remove .*out to begin again"):
        run.map()
    note.write_bytes(before + b"x")  # a line that was not written to its end
    assert run.map() == run.map(to="again")


# ---- what is refused --------------------------------------------------------------------------


def test_a_column_that_a_part_lacks_or_has_is_told_before_anything_is_written(run: Run) -> None:
    for content, message in {
        "n\n1\n": r"z\.csv: has no column 'country'",
        "country,country_key\n1,2\n": r"z\.csv has a column 'country_key' already",
    }.items():
        written(run.tables, "z.csv", content)
        with pytest.raises(FileFormatError, match=message):
            run.map()
    assert not run.out.exists()


def test_folders_that_cannot_be_mapped_are_told(run: Run, tmp_path: Path) -> None:
    def refused(match: str, output: str = "out") -> None:
        with pytest.raises(OptionError, match=match):
            run.map(to=output)

    for output in ("in", "in/out", "."):
        refused("in it or around it", output)
    run.map(to="whole")
    refused("whole is complete: a run has written all of its parts; name a new folder", "whole")
    (tmp_path / "full").mkdir()
    written(tmp_path, "full/mine", "")
    refused("full is not empty", "full")
    written(run.tables, "z.jsonl", "{}\n")
    refused("tables of several formats, a.csv and z.jsonl")
    (run.tables / "z.jsonl").rename(run.tables / "b.xlsx")
    refused(r"b\.xlsx: expected a table of format csv, tsv, jsonl, parquet")
    for path in run.tables.rglob("*"):
        if path.is_file():
            path.unlink()
    refused("has no tables in it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "in", "whole"]
    assert [*files(tmp_path / "full")] == ["mine"]


@pytest.mark.skipif(os.name != "posix", reason="names are bytes, and links anybody's, in POSIX")
def test_names_that_are_no_text_and_links(run: Run) -> None:
    name = os.fsdecode(b"\xff\n.csv")
    try:
        written(run.tables, name, "country\nGermny\n")
    except OSError:
        pytest.skip("names are texts on this disk")
    (run.tables / "link.csv").symlink_to(run.tables / name)
    assert (run.map()._asdict(), files(run.out)) == run.expected()
    (run.tables / "link").symlink_to(run.tables / "year=2021")
    with pytest.raises(OptionError, match="in/link is a link to a folder"):
        run.map(to="other")
    (run.tables / "link").unlink()
    os.mkfifo(pipe := run.tables / "pipe.csv")  # nobody writes into it
    with pytest.raises(OptionError, match=r"in/pipe\.csv is no regular file"):
        run.map(to="other")
    with pytest.raises(OptionError, match=r"pipe\.csv can be read only once"):
        map_parts(D, Source(pipe, "country"), run.out, workers=Workers(2))
