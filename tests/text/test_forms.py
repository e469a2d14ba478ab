"""Forms of one word are alike, whatever they look like."""

from __future__ import annotations

import pytest

from fuzzydict.text.forms import base_forms, compared, form_likeness, stem


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
