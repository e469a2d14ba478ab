"""Whether to keep a candidate: its answers to held-out examples, compared with those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.candidate import Answer, Parameters


# ---- which examples are held out -------------------------------------------------------------

_FOLDS = 5
_TOO_FEW = 4  # of fewer examples, none is held out

#: Parameters, and the rows of examples that they were not trained on.
Fold: TypeAlias = "tuple[Parameters, NDArray[np.intp]]"


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
    if count >= many:
        share = min(share, most / count)
        held_out = [random.permutation(g)[: _share_of(len(g), share)] for g in groups]
        return [np.concatenate(held_out)]
    folds = min(count, _FOLDS)
    order = np.concatenate([random.permutation(g) for g in groups])
    return [order[place::folds] for place in range(folds)]


def _share_of(count: int, share: float) -> int:
    """Return how many to hold out: at least one, but not the only one."""
    return min(round(share * count) or 1, count - 1) if count else 0


# ---- measures --------------------------------------------------------------------------------

_NAN = float("nan")


class Answers(NamedTuple):
    """The answers to some examples, before and after learning."""

    rows: NDArray[np.intp]  # of the examples, (n,)
    before: list[Answer]
    after: list[Answer]


class Errors(NamedTuple):
    """Root mean squared errors of pooled values, before and after, (n,) each."""

    rows: NDArray[np.intp]  # of the examples, (n,)
    before: NDArray[np.float64]
    after: NDArray[np.float64]


class Measures(NamedTuple):
    """How good the answers to some examples are; NaN where a measure does not apply.

    Attributes:
        hit_at_1: share of queries whose best key is right.
        mrr: mean reciprocal rank of the best right key.
        log_probability: mean logarithm of the probability of the right keys, or of "none".
        rmse: root mean squared error of pooled values.
        right_at_cutoff: share of queries that the dict answers correctly: with a right key at or
            above the cutoff, or with none where no key is right.
        wrong_at_cutoff: share of queries that it answers with a key that is not right.
    """

    hit_at_1: float = _NAN
    mrr: float = _NAN
    log_probability: float = _NAN
    rmse: float = _NAN
    right_at_cutoff: float = _NAN
    wrong_at_cutoff: float = _NAN

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of those that apply."""
        shown = {
            "right at the cutoff": f"{self.right_at_cutoff:.2f}",
            "wrong": f"{self.wrong_at_cutoff:.2f}",
            "hit@1": f"{self.hit_at_1:.2f}",
            "MRR": f"{self.mrr:.2f}",
            "log-probability": f"{self.log_probability:.2f}",
            "root mean squared error": f"{self.rmse:.4g}",
        }
        yield from ((name, text) for name, text in shown.items() if text != "nan")


def is_right(answers: Sequence[Answer], cutoff: float) -> NDArray[np.bool_]:
    """Return which of L answers are right, (L,): a right key, or none where no key is right."""
    right = [(a.hit and a.score >= cutoff) or (not a.rank and a.score < cutoff) for a in answers]
    return np.array(right, np.bool_)


def is_wrong(answers: Sequence[Answer], cutoff: float) -> NDArray[np.bool_]:
    """Return which of L answers are keys that are not right, (L,)."""
    return np.array([not a.hit and a.score >= cutoff for a in answers], np.bool_)


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
        wrong_at_cutoff=float(is_wrong(answers, cutoff).mean()),
    )


def measures_of_errors(errors: NDArray[np.float64]) -> Measures:
    """Return how good pooled values are, from the error of each, (L,)."""
    return Measures(rmse=float(np.sqrt(np.square(errors).mean()))) if len(errors) else Measures()


# ---- the verdict -----------------------------------------------------------------------------

_CHANCE = 1.64  # standard deviations: by chance alone, one in twenty gains more


def verdict_on_keys(answers: Answers, cutoff: float, *, held_out: bool) -> tuple[bool, str]:
    """Return whether to keep the candidate, and why or why not.

    The right answers must become more probable. This is all that is asked of training examples; of
    held-out examples it must be more than chance explains, and as many of the best keys must be
    right. At the cutoff, wrong answers must not grow by more than right ones, and each query is
    also asked without its right keys, when every answer is wrong.

    Args:
        answers: to held-out examples; to the training examples if none are held out.
        cutoff: the least score of a match.
        held_out: whether the examples are held out.
    """
    where = "held-out examples" if held_out else "the examples themselves"
    before, after = answers.before, answers.after
    pairs = list(zip(before, after, strict=True))
    gain = _in_deviations([now.log_probability - was.log_probability for was, now in pairs])
    if gain <= 0:
        return False, f"{where} are answered no better"
    if not held_out:
        return True, f"{where} are answered better"
    if gain < _CHANCE:
        return False, f"{where} are answered no better than chance explains"
    if sum(now.hit - was.hit for was, now in pairs) < 0:
        return False, f"fewer of {where} have a right key first"
    right = int(is_right(after, cutoff).sum()) - int(is_right(before, cutoff).sum())
    wrong = int(is_wrong(after, cutoff).sum()) - int(is_wrong(before, cutoff).sum())
    wrong += sum(a.otherwise >= cutoff for a in after) - sum(b.otherwise >= cutoff for b in before)
    if wrong > max(right, 0):
        return False, f"of {where}, {right} more are answered right, but {wrong} more wrong"
    return True, f"{where} are answered better"


def _in_deviations(gains: Sequence[float]) -> float:
    """Return the sum of gains, divided by its standard deviation under random signs.

    With random signs, the variance of the sum is the sum of the squared gains.
    """
    deviation = float(np.sqrt(np.square(gains).sum()))
    return sum(gains) / deviation if deviation else 0.0


def verdict_on_values(before: Measures, after: Measures) -> tuple[bool, str]:
    """Return whether to keep the candidate, and why or why not."""
    kept = after.rmse < before.rmse
    return kept, f"pooled values are {'nearer to' if kept else 'no nearer to'} their targets"


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
    """Return the queries whose right key has another rank, and their gain in reciprocal rank."""
    return [
        (Change(queries[row], _shown(was, names), _shown(now, names)), 1 / now.rank - 1 / was.rank)
        for row, was, now in zip(answers.rows.tolist(), answers.before, answers.after, strict=True)
        if was.rank != now.rank
    ]


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
