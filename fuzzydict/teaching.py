"""A dict that is taught: what it is before, what it should learn, and the options that are set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.arrays import require_counts
from fuzzydict.descent import Settings
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.learners import Learned, Subject, trained
from fuzzydict.learning import Lesson, lesson_of_keys, lesson_of_values
from fuzzydict.projected import Projected
from fuzzydict.projections import ROLES, Projections
from fuzzydict.query_heads import composed_heads
from fuzzydict.subwords import Subwords
from fuzzydict.targets import KeyExamples, ValueExamples, checked_examples
from fuzzydict.trials import Keys
from fuzzydict.values import stack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.adapters import Embedding
    from fuzzydict.arrays import Array
    from fuzzydict.evidence import Calibration
    from fuzzydict.fit_report import FitReport
    from fuzzydict.fits import FuzzyFits

__all__ = ["taught"]

_NUMBERS = 2**26  # of the queries' vectors, at most: a quarter of a gigabyte
_TEXTS = 4096  # encoded at a time
_VALIDATION = 0.2
_STEPS, _BATCH = 2000, 256  # steps that are enough, of so many examples each


def taught(
    d: FuzzyFits[Any],
    queries: Iterable[str],
    targets: Iterable[Any],
    *,
    learn: Sequence[str] | None,
    rank: int | None,
    num_heads: int | None,
    epochs: int | None,
    learning_rate: float | None,
    validation: float | None,
    seed: int,
    progress: Callable[[int, int], None] | None,
    warm_start: bool,
) -> FitReport:
    """Do what `FuzzyFits.fit` says; the dict is changed at the end, and at once."""
    given: dict[str, Any] = {"epochs": epochs, "learning_rate": learning_rate, "rank": rank}
    share = _share(validation)
    trained(d.scorer)
    subject, present, values = _subject(d, warm_start=warm_start)
    places = {name: place for place, name in enumerate(subject.keys.names)}
    examples = checked_examples(queries, targets, places, d)
    pools = isinstance(examples, ValueExamples)
    size = subject.keys.vectors.shape[1]
    examples = _some(examples, subject.start.num_heads * size, _whole(seed))
    heads = _num_heads(d, num_heads, learn, subject)
    is_slow = pools or trained(d.scorer) is not None
    defaults = _pace(len(examples.queries), heads, is_slow=is_slow)
    settings = Settings(
        **defaults | {name: value for name, value in given.items() if value is not None},
        **_roles(d, learn, pools=pools),
        num_heads=heads,
        seed=seed,
        progress=progress,
    )
    _check_rank(rank, size)
    x = _encoded(Projected(subject.keys.embedding, subject.start), examples.queries)
    if isinstance(examples, KeyExamples):
        lesson = lesson_of_keys(subject, examples, x, settings, share)
    else:
        stacked = stack(subject.keys.names, values, subject.keys.embedding)
        flat, wanted = _flat(stacked, examples.values)
        lesson = lesson_of_values(subject, examples.queries, x, flat, wanted, settings, share)
    options = _options(d, lesson, subject, present if warm_start else None)
    report = replace(lesson.report, options=options)
    if report.kept:
        for name, value in options.items():
            setattr(d, name, value)
    return report


# ---- what the dict is -----------------------------------------------------------------------


def _subject(d: FuzzyFits[Any], *, warm_start: bool) -> tuple[Subject, Projections, list[Any]]:
    """Return the dict as it learns, its present projections, and its values."""
    with d._lookup() as lookup:
        index = lookup.index
        index.sync()
        names, alive = index.living(), index.alive
        if not names:
            raise OptionError("fit: the dict has no key with letters or digits to lead queries to")
        vectors, trust = index.vectors[alive], index.trust[alive]
        values = d._values(names)
        adapted, seen = d._adapted_embedding(), d._projected_embedding()
    present = seen.projections if isinstance(seen, Projected) else Projections()
    start = present
    if not warm_start and present.base is not None:
        start = present.base
        vectors = Projected(adapted, start).encode(names)
    calibration: Calibration = Projected(adapted, start).calibration
    keys = Keys(names, vectors, trust, adapted)
    return Subject(keys, start, calibration, d.scorer, d.temperature), present, values


def _encoded(embedding: Projected, queries: Sequence[str]) -> Array:
    """Return the vectors of queries, (L, E), a part at a time, so that memory stays bounded."""
    starts = range(0, len(queries), _TEXTS)
    return np.concatenate([embedding.encode_queries(queries[i : i + _TEXTS]) for i in starts])


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


# ---- what it is asked to learn --------------------------------------------------------------


def _roles(d: FuzzyFits[Any], learn: Sequence[str] | None, *, pools: bool) -> dict[str, Any]:
    """Return the settings that say which of Q, K and V to learn."""
    if learn is None:
        return {}
    roles = {learn} if isinstance(learn, str) else set(learn)
    if not roles or not roles <= set(ROLES):
        raise OptionError(f"learn: expected some of {', '.join(map(repr, ROLES))}, got {learn!r}")
    if "value" in roles and not pools:
        raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
    if trained(d.scorer) is not None:
        raise OptionError(f"learn: the scorer {d.scorer!r} learns its own parameters; leave it out")
    fixed = tuple(role for role in ("query", "key") if role not in roles)
    return {"fixed": fixed, "learn_value": "value" in roles}


def _num_heads(
    d: FuzzyFits[Any], num_heads: int | None, learn: Sequence[str] | None, subject: Subject
) -> int:
    """Return how many heads of the query to learn: as many as there are, where it goes on."""
    there, keys = subject.start.num_heads, len(subject.keys.names)
    wanted = there if num_heads is None else num_heads
    require_counts(num_heads=wanted)
    if wanted == there == 1:
        return 1
    if there not in (1, wanted):
        raise OptionError(
            f"num_heads: queries have {there} heads, and the fit goes on from them, got {wanted}; "
            f"leave num_heads out, or set d.projections = None first"
        )
    if wanted > max(keys, there):
        raise OptionError(f"num_heads: expected {keys} at most, a head for each key, got {wanted}")
    if trained(d.scorer) is not None:
        raise OptionError(
            f"num_heads: the scorer {d.scorer!r} learns its own parameters, of queries of one "
            f"head, got {wanted}; expected the default, 'cosine', 'scaled_dot' or 'dot'"
        )
    if learn is not None and "query" not in learn:
        raise OptionError(f"num_heads: learn={learn!r} leaves the query as it is, got {wanted}")
    return int(wanted)


def _pace(count: int, heads: int, *, is_slow: bool) -> dict[str, Any]:
    """Return how fast to learn, where not as usual.

    What says little of where to go, as values do, takes many long steps. Heads, which start alike,
    take time to part.
    """
    passes = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    if is_slow:
        return {"epochs": passes, "patience": passes // 5, "learning_rate": 0.1}
    return {"epochs": passes, "patience": passes // 10} if heads > 1 else {}


def _share(validation: float | None) -> float:
    if validation is None:
        return _VALIDATION
    Settings(validation=validation)  # or raise
    return float(validation)


def _whole(seed: int) -> int:
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentTypeError(f"seed: expected a whole number of 0 or more, got {seed!r}")
    return int(seed)


def _check_rank(rank: int | None, size: int) -> None:
    if rank is not None:
        require_counts(rank=rank)
        if rank > size:
            raise OptionError(f"rank: expected {size} at most, the size of the vectors, got {rank}")


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


def _options(
    d: FuzzyFits[Any], lesson: Lesson, subject: Subject, onto: Projections | None
) -> dict[str, Any]:
    """Return the options that were learned."""
    options = dict(lesson.report.options)
    learned = lesson.learned
    if not learned.layer.is_identity or lesson.calibration is not None:
        options["projections"] = _projections(learned, lesson, subject, onto)
    if "scorer" in options and type(options["scorer"]) is not type(d.scorer):
        options.setdefault("score_cutoff", None)  # the one that was set is of another scale
    return options


def _projections(
    learned: Learned, lesson: Lesson, subject: Subject, onto: Projections | None
) -> Projections:
    layer, base = learned.layer, subject.start
    parts: list[Any] = [layer.query, layer.key, layer.value]
    if onto is not None and onto.base is not None and not isinstance(onto.query, Subwords):
        base = onto.base  # one layer for all that was learned
        before: list[Any] = [onto.query, onto.key, onto.value]
        parts = [composed_heads(first, then) for first, then in zip(before, parts, strict=True)]
    words = layer.words if onto is None else layer.words | onto.words
    return Projections(
        *parts,
        embedding=_name(subject.keys.embedding),
        base=base,
        calibration=lesson.calibration,
        words=words,
    )


def _name(embedding: Embedding) -> str | None:
    try:
        name: str = embedding.fingerprint()["name"]
    except Exception:  # of a user's function, which may know its own texts alone
        return None
    return name
