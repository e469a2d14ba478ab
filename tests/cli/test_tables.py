"""``fuzzydict map`` and ``join`` as users run them: tables in, a table out, nothing lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from fuzzydict import FuzzyDict
from tests.support.commands import SCRIPT, refused, run

TABLE = 'n,country\r\n1,germany\r\n2,"FRANCE"\r\n3,qwzzt\r\n4,\r\n5,Germny\r\n6,Germny\r\n'


@pytest.fixture
def codes(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE, newline="")
    path = tmp_path / "codes.csv"
    path.write_text("name,code\nGermany,DE\nFrance,FR\n")
    return path


NAMED = ["--key", "name", "--value", "code", "--column", "country"]


def map_(codes: Path, table: str, *options: object) -> Result:
    return run("map", codes, codes.parent / table, *NAMED, *options)


def test_the_table_is_printed_and_the_rows_are_counted(codes: Path) -> None:
    result = map_(codes, "t.csv")
    assert result.exit_code == 0
    assert result.stderr == (
        "6 rows: 4 matched (0 doubtful, with a score below 0.8), 1 unmatched, 1 blank\n"
    )
    assert map_(codes, "t.csv", "--fail-unmatched").exit_code == 1
    lines = result.stdout_bytes.decode().split("\r\n")
    assert lines[0] == "n,country,country_key,country_value,country_score"
    rows = ["1,germany,Germany,DE", '2,"FRANCE",France,FR', "3,qwzzt,,", "4,,,"]
    assert [line.rsplit(",", 1)[0] for line in lines[1:5]] == rows
    for jobs in ([], ["--jobs", "2"]):  # of which the last puts it in the table's place
        output = codes.parent / ("t.csv" if jobs else "out.csv")
        replaced = map_(codes, "t.csv", *jobs, "-o", output)
        assert (replaced.exit_code, replaced.stdout) == (0, "")
        assert (replaced.stderr, output.read_bytes()) == (result.stderr, result.stdout_bytes)
    assert {path.name for path in codes.parent.iterdir()} == {"codes.csv", "out.csv", "t.csv"}


def test_the_first_line_of_standard_input_tells_its_format(codes: Path) -> None:
    for table, told in (
        ("a;country\n1;Germny\n", "1;Germny;Germany;DE;"),
        ("a\tcountry\n1\tGermny\n", "1\tGermny\tGermany\tDE\t"),
        ('{"country": "Germny"}\n', '{"country": "Germny", "country_key": "Germany"'),
    ):
        result = run("map", codes, "-", *NAMED, lines=table.encode())
        assert result.exit_code == 0, result.stderr
        assert result.stdout.splitlines()[-1].startswith(told)
    for begin in (b"PK\3\4rest", b"PAR1rest"):
        refusal = run("map", codes, "-", *NAMED, lines=begin)
        assert "cannot be read from standard input; name a file" in refusal.stderr


def test_synonyms_are_taken_from_a_file(codes: Path) -> None:
    (codes.parent / "t.csv").write_text("country\nBRD\nFrance Ltd\n")
    (codes.parent / "s.csv").write_text("BRD,Germany\nLtd,\n")
    (codes.parent / "s.json").write_text('{"BRD": "Germany", "Ltd": ""}')
    saved = codes.parent / "codes.fuzzydict"
    FuzzyDict({"Germany": "DE", "France": "FR"}).save(saved)
    command: list[object] = ["map", saved, codes.parent / "t.csv", "--column", "country"]
    command += ["--score-cutoff", "0.9", "--fail-unmatched"]
    assert run(*command).exit_code == 1
    for name in ("s.csv", "s.json"):
        for jobs in ([], ["--jobs", "1", "-o", codes.parent / "out.csv"]):
            assert run(*command, "--synonyms", codes.parent / name, *jobs).exit_code == 0
    assert run("lookup", saved, "BRD", "--synonyms", codes.parent / name).stdout == "DE\n"
    (codes.parent / "s.json").write_text('{"a": "b", "b": "c", "c": "a"}')
    line = refused("lookup", saved, "BRD", "--synonyms", codes.parent / "s.json")
    assert line.startswith(f"Error: --synonyms: {codes.parent / 's.json'}: synonyms: ")


@pytest.mark.skipif(sys.platform != "linux", reason="files are kept small as Linux does it")
def test_a_disk_that_is_full_leaves_the_table_as_it_was(codes: Path) -> None:
    table = codes.parent / "t.csv"
    table.write_text("country\n" + "Germany\n" * 9000)
    before = table.read_bytes()
    line = 'ulimit -f 40; trap "" XFSZ; exec "$0" "$@"'
    command: list[str | Path] = ["sh", "-c", line, SCRIPT, "map", codes, table, *NAMED, "-o", table]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"Error: {table}: File too large\n".encode()
    assert table.read_bytes() == before
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "t.csv"]


def test_options_say_how_the_dict_and_the_table_are_written_and_cleaned(codes: Path) -> None:
    codes.write_text("name;code\nCuraçao;CW\n", encoding="latin-1")
    table = codes.parent / "t.txt"
    table.write_text("country|n\nCuracao|1\nCuraçao|2\n")
    options = ["--table-format", "csv", "--prefix", "x_", "--score-cutoff", "inf", "-o", table]
    named = ["--dict-delimiter", ";", "--dict-encoding", "latin-1", "--delimiter", "|"]
    result = map_(codes, "t.txt", *options, *named)
    counted = "2 rows: 1 matched (0 doubtful, with a score below 0.8), 1 unmatched, 0 blank\n"
    assert (result.exit_code, result.stderr) == (0, counted)
    rows = ["country|n|x_key|x_value|x_score", "Curacao|1|||", "Curaçao|2|Curaçao|CW|1.0"]
    assert table.read_text().splitlines() == rows
    table.write_text("country|n\nCuracao|1\n")
    guessed = map_(codes, "t.txt", *options)
    assert guessed.exit_code == 0
    assert "name others by --dict-delimiter and --dict-encoding" in guessed.stderr
    assert "t.txt: read with '|'; name another by --delimiter" in guessed.stderr


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two tables, which one stands in."""
    (tmp_path / "left.csv").write_text('n,country\n1,"Germny"\n2,qwzzt\n3,\n4,FRANCE\n')
    (tmp_path / "right.csv").write_text("country,code,n\nFrance,FR,33\nGermany,DE,49\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_rows_without_a_match_are_joined_and_the_output_may_be_the_left_table(
    tables: Path,
) -> None:
    left = tables / "left.csv"
    options = ["right.csv", "--on", "country", "--fail-unmatched", "--how"]
    counted = "4 rows: 2 matched (0 doubtful, with a score below 0.8), 1 unmatched, 1 blank\n"
    for result in (
        run("join", left, *options, "anti"),
        run("join", "-", *options, "anti", lines=left.read_bytes()),
    ):
        assert (result.exit_code, result.stderr) == (1, counted)
        assert result.stdout == "n,country\n2,qwzzt\n3,\n"
    result = run("join", left, *options, "inner", "-o", left, "--suffix", "_of_code")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", counted)
    header, row, other = left.read_text().splitlines()
    assert header == "n,country,country_of_code,code,n_of_code,score"
    assert row.startswith('1,"Germny",Germany,DE,49,0.')
    assert other.startswith("4,FRANCE,France,FR,33,")
    assert run("join", left, *options, "left").exit_code == 0


def test_delimiter_and_encoding_are_those_of_each_table(tables: Path) -> None:
    (tables / "left.csv").write_bytes("n;Länd\n1;Germny\n".encode("windows-1252"))
    (tables / "right.tsv").write_text("land|code\nGermany|DE\n")
    options = ["--left-on", "Länd", "--right-on", "land", "-o", "out.csv", "--no-score"]
    names = ["--left-delimiter", ";", "--left-encoding", "windows-1252", "--right-delimiter", "|"]
    for given, warned in (
        ([*names, "--right-encoding", "ascii"], []),
        ([], ["right.tsv: read with '|'; name another by --right-delimiter", "left.csv: read"]),
    ):
        result = run("join", "left.csv", "right.tsv", *options, *given)
        assert result.exit_code == 0
        *warnings, _ = result.stderr.splitlines()
        assert len(warnings) == len(warned)
        assert all(f"Warning: {one}" in told for one, told in zip(warned, warnings, strict=True))
        written = (tables / "out.csv").read_bytes().decode("windows-1252")
        assert written == "n;Länd;land;code\n1;Germny;Germany;DE\n"
