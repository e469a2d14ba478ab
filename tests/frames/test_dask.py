"""Columns and frames of Dask: the same values as in pandas, each distinct text looked up once."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pandas.testing import assert_frame_equal

import fuzzydict
from fuzzydict import ArgumentTypeError, FuzzyDict, Matcher, OptionError, RemoteDict
from tests.support.frames import until
from tests.support.memory_store import MemoryStore

dd = pytest.importorskip("dask.dataframe", reason="dask is not installed (extra dask)")
pytestmark = pytest.mark.more

CAR = {"brand": 1, "color": 2, "top speed": 260}
TEXTS = ["colour", "qwzzt", None, "brnd", "colour", "TopSpeed", None, "brand", "colour", ""]
FOUND = ["colour", "brnd", "TopSpeed", "brand", "colour"]
FIELDS = pd.DataFrame(
    {
        "name": ["brand", "color", "top speed", "unused"],
        "number": [1, 2, 3, 2**60],
        "flag": [True, False, True, True],
        "kind": pd.Categorical(["a", "b", "a", "a"]),
        "field": ["w", "x", "y", "z"],
    }
)
DTYPES = ["object", "str", "category", "string", "string[pyarrow]", "large_string[pyarrow]"]
VALUES: list[list[Any]] = [["a", "b", "c"], [1, 2.5, "c"], [2**60, 1, 2], [True, 1, {}]]


def assert_same_parts(lazy: Any, expected: pd.DataFrame, like: Any) -> None:
    """Assert that a frame of Dask has the partitions of another, and computes what is expected."""
    assert lazy.npartitions == like.npartitions
    assert lazy.divisions == like.divisions
    computed = lazy.compute()
    assert_frame_equal(computed, expected)
    for part in lazy.partitions:
        assert part.compute().dtypes.astype(str).to_dict() == lazy.dtypes.astype(str).to_dict()


def in_parts(texts: list[str | None], dtype: str = "str", **options: Any) -> Any:
    """Return a frame of Dask with texts, and an index of which each label comes twice."""
    field = pd.Series(texts, dtype="object").astype(dtype)
    frame = pd.DataFrame({"row": range(len(texts)), "field": field})
    frame.index = pd.Index([row // 2 for row in range(len(texts))])
    return dd.from_pandas(frame, **{"npartitions": 3, "sort": True, **options})


# ---- the same as in pandas --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("texts", [TEXTS, FOUND, [None, None], []])
def test_a_column_is_matched_as_in_pandas(dtype: str, texts: list[str | None]) -> None:
    frame = in_parts(texts, dtype)
    for values in [[*CAR.values()], *(VALUES if texts is TEXTS else [])]:
        d: FuzzyDict[Any] = FuzzyDict(zip(CAR, values, strict=True))
        assert_same_parts(d.match(frame["field"]), d.match(frame["field"].compute()), frame)


@pytest.mark.parametrize("how", ["left", "inner", "anti"])
@pytest.mark.parametrize("texts", [TEXTS, FOUND, ["qwzzt", None], []])
@pytest.mark.parametrize("dtype", ["str", "category"])
def test_a_frame_is_joined_as_in_pandas(how: str, texts: list[str | None], dtype: str) -> None:
    frame = in_parts(texts, dtype)
    options: Any = {"left_on": "field", "right_on": "name", "how": how}
    expected = fuzzydict.join(frame.compute(), FIELDS, **options)
    assert_same_parts(fuzzydict.join(frame, FIELDS, **options), expected, frame)


def test_a_store_is_asked_as_in_pandas() -> None:
    frame, d = in_parts(TEXTS), RemoteDict(MemoryStore()).open(create=True)
    d.update(CAR)
    expected = d.match(frame["field"].compute())
    assert_same_parts(d.match(frame["field"]), expected, frame)
    assert_same_parts(fuzzydict.match(frame["field"], d), expected, frame)


@pytest.mark.parametrize("options", [{"one_to_one": True}, {"score_cutoff": 0.99}])
def test_the_options_are_those_of_pandas(options: Any) -> None:
    frame = in_parts(["colour", "colours", "color", None, "brnd", None, "color", None])
    frame = frame[frame["row"] != 4].clear_divisions()  # of which one part may be empty
    frame = frame[frame["row"] > 2] if "one_to_one" in options else frame
    read, options = frame.compute(), options | {"scorer": "spelling"}
    matched = fuzzydict.match(frame["field"], CAR, **options)
    assert_same_parts(matched, fuzzydict.match(read["field"], CAR, **options), frame)
    options |= {"left_on": "field", "right_on": "name", "add_score": False, "suffix": ".r"}
    joined = fuzzydict.join(frame, FIELDS, **options)
    assert_same_parts(joined, fuzzydict.join(read, FIELDS, **options), frame)


# ---- what is refused --------------------------------------------------------------------------


def test_what_is_no_column_of_texts_in_dask_is_refused() -> None:
    frame, d = in_parts(TEXTS), FuzzyDict(CAR)
    for column, told in (
        (frame, "got DataFrame; choose one of its columns"),
        (frame.index, r"got Index.*index\.to_series\(\)"),
        (frame["row"], "column: expected texts, got int"),
    ):
        with pytest.raises(ArgumentTypeError, match=told):
            d.match(column)
    with pytest.raises(ArgumentTypeError, match=r"keys: .* got Series.*keys\.compute\(\)"):
        fuzzydict.match(frame["field"].compute(), frame["field"])


def test_a_join_that_is_wrong_is_told_before_anything_is_computed() -> None:
    frame = in_parts(TEXTS).map_partitions(lambda _: pytest.fail("computed"), meta=in_parts(TEXTS))
    named = {"left_on": "field", "right_on": "name"}
    wrong: list[tuple[Any, Any, dict[str, str], str]] = [
        (frame, frame, {"on": "field"}, r"right: .*compute\(\)"),
        (FIELDS, frame, {"on": "field"}, r"right: .*compute\(\)"),
        (frame["field"], FIELDS, {"on": "field"}, r"left: .*to_frame\(\)"),
        (frame, FIELDS, named | {"left_on": "feild"}, "no column 'feild' .did you mean 'field'"),
        (frame, FIELDS, named | {"how": "outer"}, "how: expected"),
        (frame, pl.DataFrame({"a": ["x"]}), {"on": "field"}, "expected a frame of pandas"),
    ]
    for left, right, options, told in wrong:
        with pytest.raises((ArgumentTypeError, OptionError), match=told):
            fuzzydict.join(left, right, **options)  # type: ignore[arg-type]


def test_data_that_changed_after_its_texts_were_looked_up_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    path.write_text("field\ncolour\n")
    frame = dd.read_csv(path)
    lazy = [FuzzyDict(CAR).match(frame["field"])] + [
        fuzzydict.join(frame, FIELDS, left_on="field", right_on="name", how=how)
        for how in ("left", "inner", "anti")
    ]
    path.write_text("field\ncolour\nbrnd\n")
    for one in lazy:
        with pytest.raises(OptionError, match=r"column: 'brnd' was not in it.*persist\(\)"):
            one.compute()


# ---- on a cluster -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_workers_answer_as_this_process_does_and_are_sent_no_values(client: Any) -> None:
    days = [datetime.date(2026, 1, day) for day in (1, 2, 3)]  # which no file holds
    d, frame = FuzzyDict(zip(CAR, days, strict=True)), in_parts(TEXTS)
    assert_same_parts(d.match(frame["field"]), d.match(frame["field"].compute()), frame)
    joined = fuzzydict.join(frame, FIELDS, left_on="field", right_on="name")
    expected = fuzzydict.join(frame.compute(), FIELDS, left_on="field", right_on="name")
    assert_same_parts(joined, expected, frame)
    until(lambda: not any(client.run(lambda dask_worker: len(dask_worker.data)).values()))


def test_workers_open_the_file_of_a_matcher(client: Any, tmp_path: Path) -> None:
    d, column, path = FuzzyDict(CAR), in_parts(TEXTS)["field"], tmp_path / "d"
    d.save(path)
    assert_same_parts(Matcher(path)(column), d.match(column.compute()), column)
    unopened = Matcher(path, embedding="english")
    path.unlink()
    with pytest.raises(FileNotFoundError, match="where every host finds it"):
        client.submit(unopened, ["colour"], pure=False).result()
