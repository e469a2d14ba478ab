"""What vectors learn from, but for excluded pairs; and tables that are made of lists."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import numpy as np
import pytest

from fuzzydict import WordVectors
from fuzzydict._arrays import Array, units
from tools import asked, english, tables, technical
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


class Teacher(english.Teacher):
    """Knows 20 words."""

    def __init__(self) -> None:
        self.words = [first + second for first in "bdfgk" for second in ("ab", "eck", "ill", "ox")]

    def encode(self, texts: Sequence[str]) -> Array:
        vectors = np.random.default_rng(0).standard_normal((20, 8)).astype(np.float32)
        heard = np.array([[word in text.split() for word in self.words] for text in texts])
        return units(heard @ vectors)


def test_a_word_lies_where_its_meaning_does_and_the_others_stay() -> None:
    teacher = Teacher()
    to_rows = np.random.default_rng(1).standard_normal((8, 4)).astype(np.float32)
    rows = teacher.encode(teacher.words) @ to_rows
    before = WordVectors(teacher.words, rows, range(1000, 980, -1))
    after = technical.extended(before, {"json": "dill", "bab": "gox"}, teacher)
    assert after.words == [*teacher.words, "json"]
    assert np.array_equal(after.encode(teacher.words), before.encode(teacher.words))
    near = units(after.encode(teacher.words)) @ units(after.encode(["json"]))[0]
    assert teacher.words[near.argmax()] == "dill"
    assert near.max() > 0.95
    assert technical.extended(before, {"bab": "gox"}, teacher) is before


def test_words_learn_what_is_asked_for_and_the_others_stay() -> None:
    rows = np.random.default_rng(0).standard_normal((20, 8)).astype(np.float32)
    before = WordVectors(Teacher().words, rows, range(1000, 980, -1))
    keys = ["bab", "beck dill", "dox"]
    right = [("gab fill", ["dox"]), ("gox", ["bab", "no key"]), ("kill", ["bab"]), ("keck", [])]
    synsets = [Synset("a", ("fab", "fox"), ""), Synset("b", ("bill", "kab"), "")]
    excluded = {frozenset(("kill", "bab")), frozenset(("bill", "kab")), frozenset(("kox", "gill"))}
    lines, recipe = [["dab", "deck"], ["kox", "gill"]], asked.Recipe(passes=200)
    after = asked.taught(before, [(keys, right)], lines, synsets, excluded, recipe)

    def nearest(table: WordVectors, text: str, of: list[str]) -> str:
        return of[int((units(table.encode(of)) @ units(table.encode([text]))[0]).argmax())]

    assert (nearest(after, "gab fill", keys), nearest(after, "gox", keys)) == ("dox", "bab")
    rest = ["kill", "keck", "bill", "kab", "kox", "gill"]
    assert np.allclose(after.encode(rest), before.encode(rest), atol=1e-5)


@pytest.mark.slow("it reads all lists, for ten seconds")
def test_the_sorted_tables_are_made_of_the_lists() -> None:
    for name, text in tables.tables().items():
        assert (resources.files("fuzzydict.data") / f"{name}.sorted").read_text("utf-8") == text
