"""Pairs from WordNet, and Brown's vectors with what such pairs teach."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzydict import Brown, WordVectors
from fuzzydict._arrays import Array, units
from tools import brown
from tools.brown import Recipe, baked, reduced
from tools.wordnet import Pair, Synset, pairs_in, related_pairs


def test_the_pairs_are_of_known_words_each_once_as_its_best_kind() -> None:
    related = (("broader", "vehicle.n.01"), ("see also", "gone.n.01"))
    derived = (("car", "drive.v.01", "drive"),)
    synsets = [
        Synset("car.n.01", ("car", "Machine"), "a motor vehicle", related, derived),
        Synset("vehicle.n.01", ("motor_vehicle",), "a thing that moves"),
        Synset("drive.v.01", ("drive",), "", related=(("similar", "car.n.01"),)),
    ]
    known = {"car", "machine", "motor", "vehicle", "thing", "moves", "drive", "a"}
    expected = {
        Pair("car", "machine", "synonym"),
        Pair("car", "motor vehicle", "broader"),
        Pair("machine", "motor vehicle", "broader"),
        Pair("car", "a motor vehicle", "definition"),
        Pair("machine", "a motor vehicle", "definition"),
        Pair("motor vehicle", "a thing moves", "definition"),
        Pair("drive", "car", "similar"),  # "derived" as well, which says less
        Pair("drive", "machine", "similar"),
    }
    assert sorted(related_pairs(synsets, known)) == sorted(expected)
    left = related_pairs(synsets, known, excluded={frozenset(("car", "machine"))})
    assert sorted(left) == sorted(expected - {Pair("car", "machine", "synonym")})


# ---- vectors from pairs --------------------------------------------------------------------

LIGHT = Recipe(buckets=256, size=8, steps=120, batch=16, kept_words=20, learning_rate=1e-2)
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ab", "eck", "oll", "urn")]
PAIRS = [Pair(WORDS[i], WORDS[i + 1], "synonym") for i in range(0, 40, 2)]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 12)))


def cosines(rows: Array) -> Array:
    unit = units(rows)
    return np.asarray(unit @ unit.T)


def share_found(alike: Array) -> float:
    """Return how often the second of a pair is the nearest to the first."""
    alike = alike - 2 * np.eye(len(alike))
    found = [WORDS[alike[WORDS.index(a)].argmax()] == b for a, b, _ in PAIRS]
    return float(np.mean(found))


def test_pairs_come_together_and_stay_so_on_few_axes() -> None:
    assert share_found(cosines(VECTORS.vectors)) < 0.3
    rows = baked(VECTORS, PAIRS, LIGHT)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert share_found(cosines(rows)) > 0.8
    made = reduced(dict.fromkeys(WORDS, 1), rows, 12)
    assert (made.size, made.words) == (12, WORDS)
    assert np.ptp(np.linalg.norm(made.vectors, axis=1)) < 1e-5
    assert share_found(cosines(made.vectors)) > 0.7


def test_the_command_makes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["1961", *WORDS]  # a number, which means nothing alike
    synsets = [Synset(f"{i}", tuple(WORDS[i : i + 2]), "") for i in range(0, 8, 2)]
    monkeypatch.setattr(brown, "wordnet_synsets", lambda: synsets)
    monkeypatch.setattr(brown, "Recipe", lambda: replace(LIGHT, steps=2))
    vectors = np.random.default_rng(0).standard_normal((len(words), 12))
    WordVectors(words, vectors).save(tmp_path / "trained")
    asked = {"keys": [WORDS[1]], "queries": [{"query": WORDS[0], "accept": [WORDS[1]]}]}
    (tmp_path / "set.json").write_text(json.dumps({"dictionaries": [asked]}), "utf-8")
    given = ["--trained", tmp_path / "trained", "--exclude", tmp_path, "--size", 5]
    brown.main([*map(str, given), "-o", str(tmp_path / "made")])
    made = WordVectors.load(tmp_path / "made")
    assert (made.size, made.words) == (5, WORDS)
    assert pairs_in([tmp_path]) == {frozenset(WORDS[:2])}


def test_what_ships_brings_synonyms_together() -> None:
    words = ["physician", "doctor", "hospital", "glad", "happy", "sad", "rock", "stone", "house"]
    alike = cosines(Brown().encode(words))
    for a, b in (("physician", "doctor"), ("glad", "happy"), ("rock", "stone")):
        others = [word for word in words if word != a]
        assert max(others, key=lambda word: alike[words.index(a), words.index(word)]) == b
