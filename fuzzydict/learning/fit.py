"""A dict that is taught: what it is before, the examples it learns from, the options it gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.embedding.maps import composed
from fuzzydict.embedding.projections import Projected, Projections, as_projections, seen_through
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import OptionError, ShapeError
from fuzzydict.learning.candidate import Subject
from fuzzydict.learning.examples import KeyExamples, ValueExamples, checked_examples
from fuzzydict.learning.plans import Plan
from fuzzydict.learning.trials import Keys
from fuzzydict.learning.unlearning import set_learned, unlearned
from fuzzydict.learning.validation import Lesson, lesson_of_keys, lesson_of_values
from fuzzydict.results.pooling import stack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.encoder import Embedding
    from fuzzydict.fits import FuzzyFits
    from fuzzydict.learning.report import FitReport

__all__ = ["taught"]

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
