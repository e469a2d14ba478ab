"""Forms of one word are alike, whatever they look like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.forms import Forms, base_forms, compared, same_form, stem
from tests.support.rules import (
    TELLING_WORDS,
    as_matrix,
    as_pairs,
    asked_of_each,
    form_likeness,
    of_two,
)


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("ladies", "lady"),
        ("boxes", "box"),
        ("children", "child"),
        ("mice", "mouse"),
        ("bought", "buy"),
        ("stopped", "stop"),
        ("hoping", "hope"),
        ("tried", "try"),
        ("driver's", "driver"),
        ("analyses", "analysis"),
    ],
)
def test_a_form_has_its_base(form: str, base: str) -> None:
    assert base in base_forms(form)
    assert form_likeness(form, [base])[0] > 0.9 or form[0] != base[0]
    assert form_likeness(base, [form]) == form_likeness(form, [base])


@pytest.mark.parametrize(
    ("form", "base"), [("highest", "high"), ("bigger", "big"), ("earlier", "early")]
)
def test_a_comparative_has_its_base(form: str, base: str) -> None:
    assert base in compared(form)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("irrigation", "irrigated"),
        ("installation", "installing"),
        ("management", "managing"),
        ("navigator", "navigation"),
        ("investor", "investment"),
    ],
)
def test_words_of_one_stem_are_alike(a: str, b: str) -> None:
    assert 0.5 < form_likeness(a, [b])[0] < 1


@pytest.mark.parametrize(
    ("a", "b"),
    [("station", "state"), ("bus", "bu"), ("class", "clas"), ("bring", "br"), ("red", "r")],
)
def test_short_remains_are_no_stem(a: str, b: str) -> None:
    assert form_likeness(a, [b])[0] == 0


def test_stems_are_long_or_none() -> None:
    assert stem("fertilizer") == stem("fertilized") == "fertil"
    assert stem("thing") == ""


SPELLINGS = [
    *(("colour", "color"), ("neighbourhoods", "neighborhoods"), ("favourite", "favorite")),
    *(("organise", "organize"), ("organising", "organizing"), ("realisation", "realization")),
    *(("analysed", "analyzed"), ("centre", "center"), ("kilometres", "kilometers")),
    *(("catalogue", "catalog"), ("dialogues", "dialogs"), ("licence", "license")),
    *(("anaemia", "anemia"), ("foetus", "fetus"), ("oestrogen", "estrogen")),
    *(("travelled", "traveled"), ("counsellor", "counselor"), ("fuelled", "fueled")),
    *(("fulfil", "fulfill"), ("skilful", "skillful"), ("manoeuvre", "maneuver")),
    *(("grey", "gray"), ("tyres", "tires"), ("cheque", "check"), ("aluminium", "aluminum")),
]


@pytest.mark.parametrize(("british", "american"), SPELLINGS)
def test_british_and_american_spellings_are_one_word(british: str, american: str) -> None:
    assert same_form(british, american)
    assert same_form(american, british)
    assert form_likeness(british, [american])[0] == form_likeness(american, [british])[0] == 1


@pytest.mark.parametrize(("a", "b"), [("colours", "color"), ("organised", "organize")])
def test_forms_of_two_spellings_are_forms_of_one_word(a: str, b: str) -> None:
    assert same_form(a, b)
    assert 0.9 < form_likeness(a, [b])[0] < 1


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *(("four", "for"), ("rise", "rize"), ("wise", "wize"), ("prise", "prize")),
        *(("poet", "pet"), ("shoe", "she"), ("filler", "filer"), ("acre", "acer")),
        *(("timbre", "timber"), ("rogue", "rog"), ("michael", "michel"), ("course", "corse")),
    ],
)
def test_other_words_are_no_spellings(a: str, b: str) -> None:
    assert not same_form(a, b)
    assert form_likeness(a, [b])[0] == 0


SOME = TELLING_WORDS | st.text(max_size=6)


def test_phrases_have_no_forms() -> None:
    assert not form_likeness("top colours", ["top colour", "colour", "colours"]).any()
    assert form_likeness("colours", ["top colour", "colour"])[0] == 0


@given(st.tuples(SOME, SOME), st.lists(SOME))
def test_many_words_are_compared_as_each_is(words: tuple[str, str], others: list[str]) -> None:
    places = of_two(len(others))
    shape = (len(words), places.shape[1])
    found = as_matrix(Forms(others).found(words, places), shape)
    with asked_of_each():
        each = [Forms(others).likeness(*one).tolist() for one in zip(words, places, strict=True)]
    assert found == each
    flat, owners = as_pairs(places)
    of_pairs = [(row, i % shape[1], x) for row, i, x in Forms(others).found(words, flat, owners)]
    assert as_matrix(iter(of_pairs), shape) == each
    found = as_matrix(Forms(others).found(words, places[0]), shape)
    assert found == [Forms(others).likeness(word, places[0]).tolist() for word in words]
