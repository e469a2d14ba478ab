"""Dicts that search by an engine: they answer as one that compares with every key."""

from __future__ import annotations

import copy
import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import (
    Bilinear,
    FileFormatError,
    FuzzyDict,
    MissingExtraError,
    NoMatchError,
    OptionError,
    storage,
)
from fuzzydict.approximate import MOST
from fuzzydict.engines import ENGINES
from fuzzydict.exact_search import ExactIndex
from fuzzydict.lookup import Lookup
from tests.searching import EACH_ENGINE, hashed, search_always

SCORERS = [None, "cosine", "dot", "scaled_dot"]
CAR = ["brand", "color", "top speed", "price", "engine power", "seats", "C#", "C++", "year 1961"]
QUERIES = ["colour", "maximum speed", "topSpeed", "c", "year 1962", "cost", "qwzzt", "brand"]
COPIES: list[Any] = [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
SHARE = 0.03  # by which a probability may be off where there are thousands of keys


@pytest.fixture(params=EACH_ENGINE)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of an engine that every dict asks; "exact" names brute force here."""
    search_always(monkeypatch)
    return str(request.param)


class Compared(FuzzyDict[Any]):
    """A dict that compares a query with every key, whatever its engine."""

    @contextmanager
    def _lookup(self) -> Iterator[Lookup]:
        with super()._lookup() as found:
            yield Lookup(found.index, self.scorer)


def compared(d: FuzzyDict[Any]) -> Compared:
    """Return a new dict of the same items and options that asks no engine."""
    options = {n: getattr(d, n) for n in ("embedding", "scorer", "temperature", "score_cutoff")}
    return Compared(d, **options)


def assert_same(found: Any, expected: Any, rel: float = 2e-4) -> None:
    """Assert that matches have the same scores, and the same keys where these tell them apart."""
    scores = [match.score for match in expected]
    assert [match.score for match in found] == pytest.approx(scores, rel=rel, abs=1e-6)
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        near = [s for j, s in enumerate(scores) if j != i and abs(s - scores[i]) <= rel * abs(s)]
        assert near or (one.key, one.value) == (other.key, other.value)


# ---- few keys: all are found ----------------------------------------------------------------


@pytest.mark.parametrize("scorer", SCORERS)
def test_every_read_of_few_keys_is_that_of_a_comparison_with_all(
    engine: str, scorer: str | None
) -> None:
    items = {key: float(i) for i, key in enumerate(CAR)}
    d = FuzzyDict(items, scorer=scorer, index=engine, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in QUERIES:
        assert_same(d.most_similar(query, 5), all_keys.most_similar(query, 5))
        assert d.nearest(query).key == all_keys.nearest(query).key
        assert d[query] == all_keys[query]
        assert d.get(query) == all_keys.get(query)
        assert d.pool(query) == pytest.approx(all_keys.pool(query), rel=1e-3)
        one, other = d.attend(query), all_keys.attend(query)
        assert one.names == other.names
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-3)
        assert one.left_out == other.left_out == 0
        assert str(d.explain(query)) == str(all_keys.explain(query))
    assert_same(d.nearest(QUERIES), all_keys.nearest(QUERIES))
    for row, expected in zip(
        d.most_similar(QUERIES, None), all_keys.most_similar(QUERIES, None), strict=True
    ):
        assert_same(row, expected)
    np.testing.assert_allclose(d.pool(QUERIES), all_keys.pool(QUERIES), rtol=1e-3)
    assert [len(one.names) for one in d.attend(QUERIES)] == [len(CAR)] * len(QUERIES)
    assert (d.nearest([]), d.most_similar([]), d.attend([])) == ([], [], [])
    assert d.pool([]).shape == (0,)


def test_queries_and_dicts_with_nothing_to_compare_are_refused_as_ever(engine: str) -> None:
    d = FuzzyDict({"color": 1.0, 5: 2.0}, index=engine)
    for query in ("?!", 7):
        with pytest.raises(NoMatchError):
            d.nearest(query)
    assert (d[5], d.get("qwzzt", "none")) == (2.0, "none")
    with pytest.raises(NoMatchError, match="no key with letters"):
        FuzzyDict({5: 1}, index=engine)["color"]


# ---- thousands of keys ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> dict[str, float]:
    from fuzzydict import Brown

    words = [word for word in Brown().words[:6000] if word.isalpha()]
    chance = random.Random(0)
    pairs = {f"{chance.choice(words)} {chance.choice(words)}": 0.0 for _ in range(2500)}
    return {key: float(i % 97) for i, key in enumerate([*words[:4000], *pairs])}


def test_among_thousands_probabilities_are_nearly_those_of_a_comparison_with_all(
    engine: str, many: dict[str, float]
) -> None:
    d = FuzzyDict(many, index=engine, score_cutoff=0.0)
    all_keys = compared(d)
    keys = list(many)[500::400]
    queries = [key[:3] + "x" + key[3:] for key in keys] + ["ocean voyage", "hue", "qwzzt", "colour"]
    next_best = 0
    for query in queries:
        found, expected = d.nearest(query), all_keys.nearest(query)
        assert found.key == expected.key
        assert found.score == pytest.approx(expected.score, rel=SHARE)
        told, wanted = d.explain(query), all_keys.explain(query)
        assert told.none == pytest.approx(wanted.none, rel=SHARE)
        next_best += told.runner_up.key == wanted.runner_up.key
    assert next_best >= 0.8 * len(queries)
    assert d.nearest(keys[0]).score == 1.0
    assert [match.key for match in d.nearest(queries)] == [d.nearest(q).key for q in queries]


@pytest.mark.parametrize("scorer", SCORERS)
def test_attention_is_that_over_all_keys_but_for_what_it_says_it_left_out(
    engine: str, many: dict[str, float], scorer: str | None
) -> None:
    d = FuzzyDict(many, index=engine, scorer=scorer, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in ("ocean voyage", "colour", "government"):
        found, whole = d.attend(query), all_keys.attend(query)
        assert MOST <= len(found.names) < len(many)
        weight = dict(zip(whole.names, whole.weights, strict=True))
        kept = sum(weight[name] for name in found.names)
        assert 1 - kept <= found.left_out * (1 + 1e-3) < 1
        assert found.weights.sum() == pytest.approx(1)
        shares = [weight[name] / kept for name in found.names]
        np.testing.assert_allclose(found.weights, shares, rtol=2e-3, atol=1e-9)
        order = {name: i for i, name in enumerate(many)}
        assert [order[name] for name in found.names] == sorted(order[n] for n in found.names)
        assert "keys that were not found would have had" in str(found)
        assert found.output == d.pool(query)


def test_with_a_mask_all_keys_are_compared(engine: str, many: dict[str, float]) -> None:
    d = FuzzyDict(many, index=engine)
    found = d.attend("ocean", attn_mask=lambda key: key.startswith("s"))
    assert len(found.names) == len(many)
    assert found.left_out == 0
    assert sum(found.weights > 0) == sum(key.startswith("s") for key in many)
    other = compared(d).attend("ocean", attn_mask=lambda key: key.startswith("s"))
    np.testing.assert_allclose(found.weights, other.weights, rtol=1e-3)


def test_longer_lists_than_an_engine_is_asked_for_are_of_all_keys(
    engine: str, many: dict[str, float]
) -> None:
    d = FuzzyDict(many, index=engine, scorer="cosine")
    assert len(d.most_similar("ocean", None)) == len(many)
    assert len(d.most_similar("ocean", MOST + 1)) == MOST + 1
    found = {match.key for match in d.most_similar("ocean", MOST)}
    assert len(found) == MOST
    expected = {match.key for match in compared(d).most_similar("ocean", MOST)}
    assert len(found & expected) > 0.98 * MOST


# ---- writes -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_random_actor_finds_what_a_new_dict_finds(engine: str, seed: int) -> None:
    chance = random.Random(seed)
    words = ["red", "blue", "sea", "sky", "deep", "light", "old", "new"]
    names = [f"{a} {b}" for a in words for b in words] + words
    d: FuzzyDict[int] = FuzzyDict(embedding=hashed, index=engine, score_cutoff=float("-inf"))
    d.scorer = chance.choice(SCORERS)
    for step in range(120):
        act = chance.random()
        if act < 0.4:
            d[chance.choice(names)] = step
        elif act < 0.7:
            d.pop(chance.choice(names), None)
        elif act < 0.75:
            d.update(dict.fromkeys(chance.sample(names, 10), step))
        elif act < 0.8 and d:
            d.popitem()
        elif act < 0.82:
            d.clear()
        elif act < 0.9:
            d = chance.choice(COPIES)(d)
        elif d:
            query = f"{chance.choice(words)} {chance.choice(words)}"
            assert_same(d.most_similar(query), compared(d).most_similar(query))
            if query in d:
                assert d.nearest(query).key == query
            _check_neighbours(d)
        d._check()


def _check_neighbours(d: FuzzyDict[Any]) -> None:
    """Assert that the engine of a dict knows the keys that are there, and no others."""
    index = d._index
    assert index is not None
    assert index.neighbours is not None
    engine = index.neighbours.tell(index)
    assert len(engine) == index.count
    (found,) = index.neighbours.near(index, np.ones((1, 12), np.float32), index.count)
    assert sorted(found.tolist()) == np.flatnonzero(index.alive).tolist()


@pytest.mark.parametrize("change", ["add", "remove"])
def test_an_engine_whose_change_was_broken_off_is_made_anew(
    engine: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    d = FuzzyDict(dict.fromkeys(["red sea", "blue sky"], 1), embedding=hashed, index=engine)
    d.get("red sky")
    d["old sea"] = 2
    del d["red sea"]
    with monkeypatch.context() as patch:
        patch.setattr(ENGINES[engine], change, interrupted)
        with pytest.raises(KeyboardInterrupt):
            d.nearest("old sky")
    assert {match.key for match in d.most_similar("old sky")} == {"blue sky", "old sea"}
    _check_neighbours(d)


def test_keys_that_an_engine_does_not_reach_are_found_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Forgetful(ExactIndex):
        def search(self, queries: Any, count: int) -> Any:
            found = super().search(queries, count)
            found[:, 1:] = -1
            return found

    search_always(monkeypatch)
    monkeypatch.setitem(ENGINES, "forgetful", Forgetful)
    d = FuzzyDict(dict.fromkeys(CAR, 1), index="forgetful", scorer="cosine")
    assert_same(d.most_similar("colour"), compared(d).most_similar("colour"))


def test_only_what_is_new_is_told_to_an_engine(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    add = ENGINES[engine].add  # type: ignore[attr-defined]

    def counted(self: Any, labels: Any, vectors: Any) -> None:
        told.append(len(labels))
        add(self, labels, vectors)

    monkeypatch.setattr(ENGINES[engine], "add", counted)
    d = FuzzyDict(
        {f"red {i}": i for i in range(50)}, embedding=hashed, index=engine, scorer="cosine"
    )
    d.get("blue")
    d["sea"] = 1
    d["sky"] = 2
    d.get("deep")
    d.scorer = None  # the same nearness
    d.get("deep")
    other = d.copy()
    other["old"] = 3
    other.get("deep")
    d.get("deep")
    assert told == [50, 2, 1]
    d.scorer = "dot"
    d.get("deep")
    assert told == [50, 2, 1, 52]


# ---- the option ---------------------------------------------------------------------------


def test_the_option_goes_where_options_go(tmp_path: Path) -> None:
    class Many(FuzzyDict[int]):
        index = "usearch"

    d = FuzzyDict({"color": 1}, index="usearch")
    kept = [d.copy(), copy.deepcopy(d), COPIES[2](d), d | {"a": 2}, Many.fromkeys("ab"), Many()]
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


@pytest.mark.parametrize("scorer", ["cosine", "dot"])
def test_a_graph_comes_back_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorer: str
) -> None:
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
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


def test_a_dict_from_a_time_before_engines_compares_with_every_key(tmp_path: Path) -> None:
    FuzzyDict({"color": 1}).save(tmp_path / "d")
    meta, arrays = storage.read(tmp_path / "d", "fuzzy dict")
    del meta["options"]["index"]
    storage.write(tmp_path / "old", "fuzzy dict", meta, {n: np.array(a) for n, a in arrays.items()})
    old: FuzzyDict[int] = FuzzyDict.load(tmp_path / "old")
    assert (old.index, old["colour"]) == ("exact", 1)


def test_learning_leaves_the_engine_in_place(engine: str) -> None:
    d = FuzzyDict({"red": 1.0, "blue": 2.0, "grey": 3.0}, index=engine)
    d.fit(["crimson", "navy", "ash"] * 4, ["red", "blue", "grey"] * 4)
    assert d.index == engine
    assert d["crimson"] in (1.0, 2.0, 3.0)


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
    storage.write(tmp_path / "damaged", "fuzzy dict", meta, arrays)
    with pytest.raises(FileFormatError, match=r"damaged.*restore it from a copy"):
        FuzzyDict.load(tmp_path / "damaged", embedding=hashed)


def test_a_graph_of_no_known_form_is_made_anew(tmp_path: Path) -> None:
    meta, arrays = saved_with_graph(tmp_path)
    for graph in (arrays["graph by cosine"][:-1], np.zeros(3, np.uint8), np.zeros(0, np.uint8)):
        changed = {**arrays, "graph by cosine": graph}
        storage.write(tmp_path / "other", "fuzzy dict", meta, changed)
        d: FuzzyDict[int] = FuzzyDict.load(tmp_path / "other", embedding=hashed)
        assert_same(d.most_similar("red sky"), compared(d).most_similar("red sky"))


def saved_with_graph(tmp_path: Path) -> tuple[Any, dict[str, Any]]:
    """Return what the file of a dict with a graph holds."""
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    d = FuzzyDict({"red sea": 1, "blue sky": 2}, embedding=hashed, index="usearch")
    assert d["blue"] == 2
    d.save(tmp_path / "d")
    meta, arrays = storage.read(tmp_path / "d", "fuzzy dict")
    return meta, {name: np.array(array) for name, array in arrays.items()}
