"""Columns and frames of pandas and polars: `match`, `join`, and the accessors of pandas."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import ArgumentTypeError, FuzzyDict, OptionError

CAR = {"brand": "Porsche", "color": "black", "top speed": 260}
COLUMNS: dict[str, Callable[[list[str | None]], Any]] = {
    "pandas": pd.Series,
    "pandas, categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas, object": lambda texts: pd.Series(texts, dtype=object),
    "polars": pl.Series,
    "polars, categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
ASKED = ["colour", None, "qwzzt", "brnd", "colour", ""]


@pytest.fixture
def d() -> FuzzyDict[Any]:
    return FuzzyDict(CAR)


def listed(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame as lists, with None for nulls."""
    return {
        column.name: [
            None if null else value
            for value, null in zip(column.to_list(), column.is_null().to_list(), strict=True)
        ]
        for column in nw.from_native(frame, eager_only=True).iter_columns()
    }


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_matched_as_its_texts_are(d: FuzzyDict[Any], kind: str) -> None:
    found = listed(d.match(COLUMNS[kind](ASKED)))
    one_by_one = [d.nearest(text, default=None) if text else None for text in ASKED]
    assert found["query"] == ASKED
    assert found["key"] == [one and one.key for one in one_by_one]
    assert found["value"] == [one and one.value for one in one_by_one]
    assert found["score"] == pytest.approx([one and one.score for one in one_by_one])


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_frame_is_of_the_library_of_its_column(d: FuzzyDict[Any], kind: str) -> None:
    column = COLUMNS[kind](ASKED)
    assert type(d.match(column)) is FRAMES[kind.split(",")[0]]
    assert d.match(column)["query"].dtype == column.dtype


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_may_be_empty_or_hold_nulls_alone(d: FuzzyDict[Any], kind: str) -> None:
    assert len(d.match(COLUMNS[kind]([]))) == 0
    assert listed(d.match(COLUMNS[kind]([None, None])))["key"] == [None, None]


def test_the_index_of_pandas_is_kept(d: FuzzyDict[Any]) -> None:
    column = pd.Series(["colour", "brnd", None], index=["c", "a", "c"], name="field")
    assert d.match(column).index.tolist() == ["c", "a", "c"]


def test_values_keep_their_type(d: FuzzyDict[Any]) -> None:
    found = fuzzydict.match(pd.Series(["one", "two"]), {"one": 1, "two": 2})
    assert found["value"].dtype == np.int64
    assert d.match(pd.Series(["topspeed", "brnd"]))["value"].tolist() == [260, "Porsche"]


def test_values_that_polars_cannot_hold_together_become_texts(d: FuzzyDict[Any]) -> None:
    assert d.match(pl.Series(["topspeed", "brnd"]))["value"].to_list() == ["260", "Porsche"]
    numbers = fuzzydict.match(pl.Series(["one", "two"]), {"one": 1, "two": 2.5})
    assert numbers["value"].to_list() == [1.0, 2.5]


def test_equal_texts_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    nearest = FuzzyDict.nearest

    def counted(d: FuzzyDict[Any], query: list[str], **options: Any) -> Any:
        asked.extend(query)
        return nearest(d, query, **options)

    monkeypatch.setattr(FuzzyDict, "nearest", counted)
    fuzzydict.match(pd.Series(["colour", "brnd"] * 5000), CAR)
    assert sorted(asked) == ["brnd", "colour"]


def test_keys_may_be_a_list_a_column_or_a_dict(d: FuzzyDict[Any]) -> None:
    column = pd.Series(["colour", "brnd"])
    for keys in (list(CAR), tuple(CAR), pd.Series([*CAR, None]), pl.Series(list(CAR))):
        assert fuzzydict.match(column, keys)["value"].tolist() == ["color", "brand"]
    for as_dict in (CAR, d):
        assert fuzzydict.match(column, as_dict)["value"].tolist() == ["black", "Porsche"]


def test_a_cutoff_may_be_given(d: FuzzyDict[Any]) -> None:
    column = pd.Series(["colour", "velocity"])
    loose, strict = d.match(column, score_cutoff=0.0), d.match(column, score_cutoff=1.1)
    assert loose["key"].notna().all()
    assert strict["key"].isna().all()


def test_what_was_taught_is_matched(d: FuzzyDict[Any]) -> None:
    d.aliases.update({"manufacturer of it": "brand", "colour": None})
    found = listed(d.match(pd.Series(["manufacturer of it", "colour"])))
    assert found["key"] == ["brand", None]


TEXTS = st.lists(st.sampled_from(["color", "colour", "colors", "colr", "brand", "brnd", "qwzzt"]))


@given(texts=TEXTS)
def test_one_to_one_gives_a_key_to_one_text_and_the_sum_of_scores_is_the_highest(
    texts: list[str],
) -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colour", "brand"], 0))
    found = d.match(pd.Series(texts, dtype=object), one_to_one=True).drop_duplicates()
    keys = found["key"].dropna().tolist()
    assert len(keys) == len(set(keys))
    assert found["score"].sum() == pytest.approx(highest_sum(d, list(dict.fromkeys(texts))))


def highest_sum(d: FuzzyDict[Any], texts: list[str], used: frozenset[str] = frozenset()) -> float:
    """Return the highest sum of scores if each key matches one text at most, by trying all."""
    if not texts:
        return 0.0
    free = [m for m in d.most_similar(texts[0], None) if m.matches and m.key not in used]
    with_one: list[float] = [m.score + highest_sum(d, texts[1:], used | {m.key}) for m in free]
    return max([highest_sum(d, texts[1:], used), *with_one])


# ---- joins --------------------------------------------------------------------------------------

LEFT = {"field": ["colour", "qwzzt", "brnd", None], "count": [1, 2, 3, 4]}
RIGHT = {"name": ["brand", "color", None], "count": [5, 6, 7]}


@pytest.mark.parametrize("library", FRAMES)
def test_a_left_join_keeps_all_rows_in_order(library: str) -> None:
    frame = FRAMES[library]
    found = fuzzydict.join(frame(LEFT), frame(RIGHT), left_on="field", right_on="name")
    assert type(found) is frame
    assert listed(found) == {
        "field": LEFT["field"],
        "count": LEFT["count"],
        "name": ["color", None, "brand", None],
        "count_right": [6, None, 5, None],
        "score": [pytest.approx(1, abs=0.01), None, pytest.approx(1, abs=0.01), None],
    }


@pytest.mark.parametrize("library", FRAMES)
def test_an_inner_and_an_anti_join_part_the_rows(library: str) -> None:
    frame = FRAMES[library]
    on: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    inner = listed(fuzzydict.join(frame(LEFT), frame(RIGHT), **on, how="inner"))
    anti = listed(fuzzydict.join(frame(LEFT), frame(RIGHT), **on, how="anti"))
    assert (inner["field"], inner["count_right"]) == (["colour", "brnd"], [6, 5])
    assert anti == {"field": ["qwzzt", None], "count": [2, 4]}


def test_a_join_is_a_match_and_a_merge(d: FuzzyDict[Any]) -> None:
    left = pd.DataFrame({"field": ["colour", "brnd", "topspeed"]})
    right = pd.DataFrame({"name": list(CAR), "value": list(CAR.values())})
    matched = d.match(left["field"])[["query", "key"]]
    merged = matched.merge(right, left_on="key", right_on="name")
    joined = fuzzydict.join(left, right, left_on="field", right_on="name", add_score=False)
    assert joined["value"].tolist() == merged["value"].tolist()


def test_a_join_keeps_the_index_of_the_left_frame() -> None:
    left = pd.DataFrame(LEFT, index=[7, 8, 8, 9])
    on: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    right = pd.DataFrame(RIGHT, index=["x", "y", "z"])
    assert fuzzydict.join(left, right, **on).index.tolist() == [7, 8, 8, 9]
    assert fuzzydict.join(left, right, **on, how="inner").index.tolist() == [7, 8]


@pytest.mark.parametrize("library", FRAMES)
def test_frames_may_be_empty(library: str) -> None:
    left, right = FRAMES[library](LEFT), FRAMES[library](RIGHT)
    on: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    assert listed(fuzzydict.join(left, right[:0], **on))["count_right"] == [None] * 4
    assert len(fuzzydict.join(left[:0], right, **on)) == 0


def test_one_column_may_have_one_name_in_both_frames() -> None:
    left, right = pd.DataFrame({"name": ["colour"]}), pd.DataFrame({"name": ["color"]})
    found = fuzzydict.join(left, right, on="name", add_score=False)
    assert listed(found) == {"name": ["colour"], "name_right": ["color"]}


def test_a_join_takes_the_options_of_a_dict() -> None:
    left, right = pd.DataFrame({"name": ["vehicle"]}), pd.DataFrame({"name": ["car", "tree"]})
    found = fuzzydict.join(left, right, on="name", scorer="spelling")
    assert listed(found)["name_right"] == [None]


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [["colour"], "colour", None, 5, pd.DataFrame({"a": ["b"]})])
def test_what_is_no_column_is_refused(d: FuzzyDict[Any], column: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="column: expected a column"):
        d.match(column)


@pytest.mark.parametrize("values", [[1, 2], ["colour", 1], [b"colour"], [1.5, None]])
def test_a_column_of_other_things_than_texts_is_refused(d: FuzzyDict[Any], values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"column: expected texts, .* in row \d"):
        d.match(pd.Series(values))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "fild"}, "left_on: there is no column 'fild' .did you mean 'field'"),
        ({"left_on": "field"}, "right_on: give left_on and right_on"),
        ({"left_on": "field", "right_on": "nam"}, "did you mean 'name'"),
        ({"left_on": "field", "right_on": "name", "how": "outer"}, "how: expected one of left"),
        ({"left_on": "field", "right_on": "name", "suffix": ""}, "choose another suffix"),
        ({"left_on": "field", "right_on": "name", "score_cutoff": "high"}, "score_cutoff"),
        ({"left_on": "field", "right_on": "name", "scorer": "cosin"}, "scorer 'cosin'"),
    ],
)
def test_a_wrong_argument_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, ArgumentTypeError), match=message):
        fuzzydict.join(pd.DataFrame(LEFT), pd.DataFrame(RIGHT), **options)


def test_a_key_that_comes_twice_is_refused() -> None:
    left, right = pd.DataFrame(LEFT), pd.DataFrame({"name": ["color", "brand", "color"]})
    with pytest.raises(OptionError, match="'color' is in 2 rows"):
        fuzzydict.join(left, right, left_on="field", right_on="name")


def test_frames_of_two_libraries_or_not_collected_are_refused() -> None:
    on: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    with pytest.raises(ArgumentTypeError, match="right: expected a frame of pandas"):
        fuzzydict.join(pd.DataFrame(LEFT), pl.DataFrame(RIGHT), **on)
    with pytest.raises(ArgumentTypeError, match=r"left: .* collect"):
        fuzzydict.join(pl.LazyFrame(LEFT), pl.DataFrame(RIGHT), **on)


def test_a_dict_has_its_own_options(d: FuzzyDict[Any]) -> None:
    with pytest.raises(OptionError, match="scorer: keys is a FuzzyDict"):
        fuzzydict.match(pd.Series(["colour"]), d, scorer="cosine")


# ---- in pandas ----------------------------------------------------------------------------------


def test_series_and_frames_of_pandas_have_an_accessor(d: FuzzyDict[Any]) -> None:
    series = pd.Series(["colour", "brnd"], name="field")
    assert series.fuzzy.match(d).equals(d.match(series))
    right = pd.DataFrame(RIGHT)
    options: dict[str, Any] = {"left_on": "field", "right_on": "name"}
    joined = series.to_frame().fuzzy.join(right, **options)
    assert joined.equals(fuzzydict.join(series.to_frame(), right, **options))


@pytest.mark.parametrize("first", ["import pandas, fuzzydict", "import fuzzydict, pandas"])
def test_pandas_may_be_imported_before_or_after(first: str) -> None:
    code = f"{first}; print(hasattr(pandas.Series, 'fuzzy'), hasattr(pandas.DataFrame, 'fuzzy'))"
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True True\n"


def test_fuzzydict_does_not_import_pandas() -> None:
    code = "import sys, fuzzydict; print({'pandas', 'narwhals', 'polars'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_asked_as_one_query_is_told_where_to_go(d: FuzzyDict[Any], kind: str) -> None:
    with pytest.raises(ArgumentTypeError, match="a column goes to match"):
        d.nearest(COLUMNS[kind](["colour"]))
