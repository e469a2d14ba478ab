"""A dict that is taught: what it is before, the examples it learns from, the options it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fuzzydict._arrays import require_counts
from fuzzydict.embedding.maps import composed
from fuzzydict.embedding.projections import (
    ROLES,
    Projected,
    Projections,
    as_projections,
    seen_through,
)
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.learning.candidate import Keys, Subject
from fuzzydict.learning.examples import KeyExamples, ValueExamples, checked_examples
from fuzzydict.learning.gradient_descent import Settings
from fuzzydict.learning.validation import Lesson, lesson_of_keys, lesson_of_values
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer
from fuzzydict.options import Configured, check_option
from fuzzydict.results.pooling import stack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.fits import FuzzyFits
    from fuzzydict.learning.report import FitReport

__all__ = ["Learnt", "Plan", "set_learned", "taught", "unlearned"]


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


_LEARNED = ("projections", "scorer", "temperature", "score_cutoff")
_NAME = "_learnt"  # of the attribute of a dict, which goes where its options go, but to no file


class Learnt(NamedTuple):
    """Options by name, as they were before a dict was fitted, and as `fit` left them."""

    before: dict[str, Any]
    after: dict[str, Any]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # options are not copied either


def unlearned(d: Configured) -> dict[str, Any]:
    """Return the options as they would be if the dict had not been fitted.

    What was set since then stays. Of a dict from a file, which remembers nothing, no more is
    known than on what its projections were learned.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict()
    >>> set_learned(d, {"score_cutoff": 0.5, "temperature": 2.0})
    >>> d.temperature = 3.0  # not by fit
    >>> unlearned(d)
    {'projections': None, 'scorer': None, 'temperature': 3.0, 'score_cutoff': None}
    """
    options = {name: getattr(d, name) for name in _LEARNED}
    learnt: Learnt | None = d.__dict__.get(_NAME)
    if learnt is not None:
        for name, value in options.items():
            if _same(value, learnt.after[name]):
                options[name] = learnt.before[name]
    projections = options["projections"]
    if isinstance(projections, Projections) and projections.base is not None:
        options["projections"] = projections.base
    return options


def set_learned(d: Configured, options: Mapping[str, Any]) -> None:
    """Set options, and remember what they were; hold the dict's lock, so that none reads amid."""
    before = unlearned(d)
    for name, value in options.items():
        check_option(name, value)  # all of them, before one is set
    for name, value in options.items():
        if value is not getattr(d, name):  # for the keys would be encoded again
            setattr(d, name, value)
    d.__dict__[_NAME] = Learnt(before, {name: getattr(d, name) for name in _LEARNED})


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, str | float | int) and a == b)


_NUMBERS = 2**26  # of the queries' vectors, at most: a quarter of a gigabyte
_TEXTS = 4096  # encoded at a time


class _Pupil(NamedTuple):
    """A dict before it learns."""

    subject: Subject
    values: list[Any]  # of its keys, S of them


def taught(
    d: FuzzyFits[Any],
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    plan: Plan,
) -> FitReport:
    """Teach a dict as `FuzzyDict.fit` tells; what is kept is set at the end, and at once."""
    pupil = _pupil(d, warm_start=plan.warm_start)
    subject = pupil.subject
    places = {name: place for place, name in enumerate(subject.keys.names)}
    examples = checked_examples(queries, targets, places, d)
    size = subject.keys.vectors.shape[1]
    lesson = _lesson(pupil, _some(examples, size, plan.seed), plan)
    onto = subject.start if plan.warm_start else None
    options = lesson.report.options | _projections(lesson, subject, onto)
    if lesson.report.kept:
        with d._lock:
            set_learned(d, options if plan.warm_start else unlearned(d) | options)
    return replace(lesson.report, options=options)


# ---- what the dict is -----------------------------------------------------------------------


def _pupil(d: FuzzyFits[Any], *, warm_start: bool) -> _Pupil:
    """Return the dict as it learns: as it is, or as it was before it learned."""
    with d._lookup() as lookup:
        index = lookup.index
        index.sync()
        names, vectors = index.living(), index.vectors[index.alive]
        if not names:
            raise OptionError("fit: the dict has no key with letters or digits to lead queries to")
        values, adapted = d._values(names), d._adapted_embedding()
        present = {name: getattr(d, name) for name in unlearned(d)}
        options = present if warm_start else unlearned(d)
    seen = seen_through(adapted, as_projections(options["projections"]))
    start = seen.projections if isinstance(seen, Projected) else Projections()
    if options["projections"] is not present["projections"]:
        vectors = seen.encode(names)
    subject = Subject(
        Keys(names, vectors, adapted),
        start,
        Projected(adapted, start).calibration,
        scorer=options["scorer"],
        temperature=options["temperature"],
        score_cutoff=options["score_cutoff"],
    )
    return _Pupil(subject, values)


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


def _lesson(pupil: _Pupil, examples: KeyExamples | ValueExamples, plan: Plan) -> Lesson:
    subject, queries = pupil.subject, examples.queries
    settings = plan.settings(subject, len(queries), pools=isinstance(examples, ValueExamples))
    x = _encoded(Projected(subject.keys.embedding, subject.start), queries)
    if isinstance(examples, KeyExamples):
        return lesson_of_keys(subject, examples, x, settings, plan.share)
    stacked = stack(subject.keys.names, pupil.values, subject.keys.embedding)
    values, wanted = _flat(stacked, examples.values)
    return lesson_of_values(subject, queries, x, values, wanted, settings, plan.share)


def _encoded(embedding: Projected, queries: Sequence[str]) -> Array:
    """Return the vectors of queries, (L, E), a part at a time, so that memory stays bounded."""
    starts = range(0, len(queries), _TEXTS)
    return np.concatenate([embedding.encode_queries(queries[i : i + _TEXTS]) for i in starts])


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
