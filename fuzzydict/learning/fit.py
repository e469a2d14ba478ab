"""What `FuzzyDict.fit` does: from examples to options that are kept, and a report.

The examples are checked, and their queries encoded once. If there are enough, some are held out, or
each in turn (`split`). Q and K are trained without these, which are asked before and after, without
what is remembered; `Answers.verdict` says whether to keep what was learned. If each was held out in
turn, or none, Q and K are trained on all.

    L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from fuzzydict._arrays import as_floats, positive, share, slices, whole_number
from fuzzydict.embedding.projections import ROLES, Projections, as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning.report import Answers, Change, Errors, FitReport, Measures
from fuzzydict.learning.train import Learned, Settings, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import softmax
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.align import align
from fuzzydict.search.keys import Keys
from fuzzydict.search.retrieve import candidates, glance
from fuzzydict.search.score import Meaning, NamedScore, as_score, is_spelling
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.search.align import Query
    from fuzzydict.search.taught import SynonymRules


#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_COLDEST, _WARMEST = 0.03, 0.5  # limits of the temperature for the default score
_POOLING_TEMPERATURE = 0.15  # at the start; at a low one, only the best key would get a gradient
_STEPS, _BATCH = 1000, 256  # enough steps to learn from values, and the examples of a step
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "rank": whole_number,
    "epochs": partial(whole_number, most=1_000_000),
    "learning_rate": partial(positive, most=100.0),  # which turns a vector by more than all
    "validation": partial(share, most=0.5),
    "seed": partial(whole_number, least=0),
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The arguments of `FuzzyDict.fit`, which documents them."""

    remember: bool = True
    learn: Sequence[str] | None = None
    rank: int | None = None
    epochs: int | None = None
    learning_rate: float | None = None
    validation: float | None = None
    seed: int = 0
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            given = getattr(self, name)
            if given is not None or name == "seed":
                object.__setattr__(self, name, check(name, given))

    def settings(self, task: _Keyed | _Valued) -> Settings:
        """Return how to learn; OptionError if an argument does not go with keys or targets."""
        state, pools, roles = task.state, isinstance(task, _Valued), {"query", "key"}
        if self.rank is not None:
            whole_number("rank", self.rank, most=state.keys.vectors.shape[1])
        if self.learn is not None:
            try:
                roles = {self.learn} if isinstance(self.learn, str) else set(self.learn)
            except Exception:  # it is no list, or holds what cannot be hashed
                roles = set()
            if not roles or not roles <= set(ROLES):
                expected = ", ".join(map(repr, ROLES))
                raise OptionError(f"learn: expected some of {expected}, got {quoted(self.learn)}")
            if "value" in roles and not pools:
                raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        options: dict[str, Any] = {"scorer": state.loss, "roles": roles, "seed": self.seed}
        if pools:  # many long steps: an error of a value says little about which key is right
            epochs = int(np.clip(_STEPS * _BATCH // len(task.texts), 30, 100))
            options |= {"epochs": epochs, "patience": epochs // 5, "learning_rate": 0.1}
            warm = _POOLING_TEMPERATURE if state.loss == "cosine" else 1.0
            options |= {"identity_penalty": 3.0, "start_temperature": warm}
        elif state.scorer is None:  # a standard deviation more makes a key e times as likely
            spread = state.keys.background.spread
            options["temperature"] = float(np.clip(spread, _COLDEST, _WARMEST))
        if self.validation == 0 or not (pools or len(task.texts) >= task.many):
            options["validation"] = 0.0  # the loss of a few says little about when to stop early
        given = {name: getattr(self, name) for name in ("rank", "epochs", "learning_rate")}
        return Settings(**options | {name: one for name, one in given.items() if one is not None})


class DictState:
    """A snapshot of a dict, from which learning starts.

    ``every`` are all its keys, ``found`` those that can be compared, and ``values`` theirs. The
    ``embedding`` is None where texts are compared by their letters alone. ``options`` are those
    that `fit` may set, as they are before it; ``is_current`` says whether the vectors of the keys
    are projected as these say.
    """

    def __init__(
        self,
        *,
        every: Collection[Any],
        found: Keys,
        values: list[Any],
        embedding: Any,
        options: Mapping[str, Any],
        synonyms: SynonymRules | None,
        is_current: bool,
    ) -> None:
        self.every, self.names, self.values = every, found.living(), values
        self.embedding, self.options, self._found = embedding, options, found
        self.scorer, self._is_current = options["scorer"], is_current
        #: The scorer of vectors, None where letters alone are compared; and the name of that for
        #: which Q and K are learned, None if they are learned for none.
        self.by = None
        if not is_spelling(self.scorer):
            self.by = as_scorer("cosine" if self.scorer is None else self.scorer)
        by_dot = "scaled_dot" if isinstance(self.by, ScaledDot | Dot) else None
        self.loss = "cosine" if isinstance(self.by, Cosine) else by_dot
        cutoff: float | None = options["score_cutoff"]
        self.cutoff = as_score(self.scorer).score_cutoff if cutoff is None else cutoff
        self.nothing = Learned(temperature=options["temperature"], scorer=self.scorer)
        self.projections = as_projections(options["projections"]) or Projections()
        none = embedding is None or self.projections.is_identity
        self.meaning = Meaning(embedding, None if none else self.projections, synonyms)

    @cached_property
    def keys(self) -> Keys:
        """The keys that can be compared, projected as the options say."""
        found = self._found
        if self._is_current and not len(found.dead):
            return found
        vectors = (
            found.vectors[found.alive] if self._is_current else self.meaning.of_keys(self.names)
        )
        return Keys.of(self.meaning.table, self.names, vectors)

    def asked(self, texts: Sequence[str], scorer: Any) -> Asked:
        """Return queries as a scorer compares them."""
        queries = self.meaning.queries(texts)
        if scorer is None:
            return Asked(queries, self.meaning.of_queries(queries, self.keys))
        return Asked(queries, self.meaning.of_texts(texts))

    def learned_for(self, scorer: Any, learned: Learned) -> Learned:
        """Return what was learned by a loss for a scorer: of another scale, it may be."""
        temperature, scale = learned.temperature, getattr(self.by, "scale", 1.0)
        if scorer is None:
            temperature = None
        elif self.loss == "scaled_dot" and scale is not None and temperature is not None:
            # The scale is 1 for a plain dot, and None for E^-0.5.
            temperature = float(temperature * scale * self.keys.vectors.shape[1] ** 0.5)
        return learned._replace(scorer=scorer, temperature=temperature)

    def options_of(self, learned: Learned) -> dict[str, Any]:
        """Return the learned options by name."""
        options: dict[str, Any] = {}
        if not learned.projections.is_identity:
            made = self.projections.then(learned.projections)
            try:
                name: str | None = self.embedding.fingerprint()["name"]
            except Exception:  # of a user's function, which may know its own texts alone
                name = None
            options["projections"] = Projections(made.query, made.key, made.value, embedding=name)
        if learned.scorer is not self.scorer:
            options |= {"scorer": learned.scorer, "score_cutoff": None}  # scores of another scale
        if learned.temperature not in (None, self.options["temperature"]):
            options["temperature"] = learned.temperature
        return options


class Asked(NamedTuple):
    """L queries as they are compared, and their vectors, (L, E), projected as the dict does it."""

    queries: list[Query]
    vectors: Array

    def some(self, rows: NDArray[np.intp]) -> Asked:
        """Return those in some rows."""
        return Asked([self.queries[row] for row in rows.tolist()], self.vectors[rows])


# ---- the examples ----------------------------------------------------------------------------


#: A query, and the places of its right keys, maybe none.
Example: TypeAlias = tuple[str, frozenset[int]]


def checked_examples(
    queries: Iterable[str] | Mapping[str, Any], targets: Iterable[Any] | None, state: DictState
) -> list[Example] | tuple[list[str], NDArray[np.float64]]:
    """Return the examples, or queries and what each should pool, (L, *shape).

    A query without letters or digits that should find no key is left out: it finds none anyway.
    What is wrong with them is raised as `FuzzyDict.fit` documents.
    """
    asked, wanted = _as_lists(queries, targets)
    places = {name: place for place, name in enumerate(state.names)}
    right = [
        _right_keys(place, *pair, places, state.every)
        for place, pair in enumerate(zip(asked, wanted, strict=True))
    ]
    if all(keys is None for keys in right):
        return asked, _numbers(asked, wanted)
    if None in right:
        a, b = right.index(None), next(i for i, keys in enumerate(right) if keys is not None)
        raise ArgumentTypeError(
            f"targets: expected keys (or None) for all queries, or numbers for all, got "
            f"{quoted(wanted[a])} for {quoted(asked[a])} and {quoted(wanted[b])} for "
            f"{quoted(asked[b])}"
        )
    examples = [one for one in zip(asked, right, strict=True) if plain(one[0])]
    if not examples:
        raise OptionError(
            "queries: none has letters or digits, so that none finds a key; leave them out"
        )
    return [(query, keys) for query, keys in examples if keys is not None]


def _as_lists(queries: Any, targets: Any) -> tuple[list[Any], list[Any]]:
    """Return the queries and their targets, as many of each."""
    if isinstance(queries, Mapping):
        if targets is not None:
            raise ArgumentTypeError(
                "targets: leave targets out, because the mapping of queries has them, or give "
                "list(queries)"
            )
        queries, targets = list(queries), [queries[query] for query in queries]
    for name, given in (("queries", queries), ("targets", targets)):
        if name == "targets" and given is None:
            raise ArgumentTypeError(
                "targets: missing; give one for each query, or queries as a mapping {query: target}"
            )
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise ArgumentTypeError(
                f"{name}: expected a list, one for each query, got {quoted(given)}"
            )
    asked, wanted = list(queries), list(targets)
    if len(asked) != len(wanted):
        raise ShapeError(
            f"queries and targets: expected a target for each query, got {len(asked)} queries and "
            f"{len(wanted)} targets"
        )
    if not asked:
        raise OptionError("queries: there are no examples; expected one or more")
    return asked, wanted


def _right_keys(
    place: int, query: Any, target: Any, places: Mapping[str, int], every: Collection[Any]
) -> frozenset[int] | None:
    """Return the places of the right keys of a query, or None if it has numbers to pool."""
    if not isinstance(query, str):
        raise ArgumentTypeError(
            f"queries: expected texts, got {type(query).__name__} {quoted(query)} at {place}"
        )
    if target is not None and not plain(query):
        raise OptionError(
            f"queries: {quoted(query)} at {place} has no letters or digits to compare; leave it out"
        )
    wanted: Collection[Any] = () if target is None else (target,)
    if isinstance(target, list | tuple | set | frozenset):
        wanted = target
        if not target:
            raise OptionError(
                f"targets: number {place} is empty; give the right keys, or None if none is right"
            )
    others = [key for key in wanted if not isinstance(key, str)]
    if others and len(others) == len(wanted):
        return None
    if others:
        raise ArgumentTypeError(
            f"targets: number {place} has keys and {quoted(others[0])}; expected one or the other"
        )
    for key in wanted:
        if key not in places:
            why = (
                "has no letters or digits, and only an equal query finds it; leave the example out"
                if key in every
                else "is not a key of the dict; add it or correct it (keys are exact here)"
            )
            raise OptionError(f"targets: {quoted(key)}, for the query {quoted(query)}, {why}")
    right = frozenset(places[key] for key in wanted)
    if query in places and places[query] not in right:
        raise OptionError(
            f"targets: got {quoted(target)} for {quoted(query)}, but it is a key and always finds "
            f"itself; leave the example out"
        )
    return right


def _numbers(queries: Sequence[str], targets: Sequence[Any]) -> NDArray[np.float64]:
    """Return what each query should pool, (L, *shape)."""
    rows: list[NDArray[np.float64]] = []
    for query, target in zip(queries, targets, strict=True):
        name = f"target of {quoted(query)}"
        row = as_floats(**{name: target})[0].astype(np.float64)
        if not np.isfinite(row).all():
            raise ShapeError(f"{name}: expected finite numbers, got NaN or infinity")
        if rows and row.shape != rows[0].shape:
            raise ShapeError(
                f"{name} has shape {row.shape}, but that of {quoted(queries[0])} is "
                f"{rows[0].shape}; expected targets of one shape"
            )
        rows.append(row)
    return np.stack(rows)


def _together(
    examples: Sequence[Example], names: Sequence[str], *, remember: bool
) -> dict[str, NDArray[np.intp]]:
    """Return each query once, with the keys that any of its examples has.

    To remember, it is each text, as `same_text` has it, with the keys that all its examples have.
    """
    found: dict[str, Example] = {}
    for query, right in examples:
        text = same_text(query) if remember else query
        first, before = found.get(text, (query, right))
        both = before & right if remember else before | right
        if bool(before) != bool(right) or (before and not both):
            one, other = (
                " or ".join(quoted(names[i]) for i in sorted(keys)) or "None"
                for keys in (before, right)
            )
            raise OptionError(
                f"targets: {quoted(first)} is to find {one}, but {quoted(query)} is to find "
                f"{other}, and they are the same text; keep one, or give a list of right keys"
            )
        found[text] = first, both
    return {query: np.array(sorted(right), np.intp) for query, right in found.values()}


# ---- how they are learned from, and asked ------------------------------------------------------

_LEAST = -20.0  # a log-probability, so that one example does not outweigh all others
_AT_ONCE = 128  # queries that are compared at a time


def _scores(
    state: DictState, learned: Learned, asked: Asked, rights: Sequence[Any]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]]:
    """Yield of some queries at a time, to bound memory, what is known of each key, (l, S).

    This is whether it is right, and its score, or the logarithm of its probability. At last comes
    the score of the best key if those that are right were not in the dict, (l,).
    """
    score, layer = as_score(learned.scorer), learned.projections
    keys, meaning = state.keys, state.meaning
    if not layer.is_identity:
        vectors = layer.project_keys(keys.vectors)
        keys = keys.with_vectors(vectors.astype(np.float32, copy=False))
    for some in slices(len(rights), int(np.clip(2**21 // len(keys), 1, _AT_ONCE))):
        queries = asked.queries[some]
        vectors = layer.project_queries(asked.vectors[some]).astype(np.float32, copy=False)
        right = np.zeros((len(queries), len(keys)), np.bool_)
        for row, places in enumerate(rights[some]):
            right[row, places] = True
        if isinstance(score, NamedScore):
            scores = score.scores(vectors, keys).astype(np.float64)
            yield right, scores, scores.max(1, where=~right, initial=-np.inf)
            continue
        judge = meaning.judge
        seen = glance(queries, keys, vectors, judge.glance, is_encoded=meaning.is_encoded)
        found = candidates(seen)
        features = align(queries, keys, found, judge.pair)
        hashes = keys.hashes[found.slots]
        said = judge.judge(features, hashes)
        others = ~np.take_along_axis(right, found.slots, 1)
        there = np.asarray(others.any(1))
        otherwise = judge.judge(features, hashes, others | ~there[:, None]).of_best()
        logs = judge.log_probabilities(said, found.slots, seen.odds)
        yield right, logs, np.where(there, otherwise, -np.inf)


class _Keyed:
    """Queries that should find keys, or none.

    Of ``many`` examples or more one part is held out, of fewer each in turn; of either of the
    ``kinds`` the same share. A step compares queries with ``keys_a_step`` at most.
    """

    many, keys_a_step = 500, Settings.candidates

    def __init__(self, state: DictState, examples: Mapping[str, NDArray[np.intp]]) -> None:
        self.state, self.texts, self.right = state, list(examples), list(examples.values())
        self.asked = state.asked(self.texts, state.scorer)
        self.kinds = np.array([not len(keys) for keys in self.right])

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q and K by which queries find each of their right keys."""
        pairs = [(row, key) for row in np.sort(rows) for key in self.right[row]]
        if not pairs:
            return self.state.nothing
        rows, right = np.array(pairs, np.intp).T
        each = np.stack([np.arange(len(rows)), right], axis=1)
        x, keys = self.asked.vectors[rows], self.state.keys.vectors
        learned = fit_retrieval(x, keys, each, settings)
        return self.state.learned_for(self.state.scorer, learned)

    def ask(self, learned: Learned, rows: NDArray[np.intp], rights: Any = None) -> Answers:
        """Return the answers to those in some rows; other right keys may be given."""
        score, blocks = as_score(learned.scorer), list[tuple[Any, ...]]()
        temperature = learned.temperature or score.temperature
        rights = [self.right[row] for row in rows] if rights is None else rights
        for right, found, otherwise in _scores(self.state, learned, self.asked.some(rows), rights):
            of_right, has_key = np.where(right, found, -np.inf), right.any(1)
            best, nearest, top = found.argmax(1), of_right.argmax(1), found.max(1)
            rank = 1 + np.count_nonzero(found > of_right.max(1)[:, None], axis=1)
            rank += (rank == 1) & ~right[np.arange(len(best)), best]  # of keys that tie, the first
            if isinstance(score, NamedScore):
                total = np.logaddexp.reduce(found / temperature, axis=1)
                logs = np.logaddexp.reduce(of_right / temperature, axis=1) - total
                none = np.zeros(len(best))
            else:
                logs, top = np.logaddexp.reduce(of_right, axis=1), np.exp(np.minimum(top, 0))
                none = np.log(np.maximum(1 - np.exp(found).sum(1), np.exp(_LEAST)))
            logs = np.where(has_key, np.maximum(logs, _LEAST), none)
            blocks.append((np.where(has_key, rank, 0), logs, best, top, nearest, otherwise))
        return Answers(*map(np.concatenate, zip(*blocks, strict=True)))

    def aliases(
        self, learned: Learned, texts: Mapping[str, NDArray[np.intp]]
    ) -> dict[str, str | None]:
        """Return the key of each text, or None: of several right keys, the nearest."""
        names = self.state.names
        found = {text: names[min(right)] if len(right) else None for text, right in texts.items()}
        if several := {text: right for text, right in texts.items() if len(right) > 1}:
            row_of = {text: row for row, text in enumerate(self.texts)}
            rows = np.array([row_of[text] for text in several])
            nearest = self.ask(learned, rows, list(several.values())).nearest
            found |= {text: names[key] for text, key in zip(several, nearest, strict=True)}
        return found


class _Valued:
    """Queries that should pool numbers; its attributes are those of `_Keyed`."""

    many = 100  # an error of a value says more than a rank does
    keys_a_step = sys.maxsize

    def __init__(self, state: DictState, texts: list[str], targets: NDArray[np.float64]) -> None:
        self.state, self.texts, self.kinds = state, texts, np.zeros(len(texts), np.bool_)
        values = StackedValues(state.names, state.values, state.embedding).array()
        if values.shape[1:] != targets.shape[1:]:
            raise ShapeError(
                f"targets: expected the shape {values.shape[1:]} of what is pooled, "
                f"got {targets.shape[1:]}"
            )
        self.values = values.reshape(len(values), -1)
        self.targets = targets.reshape(len(texts), -1)
        # The cosine takes the place of the default score: a weighted mean of values needs weights,
        # not the probability that a key is right; and it lets words weigh otherwise.
        self.scorer = "cosine" if state.scorer is None else state.scorer
        self.before = self.asked = state.asked(texts, state.scorer)
        if state.scorer is None:
            self.asked = state.asked(texts, self.scorer)

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q, K and a temperature (and V) by which queries pool their targets."""
        x, y = self.asked.vectors[rows], self.state.keys.vectors
        learned = fit_pooling(x, y, self.values, self.targets[rows], settings)
        return self.state.learned_for(self.scorer, learned)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Errors:
        """Return the errors of those in some rows."""
        asked = self.before if learned.scorer is self.state.scorer else self.asked
        temperature = learned.temperature or as_score(learned.scorer).temperature
        nothing = [np.array([], np.intp)] * len(rows)
        pooled = [
            softmax(found, temperature) @ self.values
            for _, found, _ in _scores(self.state, learned, asked.some(rows), nothing)
        ]
        values = np.asarray(learned.projections.project_values(np.concatenate(pooled)), np.float64)
        return Errors(np.sqrt(np.square(values - self.targets[rows]).mean(axis=1)))


# ---- from examples to a report ---------------------------------------------------------------

_VALIDATION = 0.2
_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out
_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_SCORES = 2**23  # queries times keys that are compared before and after
# Multiplications of a product that take milliseconds in one thread, and no less in several, which
# wait for each other on a busy machine.
_FEW = 2**27
_ONE_AT_A_TIME = RLock()  # for the number of threads is that of the whole process


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> tuple[FitReport, dict[str, str | None]]:
    """Learn from examples as `FuzzyDict.fit` documents; the dict itself does not change.

    Return the report, and what to remember: for each query a key, or None for "no key".
    """
    given, shown = checked_examples(queries, targets, state), state.by or state.scorer
    if state.loss is None and (isinstance(given, tuple) or not plan.remember):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {shown!r}; set d.scorer to one of these first"
        )
    if isinstance(given, tuple):
        return _learn(_Valued(state, *given), plan, None)[0], {}
    texts, own, why_not = {}, set(state.names), None
    if plan.remember:  # a key needs no alias: it finds itself
        every = _together(given, state.names, remember=True)
        texts = {text: right for text, right in every.items() if text not in own}
    task = _Keyed(state, _together(given, state.names, remember=False))
    if task.kinds.all():
        why_not = "no example has a key"
        if not plan.remember:
            raise OptionError(
                "targets: expected a key for at least one query, got None for all; add a query "
                "that has a key, or give remember=True"
            )
    elif state.loss is None:
        why_not = f"no Q and K are learned for the scorer {shown!r}"
    elif len(task.texts) < ENOUGH and plan.validation is None:
        why_not = (
            f"there are fewer than {ENOUGH} examples, too few to learn what other queries "
            f"mean; set validation to 0 to learn from them anyway"
        )
    report, learned = _learn(task, plan, why_not)
    aliases = task.aliases(learned if report.kept else state.nothing, texts)
    refused = sum(key is None for key in aliases.values())
    return replace(report, remembered=len(aliases), refused=refused), aliases


def split(
    kinds: NDArray[np.bool_], share: float, random: np.random.Generator, *, many: int, most: int
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part; each part has its share of either kind.

    Of ``many`` examples or more one part is held out, their ``share`` or ``most`` of them; of fewer
    each in one of five parts; with a share of 0, none.
    """
    count = len(kinds)
    if count < _TOO_FEW or not share:
        return []
    order = [random.permutation(np.flatnonzero(kinds == kind)) for kind in (0, 1)]
    if count < many:
        folds = min(count, _FOLDS)
        return [np.concatenate(order)[place::folds] for place in range(folds)]
    share = min(share, most / count)
    held = [min(round(share * len(rows)) or 1, len(rows) - 1) for rows in order]  # one is left
    return [np.concatenate([rows[: max(n, 0)] for rows, n in zip(order, held, strict=True)])]


def _learn(task: _Keyed | _Valued, plan: Plan, why_not: str | None) -> tuple[FitReport, Learned]:
    """Train without each part of the examples, ask this part before and after, and report.

    If one part is held out, what is kept is what was trained without it, so that it is measured.
    """
    state, count, settings = task.state, len(task.texts), plan.settings(task)
    random, every = np.random.default_rng(plan.seed), np.arange(count)
    keys, size = state.keys.vectors.shape
    most = int(np.clip(_SCORES // keys, _LEAST_ASKED, _ASKED))
    held = _VALIDATION if plan.validation is None else plan.validation
    parts = split(task.kinds, 0 if why_not else held, random, many=task.many, most=most)
    stages = len(parts) + (len(parts) != 1)

    def tell(stage: int, done: int, steps: int) -> None:
        if plan.progress is not None:  # in thousandths of a stage
            plan.progress(1000 * stage + 1000 * done // steps, 1000 * stages)

    def train(rows: NDArray[np.intp], stage: int) -> Learned:
        with _threads(min(keys, task.keys_a_step) * size**2):
            return task.train(rows, replace(settings, progress=partial(tell, stage)))

    def ask(learned: Learned, rows: NDArray[np.intp]) -> Any:
        with _threads(keys * size * _AT_ONCE):
            return task.ask(learned, rows)

    folds = [train(np.setdiff1d(every, part), stage) for stage, part in enumerate(parts)]
    learned, kept, reason, held_out = state.nothing, False, why_not or "", None
    if folds:
        asked = [ask(fold, part) for fold, part in zip(folds, parts, strict=True)]
        after = type(asked[0])(*map(np.concatenate, zip(*asked, strict=True)))
        rows, learned = np.concatenate(parts), folds[-1]
        held_out = rows, ask(state.nothing, rows), after
        kept, reason = after.verdict(held_out[1], state.cutoff, held_out=True)
    if why_not is None and (not folds or (kept and len(folds) > 1)):
        learned = train(every, len(folds))
    rows = random.permutation(count)[:most]
    training = rows, ask(state.nothing, rows), ask(learned, rows)
    if why_not is None and not folds:
        kept, reason = training[2].verdict(training[1], state.cutoff, held_out=False)
    tell(stages - 1, 1, 1)
    return _report(task, learned, training, held_out, kept=kept, reason=reason), learned


def _report(
    task: _Keyed | _Valued, learned: Learned, training: Any, held_out: Any, **verdict: Any
) -> FitReport:
    """Return the report on the answers to the examples in some rows, before and after."""
    state, (rows, before, after) = task.state, held_out or training
    told = [
        [answers.measures(state.cutoff) for answers in some[1:]] if some else [Measures()] * 2
        for some in (training, held_out)
    ]
    changes = sorted(after.changes(before, state.keys.names), key=lambda one: -one[3])
    named = [(Change(task.texts[rows[i]], was, now), gain) for i, was, now, gain in changes]
    return FitReport(
        **verdict,
        examples=len(task.texts),
        validated=len(rows) if held_out else 0,
        training_before=told[0][0],
        training_after=told[0][1],
        held_out_before=told[1][0],
        held_out_after=told[1][1],
        history=learned.history,
        better=tuple(change for change, gain in named if gain > 0),
        worse=tuple(change for change, gain in named[::-1] if gain <= 0),
        options=state.options_of(learned),
    )


@contextmanager
def _threads(multiplications: int) -> Iterator[None]:
    """Let products of so many multiplications take one thread, if these are few."""
    if multiplications > _FEW:
        yield
    else:
        with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"):
            yield
