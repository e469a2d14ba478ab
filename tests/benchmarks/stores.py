"""What a dict in a store costs, and how often it answers as the exact dict.

    python -m tests.benchmarks.stores postgres|qdrant [--keys 100000] [--queries 200] [--seed 0]

A dict of keys of two words each is written into an empty store, and asked by `connect`: for keys
with a slip, for keys of which a word is replaced by a synonym of WordNet, and for a word of a key
beside another word. Told are the time of a query, how often the best key is that of a `FuzzyDict`
which compares with all keys, how far its score is off, and which share of the keys nearest by
vector, and of those most alike by n-grams, the store found. No query is asked twice.
"""

from __future__ import annotations

import argparse
import atexit
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from fuzzydict import Brown, FuzzyDict, RemoteDict
from fuzzydict.stores.remote import open_store

from .development import wordnet_synonyms
from .engines import texts
from .report import print_report
from .speed_queries import any_slips
from .turns import figures, processor_time, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.stores.base import Hits, Search, Store
    from fuzzydict.stores.values import Condition

__all__ = ["ENGINES", "main"]

_WARM = 20  # queries before the first that counts
_CLOSE = 1e-3  # cosines that halves of floats cannot tell apart
_HEADER = (
    *("keys", "queries", "a read", "p95", "processor here", "best key found", "score off by (p95)"),
    *("of the nearest", "of the most alike"),
)


class Engine(NamedTuple):
    """An empty store to measure.

    Attributes:
        store: the store.
        settle: builds what the engine would build in the background.
        size: tells the bytes that it takes on the disk.
    """

    store: Store
    settle: Callable[[], None]
    size: Callable[[], int]


def _postgres() -> Engine:
    """Return a table of the server that pgserver brings along."""
    from tests.support.postgres import server

    def size() -> int:
        tables = "('keys'), ('keys_aliases'), ('keys_meta')"
        ((found,),) = running.run(
            f"SELECT sum(pg_total_relation_size(name::regclass)) FROM (VALUES {tables}) AS _(name)"
        )
        return int(found)

    running = server()
    running.run("ALTER SYSTEM SET shared_buffers = '2GB'")
    running.kill()
    running.start()
    return Engine(open_store(running.url(table="keys")), lambda: None, size)


def _qdrant() -> Engine:
    """Return a collection of Qdrant's engine in this process; its log of writes is not counted."""
    from fuzzydict.stores.qdrant import QdrantStore
    from tests.support.qdrant_edge import EdgeClient

    folder = Path(tempfile.mkdtemp(prefix="fuzzydict-qdrant-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    def size() -> int:
        files = [path for path in folder.rglob("*") if path.is_file() and "wal" not in path.parts]
        return sum(path.stat().st_blocks * 512 for path in files)

    client: Any = EdgeClient(folder)
    return Engine(QdrantStore("qdrant://local/keys", client), client.optimize, size)


ENGINES: Mapping[str, Callable[[], Engine]] = {"postgres": _postgres, "qdrant": _qdrant}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure an engine and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.stores", description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the keys")
    options = parser.parse_args(argv)
    engine = ENGINES[options.engine]()
    exact = texts(options.keys, options.seed).d
    exact.nearest("anything")
    store = _Recording(engine.store)
    with RemoteDict(cast("Store", store)).open(create=True) as remote:
        writing = _written(remote, exact, engine.settle)
        size = engine.size() / len(exact)
        print(f"Writing: {len(exact) / writing:,.0f} keys a second, with the index", flush=True)
        print(f"On the disk: {size:,.0f} bytes a key\n", flush=True)
        truth, rows = _Truth(remote), list[list[str]]()
        for kind, asked in _queries(list(exact)).items():
            queries = list(islice(asked, _WARM + options.queries))
            rows.append([f"{len(exact):,}", kind, *_measured(exact, remote, queries, store, truth)])
    print_report(f"A dict in {options.engine}", _HEADER, rows)


class _Recording:
    """A store that keeps what it was asked, and what it answered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.answered: list[tuple[Search, Hits]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        """Search, and keep it."""
        found = self._store.search(searches, where)
        self.answered += zip(searches, found, strict=True)
        return found


class _Truth:
    """What comparing with all keys of a store finds."""

    def __init__(self, remote: RemoteDict) -> None:
        rows = list(remote.pages(vectors=True))
        self.numbers = {row.key: number for number, row in enumerate(rows)}
        self.vectors = np.zeros(
            (len(rows), len(next(row.vector for row in rows if row.vector is not None))), np.float32
        )
        for vector, row in zip(self.vectors, rows, strict=True):
            if row.vector is not None:
                vector[:] = row.vector
        self._lengths = np.array([len(row.ngrams) for row in rows])
        buckets = np.concatenate([row.ngrams for row in rows])
        order = np.argsort(buckets, kind="stable")
        self._owners = np.repeat(np.arange(len(rows)), self._lengths)[order]
        self._starts = np.searchsorted(buckets[order], np.arange((1 << 16) + 1))

    def alike(self, ngrams: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the cosines of the n-grams of all keys with these, (S,)."""
        lists = [self._owners[self._starts[i] : self._starts[i + 1]] for i in ngrams]
        shared = np.bincount(np.concatenate(lists), minlength=len(self._lengths))
        products = np.maximum(self._lengths, 1) * len(ngrams)
        cosines: NDArray[np.float32] = (shared / np.sqrt(products)).astype(np.float32)
        return cosines


def _written(remote: RemoteDict, exact: FuzzyDict[int], settle: Callable[[], None]) -> float:
    start = time.perf_counter()

    def tell(done: int, total: int) -> None:
        print(f"{done:,} of {total:,}: {time.perf_counter() - start:,.0f} s", flush=True)

    remote.update(exact, progress=tell)
    settle()
    return time.perf_counter() - start


def _queries(names: Sequence[str]) -> Mapping[str, Iterator[str]]:
    return {
        "keys with a slip": any_slips(names),
        "keys with a synonym": _synonyms(names),
        "words of keys beside others": _beside_others(names),
    }


def _synonyms(names: Sequence[str]) -> Iterator[str]:
    known, chance = set(names), random.Random(1)
    synonyms = wordnet_synonyms({word for name in names for word in name.split()})
    for name in chance.sample(names, len(names)):
        first, second = name.split()
        for other in sorted(synonyms.get(first, ())):
            if (query := f"{other} {second}") not in known:
                known.add(query)
                yield query
                break


def _beside_others(names: Sequence[str]) -> Iterator[str]:
    known, chance = set(names), random.Random(2)
    words = [word for word in Brown().words if word.isalpha()]
    while True:
        query = f"{chance.choice(names).split()[0]} {chance.choice(words)}"
        if query not in known:
            known.add(query)
            yield query


def _measured(
    exact: FuzzyDict[int],
    remote: RemoteDict,
    queries: Sequence[str],
    store: _Recording,
    truth: _Truth,
) -> list[str]:
    """Return the cells of a row after the first two."""
    found, off, taken, processor = 0, list[float](), list[float](), list[float]()
    for query in queries[:_WARM]:
        remote.most_similar(query, 1)
    store.answered.clear()
    for query in queries[_WARM:]:
        (right,) = exact.most_similar(query, 1)
        began, used = time.perf_counter(), processor_time()
        (best,) = remote.most_similar(query, 1)
        taken.append(time.perf_counter() - began)
        processor.append(processor_time() - used)
        found += best.key == right.key or abs(best.score - right.score) < 1e-6
        off.append(abs(best.score / right.score - 1) if right.score else 0.0)
    near, spelled = _recall(store, truth)
    return [
        shown(figures(taken), "s"),
        f"{np.quantile(taken, 0.95) * 1e3:.0f} ms",
        shown(figures(processor), "s"),
        f"{found / len(taken):.3f}",
        f"{np.quantile(off, 0.95):.1%}",
        f"{near:.3f}",
        f"{spelled:.3f}",
    ]


def _recall(store: _Recording, truth: _Truth) -> tuple[float, float]:
    """Return which shares of the nearest and of the most alike a store found, on the average."""
    near, spelled = list[float](), list[float]()
    for search, hits in store.answered:
        if search.vector is not None:
            cosines = truth.vectors @ search.vector
            near.append(_share(cosines, [truth.numbers[hit.key] for hit in hits.near], search.near))
        alike = truth.alike(search.ngrams)
        spelled.append(
            _share(alike, [truth.numbers[hit.key] for hit in hits.spelled], search.spelled)
        )
    return float(np.mean(near)), float(np.mean(spelled))


def _share(cosines: NDArray[np.float32], found: list[int], wanted: int) -> float:
    """Return which share of the best found are, or as good as the worst of the best."""
    least = max(float(np.partition(cosines, -wanted)[-wanted]) - _CLOSE, _CLOSE)
    there = int(np.count_nonzero(cosines >= least))
    return min(1.0, int(np.count_nonzero(cosines[found] >= least)) / max(1, min(wanted, there)))


if __name__ == "__main__":
    main()
