"""Columns and frames of Dask: the same values as in pandas, each distinct text looked up once."""

from __future__ import annotations

import datetime
import os
import signal
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import fuzzydict
from fuzzydict import ArgumentTypeError, FuzzyDict, Matcher, OptionError, RemoteDict, WorkerError
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


def test_partitions_may_be_empty_and_divisions_unknown() -> None:
    frame = in_parts(TEXTS)
    frame = frame[frame["row"] > 6].clear_divisions()
    assert min(map(len, frame.partitions)) == 0
    d = FuzzyDict(CAR)
    assert_same_parts(d.match(frame["field"]), d.match(frame["field"].compute()), frame)
    joined = fuzzydict.join(frame, FIELDS[["field", "number"]], on="field", suffix=".r")
    expected = fuzzydict.join(frame.compute(), FIELDS[["field", "number"]], on="field", suffix=".r")
    assert_same_parts(joined, expected, frame)


@pytest.mark.parametrize("options", [{"one_to_one": True}, {"score_cutoff": 0.99}])
def test_the_options_are_those_of_pandas(options: Any) -> None:
    frame = in_parts(["colour", "colours", "color", None])
    read, options = frame.compute(), options | {"scorer": "spelling"}
    matched = fuzzydict.match(frame["field"], CAR, **options)
    assert_same_parts(matched, fuzzydict.match(read["field"], CAR, **options), frame)
    options |= {"left_on": "field", "right_on": "name", "add_score": False}
    joined = fuzzydict.join(frame, FIELDS, **options)
    assert_same_parts(joined, fuzzydict.join(read, FIELDS, **options), frame)


def test_each_distinct_text_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    nearest, asked = FuzzyDict.nearest, list[str]()

    def counted(self: Any, query: Any, **options: Any) -> Any:
        asked.extend(query)
        return nearest(self, query, **options)

    monkeypatch.setattr(FuzzyDict, "nearest", counted)
    matched = FuzzyDict(CAR).match(in_parts(TEXTS * 20, npartitions=8)["field"])
    assert sorted(asked) == sorted({text for text in TEXTS if text is not None})
    matched.compute(), matched["score"].mean().compute()
    assert len(asked) == len({*TEXTS} - {None})


# ---- what is refused --------------------------------------------------------------------------


def test_what_is_no_column_of_texts_in_dask_is_refused() -> None:
    frame, d = in_parts(TEXTS), FuzzyDict(CAR)
    with pytest.raises(ArgumentTypeError, match=r"got DataFrame; choose one of its columns"):
        d.match(frame)
    with pytest.raises(ArgumentTypeError, match=r"got Index.*index\.to_series\(\)"):
        d.match(frame.index)
    with pytest.raises(ArgumentTypeError, match="column: expected texts, got int"):
        d.match(frame["row"])
    with pytest.raises(ArgumentTypeError, match=r"keys: .* got Series.*keys\.compute\(\)"):
        fuzzydict.match(frame["field"].compute(), frame["field"])


def test_a_join_that_is_wrong_is_told_before_anything_is_computed() -> None:
    frame = in_parts(TEXTS).map_partitions(lambda _: pytest.fail("computed"), meta=in_parts(TEXTS))
    join: Any = fuzzydict.join
    with pytest.raises(ArgumentTypeError, match=r"right: .*right\.compute\(\)"):
        join(frame, frame, on="field")
    with pytest.raises(ArgumentTypeError, match=r"right: .*right\.compute\(\)"):
        join(FIELDS, frame, on="field")
    with pytest.raises(ArgumentTypeError, match=r"left: .*to_frame\(\)"):
        join(frame["field"], FIELDS, on="field")
    with pytest.raises(OptionError, match=r"no column 'feild' .did you mean 'field'"):
        join(frame, FIELDS, left_on="feild", right_on="name")
    with pytest.raises(OptionError, match="how: expected"):
        join(frame, FIELDS, left_on="field", right_on="name", how="outer")
    with pytest.raises(ArgumentTypeError, match="expected a frame of pandas"):
        join(frame, pytest.importorskip("polars").DataFrame({"a": ["x"]}), on="field")


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
    FuzzyDict({**CAR, "color": 3}).save(path)
    with pytest.raises(OptionError, match="not the file that the Matcher was made with"):
        client.submit(unopened, ["colour"], pure=False).result()
    assert client.submit(Matcher(path), ["colour"], pure=False).result()[0].value == 3
    path.unlink()
    with pytest.raises(FileNotFoundError, match="where every host finds it"):
        client.submit(unopened, ["colour"], pure=False).result()


def encode(texts: list[str]) -> Any:
    """Return vectors (n, 8); a worker that is asked for one of the texts ends, so many times."""
    folder, times = Path(os.environ["DEATHS"]), int(os.environ["TIMES"])
    is_spared = (folder / f"spared {os.getpid()}").exists()
    if "qwzzt" in texts and not is_spared and len(list(folder.glob("dead *"))) < times:
        (folder / f"dead {os.getpid()}").touch()
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    seeds = [zlib.crc32(text.lower().encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=8) for seed in seeds])


@pytest.mark.slow("it starts two clusters, whose workers end")
@pytest.mark.parametrize("times", [1, 99])
def test_workers_that_end_amid_a_join_are_replaced_or_told(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client, LocalCluster

    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2])])
    monkeypatch.setenv("DEATHS", str(tmp_path))
    monkeypatch.setenv("TIMES", str(times))
    (tmp_path / f"spared {os.getpid()}").touch()
    frame = in_parts(TEXTS)
    options: Any = {"left_on": "field", "right_on": "name", "embedding": encode}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        if times == 1:
            joined = fuzzydict.join(frame, FIELDS, **options)
            expected = fuzzydict.join(frame.compute(), FIELDS, **options)
            assert_same_parts(joined, expected, frame)
        else:
            with pytest.raises(WorkerError, match=r"the workers of .* failed: .* memory is full"):
                fuzzydict.join(frame, FIELDS, **options)
    assert len(list(tmp_path.glob("dead *"))) >= min(times, 2)
