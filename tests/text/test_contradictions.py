"""Which texts contradict each other, and which only look as if they did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.text.contradictions import Contradictions
from fuzzydict.text.words import plain
from tests.support.rules import PHRASES, asked_of_each, contradictions, of_two


def contradict(a: str, b: str) -> bool:
    (found,) = contradictions(plain(a), [plain(b)])
    return bool(found)


OPPOSED = [
    *(("max", "min"), ("maximum", "min"), ("highest", "lowest"), ("oldest", "young")),
    *(("with milk", "without milk"), ("milk", "without milk"), ("enabled", "disabling")),
    *(("log in", "log out"), ("in stock", "out of stock"), ("not found", "found")),
    *(("paid", "unpaid"), ("smoker", "non-smoker"), ("sugar free", "sugar"), ("wire", "wireless")),
    *(("isn't active", "active"), ("first name", "last name"), ("src ip", "dst ip")),
    *(("match", "mismatch"), ("no smoking", "smoking"), ("ascending", "desc")),
    *(("sugar free gum", "gum with sugar"), ("shipping included", "shipping not included")),
    *(("not for sale", "sale"), ("not for sale", "for sale")),
    *(("monday", "tue"), ("jan 2020", "feb 2020"), ("first floor", "2nd floor")),
    *(("XXS", "XS"), ("M", "large"), ("extra large", "large"), ("vitamin c", "vitamin d")),
    *(("A3", "A4"), ("A5", "B5"), ("room 12b", "room 12c"), ("SKU-99999", "SKU-99998")),
    *(("2023-01-01", "2023-01-02"), ("3.13", "3.12"), ("10.0.0.1", "10.0.0.2")),
    *(("f47ac10b", "f47ac10c"), ("Q1", "Q2"), ("HTTP 404", "HTTP 403"), ("ps4", "ps5")),
    *(("kilowatt", "kilowatt hour"), ("meter", "square meter"), ("metre", "km")),
    *(("mb", "gb"), ("size in kg", "size (g)"), ("km", "km/h"), ("seconds", "milliseconds")),
    *(("weekly rent", "rent per month"), ("hourly wage", "annual wage"), ("daily", "weekly")),
    *(("price per week", "price per month"), ("5 m", "5 km"), ("celsius", "fahrenheit")),
]

COMPATIBLE = [
    *(("max speed", "maximum speed"), ("highest", "max"), ("log in", "sign in")),
    *(("not active", "inactive"), ("unpaid", "not paid"), ("without milk", "milk free")),
    *(("start to end time", "end time"), ("what to do in an emergency", "way out")),
    *(("phone no", "phone"), ("no of rooms", "rooms"), ("no_items", "number of items")),
    *(("unit", "it"), ("uncle", "clear"), ("under", "undo"), ("price", "pricing")),
    *(("mon", "monday"), ("2nd floor", "second floor"), ("XL", "extra large"), ("M", "medium")),
    *(("covid19", "covid 19"), ("covdi19", "covid19"), ("64gb", "64 gb"), ("v2", "version 2")),
    *(("02/01/2023", "2023-01-02"), ("555-1234", "5551234"), ("python 3", "python 3.12")),
    *(("kg", "kilograms"), ("km/h", "kilometres per hour"), ("sq m", "square meters")),
    *(("weight in kg", "weight"), ("weight_kg", "weight in kilograms"), ("min price", "minimum")),
    *(("ipv4", "ip v4"), ("km/h", "kilometres an hour"), ("per cent", "percent")),
    *(("a mail", "mail"), ("e-mail", "email"), ("t-shirt", "shirt"), ("year", "year of birth")),
    *(("hours per week", "weekly hours"), ("rate per day", "daily rate"), ("week", "weekly")),
    *(("hours week", "weekly hours"), ("annual leave", "days of leave"), ("year", "annual")),
    *(("New Year's Day", "New Year"), ("month/day/year", "year")),
    *(("kilowatt hours", "usage (kWh)"), ("2.4 GHz", "2.4 gigahertz"), ("5 kW", "5 kilowatts")),
    *(("Cu pipe", "copper pipe 15mm"), ("cu 15mm", "15mm"), ("cu ft", "cubic feet")),
    *(("beer without alcohol", "alcohol-free beer"), ("free shipping", "shipping")),
    *(("30 day free trial", "30 day trial"), ("is free", "is"), ("with free wifi", "wifi")),
    *(("primary schools", "elementary and secondary schools"), ("strung", "strung or not")),
    *(("nonprofit", "not for profit"), ("profit", "profit per cent")),
]


@pytest.mark.parametrize(("a", "b"), OPPOSED)
def test_what_differs_in_a_telling_way_contradicts(a: str, b: str) -> None:
    assert contradict(a, b)
    assert contradict(b, a)


@pytest.mark.parametrize(("a", "b"), COMPATIBLE)
def test_what_may_mean_the_same_does_not_contradict(a: str, b: str) -> None:
    assert not contradict(a, b)
    assert not contradict(b, a)


TITLE = "jackets tailored, cut and sewn for men and boys, "


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (f"{TITLE} (except fur)", "fur apparel, cut and sewn by contractors of women's clothing"),
        (f"{TITLE} unlined, short", "long trousers of wool, cut and sewn, with lined pockets"),
        ("knitted wool", f"{TITLE} (not knitted or crocheted), of silk"),
    ],
)
def test_what_long_texts_differ_in_among_much_else_does_not_contradict(a: str, b: str) -> None:
    assert not contradict(a, b)
    assert not contradict(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [("with fur", "without fur"), ("lined", "unlined"), ("knitted", "not knitted")],
)
def test_what_long_texts_alone_differ_in_contradicts(a: str, b: str) -> None:
    assert contradict(TITLE + a, TITLE + b)
    assert contradict(TITLE + b, TITLE + a)


SOME = "max min not no or free with without 1 2 3 2023 b5 a5 m l kg gram per hour day daily cu"
TEXTS = st.lists(st.sampled_from(SOME.split()), min_size=1, max_size=4).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_it_is_the_same_both_ways_and_one_by_one(text: str, others: list[str]) -> None:
    found = contradictions(text, others).tolist()
    assert found == [contradictions(other, [text])[0] for other in others]
    assert not contradictions(text, [text])[0]


SEVERAL = PHRASES | st.sampled_from([plain(text) for pair in OPPOSED for text in pair])


@given(st.tuples(SEVERAL, SEVERAL), st.lists(SEVERAL, min_size=1))
def test_many_texts_contradict_as_each_does(texts: tuple[str, str], others: list[str]) -> None:
    places, kept = of_two(len(others)), Contradictions(others)
    found = kept.of_each(texts, places).tolist()
    with asked_of_each():
        each = [Contradictions(others).of(*one) for one in zip(texts, places, strict=True)]
    assert found == [row.tolist() for row in each]
    found = kept.of_each(texts, places[0]).tolist()
    assert found == [kept.of(text, places[0]).tolist() for text in texts]
