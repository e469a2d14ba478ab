"""What is paid before and beside reads: building, writing, saving, opening, bytes."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from collections.abc import Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict

from .memory import keys_measured
from .speed_data import Given, Sizes, keys_of
from .speed_queries import Kind, any_slips, known, made_up
from .turns import Case, Row, each, figures

__all__ = ["build", "bytes_a_key", "files", "writes"]

_SIZE = 100  # numbers a vector that is given
_READ_AFTER_OPENING: dict[str, Kind] = {
    "a slip": any_slips,
    "a known word": partial(known, count=1),
}


def build(sizes: Sizes) -> Iterator[Case]:
    """Measure a new dict until its first fuzzy read; what words are is learned anew by each."""
    plain = dict.fromkeys(keys_of(sizes.build), 0)
    what = f"build {sizes.build:,} keys, and read one"
    yield Case(what, lambda: FuzzyDict(plain).get("colour"), {"dict": lambda: dict(plain)}, 3)
    unseen = dict.fromkeys(islice(made_up([]), sizes.unseen), 0)
    yield Case(
        f"build {sizes.unseen:,} keys of a word never seen, and read one",
        lambda: FuzzyDict(unseen).get("colour"),
        {"dict": lambda: dict(unseen)},
        3,
    )
    data = Given(sizes.build, _SIZE)
    items = dict.fromkeys(data.keys, 0)
    yield Case(
        f"{what}, vectors given",
        lambda: FuzzyDict(items, embedding=data.encode, scorer="cosine").get("+ 0"),
        {"the vectors alone": lambda: data.encode(data.keys)},
        3,
    )


def writes(sizes: Sizes) -> Iterator[Case]:
    """Measure a new key and the fuzzy read after it."""
    for size in sizes.larger:
        plain: dict[str, int] = dict.fromkeys(keys_of(size), 0)
        d = FuzzyDict(plain)
        d.get("colour")
        numbers = count()

        def write(d: FuzzyDict[int] = d, numbers: Iterator[int] = numbers) -> None:
            d[f"a new key {next(numbers)}"] = 1
            d.get("colour")

        yield Case(f"write a key and read, {size:,} keys", write, {}, sizes.samples)


def files(sizes: Sizes) -> Iterator[Case]:
    """Measure saving and opening, beside the same keys and vectors in numpy's format and JSON."""
    for size, samples in ((sizes.build, 5), (sizes.most, 3)):
        plain = dict.fromkeys(keys_of(size), 0)
        d = FuzzyDict(plain)
        vectors = d.attend("colour").keys
        what = f"{size:,} keys ({vectors.nbytes / 1e6:,.0f} MB)"
        with tempfile.TemporaryDirectory() as name:
            ours, theirs = Path(name) / "d.fuzzydict", Path(name) / "vectors.npy"
            saves = partial(d.save, ours), partial(_save, plain, vectors, theirs)
            if size == sizes.build:
                yield Case(f"save {what}", saves[0], {"numpy.save and JSON": saves[1]}, samples)
            else:
                saves[0](), saves[1]()
            opened, load = partial(FuzzyDict.load, ours), partial(_load, theirs)
            yield Case(f"open {what}", opened, {"numpy.load, mapped, and JSON": load}, samples)
            one_product = partial(lambda load, query: load() @ query, load, vectors[0].copy())
            for of, kind in _READ_AFTER_OPENING.items():
                asked = islice(kind(list(plain)), samples + 1)
                reads = each(partial(lambda opened, query: opened().get(query), opened), asked)
                peers = {"numpy.load, mapped, and JSON; one product": one_product}
                yield Case(f"open {what}, and read {of}", reads, peers, samples)


def bytes_a_key(sizes: Sizes) -> Iterator[Row]:
    """Measure what a dict asks for, beside what a plain dict takes, and beside its vectors."""
    size = sizes.build
    try:
        row, *_ = keys_measured(size, traces=True)
    finally:
        tracemalloc.stop()
    numbers = FuzzyDict({"key": 1}).attend("query").keys.shape[1]
    ours, theirs = figures([row.used * 1e6 / size]), figures([4.0 * numbers])
    peer = f"vectors of {numbers} numbers alone"
    yield Row(f"bytes a key, {size:,} keys", 1, 1, "bytes", ours, peer, theirs)


def _save(plain: dict[str, int], vectors: Any, path: Path) -> None:
    np.save(path, vectors)
    path.with_suffix(".json").write_text(json.dumps(plain))


def _load(path: Path) -> Any:
    json.loads(path.with_suffix(".json").read_text())
    return np.load(path, mmap_mode="r")
