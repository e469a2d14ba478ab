"""Readers beside writers, in threads and forks: no error, and no answer from half of a write."""

from __future__ import annotations

import copy
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fuzzydict import FuzzyDict, NoMatchError
from tests.benchmarks.campaigns import campaign
from tests.support.properties import SLOW
from tests.support.recording import one_hot
from tests.support.searching import check_keys

ROUNDS = 130 if SLOW else 40
READERS = 4
PAUSE = 0.001  # seconds after each write, for writers wait for no reader


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


KEYS = [f"colour {i}" for i in range(40)]


def beside(write: Callable[[int], None], *reads: Callable[[], None]) -> None:
    """Run each read again and again in threads of its own, until the writes are done."""
    done = threading.Event()

    def reader(read: Callable[[], None]) -> int:
        count = 0
        while not done.is_set() or not count:
            read()
            count += 1
        return count

    with ThreadPoolExecutor(READERS * len(reads)) as pool:
        counts = [pool.submit(reader, read) for read in reads for _ in range(READERS)]
        try:
            for i in range(ROUNDS):
                write(i)
                time.sleep(PAUSE)
        finally:
            done.set()
        assert all(count.result(timeout=60) for count in counts)


@pytest.mark.filterwarnings("ignore::fuzzydict.errors.DoubtfulPoolWarning")  # the keys are alike
@pytest.mark.parametrize("mode", ["nearest", "pool"])
def test_values_are_those_before_or_after_an_update(mode: str) -> None:
    d = FuzzyDict(dict.fromkeys(KEYS, 0.0), mode=mode, embedding=one_hot, score_cutoff=0.0)
    several = ["color", "colour", "colour 1"]

    def write(i: int) -> None:
        d.update(dict.fromkeys(KEYS, float(i % 2)))

    def one() -> None:
        for value in (d.pool("color"), d["color"]):
            assert value in (pytest.approx(0.0), pytest.approx(1.0))

    def attend() -> None:
        assert len(set(d.attend("color").values)) == 1

    def ranked() -> None:
        assert len({match.value for match in d.most_similar("color", topn=None)}) == 1
        assert len({match.value for match in d.nearest(several)}) == 1

    beside(write, one, attend, ranked)


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
def test_every_kind_of_write_beside_every_kind_of_read() -> None:
    d: FuzzyDict[float] = FuzzyDict(dict.fromkeys(KEYS, 1.0), embedding=one_hot)

    def write(i: int) -> None:
        d[f"new {i}"] = 1.0
        d.pop(KEYS[i % 40], None)
        d.setdefault(KEYS[(i + 7) % 40], 1.0)
        d.update({f"more {i % 9}": 1.0, f"most {i}": 1.0})
        d.popitem()
        if i % 30 == 29:
            d.clear()
        if i % 36 == 35:
            d.embedding = one_hot if i % 72 == 71 else lambda texts: one_hot(texts) * 2

    def read() -> None:
        assert d.get("color", 1.0) == 1.0
        try:
            assert d.pool("colour 77") == pytest.approx(1.0)
            assert d.nearest("colour 77").value == 1.0
        except NoMatchError:
            pass

    def copies() -> None:
        assert set(d.copy().values()) <= {1.0}
        assert set((d | {"x": 1.0}).values()) == {1.0}
        assert set(copy.deepcopy(d).values()) <= {1.0}
        _, _, _, _, pairs = d.__reduce_ex__(4)  # what a pickle is made of
        assert set(dict(pairs).values()) <= {1.0}
        d.score_cutoff = 0.1

    beside(write, read, copies)
    check_keys(d)
    fresh = FuzzyDict(d, embedding=d.embedding).attend("color")
    assert d.attend("color").weights == pytest.approx(fresh.weights, abs=1e-6)


def test_a_slow_update_holds_no_other_dict_up() -> None:
    d, other = FuzzyDict({"a": 1}, embedding=one_hot), FuzzyDict({"a": 1}, embedding=one_hot)
    begun, go_on = threading.Event(), threading.Event()

    def pairs() -> Iterator[tuple[str, int]]:
        yield "b", 2
        begun.set()
        assert go_on.wait(60)
        yield "c", 3

    with ThreadPoolExecutor(1) as pool:
        update = pool.submit(d.update, pairs())
        assert begun.wait(60)
        assert other.nearest("A", score_cutoff=0).value == 1
        # What needs no vectors is not held up at all.
        assert (d["a"], d["b"], "c" in d, len(d)) == (1, 2, False, 2)
        go_on.set()
        update.result(60)
    assert list(d) == ["a", "b", "c"]


def test_a_list_is_compared_while_others_write() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def score(queries: Any, keys: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return queries @ keys.T

    d = FuzzyDict(dict.fromkeys(KEYS, 1.0), embedding=one_hot, scorer=score, score_cutoff=0)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(d.get_many, ["color 1", "color 2"])
        assert begun.wait(60)
        d.update(dict.fromkeys(KEYS, 2.0))  # which waits for nobody
        d["new"] = 3.0
        go_on.set()
        assert found.result(60) == [2.0, 2.0]


@pytest.mark.parametrize("rounds", [1, 5])
def test_a_key_deleted_while_it_is_compared_is_not_found(rounds: int) -> None:
    d: FuzzyDict[float] = FuzzyDict(embedding=one_hot, score_cutoff=0)
    left = rounds

    def score(queries: Any, keys: Any) -> Any:
        nonlocal left
        if left and not d._lock._is_owned():  # then nobody can write
            left -= 1
            with ThreadPoolExecutor(1) as pool:
                pool.submit(d.__delitem__, next(iter(d))).result(60)
        return queries @ keys.T

    d.update(dict.fromkeys(KEYS, 1.0))
    d.scorer = score
    assert {match.key for match in d.most_similar("color", None)} == set(d)
    assert len(d) == len(KEYS) - 1


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.mark.parametrize(
    ("attack", "count"),
    [
        ("threads", 10 if SLOW else 3),
        pytest.param("forks", 10 if SLOW else 4, marks=needs_fork),
        pytest.param("kills", 20, marks=needs_fork),
    ],
)
def test_no_read_is_wrong_no_child_hangs_and_no_file_is_torn(attack: str, count: int) -> None:
    assert not campaign(attack, count, seed=1)[0]


def test_copies_that_go_on_at_once_each_have_their_own_keys() -> None:
    d = FuzzyDict({"red": 1, "blue": 2}, embedding=one_hot)
    d.get("x y")

    def go_on(i: int) -> FuzzyDict[int]:
        other = d.copy()
        other[f"new {i}"] = i
        other.get("x y")
        return other

    with ThreadPoolExecutor(8) as pool:
        for i, other in enumerate(pool.map(go_on, range(50))):
            assert {m.key for m in other.most_similar("new")} == {"red", "blue", f"new {i}"}
            check_keys(other)
    check_keys(d)
