"""The demo of learning: its script tells before and after, and draws the curve."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fuzzydict.cli.demos import performance


def test_the_lesson_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the picture needs matplotlib")
    few = ("performance", "acceleration", "paint")  # enough to run it, and quick
    monkeypatch.setattr(performance, "EXAMPLES", {q: performance.EXAMPLES[q] for q in few})
    picture = tmp_path / "curve.png"
    result = CliRunner().invoke(performance.main, ["--save", str(picture)])
    assert result.exit_code == 0, result.output
    before, after = result.output.split("after: attention of 'performance'")
    assert "kept: " in before
    first = [line.split("  ")[1] for line in after.splitlines()[1:4]]
    assert sorted(first) == sorted(performance.SPORT)
    assert "battry: battery (1.00) -> battery (1.00)" in after
    assert picture.read_bytes().startswith(b"\x89PNG")
    pyplot.close("all")


def test_what_is_asked_at_the_end_was_not_learned_from() -> None:
    assert not set(performance.UNSEEN) & set(performance.EXAMPLES)
    assert not set(performance.UNSEEN) & set(performance.KEYS)
