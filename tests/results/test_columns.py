"""Columns of pandas, polars and pyarrow: what `FuzzyDict.match` returns, and what it refuses."""

from __future__ import annotations

import io
import math
import sys
from datetime import date, datetime
from decimal import Decimal
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import ArgumentTypeError, Boxcar, FuzzyDict
from fuzzydict.results import columns
from tests.support.frames import COLUMNS, FRAMES, listed

CAR = {"brand": "Porsche", "color": "black", "top speed": 260}
ASKED = ["colour", None, "qwzzt", "brnd", "colour", "", "  "]


@pytest.fixture
def d() -> FuzzyDict[Any]:
    return FuzzyDict(CAR)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_matched_as_its_texts_are(d: FuzzyDict[Any], kind: str) -> None:
    library, column = kind.split(",")[0], COLUMNS[kind](ASKED)
    frame = d.match(column)
    assert type(frame) is type(FRAMES[library]({"a": ["b"]}))
    name = "type" if library == "pyarrow" else "dtype"
    assert getattr(frame["query"], name) == getattr(column, name)
    found = listed(frame)
    one_by_one = [d.nearest(text, default=None) if text else None for text in ASKED]
    assert found["query"] == ASKED
    assert found["key"] == [one and one.key for one in one_by_one]
    assert found["value"] == [one and one.value for one in one_by_one]
    assert found["score"] == pytest.approx([one and one.score for one in one_by_one])
    assert len(d.match(COLUMNS[kind]([]))) == 0
    assert listed(d.match(COLUMNS[kind]([None, None])))["key"] == [None, None]
    d.aliases.update({"manufacturer of it": "brand", "colour": None})
    found = listed(d.match(COLUMNS[kind](["manufacturer of it", "colour"])))
    assert found["key"] == ["brand", None]


def test_whatever_holds_texts_is_a_column_and_its_index_is_kept(d: FuzzyDict[Any]) -> None:
    nulls = pd.Series(["colour", None, np.nan, pd.NA, pd.NaT], dtype=object)
    assert listed(d.match(nulls))["key"] == ["color", None, None, None, None]
    texts = ["colour", "brnd"]
    for column in (pd.Index(texts, name="field"), pd.array(texts), pd.Categorical(texts)):
        found = d.match(column)
        assert found["key"].tolist() == ["color", "brand"]
        assert found.index.tolist() == [0, 1]
    pa = pytest.importorskip("pyarrow")
    for column in (pa.array(ASKED), pa.array(ASKED).dictionary_encode()):
        assert listed(d.match(column)) == listed(d.match(pl.Series(ASKED)))
    pairs = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["one", "two"])
    for index in (["c", "a", "c"], pd.Index([3, 1, 2], name="number"), pairs):
        column = pd.Series(["colour", "brnd", None], index=index, name="field")
        found = d.match(column)
        assert found.index.equals(column.index)
        assert found.index.names == column.index.names
        assert column.name == "field"


def test_the_cutoff_may_be_given_and_the_value_is_that_of_the_key_in_every_mode() -> None:
    column = pd.Series(["colour", "brnd"])
    for mode in ("nearest", "pool"):
        d = FuzzyDict({"color": 1.0, "brand": 3.0}, mode=mode)
        assert d.match(column)["value"].tolist() == [1.0, 3.0]
        assert d.match(column, score_cutoff=math.inf)["key"].isna().all()
        assert d.match(pd.Series(["velocity"]), score_cutoff=0.0)["key"].notna().all()
    for one_to_one in (False, True):
        found = listed(fuzzydict.match(column[:1], [], one_to_one=one_to_one))
        assert found == {"query": ["colour"], "key": [None], "value": [None], "score": [None]}


def valued(first: Any, second: Any, column: Any) -> Any:
    return fuzzydict.match(column, {"one": first, "two": second})["value"]


def test_values_keep_their_type(d: FuzzyDict[Any]) -> None:
    assert valued(1, 2, pd.Series(["one", "two"])).dtype == np.int64
    assert d.match(pd.Series(["topspeed", "brnd"]))["value"].tolist() == [260, "Porsche"]
    large = 2**53 + 1  # which no float equals
    assert valued(large, 1, pd.Series(["one", "two", "qwzzt"])).tolist()[:2] == [large, 1]
    assert valued(large, 1, pl.Series(["one", "qwzzt"])).to_list() == [large, None]
    assert valued([1, 2], [1.5], pl.Series(["one", "two"])).to_list() == ["[1, 2]", "[1.5]"]


@pytest.mark.parametrize("library", FRAMES)
def test_values_of_one_type_come_back(library: str) -> None:
    days = date(2024, 2, 29), date(2025, 3, 1)
    decimals = Decimal("1.5"), Decimal("2.5")
    plain = [(True, False), (1, 2), (1.5, 2.5), (b"x", b"y"), ("x", "y"), ([1], [2, 3])]
    for first, second in (days, decimals, *plain, ({"a": 1}, {"a": 2})):
        for third in ("one", None):
            column = COLUMNS[library](["one", third, "two"])
            found = listed(fuzzydict.match(column, {"one": first, "two": second}))
            assert found["value"] == [first, third and first, second]
    arrays = {"one": np.array([1, 2]), "two": np.array([3, 4])}
    for other in ("two", "qwzzt"):
        found = listed(fuzzydict.match(COLUMNS[library](["one", other]), arrays))
        assert list(found["value"][0]) == [1, 2]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (260, "Porsche", ["260", "Porsche"]),
        (1, 2.5, [1.0, 2.5]),
        (2, True, ["2", "true"]),
        (np.True_, 2.5, ["true", "2.5"]),
        ([1], [True], ["[1]", "[true]"]),
        ([{"a": "é"}], [{"b": 2}], ['[{"a": "é"}]', '[{"b": 2}]']),
        (date(2024, 2, 29), datetime(2024, 3, 1, 12), ["2024-02-29", "2024-03-01 12:00:00"]),
        ({(1, 2): 3}, "x", ["{(1, 2): 3}", "x"]),
    ],
)
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_unlike_values_become_texts(
    library: str, first: Any, second: Any, expected: list[Any]
) -> None:
    pytest.importorskip(library)
    column = COLUMNS[library](["one", None, "two"])
    found = listed(fuzzydict.match(column, {"one": first, "two": second}))
    assert found["value"] == [expected[0], None, expected[1]]


TEXTS = st.lists(st.sampled_from(["color", "colour", "colors", "colr", "brand", "brnd", "qwzzt"]))


@given(texts=TEXTS)
def test_one_to_one_has_the_highest_sum_of_scores_of_all_ways(texts: list[str]) -> None:
    keys = ["color", "colours", "brand"]
    d = FuzzyDict(dict.fromkeys(keys, 0))
    found = listed(d.match(pl.Series(texts, dtype=pl.String), one_to_one=True).unique())
    given = [key for key in found["key"] if key is not None]
    assert len(given) == len(set(given))
    equal = set(texts) & set(keys)
    assert equal <= {q for q, key in zip(found["query"], found["key"], strict=True) if q == key}
    others = [text for text in dict.fromkeys(texts) if text not in equal]
    expected = len(equal) + highest_sum(d, others, frozenset(equal))
    assert sum(score or 0 for score in found["score"]) == pytest.approx(expected)


def highest_sum(d: FuzzyDict[Any], texts: list[str], used: frozenset[str] = frozenset()) -> float:
    """Return the highest sum of scores if each key matches one text at most, by trying all."""
    if not texts:
        return 0.0
    free = [m for m in d.most_similar(texts[0], None) if m.matches and m.key not in used]
    with_one: list[float] = [m.score + highest_sum(d, texts[1:], used | {m.key}) for m in free]
    return max([highest_sum(d, texts[1:], used), *with_one])


def test_what_is_certain_is_given_first_by_any_scorer() -> None:
    d = FuzzyDict({"color": 1, "colors": 2})
    d.aliases["what it looks like"] = "color"
    for texts, expected in (
        (["colour", "color"], ["colors", "color"]),
        (["colour", "what it looks like"], ["colors", "color"]),
        (["what it looks like", "color"], [None, "color"]),
    ):
        found = d.match(pl.Series(texts), one_to_one=True, score_cutoff=0.0)
        assert found["key"].to_list() == expected
    only_certain = d.match(pl.Series(["color", "colour"]), one_to_one=True, score_cutoff=math.inf)
    assert only_certain["key"].to_list() == ["color", None]
    for scorer in ("dot", Boxcar(0.1)):
        d = FuzzyDict(dict.fromkeys(["color", "brand"], 0), scorer=scorer)
        found = d.match(pl.Series(["colour", "color"]), one_to_one=True)
        assert found["key"].to_list()[1] == "color"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_looks_on_sees_the_progress(d: FuzzyDict[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_TOGETHER", 2)
    monkeypatch.setattr(columns, "_SOON", 0.0)
    for stream, in_notebook in ((io.StringIO(), False), (Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        if in_notebook:
            monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
        assert d.match(pl.Series(["colour", "brnd", "qwzzt"]))["key"].to_list()[0] == "color"
        assert ("texts" in stream.getvalue()) == (in_notebook or isinstance(stream, Terminal))


def test_what_is_no_column_of_texts_is_refused(d: FuzzyDict[Any]) -> None:
    columns: list[tuple[Any, str]] = [
        (["colour"], r"FuzzyDict.nearest\(texts, default=None\)"),
        (np.array(["colour"]), r"pandas.Series\(texts\)"),
        ("colour", "pandas.Series"),
        (pd.MultiIndex.from_tuples([("a", "b")]), "got MultiIndex"),
        (pd.DataFrame({"a": ["b"]}), "choose one of its columns"),
        (pl.LazyFrame({"a": ["b"]}), "collect the lazy frame"),
    ]
    for column, advice in columns:
        with pytest.raises(ArgumentTypeError, match=f"column: expected a column .*{advice}"):
            d.match(column)
    for kind in COLUMNS.values():
        with pytest.raises(ArgumentTypeError, match="a column goes to match"):
            d.nearest(kind(["colour"]))
        for wrong in (np.array([True, False]), "no"):
            with pytest.raises(ArgumentTypeError, match="one_to_one"):
                d.match(kind(["colour"]), one_to_one=wrong)  # type: ignore[arg-type]
    values: list[Any]
    for row, values in ((0, [1, 2]), (1, ["colour", 1]), (0, [b"colour"]), (0, [("a", "b")])):
        with pytest.raises(ArgumentTypeError, match=f"column: expected texts, .* in row {row}"):
            d.match(pd.Series(values))
