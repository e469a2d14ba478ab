"""Which values can be pooled, and what the pooled value is."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fuzzydict import DoubtfulPoolWarning, FuzzyDict, NoMatchError, PoolingError

VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.8, 0.6]}


def colors(red: Any, blue: Any, violet: Any) -> FuzzyDict[Any]:
    return FuzzyDict({"red": red, "blue": blue, "violet": violet}, embedding=VECTORS)


def by_loop(weights: np.ndarray[Any, Any], values: list[Any]) -> np.ndarray[Any, Any]:
    total = np.zeros(np.shape(values[0]))
    for weight, value in zip(weights, values, strict=True):
        total = total + float(weight) * np.array(value, float)
    return total


@pytest.mark.parametrize(
    "values",
    [
        (1, 2, 4),
        (1.5, -2.0, 0.0),
        (True, False, True),
        (Fraction(1, 2), Decimal("0.25"), 2**70),
        ([1, 2], (3, 4), [5, 6]),
        (np.eye(2), np.ones((2, 2)), [[1, 2], [3, 4]]),
        (np.float32(1), np.int8(3), 7),
    ],
)
def test_numbers_arrays_and_lists_are_pooled_as_a_loop_would(values: tuple[Any, ...]) -> None:
    d = colors(*values)
    expected = by_loop(d.attend("violet").weights, list(values))
    np.testing.assert_allclose(d.pool("violet"), expected, rtol=1e-5)
    np.testing.assert_allclose(d.attend("violet").output, expected, rtol=1e-5)
    assert isinstance(d.pool("violet"), np.ndarray if expected.ndim else float)
    assert d.pool(["red", "blue"]).shape == (2, *expected.shape)


def test_many_queries_are_pooled_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # With three keys, two queries at a time.
    monkeypatch.setattr("fuzzydict.results.pooling._WEIGHTS", 7)
    d, asked = colors([1, 2], [3, 4], "not pooled"), ["red", "violet", "blue", "red", "violet"]
    allowed = [True, True, False]
    expected = [d.pool(query, attn_mask=allowed) for query in asked]
    np.testing.assert_allclose(d.pool(asked, attn_mask=allowed), expected, rtol=1e-5)


def test_a_masked_value_need_not_be_a_number_and_texts_are_vectors() -> None:
    d = colors(1.0, "blue", 3.0)
    assert d.pool("red", attn_mask=lambda key: key == "red") == 1.0
    assert d.attend("red", attn_mask=[True, False, False]).output == 1.0
    with pytest.raises(PoolingError, match="'blue'"):
        d.pool("red", attn_mask=[True, True, False])
    assert d.attend("blue").top(1)[0][0] == "blue"  # what cannot be pooled can be attended to
    with pytest.raises(PoolingError, match="'blue'"):
        _ = d.attend("blue").output
    d = colors("blue", "red", "violet")
    weights = d.attend("violet").weights
    expected = by_loop(weights, [VECTORS["blue"], VECTORS["red"], VECTORS["violet"]])
    np.testing.assert_allclose(d.pool("violet"), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "key", "told"),
    [
        ((1, None, 2), "blue", "NoneType"),
        (("one", 2, 3), "red", "str"),
        ((1, [1], 2), "blue", "shape"),
        (([1, 2], [1, [2]], [3, 4]), "blue", "list"),
        ((1, float("nan"), 2), "blue", "NaN"),
        ((1j, 1, 2), "red", "complex"),
        (({}, 1, 2), "red", "dict"),
        ((1, 10**400, 2), "blue", "int"),
    ],
)
def test_the_first_bad_value_is_named(values: tuple[Any, ...], key: str, told: str) -> None:
    d = colors(*values)
    with pytest.raises(PoolingError, match=rf"(?s)'{key}'.*{told}") as caught:
        d.pool("violet")
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


RENTS = {"studio flat": 650.0, "parking space": 90.0, "detached house": 1900.0}


@pytest.fixture
def rents() -> FuzzyDict[float]:
    return FuzzyDict(RENTS, mode="pool", scorer="spelling", score_cutoff=0)


def test_a_doubtful_pool_is_warned_of_once_where_it_was_asked(rents: FuzzyDict[float]) -> None:
    with pytest.warns(DoubtfulPoolWarning, match="no key is like 'elephant' .none is right"):
        rents.pool("elephant")
    several = "'elephant'.* nor like 1 more of the queries"
    with pytest.warns(DoubtfulPoolWarning, match=several) as warned:
        rents.pool(["studio flat", "elephant", "xqzzt"])
    assert len(warned) == 1
    # A number between keys that are unlikely; a mixture of arrays may be what is wanted.
    values = {"Java": 0.0, "JAVA": 1.0}
    assert FuzzyDict(values).explain("java").none < 0.5
    with pytest.warns(DoubtfulPoolWarning, match="the best, '.*', is right with"):
        FuzzyDict(values).pool("java")
    FuzzyDict({key: [value, 1.0] for key, value in values.items()}).pool("java")
    reads: list[Callable[[], object]] = [
        lambda: rents.pool("elephant"),
        lambda: rents["elephant"],
        lambda: rents.pool(["elephant"], attn_mask=lambda key: key != "studio flat"),
    ]
    for read in reads:
        with pytest.warns(DoubtfulPoolWarning) as warned:
            read()
        assert [warning.filename for warning in warned] == [__file__]


@pytest.mark.filterwarnings("error")
def test_no_warning_where_nothing_is_known_or_a_key_is_meant(rents: FuzzyDict[float]) -> None:
    rents.pool(["studio flat", "the detached house"])
    rents.attend("elephant")
    rents.score_cutoff = 0.5
    with pytest.raises(NoMatchError):
        rents.pool("elephant")
    named = FuzzyDict(RENTS, scorer="cosine")
    named.pool("elephant")
    assert named.pool([]).shape == (0,)
