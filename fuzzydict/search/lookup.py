"""From queries to keys: find candidates, compare and judge them, rank them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import make_room, slices
from fuzzydict.errors import NoMatchError, OptionError, quoted
from fuzzydict.nn.scorers import ScorerLike
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.align import align
from fuzzydict.search.keys import Asked, Keys, Query
from fuzzydict.search.neighbours import Neighbours
from fuzzydict.search.one import best_of_one
from fuzzydict.search.retrieve import Seen, candidates, glance
from fuzzydict.search.score import Judged, Meaning, NamedScore, Parts, as_score
from fuzzydict.text.words import LONGEST, plain

#: Scores that are made at a time, in several arrays, and queries that are compared at a time.
SCORES, QUERIES = 1 << 22, 128
_REMEMBERED_QUERIES = 256  # queries that are kept as they are compared
_LEFT = -30.0  # log-weight: next to nothing
#: How many keys are pooled, and listed at most; longer lists compare all keys.
MOST = 1024
#: Keys that are sought for the best one, and beside several, since the nearest need not win.
_NEAREST, _SPARE = 24, 64
#: Keys that share the most n-grams with a query.
SPELLED = 48
_SAMPLE = 4096  # keys that stand for those that were not found


class Scored(NamedTuple):
    """A key and its score."""

    name: str
    score: float


class Attended(NamedTuple):
    """The scores of L queries for S keys."""

    names: list[str]  # the keys, in the dict's order
    query: NDArray[np.float32]  # the vectors of the queries, (L, E)
    keys: NDArray[np.float32]  # the vectors of the keys, (S, E)
    scores: NDArray[np.float32]  # the logits of the weights, (L, S); -inf where masked
    temperature: float  # of the weights
    best: list[Scored]  # the best key of each query, masked or not
    left_out: NDArray[np.float64]  # the weight of keys that the search left out, at most, (L,)
    # The probability that no key is right, masked or not; None for a named scorer.
    none: Sequence[float | None]


class Explained(NamedTuple):
    """The best key of a query and the next, if there is one; named scorers give no parts."""

    best: Scored
    best_parts: Parts | None
    runner_up: Scored | None
    runner_up_parts: Parts | None
    none: float | None  # the probability that no key is right


class Listing(NamedTuple):
    """L queries, and the keys that were found for them, n of them."""

    asked: list[Query]
    keys: Keys
    not_found: int = 0  # how many keys there are beside
    #: Some keys, and the slots in them of those that stand for the keys that were not found.
    sample: tuple[Keys, NDArray[np.intp]] | None = None


class Compared(NamedTuple):
    """What was found out about L queries."""

    slots: NDArray[np.intp]  # those of their candidates, (L, C)
    X: NDArray[np.float32]  # the features of these, (L, C, F)
    said: Judged  # what the judge says of them
    glanced: NDArray[np.float32]  # the log-odds of all keys at a glance, (L, n)


class Lookup(ABC):
    """Finds keys for queries, until a key or an option changes.

    ``count`` is the number of keys that a query may be compared with; a scorer of None is the
    judged score.
    """

    needs_lock = False  # whether one thread at a time may use it
    at_once = 512  # queries that are read before another thread is let in

    def __init__(self, meaning: Meaning, scorer: ScorerLike | None, count: int) -> None:
        self.meaning, self.score, self.count = meaning, as_score(scorer), count
        self._is_named = isinstance(self.score, NamedScore)
        self._known: dict[str, Query] = {}

    @abstractmethod
    def _listings(self, asked: list[Query], count: int | None) -> Iterator[Listing]:
        """Yield the queries in order, each in one listing of keys, with one that equals it.

        There are ``count`` keys or more, as far as there are; by None as many as there may be.
        """

    def _asked(self, asked: Sequence[str]) -> list[Query]:
        """Return queries as they are compared, or raise NoMatchError if nothing can be."""
        if not self.count:
            of = quoted(asked[0] if asked else asked)
            raise NoMatchError(
                of,
                f"no key matches {of}: the dict is empty, or no key is a text with letters or "
                f"digits, which are all that is compared",
            )
        kept = self._known
        found = {text: kept.get(text) for text in asked}
        new = self.meaning.table.queries([text for text, one in found.items() if one is None])
        for query in new:
            if not query.words or not plain(query.asked):
                where = f" in its first {LONGEST:,} characters" * (len(query.asked) > LONGEST)
                raise NoMatchError(
                    query.asked,
                    f"no key matches {quoted(query.asked)}: it has no letters or digits to "
                    f"compare{where}, so that only an equal key could match",
                )
        vectors: Any = repeat(None)
        if new and (self.meaning.is_encoded or self._is_named):
            vectors = self.meaning.of_texts([query.asked for query in new])
        for query, vector in zip(new, vectors, strict=False):
            one = found[query.asked] = query if vector is None else query._replace(vector=vector)
            if len(query.asked) <= LONGEST:
                make_room(kept, _REMEMBERED_QUERIES)
                kept[query.asked] = one
        return [found[text] for text in asked]  # type: ignore[misc]

    # ---- scores --------------------------------------------------------------------------------

    def _glance(self, asked: Asked, keys: Keys) -> Seen:
        meaning, vectors = self.meaning, self.meaning.of_queries(asked)
        return glance(asked, keys, vectors, meaning.judge.glance, is_encoded=meaning.is_encoded)

    def compared(self, listing: Listing) -> Compared:
        """Compare queries with the keys found by their spelling and meaning."""
        keys, judge = listing.keys, self.meaning.judge
        asked = Asked.of(listing.asked, keys)
        of_all = self._glance(asked, keys)
        slots, seen = candidates(of_all, self.meaning.candidates)
        X = align(asked, keys, slots, seen, judge.pair)
        mask = keys.alive[slots] if len(keys.dead) else None
        return Compared(slots, X, judge.judge(X, keys.hashes[slots], mask), of_all.odds)

    def _log_probabilities(self, listing: Listing, compared: Compared) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of the keys found, (L, n).

        The share of the keys that were not found is estimated from a sample.
        """
        judge, said, left_out = self.meaning.judge, compared.said, np.zeros(len(listing.asked))
        if listing.not_found and listing.sample is not None:
            keys, slots = listing.sample
            glances = self._glance(Asked.of(listing.asked, keys), keys).odds[:, slots]
            odds = judge.rest_odds(glances, said.odds.max(axis=1))
            left_out = np.exp(odds).mean(axis=1) * listing.not_found
        return judge.log_probabilities(said, compared.slots, compared.glanced, left_out)

    def _scores(self, listing: Listing) -> NDArray[Any]:
        """Return the logits of the weights of the keys found, (L, n), -inf if dead."""
        asked, keys = listing.asked, listing.keys
        if not asked or not len(keys):
            return np.zeros((len(asked), len(keys)))
        if isinstance(self.score, NamedScore):
            return self.score.scores(np.array([query.vector for query in asked]), keys)
        return self._log_probabilities(listing, self.compared(listing))

    # ---- the best keys -----------------------------------------------------------------------

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query; a key that equals the query wins."""
        if self._is_named:
            return [one for (one,) in self.ranked(asked, 1)]
        found = list[Scored]()
        for listing in self._listings(self._asked(asked), 1):
            queries, keys = listing.asked, listing.keys
            best: Iterable[tuple[int, float]]
            if len(queries) == 1:
                with np.errstate(invalid="ignore"):  # as by `ignore_invalid`, without a call
                    best = [best_of_one(queries[0], queries[0].vector, keys, self.meaning)]
            else:
                compared, rows = self.compared(listing), np.arange(len(queries))
                said, slots = compared.said, compared.slots
                best = zip(slots[rows, said.best].tolist(), said.of_best().tolist(), strict=True)
            for one, (slot, score) in zip(queries, best, strict=True):
                is_key = keys.slot_of(one.asked) is not None
                found.append(Scored(one.asked, 1.0) if is_key else Scored(keys.names[slot], score))
        return found

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query (all if None), best first."""
        if topn == 1 and not self._is_named:  # which needs no scores of the others
            return [[one] for one in self.nearest(asked)]
        return [
            self._best(listing.keys, one.asked, scores, topn)
            for listing in self._listings(self._asked(asked), topn)
            for one, scores in zip(listing.asked, self._scores(listing), strict=True)
        ]

    def _best(self, keys: Keys, asked: str, scores: NDArray[Any], topn: int | None) -> list[Scored]:
        """Return the keys with the highest scores of a query, (n,), best first.

        One that equals it comes first; by a named scorer only if no other is asked for.
        """
        equal, count = keys.slot_of(asked), keys.count if topn is None else min(keys.count, topn)
        if not count:
            return []
        if equal is not None and self._is_named and count == 1:
            return [Scored(asked, float(scores[equal]))]
        if equal is not None and not self._is_named:
            scores = scores.copy()
            scores[equal] = np.inf
        least = scores.max() if count == 1 else np.partition(scores, -count)[-count]
        slots = np.flatnonzero(scores >= least)
        slots = slots[keys.alive[slots]]
        if len(slots) > 1:  # of those that tie, in the order in which the judge chooses
            of_ties = slots if self._is_named else keys.hashes[slots]
            slots = slots[np.lexsort((of_ties, -scores[slots]))[:count]]
        best = scores[slots] if self._is_named else np.exp(np.minimum(scores[slots], 0.0))
        pairs = zip(slots.tolist(), best.tolist(), strict=True)
        return [Scored(keys.names[slot], score) for slot, score in pairs]

    # ---- why ---------------------------------------------------------------------------------

    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""
        explained = list[Explained]()
        for listing in self._listings(self._asked(asked), 2):
            if not self._is_named:
                compared = self.compared(listing)
                logs = self._log_probabilities(listing, compared)
                rows = range(len(listing.asked))
                explained += [self._reasons(listing, compared, row, logs[row]) for row in rows]
                continue
            for one, scores in zip(listing.asked, self._scores(listing), strict=True):
                (best,) = self._best(listing.keys, one.asked, scores, 1)
                two = self._best(listing.keys, one.asked, scores, 2)
                other = next((other for other in two if other.name != best.name), None)
                explained.append(Explained(best, None, other, None, None))
        return explained

    def _reasons(
        self, listing: Listing, compared: Compared, row: int, logs: NDArray[np.float64]
    ) -> Explained:
        """Return the best candidate of one of the queries, the next, and the reasons.

        The keys have the logarithms of probabilities ``logs``, (n,).
        """
        keys, equal = listing.keys, listing.keys.slot_of(listing.asked[row].asked)
        slots, odds = compared.slots[row].tolist(), compared.said.odds[row]
        order = np.lexsort((keys.hashes[slots], -logs[slots])).tolist()
        if equal in slots:
            order.insert(0, order.pop(order.index(slots.index(equal))))
        told = list[Any]()
        for place in [place for place in order[:2] if odds[place] > -np.inf]:
            share = float(np.exp(min(logs[slots[place]], 0.0)))
            score = 1.0 if slots[place] == equal else share
            told.append(Scored(keys.names[slots[place]], score))
            told.append(self.meaning.judge.parts(compared.X[row], odds, place, share))
        told += [None] * (4 - len(told))
        return Explained._make([*told, max(0.0, 1.0 - float(np.exp(logs).sum()))])

    # ---- all keys ----------------------------------------------------------------------------

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None = None,
        temperature: float | None = None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of queries for the keys, or for the ``topn`` best of each.

        Queries that attend to the same keys are returned together, in order. Of all keys those
        may be attended to that are ``allowed``, (S,); the others score -inf.

        Raises:
            NoMatchError: the mask, or the scorer's width, leaves a query no key to attend to.
        """
        prepared, wanted = self._asked(asked), MOST if topn is None else topn
        listings = list(self._listings(prepared, wanted if allowed is None else None))
        tables = list(map(self._scores, listings))
        if listings and all(one.keys is listings[0].keys for one in listings):
            listings = [listings[0]._replace(asked=prepared)]
            tables = [np.concatenate(tables)]
        softness = self.score.temperature if temperature is None else temperature
        found = list[Attended]()
        for listing, scores in zip(listings, tables, strict=True):
            one = self._attended(listing, scores, allowed, softness)
            if topn is None or topn >= len(one.names):
                found.append(one)
            else:
                found += [best_of(one, row, topn) for row in range(len(one.best))]
        return found

    def _attended(
        self,
        listing: Listing,
        scores: NDArray[Any],
        allowed: NDArray[np.bool_] | None,
        temperature: float,
    ) -> Attended:
        """Return the scores of queries for the keys found."""
        asked, keys = listing.asked, listing.keys
        best, left_out = list[Scored](), np.zeros(len(asked))
        for row, one in zip(scores, asked, strict=True):
            equal = None if self._is_named else keys.slot_of(one.asked)
            if equal is not None:  # its value is its own: by any finite temperature next to nothing
                row += _LEFT * min(max(temperature, 1.0), 1e30) - row.max()  # is left to others
                row[equal] = 0.0
            best += self._best(keys, one.asked, row, 1)
        none: list[float | None] = [None] * len(asked)
        if not self._is_named:
            none = np.maximum(0.0, 1.0 - np.exp(scores).sum(axis=1)).tolist()
        if listing.not_found:
            least, top = scores.min(axis=1), scores.max(axis=1)
            found = np.exp((scores - top[:, None]) / temperature).sum(axis=1)
            rest = listing.not_found * np.exp((least - top) / temperature)
            left_out = rest / (found + rest)
        vectors = keys.vectors
        if len(keys.dead):
            vectors, scores = vectors[keys.alive], scores[:, keys.alive]
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        for one, row in zip(asked, scores, strict=True):
            if row.max() == -np.inf:
                raise NoMatchError(
                    one.asked,
                    f"{quoted(one.asked)} has nothing to attend to: every key is masked, or "
                    f"farther than the scorer's width; loosen attn_mask, or widen the scorer",
                )
        if asked and asked[0].vector is not None:
            query = np.array([one.vector for one in asked])
        else:
            query = self.meaning.of_texts([one.asked for one in asked])
        logits = scores.astype(np.float32, copy=False)
        return Attended(keys.living(), query, vectors, logits, temperature, best, left_out, none)


def best_of(attended: Attended, row: int, topn: int) -> Attended:
    """Return the scores of one of the queries for its ``topn`` best keys alone."""
    scores = attended.scores[row]
    best = np.sort(np.argsort(-scores, kind="stable")[:topn])  # in the order of the keys
    weights = softmax(scores[None].astype(np.float64), attended.temperature)[0]
    return attended._replace(
        names=[attended.names[place] for place in best.tolist()],
        query=attended.query[row : row + 1],
        keys=attended.keys[best],
        scores=scores[None, best],
        best=[attended.best[row]],
        left_out=1 - float(weights[best].sum()) * (1 - attended.left_out[row : row + 1]),
        none=[attended.none[row]],
    )


# ---- the keys of a dict -------------------------------------------------------------------------


class Exact(Lookup):
    """A lookup that compares queries with every key."""

    def __init__(self, keys: Keys, meaning: Meaning, scorer: ScorerLike | None = None) -> None:
        self.keys = keys
        super().__init__(meaning, scorer, keys.count)

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query."""
        if len(asked) != 1 or self._is_named:
            return super().nearest(asked)
        (query,), keys = self._asked(asked), self.keys
        if keys.slot_of(query.asked) is not None:
            return [Scored(query.asked, 1.0)]
        with np.errstate(invalid="ignore"):  # as by `ignore_invalid`, without a call
            slot, score = best_of_one(query, query.vector, keys, self.meaning)
        return [Scored(keys.names[slot], score)]

    def _listings(self, asked: list[Query], count: int | None) -> Iterator[Listing]:  # noqa: ARG002
        times = 8 if self._is_named else 1  # which makes one array of them
        step = min(max(times * SCORES // max(len(self.keys), 1), 1), times * QUERIES)
        return (Listing(asked[some], self.keys) for some in slices(len(asked), step))


class Approximate(Exact):
    """A lookup that compares only the keys that a graph finds, and those spelled alike.

    What needs every key compares with every key. One thread at a time may use the graph.
    """

    needs_lock = True
    at_once = 32  # which cost milliseconds each, perhaps
    nearest = Lookup.nearest

    def __init__(
        self, keys: Keys, meaning: Meaning, scorer: ScorerLike | None, neighbours: Neighbours
    ) -> None:
        super().__init__(keys, meaning, scorer)
        self._scorer, self._neighbours = scorer, neighbours

    def _listings(self, asked: list[Query], count: int | None) -> Iterator[Listing]:
        if not asked or count is None or count > MOST:
            return super()._listings(asked, count)
        if not self.score.is_by_cosine:
            raise OptionError(
                f"index: 'usearch' finds keys for the default score and 'cosine', and the scorer "
                f"is {quoted(self._scorer)}, which needs every key; set d.index = 'exact', or "
                f"another scorer"
            )
        vectors = self.meaning.of_queries(Asked.of(asked, self.keys))
        near = self._neighbours.near(self.keys, vectors, sought(count))
        return map(self._listing, asked, near)

    def _listing(self, query: Query, near: NDArray[np.intp]) -> Listing:
        keys, equal = self.keys, self.keys.slot_of(query.asked)
        slots = [near, np.array([] if equal is None else [equal], np.intp)]
        if not self._is_named:
            _, (likeness,) = keys.likeness([query])
            least = max(len(likeness) - SPELLED, 0)
            alike = np.argpartition(likeness, least)[least:]
            slots.append(alike[likeness[alike] > 0])
        found = np.unique(np.concatenate(slots))
        found = found[keys.alive[found]]
        sample = None if self._is_named else (self._sample, np.arange(len(self._sample)))
        return Listing([query], keys.some(found), keys.count - len(found), sample)

    @cached_property
    def _sample(self) -> Keys:
        return self.keys.some(self.keys.sample(_SAMPLE))


def sought(count: int | None) -> int:
    """Return how many of the nearest keys are sought if ``count`` are wanted."""
    if count == 1:
        return _NEAREST
    return MOST if count is None else min(count + _SPARE, MOST)
