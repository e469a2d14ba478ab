"""Words that are added to a table of words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import Array, units
from tools import technical
from tools.english import Teacher

_WORDS = ["".join(letters) for letters in product("bdfg", "ai", "klmnr")]


class _Teacher(Teacher):
    """Knows 40 words; a text lies where the sum of those is."""

    def __init__(self) -> None:
        rows = np.random.default_rng(0).standard_normal((len(_WORDS), 8)).astype(np.float32)
        self.vectors = dict(zip(_WORDS, rows, strict=True))

    def encode(self, texts: Sequence[str]) -> Array:
        nothing = np.zeros(8, np.float32)
        known = [[self.vectors.get(word, nothing) for word in text.split()] for text in texts]
        sums = [np.sum(rows, axis=0) for rows in known]
        return units(np.array(sums, np.float32))


def _table(teacher: Teacher) -> WordVectors:
    to_rows = np.random.default_rng(1).standard_normal((8, 4)).astype(np.float32)
    return WordVectors(_WORDS, teacher.encode(_WORDS) @ to_rows, range(1000, 960, -1))


def test_a_word_lies_where_its_meaning_does_and_the_others_stay() -> None:
    teacher = _Teacher()
    before = _table(teacher)
    after = technical.extended(before, {"json": "din", "bak": "gir"}, teacher)
    assert after.words == [*_WORDS, "json"]
    assert np.array_equal(after.encode(_WORDS), before.encode(_WORDS))
    near = units(after.encode(_WORDS)) @ units(after.encode(["json"]))[0]
    assert _WORDS[near.argmax()] == "din"
    assert near.max() > 0.95
    assert technical.extended(before, {"bak": "gir"}, teacher) is before


def test_each_word_of_the_list_is_one_word_with_a_meaning() -> None:
    meanings = technical.meanings(technical._WORDS)
    assert meanings["json"].startswith("JavaScript object notation")
    assert all(word.isalnum() and word.islower() for word in meanings)
