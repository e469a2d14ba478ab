"""Engines: each finds what comparing with every vector finds, after any writes, and from a file."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import OptionError
from fuzzydict.search.backends import ENGINES, check_engine
from fuzzydict.search.backends import usearch as usearch_search
from fuzzydict.search.backends.base import Index
from fuzzydict.search.backends.exact import ExactIndex
from tests.support.properties import examples
from tests.support.searching import EACH_ENGINE

engines = pytest.mark.parametrize("engine", EACH_ENGINE)
are_units = pytest.mark.parametrize("units", [False, True])
CLOSE = {False: 0.012, True: 0.04}  # of products, for a graph keeps 16 or 8 bits a number


@pytest.fixture
def walking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let graphs be walked that are so small that all their vectors would be compared."""
    monkeypatch.setattr(usearch_search, "_FEW", 0)


def vectors_of(count: int, size: int = 6, seed: int = 0, units: bool = False) -> Any:
    """Return vectors of different lengths, none more than 3; or units."""
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((count, size))
    lengths = 1 if units else chance.uniform(0.2, 3, (count, 1))
    vectors *= lengths / np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def filled(engine: str, vectors: Any, units: bool = False) -> Index:
    index = ENGINES[engine](units)
    index.add(np.arange(len(vectors)), vectors)
    return index


def check_found(
    index: Index, kept: dict[int, Any], queries: Any, count: int, units: bool = False
) -> None:
    """Assert that an index finds the largest products among the vectors that are kept."""
    assert len(index) == len(kept)
    found = index.search(queries, count)
    assert found.shape == (len(queries), count)
    for row, query in zip(found.tolist(), queries, strict=True):
        some = min(count, len(kept))
        assert row[some:] == [-1] * (count - some)
        assert len(set(row[:some])) == some
        products = [float(kept[label] @ query) for label in row[:some]]
        best = sorted((float(vector @ query) for vector in kept.values()), reverse=True)
        np.testing.assert_allclose(products, best[:some], atol=CLOSE[units])


@engines
@are_units
@given(st.data())
@examples(60)
def test_after_any_writes_it_finds_what_a_comparison_with_all_finds(
    engine: str, units: bool, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usearch_search, "_FEW", data.draw(st.sampled_from([0, 60])))
        check_writes(ENGINES[engine](units), data, units)


def check_writes(index: Index, data: st.DataObject, units: bool) -> None:
    kept, used = dict[int, Any](), 0
    for step in range(data.draw(st.integers(1, 8))):
        count = data.draw(st.integers(0, 40))
        if data.draw(st.booleans()):
            labels, vectors = (
                np.arange(used, used + count),
                vectors_of(count, seed=step, units=units),
            )
            index.add(labels, vectors)
            kept |= dict(zip(labels.tolist(), vectors, strict=True))
            used += count
        elif kept:
            gone = data.draw(st.lists(st.sampled_from(sorted(kept)), unique=True))
            index.remove(np.array(gone, np.int64))
            kept = {label: vector for label, vector in kept.items() if label not in gone}
        if data.draw(st.booleans()):
            index = copy(index)
        queries = vectors_of(data.draw(st.integers(0, 3)), seed=99, units=True)
        check_found(index, kept, queries, data.draw(st.integers(1, 12)), units)


@engines
def test_a_copy_goes_its_own_way(engine: str) -> None:
    vectors = vectors_of(50)
    index = filled(engine, vectors)
    other = copy(index)
    other.remove(np.arange(25))
    index.add(np.array([50]), vectors_of(1, seed=5))
    queries = vectors[:4] / 3
    check_found(other, dict(enumerate(vectors[25:], 25)), queries, 5)
    check_found(index, dict(enumerate([*vectors, *vectors_of(1, seed=5)])), queries, 5)


@engines
@are_units
@pytest.mark.usefixtures("walking")
def test_hundreds_of_equal_vectors_hide_next_to_no_other(engine: str, units: bool) -> None:
    equal = np.repeat(vectors_of(1, 30, units=True), 300, axis=0)
    vectors = np.concatenate([equal, vectors_of(2000, 30, 2, units=True), 0 * equal])
    np.random.default_rng(0).shuffle(vectors)
    queries = vectors_of(200, 30, 3, units=True)
    found = filled(engine, vectors, units).search(queries, 16)
    wanted = filled("exact", vectors).search(queries, 1)
    assert (found == wanted).any(axis=1).mean() >= 0.9


@engines
@pytest.mark.parametrize("seed", range(5))
def test_vectors_that_are_equal_zero_or_longer_than_the_first_are_found(
    engine: str, seed: int
) -> None:
    first = np.repeat(np.abs(vectors_of(1, seed=seed)), 300, axis=0)
    index = filled(engine, first)
    more = np.array([[0.0] * 6, [40.0, *[0.0] * 5], [0.0, -1.0, *[0.0] * 4]], np.float32)
    index.add(np.arange(300, 303), more)
    queries = np.eye(6, dtype=np.float32)[:2]
    assert index.search(queries, 1)[0].tolist() == [301]
    assert index.search(-queries, 1)[1].tolist() == [302]
    for found in index.search(queries, 303).tolist():
        assert sorted(found) == list(range(303))


@engines
@are_units
def test_among_thousands_it_misses_next_to_nothing(engine: str, units: bool) -> None:
    chance = np.random.default_rng(3)
    themes = chance.standard_normal((300, 40)).astype(np.float32)
    vectors = themes[chance.integers(300, size=6000)] + themes[chance.integers(300, size=6000)]
    vectors += chance.standard_normal(vectors.shape).astype(np.float32) / 5
    queries: Any = vectors[:200] + chance.standard_normal((200, 40)).astype(np.float32) / 2
    queries /= np.abs(queries).max(axis=1, keepdims=True)
    if units:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = filled(engine, vectors, units).search(queries, 20)
    wanted = filled("exact", vectors).search(queries, 10)
    assert (
        np.mean([np.isin(one, row).mean() for one, row in zip(wanted, found, strict=True)]) > 0.99
    )
    assert (found[:, 0] == wanted[:, 0]).mean() >= (0.95 if units else 0.99)


# ---- what is saved ------------------------------------------------------------------------


def blocks(labels: Any, vectors: Any, size: int = 16) -> Any:
    for start in range(0, len(labels), size):
        yield labels[start : start + size], vectors[start : start + size]


def saved_graph(units: bool = False) -> tuple[Any, Any, Any]:
    """Return the labels and vectors of a graph from which some were removed, and its bytes."""
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    vectors = vectors_of(200, units=units)
    index = filled("usearch", vectors, units)
    index.remove(np.arange(30))
    return np.arange(30, 200), vectors[30:], index.save()


@engines
@are_units
@pytest.mark.usefixtures("walking")
def test_what_is_saved_comes_back_or_is_made_anew(engine: str, units: bool) -> None:
    vectors, queries = vectors_of(120, units=units), vectors_of(5, seed=9, units=True)
    index = filled(engine, vectors, units)
    index.remove(np.arange(20))
    labels, kept = np.arange(20, 120), vectors[20:]
    other = ENGINES[engine](units)
    is_back = other.restore(index.save(), blocks(labels, kept), 6)
    assert is_back == (engine != "exact")
    if not is_back:
        assert len(other) == 0
        other.add(labels, kept)
    check_found(other, dict(zip(labels.tolist(), kept, strict=True)), queries, 7, units)
    fresh = vectors_of(1, seed=8, units=units)
    other.add(np.array([120]), fresh)
    other.remove(np.array([20]))
    living = dict(enumerate([*vectors, *fresh][21:], 21))
    check_found(other, living, queries, 7, units)


@pytest.mark.parametrize("gone", [0, 30])
def test_a_graph_of_numbers_of_another_kind_is_not_taken(gone: int) -> None:
    """Such are those by the cosine in files of a time when all graphs kept 16 bits a number."""
    pytest.importorskip("usearch", reason="this engine needs the extra 'usearch'")
    vectors = vectors_of(200, units=True)
    for units in (False, True):
        index = filled("usearch", vectors, units)
        index.remove(np.arange(gone))
        labels, kept = np.arange(gone, 200), vectors[gone:]
        other = ENGINES["usearch"](not units)
        assert not other.restore(index.save(), blocks(labels, kept), 6)
        assert len(other) == 0


def test_a_graph_of_other_keys_is_not_taken() -> None:
    labels, vectors, saved = saved_graph()
    others: list[tuple[Any, Any]] = [
        (labels[1:], vectors[1:]),
        (labels[:-1], vectors[:-1]),
        (labels + 1, vectors),
        (np.append(labels, 200), np.concatenate([vectors, vectors[:1]])),
        (labels, vectors[:, :5]),
        (labels[:0], vectors[:0]),
    ]
    for some, theirs in others:
        index = ENGINES["usearch"]()
        assert not index.restore(saved, blocks(some, theirs), theirs.shape[1])
        assert len(index) == 0


@are_units
@pytest.mark.usefixtures("walking")
def test_no_damaged_graph_is_walked_out_of_its_bounds(units: bool) -> None:
    """usearch itself ends the process when it reads what some of these hold."""
    labels, vectors, saved = saved_graph(units)
    chance = np.random.default_rng(0)
    taken = 0
    for _ in range(1000):
        damaged = saved.copy()
        for place in chance.integers(len(saved), size=chance.integers(1, 4)):
            damaged[place] = chance.integers(256)
        if chance.random() < 0.1:
            damaged = damaged[: chance.integers(1, len(damaged))]
        if chance.random() < 0.3:  # in the numbers that all others depend on
            damaged[chance.integers(120) % len(damaged)] ^= np.uint8(1 << chance.integers(8))
        index = ENGINES["usearch"](units)
        if index.restore(damaged, blocks(labels, vectors), 6):
            taken += 1
            found = index.search(vectors[:3] / 3, 5)
            assert set(found.ravel().tolist()) <= {-1, *labels.tolist()}
    assert 0 < taken < 1000


# ---- their names --------------------------------------------------------------------------


def test_the_names_are_told() -> None:
    for name in ENGINES:
        check_engine(name)
    for wrong in ("faiss", None, 5, ["exact"], ExactIndex):
        with pytest.raises(OptionError, match=r"index: expected one of 'exact', 'usearch', got"):
            check_engine(wrong)
