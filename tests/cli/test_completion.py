"""How shells complete the ``fuzzydict`` command."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.commands import COMMANDS, SCRIPT, main, posix


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], COMMANDS),
        (["loo"], ["lookup"]),
        (["demo", "col"], ["column", "colors"]),
        (["unknown", ""], []),
        (["lookup", "--score-"], ["--score-cutoff"]),
        (["lookup", "--format", "y"], ["yaml"]),
        (["lookup", "t.c"], ["t.c"]),
        (["join", "t.csv", "t.jsonl", "--how", ""], ["left", "inner", "anti"]),
    ],
)
def test_commands_options_and_their_values_are_completed(
    tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    words = ["fuzzydict", *words]
    variables = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    variables["_FUZZYDICT_COMPLETE"] = "bash_complete"
    with chdir(tmp_path):
        done = CliRunner().invoke(main, prog_name="fuzzydict", env=variables)
    assert (done.exit_code, done.stderr) == (0, "")
    found = [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]
    assert found == expected or "unknown" in words


@posix
@pytest.mark.slow("it starts a process for each completion")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_once_the_line_of_its_page_is_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    lines = page.read_text("utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith('eval "$(') and "bash" in line)
    program = f"""{line.split("#")[0]}
    COMP_WORDS=(fuzzydict loo); COMP_CWORD=1
    $(complete -p fuzzydict | sed 's/.*-F \\([^ ]*\\).*/\\1/') fuzzydict
    echo "${{COMPREPLY[@]}}"
    """
    path = f"{Path(SCRIPT).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", program], env={**os.environ, "PATH": path}, capture_output=True, timeout=60
    )
    assert (done.stdout, done.stderr) == (b"lookup\n", b"")
