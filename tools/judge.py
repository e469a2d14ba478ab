"""Learn the weights of the default score from made questions, and write them as JSON.

    python -m tools.judge -o data/judge.json [--exclude FILE...] [--measure FILE...]

Four things are learned, one after the other, each by L-BFGS on the whole of its data: how to weigh
what is seen of all keys at a glance, and of two words; which candidate is best; and whether it is
right.

    N lists of candidates, C candidates of each, F features, H hidden units
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import WRatio
from rapidfuzz.process import extractOne
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from fuzzydict import data
from fuzzydict.embedding.encoder import Encoder
from fuzzydict.embedding.word_vectors import BROWN, English, WordVectors, side_by_side
from fuzzydict.evaluation import read_sets
from fuzzydict.search.align import CONTEXT, FEATURES, WHETHER, align
from fuzzydict.search.keys import Asked, Keys, Query, WordTable
from fuzzydict.search.pairs import PAIR, pairs_of
from fuzzydict.search.retrieve import GLANCE, Seen, candidates, glance
from fuzzydict.search.score import EITHER, SIGNS_WHETHER, SIGNS_WHICH, Judge, Meaning, Net
from fuzzydict.text import lexicon
from tools.asked import FOLDS
from tools.questions import Asked as Asking
from tools.questions import Questions, questions
from tools.wordnet import pairs_in

Floats = NDArray[np.float64]
WHICH_UNITS, WHETHER_UNITS = (4, 0), (16, 8)  # of each net: how many, and how many bounded
PENALTY = 1e-5  # of the squares of all weights
_CONTEXTS = len(FEATURES) - CONTEXT
_REST = 48  # keys beyond the candidates that stand for all of these


# ---- learning -----------------------------------------------------------------------------------


def minimised(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int = 300
) -> Floats:
    """Return the parameters at which a loss is least; it returns its gradient as well."""
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return np.asarray(found.x)


def softplus(x: Any) -> Any:
    """Return ``log(1 + e^x)``."""
    return np.logaddexp(0, x)


class Shape(NamedTuple):
    """The shape of a net: what the odds do where each feature rises, and its hidden units.

    A feature without a direction has the sign 0, and weights of either sign.
    """

    signs: NDArray[np.float32]
    hidden: int
    bounded: int

    def start(self, seed: int) -> Floats:
        """Return parameters to begin with, drawn at random."""
        random, F, H = np.random.default_rng(seed), len(self.signs), self.hidden
        is_free = self.signs == 0
        A, l = random.normal(-2.3, 0.5, (F, H)), np.where(is_free, 0, -2.0)
        A[is_free] = random.normal(0, 0.1, (is_free.sum(), H))
        hidden = [A, random.normal(0, 0.3, (_CONTEXTS, H))]
        hidden += [random.normal(0, 1, H), random.normal(-0.5, 0.3, H)]
        return np.concatenate([*(part.ravel() for part in hidden), l, [0.0]])

    def split(self, parameters: Floats) -> list[Floats]:
        """Return the parameters of A, B, b, c, l and the bias."""
        F, H = len(self.signs), self.hidden
        shapes: list[tuple[int, ...]] = [(F, H), (_CONTEXTS, H), (H,), (H,), (F,), ()]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        return [p.reshape(s) for p, s in zip(np.split(parameters, ends), shapes, strict=True)]

    def _signs_of_parts(self) -> list[Any]:
        """Return the signs of A, B, b, c, l and the bias; 0 for either."""
        return [self.signs[:, None], 0, 0, 1, self.signs, 0]

    def net(self, parameters: Floats) -> Net:
        """Return the net, whose weights have the right signs."""
        each = zip(self.split(parameters), self._signs_of_parts(), strict=True)
        parts = [np.asarray(signed(part, signs), np.float32) for part, signs in each]
        return Net._make([*parts, self.bounded])

    def penalty(self, parameters: Floats) -> tuple[float, Floats]:
        """Return half the squares of all weights, and the gradient of the parameters."""
        value, gradients = 0.0, []
        for part, signs in zip(self.split(parameters), self._signs_of_parts(), strict=True):
            weights = signed(part, signs)
            value += 0.5 * float((weights * weights).sum())
            gradients.append((weights * slope_of(part, signs)).ravel())
        return PENALTY * value, PENALTY * np.concatenate(gradients)

    def forward(
        self, parameters: Floats, x: NDArray[np.float32], context: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], Callable[[NDArray[np.float32]], Floats]]:
        """Return the log-odds of N rows, and the gradient of the parameters given theirs."""
        net, k = self.net(parameters), self.bounded
        inner = x @ net.A + context @ net.B + net.b
        # as `Folded` does; the slope needs ``small``, too
        small = np.exp(-np.abs(inner))
        hidden = np.maximum(inner, 0) + np.log1p(small)
        slope = np.where(inner > 0, 1, small) / (1 + small)
        hidden[:, :k] = np.tanh(inner[:, :k])
        slope[:, :k] = 1 - hidden[:, :k] ** 2
        odds = hidden @ net.c + x @ net.l + net.bias

        def backward(d_odds: NDArray[np.float32]) -> Floats:
            d_inner = (d_odds[:, None] * net.c) * slope
            d_weights = [x.T @ d_inner, context.T @ d_inner, d_inner.sum(0)]
            d_weights += [d_odds @ hidden, d_odds @ x, d_odds.sum()]
            each = zip(d_weights, self.split(parameters), self._signs_of_parts(), strict=True)
            return np.concatenate([np.ravel(d * slope_of(part, signs)) for d, part, signs in each])

        return odds, backward


def signed(part: Floats, signs: Any) -> Floats:
    """Return weights of the given signs, of parameters of any; 0 leaves them as they are."""
    return np.where(np.equal(signs, 0), part, softplus(part) * signs)


def slope_of(part: Floats, signs: Any) -> Floats:
    """Return what `signed` rises by where a parameter does."""
    return np.where(np.equal(signs, 0), 1, expit(part) * signs)


def mean_of(nets: Sequence[Net]) -> Net:
    """Return one net that gives the mean of the log-odds of several."""
    bounded, count = nets[0].bounded, len(nets)
    order = np.argsort([i >= bounded for net in nets for i in range(len(net.c))], kind="stable")
    parts = list(zip(*nets, strict=True))
    A, B, b, c = (np.concatenate(part, axis=-1)[..., order] for part in parts[:4])
    l, bias = (np.asarray(sum(part) / np.float32(count)) for part in parts[4:6])
    return Net(A, B, b, np.float32(1 / count) * c, l, bias, bounded * count)


class Lists(NamedTuple):
    """N lists of candidates.

    Attributes:
        X: their features, (N, C, F).
        mask: which are there, (N, C).
        right: which are right, (N, C).
        rest: the glances of keys that are no candidates, (N, R), -inf where there are none.
        share: of how many such keys each of them stands for one, (N,).
        weight: how much each list counts, (N,).
    """

    X: NDArray[np.float32]
    mask: NDArray[np.bool_]
    right: NDArray[np.bool_]
    rest: NDArray[np.float32]
    share: NDArray[np.float32]
    weight: NDArray[np.float32]


def _log_sum(odds: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the logarithms of the sums of the odds in each row, (N, 1), and the shares in them."""
    top = odds.max(axis=1, keepdims=True)
    exps = np.exp(odds - top)
    sums = exps.sum(axis=1, keepdims=True)
    return np.log(sums) + top, np.asarray(exps / sums, np.float32)


def learned_which(
    lists: Lists, Z: NDArray[np.float32], seed: int, steps: int
) -> tuple[Net, NDArray[np.float32]]:
    """Learn which key is best, from the lists in which one is right; and how the rest compete."""
    rows = np.flatnonzero(lists.right.any(1))
    some, shape = Lists._make(one[rows] for one in lists), Shape(SIGNS_WHICH, *WHICH_UNITS)
    flat = some.mask
    x, context = Z[rows][flat][:, :WHETHER], Z[rows][flat][:, CONTEXT:]
    extra = np.log(np.maximum(some.share, 1))[:, None]
    has_rest = np.isfinite(some.rest)
    glances = np.where(has_rest, some.rest, 0)
    weight = (some.weight / some.weight.sum())[:, None]

    def loss(parameters: Floats) -> tuple[float, Floats]:
        own, a, log_b = parameters[:-2], np.float32(parameters[-2]), np.float32(parameters[-1])
        odds, backward = shape.forward(own, x, context)
        table = np.full(flat.shape, -np.inf, np.float32)
        table[flat] = odds
        others = np.where(has_rest, a + np.exp(log_b) * glances + extra, -np.inf)
        every, d_both = _log_sum(np.concatenate([table, others], axis=1))
        of_right, good = _log_sum(np.where(some.right, table, -np.inf))
        value = float((weight * (every - of_right)).sum())
        d_table, d_rest = np.split(d_both * weight, [flat.shape[1]], axis=1)
        d_own = backward((d_table - good * weight)[flat])
        d_ab = [d_rest.sum(), (d_rest * glances).sum() * np.exp(log_b)]
        more, d_more = shape.penalty(own)
        return value + more, np.append(d_own + d_more, d_ab)

    start = np.append(shape.start(seed), [-2.0, 0.0])
    found = minimised(loss, start, steps)
    a, log_b = found[-2:]
    return shape.net(found[:-2]), np.array([a, np.exp(log_b)], np.float32)


def learned_whether(
    told: NDArray[np.float32],
    is_right: NDArray[np.bool_],
    weight: NDArray[np.float32],
    seed: int,
    steps: int,
) -> Net:
    """Learn whether the best key is right, given what the judge is told of it, (N, ...).

    With an odd seed the features of `EITHER` have no direction. Such nets are right more often, but
    too sure of what is asked rarely; so half of the nets are of each sort.
    """
    signs = SIGNS_WHETHER.copy()
    if seed % 2:
        signs[EITHER] = 0
    shape, weight = Shape(signs, *WHETHER_UNITS), weight / weight.sum()
    x, context = np.split(told, [len(signs)], axis=1)
    y = is_right.astype(np.float32)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        odds, backward = shape.forward(parameters, x, context)
        value = float((weight * (np.logaddexp(0, odds) - y * odds)).sum())
        more, d_more = shape.penalty(parameters)
        return value + more, backward(weight * (expit(odds) - y)) + d_more

    return shape.net(minimised(loss, shape.start(seed), steps))


def learned_logistic(
    phi: NDArray[np.float32], y: NDArray[np.bool_], weight: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Learn weights by which evidence, (P, F), tells what is true, (P,)."""
    total = weight.sum()

    def loss(w: Floats) -> tuple[float, Floats]:
        odds = phi @ w
        value = float((weight * (np.logaddexp(0, odds) - y * odds)).sum() / total)
        gradient = phi.T @ (weight * (expit(odds) - y)) / total
        return value + 1e-4 * float(w @ w), gradient + 2e-4 * w

    return minimised(loss, np.zeros(phi.shape[1])).astype(np.float32)


# ---- from questions to data --------------------------------------------------------------------


class Prepared(NamedTuple):
    """A dict with its queries, looked up by a meaning: what is asked, and the slots that are right.

    ``weights`` tell how much each query counts.
    """

    meaning: Meaning
    keys: Keys
    queries: list[Query]
    right: list[list[int]]
    weights: list[float]


# The table of words has learned WordNet's synonyms and definitions, and finds them more easily
# than those of other sources; an encoder has not. So the two are compared on other questions.
_LEARNED = {("terms", "synonym"), ("terms", "paraphrase"), ("singles", "synonym")}
# Kinds of dicts in which a query without a key looks much like one.
_ALIKE = {
    *("nested", "shared words", "options", "negated", "order"),
    *("firms", "titles", "codes", "closed", "look-alikes"),
}


def _weight_of(kind: str, asked: Asking, meaning: Meaning) -> float:
    """Return how much a question counts in a dict of a kind."""
    if meaning.is_encoded and (kind, asked.kind) in _LEARNED:
        return 0.05
    if asked.right:
        return 1.0
    if asked.kind == "contradicting":  # it would hand out a wrong value that looks right
        return 2.0
    # A query without a key that looks like none is refused easily.
    return 1.0 if kind in _ALIKE or asked.kind == "misleading" else 0.3


def with_small(some: Iterable[Questions]) -> Iterator[Questions]:
    """Yield dicts, and some dicts of one to three of their keys, with six queries of each sort.

    The keys that are left out and most alike are questions without a key.
    """
    for number, one in enumerate(some):
        yield one
        random = Random(number)
        if random.random() < (0.5 if one.kind in _ALIKE else 0.2):
            keys = random.sample(one.keys, min(len(one.keys), random.randint(1, 3)))
            asked = random.sample(one.asked, len(one.asked))
            here = [a._replace(right=a.right & {*keys}) for a in asked if a.right & {*keys}]
            gone = sorted({*one.keys} - {*keys})
            near = [extractOne(key, gone, scorer=WRatio) for key in keys] if gone else []
            names = {name for name, *_ in near} | {*random.sample(gone, min(len(gone), 1))}
            others = [Asking(name, frozenset(), "misleading") for name in sorted(names)]
            others += [a._replace(right=frozenset()) for a in asked if not a.right & {*keys}]
            yield one._replace(keys=keys, asked=here[:6] + others[:6])


def prepared(some: Iterable[Questions], *folds: Meaning) -> Iterator[Prepared]:
    """Yield dicts with their queries, each by the meaning that has not learned its field."""
    for one in some:
        meaning = folds[(one.field or 0) % len(folds)]
        names = [name for name in dict.fromkeys(one.keys) if meaning.table.words_of(name)]
        if not names:
            continue
        keys = Keys.of(meaning.table, names, meaning.of_keys(names))
        asked = list(
            zip(meaning.table.queries([a.query for a in one.asked]), one.asked, strict=True)
        )
        asked = [(query, a) for query, a in asked if query.words and a.query not in keys.slots]
        right = [[keys.slots[k] for k in sorted(a.right) if k in keys.slots] for _, a in asked]
        if asked:
            weights = [_weight_of(one.kind, a, meaning) for _, a in asked]
            yield Prepared(meaning, keys, [query for query, _ in asked], right, weights)


def glances_of(one: Prepared, weights: NDArray[np.float32]) -> Seen:
    """Return what is seen of all keys of a dict at a glance."""
    asked, is_encoded = Asked.of(one.queries, one.keys), one.meaning.is_encoded
    return glance(asked, one.keys, one.meaning.of_queries(asked), weights, is_encoded=is_encoded)


def learned_glance(dicts: Sequence[Prepared], seed: int) -> NDArray[np.float32]:
    """Learn how to weigh what is seen at a glance: a softmax over all keys finds the right one."""
    random, tables, rights = np.random.default_rng(seed), [], []
    start = np.array([8.0, 2.0, 1.0, 1.0], np.float32)
    for one in dicts:
        if not any(one.right):
            continue
        each = np.eye(len(GLANCE), dtype=np.float32)
        seen = np.stack([glances_of(one, alone).odds for alone in each], axis=2)  # (L, n, 4)
        for row, right in enumerate(one.right):
            if not right:
                continue
            order = np.argsort(-(seen[row] @ start))[:40]
            others = random.integers(0, len(one.keys), 24)
            chosen = np.unique(np.concatenate([right, order, others]))[:96]
            table = np.full((96, len(GLANCE)), np.nan, np.float32)
            table[: len(chosen)] = seen[row][chosen]
            tables.append(table)
            rights.append(np.isin(np.arange(96), np.flatnonzero(np.isin(chosen, right))))
    phi, is_right = np.stack(tables), np.stack(rights)
    mask = np.isfinite(phi[..., 0])
    phi = np.nan_to_num(phi)

    def loss(w: Floats) -> tuple[float, Floats]:
        positive = np.exp(w)
        odds = np.where(mask, phi @ positive, -np.inf)
        every = logsumexp(odds, axis=1)
        good = logsumexp(np.where(is_right, odds, -np.inf), axis=1)
        d = np.exp(odds - every[:, None])
        d -= np.exp(np.where(is_right, odds, -np.inf) - good[:, None])
        gradient = np.einsum("lc,lcf->f", d, phi) / len(phi) * positive
        return float((every - good).mean()), gradient

    return np.exp(minimised(loss, np.log(start.astype(np.float64)), 100)).astype(np.float32)


def learned_pair(
    dicts: Sequence[Prepared], glance_weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Learn how to weigh what is seen of two words.

    Where query and key differ in one word each, these two mean one thing if the key is right.
    """
    phis, truths = [], []
    for one in dicts:
        candidate_slots, _ = candidates(glances_of(one, glance_weights), 12)
        asked = Asked.of(one.queries, one.keys)
        a, b, y = [], [], []
        for row, (slots, right) in enumerate(zip(candidate_slots.tolist(), one.right, strict=True)):
            ours = {int(i): asked.words[i - 1].text for i in asked.columns[row] if i}
            for slot in dict.fromkeys([*right, *slots]):
                theirs = {int(j): one.keys.strings[j] for j in one.keys.columns[slot] if j}
                shared = {*ours.values()} & {*theirs.values()}
                left = [i for i, text in ours.items() if text not in shared]
                other = [j for j, text in theirs.items() if text not in shared]
                if len(left) == len(other) == 1:
                    a.append(left[0])
                    b.append(other[0])
                    y.append(slot in right)
        if a:
            units = asked.units[a], one.keys.word_units[b]
            cosines = np.einsum("pe,pe->p", *units)
            pairs = pairs_of(asked, one.keys, np.array(a), np.array(b), cosines)
            phis.append(pairs.T)
            truths.append(np.array(y))
    phi, truth = np.concatenate(phis), np.concatenate(truths)
    weight = np.where(truth, 1.0, min(1.0, 2 * truth.sum() / max((~truth).sum(), 1)))
    return learned_logistic(phi, truth, weight.astype(np.float32))


def lists_of(dicts: Sequence[Prepared], weights: dict[str, NDArray[np.float32]]) -> Lists:
    """Return the lists of candidates of all queries, and of the same without their right keys."""
    # Of each list: X, right, rest, share, weight.
    rows: list[tuple[Any, Any, Any, float, float]] = []
    random = np.random.default_rng(0)
    for one in dicts:
        seen = glances_of(one, weights["glance"])
        slots, of_slots = candidates(seen, one.meaning.candidates)
        asked = Asked.of(one.queries, one.keys)
        X = align(asked, one.keys, slots, of_slots, weights["pair"])
        # Of few keys people ask mostly for what is there; of many, for what is not as well.
        absent = min(max(len(one.keys) / 400, 0.12), 0.25)
        for row, (right, weight) in enumerate(zip(one.right, one.weights, strict=True)):
            is_right = np.isin(slots[row], right)
            others = np.delete(seen.odds[row], slots[row])
            kept = random.choice(others, _REST, replace=False) if len(others) > _REST else others
            share = len(others) / max(len(kept), 1)
            rows.append((X[row], is_right, kept, share, weight))
            if right and (~is_right).any():
                wrong = ~is_right
                rows.append((X[row][wrong], is_right[wrong], kept, share, absent * weight))
    N, C = len(rows), max(len(X) for X, *_ in rows)
    lists = Lists(
        np.zeros((N, C, len(FEATURES)), np.float32),
        np.zeros((N, C), np.bool_),
        np.zeros((N, C), np.bool_),
        np.full((N, _REST), -np.inf, np.float32),
        np.array([share for *_, share, _ in rows], np.float32),
        np.array([weight for *_, weight in rows], np.float32),
    )
    for i, (X, good, rest, _, _) in enumerate(rows):
        lists.X[i, : len(X)], lists.mask[i, : len(X)], lists.right[i, : len(X)] = X, True, good
        lists.X[i, len(X) :, CONTEXT:] = X[0, CONTEXT:]
        lists.rest[i, : len(rest)] = rest
    return lists


def learned(
    several: Sequence[Lists],
    weights: dict[str, NDArray[np.float32]],
    steps: tuple[int, int] = (600, 1500),
) -> Judge:
    """Learn a judge from lists of candidates: the mean of the nets of several draws of these."""
    flat = np.concatenate([lists.X[lists.mask] for lists in several])
    center, scale = flat.mean(0, np.float32), flat.std(0, np.float32) + np.float32(1e-3)
    nets, rests = [], []
    for seed, lists in enumerate(several):
        net, rest = learned_which(lists, (lists.X - center) / scale, seed, steps[0])
        nets.append(net)
        rests.append(rest)
    which, rest = mean_of(nets), np.mean(rests, axis=0)
    judge = Judge(center=center, scale=scale, which=which, whether=which, rest=rest, **weights)
    nets = []
    for seed, lists in enumerate(several):
        Z = (lists.X - center) / scale
        odds = np.where(lists.mask, judge.which_is_best(lists.X), -np.inf)
        best = odds.argmax(1)
        told = judge.features_of_best(Z, odds, best)
        is_right = lists.right[np.arange(len(best)), best]
        nets.append(learned_whether(told, is_right, lists.weight, seed, steps[1]))
    judge.whether = mean_of(nets)
    return judge


# ---- measuring -----------------------------------------------------------------------------------


class Answer(NamedTuple):
    """The best key of a query: its probability, whether it is right, whether any key is."""

    probability: float
    hit: bool
    present: bool


def answers(one: Prepared, judge: Judge) -> list[Answer]:
    """Return the answers to the queries of a dict, of which 128 are compared at a time."""
    found = []
    for start in range(0, len(one.queries), 128):
        some = slice(start, start + 128)
        part = one._replace(queries=one.queries[some], right=one.right[some])
        of_all, seen = candidates(glances_of(part, judge.glance), one.meaning.candidates)
        X = align(Asked.of(part.queries, part.keys), part.keys, of_all, seen, judge.pair)
        said = judge.judge(X, part.keys.hashes[of_all])
        slots = of_all[np.arange(len(said.best)), said.best].tolist()
        rows = zip(said.right.tolist(), slots, part.right, strict=True)
        found += [Answer(p, slot in right, bool(right)) for p, slot, right in rows]
    return found


def report(name: str, found: Sequence[Answer]) -> str:
    """Return a line of figures: hit@1, answers by cutoff, calibration error."""
    p, hit, present = (np.array(column) for column in zip(*found, strict=True))
    count = present.sum()
    line = f"{name:16} {len(found):5} hit@1 {hit[present].sum() / max(count, 1):.3f}"
    for cutoff in (0.25, 0.5, 0.9):
        sure = p >= cutoff
        right, wrong = (hit & present & sure).sum(), (~hit & present & sure).sum()
        line += f" | {cutoff}: {right}/{wrong}/{(sure & ~present).sum()}"
    bins = np.minimum((p * 10).astype(int), 9)
    error = sum(abs((p[bins == i] - hit[bins == i]).sum()) for i in range(10)) / len(p)
    return f"{line} of {count}+{len(found) - count} | ece {error:.3f}"


def questions_of(path: Path) -> Iterator[Questions]:
    """Yield the dicts of a retrieval set, and what is asked of them."""
    (found,) = read_sets([path])
    for keys, queries in found.dictionaries:
        asked = [Asking(query.text, query.accept, "") for query in queries]
        yield Questions(keys, asked, found.name)


# ---- the file ------------------------------------------------------------------------------------


def as_json(judge: Judge) -> dict[str, Any]:
    """Return the weights of a judge as JSON, with four digits, and named where they have names."""

    def rounded(array: NDArray[Any]) -> Any:
        text = json.dumps(np.asarray(array, np.float64).tolist())
        return json.loads(text, parse_float=lambda x: float(f"{float(x):.4g}"))

    names = [feature.name for feature in FEATURES]
    content: dict[str, Any] = {}
    for field, of in (("glance", GLANCE), ("pair", PAIR), ("center", names), ("scale", names)):
        content[field] = dict(zip(of, rounded(getattr(judge, field)), strict=True))
    content["rest"] = rounded(judge.rest)
    for net in ("which", "whether"):
        parts = getattr(judge, net)._asdict()
        bounded = {"bounded": parts.pop("bounded")}
        content[net] = {field: rounded(part) for field, part in parts.items()} | bounded
    return content


# ---- the command ---------------------------------------------------------------------------------

_DICTS = {"words": 1600, "encoder": 600, "spelling": 1200}
_HELD_OUT = 1000  # the seed of the questions by which seeds are compared


def learned_for(
    folds: Sequence[Meaning], count: int, seeds: int, exclude: set[frozenset[str]]
) -> Judge:
    """Learn a judge from questions of several seeds.

    Which compounds WordNet has as other things is not told meanwhile: nearly all that are asked are
    WordNet's, and so the nets would learn that any other compound is what its last word names.
    """
    with patch.object(lexicon, "_compounds", dict):  # which returns an empty one
        return _learned_for(folds, count, seeds, exclude)


def _learned_for(
    folds: Sequence[Meaning], count: int, seeds: int, exclude: set[frozenset[str]]
) -> Judge:
    drawn = [with_small(questions(count, seed, exclude=exclude)) for seed in range(seeds)]
    dicts = [list(prepared(one, *folds)) for one in drawn]
    together = [one for some in dicts for one in some]
    weights = {"glance": learned_glance(together[:: 3 * seeds], 0)}
    weights["pair"] = learned_pair(together[:: 2 * seeds], weights["glance"])
    if folds[0].is_encoded:  # in another language the encoder alone knows the words
        letters = copy(folds[0])
        letters.table = WordTable(None)
        for seed, some in enumerate(dicts):
            foreign = questions(count // 2, seed + 50, exclude=exclude)
            some += prepared(with_small(foreign), letters)
    return learned([lists_of(some, weights) for some in dicts], weights)


def loss_of(judge: Judge, folds: Sequence[Meaning], exclude: set[frozenset[str]]) -> float:
    """Return the mean negative log-likelihood of held-out questions: is the best key right?"""
    dicts = prepared(questions(_HELD_OUT // 5, _HELD_OUT, exclude=exclude), *folds)
    found = [answer for one in dicts for answer in answers(one, judge)]
    p = np.clip([answer.probability for answer in found], 1e-6, 1 - 1e-6)
    hit = np.array([answer.hit for answer in found])
    return float(-np.where(hit, np.log(p), np.log(1 - p)).mean())


def meanings(name: str, tables: Sequence[WordVectors]) -> list[Meaning]:
    """Return a kind of vectors, once with each of the tables of English if it has words."""
    if name == "words":
        brown = WordVectors.load(Path(data.__path__[0], f"{BROWN}.vectors"))
        return [Meaning(side_by_side(table, brown)) for table in tables]
    if name == "spelling":
        return [Meaning(None)]
    found = []
    for table in tables:
        meaning = Meaning(_encoder())
        meaning.table = WordTable(table)
        found.append(meaning)
    return found


@cache
def _encoder() -> Encoder:
    """Return the sentence encoder, which encodes each text once."""
    from fuzzydict.evaluation import sentence_encoder

    encoder = sentence_encoder()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        encoder.remember(texts)
        return np.asarray(encoder.encode(texts), np.float32)

    return Encoder(encode)


def main(argv: Sequence[str] | None = None) -> None:
    """Learn the weights for each kind of vectors, as the mean of several seeds, and write them."""
    parser = argparse.ArgumentParser(prog="python -m tools.judge", description=main.__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the JSON file")
    parser.add_argument(
        "--exclude", type=Path, nargs="*", default=[], help="sets whose pairs are not asked"
    )
    parser.add_argument("--measure", type=Path, nargs="*", default=[], help="sets to measure on")
    parser.add_argument(
        "--folds", type=Path, nargs="*", default=[], help="tables without the fields of each fold"
    )
    parser.add_argument("--kinds", nargs="*", default=list(_DICTS), choices=list(_DICTS))
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args(argv)
    exclude = pairs_in(given.exclude)
    content = json.loads(given.output.read_text("utf-8")) if given.output.exists() else {}
    if len(given.folds) not in (0, FOLDS):
        parser.error(f"--folds: expected {FOLDS} tables, in order, got {len(given.folds)}")
    tables = list(map(WordVectors.load, given.folds)) or [English()]
    for name in given.kinds:
        begun, folds = time.perf_counter(), meanings(name, tables)
        judge = learned_for(folds, _DICTS[name], given.seeds, exclude)
        loss, seconds = loss_of(judge, folds, exclude), time.perf_counter() - begun
        print(f"{name}: held-out loss {loss:.4f}, {seconds:.0f} s", flush=True)
        content[name] = as_json(judge)
        together: list[Answer] = []
        (shipped,) = meanings(name, [English()])
        for path in given.measure:
            dicts = prepared(questions_of(path), shipped)
            measured = [answer for one in dicts for answer in answers(one, judge)]
            print(report(path.stem, measured), flush=True)
            together += measured
        if together:
            print(report("together", together), flush=True)
    given.output.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
