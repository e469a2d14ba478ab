"""Texts made to be slow: what of each is compared is bounded, and all kinds are answered."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fuzzydict import Brown, FuzzyDict
from fuzzydict.embedding.vocabulary import _Spellings
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


@pytest.mark.parametrize("kind", ["one word never seen", "eight words never seen"])
def test_what_stands_in_for_up_to_eight_words_of_a_text_is_looked_for(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = texts(kind, SIZE)
    words = {word for key in keys for word in key.split()}
    asked = words_looked_for(monkeypatch, keys)
    assert asked == {word for word in words if Brown().vocabulary.row(word) is None}


def test_of_many_words_never_seen_in_a_text_none_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not words_looked_for(monkeypatch, texts("twenty words never seen", SIZE))


def words_looked_for(monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> set[str]:
    """Return the words for which stand-ins are looked for when keys are embedded."""
    asked = set[str]()
    stand_ins = _Spellings.stand_ins

    def counted(self: Any, words: list[str]) -> Any:
        asked.update(word for word in words if " " not in word)
        return stand_ins(self, words)

    monkeypatch.setattr(_Spellings, "stand_ins", counted)
    Brown().vocabulary._remembered.clear()
    Brown().encode(keys)
    return asked


def test_a_text_in_another_language_is_found_by_its_letters() -> None:
    chance = random.Random(0)
    keys = texts("twenty words never seen", SIZE)
    for scorer in (None, "cosine"):
        d = FuzzyDict(dict.fromkeys(keys, 0), scorer=scorer)
        for key in chance.sample(keys, 5):
            words = key.split(" ")
            words[chance.randrange(20)] += "x"
            assert d.nearest(" ".join(words)).key == key


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    hostile_texts.main(["--bytes", "2000", "--only", "marks", "humps"])
    assert [line[:5] for line in capsys.readouterr().out.splitlines()[3:]] == ["marks", "humps"]
