"""What `FuzzyDict.fit` does: train projections on examples, and report whether they help.

1. `learn_from` checks the examples and encodes their queries.
2. If there are enough, some are held out, or each in turn (`acceptance.split`).
3. Q and K are trained on the others, and on all (`candidate.train_on_keys`).
4. The held-out examples are answered before and after, without what is remembered.
5. The verdict is given (`acceptance.verdict_on_keys`).
6. `remembered` says which key each text is to be another name of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import as_floats, whole_number
from fuzzydict.embedding.projections import ROLES, Projections, composed
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.learning import acceptance
from fuzzydict.learning.acceptance import Answers, Errors, Fold, Measures
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
from fuzzydict.search.score import is_spelling
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.learning.acceptance import Change
    from fuzzydict.learning.candidate import Answer


# ---- the arguments ---------------------------------------------------------------------------

_VALIDATION = 0.2
#: Examples. Q and K learned from fewer answer no other query better (benchmark `fit_harm`).
ENOUGH = 100
_MANY = 500  # examples, of which a part is held out once; of fewer, each is held out in turn
_STEPS, _BATCH = 2000, 256  # enough steps to learn from values, and the examples of a step


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
        given = {name: getattr(self, name) for name in ("rank", "epochs", "learning_rate")}
        given = {name: value for name, value in given.items() if value is not None}
        checked = Settings(**given, validation=self.share, seed=self.seed)  # or raise
        for name in (*given, "validation", "seed"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, getattr(checked, name))

    @property
    def share(self) -> float:
        """The share of the examples to hold out."""
        return _VALIDATION if self.validation is None else self.validation

    def why_not(self, state: DictState, examples: KeyExamples) -> str | None:
        """Return why no Q and K are learned from these examples, or None if they are."""
        if not len(examples.pairs):
            return "no example has a key"
        if not _learns(state.scorer):
            return f"no Q and K are learned for the scorer {_shown(state.scorer)}"
        if len(examples.queries) < ENOUGH and self.validation is None:
            return (
                f"there are fewer than {ENOUGH} examples, too few to learn what other queries "
                f"mean; set validation to 0 to learn from them anyway"
            )
        return None

    def settings(self, state: DictState, examples: KeyExamples | ValueExamples) -> Settings:
        """Return the hyper-parameters.

        Raises:
            OptionError: an argument does not go with the scorer, the keys or the targets.
        """
        size = state.key_vectors.shape[1]
        if self.rank is not None:
            whole_number("rank", self.rank, most=size)  # the size of the vectors
        pools = isinstance(examples, ValueExamples)
        given = {name: getattr(self, name) for name in ("epochs", "learning_rate", "rank")}
        # Fewer examples are all learned from: their loss says little about when to stop early.
        stops_early = self.share and (pools or len(examples.queries) >= _MANY)
        given["validation"] = None if stops_early else 0.0
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
        try:
            roles = {learn} if isinstance(learn, str) else set(learn)
        except Exception:  # it is no list, or holds what cannot be hashed
            roles = set()
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {quoted(learn)}")
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


def _check_scorer(scorer: Any) -> None:
    if not _learns(scorer):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {_shown(scorer)}; set d.scorer to one of these first"
        )


def _pooling_defaults(count: int) -> dict[str, Any]:
    """Return many long steps: an error of a value says little about which key is right."""
    epochs = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    return {"epochs": epochs, "patience": epochs // 5, "learning_rate": 0.1}


# ---- the examples -------------------------------------------------------------------------------


class KeyExample(NamedTuple):
    """A query, and the places of its right keys, maybe none."""

    query: str
    right: frozenset[int]


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
) -> list[KeyExample] | ValueExamples:
    """Return the examples, or raise what is wrong with them.

    A query without letters or digits that should find no key is left out: it finds none anyway.

    Args:
        queries: texts, or a mapping of texts to their targets.
        targets: for each query a key, several keys, or None; or for each a number or an array.
            None if the queries are a mapping.
        places: the keys that can be attended to, with their places.
        keys: all keys, to tell a missing key from one without letters.

    Raises:
        ArgumentTypeError: a query is not a text, or targets are missing or of several kinds.
        OptionError: there are no examples, a key is missing or has no letters, a query has no
            letters but a key, or a query is a key and its target is not.
        ShapeError: queries and targets differ in number, or numbers are not finite or of several
            shapes.

    >>> checked_examples(["hue", "x"], ["color", None], {"brand": 0, "color": 1}, {"color"})
    [KeyExample(query='hue', right=frozenset({1})), KeyExample(query='x', right=frozenset())]
    """
    asked, wanted = _split(queries, targets)
    if len(asked) != len(wanted):
        raise ShapeError(
            f"queries and targets: expected a target for each query, got {len(asked)} queries and "
            f"{len(wanted)} targets"
        )
    if not asked:
        raise OptionError("queries: there are no examples; expected one or more")
    for place, (query, target) in enumerate(zip(asked, wanted, strict=True)):
        _check_query(place, query, target)
    kinds = [_names_keys(place, target) for place, target in enumerate(wanted)]
    if False not in kinds:
        pairs = [pair for pair in zip(asked, wanted, strict=True) if plain(pair[0])]
        if not pairs:
            raise OptionError(
                "queries: none has letters or digits, so that none finds a key; leave them out"
            )
        return [_key_example(query, target, places, keys) for query, target in pairs]
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


def _check_query(place: int, query: Any, target: Any) -> None:
    if not isinstance(query, str):
        raise ArgumentTypeError(
            f"queries: expected texts, got {type(query).__name__} {quoted(query)} at {place}"
        )
    if target is not None and not plain(query):
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


def _key_example(
    query: str, target: Any, places: Mapping[str, int], keys: Container[Any]
) -> KeyExample:
    wanted = () if target is None else (target,) if isinstance(target, str) else target
    right = frozenset(_place(key, query, places, keys) for key in wanted)
    own = places.get(query)
    if own is not None and own not in right:
        raise OptionError(
            f"targets: got {quoted(target)} for {quoted(query)}, but it is a key and always finds "
            f"itself; leave the example out"
        )
    return KeyExample(query, right)


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


def merged(examples: Sequence[KeyExample]) -> KeyExamples:
    """Return the examples with each query once, and the keys that any of its examples has.

    Raises:
        OptionError: a query has a key in one example, and none in another.
    """
    right: dict[str, frozenset[int]] = {}
    for query, keys in examples:
        before = right.get(query, keys)
        if bool(before) != bool(keys):
            raise OptionError(
                f"targets: {quoted(query)} has a key in one example and None in another; keep one"
            )
        right[query] = before | keys
    return KeyExamples(list(right), [np.array(sorted(keys), np.intp) for keys in right.values()])


def to_remember(
    examples: Sequence[KeyExample], names: Sequence[str]
) -> dict[str, tuple[str, frozenset[int]]]:
    """Return for each text, as `same_text` has it, its first query, and its keys in all examples.

    Raises:
        OptionError: two examples of one text have no key in common.

    >>> same = [KeyExample("Hue", frozenset({0, 1})), KeyExample("hue", frozenset({1}))]
    >>> to_remember(same, ["brand", "color"])
    {'hue': ('Hue', frozenset({1}))}
    """
    found: dict[str, tuple[str, frozenset[int]]] = {}
    for query, right in examples:
        first, before = found.get(same_text(query), (query, right))
        if bool(before) != bool(right) or (before and not before & right):
            one, other = (
                " or ".join(quoted(names[i]) for i in sorted(keys)) or "None"
                for keys in (before, right)
            )
            raise OptionError(
                f"targets: {quoted(first)} is to find {one}, but {quoted(query)} is to find "
                f"{other}, and they are the same text; keep one, or give a list of right keys"
            )
        found[same_text(query)] = first, before & right
    return found


# ---- from examples to a report ---------------------------------------------------------------

_NUMBERS = 2**26  # of the queries' vectors, at most: a quarter of a gigabyte
_TEXTS = 4096  # encoded at a time


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
    places = {name: place for place, name in enumerate(state.names)}
    examples = checked_examples(queries, targets, places, state.keys)
    if isinstance(examples, ValueExamples) or not plan.remember:
        _check_scorer(state.scorer)
    if isinstance(examples, ValueExamples):
        return FitResult(_learn_values(state, _at_most(examples, state, plan), plan), {})
    texts = to_remember(examples, state.names) if plan.remember else {}
    asked = merged(examples)
    plan.settings(state, asked)  # or raise, whatever is learned
    if not plan.remember and not len(asked.pairs):
        raise OptionError(
            "targets: expected a key for at least one query, got None for all; add a query that "
            "has a key, or give remember=True"
        )
    report, learned = _learn_keys(state, _at_most(asked, state, plan), plan)
    candidate = Candidate(state, learned) if report.kept else state.unchanged
    aliases = _aliases(state, candidate, list(texts.values()))
    return FitResult(replace(report, remembered=len(aliases)), aliases)


def _at_most(examples: Any, state: DictState, plan: Plan) -> Any:
    """Return so many of the examples, drawn at random, that their vectors fit into memory."""
    most = max(_NUMBERS // max(state.key_vectors.shape[1], 1), 1)
    if len(examples.queries) <= most:
        return examples
    rows = np.random.default_rng(plan.seed).permutation(len(examples.queries))
    return examples.some(rows[:most])


def _aliases(
    state: DictState, candidate: Candidate, texts: Sequence[tuple[str, frozenset[int]]]
) -> dict[str, str | None]:
    """Return the key of each query: of several right keys, the nearest."""
    keys = set(state.names)
    texts = [(query, right) for query, right in texts if query not in keys]
    several = [query for query, right in texts if len(right) > 1]
    nearest = {query: min(right, default=None) for query, right in texts}
    if several:
        right_of = [np.array(sorted(right)) for _, right in texts if len(right) > 1]
        best = candidate.nearest(several, _encoded(state, several), right_of)
        nearest |= zip(several, best, strict=True)
    return {
        query: None if place is None else state.names[place] for query, place in nearest.items()
    }


def _encoded(state: DictState, queries: Sequence[str]) -> Array:
    """Return the vectors of queries, (L, E), encoded in parts to bound memory."""
    encode = partial(state.projected.encode_with_trust, of_queries=True)
    starts = range(0, len(queries), _TEXTS)
    return np.concatenate([encode(queries[i : i + _TEXTS])[0] for i in starts])


def _projections(state: DictState, layer: Projections, plan: Plan) -> dict[str, Any]:
    """Return the option ``projections``, if it was learned."""
    if layer.is_identity:
        return {}
    base = state.projected.projections
    parts: list[Any] = [layer.query, layer.key, layer.value]
    words = layer.words
    if plan.warm_start:
        words |= base.words
        if base.base is not None and not isinstance(base.query, Subwords):
            before: list[Any] = [base.query, base.key, base.value]  # learned by an earlier fit
            parts = [composed(first, then) for first, then in zip(before, parts, strict=True)]
            base = base.base
    name = _name(state.embedding)
    return {"projections": Projections(*parts, embedding=name, base=base, words=words)}


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

_ASKED, _LEAST_ASKED = 256, 32  # examples to ask, at most; fewer if there are very many keys
_FEATURES = 2**23  # queries times keys that are held at once


def _most(state: DictState) -> int:
    """Return how many examples to ask, at most, to bound memory."""
    return int(np.clip(_FEATURES // len(state.names), _LEAST_ASKED, _ASKED))


def _learn_keys(
    state: DictState, examples: KeyExamples, plan: Plan
) -> tuple[FitReport, Parameters]:
    """Learn by which Q and K queries find their keys, if there are enough examples."""
    random, why_not = np.random.default_rng(plan.seed), plan.why_not(state, examples)
    x = _encoded(state, examples.queries)
    learned, folds = state.parameters, list[Fold]()
    if why_not is None:
        learned, folds = _trained_on_keys(state, examples, x, plan, random)

    def answers(candidate: Candidate, rows: NDArray[np.intp]) -> list[Answer]:
        some = examples.some(rows)
        return candidate.answers(some.queries, x[rows], some.right)

    some = random.permutation(len(x))[: _most(state)]
    before = answers(state.unchanged, some)
    after = before if why_not else answers(Candidate(state, learned), some)
    held = np.concatenate([some[:0], *(rows for _, rows in folds)])
    by_fold = [answers(Candidate(state, of), rows) for of, rows in folds]
    held_out = Answers(
        held, answers(state.unchanged, held), [answer for part in by_fold for answer in part]
    )
    facts = {"history": learned.history, "options": _options(state, learned, plan)}
    training = Answers(some, before, after)
    return _report_on_keys(state, examples, held_out, training, why_not, **facts), learned


def _trained_on_keys(
    state: DictState, examples: KeyExamples, x: Array, plan: Plan, random: np.random.Generator
) -> tuple[Parameters, list[Fold]]:
    """Return the parameters to keep, and those trained without each part of the examples."""
    settings, pairs = plan.settings(state, examples), examples.pairs

    def train(rows: NDArray[np.intp], settings: Settings) -> Parameters:
        some = pairs[np.isin(pairs[:, 0], rows)]
        return train_on_keys(state, examples.queries, x, some, settings)

    has_key = np.array([len(keys) > 0 for keys in examples.right])
    groups = [np.flatnonzero(has_key), np.flatnonzero(~has_key)]
    parts = acceptance.split(groups, plan.share, random, many=_MANY, most=_most(state))
    stages = Stages(settings.progress, len(parts) + 1)
    found = _train(train, parts, len(x), settings, stages)
    stages.finish()
    return found


def _report_on_keys(
    state: DictState,
    examples: KeyExamples,
    held_out: Answers,
    training: Answers,
    why_not: str | None,
    **facts: Any,
) -> FitReport:
    asked, is_held_out = (held_out, True) if held_out.before else (training, False)
    verdict = False, why_not or ""
    if why_not is None:
        verdict = acceptance.verdict_on_keys(asked, state.cutoff, held_out=is_held_out)
    return _report(
        verdict,
        [
            acceptance.measures_of_answers(answers, state.cutoff)
            for side in (training, held_out)
            for answers in (side.before, side.after)
        ],
        acceptance.key_changes(asked, examples.queries, state.names),
        examples=len(examples.queries),
        validated=len(held_out.rows),
        **facts,
    )


# ---- from values -----------------------------------------------------------------------------


_MANY_VALUES = 100  # like `_MANY`; an error of a value says more than a rank does


def _learn_values(state: DictState, examples: ValueExamples, plan: Plan) -> FitReport:
    """Learn by which Q and K (and V) queries pool their targets."""
    settings, x = plan.settings(state, examples), _encoded(state, examples.queries)
    values, targets = _flat_values(state, examples)
    random = np.random.default_rng(plan.seed)
    most = _most(state)

    def train(rows: NDArray[np.intp], settings: Settings) -> Parameters:
        return train_on_values(state, x[rows], values, targets[rows], settings)

    def errors(candidate: Candidate, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        if not len(rows):
            return np.zeros(0)
        pooled = candidate.pooled(examples.some(rows).queries, x[rows], values)
        return np.asarray(np.sqrt(np.square(pooled - targets[rows]).mean(axis=1)))

    parts = acceptance.split([np.arange(len(x))], plan.share, random, many=_MANY_VALUES, most=most)
    stages = Stages(settings.progress, len(parts) + 1)
    learned, folds = _train(train, parts, len(x), settings, stages)
    stages.finish()
    before, after = state.unchanged, Candidate(state, learned)
    some = random.permutation(len(x))[:most]
    training = Errors(some, errors(before, some), errors(after, some))
    held = np.concatenate([some[:0], *(rows for _, rows in folds)])
    by_fold = [errors(Candidate(state, of), rows) for of, rows in folds]
    held_out = Errors(held, errors(before, held), np.concatenate([np.zeros(0), *by_fold]))
    return _report_on_values(state, examples, learned, held_out, training, plan)


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
    plan: Plan,
) -> FitReport:
    measures = [
        acceptance.measures_of_errors(errors)
        for side in (training, held_out)
        for errors in (side.before, side.after)
    ]
    is_held_out = len(held_out.rows) > 0
    return _report(
        acceptance.verdict_on_values(*measures[2 * is_held_out :][:2]),
        measures,
        acceptance.value_changes(held_out if is_held_out else training, examples.queries),
        examples=len(examples.queries),
        validated=len(held_out.rows),
        history=learned.history,
        options=_options(state, learned, plan),
    )


# ---- the report ------------------------------------------------------------------------------


def _options(state: DictState, learned: Parameters, plan: Plan) -> dict[str, Any]:
    """Return the learned options by name."""
    options = _projections(state, learned.layer, plan)
    if learned.scorer is not state.scorer:
        options["scorer"] = learned.scorer
        options["score_cutoff"] = None  # scores have another scale now
    if learned.temperature not in (None, state.parameters.temperature):
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
