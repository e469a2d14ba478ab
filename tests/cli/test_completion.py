"""How shells complete the ``fuzzydict`` command."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import chdir
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.commands import COMMANDS, SCRIPT, main, posix

HEADER = 'First name,Größe,First date,"x,y",$USD,it\'s,back\\slash\n'


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Return a folder with tables, and with files that are none."""
    (tmp_path / "t.csv").write_text(HEADER + "1,2,3,4,5,6,7\n", "utf-8")
    (tmp_path / "t.tsv").write_text("a b\tc\n", "utf-8")
    (tmp_path / "west.csv").write_bytes("Größe;n\n1;2\n".encode("windows-1252"))
    (tmp_path / "t.txt").write_text("a,b\n")
    (tmp_path / "t.jsonl").write_text('{"name": 1, "Größe": 2}\n\n{"other": 3}\n', "utf-8")
    (tmp_path / "my dict.csv").write_text("land,code\nGermany,DE\n", "utf-8")
    (tmp_path / "long.csv").write_text("x" * 2**20)
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfe\0,b\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "list.jsonl").write_text('["a"]\n"b"\n3\n')
    (tmp_path / "lines.csv").write_text('"two\nlines",b\n1,2\n')
    if hasattr(os, "mkfifo"):  # nobody writes to it, and it is not waited for
        os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path


def offered(folder: Path, *words: str, shell: str = "bash") -> list[str]:
    """Return what is offered in place of the last word, by this process, which is quicker."""
    variables = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        variables["COMP_CWORD"] = words[-1]
    variables["_FUZZYDICT_COMPLETE"] = f"{shell}_complete"
    with chdir(folder):
        done = CliRunner().invoke(main, prog_name="fuzzydict", env=variables)
    assert (done.exit_code, done.stderr) == (0, "")
    if shell == "zsh":
        return done.stdout.splitlines()[1::3]
    return [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], COMMANDS),
        (["loo"], ["lookup"]),
        (["unknown", ""], []),
        (["lookup", "--score-"], ["--score-cutoff"]),
        (["lookup", "--format", "y"], ["yaml"]),
        (["lookup", "t.c"], ["t.c"]),
        (["join", "west.csv", "t.jsonl", "--on", ""], ["Größe"]),
        (["join", "west.csv", "t.jsonl", "--left-on", ""], ["Größe", "n"]),
        (
            ["join", "west.csv", "t.jsonl", "--left-delimiter", ",", "--left-on", ""],
            [r"Größe\\;n"],
        ),
        (["join", "west.csv", "t.jsonl", "--right-on", ""], ["name", "Größe", "other"]),
        (["join", "west.csv", "t.jsonl", "--how", ""], ["left", "inner", "anti"]),
    ],
)
def test_commands_options_and_their_values_are_completed(
    tables: Path, words: list[str], expected: list[str]
) -> None:
    found = offered(tables, "fuzzydict", *words)
    assert found == expected or words == ["unknown", ""]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["t.csv", "--column", "G"], ["Größe"]),
        (["t.csv", "--sure", "0.9", "--column", "g"], ["Größe"]),
        (["t.csv", "--column", "x"], ["x,y"]),
        (["t.csv", "--column", "z"], []),
        (["t.csv", "--column", "First\\ n"], [r"First\\ name"]),
        (["t.csv", "--column", "'First n"], ["First name"]),
        (["t.csv", "--column", '"First n'], ["First name"]),
        (["t.csv", "--column", '"$U'], []),  # a shell would expand it
        (["t.csv", "--column", "'it"], []),
        (["t.csv", "--column", "\\$"], [r"\\$USD"]),
        (["t.csv", "--column", "it"], [r"it\\'s"]),
        (["t.csv", "--column", "back"], [r"back\\\\slash"]),
        (["t.tsv", "--column", ""], [r"a\\ b", "c"]),
        (["west.csv", "--column", ""], ["Größe", "n"]),
        (
            ["west.csv", "--delimiter", "pipe", "--encoding", "latin1", "--column", ""],
            [r"Größe\\;n"],
        ),
        (["t.jsonl", "--column", ""], ["name", "Größe", "other"]),
        (["t.txt", "--table-format", "csv", "--column", ""], ["a", "b"]),
        (["t.csv", "--table-format", "tsv", "--key", "l"], ["land"]),
        (["t.csv", "--column", "x", "--value", ""], ["land", "code"]),
        (["lines.csv", "--column", ""], ["b"]),
        *(
            ([name, "--column", ""], [])
            for name in (
                *("long.csv", "broken.csv", "broken.parquet", "list.jsonl", "none.csv", "."),
                "pipe.csv",
            )
        ),
        (["--column", ""], []),
    ],
)
def test_names_of_columns_are_read_from_the_file(
    tables: Path, words: list[str], expected: list[str]
) -> None:
    assert offered(tables, "fuzzydict", "map", "my\\ dict.csv", *words) == expected


def test_other_shells_quote_names_themselves(tables: Path) -> None:
    words = ("fuzzydict", "map", "d.json", "t.csv")
    for shell in ("zsh", "fish"):
        first = offered(tables, *words, "--column", "First", shell=shell)
        assert first == ["First name", "First date"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["map", "d", "t.xlsx", "--column", ""], ["Größe", "2024", "2024-02-29", "5"]),
        (["map", "d", "t.xlsx", "--sheet", "'Zweites Blatt'", "--column", ""], ["Name"]),
        (["map", "d", "t.xlsx", "--sheet", "zw"], [r"Zweites\\ Blatt"]),
        (["map", "t.xlsx", "t.csv", "--dict-sheet", "Sheet", "--key", "g"], ["Größe"]),
        (["lookup", "t.xlsx", "--sheet", "'Z"], ["Zweites Blatt"]),
        (["lookup", "t.xlsx", "--sheet", "none", "--value", ""], []),
        (["lookup", "t.csv", "--sheet", ""], []),
    ],
)
def test_columns_and_sheets_of_a_workbook_are_completed(
    tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need the extra 'excel'")
    book = openpyxl.Workbook()
    book.active.append(["Größe", None, 2024, date(2024, 2, 29), 5.0])
    book.active.append([1, 2, 3])
    book.create_sheet("Zweites Blatt").append(["Name"])
    book.save(tmp_path / "t.xlsx")
    assert offered(tmp_path, "fuzzydict", *words) == expected


@posix
@pytest.mark.slow("it starts a process for each completion")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_once_the_line_of_its_page_is_run(tables: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    lines = page.read_text("utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith('eval "$(') and "bash" in line)
    replies = {
        "loo": ["lookup"],
        "map d.json t.csv --column F": [r"First\ name", r"First\ date"],
        "map d.json t.csv --column \\'First\\ n": ["First name"],
        "map d.json t.csv --column ba": [r"back\\slash"],
    }
    program = f"""{line.split("#")[0]}
    asked() {{
        COMP_WORDS=(fuzzydict "$@"); COMP_CWORD=$# COMPREPLY=()
        $(complete -p fuzzydict | sed 's/.*-F \\([^ ]*\\).*/\\1/') fuzzydict
        printf '%s|' "${{COMPREPLY[@]}}"; echo
    }}
    """
    path = f"{Path(SCRIPT).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", program + "\n".join(f"asked {words}" for words in replies)],
        env={**os.environ, "PATH": path},
        cwd=tables,
        capture_output=True,
        timeout=60,
    )
    told = [reply.rstrip("|").split("|") for reply in done.stdout.decode().splitlines()]
    assert (told, done.stderr) == (list(replies.values()), b"")
