"""Reads: an exact hit, fuzzy ones new and repeated, many at once, pooled."""

from __future__ import annotations

import timeit
from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict

from . import turns
from .speed_data import Sizes, keys_of, misspelled, unlike
from .turns import Case, Run, each

__all__ = ["exact", "first", "millions", "pooling", "repeated", "several", "similar"]

_WARM = 64  # reads before the first that is measured: what they set up once is no read's cost
_MANY = 10_000  # keys from which on a read is measured alone, not with others


def exact(sizes: Sizes) -> Iterator[Case]:
    """Measure ``d[key]``."""
    plain = dict.fromkeys(keys_of(sizes.middle), 0)
    d, key = FuzzyDict(plain), next(iter(plain))
    runs = (
        partial(timeit.Timer("d[key]", globals={"d": one, "key": key}).timeit, sizes.hits)
        for one in (d, plain)
    )
    what = f"exact hit `d[key]`, {sizes.middle:,} keys"
    yield Case(what, next(runs), {"dict": next(runs)}, sizes.samples, sizes.hits)


def first(sizes: Sizes) -> Iterator[Case]:
    """Measure ``d[query]`` of queries that were never asked: misspelled, or of known words."""
    for count in sizes.keys:
        keys = keys_of(count)
        yield from _first(keys, _dict_of(keys), 3 * sizes.samples)


def repeated(sizes: Sizes) -> Iterator[Case]:
    """Measure ``d[query]`` of twenty queries that were asked before."""
    for count in sizes.keys:
        keys = keys_of(count)
        yield from _repeated(keys, _dict_of(keys), sizes.samples)


def millions(sizes: Sizes) -> Iterator[Case]:
    """Measure first and repeated reads among the most keys, which takes a minute to make."""
    keys = keys_of(sizes.most)
    d, samples = _dict_of(keys), -(-sizes.samples // 3)
    yield from _first(keys, d, samples)
    yield from _repeated(keys, d, samples)


def _first(keys: list[str], d: FuzzyDict[int], samples: int) -> Iterator[Case]:
    times = 1 if len(keys) > _MANY else 10
    for of, asked in (("", misspelled), (" by other known words", unlike)):
        ours, theirs = each(d.get, asked(keys), times), _extract(keys, asked(keys), times)
        what = f"first fuzzy read{of}, {len(keys):,} keys"
        yield Case(what, ours, {"rapidfuzz extractOne": theirs}, samples, times)


def _repeated(keys: list[str], d: FuzzyDict[int], samples: int) -> Iterator[Case]:
    asked, few = list(islice(misspelled(keys), 20)), 1 if len(keys) > _MANY else 20
    ours, theirs = each(d.get, cycle(asked), 200), _extract(keys, cycle(asked), few)
    what = f"repeated fuzzy read, {len(keys):,} keys"
    yield Case(what, ours, {"rapidfuzz extractOne": theirs}, samples, 200, few)


def similar(sizes: Sizes) -> Iterator[Case]:
    """Measure the ten best."""
    keys = keys_of(sizes.middle)
    d, queries, others = _dict_of(keys), misspelled(keys), misspelled(keys)
    theirs = each(lambda q: process.extract(q, keys, scorer=fuzz.ratio, limit=10), others, 10)
    what = f"`most_similar`, ten of {sizes.middle:,} keys"
    ours = each(d.most_similar, queries, 10)
    yield Case(what, ours, {"rapidfuzz extract": theirs}, sizes.samples, 10)


def several(sizes: Sizes) -> Iterator[Case]:
    """Measure a list of queries, read at once."""
    for count in sizes.keys[1:]:
        keys = keys_of(count)
        d, queries, others = _dict_of(keys), misspelled(keys), misspelled(keys)
        samples = 3 if count > _MANY else sizes.samples
        theirs = _extract(keys, others, sizes.batch)
        what = f"{sizes.batch} queries at once, {count:,} keys; of one"
        yield Case(
            what,
            partial(_read_several, d, queries, sizes.batch),
            {"rapidfuzz extractOne": theirs},
            samples,
            sizes.batch,
        )


def pooling(sizes: Sizes) -> Iterator[Case]:
    """Measure a pooled value, by a dot product that is scaled, beside torch on the same arrays."""
    for count in sizes.keys[1:]:
        keys = keys_of(count)
        numbers = np.random.default_rng(0).standard_normal((count, 8), dtype=np.float32)
        d = FuzzyDict(zip(keys, numbers, strict=True), scorer="scaled_dot")
        asked = list(islice(misspelled(keys), sizes.batch))
        seen = d.attend(asked)
        for queries, samples in ((asked[:1], sizes.samples), (asked, 5)):
            ours: Run = partial(d.pool, queries)
            vectors = np.stack([one.query for one in seen[: len(queries)]])
            theirs = _torch_pooling(vectors, seen[0].keys, numbers)
            what = f"`pool` of {len(queries)}, scaled dot, {count:,} keys"
            yield Case(what, ours, {"torch SDPA, vectors given": theirs}, samples)


def _dict_of(keys: list[str]) -> FuzzyDict[int]:
    d = FuzzyDict(dict.fromkeys(keys, 0))
    each(d.get, misspelled(keys, seed=2), _WARM)()
    return d


def _read_several(d: FuzzyDict[int], queries: Iterator[str], count: int) -> None:
    d.most_similar(list(islice(queries, count)), 1)


def _extract(keys: list[str], queries: Any, times: int) -> Run:
    return each(lambda q: process.extractOne(q, keys, scorer=fuzz.ratio), queries, times)


def _torch_pooling(query: Any, keys: Any, values: Any) -> Run | None:
    torch = turns.optional("torch")
    if torch is None:
        return None
    # Four axes, for torch has its fast kernel for these alone.
    tensors = [torch.from_numpy(np.array(array))[None, None] for array in (query, keys, values)]
    return partial(torch.nn.functional.scaled_dot_product_attention, *tensors)
