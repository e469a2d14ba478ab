"""What a store can hold, what ``where=`` asks of it, and what both refuse."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict, UserDict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, FuzzyDict, OptionError
from fuzzydict.errors import FuzzyDictError
from fuzzydict.stores.values import as_key, as_value, conditions_of, satisfies


class Color(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


STORED: list[tuple[Any, Any]] = [
    ((1, (2, [3])), [1, [2, [3]]]),
    (np.array([[1.5, 2], [3, 4]], np.float32), [[1.5, 2.0], [3.0, 4.0]]),
    (np.array([None, 1, "x", [np.int8(2)]], object), [None, 1, "x", [2]]),
    *((np.array(["a", "b"]), ["a", "b"]), (np.array(7), 7), (np.float64(0.1), 0.1)),
    *((np.int64(-3), -3), (np.bool_(True), True), (np.str_("naïve"), "naïve"), (-0.0, -0.0)),
    ({"a": np.arange(2), "b": {"c": ()}}, {"a": [0, 1], "b": {"c": []}}),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (FuzzyDict({"color": "black"}), {"color": "black"}),
    ({Color.RED: Color.RED, "size": Size.SMALL}, {"red": "red", "size": 1}),
    *((2**100, 2**100), (nested(32), nested(32))),
]


def test_values_become_those_of_json() -> None:
    for value, expected in STORED:
        found = as_value("key", value)
        assert repr(found) == repr(expected)  # of no other types
        assert found is not value or not isinstance(value, list | dict)
        assert json.loads(json.dumps(found)) == found


ITSELF: list[Any] = []
ITSELF.append(ITSELF)
REFUSED: list[tuple[Any, str]] = [
    (float("nan"), "nan is no number of JSON"),
    ({"a": [1.0, float("-inf")]}, "-inf is no number of JSON"),
    (np.float32("nan"), "nan is no number"),
    (10**1001, "more than 1000 digits"),
    ("a\x00b", "'a\\x00b' has a NUL"),
    (["\ud800"], "'\\ud800' has a NUL or a lone surrogate"),
    ({"a\x00": 1}, "'a\\x00' has a NUL"),
    ({1: 2}, "1 names a field, and is no text"),
    ({None: 2}, "None names a field, and is no text"),
    ({1, 2}, "is of type set"),
    (b"bytes", "b'bytes' is of type bytes"),
    (np.array([1j]), "1j is of type complex"),
    (np.datetime64("2020-01-01"), "is of type date"),
    (Decimal("1.5"), "Decimal('1.5') is of type Decimal"),
    (UserDict(a=1), "is of type UserDict"),
    (object, "is of type type"),
    (nested(33), "nested more than 32 deep"),
    (ITSELF, "nested more than 32 deep"),
]


@pytest.mark.parametrize(("value", "told"), REFUSED, ids=[told for _, told in REFUSED])
def test_other_values_are_refused(value: Any, told: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        as_value("O'Brien", value)
    assert str(error.value).startswith('the value of key "O\'Brien" cannot be stored: ')
    assert told in str(error.value)
    assert str(error.value).isprintable()


def test_keys_are_texts() -> None:
    for key in ("red", "", " ", "日本", "👩‍👩‍👧‍👦", "a" * 100_000, np.str_("red"), "\n\x1b"):
        assert as_key(key) == key
        assert type(as_key(key)) is str
    wrong: dict[Any, str] = {1: "are texts, got int 1", None: "are texts, got NoneType None"}
    wrong |= {("a", "b"): "are texts, got tuple", b"red": "are texts, got bytes b'red'"}
    wrong |= {"a\x00b": "'a\\x00b'", "\udfff": "'\\udfff'"}
    for key, told in wrong.items():
        with pytest.raises(ArgumentTypeError) as error:
            as_key(key)
        assert told in str(error.value)


# ---- where= -----------------------------------------------------------------------------------

WRONG_TYPES: list[tuple[Any, str]] = [
    *(("a = 1", "'a = 1'"), (["a"], "['a']"), (len, "expected a mapping"), ({1: 2}, "got 1")),
    *(({None: 2}, "got None"), ({"a": object}, "'a', got type"), ({"a": b"x"}, "got bytes b'x'")),
    *(({"a": [["x"]]}, "'a', got list ['x']"), ({"a": [{"gt": 1}]}, "'a', got dict")),
    *(({"a": 1j}, "got complex 1j"), ({"a": np.datetime64("2020-01-01")}, "got date")),
    ({"a": {"gt": "1"}}, "a number as gt of 'a', got '1'"),
    ({"a": {"gte": True}}, "a number as gte of 'a', got True"),
    ({"a": {"lt": None}}, "a number as lt of 'a', got None"),
    ({"a": {"lte": [1]}}, "'a', got list [1]"),
]
WRONG_VALUES: list[tuple[Any, str]] = [
    *(({"": 1}, "''"), ({".a": 1}, "'.a'"), ({"a.": 1}, "'a.'"), ({"a..b": 1}, "'a..b'")),
    *(({"a\x00": 1}, "'a\\x00'"), ({"\ud800": 1}, "'\\ud800'"), ({"a": "x\x00"}, "'x\\x00'")),
    *(({"a": []}, "'a' is to be one of none"), ({"a": np.zeros(0)}, "'a' is to be one of none")),
    *(({"a": {}}, "gt, gte, lt, lte"), ({"a": {"gt": 1, 2: 3}}, "gt, gte, lt, lte")),
    ({"a": {"greater": 1}}, "gt, gte, lt, lte for 'a', got {'greater': 1}"),
    ({"a": float("nan")}, "for 'a', got nan"),
    ({"a": [1, float("inf")]}, "for 'a', got inf"),
    ({"a": {"gt": float("-inf")}}, "for 'a', got -inf"),
    *(({"a": 10**400}, "for 'a', got"), ({"a": ["x", "\udfff"]}, "'\\udfff'")),
]


@pytest.mark.parametrize(
    ("kind", "cases"), [(ArgumentTypeError, WRONG_TYPES), (OptionError, WRONG_VALUES)]
)
def test_what_no_field_can_be_is_refused(kind: type[Exception], cases: Any) -> None:
    for where, told in cases:
        with pytest.raises(kind) as error:
            conditions_of(where)
        assert str(error.value).startswith("where: ")
        assert told in str(error.value)


SATISFIED: list[tuple[Any, Any]] = [
    *(({"a": 1}, {"a": 1.0}), ({"a": 1.0}, {"a": 1}), ({"a": None}, {"a": None})),
    *(({"a": "x"}, {"a": ["y", "x"]}), ({"a": {"b": 1}}, {"a.b": 1}), (None, {})),
    *(({"a": 5}, {"a": {"gt": 4, "lte": 5}}), ({"a": 1, "b": 2}, {"a": 1, "b": 2})),
    *(({"a": 1}, {"a": np.array([1, 2])}), ({"a": 3}, {"a": np.array(3)})),
    *(
        ({"a": "x"}, {"a": ("x",)}),
        ({"a": "x"}, {"a": {"x"}}),
        ({"a": 0.5}, {"a": np.float32(0.5)}),
    ),
    *(({"a": True}, {"a": np.bool_(True)}), ({"a": "x"}, {np.str_("a"): np.str_("x")})),
    *(({"a": 2}, {"a": {"gt": np.int64(1)}}), ({"a": 0}, {"a": OrderedDict(gte=0, lt=1)})),
    *(({"a": {"b": {"c": None}}}, {"a.b.c": None}), ({"a": 2**53 + 1}, {"a": 2**53 + 1})),
]
NOT_SATISFIED: list[tuple[Any, Any]] = [
    *(({"a": True}, {"a": 1}), ({"a": 1}, {"a": True}), ({"a": 0}, {"a": False})),
    *(({"a": "1"}, {"a": 1}), ({"a": 2**53 + 1}, {"a": 2**53}), ({}, {"a": None})),
    *(({"a": ["x"]}, {"a": "x"}), ({"a": ["x"]}, {"a.0": "x"}), ({"a": {"b": 1}}, {"a": 1})),
    *(({"a.b": 1}, {"a.b": 1}), ({"a": 5}, {"a": {"gt": 5}}), ({"b": 5}, {"a": {"gte": 0}})),
    *(({"a": 5}, {"a": {"gte": 5, "lt": 5}}), ({"a": True}, {"a": {"gte": 0}})),
    *(({"a": "5"}, {"a": {"gte": 0}}), ({"a": 1, "b": 3}, {"a": 1, "b": 2}), ("a", {"a": "a"})),
    *((["a"], {"0": "a"}), (None, {"a": None}), ({"a": 1}, {"a": np.bool_(True)})),
]


def test_what_satisfies_it() -> None:
    for cases, expected in ((SATISFIED, True), (NOT_SATISFIED, False)):
        for value, where in cases:
            assert satisfies(value, conditions_of(where)) is expected, (value, where)


_PARTS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
_NESTED = st.recursive(
    _PARTS,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["gt", "lt", "a"]), inner),
    max_leaves=4,
)


@given(where=st.dictionaries(st.text("ab.", max_size=4), _NESTED, max_size=3), value=_NESTED)
def test_anything_is_read_or_refused(where: Any, value: Any) -> None:
    try:
        conditions = conditions_of(where)
    except FuzzyDictError:
        return
    assert len(conditions) == len(where)
    assert satisfies(value, conditions) in (True, False)
