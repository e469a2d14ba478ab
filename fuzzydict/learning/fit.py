"""What `FuzzyDict.fit` does: from examples to options that are kept, and a report.

Some examples are held out, or each in turn, and asked before and after training on the others;
`Answers.verdict` decides whether to keep what was learned.

L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fuzzydict._arrays import as_floats, positive, real_number, require_finite, slices, whole_number
from fuzzydict.embedding.projections import ROLES, Projections, as_projections
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning.report import Answers, Errors, FitReport, Measures
from fuzzydict.learning.train import Learned, Settings, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.nn.softmax import softmax
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.keys import Asked, Keys, Query
from fuzzydict.search.lookup import Exact, Listing
from fuzzydict.search.score import Meaning, NamedScore, as_score, is_spelling
from fuzzydict.search.taught import SynonymRules, refuse_key
from fuzzydict.text.words import plain, same_text

#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_LEAST_HELD_OUT = 4  # examples, of which some are held out
_FOLDS = 5  # parts of the examples that are held out in turn
_AT_ONCE = 128  # queries that are compared at a time
_LEAST = -20.0  # a log-probability, so that one example does not outweigh all others
# Multiplications of a step that take milliseconds in one thread, and no less in several, which
# wait for each other on a busy machine.
_FEW = 2**27
_ONE_AT_A_TIME = RLock()  # for the number of threads is that of the whole process


@dataclass(frozen=True)
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
        by = "cosine" if self.scorer is None else self.scorer
        #: What compares vectors; None where letters alone are compared.
        self.by = None if is_spelling(by) else as_scorer(by)
        self.projections = as_projections(self.options["projections"]) or Projections()
        none = self.embedding is None or self.projections.is_identity
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
        queries, meaning = self.meaning.table.queries(texts), self.meaning
        if scorer is None:
            vectors = meaning.of_queries(Asked.of(queries, self.keys))
        else:
            vectors = meaning.of_texts(texts)
        return [one._replace(vector=vector) for one, vector in zip(queries, vectors, strict=True)]


#: A query, and the places of its right keys, maybe none.
Example: TypeAlias = tuple[str, frozenset[int]]


def _checked(
    queries: Any, targets: Any, state: DictState
) -> list[Example] | tuple[list[str], NDArray[np.float64]]:
    """Return the examples, or queries and what each should pool, (L, *shape)."""
    if isinstance(queries, Mapping):
        if targets is not None:
            raise ArgumentTypeError(
                "targets: the mapping of queries has them; leave targets out, or give list(queries)"
            )
        queries, targets = list(queries), list(queries.values())
    for name, given in (("queries", queries), ("targets", targets)):
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            got = "missing" if given is None else f"got {quoted(given)}"
            raise ArgumentTypeError(
                f"{name}: {got}; expected a list with one for each query, or a mapping "
                f"{{query: target}} as queries"
            )
    queries, targets = list(queries), list(targets)
    if len(queries) != len(targets):
        got = f"{len(queries)} queries and {len(targets)} targets"
        raise ShapeError(f"queries and targets: expected a target for each query, got {got}")
    places = {name: place for place, name in enumerate(state.names)}
    examples, numbers = list[Example](), list[tuple[str, Any]]()
    for query, target in zip(queries, targets, strict=True):
        if not isinstance(query, str):
            kind = type(query).__name__
            raise ArgumentTypeError(f"queries: expected texts, got {kind} {quoted(query)}")
        several = isinstance(target, list | tuple | set | frozenset)
        wanted: Collection[Any] = target if several else () if target is None else (target,)
        if not plain(query) and target is not None:
            raise OptionError(f"queries: {quoted(query)} has no letters or digits; leave it out")
        if wanted and not any(isinstance(key, str) for key in wanted):
            numbers.append((query, target))
        elif plain(query):  # one without finds no key anyway
            examples.append((query, _right_keys(query, target, wanted, places, state)))
    if numbers and examples:
        (query, number), (other, _) = numbers[0], examples[0]
        got = f"{quoted(number)} for {quoted(query)}, and a key or None for {quoted(other)}"
        if isinstance(number, float) and math.isnan(number):
            got += "; where no key should match, give None in place of nan"
        raise ArgumentTypeError(f"targets: expected keys (or None) or numbers for all, got {got}")
    if numbers and all(isinstance(one, Real) and one in state.every for _, one in numbers):
        query, key = numbers[0]
        raise OptionError(
            f"targets: {quoted(key)}, for the query {quoted(query)}, is a key that is no text; fit "
            f"learns those that are texts: teach it by d.aliases[{quoted(query)}] = {quoted(key)}"
        )
    if numbers:
        rows = [as_floats(**{f"target of {quoted(query)}": one})[0] for query, one in numbers]
        (array,) = as_floats(targets=rows)
        require_finite(array, targets=array)
        return [query for query, _ in numbers], array.astype(np.float64)
    if not examples:
        raise OptionError("queries: there are no examples; expected one or more with letters")
    return examples


def _right_keys(
    query: str, target: Any, wanted: Collection[Any], places: Mapping[str, int], state: DictState
) -> frozenset[int]:
    """Return the places of the keys that are ``wanted`` for a query, or raise."""
    about = f"targets: {quoted(target)} for the query"
    if target is not None and not wanted:
        raise OptionError(f"{about} {quoted(query)} is empty; give right keys, or None")
    for key in wanted:
        if not isinstance(key, str):
            has = f"keys and {quoted(key)}"
            raise ArgumentTypeError(f"{about} {quoted(query)} has {has}; expected one or the other")
        if key not in places:
            why = "is not a key of the dict; add it or correct it (keys are exact here)"
            if key in state.every:
                why = "has no letters or digits, and only an equal query finds it; leave it out"
            raise OptionError(f"targets: {quoted(key)}, for the query {quoted(query)}, {why}")
    refuse_key(about, query, wanted, places)
    return frozenset(places[key] for key in wanted)


def _together(
    examples: Sequence[Example], names: Sequence[str], *, remember: bool
) -> dict[str, frozenset[int]]:
    """Return each query once, with the keys of any of its examples; to remember, those of all."""
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


# ---- what is trained, and asked before and after -----------------------------------------------


class _Keyed:
    """Queries that should find keys, or none; of ``many`` or more, one part is held out."""

    many, answers = 500, Answers

    def __init__(self, state: DictState, examples: Mapping[str, frozenset[int]]) -> None:
        self.state, self.texts, self.right = state, list(examples), list(examples.values())
        self.asked = state.asked(self.texts, state.scorer)
        self.have_none = np.array([not keys for keys in self.right])

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q and K by which queries find each of their right keys."""
        scorer = self.state.scorer
        pairs = [(row, key) for row in np.sort(rows) for key in sorted(self.right[row])]
        if not pairs:
            return Learned(temperature=self.state.options["temperature"], scorer=scorer)
        vectors = [self.asked[row].vector for row, _ in pairs]
        right = np.array([key for _, key in pairs])
        learned = fit_retrieval(vectors, self.state.keys.vectors, right, settings)
        temperature = None if scorer is None else learned.temperature
        return learned._replace(scorer=scorer, temperature=temperature)

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


def _scores(
    state: DictState, learned: Learned, asked: Sequence[Query], rights: Sequence[Collection[int]]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]]:
    """Yield of some queries which keys are right, and scores or logs of probabilities, (l, S).

    At last comes the score of the best key if those that are right were not in the dict, (l,).
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


def _settings(task: _Keyed | _Valued, plan: Plan) -> Settings:
    """Return how to learn; OptionError if an argument does not go with keys or targets."""
    state, pools, count = task.state, isinstance(task, _Valued), len(task.texts)
    size, start = state.keys.vectors.shape[1], 0.05
    options: dict[str, Any] = {"scorer": state.by, "seed": whole_number("seed", plan.seed, least=0)}
    learn: Any = ("query", "key") if plan.learn is None else plan.learn
    roles: set[Any] = set()
    with suppress(TypeError):  # it is no list, or holds what cannot be hashed
        roles = {learn} if isinstance(learn, str) else set(learn)
    if not roles or not roles <= set(ROLES):
        expected = ", ".join(map(repr, ROLES))
        raise OptionError(f"learn: expected some of {expected}, got {quoted(learn)}")
    if "value" in roles and not pools:
        raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
    if pools:  # many long steps: an error of a value says little about which key is right
        epochs = int(np.clip(256_000 // count, 30, 100))  # a thousand steps of 256 examples
        options |= {"epochs": epochs, "patience": epochs // 5, "learning_rate": 0.1}
        options["identity_penalty"] = 3.0
        # If low, only the best key gets a gradient.
        start = 0.15 if isinstance(state.by, Cosine) else 1.0
    elif state.scorer is None:  # a standard deviation more makes a key e times as likely
        options["temperature"] = float(np.clip(state.keys.background.spread, 0.03, 0.5))
    scale = 1.0 if isinstance(state.by, Dot) else getattr(state.by, "scale", None)
    options["start_temperature"] = start if scale is None else start * scale * size**0.5
    if plan.validation == 0 or not (pools or count >= task.many):
        options["validation"] = 0.0  # the loss of a few says little about when to stop early
    if plan.rank is not None:
        options["rank"] = whole_number("rank", plan.rank, most=size)
    if plan.epochs is not None:
        options["epochs"] = whole_number("epochs", plan.epochs, most=1_000_000)
    if plan.learning_rate is not None:  # a larger one turns a vector by more than all
        options["learning_rate"] = positive("learning_rate", plan.learning_rate, most=100.0)
    return Settings(roles=roles, **options)


# ---- the fit ----------------------------------------------------------------------------------


def learn_from(
    state: DictState, queries: Any, targets: Any, plan: Plan
) -> tuple[FitReport, dict[str, str | None]]:
    """Return the report of `FuzzyDict.fit`, and what to remember: for each query a key, or None."""
    given = _checked(queries, targets, state)
    is_learned = isinstance(state.by, Cosine | ScaledDot | Dot)
    shown, names = state.scorer if state.by is None else state.by, state.names
    if not is_learned and (isinstance(given, tuple) or not plan.remember):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {shown!r}; set d.scorer to one of these first"
        )
    if isinstance(given, tuple):
        valued, why_not = _Valued(state, *given), ""
        if len(valued.texts) < _LEAST_HELD_OUT and plan.validation is None:
            why_not = _too_few(_LEAST_HELD_OUT, "hold one out")
        return _learn(valued, plan, why_not)[0], {}
    taught = _together(given, names, remember=True) if plan.remember else {}
    for own in taught.keys() & set(names):
        del taught[own]  # a key needs no alias: it finds itself
    task, why_not = _Keyed(state, _together(given, names, remember=False)), ""
    if task.have_none.all():
        why_not = "no example has a key"
        if not plan.remember:
            why = "expected a key for at least one query, got None for all"
            raise OptionError(f"targets: {why}; add one, or give remember=True")
    elif not is_learned:
        why_not = f"no Q and K are learned for the scorer {shown!r}"
    elif len(task.texts) < ENOUGH and plan.validation is None:
        why_not = _too_few(ENOUGH, "learn what other queries mean")
    report, answering = _learn(task, plan, why_not)
    aliases = {text: names[min(right)] if right else None for text, right in taught.items()}
    if several := {text: right for text, right in taught.items() if len(right) > 1}:
        nearest = _Keyed(state, several).ask(answering, np.arange(len(several))).nearest
        aliases |= {text: names[key] for text, key in zip(several, nearest, strict=True)}
    refused = sum(key is None for key in aliases.values())
    return replace(report, remembered=len(aliases), refused=refused), aliases


def _too_few(least: int, purpose: str) -> str:
    """Return why fewer examples than the least are not learned from."""
    why_not = f"there are fewer than {least} examples, too few to {purpose}"
    return f"{why_not}; set validation to 0 to learn from them anyway"


def _learn(task: Any, plan: Plan, why_not: str) -> tuple[FitReport, Learned]:
    """Return the report, and how the dict answers afterwards; learn nothing if there is a why not.

    Each part that is held out is asked before, and after training on all but this part, without
    what is remembered. If each was held out in turn, or none, the last training is on all.
    """
    held = 0.2 if plan.validation is None else plan.validation
    held = real_number("validation", held, "a share from 0 to 0.5", 0.0, 0.5)
    state, every, settings = task.state, np.arange(len(task.texts)), _settings(task, plan)
    (size, width), random = state.keys.vectors.shape, np.random.default_rng(plan.seed)
    most = int(np.clip(2**23 // size, 32, 256))  # examples to ask; fewer if there are many keys
    parts = [] if why_not else _parts(task, held, random, most)
    rows, stages = random.permutation(every)[:most], len(parts) + (len(parts) != 1)

    def tell(stage: int, done: int, steps: int) -> None:
        if plan.progress is not None:  # in thousandths of a stage
            plan.progress(1000 * stage + 1000 * done // steps, 1000 * stages)

    def train(some: NDArray[np.intp], stage: int) -> Learned:
        return task.train(some, replace(settings, progress=partial(tell, stage)))  # type: ignore[no-any-return]

    learned = nothing = Learned(temperature=state.options["temperature"], scorer=state.scorer)
    cutoff, kept, reason = state.options["score_cutoff"], False, why_not
    if cutoff is None:
        cutoff = as_score(state.scorer).score_cutoff
    of_parts: list[Any] = []  # the answers to what is held out, before and after
    few = size * width * max(width, _AT_ONCE) <= _FEW
    one_thread = threadpool_limits(1 if few else None, user_api="blas")
    with _ONE_AT_A_TIME if few else nullcontext(), one_thread:
        if parts:
            folds = [train(np.setdiff1d(every, part), stage) for stage, part in enumerate(parts)]
            asked = zip(*map(task.ask, folds, parts), strict=True)
            after = task.answers(*map(np.concatenate, asked))
            of_parts = [task.ask(nothing, np.concatenate(parts)), after]
            kept, reason = after.verdict(of_parts[0], cutoff, held_out=True)
            learned = folds[-1]
        if not why_not and (not parts or (kept and len(parts) > 1)):
            learned = train(every, len(parts))
        of_all = [task.ask(options, rows) for options in (nothing, learned)]
    if not parts and not why_not:
        kept, reason = of_all[1].verdict(of_all[0], cutoff, held_out=False)
    tell(stages - 1, 1, 1)
    before, after = of_parts or of_all
    texts = [task.texts[row] for row in (np.concatenate(parts) if parts else rows)]
    changes = sorted(after.changes(before, state.names, texts), key=lambda one: -one[0])
    measures = [one.measures(cutoff) for one in [*of_all, *of_parts]] + [Measures()] * 2
    report = FitReport(
        kept=kept,
        reason=reason,
        examples=len(every),
        validated=sum(map(len, parts)),
        training_before=measures[0],
        training_after=measures[1],
        held_out_before=measures[2],
        held_out_after=measures[3],
        history=learned.history,
        better=tuple(change for gain, change in changes if gain > 0),
        worse=tuple(change for gain, change in changes[::-1] if gain <= 0),
        options=_options_of(state, learned),
    )
    return report, learned if kept else nothing


def _parts(
    task: Any, held: float, random: np.random.Generator, most: int
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part; each part has its share of those without a key."""
    count, have_none = len(task.texts), task.have_none
    if count < _LEAST_HELD_OUT or not held:
        return []
    kinds = [random.permutation(np.flatnonzero(have_none == kind)) for kind in (False, True)]
    rows, folds = np.concatenate(kinds), min(count, _FOLDS)
    if count < task.many:  # each is held out once
        return [rows[place::folds] for place in range(folds)]
    size = int(np.clip(round(held * count), 1, most))  # one part: the share, or ``most`` of them
    return [rows[np.arange(size) * count // size]]


def _options_of(state: DictState, learned: Learned) -> dict[str, Any]:
    """Return the learned options by name."""
    options: dict[str, Any] = {}
    if not learned.projections.is_identity:
        made, name = state.projections.then(learned.projections), None
        with suppress(Exception):  # of a user's function, which may know its own texts alone
            name = state.embedding.fingerprint()["name"]
        options["projections"] = Projections(made.query, made.key, made.value, embedding=name)
    if learned.scorer is not state.scorer:
        options |= {"scorer": learned.scorer, "score_cutoff": None}  # scores of another scale
    if learned.temperature not in (None, state.options["temperature"]):
        options["temperature"] = learned.temperature
    return options
