"""From queries to keys among millions: an engine finds a few, and these alone are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import different
from fuzzydict.errors import OptionError, quoted
from fuzzydict.search.backends.base import EXACT
from fuzzydict.search.key_index import Others, Shortlist
from fuzzydict.search.lookup import Lookup
from fuzzydict.search.neighbours import neighbours_of
from fuzzydict.search.score import weight_left_out
from fuzzydict.text.ngrams import most_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.key_index import KeyIndex
    from fuzzydict.search.lookup import Attended, Explained, Scored
    from fuzzydict.search.neighbours import Neighbours
    from fuzzydict.search.score import Judgement

__all__ = ["MOST", "Approximate", "lookup_by"]

#: How many keys are pooled, and listed at most; longer lists of matches are of all keys compared.
MOST = 1024


class _Few(NamedTuple):
    """The keys that were found for a query, and what they score."""

    query: str
    vector: NDArray[np.float32]  # (1, E)
    lookup: Lookup  # of these keys alone
    judgement: Judgement
    farthest: int  # the slot, in the whole index, of the last one that the engine found
    left: int  # how many keys were not found


class Approximate(Lookup):
    """A lookup that scores a few keys for each query: those that an engine finds.

    With the default score these are also the keys that share the most n-grams with the query; what
    all other keys say together is told from a sample of them. An equal key is always found.

    Args:
        index: the keys, and the embedding that encodes them and the queries.
        scorer: None for the default score.
        engine: the name of what finds the keys nearest to a query.
    """

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None, engine: str) -> None:
        super().__init__(index, scorer)
        self.scorer, self.engine = scorer, engine

    def settled(self, query: str, cutoff: float) -> str | None:  # noqa: ARG002
        """Return None: to settle a read all keys' n-grams are compared with the query's."""
        return None

    def nearest(self, queries: Sequence[str]) -> list[Scored]:
        """Return the best key of each query; one that is equal to the query wins."""
        return [
            few.lookup._best([few.query], few.judgement.log_weights[None])[0]
            for few in self._found(queries, 1 + self.matching.spare)
        ]

    def ranked(self, queries: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query, best first; all if None.

        More than `MOST` are found as a `Lookup` finds them.
        """
        if topn is None or topn > MOST:
            return super().ranked(queries, topn)
        return [
            few.lookup._ranked(few.query, few.judgement.log_weights, topn)
            for few in self._found(queries, topn + self.matching.spare)
        ]

    def attend(
        self, queries: Sequence[str], allowed: NDArray[np.bool_] | None, temperature: float | None
    ) -> list[Attended]:
        """Return how each query scores the `MOST` keys that are found for it.

        With a mask they are those for all keys.
        """
        if allowed is not None or not queries:
            return super().attend(queries, allowed, temperature)
        softness = self.matching.temperature if temperature is None else temperature
        return [
            few.lookup._attended(
                [few.query], few.vector, few.judgement.log_weights[None], None, temperature
            )._replace(left_out=np.array([self._left_out(few, softness)]))
            for few in self._found(queries, MOST)
        ]

    def explain(self, queries: Sequence[str]) -> list[Explained]:
        """Return what `nearest` finds for each query, with what comes next and the reasons."""
        return [
            few.lookup._explained(few.query, few.judgement)
            for few in self._found(queries, 2 + self.matching.spare)
        ]

    def _found(self, queries: Sequence[str], count: int) -> Iterator[_Few]:
        """Yield for each query the keys that are worth a score.

        Raises:
            OptionError: the scorer does not go by products, so that no engine finds what it would.
        """
        measure = self.matching.measure
        if measure is None:
            raise OptionError(
                f"index: {self.engine!r} finds keys for the default score, 'cosine', 'dot' and "
                f"'scaled_dot', and the scorer is {quoted(self.scorer)}, which needs every key; "
                f"set the dict's index to 'exact', or choose another scorer"
            )
        texts, vectors = self._encode(queries)
        neighbours = neighbours_of(self.index, self.engine, measure)
        near = neighbours.near(self.index, vectors, count)
        for i, (query, text) in enumerate(zip(queries, texts, strict=True)):
            vector = vectors[i : i + 1]
            few = self._shortlist(query, text, near[i], neighbours)
            (judgement,) = self.matching.judge([query], [text], vector, few)
            left = self.index.count - len(few)
            yield _Few(query, vector, Lookup(few, self.scorer), judgement, int(near[i][-1]), left)

    def _shortlist(
        self, query: str, text: str, near: NDArray[np.intp], neighbours: Neighbours
    ) -> Shortlist:
        """Return the keys that an engine found, those spelled alike, and an equal one."""
        equal = self.index.slot(query, otherwise=-1)
        found = np.append(near, equal) if equal >= 0 else near
        spelled = self.matching.spelled_alike
        if not spelled:
            return Shortlist(self.index, different(found))
        index = self.index
        alike, cosines = most_alike(index.ngrams, text, spelled, index.alive)
        slots = different(np.concatenate([found, alike]))
        shared = np.zeros(len(slots), np.float32)
        shared[np.searchsorted(slots, alike)] = cosines
        return Shortlist(index, slots, shared, self._others(slots, neighbours))

    def _others(self, slots: NDArray[np.intp], neighbours: Neighbours) -> Others | None:
        total, left = self.index.count, self.index.count - len(slots)
        if not left:
            return None
        sample = neighbours.sample(self.index)
        places = np.searchsorted(sample.slots, slots)
        listed = places[sample.slots.take(places, mode="clip") == slots]
        return Others(total, left, sample.keys, listed)

    def _left_out(self, few: _Few, temperature: float) -> float:
        """Return a bound on the weight that the keys left out would have had.

        Each of them is at most as near as the last one found; the engine finds the nearest ones
        nearly always, not always.
        """
        last = np.array([few.farthest, few.farthest])
        most = self.matching.most(few.query, few.vector, Shortlist(self.index, last))
        reasons = few.judgement.reasons
        logs = few.judgement.log_weights if reasons is None else reasons.log_odds
        return weight_left_out(logs[: len(few.lookup.index)], most, few.left, temperature)


def lookup_by(engine: str, index: KeyIndex, scorer: ScorerLike | None) -> Lookup:
    """Return a lookup that compares queries with what an engine finds, or with every key."""
    if engine != EXACT:
        return Approximate(index, scorer, engine)
    index.neighbours = None  # what may have been made for another engine
    return Lookup(index, scorer)
