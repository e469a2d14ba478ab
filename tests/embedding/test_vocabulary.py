"""Which rows of a vocabulary a text means, how much each counts, and what stands in."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.embedding import vocabulary as vocabulary_module
from fuzzydict.embedding.vocabulary import (
    FoundWords,
    JoinedVocabulary,
    Mapped,
    Phrases,
    StandIns,
    Vocabulary,
    mapped_arrays,
    phrases_of,
    sums,
)
from fuzzydict.text.similarity import likeness, likenesses
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


PLAIN = st.lists(st.text("abcé ", min_size=1, max_size=5), min_size=1, unique=True)


@given(PLAIN, PLAIN, st.integers(0, 20))
def test_words_in_a_file_are_found_one_by_one_and_all_at_once(
    known: list[str], asked: list[str], many: int
) -> None:
    found = Mapped(**mapped_arrays(known))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "_MANY", many)
        for word in (*known, *asked):
            assert found.row(word) == (known.index(word) if word in known else None)
    assert found.words == [found[row] for row in range(len(found))] == known
    assert found.first(2) == known[:2]


def test_words_of_one_checksum_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zlib.crc32", lambda _: 7)
    found = Mapped(**mapped_arrays(["red", "green", "blue"]))
    rows = list(map(found.row, ["blue", "red", "green", "hue"]))
    assert rows == [2, 0, 1, None]


def test_a_joined_vocabulary_knows_the_words_of_both() -> None:
    new = Vocabulary(["the", "phone", "color"], [600, 300, 100])
    both = JoinedVocabulary(new, SMALL)
    asked = ["the", "phone", "color", "zoe", "iPhone", "colour"]
    rows = both.rows(asked).tolist()
    assert rows == [0, 1, 2, 3 + 3, 3 + 4, -1]
    assert [both.word(row) for row in rows[:-1]] == ["the", "phone", "color", "Zoë", "iPhone"]
    assert both.known_share("phone zoe colour") == 2 / 3
    for word in ("the", "phone", "color"):
        assert both.weight(word) == new.weight(word)
    assert both.weight("iPhone") == SMALL.weight("iPhone")
    found = FoundWords(both, asked)
    np.testing.assert_allclose(found.weights, [both.weight(word) for word in asked], rtol=1e-6)
    np.testing.assert_allclose(found.trust, [both.trust(word) for word in asked], rtol=1e-6)
    assert [both.word(row) for row in both.stand_ins("colour").rows.tolist()] == ["color"]
    assert pickle.loads(pickle.dumps(both)).rows(asked).tolist() == rows


def test_stand_ins_are_looked_for_among_frequent_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_module, "_FREQUENT", 2)
    few = Vocabulary(["the", "color", "colors"], [9, 5, 1])
    assert few.stand_ins("colour").rows.tolist() == [1]
    assert few.stand_ins_of_each(["colour"] * 300).rows[:, 0].tolist() == [1] * 300


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
def test_words_looked_up_at_once_are_those_looked_up_one_by_one(some: list[str]) -> None:
    vocabulary = SMALL.with_learned(["hue"])
    found = FoundWords(vocabulary, some)
    assert found.rows.tolist() == [-1 if vocabulary.row(w) is None else SMALL.row(w) for w in some]
    assert found.unseen == [word for word in some if vocabulary.row(word) is None]
    assert found.weights.tolist() == [np.float32(vocabulary.weight(word)) for word in some]
    assert found.trust.tolist() == [np.float32(vocabulary.trust(word)) for word in some]


# ---- stand-ins ----------------------------------------------------------------------------


def best_of_all(vocabulary: Vocabulary, word: str) -> int:
    """Return the row of the likeliest word, with no candidates chosen beforehand."""
    priors = 0.015 * np.log10(vocabulary.counts)
    return int(np.argmax(likenesses([word], vocabulary.words)[0] + priors))


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
    assert found.rows[0] == best_of_all(vocabulary, unseen)
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
        stand_ins = StandIns(np.zeros(1, np.intp), np.ones(1, np.float32), alike)
        return float(stand_ins.trust)

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


# ---- stand-ins for many words -----------------------------------------------------------------

LIKE_COLOR = Vocabulary(
    ["the", "color", "New_York", "Zoë", "iPhone", "don't", "colors", "cooler", "collar"],
    [700, 140, 60, 9, 9, 9, 9, 9, 9],
)


def assert_same_as_one_by_one(vocabulary: Vocabulary, unseen: list[str]) -> None:
    together = vocabulary.stand_ins_of_each(unseen)
    for word, rows, weights, alike, trust in zip(unseen, *together, together.trust, strict=True):
        one = vocabulary.stand_ins(word)
        assert rows[weights > 0].tolist() == one.rows.tolist()
        np.testing.assert_allclose(weights[weights > 0], one.weights, rtol=1e-6)
        assert alike == pytest.approx(one.likeness)
        assert trust == pytest.approx(one.trust)


@given(st.lists(st.text("colrtheynzx'19é", max_size=8) | st.text(max_size=6), max_size=12))
def test_many_words_have_the_stand_ins_of_each(unseen: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "_REMEMBERED", 0)
        assert_same_as_one_by_one(LIKE_COLOR, unseen)


def test_many_misspelled_and_made_up_words_have_the_stand_ins_of_each(brown: WordVectors) -> None:
    chance = random.Random(0)
    known = chance.sample([word for word in brown.words if word.isalpha()], 200)
    slips = [word[:2] + chance.choice("aeqz") + word[2:] for word in known]
    made_up = ["".join(chance.choices("aeioubcdfgst", k=chance.randint(1, 12))) for _ in range(80)]
    odd = ["日本語", "x9", "1961", "a" * 300, "zz", "tions", "qwzzt"]
    assert_same_as_one_by_one(brown.vocabulary, [*slips, *made_up, *odd])


def test_an_empty_vocabulary_has_no_stand_ins() -> None:
    empty = Vocabulary([], [])
    assert len(empty.stand_ins("color").rows) == 0
    many = empty.stand_ins_of_each(["color", "colour"])
    assert not many.likeness.any()
    assert not many.weights.any()


# ---- texts as lists of words ------------------------------------------------------------------

SPLIT = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=30)
NUMBERS = np.random.default_rng(3).standard_normal((8, 5)).astype(np.float32)
WEIGHTS = np.random.default_rng(4).uniform(0.1, 1, 8).astype(np.float32)


def rows_of(letters: list[str]) -> list[int]:
    return ["abcdefgh".index(letter) for letter in letters]


@given(SPLIT)
def test_means_are_those_of_a_loop(split: list[list[str]]) -> None:
    phrases = Phrases(split)
    rows = rows_of(phrases.words)
    found = phrases.means(NUMBERS[rows], WEIGHTS[rows])
    assert found.shape == (len(split), 5)
    assert found.dtype == np.float32
    for mean, text in zip(found, split, strict=True):
        expected: Any = np.zeros(5)
        if text:
            expected = np.average(NUMBERS[rows_of(text)], axis=0, weights=WEIGHTS[rows_of(text)])
        np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-6)


@given(SPLIT)
def test_a_mean_is_the_same_to_the_bit_whatever_stands_beside_it(split: list[list[str]]) -> None:
    phrases = Phrases(split)
    rows = rows_of(phrases.words)
    together = phrases.means(NUMBERS[rows], WEIGHTS[rows])
    for mean, text in zip(together, split, strict=True):
        alone, other = Phrases([text]), Phrases([text, ["a"]])
        own, others = rows_of(alone.words), rows_of(other.words)
        assert mean.tolist() == alone.means(NUMBERS[own], WEIGHTS[own])[0].tolist()
        assert mean.tolist() == other.means(NUMBERS[others], WEIGHTS[others])[0].tolist()


@given(SPLIT)
def test_all_texts_are_yielded_once_and_few_words_at_a_time(split: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "_DIFFERENT", 5)
        found = list(phrases_of(split))
    assert [text for where, _ in found for text in split[where]] == split
    for where, phrases in found:
        asked = [word for text in split[where] for word in text]
        assert phrases.words == list(dict.fromkeys(asked))
        before_the_last = {word for text in split[where][:-1] for word in text}
        assert len(before_the_last) <= 5


@given(st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=20))
def test_sums_are_those_of_a_loop(lists: list[list[int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for many in (0, 10**9):
            patch.setattr(vocabulary_module, "_MANY_PLACES", many)
            assert_sums_are_those_of_a_loop(lists)


def assert_sums_are_those_of_a_loop(lists: list[list[int]]) -> None:
    places = np.array([place for some in lists for place in some], np.intp)
    found = sums(NUMBERS, places, np.array([len(some) for some in lists], np.intp))
    for total, some in zip(found, lists, strict=True):
        expected = np.zeros(5, np.float32)
        for place in some:
            expected += NUMBERS[place]
        np.testing.assert_array_equal(total, expected)
