"""What a dict costs: the texts that are encoded, the strings indexed, and the memory it holds."""

from __future__ import annotations

import functools
import gc
import inspect
import tracemalloc
from typing import Any

import pytest

from fuzzydict import Brown, FuzzyDict, reads
from fuzzydict.search import keys, lookup
from fuzzydict.text.ngrams import ngrams_of_each
from tests.benchmarks.queries import key_texts
from tests.support.recording import Recording, one_hot


def keys_of(d: FuzzyDict[Any]) -> keys.Keys:
    return d._current_reader().lookup.keys


def test_reads_in_turn_with_writes_and_deletes_cost_what_changed(monkeypatch: Any) -> None:
    recording, indexed = Recording(one_hot), list[str]()
    encoded = recording.asked

    def counted(strings: Any) -> Any:
        indexed.extend(strings)
        return ngrams_of_each(strings)

    monkeypatch.setattr(keys, "ngrams_of_each", counted)
    d = FuzzyDict({f"key {i}": i for i in range(200)}, embedding=recording)
    d.get("query")
    assert (len(encoded), len(indexed)) == (200 + 1, 200)  # one batch, and the query
    buffers = set()
    for i in range(100):
        d[f"new {i}"] = i
        d.get(f"query {i}")
        buffers.add(id(keys_of(d).columns.base))
    assert (len(encoded), len(indexed)) == (201 + 2 * 100, 200 + 100)
    assert len(buffers) <= 6  # the matrix is moved each time it has grown by an eighth
    encoded.clear()
    indexed.clear()
    for i in range(280):
        del d[next(iter(d))]
        d.get(f"other {i}")
        assert len(keys_of(d)) <= 2 * len(d) + 1
    assert len(encoded) == 280  # the queries
    assert len(indexed) <= 300  # the keys that are left when half are dead: 150 + 75 + ...


@pytest.mark.filterwarnings("ignore:pool")
@pytest.mark.parametrize("method", ["get_many", "pool"])
def test_many_are_compared_some_at_a_time(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "QUERIES", 8)
    monkeypatch.setattr(reads, "_SHORT", 0)  # so that nothing is remembered
    texts = key_texts(350)
    d = FuzzyDict(dict.fromkeys(texts[:30], 1.0), embedding=one_hot)
    queries = [" ".join(pair) for pair in zip(texts[30:190], texts[190:], strict=True)]
    read = functools.partial(getattr(d, method), score_cutoff=-1)
    read(queries)
    peaks = []
    for count in (20, 160):
        tracemalloc.start()
        read(queries[:count])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 3 * peaks[0]


def test_every_cache_is_bounded() -> None:
    Brown()
    gc.unfreeze()  # the modules, which tests/conftest.py leaves out of garbage collection
    # By type: isinstance asks an object for its __class__, and some of torch's warn when asked.
    caches: list[Any] = [o for o in gc.get_objects() if type(o) is functools._lru_cache_wrapper]
    gc.collect()
    gc.freeze()
    sizes = {
        cache.__qualname__: cache.cache_parameters()["maxsize"]
        for cache in caches
        # Without parameters there is one result.
        if cache.__module__.startswith("fuzzydict.") and inspect.signature(cache).parameters
    }
    for name in ("Projections.shipped", "shipped", "table_of", "_sorted_lines"):
        assert sizes.pop(name, None) is None  # one result for each name that ships
    assert len(sizes) > 4
    assert [name for name, size in sizes.items() if size is None] == []
