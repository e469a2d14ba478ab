"""Files of strangers on the command line: exit code 2 and one line, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fuzzydict.cli import main

FILES = {
    "hexadecimal.toml": "color = 0x" + "f" * 20_000,
    "hexadecimal.yaml": "color: 0x" + "f" * 20_000,
    "parts.toml": "a." * 5_000 + "a = 1",
    "deep.json": '{"a": ' * 100_000,
    "base 60.yaml": "color: !!int 1" + ":1" * 5_000,
    "version.yaml": "%YAML 1.3\n---\ncolor: 1",
    "rows.csv": 'a,"' + "\n" * 1_000_000,
    "twice.jsonl": '{"a": 1, "a": 2}\n',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["lookup", "explain", "attend"])
def test_a_dict_that_is_refused_is_exit_2_and_one_line(
    tmp_path: Path, command: str, name: str
) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], newline="")
    result = CliRunner().invoke(main, [command, str(path), "colour"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {path}: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("second", ["x,y", '"open', "b\0"])
def test_a_table_refused_at_its_first_row_prints_nothing(tmp_path: Path, second: str) -> None:
    (tmp_path / "d.json").write_text('{"color": 1}')
    (tmp_path / "t.csv").write_text(f"c\n{second}\n")
    table = ["map", str(tmp_path / "d.json"), str(tmp_path / "t.csv"), "--column", "c"]
    result = CliRunner().invoke(main, table)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "line 2" in result.stderr
    assert result.stderr.count("\n") == 1
