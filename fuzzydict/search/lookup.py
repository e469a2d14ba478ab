"""From queries to keys: find candidates, compare and judge them, rank them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict._arrays import make_room, slices
from fuzzydict.errors import NoMatchError, OptionError, quoted
from fuzzydict.nn.softmax import softmax
from fuzzydict.search.align import align
from fuzzydict.search.backends import EXACT
from fuzzydict.search.neighbours import Neighbours
from fuzzydict.search.one import best_of_one
from fuzzydict.search.retrieve import candidates, glance, most_alike
from fuzzydict.search.score import COSINE, JudgedScore, NamedScore, as_score, is_spelling
from fuzzydict.text.words import LONGEST, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from fuzzydict.nn.scorers import ScorerLike
    from fuzzydict.search.align import Found, Query
    from fuzzydict.search.judge import Judged, Parts
    from fuzzydict.search.key_index import KeyIndex
    from fuzzydict.search.keys import Keys
    from fuzzydict.search.meaning import Meaning


_SCORES, _QUERIES = 1 << 22, 128  # made at a time, in several arrays; and compared at a time
_REMEMBERED_QUERIES = 256  # queries that are kept as they are compared
#: How many keys are pooled, and listed at most; longer lists compare all keys.
MOST = 1024


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


class Prepared(NamedTuple):
    """A query as it is compared, with the vector of its text, (E,), if that must be encoded."""

    query: Query
    vector: NDArray[np.float32] | None


class Compared(NamedTuple):
    """What was found out about L queries.

    Attributes:
        found: their candidates.
        X: the features of these, (L, C, F).
        said: what the judge says of them.
        rest: the glances of all keys that were looked at, (L, n).
    """

    found: Found
    X: NDArray[np.float32]
    said: Judged
    rest: NDArray[np.float32]


class Lookup(ABC):
    """Finds keys for queries, until a key or an option changes.

    Threads may use it at once, without a lock.

    Args:
        meaning: what keys and queries are compared by.
        scorer: what compares vectors; None for the judged score.

    Attributes:
        meaning: what keys and queries are compared by.
        score: how well a key matches.
        needs_lock: whether one thread at a time may use it, but for `prepare`.
        at_once: how many queries are read before another thread is let in.
    """

    needs_lock = False
    at_once = 512

    def __init__(self, meaning: Meaning, scorer: ScorerLike | None = None) -> None:
        self.meaning = meaning
        self.score = as_score(scorer)
        self._known: dict[str, Prepared] = {}

    # ---- before reads ---------------------------------------------------------------------

    def prepare(self, asked: Iterable[str]) -> list[Prepared]:
        """Return queries as they are compared; those without words are left out.

        It changes nothing, and no lock need be held, so that an embedding may ask the dict itself.
        """
        known, found, new = self._known, list[Prepared](), list[int]()
        for text in dict.fromkeys(asked):
            one = known.get(text)
            if one is None:
                query = self.meaning.query(text)
                if not query.words or not plain(text):
                    continue
                one = Prepared(query, None)
                new.append(len(found))
            found.append(one)
        if new and self._encodes():
            vectors = self.meaning.of_texts([found[i].query.asked for i in new])
            for i, vector in zip(new, vectors, strict=True):
                found[i] = found[i]._replace(vector=vector)
        return found

    def _encodes(self) -> bool:
        """Tell whether the vector of a whole text is compared."""
        return self.meaning.is_encoded or isinstance(self.score, NamedScore)

    # ---- reads ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of keys that a query may be compared with."""

    @abstractmethod
    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query; a key that equals the query wins."""

    @abstractmethod
    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query (all if None), best first."""

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

    # ---- queries -----------------------------------------------------------------------------

    def _asked(self, asked: Sequence[str]) -> list[Prepared]:
        """Return queries as they are compared, if there is a key to compare them with.

        Raises:
            NoMatchError: there is nothing to compare.
        """
        if not self.count:
            of = quoted(asked[0] if asked else asked)
            raise NoMatchError(
                of, f"no key matches {of}: no key of the dict is a text with letters or digits"
            )
        kept = self._known
        known = {text: kept.get(text) for text in asked}  # before others take their room
        missing = [text for text, one in known.items() if one is None]
        known |= {one.query.asked: one for one in self.prepare(missing)}
        found = []
        for text in asked:
            one = known[text]
            if one is None:
                raise NoMatchError(
                    text,
                    f"no key matches {quoted(text)}: it has no letters or digits to compare, "
                    f"so that only an equal key could match",
                )
            found.append(one)
            if len(text) <= LONGEST:
                make_room(kept, _REMEMBERED_QUERIES)
                kept[text] = one
        return found

    def _vectors(self, asked: Sequence[Prepared], keys: Keys) -> NDArray[np.float32]:
        """Return the vectors that are compared with those of the keys, (L, E)."""
        if not asked:
            return np.zeros((0, keys.vectors.shape[1]), np.float32)
        if asked[0].vector is not None:
            return np.array([one.vector for one in asked])
        return self.meaning.of_queries([one.query for one in asked], keys)

    def _whole_vectors(self, asked: Sequence[Prepared]) -> NDArray[np.float32]:
        """Return the vectors of the whole texts, (L, E), as an answer shows them."""
        known = [one.vector for one in asked if one.vector is not None]
        if known and len(known) == len(asked):
            return np.array(known)
        return self.meaning.of_texts([one.query.asked for one in asked])

    def _compared(
        self, asked: Sequence[Prepared], keys: Keys, slots: NDArray[np.intp] | None = None
    ) -> Compared:
        """Compare L queries with the keys, or one query with those in some slots."""
        judge, is_encoded = self.meaning.judge, self.meaning.is_encoded
        queries = [one.query for one in asked]
        vectors = self._vectors(asked, keys)
        seen = glance(queries, keys, vectors, judge.glance, is_encoded=is_encoded, slots=slots)
        found = candidates(seen)
        if slots is not None:
            found = found._replace(slots=slots[found.slots])
        X = align(queries, keys, found, judge.pair, is_encoded=is_encoded)
        mask = keys.alive[found.slots] if len(keys.dead) else None
        return Compared(found, X, judge.judge(X, mask), seen.odds)

    def _best_judged(
        self, asked: Sequence[Prepared], compared: Compared, keys: Keys
    ) -> list[Scored]:
        """Return the best key of each query; a key that equals it wins."""
        said = compared.said
        slots = compared.found.slots[np.arange(len(asked)), said.best].tolist()
        scores = said.of_best().tolist()
        return [
            Scored(one.query.asked, 1.0)
            if keys.slot_of(one.query.asked) is not None
            else Scored(keys.names[slot], score)
            for one, slot, score in zip(asked, slots, scores, strict=True)
        ]

    def _reasons(
        self,
        one: Prepared,
        compared: Compared,
        keys: Keys,
        logs: NDArray[np.float64],
        none: float,
    ) -> Explained:
        """Return the best candidate of one query, the next, and the reasons.

        Args:
            one: the query.
            compared: what was found out about it.
            keys: the keys.
            logs: the logarithms of the probabilities of its candidates, (C,).
            none: the probability that no key is right.
        """
        slots, said = compared.found.slots[0].tolist(), compared.said
        order = np.argsort(-said.odds[0], kind="stable").tolist()
        equal = keys.slot_of(one.query.asked)
        if equal in slots:
            order.insert(0, order.pop(order.index(slots.index(equal))))
        share = np.exp(np.minimum(logs, 0.0)).tolist()
        shown = [
            (
                Scored(keys.names[slots[place]], 1.0 if slots[place] == equal else share[place]),
                self.meaning.judge.parts(compared.X[0], said.odds[0], place, share[place]),
            )
            for place in order[:2]
            if said.odds[0, place] > -np.inf
        ]
        other, other_parts = shown[1] if shown[1:] else (None, None)
        return Explained(*shown[0], other, other_parts, none)

    def _log_probabilities(self, compared: Compared, left_out: float = 0.0) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each key that was looked at, (L, n)."""
        slots = compared.found.slots
        return self.meaning.judge.log_probabilities(compared.said, slots, compared.rest, left_out)


def _unreasoned(found: list[Scored], one: Prepared) -> Explained:
    """Return the best two keys of a query by a named scorer; one that equals the query is first."""
    ranked = [scored for scored in found if scored.name == one.query.asked]
    ranked += [scored for scored in found[:2] if scored.name != one.query.asked]
    return Explained(ranked[0], None, ranked[1] if ranked[1:] else None, None, None)


def _probabilities(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(np.minimum(logs, 0.0))


# ---- all keys -----------------------------------------------------------------------------------


class Exact(Lookup):
    """A lookup that compares queries with every key.

    Args:
        index: the keys.
        scorer: what compares vectors; None for the judged score.

    Attributes:
        keys: the keys as they are now; a later write makes another lookup.
    """

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None = None) -> None:
        super().__init__(index.meaning, scorer)
        self.keys: Keys = index.keys()

    @property
    def count(self) -> int:
        """The number of keys."""
        return self.keys.count

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query."""
        prepared = self._asked(asked)
        if isinstance(self.score, NamedScore):
            scores = self._named(prepared)
            return [self._listed(one, row, 1)[0] for one, row in zip(prepared, scores, strict=True)]
        if len(prepared) == 1:
            return [self._best_of_one(prepared[0])]
        found: list[Scored] = []
        for some in slices(len(prepared), self._at_a_time()):
            part = prepared[some]
            found += self._best_judged(part, self._compared(part, self.keys), self.keys)
        return found

    def _best_of_one(self, one: Prepared) -> Scored:
        keys = self.keys
        if keys.slot_of(one.query.asked) is not None:
            return Scored(one.query.asked, 1.0)
        slot, score = best_of_one(one.query, one.vector, keys, self.meaning)
        return Scored(keys.names[slot], score)

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query."""
        prepared, found = self._asked(asked), []
        for some in slices(len(prepared), self._at_a_time()):
            part = prepared[some]
            scores = self._scores(part)
            if isinstance(self.score, JudgedScore):
                scores = _probabilities(scores)
            for one, row in zip(part, scores, strict=True):
                slot = self.keys.slot_of(one.query.asked)
                if slot is not None and isinstance(self.score, JudgedScore):
                    row[slot] = 1.0
                found.append(self._listed(one, row, topn))
        return found

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of queries for the keys, or for the ``topn`` best of each."""
        prepared = self._asked(asked)
        blocks = [self._scores(prepared[some]) for some in slices(len(prepared), self._at_a_time())]
        scores = np.concatenate(blocks)
        attended = self._attended(prepared, scores, allowed, temperature)
        if topn is None or topn >= len(attended.names):
            return [attended]
        return [best_of(attended, row, topn) for row in range(len(prepared))]

    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""
        prepared = self._asked(asked)
        if isinstance(self.score, NamedScore):
            scores = zip(prepared, self._named(prepared), strict=True)
            return [_unreasoned(self._listed(one, row, None), one) for one, row in scores]
        explained = []
        for one in prepared:
            compared = self._compared([one], self.keys)
            logs = self._log_probabilities(compared)[0]
            none = max(0.0, 1.0 - float(np.exp(logs).sum()))
            some = logs[compared.found.slots[0]]
            explained.append(self._reasons(one, compared, self.keys, some, none))
        return explained

    # ---- scores of all keys --------------------------------------------------------------------

    def _at_a_time(self) -> int:
        """Return how many queries are compared at a time, so that memory stays bounded."""
        return min(max(_SCORES // max(len(self.keys), 1), 1), _QUERIES)

    def _scores(self, prepared: list[Prepared]) -> NDArray[np.float64]:
        """Return the logits of the weights of all slots, (L, n), -inf if dead."""
        if isinstance(self.score, NamedScore):
            return self._named(prepared).astype(np.float64)
        if not prepared:
            return np.zeros((0, len(self.keys)))
        return self._log_probabilities(self._compared(prepared, self.keys))

    def _named(self, prepared: list[Prepared]) -> NDArray[np.float32]:
        """Return the scores of a named scorer, (L, n)."""
        assert isinstance(self.score, NamedScore)  # noqa: S101
        return self.score.scores(self._vectors(prepared, self.keys), self.keys)

    def _listed(self, one: Prepared, scores: NDArray[Any], topn: int | None) -> list[Scored]:
        """Return the keys with the highest scores, (n,), best first; a key that equals wins."""
        keys = self.keys
        count = keys.count if topn is None else min(keys.count, topn)
        if not count:
            return []
        equal = keys.slot_of(one.query.asked) if count == 1 else None
        if equal is not None:
            return [Scored(one.query.asked, float(scores[equal]))]
        least = scores.max() if count == 1 else np.partition(scores, -count)[-count]
        slots = np.flatnonzero(scores >= least)
        if len(keys.dead):
            slots = slots[keys.alive[slots]]
        slots = slots[np.argsort(-scores[slots], kind="stable")][:count]
        return [Scored(keys.names[slot], float(scores[slot])) for slot in slots.tolist()]

    def _attended(
        self,
        prepared: list[Prepared],
        scores: NDArray[np.float64],
        allowed: NDArray[np.bool_] | None,
        temperature: float | None,
    ) -> Attended:
        keys, is_judged = self.keys, isinstance(self.score, JudgedScore)
        temperature = self.score.temperature if temperature is None else temperature
        none: list[float | None] = [None] * len(prepared)
        best = []
        for row, one in zip(scores, prepared, strict=True):
            slot = keys.slot_of(one.query.asked)
            if is_judged and slot is not None:  # its value is its own
                row += left_by_equal(temperature) - row.max()
                row[slot] = 0.0
            listed = self._listed(one, row, 1)[0]
            best.append(listed._replace(score=float(np.exp(listed.score))) if is_judged else listed)
        if is_judged:
            none = list(map(float, np.maximum(0.0, 1.0 - np.exp(scores).sum(axis=1))))
        names, vectors = keys.living(), keys.vectors
        if len(keys.dead):
            vectors, scores = vectors[keys.alive], scores[:, keys.alive]
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        for one, top in zip(prepared, scores.max(axis=1).tolist(), strict=True):
            if top == -np.inf:
                raise nothing_to_attend_to(one.query.asked)
        query = self._whole_vectors(prepared)
        left_out = np.zeros(len(prepared))
        logits = scores.astype(np.float32)
        return Attended(names, query, vectors, logits, temperature, best, left_out, none)


_LEFT = -30.0  # log-weight: next to nothing


def left_by_equal(temperature: float) -> float:
    """Return the log-probability that a key that equals the query leaves to the best other one.

    At no temperature do the others weigh more than rounding.
    """
    return _LEFT * min(max(temperature, 1.0), 1e30)


def nothing_to_attend_to(asked: str) -> NoMatchError:
    """Return the error for a query that has no key to attend to."""
    return NoMatchError(
        asked,
        f"{quoted(asked)} has nothing to attend to: every key is masked, or farther than the "
        f"scorer's width; loosen attn_mask, or widen the scorer",
    )


def best_of(attended: Attended, row: int, topn: int) -> Attended:
    """Return the scores of one of the queries for its ``topn`` best keys alone."""
    scores = attended.scores[row]
    best = np.sort(np.argsort(-scores, kind="stable")[:topn])  # in the order of the keys
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


# ---- a few keys among millions ---------------------------------------------------------------

_SPARE = 64  # keys that an engine is asked for beside those wanted, since the nearest need not win
_SPELLED = 48  # keys that share the most n-grams with a query
_SAMPLE = 4096  # keys that stand for those that were not found


class Listing(NamedTuple):
    """The keys that were found for a query, some of all.

    Attributes:
        keys: keys that hold them, maybe among others.
        slots: theirs, rising, (m,).
        left: how many keys were not found.
        sample: the keys that stand for those, and slots in them, if there are any.
    """

    keys: Keys
    slots: NDArray[np.intp]
    left: int
    sample: tuple[Keys, NDArray[np.intp]] | None


class ByListing(Lookup):
    """A lookup that compares each query only with the keys that are found for it.

    The share of the keys left out is estimated from a sample. A key that equals the query is always
    found.
    """

    def nearest(self, asked: Sequence[str]) -> list[Scored]:
        """Return the best key of each query."""
        return [self._listed(one, listing, 1)[0] for one, listing in self._listings(asked, 1)]

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query that are found, all if None."""
        wanted = MOST if topn is None else topn
        return [self._listed(one, listing, topn) for one, listing in self._listings(asked, wanted)]

    def attend(
        self,
        asked: Sequence[str],
        allowed: NDArray[np.bool_] | None,  # noqa: ARG002
        temperature: float | None,
        topn: int | None = None,
    ) -> list[Attended]:
        """Return the scores of each query for the keys found, at most `MOST`, without a mask."""
        wanted = MOST if topn is None else min(topn, MOST)
        softness = self.score.temperature if temperature is None else temperature
        attended = []
        for one, listing in self._listings(asked, wanted):
            found = self._attended(one, listing, softness)
            attended.append(
                found if topn is None else best_of(found, 0, min(topn, len(found.names)))
            )
        return attended

    def explain(self, asked: Sequence[str]) -> list[Explained]:
        """Return the best key of each query, the next, and the reasons."""
        explained = []
        for one, listing in self._listings(asked, 2):
            if isinstance(self.score, NamedScore):
                explained.append(_unreasoned(self._listed(one, listing, None), one))
            else:
                compared, logs = self._judged(one, listing)
                some = logs[np.searchsorted(listing.slots, compared.found.slots[0])]
                none = max(0.0, 1.0 - float(np.exp(logs).sum()))
                explained.append(self._reasons(one, compared, listing.keys, some, none))
        return explained

    @abstractmethod
    def _found(self, prepared: list[Prepared], count: int) -> Iterator[Listing]:
        """Yield, for each query, the keys that are worth a look, if ``count`` are wanted."""

    def _listings(self, asked: Sequence[str], count: int) -> Iterator[tuple[Prepared, Listing]]:
        prepared = self._asked(asked)
        yield from zip(prepared, self._found(prepared, min(count + _SPARE, MOST)), strict=True)

    def _scores(self, one: Prepared, listing: Listing) -> NDArray[np.float64]:
        """Return the logits of the weights of the keys that were found for a query, (m,)."""
        keys, slots = listing.keys, listing.slots
        if isinstance(self.score, NamedScore):
            vectors = self._vectors([one], keys)
            return np.asarray(self.score.scores(vectors, keys, slots)[0], np.float64)
        return self._judged(one, listing)[1]

    def _judged(self, one: Prepared, listing: Listing) -> tuple[Compared, NDArray[np.float64]]:
        """Return what was found out about a query, and the log-probabilities of its keys, (m,)."""
        compared = self._compared([one], listing.keys, listing.slots)
        left_out = self._odds_left_out(one, listing, float(compared.said.odds.max()))
        local = np.searchsorted(listing.slots, compared.found.slots)
        said, judge = compared.said, self.meaning.judge
        return compared, judge.log_probabilities(said, local, compared.rest, left_out)[0]

    def _odds_left_out(self, one: Prepared, listing: Listing, top: float) -> float:
        """Return the sum of the odds of the keys that were not found, as a share of the best's."""
        if listing.sample is None or not listing.left:
            return 0.0
        keys, slots = listing.sample
        judge = self.meaning.judge
        vectors = self._vectors([one], keys)
        seen = glance(
            [one.query],
            keys,
            vectors,
            judge.glance,
            is_encoded=self.meaning.is_encoded,
            slots=slots,
        )
        start, slope = judge.rest.tolist()
        odds = np.exp(np.minimum(start + slope * seen.odds[0].astype(np.float64) - top, 0.0))
        return float(odds.mean() * listing.left)

    def _listed(self, one: Prepared, listing: Listing, topn: int | None) -> list[Scored]:
        """Return the best keys of one query, best first; a key that equals it comes first."""
        scores = self._scores(one, listing)
        order = np.argsort(-scores, kind="stable").tolist()
        keys, names = listing.keys, list[Scored]()
        is_judged = isinstance(self.score, JudgedScore)
        equal = keys.slot_of(one.query.asked)
        for place in order:
            slot, score = int(listing.slots[place]), float(scores[place])
            score = float(np.exp(min(score, 0.0))) if is_judged else score
            if slot == equal and is_judged:
                names.insert(0, Scored(keys.names[slot], 1.0))
            else:
                names.append(Scored(keys.names[slot], score))
        if not is_judged and equal is not None and topn == 1:
            return [found for found in names if found.name == one.query.asked][:1]
        return names[:topn]

    def _attended(self, one: Prepared, listing: Listing, temperature: float) -> Attended:
        keys, slots, scores = listing.keys, listing.slots, self._scores(one, listing)
        is_judged = isinstance(self.score, JudgedScore)
        equal = keys.slot_of(one.query.asked)
        if is_judged and equal is not None:
            scores += left_by_equal(temperature) - scores.max()
            scores[np.searchsorted(slots, equal)] = 0.0
        none = max(0.0, 1.0 - float(np.exp(scores).sum())) if is_judged else None
        best = int(scores.argmax())
        score = float(scores[best])
        left_out = 0.0
        if listing.left:
            at_most = float(scores.min())
            top = max(at_most, score)
            found = float(np.exp((scores - top) / temperature).sum())
            rest = listing.left * float(np.exp((at_most - top) / temperature))
            left_out = rest / (found + rest)
        return Attended(
            names=[keys.names[slot] for slot in slots.tolist()],
            query=self._whole_vectors([one]),
            keys=keys.vectors[slots],
            scores=scores[None].astype(np.float32),
            temperature=temperature,
            best=[
                Scored(keys.names[int(slots[best])], float(np.exp(score)) if is_judged else score)
            ],
            left_out=np.array([left_out]),
            none=[none],
        )


class Approximate(ByListing):
    """A lookup that compares only the keys that an engine finds, and those spelled alike.

    What needs every key compares with every key. One thread at a time may use the engine.

    Args:
        index: the keys.
        scorer: what compares vectors; None for the judged score.
        neighbours: finds the keys whose vectors are nearest.
    """

    needs_lock = True
    at_once = 32  # which cost milliseconds each, perhaps

    def __init__(self, index: KeyIndex, scorer: ScorerLike | None, neighbours: Neighbours) -> None:
        super().__init__(index.meaning, scorer)
        self._all = Exact(index, scorer)
        self.keys: Keys = self._all.keys
        self._scorer, self._neighbours = scorer, neighbours

    @property
    def count(self) -> int:
        """The number of keys."""
        return self.keys.count

    def ranked(self, asked: Sequence[str], topn: int | None) -> list[list[Scored]]:
        """Return the ``topn`` best keys of each query; for more than `MOST`, all are compared."""
        if topn is None or topn > MOST:
            return self._all.ranked(asked, topn)
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
            return self._all.attend(asked, allowed, temperature, topn)
        return super().attend(asked, allowed, temperature, topn)

    def _found(self, prepared: list[Prepared], count: int) -> Iterator[Listing]:
        if self.score.measure is None:
            raise OptionError(
                f"index: {self._neighbours.engine!r} finds keys for the default score, 'cosine', "
                f"'dot' and 'scaled_dot', and the scorer is {quoted(self._scorer)}, which needs "
                f"every key; set d.index = 'exact', or another scorer"
            )
        keys, is_judged = self.keys, isinstance(self.score, JudgedScore)
        vectors = self._vectors(prepared, keys)
        sample = keys, keys.sample(_SAMPLE)
        for one, near in zip(prepared, self._neighbours.near(keys, vectors, count), strict=True):
            slots = [near]
            if is_judged:
                slots.append(most_alike(keys.postings, one.query.text, _SPELLED))
            equal = keys.slot_of(one.query.asked)
            if equal is not None:
                slots.append(np.array([equal]))
            found = np.unique(np.concatenate(slots))
            found = found[keys.alive[found]]
            yield Listing(keys, found, keys.count - len(found), sample if is_judged else None)


def lookup_by(
    engine: str, index: KeyIndex, scorer: ScorerLike | None, neighbours: Neighbours | None
) -> tuple[Exact | Approximate, Neighbours | None]:
    """Return a lookup that compares queries with every key, or with the keys an engine finds.

    Also return its `Neighbours`: those given, if they are of this engine and measure.
    """
    if engine == EXACT or is_spelling(scorer):  # which n-grams find, among any number of keys
        return Exact(index, scorer), None
    measure = as_score(scorer).measure or COSINE
    if neighbours is None or (neighbours.engine, neighbours.measure) != (engine, measure):
        neighbours = Neighbours(engine, measure)
    return Approximate(index, scorer, neighbours), neighbours
