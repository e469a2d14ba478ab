"""`match` and `join` on frames of pandas, polars and pyarrow."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import (
    ArgumentTypeError,
    FuzzyDict,
    MissingExtraError,
    OptionError,
    UnknownOptionError,
)
from tests.support.frames import FRAMES, listed
from tests.support.properties import examples

CAR = {"brand": "Porsche", "color": "black", "top speed": 260}


# ---- keys that are in no dict yet ---------------------------------------------------------------


@pytest.mark.parametrize(
    "keys",
    [
        *([*CAR], iter([*CAR]), np.array([*CAR]), pd.Series([*CAR, None]), pl.Series([*CAR])),
        *(CAR, FuzzyDict(CAR)),
    ],
)
def test_keys_may_be_a_list_a_column_or_a_dict(keys: Any) -> None:
    found = fuzzydict.match(pd.Series(["colour", "brnd"]), keys)
    expected = ["black", "Porsche"] if isinstance(keys, dict) else ["color", "brand"]
    assert found["value"].tolist() == expected


@pytest.mark.parametrize(
    "keys", ["color", b"color", 5, None, pd.DataFrame({"a": ["b"]}), [1, 2], {1: "a"}]
)
def test_what_are_no_keys_is_refused(keys: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"keys: expected .*texts"):
        fuzzydict.match(pd.Series(["colour"]), keys)


# ---- joins --------------------------------------------------------------------------------------

LEFT: dict[str, list[Any]] = {"field": ["colour", "qwzzt", "brnd", None], "count": [1, 2, 3, 4]}
ON: dict[str, Any] = {"left_on": "field", "right_on": "name"}
RIGHT: dict[str, list[Any]] = {"name": ["brand", "color", None], "count": [5, 6, 7]}


@pytest.mark.parametrize("library", FRAMES)
def test_a_left_join_keeps_all_rows_in_order(library: str) -> None:
    frame = FRAMES[library]
    left, right = frame(LEFT), frame(RIGHT)
    found = fuzzydict.join(left, right, **ON)
    assert type(found) is type(left)
    assert list(listed(found)) == ["field", "count", "name", "count_right", "score"]
    assert listed(found)["count_right"] == [6, None, 5, None]
    assert listed(fuzzydict.join(left, right[:0], **ON))["count_right"] == [None] * 4
    assert len(fuzzydict.join(left[:0], right, **ON)) == 0
    blanks = frame({"name": ["color", "", "", " "]})
    found = fuzzydict.join(frame({"name": ["", " ", "colour"]}), blanks, on="name")
    assert listed(found)["name_right"] == [None, None, "color"]


def test_columns_keep_type_and_index_and_integers_beside_nulls_their_value() -> None:
    large = 2**53 + 1
    right = pd.DataFrame({"name": ["color", "brand"], "large": [large, 1]})
    right["day"] = pd.to_datetime(["2024-02-29", "2025-03-01"])
    right["few"] = pd.array([1, 2], dtype="Int64")
    right["kind"] = pd.Categorical(["x", "y"])
    same = ["day", "few", "kind"]
    for how, left in (("inner", LEFT), ("left", LEFT), ("left", {"field": []})):
        frame = pd.DataFrame(left).astype({"field": object})
        frame.index = pd.Index([7, 8, 8, 9][: len(frame)])
        found = fuzzydict.join(frame, right, left_on="field", right_on="name", how=how)
        assert found.index.tolist() == ([7, 8] if how == "inner" else frame.index.tolist())
        assert found[same].dtypes.tolist() == right[same].dtypes.tolist()
        assert found["large"].tolist()[:1] == [large][: len(found)]
    empty = fuzzydict.join(pd.DataFrame(LEFT), right[:0], left_on="field", right_on="name")
    assert empty[same].dtypes.tolist() == right[same].dtypes.tolist()


# ---- joins beside a slow and obvious one --------------------------------------------------------

WORDS = ["color", "colour", "colors", "brand", "brnd", "maker", "top speed", "qwzzt", "", None]


def joined_slowly(
    left: dict[str, list[Any]], right: dict[str, list[Any]], how: str
) -> dict[str, list[Any]]:
    """Return what `join` returns, by one read after the other."""
    d = FuzzyDict({text: i for i, text in enumerate(right["name"]) if text})
    rows = []
    for row, text in enumerate(left["field"]):
        match = d.nearest(text, default=None) if text else None
        if (match is None) if how == "anti" else (match is not None or how == "left"):
            rows.append((row, match))
    found = {name: [column[row] for row, _ in rows] for name, column in left.items()}
    if how != "anti":
        for name, column in right.items():
            new = f"{name}_right" if name in left else name
            found[new] = [match and column[match.value] for _, match in rows]
        found["score"] = [match and match.score for _, match in rows]
    return found


@pytest.mark.parametrize("library", FRAMES)
@examples(25)
@given(
    texts=st.lists(st.sampled_from(WORDS), min_size=1),
    keys=st.lists(st.sampled_from([word for word in WORDS if word]), unique=True, min_size=1),
    how=st.sampled_from(["left", "inner", "anti"]),
)
def test_a_join_is_what_reads_one_by_one_find(
    library: str, texts: list[str | None], keys: list[str], how: str
) -> None:
    left: dict[str, list[Any]] = {"field": texts, "count": [float(i) for i in range(len(texts))]}
    right: dict[str, list[Any]] = {"count": [-float(i) for i in range(len(keys))], "name": keys}
    frames = [FRAMES[library](left), FRAMES[library](right)]
    before = [listed(frame) for frame in frames]
    found = listed(fuzzydict.join(*frames, left_on="field", right_on="name", how=how))
    expected = joined_slowly(left, right, how)
    scores, expected_scores = found.pop("score", []), expected.pop("score", [])
    assert found == expected
    close = [one if one is None else pytest.approx(one, rel=1e-4) for one in expected_scores]
    assert scores == close
    assert [listed(frame) for frame in frames] == before


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"on": "fild"},
            "on, in left: there is no column 'fild' .did you mean 'field'.*; there are",
        ),
        ({"left_on": "field"}, "right_on: give left_on and right_on"),
        ({"left_on": "field", "on": "field"}, "left_on: give left_on and right_on, or on"),
        ({"left_on": "field", "right_on": "nam"}, "did you mean 'name'"),
        ({"on": ["field"]}, r"on: expected the name of one column, got list \['field'\]"),
        ({"left_on": "count", "right_on": "name"}, "left_on: 'count': expected texts, got int 1"),
        ({"left_on": "field", "right_on": "count"}, "right_on: 'count': expected texts, got int 5"),
        (ON | {"how": "outer"}, "how: expected one of left.* got 'outer'.*for the rows of both"),
        (ON | {"how": "right"}, "for all rows of the right one, give it as left"),
        (ON | {"suffix": ""}, "two columns 'count'; choose another suffix"),
        (ON | {"suffix": None}, "suffix: expected a text, got None"),
        (ON | {"suffixes": ("_x", "_y")}, "join takes no 'suffixes' .did you mean 'suffix'"),
        (ON | {"score_cutoff": "high"}, "score_cutoff"),
        (ON | {"scorer": "cosin"}, "scorer 'cosin'"),
    ],
)
def test_a_wrong_argument_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, ArgumentTypeError, UnknownOptionError), match=message):
        fuzzydict.join(pd.DataFrame(LEFT), pd.DataFrame(RIGHT), **options)


@pytest.mark.parametrize("other", ["Germany ", "GERMANY", "german\u0079\u0301", "Germany!"])
def test_keys_that_are_one_text_are_refused_or_told(other: str) -> None:
    left = pd.DataFrame({"name": ["Germny", "GERMANY"]})
    right = pd.DataFrame({"name": ["France", None, "Germany", other]})
    message = r"right: 'Germany' and .* in column 'name', in rows 2 and 3, are one text"
    with pytest.raises(OptionError, match=message):
        fuzzydict.join(left, right, on="name")
    with pytest.warns(UserWarning, match=r"keys: 'Germany' and .* are one text.*keep one"):
        fuzzydict.match(left["name"], right["name"])
    fuzzydict.match(left["name"], {"Germany": 1, other: 1})  # a mapping may list both


def test_keys_that_differ_by_a_sign_are_joined_and_those_that_come_twice_refused() -> None:
    frame = pd.DataFrame({"name": ["C", "C#", "C++", "Congo", "DR Congo", "?", "!"]})
    found = fuzzydict.join(frame, frame, on="name", how="inner")["name_right"]
    assert found.tolist() == frame["name"].tolist()
    twice = pd.DataFrame({"name": ["C#", "C", "C#", "", ""]})
    message = "right: 'C#' comes twice in column 'name', in rows 0 and 2; keep one"
    with pytest.raises(OptionError, match=message):
        fuzzydict.join(frame, twice, on="name")
    with pytest.raises(OptionError, match="scorer: keys is a FuzzyDict"):
        fuzzydict.match(frame["name"], FuzzyDict(CAR), scorer="cosine")
    with pytest.raises(UnknownOptionError, match=r"match takes no 'scorers' .did you mean 'scor"):
        fuzzydict.match(frame["name"], ["color"], scorers="cosine")


def test_frames_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = pd.DataFrame(LEFT), pd.DataFrame(RIGHT)
    twice = pd.DataFrame([["colour", 1, 2]], columns=["field", "a", "a"])
    levels = pd.DataFrame([["colour"]], columns=pd.MultiIndex.from_tuples([("field", "a")]))
    wrong: list[tuple[Any, Any, str]] = [
        (left, pl.DataFrame(RIGHT), "right: expected a frame of pandas"),
        (pl.LazyFrame(LEFT), pl.DataFrame(RIGHT), "left: .* collect"),
        (left, right["name"], "right: .* to_frame"),
        (twice, right, "left: .*'a'"),
        (levels, right, "left: its columns have names of several levels"),
        (left.set_index("field"), right, r"'field'.*; reset_index\(\) makes the index one"),
    ]
    for one, other, told in wrong:
        with pytest.raises((ArgumentTypeError, OptionError), match=told):
            fuzzydict.join(one, other, **ON)
    numbers: Any = 0
    frames = [pd.DataFrame({0: [text]}) for text in ("colour", "color")]
    assert fuzzydict.join(*frames, on=numbers)["0_right"].tolist() == ["color"]
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingExtraError, match="pip install narwhals"):
        fuzzydict.join(left, right, **ON)
