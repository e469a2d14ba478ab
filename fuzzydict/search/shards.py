"""What one of several shards of the keys computes, so that pooling over all of them is exact.

The keys of all shards, one after the other, are those of one dict. Each has a place in it. The
statistics of all keys are collected first, then the keys that are compared as strings are chosen
among all, and then each shard pools its own keys.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import as_divisor, slices
from fuzzydict.nn.attention import Partial, merge, partial
from fuzzydict.nn.softmax import centred
from fuzzydict.search.candidates import SPELLED_ALIKE, Candidates, nearest_in_meaning
from fuzzydict.search.features import Features
from fuzzydict.search.key_index import Share, Statistics, WordCounts
from fuzzydict.search.score import (
    TIE,
    ProbabilityScore,
    log_odds,
    log_scale,
    of_equal_words,
    written_less_alike,
    written_like,
)
from fuzzydict.text.ngrams import largest, most_alike_of_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.search.features import Query
    from fuzzydict.search.key_index import Keys
    from fuzzydict.search.score import Score


_SCORES, _QUERIES = 1 << 22, 512  # made at a time, in several arrays; and scored at a time
_ROUNDING = 1 + 1e-6  # the factor by which keys that may be equal to the best differ more


def query_slices(queries: Sequence[Query], keys: Keys) -> list[slice]:
    """Return slices of queries that are compared with the keys at once, in bounded memory."""
    return slices(len(queries), min(max(_SCORES // max(len(keys), 1), 1), _QUERIES))


# ---- statistics -------------------------------------------------------------------------------


class Sampled(NamedTuple):
    """What statistics are made of: vectors of some keys, (m, E), and the words of some."""

    vectors: NDArray[np.float32]
    words: WordCounts


def sampled(keys: Keys, share: Share) -> Sampled:
    """Return what some of the keys give to the statistics of all, of which they are a share."""
    return Sampled(keys.vectors_of_some(share), keys.words_of_some(share))


def statistics_of(samples: Sequence[Sampled], embedding: Embedding) -> Statistics:
    """Return the statistics of all keys, given those of each shard, in order."""
    vectors = [sample.vectors for sample in samples if len(sample.vectors)]
    background = embedding.background(np.concatenate(vectors))
    words: Counter[str] = sum((sample.words.words for sample in samples), Counter())
    count = sum(sample.words.keys for sample in samples)
    return Statistics(background, WordCounts(max(count, 1), words))


# ---- which keys are compared as strings -------------------------------------------------------


class Contenders(NamedTuple):
    """Keys that may be compared as strings with L queries, by their places among all keys.

    Attributes:
        nearness: of the keys nearest in meaning, (L, a).
        near: their places, (L, a), rising.
        cosines: of the n-grams of the keys that share the most with each query, (L, b).
        spelled: their places, (L, b), rising.
    """

    nearness: NDArray[np.float32]
    near: NDArray[np.intp]
    cosines: NDArray[np.float32]
    spelled: NDArray[np.intp]


def contenders(
    queries: Sequence[Query], keys: Keys, score: ProbabilityScore, first: int
) -> Contenders:
    """Return the best of some of the keys, with the statistics of all.

    Args:
        queries: the queries, with their vectors.
        keys: some of the keys.
        score: the score.
        first: the place of the first of them among all.
    """
    blocks = [_contenders(queries[some], keys, score) for some in query_slices(queries, keys)]
    nearness, near, cosines, spelled = map(np.concatenate, zip(*blocks, strict=True))
    return Contenders(nearness, near + first, cosines, spelled + first)


def _contenders(queries: Sequence[Query], keys: Keys, score: ProbabilityScore) -> Contenders:
    near, slots = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.intp)
    if score.nearest:
        of_all = score.nearness(queries, keys)
        slots = nearest_in_meaning(of_all, keys, score.nearest)
        near = np.take_along_axis(of_all, slots, 1)
        near[~keys.alive[slots]] = -np.inf
    count = min(SPELLED_ALIKE, keys.count)
    texts = [query.text for query in queries]
    spelled, cosines = most_alike_of_each(keys.ngrams, texts, count, keys.alive)
    return Contenders(near, slots, cosines, spelled)


def best_contenders(found: Sequence[Contenders], score: ProbabilityScore) -> Contenders:
    """Return the best of all keys, given those of each shard, in order; of equal ones the first."""
    nearness, near, cosines, spelled = (
        np.concatenate(some, axis=1) for some in zip(*found, strict=True)
    )
    nearness, near = _best(nearness, near, score.nearest)
    return Contenders(nearness, near, *_best(cosines, spelled, SPELLED_ALIKE))


def _best(
    values: NDArray[np.float32], places: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    if not count:
        return values, places
    columns = np.array([largest(row, count) for row in values])
    return np.take_along_axis(values, columns, 1), np.take_along_axis(places, columns, 1)


# ---- judging ----------------------------------------------------------------------------------


class Judged(NamedTuple):
    """The log-odds of some keys, before keys of equal words are told apart.

    Attributes:
        odds: of n slots, (L, n); -inf if dead.
        same: the slots of the keys that have the very words of each query, L arrays.
        alike: how alike these and the query are written, L arrays.
    """

    odds: NDArray[np.float64]
    same: list[NDArray[np.intp]]
    alike: list[NDArray[np.float64]]


def judged(
    queries: Sequence[Query],
    keys: Keys,
    score: ProbabilityScore,
    near: NDArray[np.intp],
    spelled: NDArray[np.intp],
) -> Judged:
    """Return the log-odds of some of the keys.

    Args:
        queries: L queries, with their vectors and words.
        keys: some of the keys, with the statistics of all.
        score: the score.
        near: the slots of those chosen among all keys for their nearness, (L, a); other numbers
            are of other shards.
        spelled: those chosen for their spelling, (L, b).
    """
    of_keys = score.nearness(queries, keys)
    odds = np.empty(of_keys.shape)
    same = [np.zeros(0, np.intp)] * len(queries)
    by_meaning, by_spelling = (
        [row[(row >= 0) & (row < len(keys))] for row in some] for some in (near, spelled)
    )
    for rows, candidates in _groups(by_meaning, by_spelling, score.nearest):
        some = [queries[row] for row in rows]
        if candidates.slots.shape[1]:
            features = score.compare(some, of_keys[rows], candidates, keys)
        else:
            features = _by_meaning(of_keys[rows])
        odds[rows] = log_odds(features, [query.known for query in some], keys.calibration)
        for i, row in enumerate(rows):
            same[row] = of_equal_words(features, i, keys)
    if len(keys.dead):
        odds[:, keys.dead] = -np.inf
    alike = [written_like(*one, keys) for one in zip(queries, same, strict=True)]
    return Judged(odds, same, alike)


def _groups(
    near: list[NDArray[np.intp]], spelled: list[NDArray[np.intp]], nearest: int
) -> Iterator[tuple[list[int], Candidates]]:
    """Yield queries with the candidates of each, (l, c): first those nearest, if any can be.

    A shard has more candidates of one query than of another. Others come twice then, which changes
    nothing, for the last place of a key counts. A query that has none spelled alike cannot have
    as many places, so it is in another group.
    """
    kinds = [(len(n) > 0) + 2 * (len(s) > 0) for n, s in zip(near, spelled, strict=True)]
    for kind in {*kinds}:
        rows = [row for row, one in enumerate(kinds) if one == kind]
        most = max(len(spelled[row]) for row in rows)
        few = max(max(len(near[row]) for row in rows), 1) if nearest and kind else 0
        slots = np.empty((len(rows), few + most), np.intp)
        for i, row in enumerate(rows):
            both = np.append(spelled[row], near[row])
            slots[i] = both[0] if kind else 0
            slots[i, : len(near[row])] = near[row]
            slots[i, few : few + len(spelled[row])] = spelled[row]
        yield rows, Candidates(slots, few)


def _by_meaning(near: NDArray[np.float32]) -> Features:
    """Return the features of L queries of which no key is compared as a string."""
    none = np.zeros((len(near), 0), np.float32)
    return Features(near, none.astype(np.intp), none, none, none.astype(np.bool_))


# ---- pooling ----------------------------------------------------------------------------------


class Levels(NamedTuple):
    """Keys of equal log-odds for one query, m times: those whose weight depends on other shards.

    Attributes:
        rows: the query of each level, (m,).
        odds: the log-odds, (m,); for a named scorer, the scores.
        counts: how many keys have them, (m,).
        alike: how alike query and key are written, (m,), if it is a key of the query's words, which
            are told apart; otherwise NaN.
        weighted: the sum of the values of the keys, (m, Ev).
        names: the first key of each level, m.
    """

    rows: NDArray[np.intp]
    odds: NDArray[np.float64]
    counts: NDArray[np.float64]
    alike: NDArray[np.float64]
    weighted: NDArray[np.float64]
    names: list[str]

    def some(self, are_wanted: NDArray[np.bool_]) -> Levels:
        """Return some of the levels, given whether each is wanted, (m,)."""
        places = np.flatnonzero(are_wanted)
        return Levels(
            self.rows[places],
            self.odds[places],
            self.counts[places],
            self.alike[places],
            self.weighted[places],
            [self.names[place] for place in places.tolist()],
        )

    def partial(self, logs: NDArray[np.float64], count: int, temperature: float) -> Partial:
        """Return attention of L queries over these keys, given their log-weights, (m,)."""
        top = np.full(count, -np.inf)
        np.maximum.at(top, self.rows, logs)
        divisor = as_divisor(temperature, top.dtype)
        weights = np.exp(centred(logs, top[self.rows], divisor))
        total = np.zeros(count)
        np.add.at(total, self.rows, weights * self.counts)
        weighted = np.zeros((count, self.weighted.shape[1]))
        np.add.at(weighted, self.rows, weights[:, None] * self.weighted)
        return Partial(top[:, None], total[:, None], weighted)


class Kind(NamedTuple):
    """How log-odds become weights.

    Attributes:
        nesting: see `Calibration`; 1 for a named scorer.
        tie: log-weights that differ from the largest by less are equal.
        temperature: of the weights.
    """

    nesting: float
    tie: float
    temperature: float

    @classmethod
    def of(cls, score: Score, calibration: Calibration, temperature: float) -> Kind:
        """Return the kind of a score."""
        if isinstance(score, ProbabilityScore):
            return cls(calibration.nesting, TIE, temperature)
        return cls(1.0, 0.0, temperature)


def living(found: Judged, keys: Keys) -> Judged:
    """Return the log-odds of the living keys alone, S of n slots, which are numbered anew."""
    if not len(keys.dead):
        return found
    places = np.cumsum(keys.alive) - 1
    same = [places[slots] for slots in found.same]
    return Judged(found.odds[:, keys.alive], same, found.alike)


class PartialPool(NamedTuple):
    """Attention of L queries over some of the keys.

    Attributes:
        below: over the keys whose weight no other shard changes but for a common factor.
        shares: the same at temperature 1, without values: what they add to the probability that
            any key is right.
        levels: the other keys.
    """

    below: Partial
    shares: Partial
    levels: Levels


def partial_pool(
    found: Judged, names: list[str], values: NDArray[np.float64], kind: Kind
) -> PartialPool:
    """Return attention over some keys.

    Args:
        found: the log-odds of S keys.
        names: the keys.
        values: their values, (S, Ev).
        kind: how log-odds become weights.
    """
    rest, levels = found.odds.copy(), []
    for row, (same, alike) in enumerate(zip(found.same, found.alike, strict=True)):
        rest[row, same] = -np.inf
        told = _told_levels(row, found.odds[row, same], alike, same, names, values)
        tied = np.flatnonzero(_may_be_best(rest[row], rest[row].max(initial=-np.inf), kind))
        levels += [told, _tied_levels(row, rest[row, tied], tied, names, values)]
        rest[row, tied] = -np.inf
    rest /= kind.nesting
    below = partial(rest, values, kind.temperature)
    shares = partial(rest, values[:, :0])
    return PartialPool(below, shares, _joined(levels))


def _may_be_best(
    odds: NDArray[np.float64], top: NDArray[np.float64] | float, kind: Kind
) -> NDArray[np.bool_]:
    """Return whether log-odds, at most ``top``, may be equal to the largest of all keys."""
    return (odds >= top - kind.tie * kind.nesting * _ROUNDING) & (odds > -np.inf)


def _told_levels(
    row: int,
    odds: NDArray[np.float64],
    alike: NDArray[np.float64],
    slots: NDArray[np.intp],
    names: list[str],
    values: NDArray[np.float64],
) -> Levels:
    """Return a level for each key that has a query's words."""
    ones = np.ones(len(slots))
    rows, told = np.full(len(slots), row), [names[slot] for slot in slots.tolist()]
    return Levels(rows, odds, ones, alike, values[slots], told)


def _tied_levels(
    row: int,
    odds: NDArray[np.float64],
    slots: NDArray[np.intp],
    names: list[str],
    values: NDArray[np.float64],
) -> Levels:
    """Return a level for each different number among the log-odds of some keys."""
    distinct, first, of_each, counts = np.unique(
        odds, return_index=True, return_inverse=True, return_counts=True
    )
    weighted = np.zeros((len(distinct), values.shape[1]))
    np.add.at(weighted, of_each, values[slots])
    rows, alike = np.full(len(distinct), row), np.full(len(distinct), np.nan)
    told = [names[slot] for slot in slots[first].tolist()]
    return Levels(rows, distinct, counts.astype(np.float64), alike, weighted, told)


def _joined(levels: Sequence[Levels]) -> Levels:
    return Levels(
        np.concatenate([some.rows for some in levels]),
        np.concatenate([some.odds for some in levels]),
        np.concatenate([some.counts for some in levels]),
        np.concatenate([some.alike for some in levels]),
        np.concatenate([some.weighted for some in levels]),
        [name for some in levels for name in some.names],
    )


def concatenated(pools: Sequence[PartialPool], size: int) -> PartialPool:
    """Return attention over the same keys of the queries of several blocks, as one block.

    A block whose queries reach no key may have values of another size than Ev, ``size``.
    """
    pools = [_with_values(pool, size) for pool in pools]
    starts = np.cumsum([0, *(len(pool.below.sum) for pool in pools)]).tolist()
    levels = [
        pool.levels._replace(rows=pool.levels.rows + start)
        for pool, start in zip(pools, starts, strict=False)
    ]
    below, shares = (
        Partial(*map(np.concatenate, zip(*parts, strict=True)))
        for parts in ([pool.below for pool in pools], [pool.shares for pool in pools])
    )
    return PartialPool(below, shares, _joined(levels))


def _with_values(pool: PartialPool, size: int) -> PartialPool:
    if pool.below.weighted.shape[1] == size:
        return pool
    below = pool.below._replace(weighted=np.zeros((len(pool.below.sum), size)))
    return pool._replace(below=below, levels=pool.levels._replace(weighted=np.zeros((0, size))))


def merged(a: PartialPool, b: PartialPool, kind: Kind) -> PartialPool:
    """Return attention over the keys of both."""
    below = merge(a.below, b.below, kind.temperature)
    shares, levels = merge(a.shares, b.shares), _joined([a.levels, b.levels])
    count, are_told = len(below.sum), ~np.isnan(levels.alike)
    top = np.full(count, -np.inf)
    np.maximum.at(top, levels.rows[~are_told], levels.odds[~are_told])
    are_kept = are_told | _may_be_best(levels.odds, top[levels.rows], kind)
    lower = levels.some(~are_kept)
    logs = lower.odds / kind.nesting
    below = merge(below, lower.partial(logs, count, kind.temperature), kind.temperature)
    shares = merge(shares, _without_values(lower).partial(logs, count, 1.0))
    return PartialPool(below, shares, levels.some(are_kept))


def _without_values(levels: Levels) -> Levels:
    return levels._replace(weighted=levels.weighted[:, :0])


class Finished(NamedTuple):
    """Attention of L queries over all keys, to be divided by its sum.

    Attributes:
        attention: over all keys; without keys, the largest score is -inf.
        best: the score of the best key of each query, (L,): its probability, or a named scorer's
            score.
        names: the best key of each; None without keys.
        none: the probability that no key is right, (L,); None for a named scorer.
    """

    attention: Partial
    best: NDArray[np.float64]
    names: list[str | None]
    none: NDArray[np.float64] | None


def finished(
    pool: PartialPool, kind: Kind, calibration: Calibration | None, count: int
) -> Finished:
    """Return attention over all keys.

    Args:
        pool: over all keys, merged.
        kind: how log-odds become weights.
        calibration: that of the keys; None for a named scorer.
        count: the number of all keys.
    """
    levels = _told_apart(pool.levels)
    size = len(pool.below.sum)
    top = np.full(size, -np.inf)
    np.maximum.at(top, levels.rows, levels.odds)
    names: list[str | None] = [None] * size
    for level in np.flatnonzero(levels.odds == top[levels.rows])[::-1].tolist():
        names[int(levels.rows[level])] = levels.names[level]
    logs, best = levels.odds / kind.nesting, top / kind.nesting
    none = None
    if calibration is not None:
        shares = merge(pool.shares, _without_values(levels).partial(logs, size, 1.0))
        total = np.log(shares.sum[:, 0])  # beside the largest, as `log_scale` takes it
        scale = log_scale(top, total, calibration.growth, count, calibration.nesting)
        logs = _raised(logs, best[levels.rows])
        tied = merge(pool.shares, _without_values(levels).partial(logs, size, 1.0))
        best, none = np.exp(-scale), np.maximum(0, 1 - tied.sum[:, 0] * np.exp(-scale))
    part = levels.partial(logs, size, kind.temperature)
    return Finished(merge(pool.below, part, kind.temperature), best, names, none)


def _raised(logs: NDArray[np.float64], top: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-weights, (m,), of which those that are nearly the largest are equal to it."""
    return np.where(logs > top - TIE, top, logs)


def _told_apart(levels: Levels) -> Levels:
    """Return the levels with lower log-odds of keys of a query's words written less like it."""
    odds, are_told = levels.odds.copy(), ~np.isnan(levels.alike)
    for row in {*levels.rows[are_told].tolist()}:
        these = np.flatnonzero(are_told & (levels.rows == row))
        odds[these] -= written_less_alike(levels.alike[these])
    return levels._replace(odds=odds)
