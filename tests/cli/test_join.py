"""The command ``join``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result

from tests.support.commands import run

LEFT = 'n,country\n1,"Germny"\n2,qwzzt\n3,\n4,FRANCE\n'
RIGHT = "country,code,n\nFrance,FR,33\nGermany,DE,49\n"
COUNTED = "4 rows: 2 matched (0 doubtful, with a score below 0.8), 1 unmatched, 1 blank\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two tables, which one stands in."""
    (tmp_path / "left.csv").write_text(LEFT)
    (tmp_path / "right.csv").write_text(RIGHT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def join(*arguments: object) -> Result:
    return run("join", *arguments)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("how", "lines"),
    [
        ("inner", ["n,country,country_right,code,n_right", '1,"Germny",G', "4,FRANCE,F"]),
        ("anti", ["n,country", "2,qwzzt", "3,"]),
    ],
)
def test_how_says_which_rows_are_written(how: str, lines: list[str]) -> None:
    result = join("left.csv", "right.csv", "--on", "country", "--how", how, "--no-score")
    assert (result.exit_code, result.stderr) == (0, COUNTED)
    written = result.stdout.splitlines()
    assert len(written) == len(lines)
    assert all(line.startswith(begin) for line, begin in zip(written, lines, strict=True))


def test_all_that_match_are_exit_0_and_the_output_may_be_the_left_table(tables: Path) -> None:
    left = tables / "left.csv"
    left.write_text("n,country\n1,germany\n")
    result = join(left, "right.csv", "--on", "country", "-o", left, "--suffix", "_of_code")
    assert join("right.csv", left, "--on", "country", "--fail-unmatched").exit_code == 1
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("1 row: 1 matched (0 doubtful")
    header, row = left.read_text().splitlines()
    assert header == "n,country,country_of_code,code,n_of_code,score"
    assert row.startswith("1,germany,Germany,DE,49,0.9")


@pytest.mark.usefixtures("tables")
def test_scorer_cutoff_and_vectors_are_those_of_other_commands() -> None:
    options = ["left.csv", "right.csv", "--on", "country"]
    assert "Germany" in join(*options, "--scorer", "spelling").stdout
    assert "Germany" not in join(*options, "--score-cutoff", "1.5").stdout
    assert "Germany" in join(*options, "--embedding", "english").stdout


def test_delimiter_and_encoding_are_those_of_each_table(tables: Path) -> None:
    (tables / "left.csv").write_bytes("n;Länd\n1;Germny\n".encode("windows-1252"))
    (tables / "right.tsv").write_text("land|code\nGermany|DE\n")
    options = ["--left-on", "Länd", "--right-on", "land", "-o", "out.csv", "--no-score"]
    names = ["--left-delimiter", ";", "--left-encoding", "windows-1252", "--right-delimiter", "|"]
    result = join("left.csv", "right.tsv", *options, *names, "--right-encoding", "ascii")
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    written = (tables / "out.csv").read_bytes()
    assert written.decode("windows-1252") == "n;Länd;land;code\n1;Germny;Germany;DE\n"
    guessed = join("left.csv", "right.tsv", *options)
    assert guessed.exit_code == 0
    assert guessed.stderr.splitlines()[:-1] == [
        "Warning: right.tsv: read with '|'; name another by --right-delimiter",
        "Warning: left.csv: read with ';' and windows-1252; name others by --left-delimiter and "
        "--left-encoding",
    ]
    assert (tables / "out.csv").read_bytes() == written


def test_sheets_of_workbooks_are_joined(tables: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need the extra 'excel'")
    book = openpyxl.Workbook()
    book.create_sheet("left").append(["country"])
    book["left"].append(["Germny"])
    book.create_sheet("right").append(["name", "code"])
    book["right"].append(["Germany", "DE"])
    book.save(tables / "both.xlsx")
    sheets = ["--left-sheet", "left", "--right-sheet", "right", "-o", "out.xlsx"]
    on = ["--left-on", "country", "--right-on", "name"]
    result = join("both.xlsx", "both.xlsx", *sheets, *on)
    assert result.exit_code == 0, result.stderr
    names, row = openpyxl.load_workbook(tables / "out.xlsx")["left"].values
    assert names == ("country", "name", "code", "score")
    assert row[:3] == ("Germny", "Germany", "DE")
    refused = join("both.xlsx", "both.xlsx", "--left-sheet", "lef", *sheets[2:], *on)
    assert "(did you mean 'left'?)" in refused.stderr


@pytest.mark.usefixtures("tables")
def test_the_left_table_may_come_from_standard_input() -> None:
    options = ["--on", "country"]
    piped = run("join", "-", "right.csv", *options, lines=LEFT.encode())
    assert (piped.exit_code, piped.stderr) == (0, COUNTED)
    assert piped.stdout_bytes == join("left.csv", "right.csv", *options).stdout_bytes
