"""Projections learned from pairs: what comes together, what stays, and what ships."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzydict import Brown, MissingCorpusError, WordVectors
from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ShapeError
from fuzzydict.learning.wordnet import Recipe, retrofit, wordnet_projections

LIGHT = Recipe(buckets=256, size=8, steps=120, batch=16, kept_words=20, learning_rate=1e-2)
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ab", "eck", "oll", "urn")]
PAIRS = [(WORDS[i], WORDS[i + 1]) for i in range(0, 40, 2)]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 12)))


def cosines(projected: Array) -> Array:
    unit = projected / np.linalg.norm(projected, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)


def seen_through(subwords: Subwords, vectors: WordVectors) -> Array:
    return cosines(subwords.project(vectors.encode(WORDS), WORDS))


def share_found(alike: Array) -> float:
    """Return how often the second of a pair is the nearest to the first."""
    alike = alike - 2 * np.eye(len(alike))
    found = [WORDS[alike[WORDS.index(a)].argmax()] == b for a, b in PAIRS]
    return float(np.mean(found))


def test_pairs_come_together(vectors: WordVectors) -> None:
    assert share_found(cosines(vectors.vectors)) < 0.3
    assert share_found(seen_through(retrofit(vectors, PAIRS, recipe=LIGHT), vectors)) > 0.8


def test_the_rest_is_kept_as_one_asks(vectors: WordVectors) -> None:
    before = cosines(vectors.vectors)
    moved = [
        np.abs(seen_through(retrofit(vectors, PAIRS, None, recipe), vectors) - before).mean()
        for recipe in (replace(LIGHT, keep=0.0), replace(LIGHT, keep=20.0))
    ]
    assert moved[1] < moved[0] / 2


def test_pairs_that_weigh_nothing_are_not_learned(vectors: WordVectors) -> None:
    weights = [1.0] * 10 + [0.0] * 10
    some = retrofit(vectors, PAIRS, weights, LIGHT)
    same = retrofit(vectors, PAIRS, weights, LIGHT)
    np.testing.assert_array_equal(some.table, same.table)
    alike = seen_through(some, vectors)
    first, second = (
        np.array([[WORDS.index(w) for w in pair] for pair in part])
        for part in (PAIRS[:10], PAIRS[10:])
    )
    assert alike[first[:, 0], first[:, 1]].mean() > alike[second[:, 0], second[:, 1]].mean() + 0.2


def test_other_right_keys_of_a_batch_are_not_pushed_away(vectors: WordVectors) -> None:
    star = [(WORDS[0], word) for word in WORDS[1:6]] * 4  # all right for one, in every batch
    alike = seen_through(retrofit(vectors, star, recipe=LIGHT), vectors)
    assert alike[0, 1:6].min() > cosines(vectors.vectors)[0, 1:6].max()


def test_a_word_that_counts_little_in_a_phrase_does_so_here() -> None:
    words = ["of", "light", "speed"]
    vectors = WordVectors(words, np.eye(3), [1_000_000, 10, 10])
    learned = retrofit(vectors, [("speed of light", "light")], recipe=replace(LIGHT, steps=1))
    assert learned.weights.keys() == {"of"}
    assert learned.weights["of"] == pytest.approx(vectors.vocabulary.weight("of"))


def test_progress_and_bad_input(vectors: WordVectors) -> None:
    told: list[tuple[int, int]] = []
    retrofit(vectors, PAIRS, recipe=replace(LIGHT, steps=2), progress=lambda *at: told.append(at))
    assert told == [(1, 2), (2, 2)]
    with pytest.raises(ShapeError, match="got 0 pairs"):
        retrofit(vectors, [])
    with pytest.raises(ShapeError, match="20 pairs and 1 weights"):
        retrofit(vectors, PAIRS, [1.0])


# ---- what ships ---------------------------------------------------------------------------


def test_the_shipped_projections_are_for_the_shipped_vectors() -> None:
    shipped = Projections.shipped("wordnet")
    assert shipped.embedding == Brown().fingerprint()["name"]
    assert shipped.query is shipped.key


def test_the_shipped_projections_bring_synonyms_together() -> None:
    shipped, brown = Projections.shipped("wordnet"), Brown()
    words = ["physician", "doctor", "hospital", "glad", "happy", "sad", "rock", "stone", "house"]
    x = brown.encode(words)
    before, after = cosines(x), cosines(shipped.project_queries(x, words))
    for a, b in (("physician", "doctor"), ("glad", "happy"), ("rock", "stone")):
        i, j = words.index(a), words.index(b)
        others = [k for k in range(len(words)) if k != i]
        assert max(others, key=lambda k: float(after[i, k])) == j
        assert after[i, j] > before[i, j]


@pytest.mark.skipif("FUZZYDICT_SLOW" not in os.environ, reason="slow; set FUZZYDICT_SLOW=1")
def test_what_ships_can_be_made_again(tmp_path: Path) -> None:
    try:
        made = wordnet_projections(Brown())
    except MissingCorpusError as error:
        pytest.skip(str(error))
    made.save(tmp_path / "again.projections")
    assert (tmp_path / "again.projections").stat().st_size < 1e6
    words = Brown().words[200:1200]
    x = Brown().encode(words)
    again, shipped = (
        cosines(p.project_keys(x, words)) for p in (made, Projections.shipped("wordnet"))
    )
    # It may have learned from other pairs, those that retrieval sets ask; and so not the same.
    assert np.corrcoef(again.ravel(), shipped.ravel())[0, 1] > 0.9
