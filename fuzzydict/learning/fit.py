"""A dict that is taught: what it is before, the examples it learns from, the options it gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import require_counts
from fuzzydict.embedding.maps import composed
from fuzzydict.embedding.projections import (
    ROLES,
    Projected,
    Projections,
    as_projections,
    with_projections,
)
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.learning.candidate import Keys, Subject
from fuzzydict.learning.examples import KeyExamples, ValueExamples, checked_examples
from fuzzydict.learning.gradient_descent import Settings
from fuzzydict.learning.validation import Lesson, lesson_of_keys, lesson_of_values
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.results.pooling import StackedValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.learning.report import FitReport

__all__ = ["DictState", "Plan", "learn_from"]


_VALIDATION = 0.2
_STEPS, _BATCH = 2000, 256  # steps that are enough, of so many examples each


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of `FuzzyDict.fit`, which tells of them."""

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

    def settings(self, subject: Subject, count: int, *, pools: bool) -> Settings:
        """Return how to learn from so many examples.

        Raises:
            OptionError: an option does not go with the scorer, the keys or the targets.
        """
        _check_scorer(subject.scorer)
        self._check_rank(subject.keys.vectors.shape[1])
        told = {name: getattr(self, name) for name in ("epochs", "learning_rate", "rank")}
        told["validation"] = None if self.share else 0.0  # then none tells when to stop, either
        return Settings(
            **(_slow_pace(count) if pools else {})
            | {name: value for name, value in told.items() if value is not None},
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

    def _check_rank(self, size: int) -> None:
        if self.rank is None:
            return
        require_counts(rank=self.rank)
        if self.rank > size:
            raise OptionError(
                f"rank: expected {size} at most, the size of the vectors, got {self.rank}"
            )


def _check_scorer(scorer: Any) -> None:
    """Raise unless Q and K can be learned for this scorer."""
    made = None if scorer is None else as_scorer(scorer)
    if not isinstance(made, Cosine | ScaledDot | Dot | None):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {made!r}; set d.scorer to one of these first"
        )


def _slow_pace(count: int) -> dict[str, Any]:
    """Return how fast to learn from values, which say little of where to go: many long steps."""
    passes = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    return {"epochs": passes, "patience": passes // 5, "learning_rate": 0.1}


_NUMBERS = 2**26  # of the queries' vectors, at most: a quarter of a gigabyte
_TEXTS = 4096  # encoded at a time


@dataclass(frozen=True)
class DictState:
    """A dict as it learns: a snapshot of what `fit` needs to know of it.

    Attributes:
        keys: all keys of the dict.
        names: the keys that can be attended to, S of them, in order.
        vectors: theirs, (S, E), with the projections of the options; None if they are not known.
        values: theirs, S of them.
        embedding: what encodes texts, without projections.
        options: the options that `fit` may set, by name, as it starts from them.
    """

    keys: Collection[Any]
    names: list[str]
    vectors: NDArray[np.float32] | None
    values: list[Any]
    embedding: Any
    options: Mapping[str, Any]


def learn_from(
    state: DictState,
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> FitReport:
    """Return what a dict learns from examples, as `FuzzyDict.fit` describes."""
    subject = _subject(state)
    places = {name: place for place, name in enumerate(state.names)}
    examples = checked_examples(queries, targets, places, state.keys)
    size = subject.keys.vectors.shape[1]
    lesson = _lesson(subject, state.values, _some(examples, size, plan.seed), plan)
    onto = subject.start if plan.warm_start else None
    options = lesson.report.options | _projections(lesson, subject, onto)
    return replace(lesson.report, options=options)


def _subject(state: DictState) -> Subject:
    """Return the dict with the projections from which it starts."""
    options, embedding = state.options, state.embedding
    projected = with_projections(embedding, as_projections(options["projections"]))
    start = projected.projections if isinstance(projected, Projected) else Projections()
    vectors = projected.encode(state.names) if state.vectors is None else state.vectors
    return Subject(
        Keys(state.names, vectors, embedding),
        start,
        Projected(embedding, start).calibration,
        scorer=options["scorer"],
        temperature=options["temperature"],
        score_cutoff=options["score_cutoff"],
    )


# ---- what it learns from --------------------------------------------------------------------


def _some(
    examples: KeyExamples | ValueExamples, size: int, seed: int
) -> KeyExamples | ValueExamples:
    """Return no more examples than there is room for, drawn by chance."""
    most = max(_NUMBERS // size, 1)
    if len(examples.queries) <= most:
        return examples
    rows = np.random.default_rng(seed).permutation(len(examples.queries))[:most]
    if isinstance(examples, KeyExamples):
        return examples.some(rows)
    return ValueExamples([examples.queries[i] for i in rows.tolist()], examples.values[rows])


def _lesson(
    subject: Subject, held: list[Any], examples: KeyExamples | ValueExamples, plan: Plan
) -> Lesson:
    queries = examples.queries
    settings = plan.settings(subject, len(queries), pools=isinstance(examples, ValueExamples))
    x = _encoded(Projected(subject.keys.embedding, subject.start), queries)
    if isinstance(examples, KeyExamples):
        return lesson_of_keys(subject, examples, x, settings, plan.share)
    stacked = StackedValues(subject.keys.names, held, subject.keys.embedding).array()
    values, wanted = _flat(stacked, examples.values)
    return lesson_of_values(subject, queries, x, values, wanted, settings, plan.share)


def _encoded(embedding: Projected, queries: Sequence[str]) -> Array:
    """Return the vectors of queries, (L, E), a part at a time, so that memory stays bounded."""
    starts = range(0, len(queries), _TEXTS)
    encoded = partial(embedding.encode_with_trust, of_queries=True)
    return np.concatenate([encoded(queries[i : i + _TEXTS])[0] for i in starts])


def _flat(
    values: NDArray[np.float64], targets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values (S, Ev) and targets (L, Ev), which are of one shape."""
    if values.shape[1:] != targets.shape[1:]:
        raise ShapeError(
            f"targets: expected the shape {values.shape[1:]} of what is pooled, "
            f"got {targets.shape[1:]}"
        )
    return values.reshape(len(values), -1), targets.reshape(len(targets), -1)


# ---- what it becomes ------------------------------------------------------------------------


def _projections(lesson: Lesson, subject: Subject, onto: Projections | None) -> dict[str, Any]:
    """Return the option of projections, if they were learned."""
    layer, base = lesson.learned.layer, subject.start
    if layer.is_identity and lesson.calibration is None:
        return {}
    parts: list[Any] = [layer.query, layer.key, layer.value]
    if onto is not None and onto.base is not None and not isinstance(onto.query, Subwords):
        base = onto.base  # one layer for all that was learned
        before: list[Any] = [onto.query, onto.key, onto.value]
        parts = [composed(first, then) for first, then in zip(before, parts, strict=True)]
    projections = Projections(
        *parts,
        embedding=_name(subject.keys.embedding),
        base=base,
        calibration=lesson.calibration,
        words=layer.words if onto is None else layer.words | onto.words,
    )
    return {"projections": projections}


def _name(embedding: Embedding) -> str | None:
    try:
        name: str = embedding.fingerprint()["name"]
    except Exception:  # of a user's function, which may know its own texts alone
        return None
    return name
