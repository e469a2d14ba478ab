"""Pairs from WordNet, and a projection learned from pairs."""

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
from fuzzydict.learning.wordnet import (
    Pair,
    Recipe,
    Synset,
    related_pairs,
    retrofit,
    wordnet_projections,
    wordnet_synsets,
)

TINY = [
    Synset(
        "car.n.01",
        ("car", "auto", "motorcar", "Machine"),
        "a motor vehicle",
        related=(("broader", "vehicle.n.01"), ("see also", "gone.n.01")),
        derived=(("auto", "drive.v.01", "drive"),),
    ),
    Synset("vehicle.n.01", ("motor_vehicle",), "a thing that moves"),
    Synset("drive.v.01", ("drive", "motor"), "", related=(("similar", "car.n.01"),)),
]
KNOWN = {"car", "auto", "machine", "motor", "vehicle", "thing", "moves", "drive", "a"}


def texts(pairs: list[Pair]) -> set[frozenset[str]]:
    return {frozenset((pair.first, pair.second)) for pair in pairs}


def test_the_pairs_are_of_known_words_each_once_as_its_best_kind() -> None:
    pairs = related_pairs(TINY, KNOWN)
    assert len(texts(pairs)) == len(pairs)
    found = {frozenset((pair.first, pair.second)): pair.kind for pair in pairs}
    assert found == {
        frozenset(("car", "auto")): "synonym",
        frozenset(("car", "machine")): "synonym",
        frozenset(("auto", "machine")): "synonym",
        frozenset(("drive", "motor")): "synonym",
        frozenset(("car", "motor vehicle")): "broader",
        frozenset(("auto", "motor vehicle")): "broader",
        frozenset(("machine", "motor vehicle")): "broader",
        frozenset(("car", "a motor vehicle")): "definition",
        frozenset(("auto", "a motor vehicle")): "definition",
        frozenset(("machine", "a motor vehicle")): "definition",
        frozenset(("motor vehicle", "a thing moves")): "definition",
        frozenset(("auto", "drive")): "similar",  # "derived" as well, which says less
        frozenset(("car", "drive")): "similar",
        frozenset(("machine", "drive")): "similar",
        frozenset(("car", "motor")): "similar",
        frozenset(("auto", "motor")): "similar",
        frozenset(("machine", "motor")): "similar",
    }


def test_excluded_pairs_are_left_out_whatever_their_kind() -> None:
    excluded = {frozenset(("car", "machine")), frozenset(("auto", "drive"))}
    assert texts(related_pairs(TINY, KNOWN, excluded=excluded)) == (
        texts(related_pairs(TINY, KNOWN)) - excluded
    )


def test_of_a_synset_held_out_nothing_is_known() -> None:
    pairs = related_pairs(TINY, KNOWN, without={"car.n.01"})
    assert texts(pairs) == {
        frozenset(("motor vehicle", "a thing moves")),
        frozenset(("drive", "motor")),
    }


# ---- WordNet itself -----------------------------------------------------------------------


@pytest.mark.skipif("FUZZYDICT_SLOW" not in os.environ, reason="slow; set FUZZYDICT_SLOW=1")
def test_wordnet_is_read() -> None:
    try:
        synsets = wordnet_synsets()
    except MissingCorpusError as error:
        pytest.skip(str(error))
    assert len(synsets) == 117_659
    car = next(synset for synset in synsets if synset.name == "car.n.01")
    assert car.lemmas[:2] == ("car", "auto")
    assert ("broader", "motor_vehicle.n.01") in car.related
    assert {kind for synset in synsets for kind, _ in synset.related} <= {
        "similar",
        "broader",
        "see also",
    }


def test_without_wordnet_one_learns_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(
        "nltk.corpus.wordnet",
        nltk.corpus.util.LazyCorpusLoader("wordnet", nltk.corpus.reader.WordNetCorpusReader, None),
    )
    with pytest.raises(MissingCorpusError, match=r"nltk\.downloader wordnet"):
        wordnet_synsets()


# ---- a projection from pairs ---------------------------------------------------------------

LIGHT = Recipe(buckets=256, size=8, steps=120, batch=16, kept_words=20, learning_rate=1e-2)
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ab", "eck", "oll", "urn")]
PAIRS = [(WORDS[i], WORDS[i + 1]) for i in range(0, 40, 2)]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 12)))


def cosines(projected: Array) -> Array:
    unit = projected / np.linalg.norm(projected, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)


def projected_cosines(subwords: Subwords, vectors: WordVectors) -> Array:
    return cosines(subwords.project(vectors.encode(WORDS), WORDS))


def share_found(alike: Array) -> float:
    """Return how often the second of a pair is the nearest to the first."""
    alike = alike - 2 * np.eye(len(alike))
    found = [WORDS[alike[WORDS.index(a)].argmax()] == b for a, b in PAIRS]
    return float(np.mean(found))


def test_pairs_come_together(vectors: WordVectors) -> None:
    assert share_found(cosines(vectors.vectors)) < 0.3
    assert share_found(projected_cosines(retrofit(vectors, PAIRS, recipe=LIGHT), vectors)) > 0.8


def test_the_rest_is_kept_as_one_asks(vectors: WordVectors) -> None:
    before = cosines(vectors.vectors)
    moved = [
        np.abs(projected_cosines(retrofit(vectors, PAIRS, None, recipe), vectors) - before).mean()
        for recipe in (replace(LIGHT, keep=0.0), replace(LIGHT, keep=20.0))
    ]
    assert moved[1] < moved[0] / 2


def test_pairs_that_weigh_nothing_are_not_learned(vectors: WordVectors) -> None:
    weights = [1.0] * 10 + [0.0] * 10
    some = retrofit(vectors, PAIRS, weights, LIGHT)
    same = retrofit(vectors, PAIRS, weights, LIGHT)
    np.testing.assert_array_equal(some.table, same.table)
    alike = projected_cosines(some, vectors)
    first, second = (
        np.array([[WORDS.index(w) for w in pair] for pair in part])
        for part in (PAIRS[:10], PAIRS[10:])
    )
    assert alike[first[:, 0], first[:, 1]].mean() > alike[second[:, 0], second[:, 1]].mean() + 0.2


def test_other_right_keys_of_a_batch_are_not_pushed_away(vectors: WordVectors) -> None:
    star = [(WORDS[0], word) for word in WORDS[1:6]] * 4  # all right for one, in every batch
    alike = projected_cosines(retrofit(vectors, star, recipe=LIGHT), vectors)
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
