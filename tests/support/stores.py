"""What tests of stores share: small rows, and what comparing all of them finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzydict.stores.base import Alias, Counts, Row, Search, Store
from fuzzydict.stores.values import conditions_of
from fuzzydict.text.ngrams import ngrams
from fuzzydict.text.words import plain

E = 8
META = {"format": 1, "embedding": "none", "dimensions": E}
#: Of cosines and of the numbers of vectors, for a store may keep 16 bits a number.
CLOSE = 2e-3


#: All calls of a store: the first two of one in which nothing was created, too.
CALLS: list[Callable[[Store], Any]] = [
    lambda s: s.meta(),
    lambda s: s.create(E, META),
    lambda s: s.count(),
    lambda s: s.sample([]),
    lambda s: s.keep_counts(Counts(1, {"red": 1})),
    lambda s: s.clear(),
    lambda s: s.write(rows_of(2)),
    lambda s: s.rows(["red"], ["crimson"]),
    lambda s: s.search([search("red")], conditions_of({"a": 1})),
    lambda s: list(s.pages(10)),
    lambda s: s.remove(["red"]),
    lambda s: s.teach([Alias("crimson", "crimson", "red")]),
    lambda s: s.forget(["crimson"]),
    lambda s: list(s.aliases()),
]


def unit(text: str) -> NDArray[np.float32]:
    """Return a vector (E,) of length one for a text, by chance."""
    vector = np.random.default_rng(list(text.encode("utf-8", "surrogatepass"))).standard_normal(E)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def row(key: str, value: Any = None) -> Row:
    """Return a key with the vector and words of its text; one without words has neither."""
    words = plain(key)
    return Row(key, value, unit(key), words) if words else Row(key, value, None)


def rows_of(count: int) -> list[Row]:
    """Return rows of two words, some of which share words."""
    colors = ["amber", "azure", "black", "brown", "coral"]
    names = [*colors, "green", "ivory", "khaki", "olive", "white"]
    numbered = [(i, names[i % 10]) for i in range(count)]
    return [row(f"{name} {i}", {"number": i, "name": name}) for i, name in numbered]


def search(text: str, near: int = 5, spelled: int = 5) -> Search:
    _, _, vector, words = row(text)
    return Search(vector, words, near, spelled)


def all_rows(store: Store) -> dict[str, Row]:
    return {one.key: one for page in store.pages(7, vectors=True) for one in page}


def check_same(found: Iterable[Row], expected: Iterable[Row]) -> None:
    """Assert that rows are equal, in any order, but for what a store may round."""
    some, others = ({one.key: one for one in rows} for rows in (found, expected))
    assert some.keys() == others.keys()
    for key, one in some.items():
        other = others[key]
        assert one.value == other.value
        assert (one.vector is None) == (other.vector is None)
        if one.vector is not None and other.vector is not None:
            assert one.vector.dtype == np.float32
            np.testing.assert_allclose(one.vector, other.vector, atol=CLOSE)


def nearness(one: Row, asked: Search) -> float | None:
    """Return the cosine of a key and a query by meaning; None if one has no vector."""
    if one.vector is None or asked.vector is None:
        return None
    return float(one.vector @ asked.vector)


def spelling(one: Row, asked: Search) -> float | None:
    """Return the cosine of a key and a query by n-grams; None if they share none."""
    ours, its = _ngrams_of(one.words), _ngrams_of(asked.words)
    return len(ours & its) / float(len(ours) * len(its)) ** 0.5 if ours & its else None


@cache
def _ngrams_of(words: str) -> frozenset[int]:
    return frozenset(ngrams(words) if words else [])


def check_spelled(hits: Sequence[Row], rows: Iterable[Row], asked: Search) -> None:
    """Assert that the keys most alike are found, each n-gram counting whatever it is to a store."""
    known = {one.key: one for one in rows}
    alike = {key: spelling(one, asked) or 0.0 for key, one in known.items()}
    assert len({hit.key for hit in hits}) == len(hits) <= asked.spelled
    assert all(alike[hit.key] for hit in hits)
    best = sorted(alike, key=lambda key: -alike[key])
    found = {hit.key for hit in hits}
    assert {key for key in best[: len(hits)] if alike[key] > 0.75} <= found
    if alike and alike[best[0]] > 0.999:
        assert hits[0].key == best[0]


def check_found(
    hits: Sequence[Row], rows: Iterable[Row], asked: Search, of: Any, count: int
) -> None:
    """Assert that hits are the best of rows by a cosine, best first; of equals, any."""
    known = {one.key: one for one in rows}
    assert len({hit.key for hit in hits}) == len(hits)
    cosines = [of(one, asked) for one in known.values()]
    best = sorted((one for one in cosines if one is not None), reverse=True)[:count]
    np.testing.assert_allclose([of(known[hit.key], asked) for hit in hits], best, atol=CLOSE)
    check_same(
        [known[hit.key]._replace(vector=hit.vector) for hit in hits],
        [known[hit.key] for hit in hits],
    )
