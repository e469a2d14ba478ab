"""From queries to keys: text -> vector -> score -> weights, over all the keys of one dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import different
from fuzzydict.errors import NoMatchError, OptionError, quoted
from fuzzydict.search.backends.base import EXACT
from fuzzydict.search.bounds import settled
from fuzzydict.search.key_index import Others, Shortlist
from fuzzydict.search.neighbours import neighbours_of
from fuzzydict.search.score import MeaningAndSpelling, as_matching, weight_left_out
from fuzzydict.text.ngrams import most_alike
from fuzzydict.text.similarity import likeness
from fuzzydict.text.words import LONGEST, caseless, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.key_index import KeyIndex
    from fuzzydict.search.neighbours import Neighbours
    from fuzzydict.search.score import Judgement, Parts

__all__ = [
    "MOST",
    "Approximate",
    "Attended",
    "Explained",
    "Lookup",
    "Scored",
    "lookup_by",
    "texts_of",
    "unmatched",
]


_SCORES = 1 << 24  # made at a time, 64 MB
_TIED = 64  # keys that may tie for the first place and be compared as they are written


class Scored(NamedTuple):
    """A key and its score."""

    name: str
    score: float


class Attended(NamedTuple):
    """What L queries find among S keys."""

    names: list[str]  # S, in the dict's order
    query: NDArray[np.float32]  # (L, E)
    keys: NDArray[np.float32]  # (S, E)
    scores: NDArray[np.float32]  # (L, S), log-weights, -inf where masked
    temperature: float  # by which scores become weights
    best: list[Scored]  # L, what `Lookup.nearest` finds, whether it is masked or not
    left_out: NDArray[np.float64]  # (L,), a bound on the weight that other keys would have had


class Explained(NamedTuple):
    """The best key of a query and the next, where there is one; of a named scorer, no parts."""

    best: Scored
    best_parts: Parts | None
    runner_up: Scored | None
    runner_up_parts: Parts | None
    none: float | None  # the probability that no key is right


class Lookup:
    """An index of keys, and the scorer that compares a query with them.

    Hold the index's lock, or see to it otherwise that no other thread writes.

    Args:
        index: the keys, and the embedding that encodes them and the queries.
        scorer: None for the default score.
    """

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None = None) -> None:
        self.index = index
        self.matching = as_matching(scorer)

    def names(self) -> list[str]:
        """Return the keys that can be attended to, S of them, in the dict's order."""
        self.index.sync()
        return self.index.living()

    def nearest(self, queries: Sequence[str]) -> list[Scored]:
        """Return the best key of each query; one that is equal to the query wins."""
        blocks = self._in_blocks(queries)
        return [one for some, scores in blocks for one in self._best(some, scores)]

    def settled(self, query: str, cutoff: float) -> str | None:
        """Return the best key, if it reaches the cutoff and its score need not be told for that."""
        self.index.sync()
        if not isinstance(self.matching, MeaningAndSpelling) or not self.index.count:
            return None
        slot = settled(query, _required(query), self.index, cutoff)
        return None if slot is None else self.index.names[slot]

    def ranked(self, queries: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query (all if None), best first.

        Of keys that tie for the first place, the one that is written like the query comes first;
        otherwise the dict's order decides.
        """
        return [
            self._ranked(query, row, topn)
            for some, scores in self._in_blocks(queries)
            for query, row in zip(some, scores, strict=True)
        ]

    def attend(
        self, queries: Sequence[str], allowed: NDArray[np.bool_] | None, temperature: float | None
    ) -> list[Attended]:
        """Return how the queries score; keys not ``allowed``, (S,), score -inf.

        Queries that attend to the same keys are told of together, in order.

        Raises:
            NoMatchError: the mask, or the scorer's width, leaves a query nothing to attend to.
        """
        return [self._attended(queries, *self._score(queries), allowed, temperature)]

    def _attended(
        self,
        queries: Sequence[str],
        vectors: NDArray[np.float32],
        scores: NDArray[np.float32],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
    ) -> Attended:
        best = self._best(queries, scores)
        names, keys = self.names(), self.index.vectors
        if len(names) < len(self.index):
            keys, scores = keys[self.index.alive], scores[:, self.index.alive]
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(-np.inf))
        for query, top in zip(queries, scores.max(axis=1).tolist(), strict=True):
            if top == -np.inf:
                raise NoMatchError(
                    query,
                    f"{quoted(query)} has nothing to attend to: every key is masked, or farther "
                    f"than the scorer's width; mask fewer keys, or widen the scorer",
                )
        temperature = self.matching.temperature if temperature is None else temperature
        return Attended(names, vectors, keys, scores, temperature, best, np.zeros(len(queries)))

    def explain(self, queries: Sequence[str]) -> list[Explained]:
        """Return what `nearest` finds for each query, with what comes next and the reasons."""
        texts, vectors = self._encode(queries)
        judged = self.matching.judge(queries, texts, vectors, self.index)
        return [self._explained(query, one) for query, one in zip(queries, judged, strict=True)]

    def embeds(self, key: Any) -> bool:
        """Tell whether ``key`` is one that can be attended to, not one that is found exactly."""
        self.index.sync()
        return self.index.slot(key, otherwise=-1) >= 0

    def _score(self, queries: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the queries' vectors, (L, E), and scores for every slot, (L, n), -inf if dead.

        Raises:
            NoMatchError: there is no text key, or a query has neither letters nor digits.
            ShapeError: the scorer gives NaN or +inf.
        """
        texts, vectors = self._encode(queries)
        return vectors, self._log_weights(queries, texts, vectors)

    def _in_blocks(
        self, queries: Sequence[str]
    ) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Yield queries, some at a time, and their scores as `_score` does; memory is bounded."""
        texts, vectors = self._encode(queries)
        size = max(1, _SCORES // len(self.index))
        for start in range(0, len(queries), size):
            some = slice(start, start + size)
            yield queries[some], self._log_weights(queries[some], texts[some], vectors[some])

    def _log_weights(
        self, queries: Sequence[str], texts: Sequence[str], vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        scores = self.matching.log_weights(queries, texts, vectors, self.index)
        if self.index.count < len(self.index):
            scores[:, self.index.dead] = -np.inf
        return scores

    def _encode(self, queries: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
        """Return the queries' plain words, L, and their vectors, (L, E)."""
        texts = [_required(query) for query in queries]
        self.index.sync()
        if not self.index.count:
            asked = queries[0] if queries else queries
            raise NoMatchError(
                asked, f"no key matches {quoted(asked)}: the dict has no key with letters or digits"
            )
        return texts, self.index.embedding.encode_queries(list(queries))

    def _explained(self, query: str, judgement: Judgement) -> Explained:
        scores, reasons = judgement
        scores[self.index.dead] = -np.inf
        (best,) = self._best([query], scores[None])
        others = [one for one in self._ranked(query, scores, 2) if one.name != best.name]
        runner_up = others[0] if others else None
        best_parts, runner_up_parts = (
            reasons.parts(self.index.slot(one.name, otherwise=-1), one.score)
            if reasons and one
            else None
            for one in (best, runner_up)
        )
        none = reasons.none() if reasons else None
        return Explained(best, best_parts, runner_up, runner_up_parts, none)

    def _best(self, queries: Sequence[str], scores: NDArray[np.float32]) -> list[Scored]:
        return [
            self._ranked(query, row, 1)[0] if slot < 0 else self._scored(row, slot)
            for query, row in zip(queries, scores, strict=True)
            for slot in [self.index.slot(query, otherwise=-1)]
        ]

    def _ranked(self, query: str, scores: NDArray[np.float32], topn: int | None) -> list[Scored]:
        count = self.index.count if topn is None else min(self.index.count, topn)
        if not count:
            return []
        # With all that tie with the last one wanted, so that order is not left to the partition.
        least = scores.max() if count == 1 else np.partition(scores, -count)[-count]
        slots = np.flatnonzero(scores >= least)
        slots = slots[self.index.alive[slots]]
        if len(slots) > 1:
            unlike = self._unlike(query, slots, scores)
            slots = slots[np.lexsort((slots, unlike, -scores[slots]))][:count]
        return [self._scored(scores, slot) for slot in slots.tolist()]

    def _unlike(
        self, query: str, slots: NDArray[np.intp], scores: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return what parts the best slots, (n,), if they tie ("C#" and "C++" have equal words).

        It is how unlike the query their keys are written; 0 where there is nothing to part.
        """
        unlike = np.zeros(len(slots))
        tied = np.flatnonzero(scores[slots] == scores[slots].max())
        if 1 < len(tied) <= _TIED:
            names = [self.index.names[slot] for slot in slots[tied].tolist()]
            unlike[tied] = [-1 if n == query else 1 - _written_alike(query, n) for n in names]
        return unlike

    def _scored(self, scores: NDArray[np.float32], slot: int) -> Scored:
        return Scored(self.index.names[slot], self.matching.score(float(scores[slot])))


def _written_alike(query: str, key: str) -> float:
    """Return how alike two texts are with their punctuation and, which says less, their case."""
    a, b = query[:LONGEST].strip(), key[:LONGEST].strip()
    return 0.75 * likeness(caseless(a), caseless(b)) + 0.25 * likeness(a, b)


def _required(query: str) -> str:
    """Return the plain words of a query, which has some."""
    text = plain(query)
    if not text:
        raise NoMatchError(
            query,
            f"no key matches {quoted(query)}: it has no letters or digits to compare, "
            f"so that only an equal key could match",
        )
    return text


def texts_of(queries: list[Any]) -> list[str]:
    """Return the queries if all are texts, for nothing else can be compared."""
    for query in queries:
        if not isinstance(query, str):
            raise NoMatchError(
                query,
                f"no key equals {quoted(query)}, and only a text can be matched otherwise, "
                f"not {type(query).__name__}",
            )
    return queries


def unmatched(query: Any, best: Scored, cutoff: float) -> NoMatchError:
    """Return the error that tells of a best key that is not near enough."""
    key, score = best
    if score == -np.inf:
        return NoMatchError(
            query,
            f"no key matches {quoted(query)}: every key is farther than the scorer's width; "
            f"widen the scorer",
        )
    return NoMatchError(
        query,
        f"no key matches {quoted(query)}: the nearest is {quoted(key)} with score {score:.3f}, "
        f"below the cutoff {cutoff:.3f}; lower score_cutoff, or see most_similar({quoted(query)})",
        key=key,
        score=score,
        cutoff=cutoff,
    )


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
