"""Which of the candidates is the best, and whether it is right: from features to probabilities.

L queries, C candidates, F features, H hidden units
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import ignore_invalid
from fuzzydict.search import align
from fuzzydict.search.align import CONTEXT, FEATURES, LEFT_OVER, SIGNS

#: The features that tell which key is best: all but those of what is left over.
WHICH = [i for i in range(CONTEXT) if i not in range(*LEFT_OVER.indices(CONTEXT))]
#: What tells, beside all features, whether the best key is right.
OF_BEST = ("log-odds", "lead", "share")
LEAD = 15.0  # log-odds; a longer lead says no more


def expit(x: Any) -> Any:
    """Return ``1 / (1 + e^-x)``."""
    return np.exp(-np.logaddexp(0, -x))


class Net(NamedTuple):
    """``h(x A + context B + b) c + x l + bias``, which rises where each column of x does.

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

    def __call__(self, x: NDArray[np.float32], context: NDArray[np.float32]) -> Any:
        """Return the log-odds, (...), of features (..., F) and a context (..., 5)."""
        hidden = activated(x @ self.A + context @ self.B + self.b, self.bounded)
        return hidden @ self.c + x @ self.l + self.bias


def activated(inner: NDArray[np.float32], bounded: int) -> NDArray[np.float32]:
    """Return the tanh of the first units, and the softplus of the others, (..., H)."""
    hidden: NDArray[np.float32] = np.logaddexp(0, inner)
    if bounded:
        hidden[..., :bounded] = np.tanh(inner[..., :bounded])
    return hidden


def tie(top: Any) -> Any:
    """Return by how much rounding may part the log-odds of equal keys, given those of the best."""
    return 1e-4 + 1e-6 * abs(top)


class Folded(NamedTuple):
    """A net into whose weights the scaling of the features is folded.

    Attributes:
        both: the weights of the hidden units and, last, of the line, (F, H + 1).
        start: what they begin with, (H + 1,).
        c: the weights of the hidden units, (H,).
        bounded: how many of them are bounded.
    """

    both: NDArray[np.float32]
    start: NDArray[np.float32]
    c: NDArray[np.float32]
    bounded: int

    @classmethod
    def of(cls, net: Net, center: NDArray[np.float32], scale: NDArray[np.float32]) -> Folded:
        """Fold what is taken off the features of a net, (F,), and what they are divided by."""
        line = np.append(net.l, np.zeros(len(net.B), np.float32))
        both = np.column_stack([np.concatenate([net.A, net.B]), line]) / scale[:, None]
        start = np.append(net.b, net.bias) - center @ both
        return cls(both.astype(np.float32), start.astype(np.float32), net.c, net.bounded)

    def __call__(self, x: NDArray[np.float32]) -> Any:
        """Return the log-odds, (...), of features (..., F)."""
        inner = x @ self.both + self.start
        return activated(inner[..., :-1], self.bounded) @ self.c + inner[..., -1]


class Judged(NamedTuple):
    """What the judge says of the candidates of L queries.

    Attributes:
        odds: the log-odds of each to be the best, (L, C); -inf if it is not there.
        best: the place of the best, (L,).
        right: the probability that the best is right, (L,).
    """

    odds: NDArray[np.float64]
    best: NDArray[np.intp]
    right: NDArray[np.float64]

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


def share_of(ties: Any) -> NDArray[np.float64]:
    """Return what each of several equal keys has at most: less than its share, in 32 bits.

    So neither of two is more likely right than not.
    """
    shares = np.nextafter(np.float32(1) / np.asarray(ties, np.float32), np.float32(0))
    return np.asarray(shares, np.float64)


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


_NAMES = ("spelling", "meaning", "words", "against")
#: The features of each group of `Parts`.
_GROUPS = [[i for i, one in enumerate(FEATURES) if one.group == name] for name in _NAMES]


@dataclass(eq=False)
class Judge:
    """The learned weights of the default score.

    Two questions, each answered by a `Net`. Which key is the best? A softmax over the keys. Is it
    right? A logistic function of the features of the best key, its log-odds, its lead over the
    next, and its share.
    """

    glance: NDArray[np.float32]  # weighs what is seen of all keys, (4,)
    pair: NDArray[np.float32]  # weighs what is seen of two words, (20,)
    center: NDArray[np.float32]  # of the features, (F,)
    scale: NDArray[np.float32]  # likewise
    which: Net
    whether: Net
    #: Intercept and slope of the log-odds of a key that is no candidate, given its glance, (2,).
    rest: NDArray[np.float32]

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
        odds = self._which(X).astype(np.float64)
        if mask is not None:
            odds = np.where(mask, odds, -np.inf)
        top = odds.max(axis=1, keepdims=True)
        best = np.where(odds > top - tie(top), hashes.astype(np.int64), 1 << 32).argmin(1)
        right = self._whether(self.features_of_best(X, odds, best))
        return Judged(odds, best, expit(right.astype(np.float64)))

    def best_of_one(
        self,
        x: NDArray[np.float32],
        hashes: NDArray[np.uint32],
        alive: NDArray[np.bool_] | None = None,
    ) -> tuple[int, list[float]]:
        """Return the place of the best candidate of one query, and the log-odds of all, C.

        Their features are given, (C, F); of what is left over nothing need be set.
        """
        odds = self._which(x)
        if alive is not None:
            odds[~alive] = -np.inf
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
        told = np.empty(len(x) + len(OF_BEST), np.float32)
        told[:CONTEXT], told[CONTEXT + len(OF_BEST) :] = x[:CONTEXT], x[CONTEXT:]
        told[CONTEXT : CONTEXT + len(OF_BEST)] = top / 5, min(top - next_best, LEAD) / 5, share
        log_odds = float(self._whether(told))
        right = 1 / (1 + math.exp(-min(max(log_odds, -700), 700)))
        least = max(top, next_best)
        least -= tie(least)
        if next_best <= least:
            return right
        return min(right, float(share_of(sum([one > least for one in odds]))))

    @cached_property
    def _which(self) -> Folded:
        places = [*WHICH, *range(CONTEXT, len(FEATURES))]
        folded = Folded.of(self.which, self.center[places], self.scale[places])
        both = np.zeros((len(FEATURES), folded.both.shape[1]), np.float32)
        both[places] = folded.both
        return folded._replace(both=both)

    @cached_property
    def _whether(self) -> Folded:
        more = [CONTEXT] * len(OF_BEST)  # these are not scaled
        center, scale = np.insert(self.center, more, 0), np.insert(self.scale, more, 1)
        return Folded.of(self.whether, center, scale)

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

    def features_of_best(
        self, X: NDArray[np.float32], odds: NDArray[np.float32], best: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return what tells whether the best keys are right, (L, F + 3), the context last.

        The features may be scaled.
        """
        rows = np.arange(len(odds))
        top = odds[rows, best]
        others = odds.copy()
        others[rows, best] = -np.inf
        lead = np.minimum(top - others.max(1, initial=-np.inf), LEAD)
        share = 1 / np.exp(np.minimum(odds - top[:, None], 80)).sum(1)  # of a worse key, next to 0
        features = X[rows, best]
        return np.column_stack(
            [features[:, :CONTEXT], top / 5, lead / 5, share, features[:, CONTEXT:]]
        ).astype(np.float32)

    def parts(
        self, X: NDArray[np.float32], odds: NDArray[np.float64], place: int, score: float
    ) -> Parts:
        """Return what speaks for and against the candidate at a place, given its probability.

        The features are those of all candidates of the query, (C, F), as are the log-odds, (C,).
        """
        x, others = X[place], np.delete(odds, place)
        count = len(_GROUPS) + 1  # the last are the rivals
        sets = np.arange(1 << count)
        table = np.tile(np.append(np.zeros(CONTEXT, np.float32), x[CONTEXT:]), (len(sets), 1))
        for group, features in enumerate(_GROUPS):
            table[np.ix_(np.flatnonzero(sets >> group & 1), np.array(features))] = x[features]
        own = self._which(table).astype(np.float64)
        with_rivals = np.where(sets[:, None] >> len(_GROUPS) & 1, others, -np.inf)
        told = self.features_of_best(
            table[:, None], np.column_stack([own, with_rivals]), np.zeros(len(sets), np.intp)
        )
        found = self._whether(told).astype(np.float64)
        shares = _shapley(found, count)
        final = float(np.log(score) - np.log1p(-score)) if 0 < score < 1 else float(found[-1])
        shares[-1] += final - float(found[-1])
        near = float(x[align.ENCODED] or x[align.NEAR])
        covered = float(min(x[align.MATCHED], x[align.MATCHED_KEY]))
        return Parts._make([*shares, float(found[0]), float(x[align.EDITS]), near, covered])


def _shapley(values: NDArray[np.float64], count: int) -> list[float]:
    """Return the share of each of n players, given the value of each set of them, (2 ** n,)."""
    sets = np.arange(1 << count)
    sizes = ((sets[:, None] >> np.arange(count)) & 1).sum(axis=1)
    shares = []
    for player in range(count):
        without = sets[(sets >> player) & 1 == 0]
        gains = values[without | (1 << player)] - values[without]
        chances = [
            math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
            for size in sizes[without].tolist()
        ]
        shares.append(float(gains @ np.array(chances)))
    return shares


SIGNS_WHICH = SIGNS[WHICH]
SIGNS_WHETHER = np.append(SIGNS[:CONTEXT], np.ones(len(OF_BEST), np.float32))


@cache
def shipped(kind: str) -> Judge:
    """Return the judge that ships for a kind of vectors: "words", "encoder" or "spelling"."""
    text = (resources.files("fuzzydict.data") / "judge.json").read_text("utf-8")
    return from_json(json.loads(text)[kind])


def weights_digest() -> str:
    """Return a digest of the weights that ship: whether two releases give the same scores."""
    weights = (resources.files("fuzzydict.data") / "judge.json").read_bytes()
    return blake2b(weights, digest_size=8).hexdigest()


def from_json(content: dict[str, Any]) -> Judge:
    """Return a judge from its weights as JSON."""
    arrays = ("glance", "pair", "center", "scale", "rest")
    weights: dict[str, Any] = {name: _array(content[name]) for name in arrays}
    for name in ("which", "whether"):
        parts: dict[str, Any] = {field: _array(part) for field, part in content[name].items()}
        weights[name] = Net(**parts | {"bounded": content[name]["bounded"]})
    return Judge(**weights)


def _array(content: Any) -> NDArray[np.float32]:
    return np.array(list(content.values()) if isinstance(content, dict) else content, np.float32)
