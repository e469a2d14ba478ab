"""What cosines to expect of unrelated texts, against a loop; queries at once, and one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from fuzzydict.embedding.base import Embedding, background_of, encode_queries
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.no_vectors import NO_VECTORS
from fuzzydict.embedding.projections import Projections, with_projections
from fuzzydict.text.words import words as words_of
from tests.support.reference import cosine_of


def by_loop(vectors: Any) -> tuple[float, float]:
    """Return mean and spread of the cosines of all pairs, beside two pairs of 0.2 +- 0.1."""
    cosines = [cosine_of(a, b) for a, b in itertools.combinations(vectors, 2)]
    mean = (sum(cosines) + 2 * 0.2) / (len(cosines) + 2)
    squares = sum((cosine - mean) ** 2 for cosine in cosines) + 2 * 0.1**2
    return mean, math.sqrt(squares / (len(cosines) + 2))


@pytest.mark.parametrize("count", range(6))
def test_the_background_is_that_of_a_loop(count: int) -> None:
    vectors = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
    vectors[count // 2 :: 4] = 0  # the vector of a text without words
    assert background_of(vectors) == pytest.approx(by_loop(vectors), rel=1e-5)


def test_of_too_few_texts_what_is_usual_is_expected() -> None:
    for count in (0, 1):
        assert background_of(np.ones((count, 3), np.float32)) == pytest.approx((0.2, 0.1))


def test_many_texts_tell_what_their_embedding_is_like() -> None:
    random = np.random.default_rng(0)
    cone = random.standard_normal((100, 50)) + np.full(50, 3.0)  # all cosines are near 0.9
    mean, spread = background_of(cone.astype(np.float32))
    assert mean == pytest.approx(0.9, abs=0.02)
    assert 0.005 < spread < 0.03


def test_where_all_texts_are_alike_there_still_is_a_spread_to_divide_by() -> None:
    mean, spread = background_of(np.ones((128, 3), np.float32))
    assert mean == pytest.approx(1, abs=1e-3)
    assert spread > 0


# ---- queries ------------------------------------------------------------------------------

QUERIES = [
    "color",
    "top speed",
    "colour",
    "Colour  scheem",
    "Zoë",
    "?!",
    "1961",
    "the the",
    "speed",
]
VECTORS = {"color": [3.0, 4.0], "speed": [0.5, -2.0], "Zoë": [1.0, 1.0], "Top_Speed": [2.0, 0.0]}
SWAPPED = Projections([[0.0, 2.0], [1.0, 0.0]], np.eye(2))
EMBEDDINGS = [
    with_projections(as_embedding(None), None),
    with_projections(as_embedding(None), Projections()),
    with_projections(as_embedding(VECTORS), SWAPPED),
    as_embedding(lambda texts: [[len(text), 1.0] for text in texts]),
    NO_VECTORS,
]


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("at_once", [1, 2, len(QUERIES)])
def test_queries_have_the_vectors_of_texts_and_words(embedding: Embedding, at_once: int) -> None:
    for start in range(0, len(QUERIES), at_once):
        asked = QUERIES[start : start + at_once]
        split = [words_of(text) for text in asked]
        found = encode_queries(embedding, asked, split)
        vectors, trust = embedding.encode_with_trust(asked, of_queries=True)
        np.testing.assert_allclose(found.vectors, vectors, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.trust, trust, rtol=1e-6)
        for words, features in zip(split, found.words, strict=True):
            each = embedding.word_features(words, of_query=True)
            for name, expected in each._asdict().items():
                np.testing.assert_allclose(getattr(features, name), expected, rtol=1e-6)
            for word, unit, length in zip(words, features.units, features.lengths, strict=True):
                (vector,), _ = embedding.encode_with_trust([word], of_queries=True)
                if len(unit):
                    np.testing.assert_allclose(unit * length, vector, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda e: type(e).__name__)
def test_a_query_alone_has_the_vector_that_it_has_among_others(embedding: Embedding) -> None:
    many = [*QUERIES, *(f"{a} {b} of speed" for a in QUERIES for b in QUERIES)]
    vectors, trust = embedding.encode_with_trust(many, of_queries=True)
    for text, vector, trusted in zip(many, vectors, trust.tolist(), strict=True):
        (alone,), (trusted_alone,) = embedding.encode_with_trust([text], of_queries=True)
        np.testing.assert_allclose(alone, vector, rtol=1e-5, atol=1e-6)
        assert trusted_alone == pytest.approx(trusted, rel=1e-5)


def test_vectors_that_are_known_are_not_computed_again() -> None:
    known = np.ones((2, 2), np.float32)
    found = encode_queries(as_embedding(VECTORS), ["color", "speed"], vectors=known)
    assert found.vectors is known
    assert not found.words
