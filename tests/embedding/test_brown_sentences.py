"""Attention over the words of real sentences: to themselves, masked, and across two sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fuzzydict import Brown, MissingCorpusError, attention
from fuzzydict.embedding.word_vectors import brown_sentences
from fuzzydict.text.words import words

# Sentences that nltk's Brown starts with, for machines without the corpus.
KNOWN = [
    "The jury further said in term-end presentments that the City Executive Committee deserves "
    "the praise and thanks of the City of Atlanta for the manner in which the election was "
    "conducted",
    "The grand jury commented on a number of other topics",
]


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    try:
        texts = [" ".join(sentence) for sentence in brown_sentences()[1:30:4]]
    except MissingCorpusError:
        texts = KNOWN
    return [words(text.lower()) for text in texts]


def vectors(sentence: list[str]) -> np.ndarray[Any, Any]:
    return Brown().encode(sentence)


def by_loop(
    query: np.ndarray[Any, Any], key: np.ndarray[Any, Any], *, is_causal: bool
) -> np.ndarray[Any, Any]:
    """Attend from each word to each in turn; return the weights."""
    rows = []
    for i, q in enumerate(query):
        seen = [j for j in range(len(key)) if not is_causal or j <= i]
        exps = {j: math.exp(float(q @ key[j]) / math.sqrt(len(q))) for j in seen}
        rows.append([exps.get(j, 0.0) / sum(exps.values()) for j in range(len(key))])
    return np.array(rows)


@pytest.mark.parametrize("is_causal", [False, True])
def test_self_attention_of_a_sentence(sentences: list[list[str]], is_causal: bool) -> None:
    for sentence in sentences:
        x = vectors(sentence)
        output, weights = attention(x, x, x, is_causal=is_causal, need_weights=True)
        expected = by_loop(x, x, is_causal=is_causal)
        np.testing.assert_allclose(weights, expected, atol=1e-5)
        np.testing.assert_allclose(output, expected @ x, atol=1e-4)


def test_a_word_that_comes_twice_attends_to_both_alike(sentences: list[list[str]]) -> None:
    sentence = sentences[0] + sentences[0]
    x = vectors(sentence)
    _, weights = attention(x, x, x, need_weights=True)
    half = len(sentences[0])
    np.testing.assert_allclose(weights[:, :half], weights[:, half:], atol=1e-6)


def test_cross_attention_of_one_sentence_to_another(sentences: list[list[str]]) -> None:
    q, k = vectors(sentences[0]), vectors(sentences[1])
    output, weights = attention(q, k, k, need_weights=True)
    expected = by_loop(q, k, is_causal=False)
    assert weights.shape == (len(q), len(k))
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    np.testing.assert_allclose(output, expected @ k, atol=1e-4)


def test_with_the_cosine_a_word_attends_most_to_itself(sentences: list[list[str]]) -> None:
    sentence = list(dict.fromkeys(sentences[0]))
    x = vectors(sentence)
    _, weights = attention(x, x, x, scorer="cosine", temperature=0.05, need_weights=True)
    assert weights.argmax(axis=1).tolist() == list(range(len(sentence)))
