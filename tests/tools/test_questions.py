"""The made questions: the same for a seed, with right keys that are keys, and no excluded pair."""

from __future__ import annotations

import pytest

from fuzzydict.text.words import plain
from tools.questions import questions

try:
    from nltk.corpus import wordnet

    wordnet.ensure_loaded()
except LookupError:
    pytest.skip("WordNet is not on this machine", allow_module_level=True)


def test_a_seed_gives_the_same_questions_but_for_excluded_ones() -> None:
    first = list(questions(30, 5))
    for one in first:
        assert all(plain(query) and right <= {*one.keys} - {query} for query, right, _ in one.asked)
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
