"""From queries to keys: encode the queries, score the keys, rank them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from fuzzydict._arrays import make_room, slices
from fuzzydict.errors import NoMatchError, OptionError, quoted
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.backends import EXACT
from fuzzydict.search.candidates import SPELLED_ALIKE, Shortlist, other_keys, shortlist
from fuzzydict.search.features import NEAREST_LIKENESS, Query, encode
from fuzzydict.search.neighbours import Neighbours
from fuzzydict.search.score import (
    COSINE,
    DefaultScore,
    Judgement,
    as_score,
    is_spelling,
    log_odds_left_out,
    log_probabilities,
    weight_left_out,
)
from fuzzydict.text.ngrams import largest, most_alike
from fuzzydict.text.similarity import written_alike
from fuzzydict.text.words import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.key_index import KeyIndex, Keys
    from fuzzydict.search.score import Parts


_SCORES, _QUERIES = 1 << 22, 512  # made at a time, in several arrays; and scored at a time
_TIED = 64  # keys with equal scores whose writing is compared
_REMEMBERED_QUERIES = 256  # queries whose vectors are kept

T = TypeVar("T")


class Scored(NamedTuple):
    """A key and its score."""

    name: str
    score: float


class Attended(NamedTuple):
    """The scores of L queries for S keys.

    Attributes:
        names: the keys, S in the dict's order.
        query: the vectors of the queries, (L, E).
        keys: the vectors of the keys, (S, E).
        scores: the logits of the weights, (L, S); -inf where masked.
        temperature: the temperature of the weights.
        best: the best key of each query, masked or not, L.
        left_out: upper bounds on the weight of keys that the search left out, (L,).
        none: the probability that no key is right, masked or not, L; None for a named scorer.
    """

    names: list[str]
    query: NDArray[np.float32]
    keys: NDArray[np.float32]
    scores: NDArray[np.float32]
    temperature: float
    best: list[Scored]
    left_out: NDArray[np.float64]
    none: Sequence[float | None]


class Explained(NamedTuple):
    """The best key of a query and the next, if there is one; named scorers give no parts.

    ``none`` is the probability that no key is right.
    """

    best: Scored
    best_parts: Parts | None
    runner_up: Scored | None
    runner_up_parts: Parts | None
    none: float | None


class Lookup(ABC):
    """Finds keys for queries, until a key or an option changes.

    Threads may use it at once, without a lock.

    Args:
        embedding: what encodes keys and queries.
        scorer: what compares queries with keys; None for the default score.

    Attributes:
        embedding: what encodes keys and queries.
        score: how likely each key is.
        needs_lock: whether one thread at a time may use it, but for `prepare`.
        at_once: how many queries are read before another thread is let in.
    """

    needs_lock = False
    at_once = _QUERIES

    def __init__(self, embedding: Embedding, scorer: ScorerLike | None = None) -> None:
        self.embedding = embedding
        self.score = as_score(scorer)
        self._queries: dict[str, Query] = {}
        self._prepared: dict[str, Query] = {}

    # ---- before reads ---------------------------------------------------------------------

    def prepare(self, asked: Iterable[str]) -> list[Query]:
        """Return queries, encoded; those without words are left out. No lock need be held.

        It changes nothing, so that several threads may prepare, and so may an embedding that asks
        the dict itself.
        """
        known = self._queries
        queries = [known.get(one) or Query.of(one, self.embedding) for one in dict.fromkeys(asked)]
        queries = [query for query in queries if query.text]
        self._encode(queries)
        return queries

    @contextmanager
    def knowing(self, queries: list[Query]) -> Iterator[None]:
        """Know queries that were prepared, until they are answered."""
        self._prepared = {query.asked: query for query in queries}
        try:
            yield
        finally:
            self._prepared = {}

    # ---- reads ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of keys that a query may be compared with."""

    @abstractmethod
    def find(self, asked: str, cutoff: float) -> str | Scored | None:
        """Return the best key of a query, if it is sure to reach the cutoff, without its score.

        None if no key reaches it, and which is the best was not asked. Where only the score can
        tell, the best key and its score.
        """

    @abstractmethod
    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query; a key that equals the query wins."""

    @abstractmethod
    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query (all if None), best first.

        Of the keys with the highest score, the one written most like the query comes first;
        other equal scores keep the dict's order.
        """

    @abstractmethod
    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of queries for the keys, or for the ``topn`` best of each.

        Queries that attend to the same keys are returned together, in order.

        Args:
            asked: the queries.
            allowed: which of all keys may be attended to, (S,); the others score -inf.
            temperature: of the weights; None for that of the score.
            topn: how many keys of each query are attended to; all if None.

        Raises:
            NoMatchError: the mask, or the scorer's width, leaves a query no key to attend to.
        """

    @abstractmethod
    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""

    # ---- queries and scores -----------------------------------------------------------------

    def _asked(self, asked: Sequence[str]) -> list[Query]:
        """Return the queries, encoded, if there is a key to compare them with.

        Raises:
            NoMatchError: there is nothing to compare.
        """
        queries = [self._query(one) for one in asked]
        if not self.count:
            of = quoted(asked[0] if asked else asked)
            raise NoMatchError(
                of, f"no key matches {of}: no key of the dict is a text with letters or digits"
            )
        self._encode(queries)
        return queries

    def _query(self, asked: str) -> Query:
        query = self._queries.get(asked)
        if query is None:
            query = self._prepared.get(asked) or Query.of(asked, self.embedding)
            if not query.text:
                raise NoMatchError(
                    asked,
                    f"no key matches {quoted(asked)}: it has no letters or digits to compare, "
                    f"so that only an equal key could match",
                )
            if len(asked) <= LONGEST:
                make_room(self._queries, _REMEMBERED_QUERIES)
                self._queries[asked] = query
        return query

    def _encode(self, queries: list[Query]) -> None:
        encode(queries, self.embedding, with_words=isinstance(self.score, DefaultScore))

    # ---- ranking --------------------------------------------------------------------------

    def _best(self, query: Query, scores: NDArray[np.float32], keys: Keys) -> Scored:
        slot = keys.slot_of(query.asked)
        if slot is None:
            return self._ranked(query, scores, keys, 1)[0]
        return Scored(query.asked, self.score.from_log_weight(float(scores[slot])))

    def _ranked(
        self, query: Query, scores: NDArray[np.float32], keys: Keys, topn: int | None
    ) -> list[Scored]:
        count = keys.count if topn is None else min(keys.count, topn)
        if not count:
            return []
        # With all keys whose score equals the last one wanted, so that their order decides.
        least = scores.max() if count == 1 else np.partition(scores, -count)[-count]
        slots = np.flatnonzero(scores >= least)
        if len(keys.dead):
            slots = slots[keys.alive[slots]]
        if len(slots) > 1:
            unlike = _unlike(query.asked, slots, scores, keys)
            slots = slots[np.lexsort((slots, unlike, -scores[slots]))][:count]
        names, to_score = keys.names, self.score.from_log_weight
        return [Scored(names[slot], to_score(float(scores[slot]))) for slot in slots.tolist()]

    def _attended(
        self,
        queries: list[Query],
        scores: NDArray[np.float32],
        keys: Keys,
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
    ) -> Attended:
        best = [self._best(query, row, keys) for query, row in zip(queries, scores, strict=True)]
        none = self.score.none(scores)
        names, vectors = keys.living(), keys.vectors
        if len(keys.dead):
            vectors, scores = vectors[keys.alive], scores[:, keys.alive]
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(-np.inf))
        for query, top in zip(queries, scores.max(axis=1).tolist(), strict=True):
            if top == -np.inf:
                raise NoMatchError(
                    query.asked,
                    f"{quoted(query.asked)} has nothing to attend to: every key is masked, or "
                    f"farther than the scorer's width; loosen attn_mask, or widen the scorer",
                )
        temperature = self.score.temperature if temperature is None else temperature
        asked = np.array([query.vector for query in queries]).reshape(
            len(queries), -1 if queries else 0
        )
        left_out = np.zeros(len(queries))
        return Attended(names, asked, vectors, scores, temperature, best, left_out, none)

    def _explained(self, query: Query, judgement: Judgement, keys: Keys) -> Explained:
        scores, reasons = judgement
        scores[keys.dead] = -np.inf
        best = self._best(query, scores, keys)
        others = [one for one in self._ranked(query, scores, keys, 2) if one.name != best.name]
        runner_up = others[0] if others else None
        best_parts, runner_up_parts = (
            reasons.parts(slot, one.score)
            if reasons and one and (slot := keys.slot_of(one.name)) is not None
            else None
            for one in (best, runner_up)
        )
        none = reasons.none() if reasons else None
        return Explained(best, best_parts, runner_up, runner_up_parts, none)


def _unlike(
    asked: str, slots: NDArray[np.intp], scores: NDArray[np.float32], keys: Keys
) -> NDArray[np.float64]:
    """Return how unlike the query the keys with the highest score are written, (n,); others 0.

    "C#" and "C++" have equal words.
    """
    unlike = np.zeros(len(slots))
    tied = np.flatnonzero(scores[slots] == scores[slots].max())
    if 1 < len(tied) <= _TIED:
        names = [keys.names[slot] for slot in slots[tied].tolist()]
        unlike[tied] = [-1 if name == asked else 1 - written_alike(asked, name) for name in names]
    return unlike


# ---- all keys -----------------------------------------------------------------------------------


class Exact(Lookup):
    """A lookup that compares queries with every key.

    Args:
        index: the keys.
        scorer: what compares queries with keys; None for the default score.

    Attributes:
        keys: the keys as they are now; a later write makes another lookup.
    """

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None = None) -> None:
        super().__init__(index.embedding, scorer)
        self.keys: Keys = index.keys()

    @property
    def count(self) -> int:
        """The number of keys."""
        return self.keys.count

    def find(self, asked: str, cutoff: float) -> str | Scored | None:
        """Return the best key of a query; among `MANY` keys by bounds, without a score."""
        if isinstance(self.score, DefaultScore) and self.keys.count >= MANY:
            (query,), keys = self._asked([asked]), self.keys
            is_key = keys.slot_of(asked) is not None
            slot = None if is_key else best_by_bounds(self.score, query, keys, cutoff)
            if slot is not None:
                return None if slot == NONE_REACHES else keys.names[slot]
        return self.nearest([asked])[0]

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query."""
        return self._of_each(asked, self._best)

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query."""
        return self._of_each(asked, partial(self._ranked, topn=topn))

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of queries for the keys, or for the ``topn`` best of each."""
        queries = self._asked(asked)
        some = slices(len(queries), _QUERIES)
        scores = np.concatenate([self._scores(queries[these]) for these in some])
        attended = self._attended(queries, scores, self.keys, allowed, temperature)
        if topn is None or topn >= len(attended.names):
            return [attended]
        return [best_of(attended, row, topn) for row in range(len(queries))]

    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""
        return [
            self._explained(query, self.score.judge(query, Shortlist(self.keys)), self.keys)
            for query in self._asked(asked)
        ]

    def _of_each(
        self, asked: Sequence[str], find: Callable[[Query, NDArray[np.float32], Keys], T]
    ) -> list[T]:
        """Return what is found for each query by its scores; for equal queries, once.

        The queries are scored some at a time, so that memory stays bounded.
        """
        found, different_ones = dict[str, T](), list(dict.fromkeys(asked))
        size = min(max(_SCORES // max(len(self.keys), 1), 1), _QUERIES)
        for some in slices(len(different_ones), size):
            queries = self._asked(different_ones[some])
            for query, scores in zip(queries, self._scores(queries), strict=True):
                found[query.asked] = find(query, scores, self.keys)
        return [found[one] for one in asked]

    def _scores(self, queries: list[Query]) -> NDArray[np.float32]:
        """Return the scores for every slot, (L, n), -inf if dead."""
        if not queries:
            return np.zeros((0, len(self.keys)), np.float32)
        scores = self.score.log_weights(queries, self.keys)
        if len(self.keys.dead):
            scores[:, self.keys.dead] = -np.inf
        return scores


def best_of(attended: Attended, row: int, topn: int) -> Attended:
    """Return the scores of one of the queries for its ``topn`` best keys alone."""
    scores = attended.scores[row]
    best = largest(scores, topn)
    weights = softmax(scores[None].astype(np.float64), attended.temperature)[0]
    kept = float(weights[best].sum())
    return Attended(
        names=[attended.names[place] for place in best.tolist()],
        query=attended.query[row : row + 1],
        keys=attended.keys[best],
        scores=scores[None, best],
        temperature=attended.temperature,
        best=[attended.best[row]],
        left_out=1 - kept * (1 - attended.left_out[row : row + 1]),
        none=[attended.none[row]],
    )


# ---- the best key by bounds -------------------------------------------------------------------

#: Keys from which on a read of a value is worth deciding by bounds.
MANY = 1 << 14
#: What stands for a slot where no key reaches the cutoff.
NONE_REACHES = -1
_LEAD = 0.01  # log-odds by which the best key leads; others may be tied, or swapped by rounding
_DOUBT = 0.3  # log-odds by which the other keys may be more than the sample says
_ROUNDING = 1e-5  # of probabilities
_EQUAL = 0.999  # the cosine of the n-grams of equal words


def best_by_bounds(score: DefaultScore, query: Query, keys: Keys, cutoff: float) -> int | None:
    """Return the slot of the best key, if it is sure to reach the cutoff.

    `NONE_REACHES` if it is sure that none does; None if only all scores can tell.

    A read of a value needs the best key and whether it reaches the cutoff, not the scores of all
    keys. Those that share the most n-grams with the query are scored exactly. The others are
    compared by their meaning, and a few as strings with a limit, so that no log-odds are above a
    bound. If even a key at the bound, alone beside "none", is too improbable, none reaches the
    cutoff, for further keys only lower a probability. If the best key is above the bound, no other
    is better. What the others take of its probability is estimated from a sample, with one key
    more that is at the bound: the sample may have missed such keys.

    Args:
        score: the default score.
        query: the query, encoded; no key equals it.
        keys: all keys, `MANY` or more.
        cutoff: the least probability of a match.
    """
    slots, cosines = most_alike(keys.ngrams, query.text, SPELLED_ALIKE, keys.alive)
    calibration, at_most = keys.calibration, largest_log_odds(query, keys)
    needed = calibration.growth * math.log(keys.count) + _logit(cutoff - _ROUNDING)
    if at_most > needed and query.known == 1 and cosines.max() < _EQUAL:
        return None  # some key may mean the same, and few but equal words are beyond the bound
    odds = score.log_odds(query, keys.some(slots))
    place, rival = int(odds.argmax()), float(max(at_most, np.partition(odds, -2)[-2]))
    best = float(odds[place])
    if max(best, at_most) < needed:
        return NONE_REACHES
    if best < rival + _LEAD:
        return None
    others, nesting = other_keys(slots, keys), calibration.nesting
    missed = at_most + nesting * math.log(others.left / len(others.sample))
    odds = np.append(odds, [log_odds_left_out(query, others) + _DOUBT, missed])
    log = log_probabilities(odds, calibration.growth, keys.count, nesting)[place]
    return int(slots[place]) if math.exp(log) >= cutoff + _ROUNDING else None


def _logit(probability: float) -> float:
    """Return the log-odds of a probability; of numbers that are none, an infinity."""
    if not 0 < probability < 1:
        return math.copysign(math.inf, probability)
    return math.log(probability / (1 - probability))


def largest_log_odds(query: Query, keys: Keys) -> float:
    """Return an upper bound on the log-odds of keys that are not among the first by n-grams.

    It is reached by a key with the very vector of the query, which is as alike as a key can be
    that is compared as a string for its nearness.
    """
    mean, spread = keys.background
    nearest, reach = (1 - mean) / spread * query.trust, keys.calibration.reach
    near, like = reach * math.tanh(nearest / reach), NEAREST_LIKENESS**2
    by_reason = keys.calibration.lines(query.known) @ [like, 0, like, near * near, near, 1]
    return float(np.logaddexp.reduce(by_reason))


# ---- a few keys among millions ---------------------------------------------------------------

#: How many keys are pooled, and listed at most; longer lists compare all keys.
MOST = 1024


class _Found(NamedTuple):
    """The keys that were scored for a query, and their scores."""

    query: Query
    listed: Shortlist
    judgement: Judgement


class ByShortlist(Lookup):
    """A lookup that scores only the keys that are found for each query.

    With the default score, the probability of the keys left out is estimated from a sample. A key
    that equals the query is always found.
    """

    def find(self, asked: str, cutoff: float) -> str | Scored | None:  # noqa: ARG002
        """Return the best key of a query, and its score."""
        return self.nearest([asked])[0]

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query."""
        return [
            self._best(found.query, found.judgement.log_weights, found.listed.keys)
            for found in self._judged(asked, 1)
        ]

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query that are found, all if None."""
        return [
            self._ranked(found.query, found.judgement.log_weights, found.listed.keys, topn)
            for found in self._judged(asked, MOST if topn is None else topn)
        ]

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,  # noqa: ARG002
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of each query for the keys found, at most `MOST`, without a mask."""
        softness = self.score.temperature if temperature is None else temperature
        attended = []
        for found in self._judged(asked, MOST if topn is None else min(topn, MOST)):
            scores = found.judgement.log_weights[None]
            one = self._attended([found.query], scores, found.listed.keys, None, temperature)
            left_out = np.array([self._left_out(found, softness)])
            reasons = found.judgement.reasons
            none = one.none if reasons is None else [reasons.none()]
            one = one._replace(left_out=left_out, none=none)
            attended.append(one if topn is None else best_of(one, 0, min(topn, len(one.names))))
        return attended

    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""
        return [
            self._explained(found.query, found.judgement, found.listed.keys)
            for found in self._judged(asked, 2)
        ]

    @abstractmethod
    def _found(self, queries: list[Query], count: int) -> Iterator[Shortlist]:
        """Yield, for each query, the keys that are worth scoring, if ``count`` are wanted."""

    def _judged(self, asked: Sequence[str], count: int) -> Iterator[_Found]:
        """Yield the keys found for each query, with their scores."""
        queries = self._asked(asked)
        wanted = min(count + self.score.spare, MOST)
        for query, listed in zip(queries, self._found(queries, wanted), strict=True):
            none = Judgement(np.zeros(0, np.float32), None)
            judgement = self.score.judge(query, listed) if len(listed.keys) else none
            yield _Found(query, listed, judgement)

    def _left_out(self, found: _Found, temperature: float) -> float:
        """Return an upper bound on the weight of the keys left out.

        Each of them is at most as near as the last one found, as far as the engine missed none.
        """
        listed = found.listed
        at_most = self.score.at_most(found.query, listed.keys, listed.last)
        reasons = found.judgement.reasons
        if reasons is None:
            logs = found.judgement.log_weights
            return weight_left_out(logs, at_most, listed.left, temperature)
        odds, nesting = reasons.log_odds[: len(listed.keys)], reasons.calibration.nesting
        return weight_left_out(odds, at_most, listed.left, nesting * temperature)


class Approximate(ByShortlist, Exact):
    """A lookup that scores only the keys that an engine finds for each query.

    With the default score, the keys that share the most n-grams with the query are scored too.
    What needs every key compares with every key. One thread at a time may use the engine.

    Args:
        index: the keys.
        scorer: what compares queries with keys; None for the default score.
        neighbours: finds the keys whose vectors are nearest.
    """

    needs_lock = True
    at_once = 32  # which cost milliseconds each, perhaps

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None, neighbours: Neighbours) -> None:
        super().__init__(index, scorer)
        self._scorer, self._neighbours = scorer, neighbours

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query; for more than `MOST`, all are compared."""
        if topn is None or topn > MOST:
            return Exact.ranked(self, asked, topn)
        return super().ranked(asked, topn)

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of each query for the keys found; with a mask, for all keys."""
        if allowed is not None or not asked or (topn is not None and topn > MOST):
            return Exact.attend(self, asked, allowed, temperature, topn)
        return super().attend(asked, allowed, temperature, topn)

    def _found(self, queries: list[Query], count: int) -> Iterator[Shortlist]:
        if self.score.measure is None:
            raise OptionError(
                f"index: {self._neighbours.engine!r} finds keys for the default score, 'cosine', "
                f"'dot' and 'scaled_dot', and the scorer is {quoted(self._scorer)}, which needs "
                f"every key; set d.index = 'exact', or another scorer"
            )
        keys = self.keys
        vectors = np.array([query.vector for query in queries])
        for query, near in zip(queries, self._neighbours.near(keys, vectors, count), strict=True):
            yield shortlist(query.asked, query.text, near, keys, self.score.spelled_alike)


def lookup_by(
    engine: str, index: KeyIndex, scorer: ScorerLike | None, neighbours: Neighbours | None
) -> tuple[Exact, Neighbours | None]:
    """Return a lookup that compares queries with every key, or with the keys an engine finds.

    Also return its `Neighbours`: those given, if they are of this engine and measure.
    """
    if engine == EXACT or is_spelling(scorer):  # which n-grams find, among any number of keys
        return Exact(index, scorer), None
    measure = as_score(scorer).measure or COSINE
    if neighbours is None or (neighbours.engine, neighbours.measure) != (engine, measure):
        neighbours = Neighbours(engine, measure)
    return Approximate(index, scorer, neighbours), neighbours
