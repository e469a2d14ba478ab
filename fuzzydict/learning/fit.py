"""What `FuzzyDict.fit` does: from examples to options that are kept, and a report.

1. `learn_from` checks the examples, and encodes their queries once.
2. If there are enough, some are held out, or each in turn (`split`).
3. Q and K are trained without these, and on all (`_learn`).
4. The held-out examples are asked before and after, without what is remembered.
5. What is learned is kept if they are answered better (`Answers.verdict`).
6. `learn_from` says which key each text is to be another name of.

    L queries, S keys, E numbers of a vector, Ev of a value
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import whole_number
from fuzzydict.embedding.projections import ROLES
from fuzzydict.errors import OptionError, ShapeError, quoted
from fuzzydict.learning.candidate import (
    Answers,
    Asked,
    Candidate,
    DictState,
    Errors,
    Learned,
    joined,
)
from fuzzydict.learning.examples import ValueExamples, checked_examples, merged, to_remember
from fuzzydict.learning.report import Change, FitReport
from fuzzydict.learning.train import Settings, fit_pooling, fit_retrieval
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.results.pooling import StackedValues
from fuzzydict.search.score import is_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.examples import KeyExamples


# ---- the arguments ---------------------------------------------------------------------------

_VALIDATION = 0.2
#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_STEPS, _BATCH = 1000, 256  # enough steps to learn from values, and the examples of a step
_POOLING_TEMPERATURE = 0.15  # at the start; at a low one, only the best key would get a gradient


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
        checked = Settings(**self._given(), validation=self.share, seed=self.seed)  # or raise
        for name in (*self._given(), "validation", "seed"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, getattr(checked, name))

    def _given(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in ("rank", "epochs", "learning_rate")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def share(self) -> float:
        """The share of the examples to hold out."""
        return _VALIDATION if self.validation is None else self.validation

    def settings(self, state: DictState, count: int, *, pools: bool) -> Settings:
        """Return how to learn from so many examples.

        Raises:
            OptionError: an argument does not go with the scorer, the keys or the targets.
        """
        if self.rank is not None:
            whole_number("rank", self.rank, most=state.keys.vectors.shape[1])
        settings = Settings(**self._roles(pools=pools), seed=self.seed)
        if pools:  # many long steps: an error of a value says little about which key is right
            epochs = int(np.clip(_STEPS * _BATCH // count, 30, 100))
            settings = replace(settings, epochs=epochs, patience=epochs // 5)
            settings = replace(settings, learning_rate=0.1, identity_penalty=3.0)
        # Fewer examples are all learned from: their loss says little about when to stop early.
        stops_early = self.share and (pools or count >= _Keyed.many)
        given = self._given() | ({} if stops_early else {"validation": 0.0})
        return replace(settings, **given)

    def _roles(self, *, pools: bool) -> dict[str, Any]:
        """Return the settings that say which of Q, K and V to learn."""
        if self.learn is None:
            return {}
        try:
            roles = {self.learn} if isinstance(self.learn, str) else set(self.learn)
        except Exception:  # it is no list, or holds what cannot be hashed
            roles = set()
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {quoted(self.learn)}")
        if "value" in roles and not pools:
            raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        fixed = tuple(role for role in ("query", "key") if role not in roles)
        return {"fixed": fixed, "learn_value": "value" in roles}


def _learns(scorer: Any) -> bool:
    """Tell whether Q and K are learned for a scorer."""
    return scorer is None or (
        not is_spelling(scorer) and isinstance(as_scorer(scorer), Cosine | ScaledDot | Dot)
    )


def _shown(scorer: Any) -> str:
    return repr(scorer if is_spelling(scorer) else as_scorer(scorer))


# ---- which examples are held out -------------------------------------------------------------

_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out


def split(
    groups: Sequence[NDArray[np.intp]],
    share: float,
    random: np.random.Generator,
    *,
    many: int,
    most: int,
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part.

    Of ``many`` examples or more, this is one part. Of fewer, five parts hold out each example
    once. Each part has its share of every group.

    Args:
        groups: rows of the examples, by kind.
        share: of many examples, how many to hold out; 0 for none, however many there are.
        random: shuffles the rows.
        many: from how many examples on to hold out one part.
        most: of many examples, how many to hold out at most.

    >>> random = np.random.default_rng(0)
    >>> parts = split([np.arange(4), np.arange(4, 6)], 0.2, random, many=100, most=256)
    >>> sorted(np.concatenate(parts).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    count = sum(map(len, groups))
    if count < _TOO_FEW or not share:
        return []
    order = [random.permutation(group) for group in groups]
    if count >= many:
        share = min(share, most / count)
        return [np.concatenate([group[: _share_of(len(group), share)] for group in order])]
    folds = min(count, _FOLDS)
    return [np.concatenate(order)[place::folds] for place in range(folds)]


def _share_of(count: int, share: float) -> int:
    """Return how many to hold out: at least one, but not the only one."""
    return min(round(share * count) or 1, count - 1) if count else 0


# ---- what is learned ---------------------------------------------------------------------------

_COLDEST, _WARMEST = 0.03, 0.5  # limits of the temperature for the default score


class _Keyed:
    """Queries that should find keys, or none: how they are learned from, and asked.

    Attributes:
        many: so many examples are held out in one part; of fewer, each is held out in turn.
        groups: the rows of the examples, by kind.
    """

    many = 500

    def __init__(self, state: DictState, examples: KeyExamples) -> None:
        self.state, self.texts, self.right = state, examples.queries, examples.right
        self.asked = Asked.of(self.texts, state, state.scorer)
        self.pairs = examples.pairs
        self.has_key = np.array([len(keys) > 0 for keys in self.right])
        self.groups = [np.flatnonzero(self.has_key), np.flatnonzero(~self.has_key)]

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q and K by which queries find their keys.

        For the default score the temperature is fixed: a cosine that lies a standard deviation
        above the usual makes a key e times as likely.
        """
        nothing, keys = self.state.nothing, self.state.keys
        pairs = self.pairs[np.isin(self.pairs[:, 0], rows)]
        if not len(pairs):
            return nothing
        # One query for each pair, so that each right key is found, not one of them.
        x, right = self.asked.vectors[pairs[:, 0]], pairs[:, 1]
        pairs = np.stack([np.arange(len(x)), right], axis=1)
        settings = replace(settings, scorer=_scorer_of_loss(nothing.scorer))
        if nothing.scorer is None:
            spread = float(np.clip(keys.background.spread, _COLDEST, _WARMEST))
            settings = replace(settings, temperature=spread)
        fitted = fit_retrieval(x, keys.vectors, pairs, settings)
        temperature = _temperature_of(nothing.scorer, fitted.temperature, x.shape[1])
        return Learned(fitted.projections, nothing.scorer, temperature, fitted.history)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to those in some rows."""
        right = [self.right[row] for row in rows]
        return Candidate(self.state, learned).answers(self.asked.some(rows), right)


class _Valued:
    """Queries that should pool numbers; its attributes are those of `_Keyed`."""

    many = 100  # an error of a value says more than a rank does

    def __init__(self, state: DictState, examples: ValueExamples) -> None:
        self.state, self.texts = state, examples.queries
        values = StackedValues(state.keys.living(), state.values, state.embedding).array()
        if values.shape[1:] != examples.values.shape[1:]:
            raise ShapeError(
                f"targets: expected the shape {values.shape[1:]} of what is pooled, "
                f"got {examples.values.shape[1:]}"
            )
        self.values = values.reshape(len(values), -1)
        self.targets = examples.values.reshape(len(self.texts), -1)
        self.scorer = "cosine" if state.scorer is None else state.scorer
        self.before = self.asked = Asked.of(self.texts, state, state.scorer)
        if state.scorer is None:  # the cosine lets words weigh otherwise
            self.asked = Asked.of(self.texts, state, self.scorer)
        self.groups = [np.arange(len(self.texts))]

    def train(self, rows: NDArray[np.intp], settings: Settings) -> Learned:
        """Learn Q, K and a temperature (and V) by which queries pool their targets.

        The cosine takes the place of the default score: a weighted mean of values needs weights,
        not the probability that a key is right.
        """
        settings = replace(settings, scorer=_scorer_of_loss(self.scorer))
        warm = _POOLING_TEMPERATURE if settings.scorer == "cosine" else 1.0
        settings = replace(settings, start_temperature=warm)
        x, y = self.asked.vectors[rows], self.state.keys.vectors
        fitted = fit_pooling(x, y, self.values, self.targets[rows], settings)
        temperature = _temperature_of(self.scorer, fitted.temperature, x.shape[1])
        return Learned(fitted.projections, self.scorer, temperature, fitted.history)

    def ask(self, learned: Learned, rows: NDArray[np.intp]) -> Errors:
        """Return the errors of those in some rows."""
        if not len(rows):
            return Errors(np.zeros(0))
        asked = self.before if learned.scorer is self.state.scorer else self.asked
        pooled = Candidate(self.state, learned).pooled(asked.some(rows), self.values)
        return Errors(np.sqrt(np.square(pooled - self.targets[rows]).mean(axis=1)))


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


class FitResult(NamedTuple):
    """The report, and what to remember: for each query a key, or None for "no key"."""

    report: FitReport
    aliases: dict[str, str | None]


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> FitResult:
    """Learn from examples as `FuzzyDict.fit` documents; the dict itself does not change."""
    names = state.keys.living()
    places = {name: place for place, name in enumerate(names)}
    given = checked_examples(queries, targets, places, state.every)
    pools = isinstance(given, ValueExamples)
    if (pools or not plan.remember) and not _learns(state.scorer):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {_shown(state.scorer)}; set d.scorer to one of these first"
        )
    if isinstance(given, ValueExamples):
        settings = plan.settings(state, len(given.queries), pools=True)
        return FitResult(_learn(_Valued(state, given), settings, plan)[0], {})
    texts = to_remember(given, names) if plan.remember else {}
    merged_ones = merged(given)
    settings = plan.settings(state, len(merged_ones.queries), pools=False)
    examples = _Keyed(state, merged_ones)
    if not plan.remember and not examples.has_key.any():
        raise OptionError(
            "targets: expected a key for at least one query, got None for all; add a query that "
            "has a key, or give remember=True"
        )
    report, learned = _learn(examples, settings, plan, _why_not(examples, plan))
    aliases = _aliases(examples, learned if report.kept else state.nothing, texts.values())
    refused = sum(key is None for key in aliases.values())
    return FitResult(replace(report, remembered=len(aliases), refused=refused), aliases)


def _why_not(examples: _Keyed, plan: Plan) -> str | None:
    """Return why no Q and K are learned from these examples, or None if they are."""
    if not examples.has_key.any():
        return "no example has a key"
    if not _learns(examples.state.scorer):
        return f"no Q and K are learned for the scorer {_shown(examples.state.scorer)}"
    if len(examples.texts) < ENOUGH and plan.validation is None:
        return (
            f"there are fewer than {ENOUGH} examples, too few to learn what other queries "
            f"mean; set validation to 0 to learn from them anyway"
        )
    return None


def _aliases(
    examples: _Keyed, learned: Learned, texts: Iterable[tuple[str, frozenset[int]]]
) -> dict[str, str | None]:
    """Return the key of each query: of several right keys, the nearest."""
    names = examples.state.keys.living()
    keys = set(names)
    nearest = {query: min(right, default=None) for query, right in texts if query not in keys}
    several = {query: np.array(sorted(right)) for query, right in texts if len(right) > 1}
    several = {query: right for query, right in several.items() if query not in keys}
    if several:
        rows = {query: row for row, query in enumerate(examples.texts)}
        asked = examples.asked.some([rows[query] for query in several])
        found = Candidate(examples.state, learned).nearest(asked, list(several.values()))
        nearest |= zip(several, found, strict=True)
    return {query: None if place is None else names[place] for query, place in nearest.items()}


_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_FEATURES = 2**23  # queries times keys that are held at once


def _learn(
    examples: _Keyed | _Valued, settings: Settings, plan: Plan, why_not: str | None = None
) -> tuple[FitReport, Learned]:
    """Train without each part of the examples and on all, and ask them before and after.

    If only one part is held out, what is kept is what was trained without it, so that it is
    measured.
    """
    state, count = examples.state, len(examples.texts)
    random = np.random.default_rng(plan.seed)
    most = int(np.clip(_FEATURES // len(state.keys), _LEAST_ASKED, _ASKED))
    parts, folds = list[Any](), [state.nothing]
    if why_not is None:
        parts = split(examples.groups, plan.share, random, many=examples.many, most=most)
        rows = [np.setdiff1d(np.arange(count), part) for part in parts]
        if len(parts) != 1:
            rows.append(np.arange(count))
        stages = [_stage(plan.progress, done, len(rows)) for done in range(len(rows))]
        folds = [
            examples.train(some, replace(settings, progress=stage))
            for some, stage in zip(rows, stages, strict=True)
        ]
    learned, some = folds[-1], random.permutation(count)[:most]
    held = np.concatenate([some[:0], *parts])
    training: tuple[Any, Any] = examples.ask(state.nothing, some), examples.ask(learned, some)
    by_part: list[Any] = [examples.ask(of, part) for of, part in zip(folds, parts, strict=False)]
    held_out = examples.ask(state.nothing, held), joined(type(training[0]), by_part)
    report = _report(examples, training, some, held_out, held, why_not)
    options = state.options_of(learned)
    return replace(report, history=learned.history, options=options), learned


def _report(
    examples: _Keyed | _Valued,
    training: tuple[Any, Any],
    some: NDArray[np.intp],
    held_out: tuple[Any, Any],
    held: NDArray[np.intp],
    why_not: str | None,
) -> FitReport:
    """Return the report on answers before and after, to training and to held-out examples."""
    cutoff, names = examples.state.cutoff, examples.state.keys.names
    (before, after), rows = (held_out, held) if len(held) else (training, some)
    kept, reason = False, why_not or ""
    if why_not is None:
        kept, reason = after.verdict(before, cutoff, held_out=len(held) > 0)
    changes = sorted(after.changes(before, names), key=lambda change: -change[3])
    told = [(Change(examples.texts[rows[i]], was, now), gain) for i, was, now, gain in changes]
    measures = [answers.measures(cutoff) for answers in (*training, *held_out)]
    return FitReport(
        kept=kept,
        reason=reason,
        examples=len(examples.texts),
        validated=len(held),
        training_before=measures[0],
        training_after=measures[1],
        held_out_before=measures[2],
        held_out_after=measures[3],
        better=tuple(change for change, gain in told if gain > 0),
        worse=tuple(change for change, gain in told[::-1] if gain <= 0),
    )


def _stage(
    progress: Callable[[int, int], None] | None, stage: int, count: int
) -> Callable[[int, int], None] | None:
    """Return what tells of the progress of one of several stages, in thousandths of a stage."""
    if progress is None:
        return None
    return lambda done, steps: progress(1000 * stage + 1000 * done // steps, 1000 * count)
