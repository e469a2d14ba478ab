"""The vectors of words never seen: partly those of words that look alike, partly their own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import WordVectors
from fuzzydict.embedding import word_vectors as unseen
from fuzzydict.embedding.vocabulary import FoundWords, Vocabulary
from fuzzydict.embedding.word_vectors import Matrix, Unseen, ngram_vector, ngram_vectors

WORDS = Vocabulary(["color", "organize", "emphasis", "speed"], [9, 5, 3, 2])
KNOWN = np.random.default_rng(2).standard_normal((4, 16)).astype(np.float32)
UNSEEN = Unseen(WORDS, Matrix(KNOWN))


@pytest.mark.parametrize("word", ["colour", "organised", "emphases", "speedy", "xyzzy", "1961"])
def test_a_vector_is_that_of_the_stand_ins_as_far_as_they_are_trusted(word: str) -> None:
    rows, weights, _ = WORDS.stand_ins(word)
    trust = WORDS.stand_ins(word).trust
    lent = sum((w * KNOWN[row] for row, w in zip(rows, weights, strict=True)), np.zeros(16))
    mean = KNOWN.mean(axis=0)
    spread = np.mean([np.linalg.norm(vector - mean) for vector in KNOWN])
    direction = ngram_vector(word, 16)
    own = mean + spread * direction / np.linalg.norm(direction)
    expected = trust * lent + (1 - trust) * own
    np.testing.assert_allclose(UNSEEN.vector(word), expected, rtol=1e-5, atol=1e-6)


def test_words_spelled_alike_that_resemble_no_other_are_near_each_other(brown: WordVectors) -> None:
    a, b, other = brown.encode(["日本語", "日本語日", "ქართული"])
    assert a @ b > a @ other


def test_what_is_remembered_cannot_be_overwritten_and_is_not_pickled() -> None:
    vector = UNSEEN.vector("colour")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1
    again = pickle.loads(pickle.dumps(UNSEEN))
    assert again.vector.cache_info().currsize == 0
    np.testing.assert_array_equal(again.vector("colour"), vector)


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12), st.integers(1, 400))
def test_many_words_have_the_vectors_of_their_ngrams(words: list[str], size: int) -> None:
    each = [ngram_vector(word, size) for word in words]
    np.testing.assert_array_equal(ngram_vectors(words, size), each, strict=True)


def test_many_words_have_the_vectors_that_each_has(
    brown: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["colour", "organised", "xyzzy", "日本語", "x9", "speed", "goverment"]
    found, of_brown = FoundWords(brown.vocabulary, words), brown._unseen
    assert found.unseen == [word for word in words if word != "speed"]
    expected = of_brown.vectors(found)
    monkeypatch.setattr(unseen, "FEW", 0)
    monkeypatch.setattr(unseen, "_BLOCK", 3)
    np.testing.assert_allclose(of_brown.vectors(found), expected, rtol=1e-6, atol=1e-7)
