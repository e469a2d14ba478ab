"""The best keys of a dict for queries, and whether they match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import NoMatchError
from fuzzydict.results.answers import Match
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzzydict.mapping import FuzzyDict

__all__ = ["best_of", "cutoff_of", "is_match", "matches"]

_SCORES = 2**22  # scores in memory at once: queries times keys


def matches(d: FuzzyDict[Any], query: str, n: int = 1) -> list[Match]:
    """Return up to ``n`` keys that match a query, best first, in either mode of the dict.

    Raises:
        NoMatchError: no key matches.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"color": "black", "colors": 3, "price": 109000}, score_cutoff=0)
    >>> [match.key for match in matches(d, "colour", 2)]
    ['color', 'colors']
    """
    nearest: Match = d.nearest(query)
    if n == 1 or not plain(query):
        return [nearest]
    others = [match for match in d.most_similar(query, topn=n) if match.key != nearest.key]
    cutoff = cutoff_of(d)
    return [nearest, *(match for match in others[: n - 1] if is_match(query, match, cutoff))]


def cutoff_of(d: FuzzyDict[Any]) -> float:
    """Return the cutoff in use: the one that was set, or the scorer's default."""
    with d._lookup() as lookup:
        return d._cutoff(lookup)


def is_match(query: str, match: Match, cutoff: float) -> bool:
    """Return whether a key matches. An equal key always does, one of score -inf never."""
    return match.key == query or (match.score >= cutoff and match.score > -np.inf)


def best_of(d: FuzzyDict[Any], queries: Sequence[str]) -> dict[str, Match | None]:
    """Return the best key of each query, whatever its score; None if nothing can be compared."""
    best: dict[str, Match | None] = {
        query: Match(query, dict.__getitem__(d, query), 1.0) if query in d else None
        for query in queries
    }
    others = [query for query, match in best.items() if match is None and plain(query)]
    step = max(1, _SCORES // max(1, len(d)))
    for start in range(0, len(others), step):
        some = others[start : start + step]
        try:
            ranked = d.most_similar(some, topn=1)
        except NoMatchError:  # no key has letters or digits
            break
        best.update((query, row[0]) for query, row in zip(some, ranked, strict=True) if row)
    return best
