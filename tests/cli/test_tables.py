"""``fuzzydict map`` and ``join`` as users run them: tables in, a table out, nothing lost."""

from __future__ import annotations

import os
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


@pytest.fixture
def folder(codes: Path) -> Path:
    folder = codes.parent / "tables"
    for year in ("2020", "2021"):
        (folder / f"year={year}").mkdir(parents=True)
        (folder / f"year={year}" / "part.csv").write_text(TABLE + f"7,{year}\n", newline="")
    return folder


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
    assert [line.rsplit(",", 1)[0] for line in lines[1:3]] == [
        "1,germany,Germany,DE",
        '2,"FRANCE",France,FR',
    ]
    assert lines[3:5] == ["3,qwzzt,,,", "4,,,,"]
    replaced = map_(codes, "t.csv", "-o", codes.parent / "t.csv")
    assert (replaced.exit_code, replaced.stdout) == (0, "")
    assert (codes.parent / "t.csv").read_bytes() == result.stdout_bytes
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "t.csv"]


def test_options_reach_the_cleaning(codes: Path) -> None:
    table = codes.parent / "t.txt"
    table.write_text("country\nGermany\nGermny\n")
    result = map_(
        *(codes, "t.txt", "--table-format", "tsv", "--prefix", "x_"),
        *("--score-cutoff", "inf", "-o", table),
    )
    assert (result.exit_code, result.stderr) == (
        0,
        "2 rows: 1 matched (0 doubtful, with a score below 0.8), 1 unmatched, 0 blank\n",
    )
    assert table.read_text() == (
        "country\tx_key\tx_value\tx_score\nGermany\tGermany\tDE\t1.0\nGermny\t\t\t\n"
    )


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("a,country\n1,Germny\n", "1,Germny,Germany,DE,"),
        ("a;country\n1;Germny\n", "1;Germny;Germany;DE;"),
        ("a\tcountry\n1\tGermny\n", "1\tGermny\tGermany\tDE\t"),
        (
            '{"a": 1, "country": "Germny"}\n',
            '{"a": 1, "country": "Germny", "country_key": "Germany"',
        ),
    ],
)
def test_the_first_line_of_standard_input_tells_its_format(
    codes: Path, table: str, told: str
) -> None:
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
    FuzzyDict({"Germany": "DE", "France": "FR"}).save(codes.parent / "codes.fuzzydict")
    column = ["--column", "country", "--score-cutoff", "0.9", "--fail-unmatched"]
    assert run("map", codes.parent / "codes.fuzzydict", codes.parent / "t.csv", *column).exit_code
    for name in ("s.csv", "s.json"):
        for jobs in ([], ["--jobs", "1", "-o", codes.parent / "out.csv"]):
            given = ["--synonyms", codes.parent / name, *column, *jobs]
            saved = run("map", codes.parent / "codes.fuzzydict", codes.parent / "t.csv", *given)
            assert saved.exit_code == 0, saved.stderr
    looked_up = run("lookup", codes.parent / "codes.fuzzydict", "BRD", *given[:2])
    assert looked_up.stdout == "DE\n"
    (codes.parent / "s.json").write_text('{"a": "b", "b": "c", "c": "a"}')
    line = refused("lookup", codes.parent / "codes.fuzzydict", "BRD", *given[:2])
    assert line.startswith(f"Error: {codes.parent / 's.json'}: synonyms: ")


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


def test_the_dict_and_the_table_may_be_written_in_different_ways(codes: Path) -> None:
    codes.write_text("name;code\nCuraçao;CW\n", encoding="latin-1")
    (codes.parent / "u.csv").write_text("country|n\nCuracao|1\n")
    guessed = map_(codes, "u.csv")
    assert guessed.exit_code == 0
    assert "name others by --dict-delimiter and --dict-encoding" in guessed.stderr
    assert "u.csv: read with '|'; name another by --delimiter" in guessed.stderr
    reading = ("--dict-delimiter", ";", "--dict-encoding", "latin-1", "--delimiter", "|")
    named = map_(codes, "u.csv", *reading)
    assert named.stdout == guessed.stdout
    assert "Warning" not in named.stderr


# ---- folders, and several processes -----------------------------------------------------------


def test_a_table_is_the_same_by_several_processes(codes: Path) -> None:
    printed, out = map_(codes, "t.csv"), codes.parent / "out.csv"
    result = map_(codes, "t.csv", "--jobs", "2", "-o", out)
    assert (result.exit_code, result.stderr) == (0, printed.stderr)
    assert out.read_bytes() == printed.stdout_bytes
    assert sorted(path.name for path in codes.parent.iterdir()) == ["codes.csv", "out.csv", "t.csv"]


@pytest.mark.more
@pytest.mark.slow("it starts a cluster of Dask")
@pytest.mark.usefixtures("folder")
def test_a_table_is_the_same_by_dask(codes: Path) -> None:
    pytest.importorskip("distributed")
    from distributed import LocalCluster

    local = map_(codes, "tables", "-o", codes.parent / "local")
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        options = ["--engine", "dask", "--scheduler", address, "-o", codes.parent / "out"]
        result = map_(codes, "tables", *options)
    assert (result.exit_code, result.stderr) == (0, local.stderr)
    for year in ("2020", "2021"):
        parts = [codes.parent / name / f"year={year}" / "part.csv" for name in ("local", "out")]
        assert parts[0].read_bytes() == parts[1].read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.slow("it starts processes and ends them")
def test_ctrl_c_ends_all_processes(codes: Path, folder: Path) -> None:
    import signal
    import time

    words = "".join(f"1,wrd{i}x{i * 7919 % 10007}\n" for i in range(20_000))
    (folder / "year=2020/part.csv").write_text("n,country\n" + words)
    command: list[str | Path] = [SCRIPT, "map", codes, folder, *NAMED, "--jobs", "2"]
    command += ["-o", codes.parent / "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, text=True)
    end = time.monotonic() + 120
    while not [*codes.parent.glob("out/.fuzzydict-copy-*/dict.fuzzydict")]:
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stderr = process.communicate()[1]
    told = "interrupted; the same command goes on after the parts that are written\n"
    assert (process.returncode, stderr) == (130, told)
    while is_there(process.pid):
        assert time.monotonic() < end
        time.sleep(0.05)
    left = [path.name for path in codes.parent.glob("out/**/*") if path.is_file()]
    assert left == [".fuzzydict-map.jsonl"]  # no part was written


def is_there(group: int) -> bool:
    """Tell whether any process of a group is running."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


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
    options = ["--on", "country", "--how", how, "--no-score"]
    piped = run("join", "-", "right.csv", *options, lines=LEFT.encode())
    assert (piped.exit_code, piped.stdout_bytes) == (0, result.stdout_bytes)


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
