"""A word never seen may be another one cut short."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict
from fuzzydict.search import features as comparing
from fuzzydict.text.similarity import abbreviation_likeness
from tests.support.reference import shortened_of

WORDS = st.text("aeibct1", min_size=1, max_size=6)
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_it_is_what_the_reference_says(word: str, others: list[str]) -> None:
    expected = [shortened_of(word, other) for other in others]
    assert abbreviation_likeness(word, others).tolist() == pytest.approx(expected)


COLUMNS = ["customer name", "date of birth", "address", "quantity", "order number", "price"]
COLUMNS += ["country", "postal code", "description", "amount", "manager", "average temperature"]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("addr", "address"),
        ("desc", "description"),
        ("temp", "average temperature"),
        ("prc", "price"),
        ("qty", "quantity"),
        ("amt", "amount"),
        ("mgr", "manager"),
        ("dob", "date of birth"),
        ("cust_nm", "customer name"),
        ("ordNum", "order number"),
        ("avg_temp", "average temperature"),
    ],
)
def test_names_of_columns_are_found_by_their_abbreviations(query: str, key: str) -> None:
    assert FuzzyDict({column: column for column in COLUMNS})[query] == key


@pytest.mark.parametrize("query", ["car", "man", "art", "can of man"])
def test_a_word_that_is_known_abbreviates_none(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["carpet", "manager", "article", "candle of mankind", "caption of manners"]
    found = FuzzyDict(dict.fromkeys(keys)).most_similar(query)
    monkeypatch.setattr(comparing, "abbreviation_likeness", lambda _, others: np.zeros(len(others)))
    assert FuzzyDict(dict.fromkeys(keys)).most_similar(query) == found


@pytest.mark.parametrize(
    ("query", "key"),
    [("902", "90210"), ("1234567", "12345678"), ("a123", "a1234"), ("covid1", "covid19")],
)
def test_a_code_abbreviates_none(query: str, key: str) -> None:
    assert FuzzyDict({key: 1, "banana": 2}).get(query) is None


def test_the_whole_word_comes_before_one_that_it_begins() -> None:
    d = FuzzyDict({"temperance": 1, "temperature": 2, "tempr": 3})
    assert d["Tempr"] == 3
    assert d.most_similar("tempr")[0].key == "tempr"
    assert d["temperat"] == 2
