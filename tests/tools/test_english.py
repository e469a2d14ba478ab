"""The table of English words: its words, its texts, and what it learns from a tiny teacher."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import Array, units
from tools import english, technical
from tools.wordnet import Synset


class _Teacher(english.Teacher):
    """Knows 20 words; of a text it hears some words more than others."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.words = [first + second for first in "bdfgk" for second in ("ab", "eck", "ill", "ox")]
        self._vectors = dict(zip(self.words, random.standard_normal((20, 8)), strict=True))
        self._loudness = dict(zip(self.words, random.uniform(0.1, 3, 20), strict=True))

    def encode(self, texts: Sequence[str]) -> Array:
        heard = {word: self._vectors[word] * self._loudness[word] for word in self.words}
        sums = [sum(heard.get(word, np.zeros(8)) for word in text.split()) for text in texts]
        return units(np.array(sums, np.float32))


def _table(passes: int) -> WordVectors:
    teacher = _Teacher()
    counts = {word: 400.0 / rank for rank, word in enumerate(teacher.words, 1)}
    phrases = [f"{a} {b}" for a, b in combinations(teacher.words, 2)]
    recipe = english.Recipe(size=6, passes=passes, batch=30, learning_rate=0.05, pairs=0.0)
    texts = {"words": teacher.words, "phrases": phrases}
    return english.word_table(counts, texts, teacher, iter(()), recipe)


def test_texts_learn_to_lie_where_the_teacher_puts_them() -> None:
    teacher = _Teacher()
    before, after = _table(0), _table(20)
    assert before.words == after.words == teacher.words
    texts = [f"{a} {b}" for a, b in combinations(teacher.words, 2)]
    mean, axes = english.main_axes(teacher.encode(teacher.words), 6)
    targets = units((teacher.encode(texts) - mean) @ axes)
    at_first, at_last = ((units(t.encode(texts)) * targets).sum(1).mean() for t in (before, after))
    assert at_last > at_first + 0.02
    assert at_last > 0.9


def test_the_table_does_not_learn_from_excluded_pairs() -> None:
    synsets = [Synset("a", ("bab", "beck"), ""), Synset("b", ("dill", "dox"), "")]
    rows = {"bab": 0, "beck": 1, "dill": 2, "dox": 3}
    batches = english.batches_of_pairs(synsets, rows, {frozenset(("dill", "dox"))}, 8)
    for _ in range(5):
        found, counts = next(batches).sums
        assert found.tolist() == [0, 1]
        assert counts.shape == (16, 2)


# ---- words that are added --------------------------------------------------------------------


def test_a_word_lies_where_its_meaning_does_and_the_others_stay() -> None:
    teacher = _Teacher()
    to_rows = np.random.default_rng(1).standard_normal((8, 4)).astype(np.float32)
    rows = teacher.encode(teacher.words) @ to_rows
    before = WordVectors(teacher.words, rows, range(1000, 980, -1))
    after = technical.extended(before, {"json": "dill", "bab": "gox"}, teacher)
    assert after.words == [*teacher.words, "json"]
    assert np.array_equal(after.encode(teacher.words), before.encode(teacher.words))
    near = units(after.encode(teacher.words)) @ units(after.encode(["json"]))[0]
    assert teacher.words[near.argmax()] == "dill"
    assert near.max() > 0.95
    assert technical.extended(before, {"bab": "gox"}, teacher) is before
