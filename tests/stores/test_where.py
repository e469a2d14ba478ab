"""``where=``: what is asked of the fields of values, what is refused, and what satisfies it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, OptionError
from fuzzydict.errors import FuzzyDictError
from fuzzydict.stores.values import Condition, conditions_of, satisfies


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, []),
        ({}, []),
        ({"a": "x"}, [Condition(("a",), ("x",))]),
        ({"a.b.c": None}, [Condition(("a", "b", "c"), (None,))]),
        ({"a": [1, "1", True]}, [Condition(("a",), (1, "1", True))]),
        ({"a": ("x",), "b": 2}, [Condition(("a",), ("x",)), Condition(("b",), (2,))]),
        ({"a": {"x"}}, [Condition(("a",), ("x",))]),
        ({"a": {"gt": 1, "lte": 2.5}}, [Condition(("a",), gt=1, lte=2.5)]),
        ({"a": OrderedDict(gte=0, lt=0)}, [Condition(("a",), gte=0, lt=0)]),
        ({"a": np.float32(0.5)}, [Condition(("a",), (0.5,))]),
        ({"a": np.array([1, 2])}, [Condition(("a",), (1, 2))]),
        ({"a": np.array(3)}, [Condition(("a",), (3,))]),
        ({"a": np.bool_(True)}, [Condition(("a",), (True,))]),
        ({"a": {"gt": np.int64(1)}}, [Condition(("a",), gt=1)]),
        ({"a": 2**53 + 1}, [Condition(("a",), (2**53 + 1,))]),
        ({np.str_("a"): np.str_("x")}, [Condition(("a",), ("x",))]),
    ],
    ids=str,
)
def test_what_is_asked(where: Any, expected: list[Condition]) -> None:
    found = conditions_of(where)
    assert found == expected
    for one in found:
        kinds = {type(part) for part in (*one.field, *one.one_of, *one[2:])}
        assert kinds <= {str, int, float, bool, type(None)}


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("a = 1", "'a = 1'"),
        (["a"], "['a']"),
        (len, "expected a mapping"),
        ({1: 2}, "got 1"),
        ({None: 2}, "got None"),
        ({"a": object}, "'a', got type"),
        ({"a": b"x"}, "'a', got bytes b'x'"),
        ({"a": [["x"]]}, "'a', got list ['x']"),
        ({"a": [{"gt": 1}]}, "'a', got dict"),
        ({"a": 1j}, "got complex 1j"),
        ({"a": np.datetime64("2020-01-01")}, "got date"),
        ({"a": {"gt": "1"}}, "a number as gt of 'a', got '1'"),
        ({"a": {"gte": True}}, "a number as gte of 'a', got True"),
        ({"a": {"lt": None}}, "a number as lt of 'a', got None"),
        ({"a": {"lte": [1]}}, "a number as lte of 'a', got [1]"),
    ],
    ids=str,
)
def test_another_type_is_refused(where: Any, told: str) -> None:
    with pytest.raises(ArgumentTypeError) as error:
        conditions_of(where)
    assert str(error.value).startswith("where: ")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"": 1}, "''"),
        ({".a": 1}, "'.a'"),
        ({"a.": 1}, "'a.'"),
        ({"a..b": 1}, "'a..b'"),
        ({"a\x00": 1}, "'a\\x00'"),
        ({"\ud800": 1}, "'\\ud800'"),
        ({"a": []}, "'a' is to be one of none"),
        ({"a": np.zeros(0)}, "'a' is to be one of none"),
        ({"a": {}}, "gt, gte, lt, lte"),
        ({"a": {"greater": 1}}, "gt, gte, lt, lte for 'a', got {'greater': 1}"),
        ({"a": {"gt": 1, 2: 3}}, "gt, gte, lt, lte"),
        ({"a": float("nan")}, "finite number for 'a', got nan"),
        ({"a": [1, float("inf")]}, "finite number for 'a', got inf"),
        ({"a": {"gt": float("-inf")}}, "finite number for 'a', got -inf"),
        ({"a": 10**400}, "finite number for 'a', got"),
        ({"a": "x\x00"}, "'x\\x00'"),
        ({"a": ["x", "\udfff"]}, "'\\udfff'"),
    ],
    ids=str,
)
def test_what_no_field_can_be_is_refused(where: Any, told: str) -> None:
    with pytest.raises(OptionError) as error:
        conditions_of(where)
    assert str(error.value).startswith("where: ")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("value", "where", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": 2**53 + 1}, {"a": 2**53}, False),
        ({"a": None}, {"a": None}, True),
        ({}, {"a": None}, False),
        ({"a": "x"}, {"a": ["y", "x"]}, True),
        ({"a": ["x"]}, {"a": "x"}, False),
        ({"a": ["x"]}, {"a.0": "x"}, False),
        ({"a": {"b": 1}}, {"a": 1}, False),
        ({"a": {"b": 1}}, {"a.b": 1}, True),
        ({"a.b": 1}, {"a.b": 1}, False),
        ({"a": 5}, {"a": {"gt": 4, "lte": 5}}, True),
        ({"a": 5}, {"a": {"gt": 5}}, False),
        ({"a": 5}, {"a": {"gte": 5, "lt": 5}}, False),
        ({"a": True}, {"a": {"gte": 0}}, False),
        ({"a": "5"}, {"a": {"gte": 0}}, False),
        ({"b": 5}, {"a": {"gte": 0}}, False),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 3}, {"a": 1, "b": 2}, False),
        ("a", {"a": "a"}, False),
        (["a"], {"0": "a"}, False),
        (None, {"a": None}, False),
        (None, {}, True),
        ({"a": 1}, None, True),
    ],
    ids=str,
)
def test_what_satisfies_it(value: Any, where: Any, expected: bool) -> None:
    assert satisfies(value, conditions_of(where)) is expected


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
