"""Graphs of near keys: each finds what comparing with all finds, after writes, from a file."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict, PoolingError
from fuzzydict._arrays import inverse_lengths
from fuzzydict.search import neighbours
from fuzzydict.search.lookup import MOST
from fuzzydict.search.neighbours import Neighbours
from tests.support.properties import examples
from tests.support.searching import COPIES, SCORERS, assert_same, check_keys, compared, hashed

pytest.importorskip("usearch", reason="graphs need the extra 'usearch'")
CLOSE = 0.04  # cosines, for a graph keeps 8 bits a number


@pytest.fixture
def walking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let graphs be walked that are so small that all their vectors would be compared."""
    monkeypatch.setattr(neighbours, "_FEW", 0)


class _Vectors:
    """What a graph asks of keys: their vectors, and which are alive."""

    generation = None

    def __init__(self, vectors: Any, alive: Any = None) -> None:
        self.vectors, self.inverse_lengths = vectors, inverse_lengths(vectors)
        self.alive = np.ones(len(vectors), np.bool_) if alive is None else alive
        self.count = int(self.alive.sum())

    def __len__(self) -> int:
        return len(self.vectors)


Vectors: Any = _Vectors


def vectors_of(count: int, size: int = 6, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((count, size)).astype(np.float32)


def check_found(graph: Neighbours, keys: Any, queries: Any, count: int) -> None:
    """Assert that a graph finds the largest cosines among the living keys."""
    for row, query in zip(graph.near(keys, queries, count), queries, strict=True):
        assert len(set(row.tolist())) == len(row) == min(count, keys.count)
        assert keys.alive[row].all()
        cosines = keys.vectors @ query * keys.inverse_lengths / np.linalg.norm(query)
        best = np.sort(cosines[keys.alive])[::-1][: len(row)]
        np.testing.assert_allclose(cosines[row], best, atol=CLOSE)


@given(st.data())
@examples(60)
def test_after_any_writes_it_finds_what_a_comparison_with_all_finds(data: st.DataObject) -> None:
    vectors, alive = vectors_of(1), np.ones(1, np.bool_)
    graph = Neighbours()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_FEW", data.draw(st.sampled_from([0, 60])))
        for step in range(data.draw(st.integers(1, 8))):
            count = data.draw(st.integers(0, 40))
            vectors = np.concatenate([vectors, vectors_of(count, seed=step)])
            alive = np.append(alive, np.ones(count, np.bool_))
            alive[data.draw(st.lists(st.integers(1, len(alive) - 1)) if count else st.just([]))] = 0
            if data.draw(st.booleans()):
                graph = graph.__copy__()
            queries = vectors_of(data.draw(st.integers(1, 3)), seed=99)
            keys = Vectors(vectors, alive.copy())
            check_found(graph, keys, queries, data.draw(st.integers(1, 12)))


def test_vectors_that_are_equal_zero_or_large_are_found() -> None:
    first = np.repeat(np.abs(vectors_of(1)), 300, axis=0)
    more = np.array([[0.0] * 6, [1e30, *[0.0] * 5], [0.0, -1.0, *[0.0] * 4]], np.float32)
    graph = Neighbours()
    found: Any
    queries: Any = 1e20 * np.eye(6, dtype=np.float32)[:2]
    graph.near(Vectors(first), queries, 1)
    keys = Vectors(np.concatenate([first, more]))
    assert graph.near(keys, queries, 1)[0].tolist() == [301]
    assert graph.near(keys, -queries, 1)[1].tolist() == [302]
    for found in graph.near(keys, queries, 303):
        assert sorted(found.tolist()) == list(range(303))


def saved_graph(gone: int = 30) -> tuple[Any, Any, Any]:
    """Return the keys of a graph from which some were removed, its bytes, and its labels."""
    vectors, graph = vectors_of(200), Neighbours()
    graph.near(Vectors(vectors), vectors[:1], 1)
    keys = Vectors(vectors, np.arange(200) >= gone)
    return Vectors(vectors[gone:]), *graph.save(keys)


@pytest.mark.usefixtures("walking")
def test_no_damaged_graph_is_walked_out_of_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """usearch itself ends the process when it reads what some of these hold."""
    keys, saved, labels = saved_graph()
    chance, taken, links = np.random.default_rng(0), 0, 8 + 200 * 6  # bytes of vectors before
    monkeypatch.setattr(neighbours, "add", lambda *_: None)  # to save time
    for _ in range(1000):
        damaged = saved.copy()
        for place in chance.integers(links, len(saved), size=chance.integers(1, 4)):
            damaged[place] = chance.integers(256)
        if chance.random() < 0.1:
            damaged = damaged[: chance.integers(1, len(damaged))]
        if chance.random() < 0.3:  # in the numbers that all others depend on
            place = chance.choice([chance.integers(8), links + chance.integers(120)])
            damaged[place % len(damaged)] ^= np.uint8(1 << chance.integers(8))
        graph = Neighbours()
        graph.restore(None, partial(np.copy, damaged), labels)
        graph.update(keys)
        if len(graph._graph):
            taken += 1
            for row in graph.near(keys, keys.vectors[:3] / 3, 5):
                assert set(row.tolist()) <= set(range(len(keys)))
    assert 0 < taken < 1000


@pytest.mark.parametrize("seed", range(4))
def test_a_random_actor_finds_what_a_new_dict_finds(seed: int) -> None:
    chance = random.Random(seed)
    words = ["red", "blue", "sea", "sky", "deep", "light", "old", "new"]
    names = [f"{a} {b}" for a in words for b in words] + words
    d: FuzzyDict[int] = FuzzyDict(embedding=hashed, index="usearch", score_cutoff=float("-inf"))
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
        check_keys(d)


@pytest.mark.parametrize("moment", ["add", "_rounded"])
def test_a_graph_broken_off_is_made_anew(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    d = FuzzyDict(dict.fromkeys(["red sea", "blue sky"], 1), embedding=hashed, index="usearch")
    d.get("red sky")
    d["old sea"] = 2
    del d["red sea"]
    with monkeypatch.context() as patch:
        patch.setattr(neighbours, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            d.nearest("old sky")
    assert {match.key for match in d.most_similar("old sky")} == {"blue sky", "old sea"}


@pytest.mark.usefixtures("walking")
def test_keys_that_a_walk_does_not_reach_are_found_all_the_same() -> None:
    class Forgetful(list[None]):
        def search(self, *args: Any, exact: bool, **options: Any) -> Any:
            found = whole.search(*args, exact=exact, **options)
            if not exact:
                found.counts[:] = 1
            return found

    graph, keys = Neighbours(), Vectors(vectors_of(300))
    graph.update(keys)
    whole, graph._graph = graph._graph, Forgetful([None] * 300)
    check_found(graph, keys, vectors_of(2, seed=1), 8)


SHARE = 0.03  # by which a probability may be off where there are thousands of keys


def test_values_of_unlike_kinds_are_not_pooled_though_no_query_finds_both() -> None:
    def encode(texts: list[str]) -> list[list[float]]:
        slight = [sum(map(ord, text)) % 97 / 1e4 for text in texts]
        return [[1, x] if text[0] == "a" else [x, 1] for text, x in zip(texts, slight, strict=True)]

    items = {f"a{i}": 1.0 for i in range(2000)} | {f"b{i}": [1.0, 2.0] for i in range(2000)}
    d = FuzzyDict(items, embedding=encode, scorer="cosine", index="usearch")
    assert d.pool(["ax", "ay"]) == pytest.approx([1.0, 1.0])
    with pytest.raises(PoolingError, match="give all one shape"):
        d.pool(["ax", "bx"])


@pytest.fixture(scope="module")
def many() -> dict[str, float]:
    words = [word for word in Brown().words[:6000] if word.isalpha()]
    chance = random.Random(0)
    pairs = {f"{chance.choice(words)} {chance.choice(words)}": 0.0 for _ in range(2500)}
    return {key: float(i % 97) for i, key in enumerate([*words[:4000], *pairs])}


def test_among_thousands_probabilities_are_nearly_the_same(many: dict[str, float]) -> None:
    d = FuzzyDict(many, index="usearch", score_cutoff=0.0)
    all_keys = compared(d)
    keys = list(many)[500::400]
    queries = [key[:3] + "x" + key[3:] for key in keys] + ["ocean voyage", "hue", "qwzzt", "colour"]
    next_best = 0
    for query in queries:
        found, expected = d.nearest(query), all_keys.nearest(query)
        assert found.key == expected.key
        assert found.score == pytest.approx(expected.score, rel=SHARE)
        told, wanted = d.explain(query), all_keys.explain(query)
        assert told.none == pytest.approx(wanted.none, rel=SHARE, abs=1e-3)
        next_best += told.runner_up.key == wanted.runner_up.key
    assert next_best >= 0.8 * len(queries)
    assert d.nearest(keys[0]).score == 1.0
    assert [match.key for match in d.nearest(queries)] == [d.nearest(q).key for q in queries]


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize("scorer", SCORERS)
def test_attention_says_what_it_leaves_out(many: dict[str, float], scorer: str | None) -> None:
    d = FuzzyDict(many, index="usearch", scorer=scorer, score_cutoff=float("-inf"))
    all_keys = compared(d)
    for query in ("ocean voyage", "colour", "government"):
        found, whole = d.attend(query), all_keys.attend(query)
        assert MOST <= len(found.names) < len(many)
        weight = dict(zip(whole.names, whole.weights, strict=True))
        kept = sum(weight[name] for name in found.names)
        assert 1 - kept <= found.left_out * (1 + 1e-3) + 1e-12 < 1
        assert found.weights.sum() == pytest.approx(1)
        shares = [weight[name] / kept for name in found.names]
        np.testing.assert_allclose(found.weights, shares, rtol=2e-3, atol=1e-9)
        assert found.names == [name for name in many if name in set(found.names)]
        assert "all other keys would have had" in str(found)
        assert found.output == d.pool(query)
    masked = [one.attend("ocean", attn_mask=lambda key: key[0] == "s") for one in (d, all_keys)]
    assert (len(masked[0].names), masked[0].left_out) == (len(many), 0)
    np.testing.assert_allclose(masked[0].weights, masked[1].weights, rtol=1e-3)
