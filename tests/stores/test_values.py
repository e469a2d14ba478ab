"""Keys and values that a store can hold, and those that it refuses."""

from __future__ import annotations

import datetime
import enum
import json
from collections import OrderedDict, UserDict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, FuzzyDict
from fuzzydict.stores.values import as_json, as_key, is_storable


class Color(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2, [3])), [1, [2, [3]]]),
        (np.array([[1.5, 2], [3, 4]], np.float32), [[1.5, 2.0], [3.0, 4.0]]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array(7), 7),
        (np.array([None, 1, "x", [np.int8(2)]], object), [None, 1, "x", [2]]),
        (np.float64(0.1), 0.1),
        (np.int64(-3), -3),
        (np.bool_(True), True),
        (np.str_("naïve"), "naïve"),
        ({"a": np.arange(2), "b": {"c": ()}}, {"a": [0, 1], "b": {"c": []}}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (FuzzyDict({"color": "black"}), {"color": "black"}),
        ({Color.RED: Color.RED, "size": Size.SMALL}, {"red": "red", "size": 1}),
        (2**100, 2**100),
        (-0.0, 0.0),
        (nested(32), nested(32)),
    ],
    ids=str,
)
def test_values_become_those_of_json(value: Any, expected: Any) -> None:
    found = as_json("key", value)
    assert found == expected
    assert json.loads(json.dumps(found)) == found
    assert only_plain(found)


def only_plain(value: Any) -> bool:
    if type(value) is list:
        return all(map(only_plain, value))
    if type(value) is dict:
        return all(type(name) is str and only_plain(part) for name, part in value.items())
    return type(value) in (str, int, float, bool, type(None))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "nan is no number of JSON"),
        ({"a": [1.0, float("-inf")]}, "-inf is no number of JSON"),
        (np.array([1, np.inf]), "inf is no number of JSON"),
        (np.float32("nan"), "nan is no number"),
        (10**1001, "more than 1000 digits"),
        ("a\x00b", "'a\\x00b' has a NUL"),
        (["\ud800"], "'\\ud800' has a NUL or a lone surrogate"),
        ({"a\x00": 1}, "'a\\x00' has a NUL"),
        ({1: 2}, "1 names a field, and is no text"),
        ({None: 2}, "None names a field, and is no text"),
        ({1, 2}, "is of type set"),
        (b"bytes", "b'bytes' is of type bytes"),
        (1j, "1j is of type complex"),
        (np.array([1j]), "1j is of type complex"),
        (np.datetime64("2020-01-01"), "is of type date"),
        (datetime.datetime(2020, 1, 1), "is of type datetime"),
        (Decimal("1.5"), "Decimal('1.5') is of type Decimal"),
        (UserDict(a=1), "is of type UserDict"),
        (range(3), "range(0, 3) is of type range"),
        (object, "is of type type"),
        (nested(33), "nested more than 32 deep"),
    ],
    ids=repr,
)
def test_other_values_are_refused(value: Any, told: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        as_json("O'Brien", value)
    assert str(error.value).startswith('the value of key "O\'Brien" cannot be stored: ')
    assert told in str(error.value)
    assert str(error.value).isprintable()


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ArgumentTypeError, match="nested more than 32 deep"):
        as_json("key", value)


def test_nothing_is_shared() -> None:
    value = {"list": [1, {"a": 2}]}
    found = as_json("key", value)
    found["list"][1]["a"] = 3
    assert value == {"list": [1, {"a": 2}]}


@pytest.mark.parametrize(
    "key", ["red", "", " ", "日本", "👩‍👩‍👧‍👦", "a" * 100_000, np.str_("red"), "\n\x1b"]
)
def test_keys_are_texts(key: Any) -> None:
    assert as_key(key) == key
    assert type(as_key(key)) is str


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (1, "are texts, got int 1"),
        (None, "are texts, got NoneType None"),
        (("a", "b"), "are texts, got tuple"),
        (b"red", "are texts, got bytes b'red'"),
        ("a\x00b", "'a\\x00b'"),
        ("\udfff", "'\\udfff'"),
    ],
)
def test_other_keys_are_refused(key: Any, told: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        as_key(key)
    assert told in str(error.value)


@given(st.text(st.characters()))
def test_what_utf8_encodes_is_storable_but_for_nul(text: str) -> None:
    try:
        text.encode()
        expected = "\0" not in text
    except UnicodeEncodeError:
        expected = False
    assert is_storable(text) is expected
