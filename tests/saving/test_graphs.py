"""The option `index`, and graphs in the files of dicts."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import Bilinear, FileFormatError, FuzzyDict, MissingExtraError, OptionError
from fuzzydict import saving as saved_keys
from fuzzydict._files import read_arrays
from fuzzydict.search import neighbours
from tests.support.damage import with_arrays
from tests.support.searching import assert_same, compared, hashed, needs_usearch

each_size = pytest.mark.parametrize("little", [0, 1 << 26], ids=["when needed", "at once"])


def load(path: Path) -> FuzzyDict[int]:
    return FuzzyDict.load(path, embedding=hashed)


def saved(path: Path, *keys: str, **options: Any) -> FuzzyDict[int]:
    """Return a dict whose engine was asked, and which is in a file."""
    items = {key: i for i, key in enumerate(keys or ("red sea", "blue sky"), 1)}
    d: FuzzyDict[int] = FuzzyDict(items, embedding=hashed, index="usearch", **options)
    d.get("blue")
    d.save(path)
    return d


def assert_alike(d: FuzzyDict[int], query: str, topn: int = 10) -> None:
    """Assert that a dict answers as one that compares with every key."""
    assert_same(d.most_similar(query, topn), compared(d).most_similar(query, topn))


@needs_usearch
def test_a_scorer_that_needs_every_key_is_refused() -> None:
    axes = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "grey": [0.5, 0.5]}
    d = FuzzyDict({"red": 1.0, "blue": 2.0}, embedding=axes, index="usearch")
    for scorer in ("gaussian", "dot", Bilinear(np.eye(2)), lambda q, k: q @ k.T):
        d.scorer = scorer
        for read in (d.nearest, d.most_similar, d.attend, d.pool, d.explain):
            with pytest.raises(OptionError, match=r"the default score and 'cosine'.*every key"):
                read("grey")
        assert d["red"] == 1.0
        assert d.attend("grey", attn_mask=[True, False]).output == 1.0


def test_exact_reads_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    d: FuzzyDict[int] = FuzzyDict({"color": 1, "brand": 2}, index="usearch")
    with contextlib.suppress(MissingExtraError):
        d.nearest("colour")
    d.save(tmp_path / "with a graph")
    monkeypatch.setitem(sys.modules, "usearch", None)
    d = FuzzyDict(d, index="usearch")
    assert (d["color"], "colour" in d, d.get(5)) == (1, False, None)
    d.save(tmp_path / "d")
    opened: FuzzyDict[int] = FuzzyDict.load(tmp_path / "with a graph")
    opened.save(tmp_path / "again")  # without the graph that it could not use
    for one in (d, opened, *map(FuzzyDict.load, (tmp_path / "d", tmp_path / "again"))):
        for read in (one.nearest, one.most_similar, one.explain, one.__missing__):
            with pytest.raises(MissingExtraError, match=r"pip install usearch, or"):
                read("colour")
        one.index = "exact"
        assert one["colour"] == 1


@needs_usearch
@each_size
def test_graphs_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little: int) -> None:
    monkeypatch.setattr(saved_keys, "_LITTLE", little)
    d = saved(tmp_path / "d", *(f"red {i}" for i in range(300)), scorer="cosine")
    for i in range(100):
        del d[f"red {i}"]
    d["sea"] = 5
    d.save(tmp_path / "d")
    with monkeypatch.context() as patch:
        patch.setattr(neighbours, "add", lambda *_: pytest.fail("it is made anew"))
        one = load(tmp_path / "d")
        assert_alike(one, "red sky")
        one.save(tmp_path / "again")
        load(tmp_path / "again").save(tmp_path / "again")  # before it was asked
        two = load(tmp_path / "again")
        del two["red 200"], two["sea"]
        assert_alike(two, "red sky")
    two["sky"] = 7
    assert two.nearest("sky red").key == compared(two).nearest("sky red").key
    three = load(tmp_path / "again")
    for i in range(100, 280):  # so many that the rest are packed before the engine is asked
        del three[f"red {i}"]
    assert_alike(three, "red sky")
    three.index = "exact"  # which asks no graph, and saves none
    three.save(tmp_path / "d")
    assert load(tmp_path / "d").index == "exact"
    assert not any("graph" in name for name in read_arrays(tmp_path / "d", "fuzzy dict").arrays)


LABELS, GRAPH = "graph labels", "graph"


@needs_usearch
@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop(LABELS),
        lambda arrays: arrays.update({LABELS: arrays[LABELS][1:]}),
        lambda arrays: arrays.update({LABELS: arrays[LABELS][::-1].copy()}),
        lambda arrays: arrays.update({LABELS: arrays[LABELS] - 1}),
        lambda arrays: arrays.pop(GRAPH),
        lambda arrays: arrays.update({LABELS: arrays[LABELS].astype("f4")}),
        lambda arrays: arrays.update({LABELS: arrays[LABELS][:, None]}),
        lambda arrays: arrays.update({GRAPH: arrays[GRAPH].view("i1")}),
        lambda arrays: arrays.update({GRAPH: arrays[GRAPH][None]}),
        lambda arrays: arrays.update({"graph by length": arrays.pop(GRAPH)}),
    ],
)
def test_a_file_whose_graph_is_none_is_refused(tmp_path: Path, change: Any) -> None:
    saved(tmp_path / "damaged")
    with_arrays(tmp_path / "damaged", change)
    with pytest.raises(FileFormatError, match=r"damaged.*restore it from a copy"):
        load(tmp_path / "damaged")


@needs_usearch
@pytest.mark.parametrize("size", [-1, 3, 0])
def test_a_graph_of_no_known_form_is_made_anew(tmp_path: Path, size: int) -> None:
    saved(tmp_path / "other")
    with_arrays(tmp_path / "other", lambda arrays: arrays.update({GRAPH: arrays[GRAPH][:size]}))
    assert_alike(load(tmp_path / "other"), "red sky")
