"""Texts made to be slow: what of each is compared is bounded, and all kinds are answered."""

from __future__ import annotations

import random

import pytest

from fuzzydict import FuzzyDict
from tests.benchmarks import hostile_texts
from tests.benchmarks.hostile_texts import KINDS, measure, texts

SIZE = 20_000  # bytes


@pytest.mark.slow("it measures time")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_answered_in_time(kind: str) -> None:
    row = measure(kind, SIZE)
    assert row.keys == len(set(texts(kind, SIZE))) > 1
    # Ten times what it takes: a cost that grows with the square of a text would be beyond it.
    assert max(row.as_keys, row.as_query, row.as_list) < 20


def test_a_text_in_another_language_is_found_by_its_letters() -> None:
    chance = random.Random(0)
    keys = texts("twenty words never seen", SIZE)
    for scorer in (None, "spelling"):
        d = FuzzyDict(dict.fromkeys(keys, 0), scorer=scorer)
        for key in chance.sample(keys, 5):
            words = key.split(" ")
            words[chance.randrange(16)] += "x"
            assert d.nearest(" ".join(words)).key == key


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    hostile_texts.main(["--bytes", "2000", "--only", "marks", "humps"])
    assert [line[:5] for line in capsys.readouterr().out.splitlines()[3:]] == ["marks", "humps"]
