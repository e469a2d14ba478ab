"""How shells complete the ``fuzzydict`` command."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_cli import COMMANDS, SCRIPT, posix, run


def completed(line: str, folder: Path) -> list[str]:
    words = line.split(" ")
    variables = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_FUZZYDICT_COMPLETE": "bash_complete",
    }
    done = run(cwd=folder, env={**os.environ, **variables})
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().split()


def test_commands_options_and_their_values_are_completed(tmp_path: Path) -> None:
    assert completed("fuzzydict ", tmp_path) == [f"plain,{name}" for name in COMMANDS]
    assert completed("fuzzydict loo", tmp_path) == ["plain,lookup"]
    assert completed("fuzzydict lookup --cut", tmp_path) == ["plain,--cutoff"]
    assert completed("fuzzydict lookup --format y", tmp_path) == ["plain,yaml"]
    assert completed("fuzzydict lookup da", tmp_path) == ["file,da"]
    completed("fuzzydict unknown ", tmp_path)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_can_read(tmp_path: Path, shell: str) -> None:
    script = run(env={**os.environ, "_FUZZYDICT_COMPLETE": f"{shell}_source"})
    assert (script.returncode, script.stderr) == (0, b"")
    assert b"_FUZZYDICT_COMPLETE=" + shell.encode() + b"_complete" in script.stdout
    path = tmp_path / "script"
    path.write_bytes(script.stdout)
    if shutil.which(shell):
        read = subprocess.run([shell, "-n", path], capture_output=True, timeout=60)
        assert (read.returncode, read.stderr) == (0, b"")
    else:
        print(f"{shell} is not installed here, so that its script is not read by it")


@posix
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_once_the_line_of_its_page_is_run(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    (line,) = {
        line
        for line in page.read_text("utf-8").splitlines()
        if line.startswith('eval "$(') and "bash" in line
    }
    program = f"""{line.split("#")[0]}
    COMP_WORDS=(fuzzydict loo); COMP_CWORD=1; COMP_LINE="fuzzydict loo"; COMP_POINT=13
    $(complete -p fuzzydict | sed 's/.*-F \\([^ ]*\\).*/\\1/') fuzzydict loo fuzzydict
    echo "${{COMPREPLY[@]}}"
    """
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", program],
        env={**os.environ, "PATH": path},
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (b"lookup\n", b"")
