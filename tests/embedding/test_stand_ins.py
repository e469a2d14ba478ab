"""What stands in for many words at once, against one word after the other."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.embedding import vocabulary as stand_ins
from fuzzydict.embedding.vocabulary import FoundWords, Spellings, StandInsOfEach, Vocabulary

SMALL = Spellings(
    ["the", "color", "new york", "zoe", "iphone", "don't", "colors", "cooler", "collar"],
    np.array([700, 140, 60, 9, 9, 9, 9, 9, 9]),
)
WORDS = st.text("colrtheynzx'19é", max_size=8) | st.text(max_size=6)


def assert_the_same(spellings: Spellings, words: list[str]) -> None:
    """Assert that for many words, to the bit, the same stands in as for each of them."""
    together, single = spellings.stand_ins_of_each(words), map(spellings.stand_ins, words)
    one_by_one = StandInsOfEach.of(list(single))
    for found, expected in zip(together, one_by_one, strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)
    trust = [spellings.stand_ins(word).trust for word in words]
    np.testing.assert_array_equal(together.trust, trust)


@given(st.lists(WORDS, max_size=12))
def test_for_many_words_the_same_stands_in_as_for_each(words: list[str]) -> None:
    assert_the_same(SMALL, words)


def test_for_slips_and_for_words_made_up_as_well(
    brown: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_ins, "_BLOCK", 64)
    chance = random.Random(0)
    known = chance.sample([word for word in brown.words if word.isalpha()], 100)
    slips = [word[:2] + chance.choice("aeqz") + word[2:] for word in known]
    made_up = ["".join(chance.choices("aeioubcdfgst", k=chance.randint(1, 12))) for _ in range(80)]
    odd = ["日本語", "x9", "1961", "a" * 300, "zz", "tions", "qwzzt"]
    assert_the_same(brown.vocabulary._spellings, [*slips, *made_up, *odd])


def test_many_words_are_compared_together_and_few_are_remembered() -> None:
    vocabulary = Vocabulary(["color", "speed"], [140, 60])
    many = [f"colo{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(stand_ins.FEW + 1)]
    assert len(FoundWords(vocabulary, many).stand_ins.rows) == len(many)
    assert vocabulary.stand_ins.cache_info().currsize == 0
    few = FoundWords(vocabulary, many[:9])
    np.testing.assert_array_equal(
        few.stand_ins.rows, vocabulary._spellings.stand_ins_of_each(many[:9]).rows
    )
    assert vocabulary.stand_ins.cache_info().currsize == 9


def test_nothing_stands_in_where_no_word_is_known() -> None:
    found = Spellings([], np.zeros(0, np.int64)).stand_ins_of_each(["color", "speed"])
    assert not found.likeness.any()
    assert not found.weights.any()
