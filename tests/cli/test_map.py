"""``fuzzydict map`` as its users run it: a table in, a table out, and nothing lost on the way."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fuzzydict import FuzzyDict
from fuzzydict.io.examples import read_examples

main: click.Command = import_module("fuzzydict.cli").main
SCRIPT = Path(sys.executable).with_name("fuzzydict")
TABLE = 'n,country\r\n1,germany\r\n2,"FRANCE"\r\n3,qwzzt\r\n4,\r\n5,Germny\r\n6,Germny\r\n'


@pytest.fixture
def codes(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE, newline="")
    path = tmp_path / "codes.csv"
    path.write_text("name,code\nGermany,DE\nFrance,FR\n")
    return path


def map_(codes: Path, table: str, *options: str | Path) -> Result:
    chosen = ["--key", "name", "--value", "code", "--column", "country", *map(str, options)]
    return CliRunner().invoke(main, ["map", str(codes), str(codes.parent / table), *chosen])


def test_the_table_is_printed_and_the_rows_are_counted(codes: Path) -> None:
    result = map_(codes, "t.csv")
    assert result.exit_code == 1
    assert result.stderr == (
        "6 rows: 4 matched (0 doubtful, with a score below 0.8), 1 unmatched, 1 blank\n"
    )
    lines = result.stdout_bytes.decode().split("\r\n")
    assert lines[0] == "n,country,country_key,country_value,country_score"
    assert [line.rsplit(",", 1)[0] for line in lines[1:3]] == [
        "1,germany,Germany,DE",
        '2,"FRANCE",France,FR',
    ]
    assert lines[3:5] == ["3,qwzzt,,,", "4,,,,"]


def test_the_table_is_replaced_by_the_longer_one(codes: Path) -> None:
    printed = map_(codes, "t.csv").stdout_bytes
    table = codes.parent / "t.csv"
    result = map_(codes, "t.csv", "-o", table)
    assert (result.exit_code, result.stdout) == (1, "")
    assert table.read_bytes() == printed
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "t.csv"]


def test_the_summary_tells_how_many_matches_are_doubtful(codes: Path) -> None:
    best = FuzzyDict({"Germany": "DE", "France": "FR"}).most_similar("Frgermny")[0].score
    (codes.parent / "t.csv").write_text("country\nFrgermny\nFrgermny\nGermany\n?!\n")
    for sure, doubtful in [(f"{best - 0.001:.4f}", 0), (f"{best + 0.001:.4f}", 2)]:
        result = map_(codes, "t.csv", "--cutoff", "0", "--sure", sure)
        counts = f"4 rows: 3 matched ({doubtful} doubtful, with a score below {float(sure):g}), "
        assert result.stderr == f"{counts}1 unmatched, 0 blank\n"
        assert result.exit_code == 1


def test_a_review_is_decided_by_a_person_and_read_as_examples(codes: Path) -> None:
    review = codes.parent / "review.csv"
    options: list[str | Path] = ["--review", review, "--sure", "2", "--cutoff", "0.2"]
    assert map_(codes, "t.csv", *options).exit_code == 1
    with review.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["query"], row["count"], row["target"]) for row in rows] == [
        ("Germny", "2", "? Germany"),
        ("germany", "1", "? Germany"),
        ("FRANCE", "1", "? France"),
        ("qwzzt", "1", "?"),
    ]
    review.write_text(review.read_text().replace(",? Germany\n", ",Germoney\n", 1))
    examples = read_examples(review)
    assert examples[::3] == [("Germny", "Germoney"), ("qwzzt", "?")]
    review.write_text(review.read_text().replace(",?\n", ",\n").replace(",? ", ","))
    assert read_examples(review)[1:] == [
        *(("germany", "Germany"), ("FRANCE", "France"), ("qwzzt", None))
    ]
    again = map_(codes, "t.csv", "--review", review)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "exists already and may hold corrections" in again.stderr
    assert "Germoney" in review.read_text()


def test_options_reach_the_cleaning(codes: Path) -> None:
    table = codes.parent / "t.txt"
    table.write_text("country\nGermany\nGermny\n")
    result = map_(
        codes, "t.txt", "--table-format", "tsv", "--prefix", "x_", "--cutoff", "inf", "-o", table
    )
    assert (result.exit_code, result.stderr) == (
        1,
        "2 rows: 1 matched (0 doubtful, with a score below 0.8), 1 unmatched, 0 blank\n",
    )
    assert table.read_text() == (
        "country\tx_key\tx_value\tx_score\nGermany\tGermany\tDE\t1.0\nGermny\t\t\t\n"
    )


def test_lines_of_json_and_parquet_are_mapped_too(codes: Path) -> None:
    (codes.parent / "t.jsonl").write_text('{"country": "germany"}\n')
    result = map_(codes, "t.jsonl")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "country": "germany",
        "country_key": "Germany",
        "country_value": "DE",
        "country_score": pytest.approx(1, abs=0.1),
    }
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs the extra 'parquet'")
    table = codes.parent / "t.parquet"
    parquet.write_table(arrow.table({"country": ["germany", None]}), table)
    assert map_(codes, "t.parquet", "-o", table).exit_code == 0
    assert parquet.read_table(table)["country_value"].to_pylist() == ["DE", None]


def test_a_table_on_standard_input_may_be_a_file_and_errors_name_it(codes: Path) -> None:
    options = ["--table-format", "csv", "--column", "country", "--key", "name", "--value", "code"]
    for name, code in [("country", 1), ("land", 2)]:
        with (codes.parent / "t.csv").open("rb") as file:
            done = subprocess.run(
                [SCRIPT, "map", codes, "-", *options, "--column", name],
                stdin=file,
                capture_output=True,
                timeout=60,
            )
        assert done.returncode == code
        assert done.stdout == (map_(codes, "t.csv").stdout_bytes if code == 1 else b"")
    assert done.stderr.startswith(b"Error: <stdin>: has no column 'land'; its columns are 'n'")


@pytest.mark.skipif(os.name != "posix", reason="standard input is a file on POSIX only")
@pytest.mark.parametrize("table", ["-", "/dev/stdin"])
def test_a_table_may_come_from_a_pipe(codes: Path, table: str) -> None:
    options = ["--table-format", "csv", "--column", "country", "--key", "name", "--value", "code"]
    done = subprocess.run(
        [SCRIPT, "map", codes, table, *options],
        input=TABLE.encode(),
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, map_(codes, "t.csv").stdout_bytes)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("t.xlsx", [], "names no table format; give --table-format"),
        ("t.parquet", [], "a Parquet table needs a file to be written to (-o)"),
        ("t.csv", ["-o", "t.tsv"], "t.tsv would hold csv, but its ending says otherwise"),
        ("-", [], "the ending of '-' names no table format; give --table-format"),
        (
            "-",
            ["--table-format", "parquet", "-o", "o.parquet"],
            "cannot be read from standard input",
        ),
        ("t.csv", ["--review", "r.csv", "--sure", "nan"], "'--sure': expected a number, got NaN"),
        ("t.csv", ["--cutoff", "nan"], "'--cutoff': expected a number, got NaN"),
        ("t.csv", ["--review", "r.txt"], "r.txt: a review ends in .csv, .tsv or .jsonl"),
        ("t.csv", ["-o", "o.csv", "--review", "o.csv"], "o.csv is the table to be written"),
        ("t.csv", ["--table-format", "xml"], "'xml' is not one of 'csv', 'tsv'"),
        ("t.csv", ["-o", "codes.csv"], "codes.csv is the dict; write the table elsewhere"),
        ("t.csv", ["-o", "."], ".: Is a directory"),
        ("t.csv", ["-o", "t.csv/x/o.csv"], "t.csv: Not a directory"),
        ("t.csv", ["--review", "no/r.csv"], "no: No such file or directory"),
        ("no.csv", ["-o", "o.csv"], "no.csv: No such file or directory"),
        ("t.csv", ["--column", "land"], "has no column 'land'; its columns are 'n', 'country'"),
        ("t.csv", ["--prefix", "", "--column", "n", "--key", "x"], "has no column 'x'"),
    ],
)
def test_misuse_is_exit_2_and_changes_nothing(
    codes: Path, monkeypatch: pytest.MonkeyPatch, table: str, options: list[str], message: str
) -> None:
    monkeypatch.chdir(codes.parent)
    chosen = ["--key", "name", "--value", "code", "--column", "country", *options]
    result = CliRunner().invoke(main, ["map", "codes.csv", table, *chosen])
    assert isinstance(result.exception, SystemExit)
    assert (result.exit_code, result.stdout) == (2, "")
    line = result.stderr.splitlines()[-1]
    assert line.startswith("Error: ")
    assert message in line
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "t.csv"]
    assert (codes.parent / "t.csv").read_bytes() == TABLE.encode()


@pytest.mark.skipif(sys.platform != "linux", reason="files are kept small as Linux does it")
def test_a_disk_that_is_full_leaves_the_table_as_it_was(codes: Path) -> None:
    table = codes.parent / "t.csv"
    table.write_text("country\n" + "Germany\n" * 9000)
    before = table.read_bytes()
    line = 'ulimit -f 40; trap "" XFSZ; exec "$0" "$@"'
    options = ["--column", "country", "--key", "name", "--value", "code", "-o", str(table)]
    done = subprocess.run(
        ["sh", "-c", line, SCRIPT, "map", codes, table, *options], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"Error: {table}: File too large\n".encode()
    assert table.read_bytes() == before
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "t.csv"]
