"""The made questions: the same for a seed, of every kind, and with right keys that are keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzydict.text.words import plain
from tools import questions as made
from tools.questions import SHARES, excluded, questions

try:
    from nltk.corpus import wordnet

    wordnet.ensure_loaded()
except LookupError:
    pytest.skip("WordNet is not on this machine", allow_module_level=True)


def test_a_seed_gives_the_same_questions() -> None:
    assert list(questions(30, 5)) == list(questions(30, 5))
    assert list(questions(30, 5)) != list(questions(30, 6))
    assert list(questions(30, 5))[:10] == list(questions(10, 5))


@pytest.mark.parametrize("kind", SHARES)
def test_each_kind_asks_for_its_keys_and_for_what_is_not_there(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "SHARES", {kind: 1})
    asked = []
    for one in questions(12, 1):
        assert one.kind == kind
        assert 1 < len(one.keys) == len(set(map(plain, one.keys)))
        for query, right, _ in one.asked:
            assert plain(query)
            assert query not in one.keys
            assert right <= set(one.keys)
        asked += one.asked
    absent = sum(not one.right for one in asked)
    assert 0.03 < absent / len(asked) < 0.8


def test_what_is_excluded_is_not_asked(tmp_path: Path) -> None:
    first = list(questions(40, 2))
    pairs = [(query, *sorted(right)) for one in first for query, right, _ in one.asked if right]
    asked = [{"query": query, "accept": right} for query, *right in pairs]
    file = tmp_path / "asked.json"
    file.write_text(json.dumps({"dictionaries": [{"keys": [], "queries": asked}]}))
    barred = excluded(file)
    for one in questions(40, 2, exclude=barred):
        for query, right, _ in one.asked:
            assert not {(plain(query.lower()), plain(key.lower())) for key in right} & barred
