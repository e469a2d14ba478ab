"""The score: what texts are compared by, and how likely each key is the right one.

L queries, C candidates, F features, H hidden units; n keys, E numbers of a vector
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import ignore_invalid
from fuzzydict.embedding.encoder import Encoder
from fuzzydict.embedding.projections import Projections
from fuzzydict.embedding.word_vectors import English, WordVectors
from fuzzydict.errors import OptionError, quoted
from fuzzydict.nn.scorers import SCORERS, Cosine, Dot, ScaledDot, ScorerLike, as_scorer
from fuzzydict.nn.softmax import finite_tops
from fuzzydict.search import align, pairs
from fuzzydict.search.align import CONTEXT, FEATURES, SIGNS, WHETHER
from fuzzydict.search.keys import Asked, Keys, Query, WordTable
from fuzzydict.search.retrieve import CANDIDATES, MORE_CANDIDATES
from fuzzydict.search.taught import SynonymRules

#: The name of the score by spelling.
SPELLING = "spelling"
_LETTERS = WordTable(None)


class Meaning:
    """What gives keys and queries their vectors, the words beside these, and the judge of both.

    Args:
        embedding: word vectors, or an encoder; its words are then those of `English`. None for
            letters alone.
        projections: Q, which queries are multiplied with, and K for keys; None for neither.
        synonyms: what words of all texts are replaced by; None for none.
    """

    def __init__(
        self,
        embedding: WordVectors | Encoder | None,
        projections: Projections | None = None,
        synonyms: SynonymRules | None = None,
    ) -> None:
        self.embedding, self.projections = embedding, projections
        #: Whether the vectors are those of an encoder of whole texts.
        self.is_encoded = not (embedding is None or isinstance(embedding, WordVectors))
        #: How many keys are compared with a query in detail.
        self.candidates = MORE_CANDIDATES if self.is_encoded else CANDIDATES
        self.table = _LETTERS  # the words, looked up once for all dicts
        if embedding is not None:
            vectors = embedding if isinstance(embedding, WordVectors) else English()
            self.table = vectors.__dict__.setdefault("_compared", WordTable(vectors))
        if synonyms is not None:
            self.table = copy(self.table)
            self.table.synonyms = synonyms

    @cached_property
    def judge(self) -> Judge:
        """The learned weights for this kind of vectors."""
        if self.embedding is None:
            return shipped(SPELLING)
        return shipped("encoder" if self.is_encoded else "words")

    def of_keys(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of n keys, (n, E)."""
        vectors = self._encoded(texts)
        if self.projections is None:
            return vectors
        return self.projections.project_keys(vectors).astype(np.float32, copy=False)

    def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), whatever the keys are."""
        return self._projected(self._encoded(texts))

    def of_queries(self, asked: Asked) -> NDArray[np.float32]:
        """Return the vectors of L queries, (L, E), in which words weigh more that few keys have."""
        if asked.queries and asked.queries[0].vector is not None:
            return np.array([query.vector for query in asked.queries])
        if self.embedding is None or self.is_encoded:
            return self.of_texts([query.asked for query in asked.queries])
        columns = asked.columns
        weights = asked.weights[columns] * asked.told(word.length for word in asked.words)
        return self._projected(np.einsum("lw,lwe->le", weights, asked.units[columns]))

    def vector_of(self, query: Query, weights: Sequence[float]) -> NDArray[np.float32]:
        """Return the vector of one query, (E,), given the weights of its words among the keys."""
        words = query.words
        vector = words[0].unit * np.float32(words[0].length * weights[0])
        for word, weight in zip(words[1:], weights[1:], strict=True):
            vector += word.unit * np.float32(word.length * weight)
        return vector if self.projections is None else self._projected(vector[None])[0]

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.embedding is None:
            return np.zeros((len(texts), 0), np.float32)
        return self.embedding.encode(self.table.written(list(texts)))

    def _projected(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.projections is None:
            return vectors
        return self.projections.project_queries(vectors).astype(np.float32, copy=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the embedding, the projections and the synonyms, as JSON."""
        none = {"name": "no vectors"}
        found = none if self.embedding is None else self.embedding.fingerprint()
        names = [found["name"]]
        if self.projections is not None:
            names.append(f"projected {self.projections.digest}")
        if self.table.synonyms is not None:
            names.append(f"with synonyms {self.table.synonyms.digest}")
        return {**found, "name": ", ".join(names)}


# ---- from features to probabilities --------------------------------------------------------------

SIGNS_WHICH = SIGNS[:WHETHER]
#: What tells, beside all features, whether the best key is right: its log-odds, lead and share.
OF_BEST = 3
SIGNS_WHETHER = np.append(SIGNS[:CONTEXT], np.ones(OF_BEST, np.float32))
#: The best key is no worse for being alike, but it may be a sibling: half of the nets that tell
#: whether it is right may count these against it.
EITHER = [align.NGRAMS, align.EDITS, align.BEGINNING, align.MEANT, align.MEANT_KEY]
LEAD = 15.0  # log-odds; a longer lead says no more


class Net(NamedTuple):
    """``h(x A + context B + b) c + x l + bias``, which follows the signs of features that have one.

    h is tanh for the first units, which tell that much more would not matter, and softplus for
    the others.

    Attributes:
        A, B, b, c, l, bias: (F, H), (5, H), (H,), (H,), (F,), ().
        bounded: for how many units h is tanh.
    """

    A: NDArray[np.float32]
    B: NDArray[np.float32]
    b: NDArray[np.float32]
    c: NDArray[np.float32]
    l: NDArray[np.float32]  # noqa: E741
    bias: NDArray[np.float32]
    bounded: int = 0

    def folded(self, center: NDArray[np.float32], scale: NDArray[np.float32]) -> Folded:
        """Fold what is taken off the features, (F + 5,), and what they are divided by."""
        line = np.append(self.l, np.zeros(len(self.B), np.float32))
        both = np.column_stack([np.concatenate([self.A, self.B]), line]) / scale[:, None]
        start = np.append(self.b, self.bias) - center @ both
        return Folded(both.astype(np.float32), start.astype(np.float32), self.c, self.bounded)


class Folded(NamedTuple):
    """A net into whose weights the scaling of the features is folded."""

    both: NDArray[np.float32]  # the weights of the hidden units and, last, of the line, (F, H + 1)
    start: NDArray[np.float32]  # what they begin with, (H + 1,)
    c: NDArray[np.float32]  # the weights of the hidden units, (H,)
    bounded: int  # how many of them are bounded

    def __call__(self, x: NDArray[np.float32]) -> Any:
        """Return the log-odds, (...), of features (..., F)."""
        inner = x @ self.both + self.start
        units = inner[..., :-1]
        # softplus, for many rows in a tenth of the time of logaddexp(0, units)
        hidden = np.maximum(units, 0) + np.log(1 + np.exp(-np.abs(units)))
        if self.bounded:
            hidden[..., : self.bounded] = np.tanh(inner[..., : self.bounded])
        return hidden @ self.c + inner[..., -1]


def tie(top: Any) -> Any:
    """Return by how much rounding may part the log-odds of equal keys, given those of the best."""
    return 1e-4 + 1e-6 * abs(top)


def share_of(ties: Any) -> NDArray[np.float64]:
    """Return what each of several equal keys has at most: less than its share, in 32 bits.

    So neither of two is more likely right than not.
    """
    shares = np.nextafter(np.float32(1) / np.asarray(ties, np.float32), np.float32(0))
    return np.asarray(shares, np.float64)


def raise_equal(odds: NDArray[Any], X: NDArray[np.float32]) -> None:
    """Raise the log-odds, (..., C), of a key of the same words as the query far above the others.

    Another key may be a form of it: "APPLES" are "apples", not "apple". Given are the features of
    the candidates, (..., C, F).
    """
    are_equal = X[..., align.BEGINNING] == 1
    if not np.count_nonzero(are_equal):
        return
    are_equal &= (X[..., align.OTHER_NUMBERS] == 0) & (odds > -np.inf)
    sides = are_equal, ~are_equal
    best, other = [np.where(some, odds, -np.inf).max(-1, keepdims=True) for some in sides]
    lacking = LEAD - (best - other)
    np.add(odds, lacking, out=odds, where=are_equal & (lacking > 0))


class Judged(NamedTuple):
    """What the judge says of the candidates of L queries."""

    odds: NDArray[np.float64]  # the log-odds of each to be the best, (L, C); -inf if not there
    best: NDArray[np.intp]  # the place of the best, (L,)
    right: NDArray[np.float64]  # the probability that the best is right, (L,)

    def tied(self) -> NDArray[np.bool_]:
        """Return which candidates have the log-odds of the best, (L, C)."""
        top = self.odds.max(axis=1, keepdims=True)
        tied: NDArray[np.bool_] = self.odds > top - tie(top)
        return tied

    def of_best(self) -> NDArray[np.float64]:
        """Return the probability of the best key, (L,): keys of equal log-odds share it."""
        ties = np.count_nonzero(self.tied(), axis=1)
        return np.where(ties > 1, np.minimum(self.right, share_of(ties)), self.right)

    def scale(self, others: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the odds of the other keys are multiplied with to be probabilities, (L,).

        They share what the best leaves, in proportion to their odds, and have no more than it.
        ``others`` is the sum of their odds, as a share of those of the best, (L,).
        """
        best = self.of_best()
        rest = np.maximum(1 - np.count_nonzero(self.tied(), axis=1) * best, 1e-300)
        scale: NDArray[np.float64] = np.minimum(best, rest / np.maximum(others, 1e-300))
        return scale


class Parts(NamedTuple):
    """What speaks for and against a key: parts that add up to the log-odds of its score.

    Each is what a group of features changes, on the average over all orders in which the groups
    could be looked at (L. Shapley, 1953, "A Value for n-Person Games").

    Attributes:
        spelling: letters and edits, forms and abbreviations.
        meaning: nearness of vectors.
        words: how far the words of each are matched by those of the other.
        against: opposites, other numbers, words in another order, what is left over.
        rivals: that there are other keys, which may be right as well.
        base: what holds of a single key that is like the query in nothing.
        likeness: how alike the strings are by edits, from 0 to 1.
        nearness: the cosine of the vectors of the words, or of the encoder.
        coverage: the share of the words of both that the other matches.
    """

    spelling: float
    meaning: float
    words: float
    against: float
    rivals: float
    base: float
    likeness: float
    nearness: float
    coverage: float

    @property
    def log_odds(self) -> float:
        """The log-odds of the key's score."""
        return self.spelling + self.meaning + self.words + self.against + self.rivals + self.base


#: The features of each of the first groups of `Parts`.
_GROUPS = [
    [i for i, feature in enumerate(FEATURES) if feature.group == name] for name in Parts._fields[:4]
]


@dataclass(eq=False)
class Judge:
    """The learned weights of the default score.

    Two questions, each answered by a `Net`. Which key is the best? A softmax over the keys. Is it
    right? A logistic function of the features of the best key, its log-odds, its lead over the
    next, and its share.
    """

    glance: NDArray[np.float32]  # weighs what is seen of all keys, (4,)
    pair: NDArray[np.float32]  # weighs what is seen of two words, (24,)
    center: NDArray[np.float32]  # of the features, (F,)
    scale: NDArray[np.float32]  # likewise
    which: Net
    whether: Net
    #: Intercept and slope of the log-odds of a key that is no candidate, given its glance, (2,).
    rest: NDArray[np.float32]

    @cached_property
    def of_squares(self) -> NDArray[np.float32]:
        """What the square of "edits" weighs between two words, given the kind of each, (8, 8)."""
        kinds, weights = np.arange(8), self.pair
        both, either = kinds[:, None] & kinds, kinds[:, None] | kinds
        is_short = (either & 4 > 0) & (both & 3 == 0)
        of_known = weights[pairs.BOTH_KNOWN] * (both & 1 > 0)
        of_common = weights[pairs.BOTH_COMMON] * (both & 2 > 0)
        of_short = weights[pairs.SHORT_WORD] * is_short
        return np.asarray(weights[pairs.SQUARED] + of_known + of_common + of_short, np.float32)

    @cached_property
    def which_is_best(self) -> Folded:
        """The net that gives the log-odds of candidates, given their features."""
        places = [*range(WHETHER), *range(CONTEXT, len(FEATURES))]
        folded = self.which.folded(self.center[places], self.scale[places])
        both = np.zeros((len(FEATURES), folded.both.shape[1]), np.float32)
        both[places] = folded.both
        return folded._replace(both=both)

    @cached_property
    def _whether(self) -> Folded:
        more = [CONTEXT] * OF_BEST  # these are not scaled
        return self.whether.folded(np.insert(self.center, more, 0), np.insert(self.scale, more, 1))

    @ignore_invalid
    def judge(
        self,
        X: NDArray[np.float32],
        hashes: NDArray[np.uint32],
        mask: NDArray[np.bool_] | None = None,
    ) -> Judged:
        """Return what the features of the candidates, (L, C, F), tell.

        Of equal log-odds the one with the least of the ``hashes``, (L, C), is the best, whatever
        their order. Those that the ``mask``, (L, C), has not are not there.
        """
        odds = self.which_is_best(X).astype(np.float64)
        if mask is not None:
            odds = np.where(mask, odds, -np.inf)
        raise_equal(odds, X)
        top = odds.max(axis=1, keepdims=True)
        best = np.where(odds > top - tie(top), hashes.astype(np.int64), 1 << 32).argmin(1)
        right = self._whether(self.features_of_best(X, odds, best)).astype(np.float64)
        return Judged(odds, best, np.exp(-np.logaddexp(0, -right)))

    def features_of_best(
        self, X: NDArray[np.float32], odds: NDArray[np.float32], best: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return what tells whether the best keys are right, (L, F + 3), the context last.

        The features may be scaled.
        """
        rows = np.arange(len(odds))
        top, features, others = odds[rows, best], X[rows, best], odds.copy()
        others[rows, best] = -np.inf
        lead = np.minimum(top - others.max(1, initial=-np.inf), LEAD)
        share = 1 / np.exp(np.minimum(odds - top[:, None], 80)).sum(1)  # of a worse key, next to 0
        of_best = top / 5, lead / 5, share
        both = np.column_stack([features[:, :CONTEXT], *of_best, features[:, CONTEXT:]])
        return both.astype(np.float32)

    def best_of_one(
        self,
        x: NDArray[np.float32],
        hashes: NDArray[np.uint32],
        alive: NDArray[np.bool_] | None = None,
    ) -> tuple[int, list[float]]:
        """Return the place of the best candidate of one query, and the log-odds of all, C.

        Their features are given, (C, F); of those from `WHETHER` on nothing need be set.
        """
        odds = self.which_is_best(x)
        if alive is not None:
            odds[~alive] = -np.inf
        raise_equal(odds, x)
        place = int(odds.argmax())
        tied = (odds > odds[place] - tie(odds[place])).nonzero()[0]
        if len(tied) > 1:
            place = int(tied[hashes[tied].argmin()])
        return place, odds.tolist()

    def right_of_one(self, x: NDArray[np.float32], odds: list[float], place: int) -> float:
        """Return the probability that the best candidate of one query is right.

        Its features are given, (F,), and the log-odds of all candidates.
        """
        top, others = odds[place], odds[:place] + odds[place + 1 :]
        next_best = max(others, default=-math.inf)
        share = 1 / (1 + sum([math.exp(one - top) for one in others]))
        told = np.empty(len(x) + OF_BEST, np.float32)
        told[:CONTEXT], told[CONTEXT + OF_BEST :] = x[:CONTEXT], x[CONTEXT:]
        told[CONTEXT : CONTEXT + OF_BEST] = top / 5, min(top - next_best, LEAD) / 5, share
        log_odds = float(self._whether(told))
        right = 1 / (1 + math.exp(-min(max(log_odds, -700), 700)))
        least = max(top, next_best)
        least -= tie(least)
        if next_best <= least:
            return right
        return min(right, float(share_of(sum([one > least for one in odds]))))

    def log_probabilities(
        self,
        said: Judged,
        slots: NDArray[np.intp],
        glances: NDArray[np.float32],
        left_out: float | NDArray[np.float64] = 0.0,
    ) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each of n keys, (L, n).

        The best has the probability that the judge says, shared by keys of equal log-odds. The
        others share what is left in proportion to their odds, and have no more than theirs.
        Given are the slots of the candidates, (L, C), and the glances of all keys, (L, n), -inf for
        dead slots; the odds of keys beyond these are summed up, as a share of those of the best.
        """
        top = said.odds.max(axis=1)
        logs = self.rest_odds(glances, top)
        np.put_along_axis(logs, slots, said.odds - top[:, None], 1)
        tied = logs > -tie(top)[:, None]
        others = np.exp(logs).sum(axis=1, where=~tied) + left_out
        logs += np.log(said.scale(others))[:, None]
        np.copyto(logs, np.log(said.of_best())[:, None], where=tied)
        return logs

    def rest_odds(
        self, glances: NDArray[np.float32], top: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log-odds of keys that are no candidates, less those of the best, (L, n).

        They are what the glances tell, but never those of the best.
        """
        start, slope = self.rest.tolist()
        odds = start + slope * glances.astype(np.float64) - top[:, None]
        return np.asarray(np.minimum(odds, -2 * tie(top)[:, None]))

    def parts(
        self, X: NDArray[np.float32], odds: NDArray[np.float64], place: int, score: float
    ) -> Parts:
        """Return what speaks for and against the candidate at a place, given its probability.

        The features are those of all candidates of the query, (C, F), as are the log-odds, (C,).
        """
        x, others, count = X[place], np.delete(odds, place), len(_GROUPS) + 1  # and the rivals
        has = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
        table = np.tile(np.append(np.zeros(CONTEXT, np.float32), x[CONTEXT:]), (len(has), 1))
        for group, features in zip(has.T, _GROUPS, strict=False):
            table[np.ix_(group, features)] = x[features]
        own = self.which_is_best(table).astype(np.float64)
        with_rivals = np.where(has[:, -1:], others, -np.inf)
        told = self.features_of_best(
            table[:, None], np.column_stack([own, with_rivals]), np.zeros(len(has), np.intp)
        )
        found, sizes = self._whether(told).astype(np.float64), has.sum(axis=1)
        # How likely the groups before one are these, if each order of the groups is as likely.
        chances = [1 / (count * math.comb(count - 1, size)) for size in range(count)]
        chance = np.array([*chances, 0.0])
        shares = found @ np.where(has, chance[sizes - 1, None], -chance[sizes, None])
        final = np.log(score) - np.log1p(-score) if 0 < score < 1 else found[-1]
        shares[-1] += final - found[-1]
        near, covered = x[align.ENCODED] or x[align.NEAR], x[[align.MATCHED, align.MATCHED_KEY]]
        others_told = found[0], x[align.EDITS], near, covered.min()
        return Parts(*shares.tolist(), *map(float, others_told))


@cache
def shipped(kind: str) -> Judge:
    """Return the judge that ships for a kind of vectors: "words", "encoder" or "spelling"."""
    content = json.loads(_weights_shipped())[kind]
    arrays = ("glance", "pair", "center", "scale", "rest")
    weights: dict[str, Any] = {name: _array(content[name]) for name in arrays}
    for name in ("which", "whether"):
        parts: dict[str, Any] = {field: _array(part) for field, part in content[name].items()}
        weights[name] = Net(**parts | {"bounded": content[name]["bounded"]})
    return Judge(**weights)


def weights_digest() -> str:
    """Return a digest of the weights that ship: whether two releases give the same scores."""
    return blake2b(_weights_shipped(), digest_size=8).hexdigest()


def _weights_shipped() -> bytes:
    return (resources.files("fuzzydict.data") / "judge.json").read_bytes()


def _array(content: Any) -> NDArray[np.float32]:
    return np.array(list(content.values()) if isinstance(content, dict) else content, np.float32)


# ---- what a ``scorer=`` argument stands for ------------------------------------------------------


class JudgedScore:
    """The probability that a key is the right one."""

    temperature = 1.0  # so that the weights are the keys' shares of the probability
    score_cutoff = 0.5  # of a read that picks a key: more likely right than not
    pool_cutoff = 0.02  # of one that pools all values: a doubtful query mixes them
    is_by_cosine = True  # whether the best keys are near the query


class NamedScore:
    """The scores of a scorer, unchanged; its attributes are those of `JudgedScore`."""

    score_cutoff = pool_cutoff = -math.inf  # the scale of a scorer is the user's to know

    def __init__(self, scorer: ScorerLike) -> None:
        self.scorer = as_scorer(scorer)
        self.is_by_cosine = isinstance(self.scorer, Cosine)
        # Low for scores that end at 1, so that an exact key among a thousand has most weight.
        self.temperature = 0.05 if self.is_by_cosine else 1.0

    def scores(self, vectors: NDArray[np.float32], keys: Keys) -> NDArray[np.float32]:
        """Return the scores of queries (L, E) for the slots of keys, (L, n); -inf if dead.

        Raises:
            ShapeError: the scorer returns NaN or +inf.
        """
        if type(self.scorer) is Cosine:
            found = self.scorer.with_lengths(vectors, keys.vectors, keys.inverse_lengths)
        else:
            found = np.asarray(self.scorer(vectors, keys.vectors), np.float32)
            if not isinstance(self.scorer, Dot | ScaledDot):  # whose array is new, and finite
                found = found.copy()
                finite_tops(found)  # no key may win, or be left out, by a NaN
        if len(keys.dead):
            found[:, keys.dead] = -np.inf
        return found


Score = JudgedScore | NamedScore


def is_spelling(scorer: Any) -> bool:
    """Tell whether a ``scorer=`` argument is the score by spelling, which needs no vectors."""
    return isinstance(scorer, str) and scorer == SPELLING


def is_probability(scorer: Any) -> bool:
    """Tell whether the scores of a ``scorer=`` argument are probabilities."""
    return scorer is None or is_spelling(scorer)


def as_score(scorer: ScorerLike | None) -> Score:
    """Return what a ``scorer=`` argument stands for; None is the default score.

    Raises:
        OptionError: there is no scorer of this name.
        ArgumentTypeError: it is neither a scorer, nor a name, nor a function.
    """
    if is_probability(scorer):
        return JudgedScore()
    if isinstance(scorer, str) and scorer not in SCORERS:
        raise OptionError(
            f"scorer {quoted(scorer)} is not known; the names are "
            f"{', '.join([SPELLING, *SCORERS])}, and Bilinear(M) and Concat(W, w) are passed "
            f"as objects"
        )
    return NamedScore(scorer)  # type: ignore[arg-type]
