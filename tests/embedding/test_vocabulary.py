"""Which rows of a vocabulary a text means, how much each counts, and what stands in."""

from __future__ import annotations

import pytest

from fuzzydict import WordVectors
from fuzzydict.embedding.vocabulary import Vocabulary

SMALL = Vocabulary(["the", "color", "New_York", "Zoë", "iPhone", "don't"], [700, 140, 60, 9, 4, 2])


def test_a_word_is_found_as_it_is_spelled_or_plain() -> None:
    rows = {"color": 1, "New_York": 2, "new_york": 2, "Zoë": 3, "zoe": 3, "iphone": 4}
    for word, row in {**rows, "colour": None, "": None}.items():
        assert SMALL.row(word) == row
    both = Vocabulary(["US", "us"], [9, 5])  # a spelling of its own goes before a plain form
    assert (both.row("US"), both.row("us")) == (0, 1)
    assert Vocabulary(["Polish", "POLISH"], [9, 5]).row("polish") == 0


def test_tokens_of_a_text() -> None:
    for text, tokens in {
        "The colour!": ["the", "colour"],
        "New York": ["new_york"],
        "Zoe\u0308": ["zoe"],
        "iPhone": ["iPhone"],
        "IPHONE": ["iphone"],
        "Don\u2019t": ["don't"],
        "topSpeed": ["top", "speed"],
        "?!": [],
    }.items():
        assert SMALL.tokens(text) == tokens


def test_weights_are_those_of_the_formula() -> None:
    total = 700 + 140 + 60 + 9 + 4 + 2
    for word, count in zip(SMALL.words, SMALL.counts.tolist(), strict=True):
        assert SMALL.find(word).weight == pytest.approx(1e-3 / (1e-3 + count / total))
    assert SMALL.find("porsche").weight == SMALL.find("don't").weight
    assert SMALL.find("colour").weight == SMALL.find("don't").weight


def test_the_word_that_was_meant_stands_in(brown: WordVectors) -> None:
    vocabulary = brown.vocabulary
    unseen = "accomodation computre recieve definately seperate goverment smartphnoe"
    known = "accommodation computer receive definitely separate government smartphone"
    for word, meant in zip(unseen.split(), known.split(), strict=True):
        row, _, is_known, trust = vocabulary.find(word)
        assert not is_known
        assert vocabulary.words[row] == meant
        assert 0.8 < trust < 1


def test_the_most_frequent_word_one_slip_away_stands_in() -> None:
    listed = ["stare", "spare", "store", "the"]
    assert Vocabulary(listed, [9, 5, 2, 1]).find("szare").row == 0
    assert Vocabulary(listed[::-1], [9, 5, 2, 1]).find("szare").row == 2


def test_nothing_stands_in_for_codes_short_words_and_words_like_no_other() -> None:
    for slip in ("color1", "colr", "co lor", "colorado", "日本語日本", "", "the1"):
        assert Vocabulary(["the", "color"], [9, 5]).find(slip)[::2] == (-1, False)


def test_a_number_is_known_but_says_nothing() -> None:
    row, _, is_known, trust = Vocabulary(["1961", "the"], [9, 5]).find("1961")
    assert (row, is_known, trust) == (0, True, 0)
    assert Vocabulary(["19610", "the"], [9, 5]).find("19611").row == -1
