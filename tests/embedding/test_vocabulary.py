"""Which rows of a vocabulary a text means, how much each counts, and what stands in."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.embedding.vocabulary import FoundWords, StandIns, Vocabulary
from fuzzydict.text.similarity import likeness
from fuzzydict.text.words import words

SMALL = Vocabulary(["the", "color", "New_York", "Zoë", "iPhone", "don't"], [700, 140, 60, 9, 4, 2])


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("color", 1),
        ("New_York", 2),
        ("new_york", 2),
        ("Zoë", 3),
        ("zoe", 3),
        ("iphone", 4),
        ("colour", None),
        ("", None),
    ],
)
def test_a_word_is_found_as_it_is_spelled_or_plain(word: str, row: int | None) -> None:
    assert SMALL.row(word) == row


def test_a_spelling_of_its_own_goes_before_the_plain_form_of_another() -> None:
    both = Vocabulary(["US", "us"], [9, 5])
    assert (both.row("US"), both.row("us")) == (0, 1)
    assert Vocabulary(["Polish", "POLISH"], [9, 5]).row("polish") == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The colour!", ["the", "colour"]),
        ("New York", ["new_york"]),
        ("Zoe\u0308", ["zoe"]),
        ("iPhone", ["iPhone"]),
        ("IPHONE", ["iphone"]),
        ("Don\u2019t", ["don't"]),
        ("topSpeed", ["top", "speed"]),
        ("?!", []),
    ],
)
def test_tokens_of_a_text(text: str, tokens: list[str]) -> None:
    assert SMALL.tokens(text) == tokens


@given(st.text())
def test_any_text_has_tokens_if_and_only_if_it_has_words(text: str) -> None:
    assert bool(SMALL.tokens(text)) == bool(words(text))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The color!", 1),
        ("theColor", 1),
        ("New York", 1),
        ("Zoe", 1),
        ("the colour", 1 / 2),
        ("1961 color colour", 1 / 3),
        ("york", 0),
        ("1961", 0),
        ("?!", 0),
    ],
)
def test_a_text_is_known_as_far_as_its_words_are(text: str, known: float) -> None:
    assert SMALL.known_share(text) == pytest.approx(known)


def test_weights_are_those_of_the_formula() -> None:
    total = 700 + 140 + 60 + 9 + 4 + 2
    for word, count in zip(SMALL.words, SMALL.counts.tolist(), strict=True):
        assert SMALL.weight(word) == pytest.approx(1e-3 / (1e-3 + count / total))


def test_a_word_never_seen_weighs_as_the_rarest() -> None:
    assert SMALL.weight("porsche") == SMALL.weight("don't") > SMALL.weight("color")


def test_frequent_words_hardly_count(brown: WordVectors) -> None:
    weight = brown.vocabulary.weight
    assert weight("of") < 0.05
    assert weight("color") > 0.8
    assert 0.99 < weight("porsche") <= 1


@given(st.lists(st.sampled_from([*SMALL.words, "colour", "zoe", "1961", "hue"]), max_size=9))
def test_words_looked_up_at_once_are_those_looked_up_one_by_one(words: list[str]) -> None:
    vocabulary = SMALL.with_learned(["hue"])
    found = FoundWords(vocabulary, words)
    assert found.rows.tolist() == [-1 if vocabulary.row(w) is None else SMALL.row(w) for w in words]
    assert found.unseen == [word for word in words if vocabulary.row(word) is None]
    assert found.weights.tolist() == [np.float32(vocabulary.weight(word)) for word in words]
    assert found.trust.tolist() == [np.float32(vocabulary.trust(word)) for word in words]


# ---- stand-ins ----------------------------------------------------------------------------


def best_by_loop(vocabulary: Vocabulary, word: str) -> int:
    """Return the row of the likeliest word, with no candidates chosen beforehand."""
    scores = [
        likeness(word, known) + 0.015 * np.log10(count)
        for known, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)
    ]
    return int(np.argmax(scores))


@pytest.mark.parametrize(
    ("unseen", "known"),
    [
        ("colour", "color"),
        ("organise", "organize"),
        ("computre", "computer"),
        ("recieve", "receive"),
        ("definately", "definitely"),
        ("seperate", "separate"),
        ("neighbour", "neighbor"),
        ("goverment", "government"),
    ],
)
def test_the_word_that_was_meant_stands_in(brown: WordVectors, unseen: str, known: str) -> None:
    vocabulary = brown.vocabulary
    assert vocabulary.row(unseen) is None
    found = vocabulary.stand_ins(unseen)
    assert vocabulary.words[found.rows[0]] == known
    assert found.rows[0] == best_by_loop(vocabulary, unseen)
    assert found.likeness == pytest.approx(likeness(unseen, known))
    assert vocabulary.trust(unseen) > 0.7


@pytest.mark.parametrize("unseen", ["colour", "porsche", "xyzzy", "a", "日本語", "911"])
def test_weights_of_stand_ins_sum_to_one_and_fall(brown: WordVectors, unseen: str) -> None:
    rows, weights, alike = brown.vocabulary.stand_ins(unseen)
    assert len(rows) == len(weights) <= 4
    assert len(set(rows.tolist())) == len(rows)
    assert (np.diff(weights) <= 0).all()
    assert weights.sum() == pytest.approx(1 if len(rows) else 0)
    assert 0 <= alike <= 1


def test_nothing_stands_in_for_a_word_that_looks_like_no_other(brown: WordVectors) -> None:
    rows, weights, alike = brown.vocabulary.stand_ins("日本語")
    assert (len(rows), len(weights), alike) == (0, 0, 0)
    assert brown.vocabulary.trust("日本語") == 0


def test_the_more_frequent_of_equally_alike_words_stands_in_first() -> None:
    for counts in ([900, 9], [9, 900]):
        found = Vocabulary(["bat", "cat"], counts).stand_ins("zat")
        assert found.rows[0] == np.argmax(counts)


def test_trust_rises_with_likeness() -> None:
    def trust(alike: float) -> float:
        return StandIns(np.zeros(1, np.intp), np.ones(1, np.float32), alike).trust

    assert [trust(0.0), trust(0.5), trust(0.9), trust(1.0)] == [0, 0, 1, 1]
    assert trust(0.6) == pytest.approx(0.25)
    assert SMALL.trust("the") < SMALL.trust("color") < SMALL.trust("Zoë") == 1


def test_a_vocabulary_is_its_words_and_counts_after_pickling() -> None:
    SMALL.stand_ins("colour")  # what is derived, and remembered, must not be in the way
    copy = pickle.loads(pickle.dumps(SMALL))
    assert copy.words == SMALL.words
    assert copy.counts.tolist() == SMALL.counts.tolist()
    assert copy.row("zoe") == 3
    assert copy.stand_ins("colour").rows.tolist() == SMALL.stand_ins("colour").rows.tolist()


def test_the_list_of_words_may_change_afterwards() -> None:
    given_words = ["red", "blue"]
    vocabulary = Vocabulary(given_words, [2, 1])
    given_words.clear()
    assert vocabulary.words == ["red", "blue"]
    assert len(vocabulary) == 2
