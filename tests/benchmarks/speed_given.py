"""Vectors that are given: the embedding looks them up, and the scorer is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict

from . import turns
from .speed_data import Given, Sizes
from .turns import Case, Run, each

__all__ = ["given"]

SIZE = 100  # numbers a vector
_GRAPHS = 100_000  # keys at most for engines that build graphs, which takes them minutes
_LOOPS = 1_000  # and for what compares with key after key, in Python

Search = Callable[[Any], object]  # of vectors (L, E)


def given(sizes: Sizes) -> Iterator[Case]:
    """Measure reads of one query and of many; the peers look vectors up as the dict does."""
    for count in sizes.given:
        data = Given(count, SIZE)
        searches = _searches(data.vectors, graphs=count <= _GRAPHS)
        for scorer in ("cosine", "dot"):
            d = FuzzyDict(dict.fromkeys(data.keys, 0), embedding=data.encode, scorer=scorer)
            d.get("+ 0")
            what = f"vectors given, {scorer}, {count:,} keys of {SIZE} numbers"
            times = max(1, min(10, 100_000 // count))
            peers = {name: _one(search, data, times) for name, search in searches.items()}
            if scorer == "cosine" and count <= _LOOPS:
                peers["semantic-dictionary"] = _semantic_dictionary(data, times)
            ours = each(d.get, data.queries(), times)
            yield Case(what, ours, peers, sizes.samples, times)
            if scorer == "cosine":
                peers = {
                    name: _many(search, data, sizes.batch) for name, search in searches.items()
                }
                queries = data.queries()
                ours = partial(
                    lambda d, q: d.most_similar(list(islice(q, sizes.batch)), 1), d, queries
                )
                yield Case(f"{what}; {sizes.batch} at once, of one", ours, peers, 5, sizes.batch)


def _one(search: Search | None, data: Given, times: int) -> Run | None:
    return search and each(lambda q: search(data.encode([q])), data.queries(), times)


def _many(search: Search | None, data: Given, batch: int) -> Run | None:
    queries = data.queries()
    return search and (lambda: search(data.encode(list(islice(queries, batch)))))


def _semantic_dictionary(data: Given, times: int) -> Run | None:
    found = turns.optional("semantic_dictionary")
    if found is None:
        return None
    model = SimpleNamespace(encode=lambda text: data.encode([text])[0])
    d = found.SemanticDictionary(model, 0.0, dict.fromkeys(data.keys, 0))
    return each(d.get, data.queries(), times)


def _searches(vectors: Any, *, graphs: bool) -> dict[str, Search | None]:
    """Return what finds the nearest of ``vectors`` with each engine, None where not installed."""
    makers = {"faiss flat": _faiss, "usearch exact": _usearch_exact}
    makers |= {"usearch HNSW": _usearch, "hnswlib HNSW": _hnswlib} if graphs else {}
    return {name: make(vectors) for name, make in makers.items()}


def _faiss(vectors: Any) -> Search | None:
    faiss = turns.optional("faiss")
    if faiss is None:
        return None
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda query: index.search(query, 1)


def _usearch_exact(vectors: Any) -> Search | None:
    usearch = turns.optional("usearch.index")
    return usearch and (
        lambda query: usearch.search(vectors, query, 1, usearch.MetricKind.IP, exact=True)
    )


def _usearch(vectors: Any) -> Search | None:
    usearch = turns.optional("usearch.index")
    if usearch is None:
        return None
    index = usearch.Index(ndim=vectors.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(vectors)), vectors)
    return lambda query: index.search(query, 1)


def _hnswlib(vectors: Any) -> Search | None:
    hnswlib = turns.optional("hnswlib")
    if hnswlib is None:
        return None
    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors))
    index.add_items(vectors)
    index.set_ef(64)
    return lambda query: index.knn_query(query, k=1)
