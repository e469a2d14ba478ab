"""Reads: an exact hit, fuzzy ones new and repeated, many at once, pooled."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict, attention

from .measuring import Case, Run, each, optional
from .queries import KINDS, SLIPS, Kind, any_slips, in_turns, key_texts, keys_of

_SAMPLES = 21
_WARM = 48  # reads before the first that is measured: what they set up once is no read's cost
_MANY = 10_000  # keys from which on a read is measured alone, not with others
_HITS = 100_000  # exact ones of a sample
_BATCH = 256  # queries at once


class Asked(NamedTuple):
    """A dict, its keys as a list, and a query."""

    d: FuzzyDict[int]
    keys: list[str]
    query: str


# ---- one read -----------------------------------------------------------------------------


def exact(count: int) -> Iterator[Case]:
    """Measure ``d[key]``."""
    plain = dict.fromkeys(keys_of(count), 0)
    ours, theirs = (
        partial(timeit.Timer("d[key]", globals={"d": one, "key": next(iter(plain))}).timeit, _HITS)
        for one in (FuzzyDict(plain), plain)
    )
    yield Case(f"exact hit `d[key]`, {count:,} keys", ours, {"dict": theirs}, times=_HITS)


def first(count: int) -> Iterator[Case]:
    """Measure ``d[query]`` by kind of query, among keys of one word."""
    return _by_kind(count, keys_of, _SAMPLES)


def phrases(count: int) -> Iterator[Case]:
    """Measure the same among keys of two words."""
    return _by_kind(count, key_texts, 3 * _SAMPLES if _MANY < count < 1_000_000 else _SAMPLES)


def _by_kind(count: int, make: Callable[[int, int], list[str]], samples: int) -> Iterator[Case]:
    """Measure reads of queries that were never asked, by kind, and of twenty that were.

    A hundred dicts of ten keys are read, and fewer of more: few keys have too few different slips.
    """
    number = max(1, min(100, 1000 // count))
    keys = make(number * count, count)
    reads = max(1, _WARM // len(KINDS) // number)
    dicts = [_dict_of(keys[i * count : (i + 1) * count], reads) for i in range(number)]
    among, times = f"{count:,} keys", 1 if count > _MANY else 10
    peer = "rapidfuzz extractOne"

    def read(asked: Asked) -> None:
        asked.d.get(asked.query)

    def extract(asked: Asked) -> None:
        process.extractOne(asked.query, asked.keys, scorer=fuzz.ratio)

    for name, kind in KINDS.items():
        asked = _asked(dicts, kind, (samples + 1) * times)
        ours, theirs = each(read, asked, times), each(extract, asked, times)
        yield Case(name, ours, {peer: theirs}, samples, times, among=among)
    asked = _asked(dicts[:1], any_slips, 20)
    ours, theirs = each(read, cycle(asked), 200), each(extract, cycle(asked), times)
    yield Case("asked before", ours, {peer: theirs}, samples, 200, times, among)


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


def similar(count: int) -> Iterator[Case]:
    """Measure the ten best."""
    names = keys_of(count)
    d, queries = _dict_of(names), list(islice(any_slips(names), (_SAMPLES + 1) * 10))
    extract = partial(process.extract, choices=names, scorer=fuzz.ratio, limit=10)
    peers = {"rapidfuzz extract": each(extract, queries, 10)}
    ours = each(d.most_similar, queries, 10)
    yield Case(f"`most_similar`, ten of {count:,} keys", ours, peers, times=10)


# ---- many at once, and pooled -------------------------------------------------------------


def several(count: int) -> Iterator[Case]:
    """Measure a list of queries, read at once: the best keys, and the values."""
    kinds: dict[str, Kind] = {slip: partial(any_slips, which=[slip]) for slip in SLIPS}
    kinds |= {n: kind for n, kind in KINDS.items() if not n.startswith(tuple(SLIPS))}
    names = keys_of(count)
    d, samples = _dict_of(names), 3 if count > _MANY else 5
    best: Callable[[Any], object] = partial(d.most_similar, topn=1)
    reads: dict[str, Callable[[Any], object]] = {"most_similar": best, "get_many": d.get_many}

    def cdist(queries: list[str]) -> None:
        process.cdist(queries, names, scorer=fuzz.ratio).argmax(axis=1)

    for name, kind in kinds.items():
        for method, read in reads.items():
            found = list(islice(kind(names), (samples + 1) * _BATCH))
            lists = [found[i : i + _BATCH] for i in range(0, len(found), _BATCH)]
            ours, peers = each(read, lists), {"rapidfuzz cdist": each(cdist, lists)}
            among = f"{method}, {count:,} keys"
            yield Case(name, ours, peers, samples, _BATCH, among=among)


def pooling(count: int) -> Iterator[Case]:
    """Measure a pooled value, by a dot product that is scaled, beside torch on the same arrays."""
    names = keys_of(count)
    numbers = np.random.default_rng(0).standard_normal((count, 8), dtype=np.float32)
    d = FuzzyDict(zip(names, numbers, strict=True), scorer="scaled_dot")
    asked = list(islice(any_slips(names), _BATCH))
    seen = d.attend(asked)
    for queries, samples in ((asked[:1], _SAMPLES), (asked, 5)):
        vectors = np.stack([one.query for one in seen[: len(queries)]])
        peers = {"torch SDPA, vectors given": _by_torch(vectors, seen[0].keys, numbers)}
        what = f"`pool` of {len(queries)}, scaled dot, {count:,} keys"
        yield Case(what, partial(d.pool, queries), peers, samples)


def attending(count: int) -> Iterator[Case]:
    """Measure `attention` on arrays."""
    chance = np.random.default_rng(0)
    key, value = (chance.standard_normal((count, 64), dtype=np.float32) for _ in range(2))
    for queries in (1, _BATCH):
        query = chance.standard_normal((queries, 64), dtype=np.float32)
        peers = {"torch SDPA": _by_torch(query, key, value)}
        what = f"`attention` of {queries}, {count:,} keys of 64 numbers"
        yield Case(what, partial(attention, query, key, value), peers)


def _by_torch(*arrays: Any) -> Run | None:
    """Return a run of torch's scaled dot product attention of query, key and value."""
    torch = optional("torch")
    if torch is None:
        return None
    # Four axes, for torch has its fast kernel for these alone.
    tensors = [torch.from_numpy(np.array(array))[None, None] for array in arrays]
    return partial(torch.nn.functional.scaled_dot_product_attention, *tensors)
