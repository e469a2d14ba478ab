"""What a dict in a store costs, and how often it answers as the exact dict.

    python -m tests.benchmarks.stores postgres|qdrant [--keys 100000] [--queries 200]
    python -m tests.benchmarks.stores postgres --latency 10 [--embedding english]

A dict of keys of two or three words each is written into an empty store, and asked by `connect`:
for keys with a slip, for keys of which a word is replaced by a synonym of WordNet, for a word of a
key beside another word, for two words, and for words that nobody knows. Told are the time of a
query, how often the best key is that of a `FuzzyDict` which compares with all keys, and how far the
two scores are apart. No query is asked twice.

PostgreSQL is asked through a proxy, which delays each round trip by so many milliseconds. Told are
also the round trips of each kind of call.
"""

from __future__ import annotations

import argparse
import atexit
import random
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzydict import FuzzyDict, RemoteDict, connect
from tests.support.proxy import Proxy

from .measuring import compared, figures, print_report, processor_time, shown
from .queries import any_slips, key_texts, known, made_up, sharing_a_word

_WARM = 20  # queries before the first that counts
_HEADER = ["keys", "queries", "a read", "p95", "processor here", "best key found"]
_HEADER += ["scores apart by: p50", "p95", "at most"]
_CALLS = ["call", "round trips", "on the wall", "processor here"]


class Engine(NamedTuple):
    remote: RemoteDict
    settle: Callable[[], object]  # builds what the engine would build in the background
    size: Callable[[], tuple[int, int | None]]  # bytes on the disk, and of the indexes, if known
    between: Proxy | None = None  # what counts round trips, if anything does


def _postgres(latency: float, embedding: str | None) -> Engine:
    """Return a table of the server that pgserver brings along."""
    from tests.support.postgres import server

    def size() -> tuple[int, int]:
        tables = "('keys'), ('keys_aliases'), ('keys_meta')"
        sizes = ("total_relation", "indexes")
        told = ", ".join(f"sum(pg_{size}_size(name::regclass))" for size in sizes)
        ((whole, indexes),) = running.run(f"SELECT {told} FROM (VALUES {tables}) AS _(name)")
        return int(whole), int(indexes)

    running = server()
    running.run("ALTER SYSTEM SET shared_buffers = '2GB'")
    running.run("ALTER SYSTEM SET maintenance_work_mem = '2GB'")  # in which the graph has room
    running.kill()
    running.start()
    between = Proxy(running.sockets, latency)
    remote = connect(between.url(table="keys"), create=True, embedding=embedding)
    return Engine(remote, remote.build_index, size, between)


def _qdrant(_: float, embedding: str | None) -> Engine:
    """Return a collection of Qdrant's engine; its log of writes is not counted."""
    from tests.support.qdrant_server import Server

    folder = Path(tempfile.mkdtemp(prefix="fuzzydict-qdrant-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = Server(folder)
    atexit.register(server.kill)

    def size() -> tuple[int, None]:
        files = [path for path in folder.rglob("*") if path.is_file() and "wal" not in path.parts]
        return sum(path.stat().st_blocks * 512 for path in files), None

    url = f"qdrant://127.0.0.1:{server.port}/keys"
    remote = connect(url, create=True, embedding=embedding)
    return Engine(remote, remote.build_index, size)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a dict in a store.")
    parser.add_argument("engine", choices=["postgres", "qdrant"])
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200, help="of each kind")
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds, of PostgreSQL")
    parser.add_argument("--embedding", help="that of the keys, such as english")
    options = parser.parse_args()
    start = _postgres if options.engine == "postgres" else _qdrant
    engine = start(options.latency / 1e3, options.embedding)
    keys = key_texts(options.keys, most=3)
    exact = FuzzyDict(
        dict.fromkeys(keys, 0), score_cutoff=float("-inf"), embedding=options.embedding
    )
    exact.nearest("anything")
    with engine.remote as remote:
        began = time.perf_counter()
        remote.update(exact)
        engine.settle()
        writing = time.perf_counter() - began
        size, indexes = engine.size()
        print(f"Writing: {len(exact) / writing:,.0f} keys a second, with the index", flush=True)
        of_indexes = f", {indexes / len(exact):,.0f} of them in indexes" if indexes else ""
        print(f"On the disk: {size / len(exact):,.0f} bytes a key{of_indexes}\n", flush=True)
        rows = list[list[str]]()
        for kind, asked in _queries(list(exact)).items():
            found = compared(exact, remote, islice(asked, _WARM + options.queries), _WARM)
            times = shown(*figures(found.other)), f"{np.quantile(found.other, 0.95) * 1e3:.0f} ms"
            apart = np.quantile(found.apart, [0.5, 0.95, 1])
            right = f"{found.found:.3f}", *(f"{one:.4f}" for one in apart)
            told = [kind, *times, shown(*figures(found.processor)), *right]
            rows.append([f"{len(exact):,}", *told])
        print_report(f"A dict in {options.engine}", _HEADER, rows)
        if engine.between is not None:
            title = f"Calls, with {options.latency:g} ms a round trip"
            print_report(title, _CALLS, _calls(engine.remote, engine.between, list(exact)))


def _calls(remote: RemoteDict, between: Proxy, names: Sequence[str]) -> list[list[str]]:
    queries, new = any_slips(names), iter(range(10_000))
    calls: Mapping[str, Callable[[], object]] = {
        "d[query], fuzzy": lambda: remote.get(next(queries)),
        "get_many of 64 queries": lambda: remote.get_many(list(islice(queries, 64))),
        "d[key]": lambda: remote[names[7]],
        "key in d": lambda: names[7] in remote,
        "d[key] = value, a known key": lambda: remote.update({names[7]: next(new)}),
        "d[key] = value, a new key": lambda: remote.update({f"a new one {next(new)}": 1}),
    }
    rows = []
    for name, call in calls.items():
        trips, taken, processor = list[int](), list[float](), list[float]()
        for _ in range(20):
            before, began, used = between.trips, time.perf_counter(), processor_time()
            call()
            trips.append(between.trips - before)
            taken.append(time.perf_counter() - began)
            processor.append(processor_time() - used)
        median = f"{np.median(trips):g}"
        rows.append([name, median, shown(*figures(taken)), shown(*figures(processor))])
    return rows


def _queries(names: Sequence[str]) -> Mapping[str, Iterator[str]]:
    return {
        "keys with a slip": any_slips(names),
        "keys with a synonym": _synonyms(names),
        "words of keys beside others": sharing_a_word(names, seed=2),
        "two words": known(names, 2),
        "words never seen": made_up(names),
    }


def _synonyms(names: Sequence[str]) -> Iterator[str]:
    """Yield keys of which a word is replaced by another one of its synset."""
    from nltk.corpus import wordnet

    words = {word for name in names for word in name.split()}
    synonyms = defaultdict[str, set[str]](set)
    for synset in wordnet.all_synsets():
        for first, second in permutations(words.intersection(synset.lemma_names()), 2):
            synonyms[first].add(second)
    told, chance = set(names), random.Random(1)
    for name in chance.sample(names, len(names)):
        first, rest = name.split(maxsplit=1)
        for other in sorted(synonyms[first]):
            if (query := f"{other} {rest}") not in told:
                told.add(query)
                yield query
                break


if __name__ == "__main__":
    main()
