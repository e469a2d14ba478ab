"""What the last queries found, so that one that is asked again costs a look into a dict."""

from __future__ import annotations

from typing import Any

__all__ = ["Recall"]

_MOST = 1024  # queries that are kept, the last ones
_LONGEST = 64  # characters of a query that is kept: words and phrases, so that it stays small


class Recall:
    """The keys that queries found in a dict, good for as long as what decides it stays the same.

    Keys are kept, not values, which may be written to at any time. Of a scorer that is an object
    nothing is kept, for it may be changed where it is.

    Args:
        size: how many keys the dict has.
        options: its embedding, projections, scorer, cutoff and index.

    >>> recall = Recall(2, None, None, None, 0.5, "exact")
    >>> recall.note("colour", "color")
    >>> recall.keys
    {'colour': 'color'}
    """

    __slots__ = ("embedding", "index", "keys", "projections", "score_cutoff", "scorer", "size")

    def __init__(self, size: int, *options: Any) -> None:
        self.size = size
        self.embedding, self.projections, self.scorer, self.score_cutoff, self.index = options
        self.keys: dict[object, str] = {}

    def is_of(self, d: Any) -> bool:
        """Tell whether a dict is as large as it was, and each of its options the same object."""
        return (
            self.size == len(d)
            and self.scorer is d.scorer
            and self.score_cutoff is d.score_cutoff
            and self.embedding is d.embedding
            and self.projections is d.projections
            and self.index is d.index
        )

    def note(self, query: object, key: str) -> None:
        """Keep what a query found, if it is a short text; the first of too many is let go."""
        is_short = type(query) is str and len(query) <= _LONGEST
        if is_short and (self.scorer is None or isinstance(self.scorer, str)):
            if len(self.keys) >= _MOST:
                del self.keys[next(iter(self.keys))]
            self.keys[query] = key
