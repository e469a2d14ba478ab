"""The made questions: the same for a seed, of every kind, and with right keys that are keys."""

from __future__ import annotations

import pytest

from fuzzydict.text.words import plain
from tools import questions as made
from tools.questions import KINDS, questions

try:
    from nltk.corpus import wordnet

    wordnet.ensure_loaded()
except LookupError:
    pytest.skip("WordNet is not on this machine", allow_module_level=True)


def test_a_seed_gives_the_same_questions_but_for_excluded_ones() -> None:
    first = list(questions(30, 5))
    assert list(questions(10, 5)) == first[:10]
    assert list(questions(10, 6)) != first[:10]
    barred = {
        frozenset((plain(asked.query.lower()), plain(key.lower())))
        for one in first
        for asked in one.asked
        for key in asked.right
    }
    for one in questions(30, 5, exclude=barred):
        for query, right, _ in one.asked:
            assert not {frozenset((plain(query.lower()), plain(k.lower()))) for k in right} & barred


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_asks_for_its_keys_and_for_what_is_not_there(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "KINDS", {kind: KINDS[kind]})
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
