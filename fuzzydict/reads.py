"""The fuzzy reads of a `FuzzyDict`: from queries to matches, attention and pooled values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain, repeat
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from fuzzydict.embedding.projections import as_projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, ShapeError, quoted
from fuzzydict.options import Configured
from fuzzydict.recall import Recall
from fuzzydict.results.answers import Attention, Match, Matches
from fuzzydict.results.explanation import Explanation, words_of
from fuzzydict.results.pooling import as_output, pooled, stack, weights_of
from fuzzydict.search.lookup import Attended, Explained, Lookup, Scored, texts_of, unmatched
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FuzzyReads"]

V = TypeVar("V")
_GONE = object()
AttnMask = Sequence[bool] | Callable[[str], bool]


class FuzzyReads(Configured, dict[Any, V]):
    """Reads of a dict by queries that are not its keys; each takes a query or a list of them."""

    #: The keys as they are now, and as they stay until the context is left.
    _lookup: Callable[[], AbstractContextManager[Lookup]]
    _recall: Recall | None  # None after a write, or another option

    def __missing__(self, query: Any) -> V:
        with self._lock:
            recall = self._recalling()
            key = recall.keys.get(query)
            value: Any = _GONE if key is None else dict.get(self, key, _GONE)
            if value is _GONE:
                key, value = self._found(query)
                recall.note(query, key)
        return cast("V", value)

    def _recalling(self) -> Recall:
        """Return what queries found, if that is what they would find now."""
        recall = self._recall
        if recall is None or not recall.is_of(self):
            options = (self.embedding, self.projections, self.scorer, self.score_cutoff, self.index)
            recall = self.__dict__["_recall"] = Recall(len(self), *options)
        return recall

    def _pooled_item(self, query: Any) -> Any:
        return self.pool(query) if _has_words(query) else dict.__getitem__(self, query)

    def get(self, query: Any, default: Any = None, /) -> Any:
        """Return ``d[query]``, or ``default`` where that raises `NoMatchError`."""
        try:
            return self[query]
        except NoMatchError:
            return default

    def nearest(self, query: Any) -> Any:
        """Return the `Match` of the nearest key; for a list of queries, a list of them.

        Raises:
            NoMatchError: no key's score reaches ``score_cutoff``.

        >>> from fuzzydict import FuzzyDict
        >>> FuzzyDict({"brand": "Porsche", "color": "black"}).nearest("colour").key
        'color'
        """
        return self._matches(query) if isinstance(query, list) else self._matches([query])[0]

    def most_similar(self, query: Any, topn: int | None = 10) -> Any:
        """Return the ``topn`` best matches (all if None), best first, whatever their score.

        For a list of queries, return a list of such lists.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> [match.key for match in d.most_similar("colour")]
        ['color', 'brand']
        """
        if topn is not None and (not isinstance(topn, (int, np.integer)) or topn < 0):
            raise ArgumentTypeError(f"topn: expected a whole number or None, got {topn!r}")
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            some = self and queries
            ranked = lookup.ranked(texts_of(queries), topn) if some else [[] for _ in queries]
            found = [Matches(map(self._match, row)) for row in ranked]
        return found if isinstance(query, list) else found[0]

    def explain(self, query: Any) -> Any:
        """Return the `Explanation` of a query: why `nearest` finds this key, or finds none.

        For a list of queries, return a list of them. A query below the cutoff is explained, not
        refused.

        Raises:
            NoMatchError: there is nothing to compare: the query is no text, or has no letters or
                digits, or the dict has no key that has some; and no key equals it.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"brand": "Porsche", "color": "black"})
        >>> e = d.explain("colour")
        >>> e.best.key, e.runner_up.key, e.matches, e.best_parts.spelling > e.best_parts.meaning
        ('color', 'brand', True, True)
        """
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            compared = [not self._is_certain(one) or lookup.embeds(one) for one in queries]
            asked = [one for one, some in zip(queries, compared, strict=True) if some]
            told = iter(lookup.explain(texts_of(asked)) if asked else [])
            found = [
                self._explanation(one, next(told) if some else None, lookup)
                for one, some in zip(queries, compared, strict=True)
            ]
        return found if isinstance(query, list) else found[0]

    def attend(self, query: Any, *, attn_mask: AttnMask | None = None) -> Any:
        """Return the `Attention` of a query over the keys, with every intermediate.

        For a list of queries, return a list of them. The cutoff is not applied.

        Args:
            query: a text, or a list of texts.
            attn_mask: which keys to attend to: a bool for each key of the dict, in its order, or
                a function of the key.

        Raises:
            NoMatchError: there is nothing to attend to.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"red": 1.0, "blue": 3.0}, embedding={"red": [1, 0], "blue": [0, 1]})
        >>> d.attend("red", attn_mask=lambda key: key != "red").output
        3.0
        """
        queries = query if isinstance(query, list) else [query]
        if not queries:
            return []
        with self._lookup() as lookup:
            attended = self._attended(lookup, queries, attn_mask)
            values = [self._values(some.names) for some in attended]
            pooling = self._adapted_embedding(), as_projections(self.projections)
        texts, found = iter(queries), []
        for some, held in zip(attended, values, strict=True):
            weights = chain.from_iterable(weights_of(some.scores, some.temperature))
            rows = zip(some.query, some.scores, weights, some.left_out.tolist(), strict=True)
            found += [
                Attention(next(texts), some.names, q, some.keys, held, scores, row, *pooling, left)
                for q, scores, row, left in rows
            ]
        return found if isinstance(query, list) else found[0]

    def pool(self, query: Any, *, attn_mask: AttnMask | None = None) -> Any:
        """Return the mean of all values, weighted by attention, whatever the mode.

        Numbers give a float, arrays and lists of numbers an array of their shape; texts the mean
        of their vectors. A list of queries gives the stacked array. ``attn_mask`` is `attend`'s.

        Raises:
            NoMatchError: no key's score, masked or not, reaches ``score_cutoff``; or there is
                nothing to attend to.
            PoolingError: the values cannot be pooled; it names the first such key.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128)})
        >>> d.pool("red").round().tolist()
        [255.0, 0.0, 0.0]
        """
        queries = query if isinstance(query, list) else [query]
        with self._lookup() as lookup:
            attended = self._attended(lookup, queries, attn_mask)
            best = [one for some in attended for one in some.best]
            for text, one in zip(queries, best, strict=True):
                self._require(text, one, lookup)
            pooling = self._adapted_embedding(), as_projections(self.projections)
            outputs = []
            for some in attended:
                weights = weights_of(some.scores, some.temperature)
                values = self._values(some.names)
                outputs.append(pooled(some.scores, weights, some.names, values, *pooling))
            if len(attended) > 1:  # the values of each are of one kind; those of all must be
                names = [some.names[int(some.scores[0].argmax())] for some in attended]
                stack(names, self._values(names), pooling[0])
        return np.concatenate(outputs) if isinstance(query, list) else as_output(outputs[0][0])

    def _found(self, query: Any) -> tuple[str, V]:
        """Return the nearest key and its value; what its score is may be left open."""
        asked = texts_of([query])
        with self._lookup() as lookup:
            key = lookup.settled(query, self._cutoff(lookup))
            if key is None:
                (best,) = lookup.nearest(asked)
                key = self._require(query, best, lookup).name
            return key, self._values([key])[0]

    def _matches(self, queries: list[Any]) -> Matches:
        with self._lookup() as lookup:
            asked = [query for query in queries if not self._is_certain(query)]
            best = iter(lookup.nearest(texts_of(asked)) if asked else [])
            return Matches(
                Match(query, dict.__getitem__(self, query), 1.0)
                if self._is_certain(query)
                else self._match(self._require(query, next(best), lookup))
                for query in queries
            )

    def _is_certain(self, query: Any) -> bool:
        """Tell whether an equal key needs no score, or can have none."""
        return query in self and (self.scorer is None or not _has_words(query))

    def _require(self, query: str, best: Scored, lookup: Lookup) -> Scored:
        """Return the best key if it is near enough, or equal to the query; else raise."""
        if not self._reaches(query, best, lookup):
            raise unmatched(query, best, self._cutoff(lookup))
        return best

    def _reaches(self, query: str, best: Scored, lookup: Lookup) -> bool:
        # A score of -inf is a weight of 0: the key is outside the scorer's width.
        near = best.score >= self._cutoff(lookup) and best.score > -np.inf
        return near or best.name == query

    def _cutoff(self, lookup: Lookup) -> float:
        """Return the least score of a match, whether it was set or is the scorer's own."""
        return lookup.matching.score_cutoff if self.score_cutoff is None else self.score_cutoff

    def _explanation(self, query: Any, told: Explained | None, lookup: Lookup) -> Explanation:
        """Return an explanation; of what was not compared (None), an equal key is all there is."""
        equal = query in self
        cutoff, embedding = self._cutoff(lookup), lookup.index.embedding
        words = words_of(query, embedding) if isinstance(query, str) else ()
        if told is None or self._is_certain(query):
            best = Match(query, dict.__getitem__(self, query), 1.0)
        else:
            best = self._match(told.best)
        return Explanation(
            query=query,
            words=words,
            tells_words=embedding.tells_words,
            best=best,
            best_parts=told and told.best_parts,
            runner_up=self._match(told.runner_up) if told and told.runner_up else None,
            runner_up_parts=told and told.runner_up_parts,
            none=told and told.none,
            cutoff=cutoff,
            matches=told is None or self._reaches(query, told.best, lookup),
            equal=equal,
        )

    def _match(self, scored: Scored) -> Match:
        return Match(scored.name, self._values([scored.name])[0], scored.score)

    def _attended(
        self, lookup: Lookup, queries: list[Any], attn_mask: AttnMask | None
    ) -> list[Attended]:
        allowed = None if attn_mask is None else self._allowed(attn_mask, lookup.names())
        return lookup.attend(texts_of(queries), allowed, self.temperature)

    def _allowed(self, attn_mask: AttnMask, names: list[str]) -> NDArray[np.bool_]:
        """Return which of the names, (S,), may be attended to."""
        if callable(attn_mask):
            return np.array([bool(attn_mask(name)) for name in names])
        mask = np.asarray(attn_mask)
        if mask.dtype != np.bool_:
            raise ArgumentTypeError(
                f"attn_mask: expected bools (True = attend) or a function of the key, "
                f"got {type(attn_mask).__name__} of dtype {mask.dtype}"
            )
        if mask.shape != (len(self),):
            raise ShapeError(
                f"attn_mask: expected a bool for each of the {len(self)} keys, "
                f"got shape {mask.shape}"
            )
        by_key = dict(zip(self, mask.tolist(), strict=True))
        return np.array([by_key[name] for name in names])

    def _values(self, names: list[str]) -> list[V]:
        values = list(map(partial(dict.get, self), names, repeat(_GONE)))
        if any(map(is_, values, repeat(_GONE))):
            gone = names[next(i for i, value in enumerate(values) if value is _GONE)]
            self.__dict__["_index"] = None  # made anew by the next read
            raise RuntimeError(
                f"the key {quoted(gone)} was removed by a method of dict itself, of which the "
                f"vectors were not told; remove keys by del d[key] or d.pop(key), and read again"
            )
        return cast("list[V]", values)


def _has_words(query: Any) -> bool:
    return isinstance(query, str) and bool(plain(query))
