"""What `FuzzyDict.fit` does: train projections on examples, and report whether they help.

1. `learn_from` checks the examples and encodes their queries.
2. Some examples are held out; a few are each held out in turn (`acceptance.split`).
3. Q and K are trained on the others, and on all (`candidate.train_on_keys`).
4. The dict answers the held-out examples before and after (`acceptance.Comparison`).
5. The cutoff is chosen, and the verdict given (`acceptance.verdict_on_keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import as_floats, require_counts
from fuzzydict.embedding.projections import ROLES, Projections, composed
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning import acceptance
from fuzzydict.learning.acceptance import MANY, Answers, Comparison, Cutoffs, Errors
from fuzzydict.learning.candidate import (
    Candidate,
    DictState,
    KeyExamples,
    Parameters,
    train_on_keys,
    train_on_values,
)
from fuzzydict.learning.projections import Settings
from fuzzydict.learning.report import FitReport
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.results.pooling import StackedValues
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.learning.acceptance import Change, Fold, Measures


# ---- the arguments ---------------------------------------------------------------------------

_VALIDATION = 0.2
_STEPS, _BATCH = 2000, 256  # enough steps to learn from values, and the examples of a step


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The arguments of `FuzzyDict.fit`, which documents them."""

    learn: Sequence[str] | None = None
    rank: int | None = None
    epochs: int | None = None
    learning_rate: float | None = None
    validation: float | None = None
    seed: int = 0
    progress: Callable[[int, int], None] | None = None
    warm_start: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ArgumentTypeError(
                f"seed: expected a whole number of 0 or more, got {self.seed!r}"
            )
        Settings(validation=self.share)  # or raise

    @property
    def share(self) -> float:
        """The share of the examples to hold out."""
        return _VALIDATION if self.validation is None else self.validation

    def settings(self, state: DictState, examples: KeyExamples | ValueExamples) -> Settings:
        """Return the hyper-parameters.

        Raises:
            OptionError: an argument does not go with the scorer, the keys or the targets.
        """
        _check_scorer(state.scorer)
        size = state.key_vectors.shape[1]
        if self.rank is not None:
            require_counts(rank=self.rank)
            if self.rank > size:
                raise OptionError(
                    f"rank: expected {size} at most, the size of the vectors, got {self.rank}"
                )
        pools = isinstance(examples, ValueExamples)
        given = {name: getattr(self, name) for name in ("epochs", "learning_rate", "rank")}
        given["validation"] = None if self.share else 0.0  # then none are held out to stop early
        return Settings(
            **(_pooling_defaults(len(examples.queries)) if pools else {})
            | {name: value for name, value in given.items() if value is not None},
            **self._roles(pools=pools),
            seed=self.seed,
            progress=self.progress,
        )

    def _roles(self, *, pools: bool) -> dict[str, Any]:
        """Return the settings that say which of Q, K and V to learn."""
        learn = self.learn
        if learn is None:
            return {}
        roles = {learn} if isinstance(learn, str) else set(learn)
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {learn!r}")
        if "value" in roles and not pools:
            raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        fixed = tuple(role for role in ("query", "key") if role not in roles)
        return {"fixed": fixed, "learn_value": "value" in roles}


def _check_scorer(scorer: Any) -> None:
    made = None if scorer is None else as_scorer(scorer)
    if not isinstance(made, Cosine | ScaledDot | Dot | None):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {made!r}; set d.scorer to one of these first"
        )


def _pooling_defaults(count: int) -> dict[str, Any]:
    """Return many long steps: an error of a value says little about which key is right."""
    epochs = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    return {"epochs": epochs, "patience": epochs // 5, "learning_rate": 0.1}


# ---- the examples -------------------------------------------------------------------------------


class ValueExamples(NamedTuple):
    """L queries, and what each should pool, (L, *shape)."""

    queries: list[str]
    values: NDArray[np.float64]

    def some(self, rows: NDArray[np.intp]) -> ValueExamples:
        """Return the examples in these rows."""
        return ValueExamples([self.queries[i] for i in rows.tolist()], self.values[rows])


def checked_examples(
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    places: Mapping[str, int],
    keys: Container[Any],
) -> KeyExamples | ValueExamples:
    """Return the examples, or raise what is wrong with them.

    Args:
        queries: texts, or a mapping of texts to their targets.
        targets: for each query a key, several keys, or None; or for each a number or an array.
            None if the queries are a mapping.
        places: the keys that can be attended to, with their places.
        keys: all keys, to tell a missing key from one without letters.

    Raises:
        ArgumentTypeError: a query is not a text, or targets are missing or of several kinds.
        OptionError: there are no examples, a key is missing or has no letters, a query has no
            letters, or no query has a right key.
        ShapeError: queries and targets differ in number, or numbers are not finite or of several
            shapes.

    >>> checked_examples(["hue", "x"], ["color", None], {"brand": 0, "color": 1}, {"color"}).right
    [array([1]), array([], dtype=int64)]
    """
    asked, wanted = _split(queries, targets)
    if len(asked) != len(wanted):
        raise ShapeError(
            f"queries and targets: expected a target for each query, got {len(asked)} queries and "
            f"{len(wanted)} targets"
        )
    if not asked:
        raise OptionError("queries: there are no examples; expected one or more")
    for place, query in enumerate(asked):
        _check_query(place, query)
    kinds = [_names_keys(place, target) for place, target in enumerate(wanted)]
    if not any(kind is not None for kind in kinds):
        raise OptionError(
            "targets: expected a key for at least one query, got None for all; add a query that "
            "has a key"
        )
    if False not in kinds:
        return _key_examples(asked, wanted, places, keys)
    if kinds.count(False) < len(kinds):
        a, b = kinds.index(False), next(i for i, kind in enumerate(kinds) if kind is not False)
        raise ArgumentTypeError(
            f"targets: expected keys (or None) for all queries, or numbers for all, got "
            f"{quoted(wanted[a])} for {quoted(asked[a])} and {quoted(wanted[b])} for "
            f"{quoted(asked[b])}"
        )
    return ValueExamples(asked, _numbers(asked, wanted))


def _split(
    queries: Iterable[str] | Mapping[str, Any], targets: Iterable[Any] | None
) -> tuple[list[str], list[Any]]:
    if isinstance(queries, Mapping):
        if targets is not None:
            raise ArgumentTypeError(
                "targets: leave targets out, because the mapping of queries has them, or give "
                "list(queries)"
            )
        return list(queries), [queries[query] for query in queries]
    asked = _as_list("queries", queries)
    if targets is None:
        raise ArgumentTypeError(
            "targets: missing; give one for each query, or queries as a mapping {query: target}"
        )
    return asked, _as_list("targets", targets)


def _as_list(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ArgumentTypeError(f"{name}: expected a list, one for each query, got {quoted(given)}")
    return list(given)


def _check_query(place: int, query: Any) -> None:
    if not isinstance(query, str):
        raise ArgumentTypeError(
            f"queries: expected texts, got {type(query).__name__} {quoted(query)} at {place}"
        )
    if not plain(query):
        raise OptionError(
            f"queries: {quoted(query)} at {place} has no letters or digits to compare; leave it out"
        )


def _names_keys(place: int, target: Any) -> bool | None:
    """Return whether a target is a key or several keys (True) or numbers (False); None for None."""
    if target is None:
        return None
    if isinstance(target, str):
        return True
    if isinstance(target, list | tuple | set | frozenset):
        texts = [isinstance(item, str) for item in target]
        if not texts:
            raise OptionError(
                f"targets: number {place} is empty; give the right keys, or None if none is right"
            )
        if any(texts) and not all(texts):
            odd = next(item for item in target if not isinstance(item, str))
            raise ArgumentTypeError(
                f"targets: number {place} has keys and {quoted(odd)}; expected one or the other"
            )
        return texts[0]
    return False


def _key_examples(
    queries: list[str], targets: list[Any], places: Mapping[str, int], keys: Container[Any]
) -> KeyExamples:
    right: dict[str, set[int]] = {}
    for query, target in zip(queries, targets, strict=True):
        wanted = () if target is None else (target,) if isinstance(target, str) else target
        found = {_place(key, query, places, keys) for key in wanted}
        before = right.get(query)
        if before is not None and bool(before) != bool(found):
            raise OptionError(
                f"targets: {quoted(query)} has a key in one example and None in another; keep one"
            )
        if target is None and query in places:
            raise OptionError(
                f"targets: got None for {quoted(query)}, but it is a key and always matches; leave "
                f"the example out"
            )
        right[query] = found if before is None else before | found
    return KeyExamples(list(right), [np.array(sorted(r), np.intp) for r in right.values()])


def _place(key: str, query: str, places: Mapping[str, int], keys: Container[Any]) -> int:
    place = places.get(key)
    if place is not None:
        return place
    if key in keys:
        raise OptionError(
            f"targets: the key {quoted(key)} of {quoted(query)} has no letters or digits, and only "
            f"an equal query finds it; leave the example out"
        )
    raise OptionError(
        f"targets: {quoted(key)}, for the query {quoted(query)}, is not a key of the dict; add it "
        f"or correct it (keys are exact here)"
    )


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


# ---- from examples to a report ---------------------------------------------------------------

_NUMBERS = 2**26  # of the queries' vectors, at most: a quarter of a gigabyte
_TEXTS = 4096  # encoded at a time


class FitResult(NamedTuple):
    """Learned parameters, the learned calibration (None for a named scorer), and the report."""

    parameters: Parameters
    calibration: Calibration | None
    report: FitReport


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> FitReport:
    """Learn from examples as `FuzzyDict.fit` documents; the dict itself does not change."""
    places = {name: place for place, name in enumerate(state.names)}
    examples = checked_examples(queries, targets, places, state.keys)
    most = max(_NUMBERS // state.key_vectors.shape[1], 1)
    if len(examples.queries) > most:
        rows = np.random.default_rng(plan.seed).permutation(len(examples.queries))
        examples = examples.some(rows[:most])
    settings = plan.settings(state, examples)
    x = _encoded(state, examples.queries)
    if isinstance(examples, KeyExamples):
        result = _learn_keys(state, examples, x, settings, plan.share)
    else:
        result = _learn_values(state, examples, x, settings, plan.share)
    options = result.report.options | _projections(state, result, plan)
    return replace(result.report, options=options)


def _encoded(state: DictState, queries: Sequence[str]) -> Array:
    """Return the vectors of queries, (L, E), encoded in parts to bound memory."""
    encode = partial(state.projected.encode_with_trust, of_queries=True)
    starts = range(0, len(queries), _TEXTS)
    return np.concatenate([encode(queries[i : i + _TEXTS])[0] for i in starts])


def _projections(state: DictState, result: FitResult, plan: Plan) -> dict[str, Any]:
    """Return the option ``projections``, if it was learned."""
    layer, base = result.parameters.layer, state.projected.projections
    if layer.is_identity and result.calibration is None:
        return {}
    parts: list[Any] = [layer.query, layer.key, layer.value]
    words = layer.words
    if plan.warm_start:
        words |= base.words
        if base.base is not None and not isinstance(base.query, Subwords):
            before: list[Any] = [base.query, base.key, base.value]  # learned by an earlier fit
            parts = [composed(first, then) for first, then in zip(before, parts, strict=True)]
            base = base.base
    name = _name(state.embedding)
    return {
        "projections": Projections(
            *parts, embedding=name, base=base, calibration=result.calibration, words=words
        )
    }


def _name(embedding: Any) -> str | None:
    try:
        name: str = embedding.fingerprint()["name"]
    except Exception:  # of a user's function, which may know its own texts alone
        return None
    return name


# ---- training with and without the held-out examples -----------------------------------------


def _train(
    train: Callable[[NDArray[np.intp], Settings], Parameters],
    parts: Sequence[NDArray[np.intp]],
    count: int,
    settings: Settings,
    stages: Stages,
) -> tuple[Parameters, list[Fold]]:
    """Train without each part of the examples, and on all.

    Returns:
        The parameters to keep, and the parameters trained without each part. If only one part is
        held out, the parameters to keep are those trained without it, so that they are measured.
    """
    rows = [np.setdiff1d(np.arange(count), part) for part in parts]
    if len(parts) != 1:
        rows.append(np.arange(count))
    found = [train(some, replace(settings, progress=stages.next())) for some in rows]
    return found[-1], list(zip(found, parts, strict=False))


class Stages:
    """Progress of several stages as one, in thousandths of a stage.

    Args:
        progress: called with ``(done, total)``, or None.
        count: the number of stages, at most.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, count: int) -> None:
        self._progress, self._count, self._stage = progress, count, -1

    def next(self) -> Callable[[int, int], None] | None:
        """Return the progress function of the next stage."""
        self._stage += 1
        report, first, total = self._progress, 1000 * self._stage, 1000 * self._count
        if report is None:
            return None
        return lambda done, steps: report(first + 1000 * done // steps, total)

    def finish(self) -> None:
        """Report that all is done, if stages were skipped."""
        if self._progress is not None and self._stage + 1 < self._count:
            self._progress(1000 * self._count, 1000 * self._count)


# ---- from keys -------------------------------------------------------------------------------

_ROUNDS = 3  # in which a few examples are held out in turn, so that no single split decides
_PENALTIES = 4.0, 16.0  # factors of the identity penalty for few examples: at first, then again
_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_FEATURES = 2**23  # queries times keys that are held at once


def _learn_keys(
    state: DictState, examples: KeyExamples, x: Array, settings: Settings, share: float
) -> FitResult:
    """Learn by which Q and K queries find their keys.

    If there are few examples, a candidate that would not be kept is followed by one more, held
    closer to the identity. The second look at the held-out examples makes their measures a little
    too good.

    Args:
        state: the dict.
        examples: L queries, and their right keys.
        x: their vectors, (L, E), with the projections of the dict.
        settings: hyper-parameters; the progress is that of all candidates.
        share: of many examples, how many to hold out.
    """
    has_key = np.array([len(keys) > 0 for keys in examples.right])
    groups = [np.flatnonzero(has_key), np.flatnonzero(~has_key)]
    random = np.random.default_rng(settings.seed)
    factors, rounds = (_PENALTIES, _ROUNDS) if _is_lenient(state, len(x)) else ((1.0,), 1)
    parts = acceptance.split(groups, share, _most(state), random, rounds)
    stages = Stages(settings.progress, len(factors) * (len(parts) + 1))
    results: list[FitResult] = []
    for factor in factors:
        held = replace(settings, identity_penalty=factor * settings.identity_penalty)
        results.append(_try_keys(state, examples, x, held, parts, stages))
        if results[-1].report.kept:
            break
    stages.finish()
    return results[-1] if results[-1].report.kept else results[0]


def _is_lenient(state: DictState, count: int) -> bool:
    """Tell whether the lenient rule for few examples applies.

    A few examples say little about other queries, so a gain on held-out examples is not required,
    only that no harm is shown. A named scorer always has to gain: its learned temperature alone
    makes right keys more probable, which would hide harm.
    """
    return state.scorer is None and count < MANY


def _most(state: DictState) -> int:
    """Return how many examples to ask, at most, to bound memory."""
    return int(np.clip(_FEATURES // len(state.names), _LEAST_ASKED, _ASKED))


def _try_keys(
    state: DictState,
    examples: KeyExamples,
    x: Array,
    settings: Settings,
    parts: Sequence[NDArray[np.intp]],
    stages: Stages,
) -> FitResult:
    """Train one candidate, and compare its answers with those before."""
    pairs = examples.pairs

    def train(rows: NDArray[np.intp], settings: Settings) -> Parameters:
        some = pairs[np.isin(pairs[:, 0], rows)]
        return train_on_keys(state, examples.queries, x, some, settings)

    learned, folds = _train(train, parts, len(x), settings, stages)
    random = np.random.default_rng([settings.seed, 1])  # the same for each candidate
    comparison = Comparison(state, examples, x, learned, random)
    held_out = comparison.held_out(folds)
    training = comparison.training(random.permutation(len(x))[: _most(state)])
    # Many examples speak for themselves. For a named scorer, a misspelled key is any other text.
    is_tested = len(x) < MANY or state.scorer is None
    broken = comparison.broken() if is_tested else (0, 0)
    report = _report_on_keys(state, examples, learned, held_out, training, broken)
    return FitResult(learned, comparison.calibration, report)


def _report_on_keys(
    state: DictState,
    examples: KeyExamples,
    learned: Parameters,
    held_out: Answers,
    training: Answers,
    broken: tuple[int, int],
) -> FitReport:
    once, options = held_out.first_round, _options(state, learned)
    cutoff = acceptance.best_cutoff(once.after, training.after, state.cutoff)
    if cutoff is not None:
        options["score_cutoff"] = cutoff
    cutoffs = Cutoffs(state.cutoff, state.cutoff if cutoff is None else cutoff)
    must_gain = not _is_lenient(state, len(examples.queries))
    verdict = acceptance.verdict_on_keys(held_out, training, cutoffs, broken, must_gain=must_gain)
    asked = held_out if held_out.before else training
    return _report(
        verdict,
        [
            acceptance.measures_of_answers(answers, at)
            for side in (training, held_out)
            for answers, at in zip((side.before, side.after), cutoffs, strict=True)
        ],
        acceptance.key_changes(asked, examples.queries, state.names),
        examples=len(examples.queries),
        validated=len(once.before),
        history=learned.history,
        options=options,
    )


# ---- from values -----------------------------------------------------------------------------


def _learn_values(
    state: DictState, examples: ValueExamples, x: Array, settings: Settings, share: float
) -> FitResult:
    """Learn by which Q and K (and V) queries pool their targets."""
    values, targets = _flat_values(state, examples)
    random = np.random.default_rng(settings.seed)
    most = _most(state)

    def train(rows: NDArray[np.intp], settings: Settings) -> Parameters:
        return train_on_values(state, x[rows], values, targets[rows], settings)

    def errors(candidate: Candidate, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        if not len(rows):
            return np.zeros(0)
        pooled = candidate.pooled(examples.some(rows).queries, x[rows], values)
        return np.asarray(np.sqrt(np.square(pooled - targets[rows]).mean(axis=1)))

    parts = acceptance.split([np.arange(len(x))], share, most, random)
    stages = Stages(settings.progress, len(parts) + 1)
    learned, folds = _train(train, parts, len(x), settings, stages)
    stages.finish()
    before, after = state.unchanged, Candidate(state, learned)
    some = random.permutation(len(x))[:most]
    training = Errors(some, errors(before, some), errors(after, some))
    held = np.concatenate([some[:0], *(rows for _, rows in folds)])
    by_fold = [errors(Candidate(state, of), rows) for of, rows in folds]
    held_out = Errors(held, errors(before, held), np.concatenate([np.zeros(0), *by_fold]))
    report = _report_on_values(state, examples, learned, held_out, training)
    return FitResult(learned, None, report)


def _flat_values(
    state: DictState, examples: ValueExamples
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of the keys (S, Ev) and the targets (L, Ev), checked to be of one shape."""
    values = StackedValues(state.names, state.values, state.embedding).array()
    if values.shape[1:] != examples.values.shape[1:]:
        raise ShapeError(
            f"targets: expected the shape {values.shape[1:]} of what is pooled, "
            f"got {examples.values.shape[1:]}"
        )
    return values.reshape(len(values), -1), examples.values.reshape(len(examples.values), -1)


def _report_on_values(
    state: DictState,
    examples: ValueExamples,
    learned: Parameters,
    held_out: Errors,
    training: Errors,
) -> FitReport:
    measures = [
        acceptance.measures_of_errors(errors)
        for side in (training, held_out)
        for errors in (side.before, side.after)
    ]
    is_held_out = len(held_out.rows) > 0
    return _report(
        acceptance.verdict_on_values(*measures[2 * is_held_out :][:2], held_out=is_held_out),
        measures,
        acceptance.value_changes(held_out if is_held_out else training, examples.queries),
        examples=len(examples.queries),
        validated=len(held_out.rows),
        history=learned.history,
        options=_options(state, learned),
    )


# ---- the report ------------------------------------------------------------------------------


def _options(state: DictState, learned: Parameters) -> dict[str, Any]:
    """Return the learned options, but for projections and cutoff."""
    options: dict[str, Any] = {}
    if learned.scorer is not state.scorer:
        options["scorer"] = learned.scorer
        options["score_cutoff"] = None  # scores have another scale now
    if learned.temperature is not None:
        options["temperature"] = learned.temperature
    return options


def _report(
    verdict: tuple[bool, str],
    measures: Sequence[Measures],
    changes: Sequence[tuple[Change, float]],
    **facts: Any,
) -> FitReport:
    """Return the report; measures are those of training and held-out examples, before and after."""
    by_gain = sorted(changes, key=lambda changed: -changed[1])
    return FitReport(
        kept=verdict[0],
        reason=verdict[1],
        training_before=measures[0],
        training_after=measures[1],
        held_out_before=measures[2],
        held_out_after=measures[3],
        better=tuple(change for change, gain in by_gain if gain > 0),
        worse=tuple(change for change, gain in by_gain[::-1] if gain <= 0),
        **facts,
    )
