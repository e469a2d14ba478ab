"""What `FuzzyDict.fit` does: from examples to options that are kept, and a report.

1. `learn_from` checks the examples, and encodes their queries once.
2. If there are enough, some are held out, or each in turn (`split`).
3. Q and K are trained without these. The held-out examples are asked before and after, without
   what is remembered, and `Answers.verdict` says whether to keep what was learned.
4. If each was held out in turn, or none, Q and K are trained on all.
5. `learn_from` says which key each text is to be another name of.

    L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fuzzydict._arrays import as_floats, positive, share, whole_number
from fuzzydict.embedding.projections import ROLES
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning.candidate import AT_ONCE, Answers, Candidate, DictState, Errors, Learned
from fuzzydict.learning.report import Change, FitReport, Measures
from fuzzydict.learning.train import Settings, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.score import is_spelling
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from numpy.typing import NDArray


# ---- the arguments ---------------------------------------------------------------------------

#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_VALIDATION = 0.2
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
    warm_start: bool = False

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            given = getattr(self, name)
            if given is not None or name == "seed":
                object.__setattr__(self, name, check(name, given))

    @property
    def share(self) -> float:
        """The share of the examples to hold out."""
        return _VALIDATION if self.validation is None else self.validation

    def settings(self, task: _Keyed | _Valued) -> Settings:
        """Return how to learn from examples.

        Raises:
            OptionError: an argument does not go with the scorer, the keys or the targets.
        """
        count, pools = len(task.texts), isinstance(task, _Valued)
        if self.rank is not None:
            whole_number("rank", self.rank, most=task.state.keys.vectors.shape[1])
        settings = Settings(roles=self._roles(pools=pools), seed=self.seed)
        if pools:  # many long steps: an error of a value says little about which key is right
            epochs = int(np.clip(_STEPS * _BATCH // count, 30, 100))
            settings = replace(settings, epochs=epochs, patience=epochs // 5)
            settings = replace(settings, learning_rate=0.1, identity_penalty=3.0)
        if not self.share or not (pools or count >= task.many):
            # All are learned from: the loss of a few says little about when to stop early.
            settings = replace(settings, validation=0.0)
        given = {name: getattr(self, name) for name in ("rank", "epochs", "learning_rate")}
        return replace(settings, **{name: one for name, one in given.items() if one is not None})

    def _roles(self, *, pools: bool) -> set[str]:
        """Return which of Q, K and V to learn."""
        if self.learn is None:
            return {"query", "key"}
        try:
            roles = {self.learn} if isinstance(self.learn, str) else set(self.learn)
        except Exception:  # it is no list, or holds what cannot be hashed
            roles = set()
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {quoted(self.learn)}")
        if "value" in roles and not pools:
            raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        return roles


# ---- the examples ----------------------------------------------------------------------------


class Example(NamedTuple):
    """A query, and the places of its right keys, maybe none."""

    query: str
    right: frozenset[int]


def checked_examples(
    queries: Iterable[str] | Mapping[str, Any], targets: Iterable[Any] | None, state: DictState
) -> list[Example] | tuple[list[str], NDArray[np.float64]]:
    """Return the examples, or queries and what each should pool, (L, *shape).

    A query without letters or digits that should find no key is left out: it finds none anyway.
    What is wrong with them is raised as `FuzzyDict.fit` documents.
    """
    asked, wanted = _as_lists(queries, targets)
    for place, (query, target) in enumerate(zip(asked, wanted, strict=True)):
        if not isinstance(query, str):
            raise ArgumentTypeError(
                f"queries: expected texts, got {type(query).__name__} {quoted(query)} at {place}"
            )
        if target is not None and not plain(query):
            raise OptionError(
                f"queries: {quoted(query)} at {place} has no letters or digits to compare; "
                f"leave it out"
            )
    pool = [_is_pooled(place, target) for place, target in enumerate(wanted)]
    if all(pool):
        return asked, _numbers(asked, wanted)
    if any(pool):
        a, b = pool.index(True), pool.index(False)
        raise ArgumentTypeError(
            f"targets: expected keys (or None) for all queries, or numbers for all, got "
            f"{quoted(wanted[a])} for {quoted(asked[a])} and {quoted(wanted[b])} for "
            f"{quoted(asked[b])}"
        )
    pairs = [pair for pair in zip(asked, wanted, strict=True) if plain(pair[0])]
    if not pairs:
        raise OptionError(
            "queries: none has letters or digits, so that none finds a key; leave them out"
        )
    places = {name: place for place, name in enumerate(state.names)}
    return [_example(query, target, places, state.every) for query, target in pairs]


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


def _is_pooled(place: int, target: Any) -> bool:
    """Tell whether a target is numbers; otherwise it is a key, several keys, or None."""
    if not isinstance(target, list | tuple | set | frozenset):
        return target is not None and not isinstance(target, str)
    if not target:
        raise OptionError(
            f"targets: number {place} is empty; give the right keys, or None if none is right"
        )
    others = [item for item in target if not isinstance(item, str)]
    if 0 < len(others) < len(target):
        raise ArgumentTypeError(
            f"targets: number {place} has keys and {quoted(others[0])}; expected one or the other"
        )
    return bool(others)


def _example(query: str, target: Any, places: Mapping[str, int], every: Collection[Any]) -> Example:
    wanted = () if target is None else (target,) if isinstance(target, str) else target
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
    return Example(query, right)


def _numbers(queries: Sequence[str], targets: Sequence[Any]) -> NDArray[np.float64]:
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


def _merged(examples: Sequence[Example]) -> dict[str, NDArray[np.intp]]:
    """Return each query once, with the keys that any of its examples has."""
    right: dict[str, frozenset[int]] = {}
    for query, keys in examples:
        before = right.get(query, keys)
        if bool(before) != bool(keys):
            raise OptionError(
                f"targets: {quoted(query)} has a key in one example and None in another; keep one"
            )
        right[query] = before | keys
    return {query: np.array(sorted(keys), np.intp) for query, keys in right.items()}


def _to_remember(examples: Sequence[Example], names: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Return for each text, as `same_text` has it, its first query, and its keys in all examples.

    A query that is a key is left out: it finds itself.
    """
    found: dict[str, Example] = {}
    for query, right in examples:
        text = same_text(query)
        first, before = found.get(text, (query, right))
        if bool(before) != bool(right) or (before and not before & right):
            one, other = (
                " or ".join(quoted(names[i]) for i in sorted(keys)) or "None"
                for keys in (before, right)
            )
            raise OptionError(
                f"targets: {quoted(first)} is to find {one}, but {quoted(query)} is to find "
                f"{other}, and they are the same text; keep one, or give a list of right keys"
            )
        found[text] = Example(first, before & right)
    own = set(names)
    texts = {query: right for query, right in found.values() if query not in own}
    return {query: np.array(sorted(right), np.intp) for query, right in texts.items()}


# ---- what is learned ---------------------------------------------------------------------------

_COLDEST, _WARMEST = 0.03, 0.5  # limits of the temperature for the default score
_POOLING_TEMPERATURE = 0.15  # at the start; at a low one, only the best key would get a gradient


class _Keyed:
    """Queries that should find keys, or none: how they are learned from, and asked.

    Attributes:
        many: so many examples are held out in one part; of fewer, each is held out in turn.
        keys_a_step: with how many keys at most the queries of a step are compared.
        kinds: what kind each example is of; of each kind, the same share is held out.
    """

    many, keys_a_step = 500, Settings.candidates

    def __init__(self, state: DictState, examples: Mapping[str, NDArray[np.intp]]) -> None:
        self.state, self.texts, self.right = state, list(examples), list(examples.values())
        self.asked = state.asked(self.texts, state.scorer)
        self.kinds = np.array([not len(keys) for keys in self.right])

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q and K by which queries find their keys.

        Each right key of a query is an example, so that all are found, not one of them. For the
        default score the temperature is fixed: a cosine that lies a standard deviation above the
        usual makes a key e times as likely.
        """
        state, nothing = self.state, self.state.nothing
        examples = [(row, key) for row in np.sort(rows) for key in self.right[row]]
        if not examples:
            return nothing
        queries, right = np.array(examples, np.intp).T
        settings = replace(settings, scorer=_scorer_of_loss(state.scorer))
        if state.scorer is None:
            spread = float(np.clip(state.keys.background.spread, _COLDEST, _WARMEST))
            settings = replace(settings, temperature=spread)
        x, y = self.asked.vectors[queries], state.keys.vectors
        pairs = np.stack([np.arange(len(x)), right], axis=1)
        fitted = fit_retrieval(x, y, pairs, settings)
        temperature = _temperature_of(state.scorer, fitted.temperature, x.shape[1])
        return Learned(fitted.projections, state.scorer, temperature, fitted.history)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to those in some rows."""
        right = [self.right[row] for row in rows]
        return Candidate(self.state, learned).answers(self.asked.some(rows), right)

    def aliases(
        self, learned: Learned, texts: Mapping[str, NDArray[np.intp]]
    ) -> dict[str, str | None]:
        """Return the key of each text, or None: of several right keys, the nearest."""
        names = self.state.names
        found = {text: names[min(right)] if len(right) else None for text, right in texts.items()}
        several = [text for text, right in texts.items() if len(right) > 1]
        if several:
            row_of = {text: row for row, text in enumerate(self.texts)}
            asked = self.asked.some(np.array([row_of[text] for text in several]))
            right = [texts[text] for text in several]
            nearest = Candidate(self.state, learned).answers(asked, right).nearest
            found |= {text: names[key] for text, key in zip(several, nearest, strict=True)}
        return found


class _Valued:
    """Queries that should pool numbers; its attributes are those of `_Keyed`."""

    many = 100  # an error of a value says more than a rank does
    keys_a_step = sys.maxsize

    def __init__(self, state: DictState, texts: list[str], targets: NDArray[np.float64]) -> None:
        self.state, self.texts = state, texts
        values = StackedValues(state.names, state.values, state.embedding).array()
        if values.shape[1:] != targets.shape[1:]:
            raise ShapeError(
                f"targets: expected the shape {values.shape[1:]} of what is pooled, "
                f"got {targets.shape[1:]}"
            )
        self.values = values.reshape(len(values), -1)
        self.targets = targets.reshape(len(texts), -1)
        # The cosine takes the place of the default score: a weighted mean of values needs weights,
        # not the probability that a key is right.
        self.scorer = "cosine" if state.scorer is None else state.scorer
        self.before = self.asked = state.asked(self.texts, state.scorer)
        if state.scorer is None:  # the cosine lets words weigh otherwise
            self.asked = state.asked(self.texts, self.scorer)
        self.kinds = np.zeros(len(self.texts), np.bool_)

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q, K and a temperature (and V) by which queries pool their targets."""
        settings = replace(settings, scorer=_scorer_of_loss(self.scorer))
        warm = _POOLING_TEMPERATURE if settings.scorer == "cosine" else 1.0
        settings = replace(settings, start_temperature=warm)
        x, y = self.asked.vectors[rows], self.state.keys.vectors
        fitted = fit_pooling(x, y, self.values, self.targets[rows], settings)
        temperature = _temperature_of(self.scorer, fitted.temperature, x.shape[1])
        return Learned(fitted.projections, self.scorer, temperature, fitted.history)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Errors:
        """Return the errors of those in some rows."""
        asked = self.before if learned.scorer is self.state.scorer else self.asked
        pooled = Candidate(self.state, learned).pooled(asked.some(rows), self.values)
        return Errors(np.sqrt(np.square(pooled - self.targets[rows]).mean(axis=1)))


def _learns(scorer: Any) -> bool:
    """Tell whether Q and K are learned for a scorer."""
    return scorer is None or (
        not is_spelling(scorer) and isinstance(as_scorer(scorer), Cosine | ScaledDot | Dot)
    )


def _shown(scorer: Any) -> str:
    return repr(scorer if is_spelling(scorer) else as_scorer(scorer))


def _scorer_of_loss(scorer: Any) -> str:
    is_cosine = scorer is None or isinstance(as_scorer(scorer), Cosine)
    return "cosine" if is_cosine else "scaled_dot"


def _temperature_of(scorer: Any, fitted: float, size: int) -> float | None:
    """Return the temperature for a scorer, from that for cosines or scaled dots of this size."""
    if scorer is None:
        return None
    made = as_scorer(scorer)
    if isinstance(made, Cosine):
        return fitted
    scale = getattr(made, "scale", 1.0)  # 1 for a plain dot, None for E^-0.5
    return fitted if scale is None else float(fitted * scale * size**0.5)


# ---- from examples to a report ---------------------------------------------------------------


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> tuple[FitReport, dict[str, str | None]]:
    """Learn from examples as `FuzzyDict.fit` documents; the dict itself does not change.

    Return the report, and what to remember: for each query a key, or None for "no key".
    """
    given = checked_examples(queries, targets, state)
    pools = isinstance(given, tuple)
    if (pools or not plan.remember) and not _learns(state.scorer):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {_shown(state.scorer)}; set d.scorer to one of these first"
        )
    if isinstance(given, tuple):
        return _learn(_Valued(state, *given), plan)[0], {}
    texts = _to_remember(given, state.names) if plan.remember else {}
    task = _Keyed(state, _merged(given))
    if not plan.remember and task.kinds.all():
        raise OptionError(
            "targets: expected a key for at least one query, got None for all; add a query that "
            "has a key, or give remember=True"
        )
    report, learned = _learn(task, plan, _why_not(task, plan))
    aliases = task.aliases(learned if report.kept else state.nothing, texts)
    refused = sum(key is None for key in aliases.values())
    return replace(report, remembered=len(aliases), refused=refused), aliases


def _why_not(task: _Keyed, plan: Plan) -> str | None:
    """Return why no Q and K are learned from these examples, or None if they are."""
    if task.kinds.all():
        return "no example has a key"
    if not _learns(task.state.scorer):
        return f"no Q and K are learned for the scorer {_shown(task.state.scorer)}"
    if len(task.texts) < ENOUGH and plan.validation is None:
        return (
            f"there are fewer than {ENOUGH} examples, too few to learn what other queries "
            f"mean; set validation to 0 to learn from them anyway"
        )
    return None


_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out
_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_SCORES = 2**23  # queries times keys that are compared before and after
# Multiplications of a product. So few take milliseconds in one thread, and as long in several on a
# quiet machine; on a busy one, these wait for each other ten times as long.
_FEW = 2**27


def split(
    kinds: NDArray[np.bool_], share: float, random: np.random.Generator, *, many: int, most: int
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part; each part has its share of either kind.

    Of ``many`` examples or more one part is held out, their ``share`` or ``most`` of them; of fewer
    each in one of five parts; with a share of 0, none.

    >>> random = np.random.default_rng(0)
    >>> parts = split(np.array([False] * 4 + [True] * 2), 0.2, random, many=100, most=256)
    >>> sorted(np.concatenate(parts).tolist())
    [0, 1, 2, 3, 4, 5]
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


class _Compared(NamedTuple):
    """The answers to the examples in some rows, before and after: both `Answers` or `Errors`."""

    rows: NDArray[np.intp]
    before: Any
    after: Any


def _learn(
    task: _Keyed | _Valued, plan: Plan, why_not: str | None = None
) -> tuple[FitReport, Learned]:
    """Train without each part of the examples, ask this part before and after, and report.

    If one part is held out, what is kept is what was trained without it, so that it is measured.
    """
    state, count, settings = task.state, len(task.texts), plan.settings(task)
    random, every = np.random.default_rng(plan.seed), np.arange(count)
    keys, size = state.keys.vectors.shape
    most = int(np.clip(_SCORES // keys, _LEAST_ASKED, _ASKED))
    parts: list[NDArray[np.intp]] = []
    if why_not is None:
        parts = split(task.kinds, plan.share, random, many=task.many, most=most)
    stages = len(parts) + (len(parts) != 1)

    def tell(stage: int, done: int, steps: int) -> None:
        if plan.progress is not None:  # in thousandths of a stage
            plan.progress(1000 * stage + 1000 * done // steps, 1000 * stages)

    def train(rows: NDArray[np.intp], stage: int) -> Learned:
        with _threads(min(keys, task.keys_a_step) * size**2):
            return task.train(rows, replace(settings, progress=partial(tell, stage)))

    def ask(learned: Learned, rows: NDArray[np.intp]) -> Any:
        with _threads(keys * size * AT_ONCE):
            return task.ask(learned, rows)

    folds = [train(np.setdiff1d(every, part), stage) for stage, part in enumerate(parts)]
    learned, kept, reason, held_out = state.nothing, False, why_not or "", None
    if folds:
        asked = [ask(fold, part) for fold, part in zip(folds, parts, strict=True)]
        after = type(asked[0])(*map(np.concatenate, zip(*asked, strict=True)))
        held, learned = np.concatenate(parts), folds[-1]
        held_out = _Compared(held, ask(state.nothing, held), after)
        kept, reason = after.verdict(held_out.before, state.cutoff, held_out=True)
    if why_not is None and (not folds or (kept and len(folds) > 1)):
        learned = train(every, len(folds))
    rows = random.permutation(count)[:most]
    training = _Compared(rows, ask(state.nothing, rows), ask(learned, rows))
    if why_not is None and not folds:
        kept, reason = training.after.verdict(training.before, state.cutoff, held_out=False)
    tell(stages - 1, 1, 1)
    return _report(task, learned, training, held_out, kept=kept, reason=reason), learned


_ONE_AT_A_TIME = RLock()  # for the number of threads is that of the whole process


@contextmanager
def _threads(multiplications: int) -> Iterator[None]:
    """Let products of so many multiplications take one thread, if these are few."""
    if multiplications > _FEW:
        yield
    else:
        with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"):
            yield


def _report(
    task: _Keyed | _Valued,
    learned: Learned,
    training: _Compared,
    held_out: _Compared | None,
    *,
    kept: bool,
    reason: str,
) -> FitReport:
    """Return the report on the answers before and after."""
    rows, before, after = held_out or training
    cutoff = task.state.cutoff
    changes = sorted(after.changes(before, task.state.keys.names), key=lambda one: -one[3])
    told = [(Change(task.texts[rows[i]], was, now), gain) for i, was, now, gain in changes]
    return FitReport(
        kept=kept,
        reason=reason,
        examples=len(task.texts),
        validated=len(held_out.rows) if held_out else 0,
        training_before=training.before.measures(cutoff),
        training_after=training.after.measures(cutoff),
        held_out_before=held_out.before.measures(cutoff) if held_out else Measures(),
        held_out_after=held_out.after.measures(cutoff) if held_out else Measures(),
        history=learned.history,
        better=tuple(change for change, gain in told if gain > 0),
        worse=tuple(change for change, gain in told[::-1] if gain <= 0),
        options=task.state.options_of(learned),
    )
