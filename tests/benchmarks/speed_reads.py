"""Reads: an exact hit, fuzzy ones new and repeated, many at once, pooled."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict

from . import turns
from .memory import key_texts
from .speed_data import Sizes, keys_of
from .speed_queries import KINDS, SLIPS, Kind, any_slips, in_turns
from .turns import Case, Run, each

__all__ = ["exact", "first", "millions", "phrases", "pooling", "several", "similar"]

_WARM = 48  # reads before the first that is measured: what they set up once is no read's cost
_DICTS = 100  # of ten keys, and fewer of more: ten keys alone have too few different slips
_MANY = 10_000  # keys from which on a read is measured alone, not with others

_EXTRACT = "rapidfuzz extractOne"


class Asked(NamedTuple):
    """A dict, its keys as a list, and a query."""

    d: FuzzyDict[int]
    keys: list[str]
    query: str


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
    """Measure ``d[query]`` by kind of query, among keys of one word."""
    for count in sizes.keys:
        yield from _by_kind(_dicts_of(count, keys_of), sizes.samples)


def phrases(sizes: Sizes) -> Iterator[Case]:
    """Measure the same among keys of two words."""
    for count in sizes.phrases:
        samples = sizes.samples if count <= _MANY else 3 * sizes.samples
        yield from _by_kind(_dicts_of(count, key_texts), samples)


def millions(sizes: Sizes) -> Iterator[Case]:
    """Measure the same among the most keys, which takes a minute to make."""
    yield from _by_kind(_dicts_of(sizes.most, key_texts), sizes.samples)


def _by_kind(dicts: list[FuzzyDict[int]], samples: int) -> Iterator[Case]:
    """Measure reads of queries that were never asked, by kind, and of twenty that were."""
    count = len(dicts[0])
    among, times = f"{count:,} keys", 1 if count > _MANY else 10
    for name, kind in KINDS.items():
        asked = _asked(dicts, kind, (samples + 1) * times)
        ours, theirs = each(_read, asked, times), each(_extract, asked, times)
        yield Case(name, ours, {_EXTRACT: theirs}, samples, times, among=among)
    asked = _asked(dicts[:1], any_slips, 20)
    ours, theirs = each(_read, cycle(asked), 200), each(_extract, cycle(asked), times)
    yield Case("asked before", ours, {_EXTRACT: theirs}, samples, 200, times, among=among)


def similar(sizes: Sizes) -> Iterator[Case]:
    """Measure the ten best."""
    keys = keys_of(sizes.middle)
    d, queries = _dict_of(keys), list(islice(any_slips(keys), (sizes.samples + 1) * 10))
    theirs = each(lambda q: process.extract(q, keys, scorer=fuzz.ratio, limit=10), queries, 10)
    what = f"`most_similar`, ten of {sizes.middle:,} keys"
    ours = each(d.most_similar, queries, 10)
    yield Case(what, ours, {"rapidfuzz extract": theirs}, sizes.samples, 10)


def several(sizes: Sizes) -> Iterator[Case]:
    """Measure a list of queries, read at once: the best keys, and the values."""
    kinds: dict[str, Kind] = {slip: partial(any_slips, which=[slip]) for slip in SLIPS}
    kinds |= {n: kind for n, kind in KINDS.items() if not n.startswith(tuple(SLIPS))}
    for count in sizes.larger:
        keys = keys_of(count)
        d = _dict_of(keys)
        samples = 3 if count > _MANY else 5
        for name, kind in kinds.items():
            for method, read in (("most_similar", _best_of_each), ("get_many", _value_of_each)):
                lists = _lists(kind(keys), samples + 1, sizes.batch)
                yield Case(
                    name,
                    each(partial(read, d), lists),
                    {"rapidfuzz cdist": each(partial(_cdist, keys), lists)},
                    samples,
                    sizes.batch,
                    among=f"{method}, {count:,} keys",
                )


def pooling(sizes: Sizes) -> Iterator[Case]:
    """Measure a pooled value, by a dot product that is scaled, beside torch on the same arrays."""
    for count in sizes.larger:
        keys = keys_of(count)
        numbers = np.random.default_rng(0).standard_normal((count, 8), dtype=np.float32)
        d = FuzzyDict(zip(keys, numbers, strict=True), scorer="scaled_dot")
        asked = list(islice(any_slips(keys), sizes.batch))
        seen = d.attend(asked)
        for queries, samples in ((asked[:1], sizes.samples), (asked, 5)):
            ours: Run = partial(d.pool, queries)
            vectors = np.stack([one.query for one in seen[: len(queries)]])
            theirs = _torch_pooling(vectors, seen[0].keys, numbers)
            what = f"`pool` of {len(queries)}, scaled dot, {count:,} keys"
            yield Case(what, ours, {"torch SDPA, vectors given": theirs}, samples)


def _dicts_of(count: int, make: Callable[[int, int], list[str]]) -> list[FuzzyDict[int]]:
    """Return dicts of ``count`` keys each, as many as have enough different slips, warmed up."""
    dicts = max(1, min(_DICTS, 10 * _DICTS // count))
    keys = make(dicts * count, count)
    reads = max(1, _WARM // len(KINDS) // dicts)
    return [_dict_of(keys[i * count : (i + 1) * count], reads) for i in range(dicts)]


def _dict_of(keys: list[str], reads: int = _WARM // len(KINDS)) -> FuzzyDict[int]:
    """Return a dict that read so many queries of each kind."""
    d = FuzzyDict(dict.fromkeys(keys, 0))
    for kind in KINDS.values():
        for query in islice(kind(keys), reads):
            d.get(query)
    return d


def _asked(dicts: Sequence[FuzzyDict[int]], kind: Kind, count: int) -> list[Asked]:
    """Return ``count`` queries of a kind, if there are, as many for each dict, dict by dict."""

    def of_dict(d: FuzzyDict[int]) -> Iterator[Asked]:
        keys = list(d)
        return (Asked(d, keys, query) for query in kind(keys))

    found = list(islice(in_turns(map(of_dict, dicts)), count))
    return sorted(found, key=lambda asked: id(asked.d))


def _lists(queries: Iterator[str], count: int, length: int) -> list[list[str]]:
    found = list(islice(queries, count * length))
    if len(found) < count * length:
        raise RuntimeError(f"there are too few queries for {count} lists of {length}")
    return [found[start : start + length] for start in range(0, len(found), length)]


def _read(asked: Asked) -> None:
    asked.d.get(asked.query)


def _extract(asked: Asked) -> None:
    process.extractOne(asked.query, asked.keys, scorer=fuzz.ratio)


def _best_of_each(d: FuzzyDict[int], queries: list[str]) -> None:
    d.most_similar(queries, 1)


def _value_of_each(d: FuzzyDict[int], queries: list[str]) -> None:
    d.get_many(queries)


def _cdist(keys: list[str], queries: list[str]) -> None:
    process.cdist(queries, keys, scorer=fuzz.ratio).argmax(axis=1)


def _torch_pooling(query: Any, keys: Any, values: Any) -> Run | None:
    torch = turns.optional("torch")
    if torch is None:
        return None
    # Four axes, for torch has its fast kernel for these alone.
    tensors = [torch.from_numpy(np.array(array))[None, None] for array in (query, keys, values)]
    return partial(torch.nn.functional.scaled_dot_product_attention, *tensors)
