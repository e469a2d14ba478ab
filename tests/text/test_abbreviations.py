"""Abbreviations: by convention, by rule, and the initials of phrases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.abbreviations import (
    Abbreviations,
    Runs,
    abbreviation_likeness,
    expansions,
)
from tests.support.reference import shortened_of
from tests.support.rules import (
    PHRASES,
    as_matrix,
    as_pairs,
    asked_of_each,
    of_two,
    runs_between,
    runs_of,
    shuffled,
)

WORDS = st.text("aeibct1", min_size=1, max_size=6)
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_it_is_what_the_reference_says(word: str, others: list[str]) -> None:
    found = abbreviation_likeness(word, others)
    for alike, other in zip(found.tolist(), others, strict=True):
        if expansions(word) or expansions(other):  # "bib" might be listed
            continue
        assert alike == pytest.approx(shortened_of(word, other))


@given(TEXTS, TEXTS)
def test_it_is_the_same_both_ways(word: str, other: str) -> None:
    assert abbreviation_likeness(word, [other]) == abbreviation_likeness(other, [word])


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("qty", "quantity"),
        ("lbs", "pound"),
        ("no", "number"),
        ("max", "maximum"),
        ("yrs", "years"),
        ("prod", "production"),
        ("oz", "ounces"),
    ],
)
def test_conventional_abbreviations_are_hardly_less_than_the_word(short: str, long: str) -> None:
    assert abbreviation_likeness(short, [long])[0] > 0.9
    assert abbreviation_likeness(long, [short])[0] > 0.9


def test_a_word_that_may_not_abbreviate_does_so_by_no_rule() -> None:
    allowed = abbreviation_likeness("carp", ["carpet"])
    assert allowed[0] > 0.7
    assert abbreviation_likeness("carp", ["carpet"], lambda _: False)[0] == 0
    assert abbreviation_likeness("carpet", ["carp"], lambda word: word != "carp")[0] == 0
    assert abbreviation_likeness("qty", ["quantity"], lambda _: False)[0] > 0.9


@pytest.mark.parametrize(
    ("initials", "phrase"),
    [
        ("it", "information technology"),
        ("rd", "research and development"),
        ("uk", "united kingdom"),
        ("dob", "date of birth"),
        ("db", "date of birth"),
        ("ceo", "chief executive officer"),
    ],
)
def test_initials_are_found_in_both_directions(initials: str, phrase: str) -> None:
    assert abbreviation_likeness(initials, [phrase])[0] >= 0.7
    assert abbreviation_likeness(phrase, [initials])[0] >= 0.7
    assert abbreviation_likeness(initials, [phrase + " xylophone"])[0] == 0


@pytest.mark.parametrize(
    ("query", "key", "rows", "places"),
    [
        ("e mail address", "email", (0, 2), (0, 1)),
        ("filename", "file name", (0, 1), (0, 2)),
        ("hr manager", "the human resources manager", (0, 1), (1, 3)),
        ("value added tax rate", "vat rate", (0, 3), (0, 1)),
        ("rd budget", "research and development budget", (0, 1), (0, 3)),
    ],
)
def test_runs_of_words_are_found_in_phrases(
    query: str, key: str, rows: tuple[int, int], places: tuple[int, int]
) -> None:
    found = runs_of(query.split(), [["xyz"], key.split()])
    assert found
    assert all((run.rows, run.places) == (slice(*rows), slice(*places)) for run in found)


def test_words_without_a_run_have_none() -> None:
    assert runs_of(["top", "speed"], [["speed"], ["top", "gear"], ["highest", "speed"]]) == []


def test_no_text_has_no_likeness() -> None:
    assert abbreviation_likeness("temp", []).tolist() == []
    assert abbreviation_likeness("temp", ["attempt"]).dtype == np.float32


SOME = PHRASES | TEXTS


@given(st.tuples(SOME, SOME), st.lists(SOME, min_size=1))
def test_many_texts_are_compared_as_each_is(texts: tuple[str, str], others: list[str]) -> None:
    places, kept = of_two(len(others)), Abbreviations(others)
    shape = (len(texts), places.shape[1])
    found = as_matrix(kept.found(texts, places, lambda row, _: row == 0), shape)
    with asked_of_each():
        first = Abbreviations(others).likeness(texts[0], places[0]).tolist()
        second = Abbreviations(others).likeness(texts[1], places[1], lambda _: False).tolist()
    assert found == [first, second]
    flat, owners = as_pairs(places)
    pairs = kept.found(texts, flat, lambda row, _: row == 0, owners)
    assert found == as_matrix(((row, i % shape[1], x) for row, i, x in pairs), shape)
    found = as_matrix(kept.found(texts, places[0], lambda *_: True), shape)
    assert found == [kept.likeness(text, places[0]).tolist() for text in texts]


@given(PHRASES | TEXTS, st.lists(PHRASES | TEXTS, min_size=1))
def test_the_runs_of_many_texts_are_those_of_each(text: str, others: list[str]) -> None:
    places = shuffled(len(others))
    expected = [
        (number, *run)
        for number, place in enumerate(places.tolist())
        for run in runs_between(text.split(), others[place].split())
    ]
    found = [
        (run.key, words_of(run.rows), words_of(run.places), run.likeness)
        for run in Runs(others).of(text.split(), places)
    ]
    assert sorted(found) == sorted(expected)


def words_of(run: slice) -> tuple[int, ...]:
    return tuple(range(run.start, run.stop))


def test_only_the_first_words_of_a_text_are_compared() -> None:
    texts = ["my e mail address"]
    assert Runs(texts).of(["email"], np.array([0]))
    assert Runs(texts, 3).of(["email"], np.array([0]))
    assert Runs(texts, 2).of(["email"], np.array([0])) == []
