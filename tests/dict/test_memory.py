"""What a dict holds in memory: little more than its matrix, and no more after many queries."""

from __future__ import annotations

import functools
import gc
import os
import tracemalloc
from typing import Any

import numpy as np
import pytest

from fuzzydict import Brown, FuzzyDict
from fuzzydict.text import similarity as spelling
from tests.benchmarks import memory

QUERIES = 40_000 if os.environ.get("FUZZYDICT_SLOW") else 4000


def one_hot(texts: list[str]) -> Any:
    return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


@pytest.fixture(autouse=True)
def _no_tracing_is_left() -> Any:
    yield
    tracemalloc.stop()


def test_a_dict_takes_little_more_than_its_matrix() -> None:
    rows = memory.keys_measured(10_000, traces=True)
    size = len(FuzzyDict({"color": 1}).attend("colour").query)
    assert [row.matrix for row in rows] == [10_000 * size * 4 / 1e6] * 2
    assert all(1 < row.ratio <= memory.BOUND for row in rows)


def test_a_small_dict_takes_little() -> None:
    warm = FuzzyDict({"color": 1}, embedding=one_hot)
    warm.get("colour")
    tracemalloc.start()
    dicts = [FuzzyDict({"color": 1, "brand": 2}, embedding=one_hot) for _ in range(20)]
    for d in dicts:
        d.get("colour")
    assert memory.traced() * 1e6 / len(dicts) < 15_000


def test_queries_leave_nothing_but_what_bounded_caches_hold() -> None:
    d = FuzzyDict(dict.fromkeys(memory.key_texts(200), 0), embedding=one_hot)
    queries = memory.query_texts()
    for _ in range(500):
        d.get(next(queries))
    spelling._short_sound.cache_clear()  # so that what it gives up for others is counted as well
    tracemalloc.start()
    for _ in range(QUERIES):
        d.get(next(queries))
    gc.collect()
    # The cache of sounds is the one that fills here: some 250 bytes for each text and each word.
    # What the last 1,024 found, and the n-grams of the last 256, take 0.2 MB at the most.
    filled = spelling._short_sound.cache_info().currsize
    assert memory.traced() * 1e6 < 1.2e6 + 400 * filled
    assert d._index is not None
    assert len(d._index) == 200


def caches() -> dict[str, int | None]:
    """Return the package's caches of function results, by name, with their sizes."""
    Brown()
    # By type: isinstance asks an object for its __class__, and some of torch's warn when asked.
    found = [o for o in gc.get_objects() if type(o) is functools._lru_cache_wrapper]
    own = [c for c in found if c.__module__.startswith("fuzzydict.")]
    return {c.__qualname__: c.cache_parameters()["maxsize"] for c in own}


def test_every_cache_is_bounded() -> None:
    sizes = caches()
    # Functions without arguments have one result; what was not imported is not found.
    assert sizes.pop("Brown") is None
    assert sizes.pop("Projections.shipped", None) is None  # one result for each name that ships
    assert sizes.pop("sentence_encoder", None) is None
    assert sizes
    for name, size in sizes.items():
        assert size is not None, name


def test_the_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    memory.main(["--part", "resident", "--keys", "500"])
    memory.main(["--part", "queries", "--queries", "20"])
    out = capsys.readouterr().out
    assert "| after the first read |" in out
    assert "\n| 20 |" in out
    assert "a million would leave" in out
