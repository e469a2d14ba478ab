"""The measuring commands that the pages name begin, and a query takes few steps."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tests.benchmarks import walk

FOLDER = Path(walk.__file__).parent
COMMANDS = [path.stem for path in FOLDER.glob("*.py") if "def main(" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_begins(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["command", "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"tests.benchmarks.{name}").main()
    assert ended.value.code == 0
    assert "usage: command [-h]" in capsys.readouterr().out


def test_a_walk_is_short() -> None:
    """Where one looks for how a query is answered, there are few files and calls to read."""
    d = walk.dict_of_words()
    for query, calls, files in walk.READS.values():
        found = walk.read(d, query)
        assert found.files[0] == "mapping.py"
        assert 10 < len(found.calls) <= calls, found
        assert len(found.files) <= files, found.files
