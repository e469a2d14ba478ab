"""The demo of the decoder: its dates, its gradient, what it learns, and what it prints."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fuzzydict._arrays import Array
from fuzzydict.cli.demos import decoder
from tests.support.gradients import check_gradients


def test_the_days_differ_and_are_written_in_every_form() -> None:
    texts, answers = decoder.date_examples(3000, seed=0)
    assert len(texts) == len(set(answers)) == 3000
    for text, answer in zip(texts, answers, strict=True):
        day = date.fromisoformat(answer)
        assert date(1900, 1, 1) <= day <= date(2099, 12, 31)
        assert text in [decoder.written(day, form) for form in decoder.FORMS]
    for part in ("1st", "22nd", "23rd", "12th", "Tuesday", "Sep ", "/", ".", "-Jan-"):
        assert any(part in text for text in texts), part


def test_the_gradient_of_a_step_is_the_slope_of_its_loss() -> None:
    texts, answers = decoder.date_examples(3, seed=1)
    parameters = {
        name: array.astype(np.float64) + 0.01
        for name, array in decoder.new_parameters(seed=0).items()
    }

    def loss(at: Mapping[str, Array]) -> float:
        value: float = decoder.loss_and_gradients(at, texts, answers)[0]
        return value

    _, gradients = decoder.loss_and_gradients(parameters, texts, answers)
    check_gradients(loss, parameters, gradients)


def test_padding_changes_nothing() -> None:
    texts, _ = decoder.date_examples(20, seed=2)
    p = decoder.new_parameters(seed=0)
    together, weights = decoder.write(p, texts)
    for text, answer, row in zip(texts, together, weights, strict=True):
        alone, (own,) = decoder.write(p, [text])
        assert alone == [answer]
        np.testing.assert_allclose(row[:, : len(text)], own, atol=1e-4)
        assert not row[:, len(text) :].any()


def test_a_few_steps_lower_the_loss() -> None:
    texts, answers = decoder.date_examples(500, seed=3)
    before, after = (
        decoder.loss_and_gradients(decoder.learn(texts, answers, steps, 0), texts, answers)[0]
        for steps in (0, 15)
    )
    assert after < 0.75 * before


def test_the_demo_runs_and_draws(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the picture needs matplotlib")
    picture = tmp_path / "alignment.png"
    result = CliRunner().invoke(decoder.main, ["--steps", "2", "--save", str(picture)])
    assert result.exit_code == 0, result.output
    assert "of 1000 unseen dates are right" in result.stdout
    rows = [line for line in result.stdout.splitlines() if line.endswith("|")]
    assert {len(row) for row in rows} == {len(f"  1 |{decoder.EXAMPLE}|")}
    assert len(rows) == len("1998-05-03")
    assert picture.read_bytes().startswith(b"\x89PNG")
    pyplot.close("all")


@pytest.mark.skipif(
    os.environ.get("FUZZYDICT_SLOW") != "1",
    reason="a training of ten seconds; set FUZZYDICT_SLOW=1 to run it",
)
def test_unseen_dates_are_read() -> None:
    result = CliRunner().invoke(decoder.main, [])
    share = re.search(r"([\d.]+)% of 1000 unseen dates are right", result.stdout)
    assert share
    assert float(share[1]) >= 97
    assert "".join(re.findall(r"^  (.) \|", result.stdout, re.M)) == "1998-05-03"
