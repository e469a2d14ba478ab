"""What `FuzzyDict.fit` does: from examples to options that are kept, and a report.

The examples are checked, and their queries encoded once. If there are enough, some are held out, or
each in turn (`split`). Q and K are trained without these, which are asked before and after, without
what is remembered; `Answers.verdict` says whether to keep what was learned. If each was held out in
turn, or none, Q and K are trained on all.

    L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fuzzydict._arrays import as_floats, positive, share, slices, whole_number
from fuzzydict.embedding.projections import ROLES, Projections, as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning.report import Answers, Change, Errors, FitReport, Measures
from fuzzydict.learning.train import Learned, Settings, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import softmax
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.keys import Keys, Query
from fuzzydict.search.lookup import Exact, Listing
from fuzzydict.search.score import Meaning, NamedScore, as_score, is_spelling
from fuzzydict.search.taught import SynonymRules
from fuzzydict.text.words import plain, same_text

#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_COLDEST, _WARMEST = 0.03, 0.5  # limits of the temperature for the default score
_STEPS, _BATCH = 1000, 256  # enough steps to learn from values, and the examples of a step


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

    def settings(self, task: _Keyed | _Valued) -> Settings:
        """Return how to learn; OptionError if an argument does not go with keys or targets."""
        state, pools, size = task.state, isinstance(task, _Valued), task.state.keys.vectors.shape[1]
        checks: dict[str, Callable[[str, Any], Any]] = {
            "rank": partial(whole_number, most=size),
            "epochs": partial(whole_number, most=1_000_000),
            "learning_rate": partial(positive, most=100.0),  # it turns a vector by more than all
        }
        arguments = {name: getattr(self, name) for name in checks}
        given = {n: checks[n](n, one) for n, one in arguments.items() if one is not None}
        learn: Any = ("query", "key") if self.learn is None else self.learn
        roles: set[Any] = set()
        with suppress(TypeError):  # it is no list, or holds what cannot be hashed
            roles = {learn} if isinstance(learn, str) else set(learn)
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {quoted(learn)}")
        if "value" in roles and not pools:
            raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        options: dict[str, Any] = {"scorer": state.by, "roles": roles}
        options["seed"] = whole_number("seed", self.seed, least=0)
        start, by_cosine = 0.05, isinstance(state.by, Cosine)
        if pools:  # many long steps: an error of a value says little about which key is right
            epochs = int(np.clip(_STEPS * _BATCH // len(task.texts), 30, 100))
            options |= {"epochs": epochs, "patience": epochs // 5, "learning_rate": 0.1}
            options["identity_penalty"] = 3.0
            start = 0.15 if by_cosine else 1.0  # if low, only the best key gets a gradient
        elif state.scorer is None:  # a standard deviation more makes a key e times as likely
            spread = state.keys.background.spread
            options["temperature"] = float(np.clip(spread, _COLDEST, _WARMEST))
        scale = 1.0 if isinstance(state.by, Dot) else getattr(state.by, "scale", None)
        options["start_temperature"] = start if scale is None else start * scale * size**0.5
        if self.validation == 0 or not (pools or len(task.texts) >= task.many):
            options["validation"] = 0.0  # the loss of a few says little about when to stop early
        return Settings(**options | given)


@dataclass(kw_only=True)
class DictState:
    """A snapshot of a dict, from which learning starts."""

    every: Collection[Any]  # all its keys
    found: Keys  # those that can be compared
    values: list[Any]  # theirs
    embedding: Any  # None where texts are compared by their letters alone
    options: Mapping[str, Any]  # those that `fit` may set, as they are before it
    synonyms: SynonymRules | None
    is_current: bool  # whether the vectors of the keys are projected as the options say

    def __post_init__(self) -> None:
        self.names, self.scorer = self.found.living(), self.options["scorer"]
        #: What compares vectors; None where letters alone are compared.
        self.by = None
        if not is_spelling(self.scorer):
            self.by = as_scorer("cosine" if self.scorer is None else self.scorer)
        cutoff: float | None = self.options["score_cutoff"]
        self.cutoff = as_score(self.scorer).score_cutoff if cutoff is None else cutoff
        self.nothing = Learned(temperature=self.options["temperature"], scorer=self.scorer)
        self.projections = as_projections(self.options["projections"]) or Projections()
        none = self.embedding is None or self.projections.is_identity
        #: Whether Q and K are learned for this scorer.
        self.is_learned = isinstance(self.by, Cosine | ScaledDot | Dot)
        self.meaning = Meaning(self.embedding, None if none else self.projections, self.synonyms)

    @cached_property
    def keys(self) -> Keys:
        """The keys that can be compared, projected as the options say."""
        found, table = self.found, self.meaning.table
        if not self.is_current:
            return Keys.of(table, self.names, self.meaning.of_keys(self.names))
        return Keys.of(table, self.names, found.vectors[found.alive]) if len(found.dead) else found

    def asked(self, texts: Sequence[str], scorer: Any) -> list[Query]:
        """Return queries as a scorer compares them, with their vectors."""
        queries, meaning = self.meaning.queries(texts), self.meaning
        is_judged = scorer is None
        vectors = meaning.of_queries(queries, self.keys) if is_judged else meaning.of_texts(texts)
        return [one._replace(vector=vector) for one, vector in zip(queries, vectors, strict=True)]

    def options_of(self, learned: Learned) -> dict[str, Any]:
        """Return the learned options by name."""
        options: dict[str, Any] = {}
        if not learned.projections.is_identity:
            made, name = self.projections.then(learned.projections), None
            with suppress(Exception):  # of a user's function, which may know its own texts alone
                name = self.embedding.fingerprint()["name"]
            options["projections"] = Projections(made.query, made.key, made.value, embedding=name)
        if learned.scorer is not self.scorer:
            options |= {"scorer": learned.scorer, "score_cutoff": None}  # scores of another scale
        if learned.temperature not in (None, self.options["temperature"]):
            options["temperature"] = learned.temperature
        return options


#: A query, and the places of its right keys, maybe none.
Example: TypeAlias = tuple[str, frozenset[int]]


def checked_examples(
    queries: Iterable[str] | Mapping[str, Any], targets: Iterable[Any] | None, state: DictState
) -> list[Example] | tuple[list[str], NDArray[np.float64]]:
    """Return the examples, or queries and what each should pool, (L, *shape).

    A query without letters or digits that should find no key is left out: it finds none anyway.
    """
    if isinstance(queries, Mapping):
        if targets is not None:
            raise ArgumentTypeError(
                "targets: the mapping of queries has them; leave targets out, or give list(queries)"
            )
        targets, queries = list(queries.values()), list(queries)
    elif targets is None and not isinstance(queries, str):
        raise ArgumentTypeError("targets: missing; or give queries as a mapping {query: target}")
    for name, given in (("queries", queries), ("targets", targets)):
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            expected = "a list with one for each query"
            raise ArgumentTypeError(f"{name}: expected {expected}, got {quoted(given)}")
    asked, wanted = list(queries), list(targets)  # type: ignore[arg-type]
    if len(asked) != len(wanted):
        got = f"{len(asked)} queries and {len(wanted)} targets"
        raise ShapeError(f"queries and targets: expected a target for each query, got {got}")
    if not asked:
        raise OptionError("queries: there are no examples; expected one or more")
    places = {name: place for place, name in enumerate(state.names)}
    examples, of_numbers, of_keys = list[Example](), list[int](), list[int]()
    for i, (query, target) in enumerate(zip(asked, wanted, strict=True)):
        right = _right_keys(i, query, target, places, state.every)
        (of_numbers if right is None else of_keys).append(i)
        if right is not None and plain(query):
            examples.append((query, right))
    if of_numbers and of_keys:
        odd = (of_numbers[0], of_keys[0])
        got = " and ".join(f"{quoted(wanted[i])} for {quoted(asked[i])}" for i in odd)
        raise ArgumentTypeError(f"targets: expected keys (or None) or numbers for all, got {got}")
    if of_numbers:
        return asked, _numbers(asked, wanted)
    if not examples:
        why = "none has letters or digits, so that none finds a key"
        raise OptionError(f"queries: {why}; leave them out")
    return examples


def _right_keys(
    place: int, query: Any, target: Any, places: Mapping[str, int], every: Collection[Any]
) -> frozenset[int] | None:
    """Return the places of the right keys of a query, or None if it has numbers to pool."""
    if not isinstance(query, str):
        kind = type(query).__name__
        raise ArgumentTypeError(f"queries: expected texts, got {kind} {quoted(query)} at {place}")
    if target is not None and not plain(query):
        what = "has no letters or digits to compare"
        raise OptionError(f"queries: {quoted(query)} at {place} {what}; leave it out")
    wanted: Collection[Any] = () if target is None else (target,)
    if isinstance(target, list | tuple | set | frozenset):
        wanted = target
        if not target:
            raise OptionError(f"targets: number {place} is empty; give right keys, or None")
    others = [key for key in wanted if not isinstance(key, str)]
    if others and len(others) == len(wanted):
        return None
    if others:
        has = f"keys and {quoted(others[0])}"
        raise ArgumentTypeError(f"targets: number {place} has {has}; expected one or the other")
    for key in wanted:
        if key not in places:
            why = "is not a key of the dict; add it or correct it (keys are exact here)"
            if key in every:
                why = "has no letters or digits, and only an equal query finds it; leave it out"
            raise OptionError(f"targets: {quoted(key)}, for the query {quoted(query)}, {why}")
    right = frozenset(places[key] for key in wanted)
    if query in places and places[query] not in right:
        what = f"got {quoted(target)} for {quoted(query)}, but it is a key and always finds itself"
        raise OptionError(f"targets: {what}; leave the example out")
    return right


def _numbers(queries: Sequence[str], targets: Sequence[Any]) -> NDArray[np.float64]:
    """Return what each query should pool, (L, *shape)."""
    rows: list[NDArray[np.float64]] = []
    for query, target in zip(queries, targets, strict=True):
        name = f"target of {quoted(query)}"
        rows.append(as_floats(**{name: target})[0].astype(np.float64))
        if not np.isfinite(rows[-1]).all():
            raise ShapeError(f"{name}: expected finite numbers, got NaN or infinity")
        if rows[-1].shape != rows[0].shape:
            other = f"that of {quoted(queries[0])} {rows[0].shape}"
            raise ShapeError(f"{name} has shape {rows[-1].shape}, {other}; give them one shape")
    return np.stack(rows)


def _together(
    examples: Sequence[Example], names: Sequence[str], *, remember: bool
) -> dict[str, frozenset[int]]:
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
    return dict(found.values())


_LEAST = -20.0  # a log-probability, so that one example does not outweigh all others
_AT_ONCE = 128  # queries that are compared at a time


def _scores(
    state: DictState, learned: Learned, asked: Sequence[Query], rights: Sequence[Collection[int]]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]]:
    """Yield of some queries at a time, to bound memory, what is known of each key, (l, S).

    This is whether it is right, and its score, or the logarithm of its probability. At last comes
    the score of the best key if those that are right were not in the dict, (l,).
    """
    layer, keys = learned.projections, state.keys
    if not layer.is_identity:
        vectors = layer.project_keys(keys.vectors)
        keys = keys.with_vectors(vectors.astype(np.float32, copy=False))
    lookup = Exact(keys, state.meaning, learned.scorer)
    for some in slices(len(rights), int(np.clip(2**21 // len(keys), 1, _AT_ONCE))):
        vectors = layer.project_queries(np.array([query.vector for query in asked[some]]))
        vectors = vectors.astype(np.float32, copy=False)
        right = np.zeros((len(vectors), len(keys)), np.bool_)
        for row, places in enumerate(rights[some]):
            right[row, list(places)] = True
        if isinstance(lookup.score, NamedScore):
            scores = lookup.score.scores(vectors, keys).astype(np.float64)
            yield right, scores, scores.max(1, where=~right, initial=-np.inf)
            continue
        pairs = zip(asked[some], vectors, strict=True)
        queries = [query._replace(vector=vector) for query, vector in pairs]
        slots, features, said, glanced = lookup.compared(Listing(queries, keys))
        others = ~np.take_along_axis(right, slots, 1)
        there, judge = np.asarray(others.any(1)), lookup.meaning.judge
        otherwise = judge.judge(features, keys.hashes[slots], others | ~there[:, None]).of_best()
        logs = judge.log_probabilities(said, slots, glanced)
        yield right, logs, np.where(there, otherwise, -np.inf)


class _Keyed:
    """Queries that should find keys, or none; of ``many`` or more, one part is held out."""

    many, answers = 500, Answers

    def __init__(self, state: DictState, examples: Mapping[str, frozenset[int]]) -> None:
        self.state, self.texts, self.right = state, list(examples), list(examples.values())
        self.asked = state.asked(self.texts, state.scorer)
        self.have_none = np.array([not keys for keys in self.right])

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q and K by which queries find each of their right keys."""
        pairs = [(row, key) for row in np.sort(rows) for key in sorted(self.right[row])]
        if not pairs:
            return self.state.nothing
        vectors = [self.asked[row].vector for row, _ in pairs]
        each = [(place, key) for place, (_, key) in enumerate(pairs)]
        learned = fit_retrieval(vectors, self.state.keys.vectors, each, settings)
        temperature = None if self.state.scorer is None else learned.temperature
        return learned._replace(scorer=self.state.scorer, temperature=temperature)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to those in some rows."""
        score, blocks = as_score(learned.scorer), list[tuple[Any, ...]]()
        temperature = learned.temperature or score.temperature
        asked, rights = ([of[row] for row in rows.tolist()] for of in (self.asked, self.right))
        for right, found, otherwise in _scores(self.state, learned, asked, rights):
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


class _Valued:
    """Queries that should pool numbers; its attributes are those of `_Keyed`."""

    many, answers = 100, Errors  # an error of a value says more than a rank does

    def __init__(self, state: DictState, texts: list[str], targets: NDArray[np.float64]) -> None:
        self.state, self.texts, self.have_none = state, texts, np.zeros(len(texts), np.bool_)
        values = StackedValues(state.names, state.values, state.embedding).array()
        if values.shape[1:] != targets.shape[1:]:
            shape = f"the shape {values.shape[1:]} of what is pooled"
            raise ShapeError(f"targets: expected {shape}, got {targets.shape[1:]}")
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
        vectors, keys = [self.asked[row].vector for row in rows], self.state.keys.vectors
        learned = fit_pooling(vectors, keys, self.values, self.targets[rows], settings)
        return learned._replace(scorer=self.scorer)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Errors:
        """Return the errors of those in some rows."""
        of = self.before if learned.scorer is self.state.scorer else self.asked
        temperature = learned.temperature or as_score(learned.scorer).temperature
        scores = _scores(self.state, learned, [of[row] for row in rows], [()] * len(rows))
        sums = [softmax(found, temperature) @ self.values for _, found, _ in scores]
        values = np.asarray(learned.projections.project_values(np.concatenate(sums)), np.float64)
        return Errors(np.sqrt(np.square(values - self.targets[rows]).mean(axis=1)))


_VALIDATION = 0.2
_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out
_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_SCORES = 2**23  # queries times keys that are compared before and after
# Multiplications of a step that take milliseconds in one thread, and no less in several, which
# wait for each other on a busy machine.
_FEW = 2**27
_ONE_AT_A_TIME = RLock()  # for the number of threads is that of the whole process


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> tuple[FitReport, dict[str, str | None]]:
    """Return the report of `FuzzyDict.fit`, and what to remember: for each query a key, or None."""
    given, names = checked_examples(queries, targets, state), state.names
    shown = state.scorer if state.by is None else state.by
    if not state.is_learned and (isinstance(given, tuple) or not plan.remember):
        may = "None (the default), 'cosine', 'scaled_dot' and 'dot'"
        got = f"got {shown!r}; set d.scorer to one of these first"
        raise OptionError(f"scorer: fit learns Q and K for {may}, {got}")
    if isinstance(given, tuple):
        return _learn(_Valued(state, *given), plan, None)[0], {}
    taught = _together(given, names, remember=True) if plan.remember else {}
    for own in taught.keys() & set(names):
        del taught[own]  # a key needs no alias: it finds itself
    task, why_not = _Keyed(state, _together(given, names, remember=False)), None
    if task.have_none.all():
        why_not = "no example has a key"
        if not plan.remember:
            why = "expected a key for at least one query, got None for all"
            raise OptionError(f"targets: {why}; add one, or give remember=True")
    elif not state.is_learned:
        why_not = f"no Q and K are learned for the scorer {shown!r}"
    elif len(task.texts) < ENOUGH and plan.validation is None:
        why_not = f"there are fewer than {ENOUGH} examples, too few to learn what other queries "
        why_not += "mean; set validation to 0 to learn from them anyway"
    report, learned = _learn(task, plan, why_not)
    aliases = {text: names[min(right)] if right else None for text, right in taught.items()}
    if several := {text: right for text, right in taught.items() if len(right) > 1}:
        options = learned if report.kept else state.nothing
        nearest = _Keyed(state, several).ask(options, np.arange(len(several))).nearest
        aliases |= {text: names[key] for text, key in zip(several, nearest, strict=True)}
    refused = sum(key is None for key in aliases.values())
    return replace(report, remembered=len(aliases), refused=refused), aliases


def split(
    have_none: NDArray[np.bool_], share: float, random: np.random.Generator, *, many: int, most: int
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part; each part has its share of those without a key.

    Of ``many`` examples or more one part is held out, their ``share`` or ``most`` of them; of fewer
    each in one of five parts; with a share of 0, none.
    """
    count = len(have_none)
    if count < _TOO_FEW or not share:
        return []
    kinds = [random.permutation(np.flatnonzero(have_none == kind)) for kind in (False, True)]
    rows, folds = np.concatenate(kinds), min(count, _FOLDS)
    if count < many:
        return [rows[place::folds] for place in range(folds)]
    held = int(np.clip(round(share * count), 1, most))
    return [rows[np.arange(held) * count // held]]


def _learn(task: _Keyed | _Valued, plan: Plan, why_not: str | None) -> tuple[FitReport, Learned]:
    """Train without each part of the examples, ask this part before and after, and report."""
    held = share("validation", _VALIDATION if plan.validation is None else plan.validation, 0.5)
    state, count, settings = task.state, len(task.texts), plan.settings(task)
    random, every = np.random.default_rng(plan.seed), np.arange(count)
    most = int(np.clip(_SCORES // len(state.keys), _LEAST_ASKED, _ASKED))
    parts = split(task.have_none, 0 if why_not else held, random, many=task.many, most=most)
    some = random.permutation(count)[:most]
    stages = len(parts) + (len(parts) != 1)

    def tell(stage: int, done: int, steps: int) -> None:
        if plan.progress is not None:  # in thousandths of a stage
            plan.progress(1000 * stage + 1000 * done // steps, 1000 * stages)

    def train(rows: NDArray[np.intp], stage: int) -> Learned:
        return task.train(rows, replace(settings, progress=partial(tell, stage)))

    before: Any
    after: Any
    learned, rows, kept, reason = state.nothing, some, False, why_not or ""
    held_out = [Measures()] * 2
    with ExitStack() as stack:
        if state.keys.vectors.size * max(state.keys.vectors.shape[1], _AT_ONCE) <= _FEW:
            stack.enter_context(_ONE_AT_A_TIME)
            stack.enter_context(threadpool_limits(1, user_api="blas"))
        if parts:
            folds = [train(np.setdiff1d(every, part), stage) for stage, part in enumerate(parts)]
            learned, rows = folds[-1], np.concatenate(parts)
            asked = map(task.ask, folds, parts)
            before = task.ask(state.nothing, rows)
            after = task.answers(*map(np.concatenate, zip(*asked, strict=True)))
            kept, reason = after.verdict(before, state.cutoff, held_out=True)
            held_out = [one.measures(state.cutoff) for one in (before, after)]
        if why_not is None and (not parts or (kept and len(parts) > 1)):
            learned = train(every, len(parts))
        training = [task.ask(options, some) for options in (state.nothing, learned)]
    if not parts:
        before, after = training
        if why_not is None:
            kept, reason = after.verdict(before, state.cutoff, held_out=False)
    tell(stages - 1, 1, 1)
    changes = sorted(after.changes(before, state.names), key=lambda one: -one[0])
    named = [(gain, Change(task.texts[rows[i]], was, now)) for gain, i, was, now in changes]
    report = FitReport(
        kept=kept,
        reason=reason,
        examples=count,
        validated=len(rows) if parts else 0,
        training_before=training[0].measures(state.cutoff),
        training_after=training[1].measures(state.cutoff),
        held_out_before=held_out[0],
        held_out_after=held_out[1],
        history=learned.history,
        better=tuple(change for gain, change in named if gain > 0),
        worse=tuple(change for gain, change in named[::-1] if gain <= 0),
        options=state.options_of(learned),
    )
    return report, learned
