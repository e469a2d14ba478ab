"""Pairs from WordNet, and Brown's vectors with what such pairs teach."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import Brown, MissingCorpusError, WordVectors
from fuzzydict._arrays import Array, units
from tools import brown
from tools.brown import Recipe, baked, reduced
from tools.wordnet import Pair, Synset, pairs_in, related_pairs, wordnet_synsets

TINY = [
    Synset(
        "car.n.01",
        ("car", "Machine"),
        "a motor vehicle",
        related=(("broader", "vehicle.n.01"), ("see also", "gone.n.01")),
        derived=(("car", "drive.v.01", "drive"),),
    ),
    Synset("vehicle.n.01", ("motor_vehicle",), "a thing that moves"),
    Synset("drive.v.01", ("drive",), "", related=(("similar", "car.n.01"),)),
]
KNOWN = {"car", "machine", "motor", "vehicle", "thing", "moves", "drive", "a"}


def kinds(**options: Any) -> dict[frozenset[str], str]:
    pairs = related_pairs(TINY, KNOWN, **options)
    found = {frozenset((pair.first, pair.second)): pair.kind for pair in pairs}
    assert len(found) == len(pairs)
    return found


def test_the_pairs_are_of_known_words_each_once_as_its_best_kind() -> None:
    every = {
        frozenset(("car", "machine")): "synonym",
        frozenset(("car", "motor vehicle")): "broader",
        frozenset(("machine", "motor vehicle")): "broader",
        frozenset(("car", "a motor vehicle")): "definition",
        frozenset(("machine", "a motor vehicle")): "definition",
        frozenset(("motor vehicle", "a thing moves")): "definition",
        frozenset(("car", "drive")): "similar",  # "derived" as well, which says less
        frozenset(("machine", "drive")): "similar",
    }
    assert kinds() == every
    excluded = {frozenset(("car", "machine")), frozenset(("car", "drive"))}
    assert kinds(excluded=excluded).keys() == every.keys() - excluded
    rest = frozenset(("motor vehicle", "a thing moves"))
    assert kinds(without={"car.n.01"}).keys() == {rest}


@pytest.mark.slow("it reads all of WordNet")
def test_wordnet_is_read() -> None:
    try:
        synsets = wordnet_synsets()
    except MissingCorpusError as error:
        pytest.skip(str(error))
    assert len(synsets) == 117_659
    car = next(synset for synset in synsets if synset.name == "car.n.01")
    assert car.lemmas[:2] == ("car", "auto")
    assert ("broader", "motor_vehicle.n.01") in car.related


# ---- vectors from pairs --------------------------------------------------------------------

LIGHT = Recipe(buckets=256, size=8, steps=120, batch=16, kept_words=20, learning_rate=1e-2)
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ab", "eck", "oll", "urn")]
PAIRS = [Pair(WORDS[i], WORDS[i + 1], "synonym") for i in range(0, 40, 2)]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 12)))


def cosines(rows: Array) -> Array:
    unit = units(rows)
    return np.asarray(unit @ unit.T)


def share_found(alike: Array) -> float:
    """Return how often the second of a pair is the nearest to the first."""
    alike = alike - 2 * np.eye(len(alike))
    found = [WORDS[alike[WORDS.index(a)].argmax()] == b for a, b, _ in PAIRS]
    return float(np.mean(found))


def test_pairs_come_together_and_stay_so_on_few_axes(vectors: WordVectors) -> None:
    assert share_found(cosines(vectors.vectors)) < 0.3
    rows = baked(vectors, PAIRS, LIGHT)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert share_found(cosines(rows)) > 0.8
    made = reduced(dict.fromkeys(WORDS, 1), rows, 12)
    assert (made.size, made.words) == (12, WORDS)
    assert np.ptp(np.linalg.norm(made.vectors, axis=1)) < 1e-5
    assert share_found(cosines(made.vectors)) > 0.7


def test_the_rest_is_kept_as_one_asks(vectors: WordVectors) -> None:
    before = cosines(vectors.vectors)
    moved = [
        np.abs(cosines(baked(vectors, PAIRS, recipe)) - before).mean()
        for recipe in (replace(LIGHT, keep=0.0), replace(LIGHT, keep=20.0))
    ]
    assert moved[1] < moved[0] / 2


def test_other_right_keys_of_a_batch_are_not_pushed_away(vectors: WordVectors) -> None:
    star = [Pair(WORDS[0], word, "synonym") for word in WORDS[1:6]] * 4  # all right for one
    alike = cosines(baked(vectors, star, LIGHT))
    assert alike[0, 1:6].min() > cosines(vectors.vectors)[0, 1:6].max()


def test_numbers_are_left_out() -> None:
    made = reduced({"the": 9, "1961": 5, "1st": 2}, np.eye(3, dtype=np.float32), 2)
    assert made.words == ["the", "1st"]
    assert made.counts.tolist() == [9, 2]


def test_the_command_makes_a_file(
    vectors: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synsets = [Synset(f"{i}", tuple(WORDS[i : i + 2]), "") for i in range(0, 8, 2)]
    monkeypatch.setattr(brown, "wordnet_synsets", lambda: synsets)
    monkeypatch.setattr(brown, "Recipe", lambda: replace(LIGHT, steps=2))
    vectors.save(tmp_path / "trained")
    asked = {"keys": [WORDS[1]], "queries": [{"query": WORDS[0], "accept": [WORDS[1]]}]}
    (tmp_path / "set.json").write_text(json.dumps({"dictionaries": [asked]}), "utf-8")
    given = ["--trained", tmp_path / "trained", "--exclude", tmp_path, "--size", 5]
    brown.main([*map(str, given), "-o", str(tmp_path / "made")])
    assert WordVectors.load(tmp_path / "made").size == 5
    assert pairs_in([tmp_path]) == {frozenset(WORDS[:2])}


def test_what_ships_brings_synonyms_together() -> None:
    words = ["physician", "doctor", "hospital", "glad", "happy", "sad", "rock", "stone", "house"]
    alike = cosines(Brown().encode(words))
    for a, b in (("physician", "doctor"), ("glad", "happy"), ("rock", "stone")):
        others = [word for word in words if word != a]
        assert max(others, key=lambda word: alike[words.index(a), words.index(word)]) == b
