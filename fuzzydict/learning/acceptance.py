"""Whether to keep a candidate: its answers to held-out examples, compared with those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict.learning.candidate import (
    Answer,
    Candidate,
    DictState,
    Parameters,
    Question,
    answers_to,
    calibrate,
)
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict._arrays import Array
    from fuzzydict.embedding.calibration import Calibration
    from fuzzydict.learning.candidate import KeyExamples


# ---- which examples are held out -------------------------------------------------------------

#: From so many examples on, one part is held out. Of fewer, each example is held out in turn.
MANY = 100
_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out


def split(
    groups: Sequence[NDArray[np.intp]],
    share: float,
    most: int,
    random: np.random.Generator,
    rounds: int = 1,
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part.

    Of `MANY` examples or more, this is one part. Of fewer, five parts hold out each example once,
    and other parts do so again in each further round. Each part has its share of every group.

    Args:
        groups: rows of the examples, by kind.
        share: of many examples, how many to hold out.
        most: of many examples, how many to hold out at most.
        random: shuffles the rows.
        rounds: how often to hold out each of a few examples.

    >>> random = np.random.default_rng(0)
    >>> parts = split([np.arange(4), np.arange(4, 6)], 0.2, 256, random)
    >>> sorted(np.concatenate(parts).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    count = sum(map(len, groups))
    if count < _TOO_FEW or not share:
        return []
    if count >= MANY:
        share = min(share, most / count)
        held_out = [random.permutation(g)[: _share_of(len(g), share)] for g in groups]
        return [np.concatenate(held_out)]
    folds = min(count, _FOLDS)
    orders = [np.concatenate([random.permutation(g) for g in groups]) for _ in range(rounds)]
    return [order[place::folds] for order in orders for place in range(folds)]


def _share_of(count: int, share: float) -> int:
    """Return how many to hold out: at least one, but not the only one."""
    return min(round(share * count) or 1, count - 1) if count else 0


# ---- misspelled keys, which must still be found ----------------------------------------------

_SHORTEST = 4  # letters; a shorter word, misspelled, may be another word


class Misspelled(NamedTuple):
    """Misspelled keys as queries, their vectors (n, E), and the right key of each."""

    queries: list[str]
    vectors: Array
    right: list[NDArray[np.intp]]


def misspelled(text: str, random: np.random.Generator) -> str:
    """Return a text with two neighbouring letters swapped or one left out, but not the first.

    >>> misspelled("color", np.random.default_rng(0))
    'colr'
    """
    place = int(random.integers(1, len(text) - 1))
    if random.random() < 0.5:
        return text[:place] + text[place + 1 :]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def misspelled_keys(
    state: DictState,
    most: int,
    random: np.random.Generator,
    *,
    times: int = 1,
    apart_from: Sequence[str] = (),
) -> Misspelled:
    """Return some of the keys misspelled; none if the embedding does not encode other texts.

    Args:
        state: the dict.
        most: how many to return, at most.
        random: draws the keys and the mistakes.
        times: how often each key may be drawn.
        apart_from: misspelled keys not to return.
    """
    known, found = {*state.names, *apart_from}, dict[str, int]()
    drawn = [random.permutation(len(state.names))[: 2 * most] for _ in range(times)]
    for place in np.concatenate(drawn)[: 2 * most].tolist():
        text = plain(state.names[place])
        query = misspelled(text, random) if len(text) >= _SHORTEST else ""
        if plain(query) and query not in known and plain(query) != text:
            found.setdefault(query, place)
    queries = list(found)[:most]
    try:
        vectors = state.projected.encode_with_trust(queries, of_queries=True)[0]
    except Exception:  # of a user's function, which may know its own texts alone
        return Misspelled([], np.zeros((0, 0), np.float32), [])
    return Misspelled(queries, vectors, [np.array([found[query]]) for query in queries])


# ---- answers before and after ----------------------------------------------------------------

_PRIOR = 4.0  # the strength that holds the score's weights at the start, in examples
_MISSPELLED = 32  # keys to misspell
_SIDES = 4  # parts of the examples: each is scored with weights that were fitted to the others
_TIMES = 8  # how often a key is misspelled
_WEIGHT = 0.5  # of all misspelled keys together, relative to the examples

#: Parameters, and the rows of examples that they were not trained on.
Fold = tuple[Parameters, "NDArray[np.intp]"]


class Answers(NamedTuple):
    """The answers to examples, before and after learning."""

    rows: NDArray[np.intp]  # of the examples, (n,); an example may be there several times
    before: list[Answer]
    after: list[Answer]

    @property
    def first_round(self) -> Answers:
        """The answers, with each example once."""
        places = np.sort(np.unique(self.rows, return_index=True)[1]).tolist()
        before, after = ([side[i] for i in places] for side in (self.before, self.after))
        return Answers(self.rows[places], before, after)


class Comparison:
    """Asks a dict the same queries before and after learning.

    For the default score it also fits the calibration to what was learned: `held_out` does so,
    and comes first.

    Args:
        state: the dict.
        examples: L queries, and their right keys.
        x: the queries' vectors, (L, E), with the projections of the dict.
        learned: the parameters of the candidate.
        random: misspells the keys.
    """

    def __init__(
        self,
        state: DictState,
        examples: KeyExamples,
        x: Array,
        learned: Parameters,
        random: np.random.Generator,
    ) -> None:
        self._state, self._examples, self._x = state, examples, x
        self._after = Candidate(state, learned)
        # The score is fitted to some misspelled keys, and tested with others.
        self.fitted_to = misspelled_keys(state, _MISSPELLED, random)
        self.tested_with = misspelled_keys(
            state, _MISSPELLED, random, times=_TIMES, apart_from=self.fitted_to.queries
        )
        is_default = state.scorer is None
        self._calibration_before = state.projected.calibration if is_default else None
        #: The learned calibration; None for a named scorer.
        self.calibration: Calibration | None = None

    def held_out(self, folds: Sequence[Fold]) -> Answers:
        """Return the answers to held-out examples, by parameters not trained on them."""
        rows = np.concatenate([np.zeros(0, np.intp), *(part for _, part in folds)])
        before = self._state.unchanged.answers(*self._these(rows), self._calibration_before)
        tries = [(Candidate(self._state, of), self._these(part)) for of, part in folds]
        if self._calibration_before is None:
            return Answers(rows, before, [a for try_, these in tries for a in try_.answers(*these)])
        questions = [q for try_, these in tries for q in try_.questions(*these)]
        asked, once = np.unique(rows, return_index=True)
        self.calibration = self._calibrated([questions[i] for i in once.tolist()])
        # Each question is scored with a calibration that was fitted to other examples.
        side = np.argsort(np.argsort(once)) % _SIDES
        others = [[questions[i] for i in once[side != number].tolist()] for number in range(_SIDES)]
        fitted = [self._calibrated(some) for some in others]
        sides = side[np.searchsorted(asked, rows)].tolist()
        after = [answers_to([q], fitted[n])[0] for q, n in zip(questions, sides, strict=True)]
        return Answers(rows, before, after)

    def training(self, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to examples by the candidate, which was trained on them."""
        return Answers(rows, *self._both(*self._these(rows)))

    def broken(self) -> tuple[int, int]:
        """Return how many misspelled keys are no longer found, and how many there are."""
        if not self.tested_with.queries:
            return 0, 0
        before, after = self._both(*self.tested_with)
        lost = sum(b.hit and not a.hit for b, a in zip(before, after, strict=True))
        return lost, len(before)

    def _both(
        self, queries: list[str], x: Array, right: list[NDArray[np.intp]]
    ) -> tuple[list[Answer], list[Answer]]:
        return (
            self._state.unchanged.answers(queries, x, right, self._calibration_before),
            self._after.answers(queries, x, right, self.calibration),
        )

    def _these(self, rows: NDArray[np.intp]) -> tuple[list[str], Array, list[NDArray[np.intp]]]:
        some = self._examples.some(rows)
        return some.queries, self._x[rows], some.right

    @cached_property
    def _fitted_questions(self) -> list[Question]:
        return self._after.questions(*self.fitted_to) if self.fitted_to.queries else []

    def _calibrated(self, questions: Sequence[Question]) -> Calibration:
        """Return the calibration fitted to questions, and to misspelled keys."""
        start = self._state.projected.calibration
        if not questions:
            return start
        spelled = self._fitted_questions
        weight = min(_WEIGHT * len(questions) / max(len(spelled), 1), 1.0)
        weighted = [question._replace(weight=weight) for question in spelled]
        pull = _PRIOR / (len(questions) + weight * len(spelled))
        return calibrate([*questions, *weighted], start, pull=pull)


# ---- the cutoff ------------------------------------------------------------------------------

_MARGIN = 1e-6  # beyond the least and the best score, to answer all or none


class Cutoffs(NamedTuple):
    """The least score of a match, before and after."""

    before: float
    after: float


def is_right(answers: Sequence[Answer], cutoff: float) -> NDArray[np.bool_]:
    """Return which of L answers are right, (L,): a right key, or none where no key is right."""
    right = [(a.hit and a.score >= cutoff) or (not a.rank and a.score < cutoff) for a in answers]
    return np.array(right, np.bool_)


def best_cutoff(
    held_out: Sequence[Answer], training: Sequence[Answer], default: float
) -> float | None:
    """Choose the cutoff that answers most examples correctly.

    It answers at least as many held-out examples correctly as the default cutoff, and as many
    training examples. Among equals it is the middle of the widest gap between two scores. Return
    None if there is no such cutoff, or every query has a right key.

    >>> from fuzzydict.learning.candidate import Answer
    >>> right, none = Answer(1, 0.0, 0, 0.5), Answer(0, 0.0, 0, 0.1)
    >>> best_cutoff([right, none], [right, none], default=0.02)
    0.3
    """
    sides = held_out, training
    answers = [a for side in sides for a in side if a.hit or not a.rank]
    if all(answer.rank for answer in answers):
        return None
    scores = np.unique([answer.score for answer in answers])
    edges = np.concatenate([[scores[0] - _MARGIN], scores, [scores[-1] + _MARGIN]])
    middles = (edges[:-1] + edges[1:]) / 2
    right = np.array([[is_right(side, at).sum() for side in sides] for at in middles.tolist()])
    as_good = (right >= [is_right(side, default).sum() for side in sides]).all(axis=1)
    if not as_good.any():
        return None
    total = np.where(as_good, right.sum(axis=1), -1)
    return float(middles[np.where(total == total.max(), np.diff(edges), -1.0).argmax()])


# ---- measures --------------------------------------------------------------------------------

_NAN = float("nan")


class Measures(NamedTuple):
    """How good the answers to some examples are; NaN where a measure does not apply.

    Attributes:
        hit_at_1: share of queries whose best key is right.
        mrr: mean reciprocal rank of the best right key.
        log_probability: mean logarithm of the probability of the right keys, or of "none".
        rmse: root mean squared error of pooled values.
        right_at_cutoff: share of queries that the dict answers correctly: with a right key at or
            above the cutoff, or with none where no key is right.
    """

    hit_at_1: float = _NAN
    mrr: float = _NAN
    log_probability: float = _NAN
    rmse: float = _NAN
    right_at_cutoff: float = _NAN

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of those that apply."""
        if self.rmse == self.rmse:
            yield "root mean squared error", f"{self.rmse:.4g}"
        shown = {
            "hit@1": self.hit_at_1,
            "MRR": self.mrr,
            "log-probability": self.log_probability,
            "right at the cutoff": self.right_at_cutoff,
        }
        yield from ((name, f"{number:.3f}") for name, number in shown.items() if number == number)


def measures_of_answers(answers: Sequence[Answer], cutoff: float) -> Measures:
    """Return how good the answers are."""
    if not answers:
        return Measures()
    keyed = [answer for answer in answers if answer.rank]
    return Measures(
        hit_at_1=float(np.mean([answer.hit for answer in keyed])) if keyed else _NAN,
        mrr=float(np.mean([1 / answer.rank for answer in keyed])) if keyed else _NAN,
        log_probability=float(np.mean([answer.log_probability for answer in answers])),
        right_at_cutoff=float(is_right(answers, cutoff).mean()),
    )


class Errors(NamedTuple):
    """Root mean squared errors of pooled values, before and after, (n,) each."""

    rows: NDArray[np.intp]  # of the examples, (n,)
    before: NDArray[np.float64]
    after: NDArray[np.float64]


def measures_of_errors(errors: NDArray[np.float64]) -> Measures:
    """Return how good pooled values are, from the error of each, (L,)."""
    return Measures(rmse=float(np.sqrt(np.square(errors).mean()))) if len(errors) else Measures()


# ---- the verdict -----------------------------------------------------------------------------

_BROKEN = 0.04  # share of misspelled keys that may be lost: one of 32, none of a few
_CHANCE = -1.28  # standard deviations: by chance alone, one in ten falls further
_ADVICE = "give more examples, or set validation to 0 to keep it all the same"


def verdict_on_keys(
    held_out: Answers,
    training: Answers,
    cutoffs: Cutoffs,
    broken: tuple[int, int],
    *,
    must_gain: bool,
) -> tuple[bool, str]:
    """Return whether to keep the candidate, and why or why not.

    Misspelled keys must still be found, and the training examples answered better. Held-out
    examples must become more probable.

    Args:
        held_out: answers to held-out examples, maybe none.
        training: answers to the training examples.
        cutoffs: the least scores of a match.
        broken: how many misspelled keys are lost, and how many there are.
        must_gain: if true, no held-out measure may get worse; if false, a loss within chance is
            allowed.
    """
    lost, count = broken
    if lost > _BROKEN * count:
        why = f"{lost} of {count} misspelled keys would no longer be found"
        return False, f"{why}; give more examples, or fewer epochs"
    facts, gains = _facts(training, cutoffs, "the training examples"), _gains(training, cutoffs)
    if min(gains) < 0 or max(gains) <= 0:
        why = f"worse by {gains.below(0)}" if min(gains) < 0 else "no better by any of these"
        return False, f"{facts}: {why}; give more epochs, or examples"
    if not held_out.before:
        return True, f"{facts}; none were held out"
    facts, gains = _facts(held_out, cutoffs, "held-out examples"), _gains(held_out, cutoffs)
    if gains.log_probability <= 0:
        return False, f"{facts}: no better by log-probability; {_ADVICE}"
    if must_gain and min(gains) < 0:
        return False, f"{facts}: worse by {gains.below(0)}; {_ADVICE}"
    if min(gains) < _CHANCE:
        return False, f"{facts}: worse than chance explains by {gains.below(_CHANCE)}; {_ADVICE}"
    return True, facts


class _Gains(NamedTuple):
    """How much better examples are answered, in standard deviations of random gains."""

    log_probability: float
    hit: float
    right_at_cutoff: float

    def below(self, limit: float) -> str:
        """Return the names of the measures below a limit."""
        names = ("log-probability", "hit@1", "right at the cutoff")
        return " and ".join(n for n, gain in zip(names, self, strict=True) if gain < limit)


def _gains(answers: Answers, cutoffs: Cutoffs) -> _Gains:
    before, after = answers.before, answers.after
    logs = [b.log_probability - a.log_probability for a, b in zip(before, after, strict=True)]
    hits = [float(b.hit) - a.hit for a, b in zip(before, after, strict=True)]
    right = is_right(after, cutoffs.after) * 1.0 - is_right(before, cutoffs.before)
    return _Gains(*(_in_deviations(answers.rows, np.array(g)) for g in (logs, hits, right)))


def _in_deviations(rows: NDArray[np.intp], gains: NDArray[np.float64]) -> float:
    """Return the sum of the examples' gains, divided by its standard deviation under random signs.

    The gain of an example is the mean of its rounds. With random signs, the variance of the sum
    is the sum of the squared gains.
    """
    examples, places = np.unique(rows, return_inverse=True)
    each = np.bincount(places, gains, len(examples)) / np.bincount(places, minlength=len(examples))
    deviation = np.sqrt(np.square(each).sum())
    return float(each.sum() / deviation) if deviation else 0.0


def _facts(answers: Answers, cutoffs: Cutoffs, where: str) -> str:
    before = measures_of_answers(answers.before, cutoffs.before)
    after = measures_of_answers(answers.after, cutoffs.after)
    both = zip(before.named(), after.named(), strict=True)
    return f"on {where}, {', '.join(f'{name} {a} -> {b}' for (name, a), (_, b) in both)}"


def verdict_on_values(before: Measures, after: Measures, *, held_out: bool) -> tuple[bool, str]:
    """Return whether to keep the candidate, and why or why not."""
    where = "held-out examples" if held_out else "the training examples (none were held out)"
    why = f"on {where}, root mean squared error {before.rmse:.4g} -> {after.rmse:.4g}"
    kept = after.rmse < before.rmse
    return kept, why if kept or not held_out else f"{why}; {_ADVICE}"


# ---- changes ---------------------------------------------------------------------------------

_SMALLEST = 0.01  # relative change of an error that counts as a change


class Change(NamedTuple):
    """A query whose answer changed, with the answers before and after."""

    query: str
    before: str
    after: str


def key_changes(
    answers: Answers, queries: Sequence[str], names: Sequence[str]
) -> list[tuple[Change, float]]:
    """Return the queries whose right key has another rank, and their gain in reciprocal rank.

    If an example was asked in several rounds, the gains are added.
    """
    found: dict[int, tuple[Change, float]] = {}
    for row, was, now in zip(answers.rows.tolist(), answers.before, answers.after, strict=True):
        if was.rank != now.rank:
            change = Change(queries[row], _shown(was, names), _shown(now, names))
            first, gain = found.get(row, (change, 0.0))
            found[row] = first, gain + 1 / now.rank - 1 / was.rank
    return list(found.values())


def _shown(answer: Answer, names: Sequence[str]) -> str:
    rank = "" if answer.hit else f" (a right key is at {answer.rank})"
    return f"{names[answer.best]}{rank}"


def value_changes(errors: Errors, queries: Sequence[str]) -> list[tuple[Change, float]]:
    """Return the queries whose error changed, and by how much it fell."""
    return [
        (Change(queries[row], f"off by {was:.4g}", f"off by {now:.4g}"), was - now)
        for row, was, now in zip(*(column.tolist() for column in errors), strict=True)
        if abs(was - now) > _SMALLEST * max(was, now)
    ]
