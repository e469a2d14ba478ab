"""The demo of the decoder: its dates, its script, its picture, and what it learns."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from fuzzydict.cli.demos import decoder
from fuzzydict.cli.demos._dates import date_examples
from fuzzydict.translation import EncoderDecoder


def test_no_date_that_is_asked_was_learned() -> None:
    learn, ask = date_examples(5000, 500)
    assert len(learn) == 5000
    assert len({iso for _, iso in ask}) == 500
    assert not {iso for _, iso in ask} & {iso for _, iso in learn}
    assert not {text for text, _ in ask} & {text for text, _ in learn}


def test_dates_are_written_in_many_ways_and_each_means_one_date() -> None:
    learn, _ = date_examples(20_000, 0, seed=1)
    meanings: dict[str, set[str]] = {}
    for text, iso in learn:
        assert date(1900, 1, 1) <= date.fromisoformat(iso) < date(2100, 1, 1)
        assert iso[:4] in text
        meanings.setdefault(text.lower().replace(".", "·", 2), set()).add(iso)
    assert all(len(isos) == 1 for isos in meanings.values())
    texts = {text for text, _ in learn}
    for part in ("1st", "22nd", "23rd", "12th", "twenty-first", "Tuesday", "SEP ", "/", "-jan-"):
        assert any(part in text for text in texts), part
    assert not any(part in text for part in ("11st", "12nd", "13rd") for text in texts)


def test_a_few_steps_lower_the_loss() -> None:
    learn, _ = date_examples(1000, 10)
    inputs, outputs = zip(*learn, strict=True)
    model = EncoderDecoder(state_size=16, attention_size=16).fit(inputs, outputs, steps=40)
    assert model.losses_[-1] < 0.75 * model.losses_[0]


def test_the_script_runs_and_draws(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the picture needs matplotlib")
    picture = tmp_path / "alignment.png"
    result = CliRunner().invoke(decoder.main, ["--steps", "2", "--save", str(picture)])
    assert result.exit_code == 0, result.output
    assert "of 1000 dates never seen are right" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    pyplot.close("all")


@pytest.mark.skipif(
    os.environ.get("FUZZYDICT_SLOW") != "1",
    reason="a training of about a minute; set FUZZYDICT_SLOW=1 to run it",
)
def test_dates_never_seen_are_read() -> None:
    learn, ask = date_examples(30_000, 1000, seed=0)
    model = EncoderDecoder(seed=0).fit(*zip(*learn, strict=True))
    answers = model.predict([text for text, _ in ask])
    right = sum(answer == iso for answer, (_, iso) in zip(answers, ask, strict=True))
    assert right >= 0.95 * len(ask)
