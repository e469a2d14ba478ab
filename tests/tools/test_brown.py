"""Pairs from WordNet, and Brown's vectors with what such pairs teach."""

from __future__ import annotations

import numpy as np

from fuzzydict import WordVectors
from fuzzydict._arrays import Array, units
from tools.brown import Recipe, baked, reduced
from tools.wordnet import Pair, Synset, related_pairs


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
