"""The option `index`, and graphs in the files of dicts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import Bilinear, FileFormatError, FuzzyDict, MissingExtraError, OptionError
from fuzzydict import saving as saved_keys
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.search.backends import ENGINES
from tests.support.searching import COPIES, assert_same, compared, hashed

# ---- the option ---------------------------------------------------------------------------


def test_the_option_goes_where_options_go(tmp_path: Path) -> None:
    class Many(FuzzyDict[int]):
        index = "usearch"

    d = FuzzyDict({"color": 1}, index="usearch")
    kept = [*(copied(d) for copied in COPIES), d | {"a": 2}, Many.fromkeys("ab"), Many()]
    assert [one.index for one in kept] == ["usearch"] * 6
    assert FuzzyDict({"color": 1}).index == FuzzyDict(d).index == "exact"
    d.save(tmp_path / "d")
    assert FuzzyDict.load(tmp_path / "d").index == "usearch"
    with pytest.raises(OptionError, match="index: expected one of 'exact', 'usearch', got 'faiss'"):
        FuzzyDict(index="faiss")
    with pytest.raises(OptionError, match="index: expected one of"):
        d.index = "hnsw"


def test_a_scorer_that_needs_every_key_is_refused(engine: str) -> None:
    axes = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "grey": [0.5, 0.5]}
    d = FuzzyDict({"red": 1.0, "blue": 2.0}, embedding=axes, index=engine)
    for scorer in ("gaussian", Bilinear(np.eye(2)), lambda q, k: q @ k.T):
        d.scorer = scorer
        for read in (d.nearest, d.most_similar, d.attend, d.pool, d.explain):
            with pytest.raises(OptionError, match=r"'cosine', 'dot' and 'scaled_dot'.*every key"):
                read("grey")
        assert d["red"] == 1.0
        assert d.attend("grey", attn_mask=[True, False]).output == 1.0


def test_without_the_extra_all_works_but_fuzzy_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    d = FuzzyDict({"color": 1}, index="usearch")
    assert (d["color"], "colour" in d, d.get(5)) == (1, False, None)
    d.save(tmp_path / "d")
    for one in (d, FuzzyDict.load(tmp_path / "d")):
        for read in (one.nearest, one.most_similar, one.explain, one.__missing__):
            with pytest.raises(MissingExtraError, match=r"pip install 'fuzzydict\[usearch\]', or"):
                read("colour")
        one.index = "exact"
        assert one["colour"] == 1


# ---- files --------------------------------------------------------------------------------


@pytest.mark.parametrize("little", [0, 1 << 26], ids=["read when needed", "read at once"])
@pytest.mark.parametrize("scorer", ["cosine", "dot"])
def test_a_graph_comes_back_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorer: str, little: int
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    monkeypatch.setattr(saved_keys, "_LITTLE", little)
    d = FuzzyDict(
        {f"red {i}": i for i in range(300)}, embedding=hashed, index="usearch", scorer=scorer
    )
    d.get("blue")
    for i in range(100):
        del d[f"red {i}"]
    d["sea"] = 5
    d.save(tmp_path / "d")
    with monkeypatch.context() as patch:
        patch.setattr(ENGINES["usearch"], "add", lambda *_: pytest.fail("it is made anew"))
        one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
        assert_same(one.most_similar("red sky"), compared(one).most_similar("red sky"))
        one.save(tmp_path / "again")
        two: FuzzyDict[int] = FuzzyDict.load(tmp_path / "again", embedding=hashed)
        two.save(tmp_path / "again")  # before it was asked
        two = FuzzyDict.load(tmp_path / "again", embedding=hashed)
        del two["red 200"], two["sea"]
        assert_same(two.most_similar("red sky"), compared(two).most_similar("red sky"))
    two["sky"] = 7
    assert two.nearest("sky red").key == compared(two).nearest("sky red").key
    three: FuzzyDict[int] = FuzzyDict.load(tmp_path / "again", embedding=hashed)
    for i in range(100, 280):  # so many that the rest are packed before the engine is asked
        del three[f"red {i}"]
    assert_same(three.most_similar("red sky"), compared(three).most_similar("red sky"))


@pytest.mark.parametrize("little", [0, 1 << 26], ids=["read when needed", "read at once"])
def test_a_dict_that_no_longer_asks_its_engine_is_saved_without_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little: int
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    monkeypatch.setattr(saved_keys, "_LITTLE", little)
    d = FuzzyDict({"red sea": 1, "blue sky": 2}, embedding=hashed, index="usearch")
    assert d["blue"] == 2
    d.save(tmp_path / "d")
    one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
    one.index = "exact"
    one.save(tmp_path / "again")
    two: FuzzyDict[int] = FuzzyDict.load(tmp_path / "again", embedding=hashed)
    assert (two.index, two["blue"]) == ("exact", 2)


def test_a_graph_that_was_not_asked_since_it_was_loaded_is_saved_with_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    d = FuzzyDict({"red sea": 1, "blue sky": 2}, embedding=hashed, index="usearch")
    assert d["blue"] == 2
    d.save(tmp_path / "d")
    one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
    one["white cloud"] = 3
    del one["red sea"]
    one.save(tmp_path / "again")
    monkeypatch.setattr(ENGINES["usearch"], "add", lambda *_: pytest.fail("it is made anew"))
    two: FuzzyDict[int] = FuzzyDict.load(tmp_path / "again", embedding=hashed)
    assert_same(two.most_similar("white", 2), compared(two).most_similar("white", 2))


@pytest.mark.parametrize("gone", ["red sea", "blue sky", "green hill"])
def test_keys_that_come_after_one_that_went_before_saving_are_found(
    tmp_path: Path, gone: str
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    keys = ["red sea", "blue sky", "green hill"]
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=hashed, index="usearch", scorer="cosine")
    d.get("blue")
    del d[gone]
    d.save(tmp_path / "d")
    one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
    one["white cloud"] = 2
    assert_same(one.most_similar("white", 3), compared(one).most_similar("white", 3))


def test_a_file_with_a_graph_opens_where_the_extra_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    d = FuzzyDict({"red sea": 1, "blue sky": 2}, embedding=hashed, index="usearch")
    assert d["blue"] == 2
    d.save(tmp_path / "d")
    size = (tmp_path / "d").stat().st_size
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "usearch", None)
        one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
        assert one == d
        with pytest.raises(MissingExtraError):
            one["blue"]
        one.save(tmp_path / "d")  # with the graph that it could not use
        assert (tmp_path / "d").stat().st_size == size
        one.index = "exact"
        assert one["blue"] == 2
    assert FuzzyDict.load(tmp_path / "d", embedding=hashed)["blue"] == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("graph labels"),
        lambda arrays: arrays.update({"graph labels": arrays["graph labels"][1:]}),
        lambda arrays: arrays.update({"graph labels": arrays["graph labels"][::-1].copy()}),
        lambda arrays: arrays.update({"graph labels": arrays["graph labels"] - 1}),
        lambda arrays: arrays.update({"graph labels": arrays["graph labels"].astype("f4")}),
        lambda arrays: arrays.update({"graph labels": arrays["graph labels"][:, None]}),
        lambda arrays: arrays.update({"graph by cosine": arrays["graph by cosine"].view("i1")}),
        lambda arrays: arrays.update({"graph by cosine": arrays["graph by cosine"][None]}),
        lambda arrays: arrays.update({"graph by length": arrays.pop("graph by cosine")}),
    ],
)
def test_a_file_whose_graph_is_none_is_refused(tmp_path: Path, change: Any) -> None:
    meta, arrays = saved_with_graph(tmp_path)
    change(arrays)
    write_arrays(tmp_path / "damaged", "fuzzy dict", meta, arrays)
    with pytest.raises(FileFormatError, match=r"damaged.*restore it from a copy"):
        FuzzyDict.load(tmp_path / "damaged", embedding=hashed)


def test_a_graph_of_no_known_form_is_made_anew(tmp_path: Path) -> None:
    meta, arrays = saved_with_graph(tmp_path)
    for graph in (arrays["graph by cosine"][:-1], np.zeros(3, np.uint8), np.zeros(0, np.uint8)):
        changed = {**arrays, "graph by cosine": graph}
        write_arrays(tmp_path / "other", "fuzzy dict", meta, changed)
        d: FuzzyDict[int] = FuzzyDict.load(tmp_path / "other", embedding=hashed)
        assert_same(d.most_similar("red sky"), compared(d).most_similar("red sky"))


def saved_with_graph(tmp_path: Path) -> tuple[Any, dict[str, Any]]:
    """Return what the file of a dict with a graph holds."""
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    d = FuzzyDict({"red sea": 1, "blue sky": 2}, embedding=hashed, index="usearch")
    assert d["blue"] == 2
    d.save(tmp_path / "d")
    meta, arrays, _ = read_arrays(tmp_path / "d", "fuzzy dict")
    return meta, {name: np.array(array) for name, array in arrays.items()}


def test_a_copy_made_before_the_first_read_has_a_graph_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    monkeypatch.setattr(saved_keys, "_LITTLE", 0)  # so that the file is read when it is needed
    items = {f"red {i}": i for i in range(300)}
    d = FuzzyDict(items, embedding=hashed, index="usearch", scorer="cosine")
    d.get("blue")
    d.save(tmp_path / "d")
    one: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=hashed)
    two = one.copy()
    one["sky a"] = 1
    one.get("sky")
    two.get("sky")
    one["sea b"] = 2
    for some in (one, two):
        for query in ("sea", "sky", "red"):
            assert_same(some.most_similar(query, 2), compared(some).most_similar(query, 2))


def test_a_graph_of_other_vectors_is_not_saved_with_new_ones(tmp_path: Path) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    names = [f"k{i}" for i in range(5000)]
    one, other = np.random.default_rng(0).standard_normal((2, len(names), 12))
    first, then = dict(zip(names, one, strict=True)), dict(zip(names, other, strict=True))
    options: Any = {"scorer": "cosine", "index": "usearch"}
    d = FuzzyDict(dict.fromkeys(names, 1), embedding=first, **options)
    d.nearest("k1")
    d.save(tmp_path / "first.fuzzydict")
    d = FuzzyDict.load(tmp_path / "first.fuzzydict", embedding=first)
    d.embedding = then
    d.save(tmp_path / "then.fuzzydict")
    d = FuzzyDict.load(tmp_path / "then.fuzzydict", embedding=then)
    exact = FuzzyDict(dict.fromkeys(names, 1), embedding=then, scorer="cosine")
    asked = names[::500]
    found, expected = d.most_similar(asked, 10), exact.most_similar(asked, 10)
    shared = [
        len({m.key for m in a} & {m.key for m in b}) for a, b in zip(found, expected, strict=True)
    ]
    assert np.mean(shared) > 9
