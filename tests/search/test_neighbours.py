"""Writes to dicts that search by an engine, which is told in one batch of what is new."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fuzzydict import (
    FuzzyDict,
)
from fuzzydict.search.backends import ENGINES
from fuzzydict.search.backends.exact import ExactIndex
from tests.support.searching import COPIES, SCORERS, assert_same, compared, hashed, search_always

CAR = ["brand", "color", "top speed", "price", "engine power", "seats", "C#", "C++", "year 1961"]


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
    keys, neighbours = d._current_reader().lookup.keys, d._kept.neighbours
    assert neighbours is not None
    assert len(neighbours.update(keys)) == keys.count
    (found,) = neighbours.near(keys, np.ones((1, 12), np.float32), keys.count)
    assert sorted(found.tolist()) == np.flatnonzero(keys.alive).tolist()


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


def test_learning_leaves_the_engine_in_place(engine: str) -> None:
    d = FuzzyDict({"red": 1.0, "blue": 2.0, "grey": 3.0}, index=engine)
    d.fit(["crimson", "navy", "ash"] * 4, ["red", "blue", "grey"] * 4)
    assert d.index == engine
    assert d["crimson"] in (1.0, 2.0, 3.0)
