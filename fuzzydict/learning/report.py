"""How good answers are, before and after a fit; and `FitReport`, which tells of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.errors import OptionError, quoted
from fuzzydict.learning.train import Epoch
from fuzzydict.text.words import shortened

_CHANCE = 1.64  # standard deviations: by chance alone, one in twenty gains more
_SMALLEST = 0.01  # relative change of an error that counts as a change
_SHOWN, _LENGTH = 3, 40  # queries that got better or worse, and characters of each
_NAN = float("nan")
_NAMES = {
    "projections": "Q and K",
    "temperature": "a temperature",
    "scorer": "to pool by the cosine",
}
_MEASURES = (  # the title of each in the report, how it is written, and its unit
    ("answered right", "{:.0f} %", "right_at_cutoff", 100),
    ("answered wrong", "{:.0f} %", "wrong_at_cutoff", 100),
    ("a right key first", "{:.0f} %", "hit_at_1", 100),
    ("log-probability", "{:.2f}", "log_probability", 1),
    ("root mean squared error", "{:.4g}", "rmse", 1),
)


class Measures(NamedTuple):
    """How good the answers to some examples are; NaN where a measure does not apply."""

    hit_at_1: float = _NAN  # share of queries whose best key is right
    mrr: float = _NAN  # mean reciprocal rank of the best right key
    log_probability: float = _NAN  # mean logarithm of that of the right keys, or of "none"
    rmse: float = _NAN  # root mean squared error of pooled values
    right_at_cutoff: float = _NAN  # share answered by a right key, or by none where none is right
    wrong_at_cutoff: float = _NAN  # share answered by a key that is not right

    def shown(self, later: Measures | None = None) -> str:
        """Return those that apply, and what they are later, as a text."""
        shown = []
        for name, form, measure, scale in _MEASURES:
            numbers = [scale * getattr(one, measure) for one in (self, later) if one is not None]
            if not np.isnan(numbers[0]):
                shown.append(f"{name} {' -> '.join(map(form.format, numbers))}")
        return ", ".join(shown)


class Change(NamedTuple):
    """A query whose answer changed, with the answers before and after."""

    query: str
    before: str
    after: str


class Answers(NamedTuple):
    """The answers to L queries, (L,) each."""

    rank: NDArray[np.intp]  # of the best right key, from 1; 0 if no key is right
    log_probability: NDArray[np.float64]  # of the right keys together, or of "none"
    best: NDArray[np.intp]  # the place of the best key,
    score: NDArray[np.float64]  # its score,
    nearest: NDArray[np.intp]  # and the place of the best right key
    otherwise: NDArray[np.float64]  # the best score without the right keys; -inf if none is left

    def at_cutoff(self, cutoff: float) -> NDArray[np.bool_]:
        """Return which are right, which wrong, and which would be without right keys, (3, L)."""
        is_given, is_hit = self.score >= cutoff, self.rank == 1
        is_right = (self.rank < 2) & (is_given == is_hit)  # where no key is right, none is
        return np.array([is_right, is_given & ~is_hit, self.otherwise >= cutoff])

    def measures(self, cutoff: float) -> Measures:
        """Return how good they are."""
        right, wrong, _ = self.at_cutoff(cutoff).mean(axis=1).tolist()
        ranks, hit, mrr = self.rank[self.rank > 0], _NAN, _NAN
        if len(ranks):
            hit, mrr = float((ranks == 1).mean()), float((1 / ranks).mean())
        return Measures(hit, mrr, float(self.log_probability.mean()), _NAN, right, wrong)

    def verdict(self, before: Answers, cutoff: float, *, held_out: bool) -> tuple[bool, str]:
        """Return whether to keep what gave these answers, and why or why not.

        The right answers must become more probable. This is all that is asked of training
        examples; of held-out examples it must be more than chance explains, and as many of the
        best keys must be right. At the cutoff, wrong answers must not grow by more than right
        ones, and each query is also asked without its right keys, when every answer is wrong.
        """
        where = "held-out examples" if held_out else "the examples themselves"
        gains = self.log_probability - before.log_probability
        # With random signs, the variance of the sum is the sum of the squared gains.
        deviation = float(np.sqrt(np.square(gains).sum()))
        gain = float(gains.sum()) / deviation if deviation else 0.0
        if gain <= 0:
            return False, f"{where} are answered no better"
        if not held_out:
            return True, f"{where} are answered better"
        if gain < _CHANCE:
            return False, f"{where} are answered no better than chance explains"
        if np.count_nonzero(self.rank == 1) < np.count_nonzero(before.rank == 1):
            return False, f"fewer of {where} have a right key first"
        now, was = (one.at_cutoff(cutoff).sum(axis=1) for one in (self, before))
        right, *wrongs = (now - was).tolist()
        if (wrong := sum(wrongs)) > max(right, 0):
            return False, f"of {where}, {right} more are answered right, but {wrong} more wrong"
        return True, f"{where} are answered better"

    def changes(
        self, before: Answers, names: Sequence[str], queries: Sequence[str]
    ) -> Iterator[tuple[float, Change]]:
        """Yield where the rank changed, and by how much the answer is better."""
        for i in np.flatnonzero(self.rank != before.rank).tolist():
            ranks = before.rank[i], self.rank[i]
            ends = ["" if rank == 1 else f" (a right key is at {rank})" for rank in ranks]
            was, now = names[before.best[i]] + ends[0], names[self.best[i]] + ends[1]
            yield float(1 / ranks[1] - 1 / ranks[0]), Change(queries[i], was, now)


class Errors(NamedTuple):
    """The root mean squared errors of pooled values, (L,); it is asked what `Answers` are."""

    rmse: NDArray[np.float64]

    def measures(self, _cutoff: float) -> Measures:
        """Return how good the values are."""
        return Measures(rmse=float(np.sqrt(np.square(self.rmse).mean())))

    def verdict(self, before: Errors, cutoff: float, **_: bool) -> tuple[bool, str]:
        """Return whether to keep what gave these values, and why or why not."""
        kept = self.measures(cutoff).rmse < before.measures(cutoff).rmse
        return kept, f"pooled values are {'nearer to' if kept else 'no nearer to'} their targets"

    def changes(
        self, before: Errors, _names: Any, queries: Sequence[str]
    ) -> Iterator[tuple[float, Change]]:
        """Yield where the error changed, and by how much."""
        for query, was, now in zip(queries, before.rmse, self.rmse, strict=True):
            if abs(was - now) > _SMALLEST * max(was, now):
                yield was - now, Change(query, f"off by {was:.4g}", f"off by {now:.4g}")


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What `FuzzyDict.fit` remembered and learned.

    All measures are of the dict without its aliases, so that they tell of other queries.

    Attributes:
        kept: whether the dict now has the learned options; ``reason`` says why, or why not.
        examples: their number; ``validated`` of them were held out, at once or in turn.
        remembered: number of texts that are aliases now; ``refused`` of these find no key.
        training_before: how good the answers to the training examples (or some of many) were;
            ``training_after`` with the learned options.
        held_out_before: the same for the held-out examples, and ``held_out_after``, each measured
            with options learned without it.
        history: mean losses before the first pass and after each; empty if nothing was learned.
        better: held-out examples with a better answer (training examples, if none are held out),
            and ``worse`` those with a worse one.
        options: the learned options by name, whether they are kept or not.
    """

    kept: bool
    reason: str
    examples: int
    validated: int
    remembered: int = 0
    refused: int = 0
    training_before: Measures
    training_after: Measures
    held_out_before: Measures
    held_out_after: Measures
    history: tuple[Epoch, ...] = ()
    better: tuple[Change, ...] = ()
    worse: tuple[Change, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self._lines())

    def __repr__(self) -> str:
        kept = "kept" if self.kept else "not kept"
        return f"<FitReport: {kept}, {self.examples} examples, {self.remembered} remembered>"

    def _repr_html_(self) -> str:
        return "".join(f"<p><b>{title}</b>: {escape(text)}</p>" for title, text in self._lines())

    def plot(self) -> Any:
        """Draw the loss of each pass over the examples; return the ``Axes``.

        It raises an OptionError if nothing was learned, and a MissingExtraError if matplotlib is
        not installed (extra ``plot``).
        """
        if not self.history:
            raise OptionError(f"plot: no loss to draw, since nothing was learned: {self.reason}")
        from fuzzydict.results.plotting import plot_losses

        training, held_out = zip(*self.history, strict=True)
        curves = {"training": training}
        if not np.isnan(held_out).all():
            curves["held out, to stop early"] = held_out
        unit = "loss (nats an example)"
        if not np.isnan(self.training_after.rmse):
            unit = "mean squared error (of a third of the spread)"
        return plot_losses(curves, unit)

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the lines of the report, each with its title."""
        if self.remembered:
            told = f"{_counted(self.remembered, 'text')}, answered as shown from now on"
            if self.refused:
                are = "is" if self.refused == 1 else "are"
                told += f"; {self.refused} of them {are} refused, for no key is right"
            yield "remembered", told
        if not self.history:
            yield "nothing learned", self.reason
            yield "without what is remembered", self.training_before.shown()
        else:
            what = ", ".join(text for name, text in _NAMES.items() if name in self.options)
            but = "" if self.kept else ", learned but refused"
            yield "learned" if self.kept else "not kept", f"{what}{but}, since {self.reason}"
            if self.kept and "scorer" in self.options:
                yield "note", "by the cosine, reads of one key refuse nothing; set score_cutoff"
            title, before, after = "examples", self.training_before, self.training_after
            if self.validated:
                title, before, after = "held out", self.held_out_before, self.held_out_after
            count, of_all = self.validated or self.examples, _counted(self.examples, "example")
            yield f"{title}, {count} of {of_all}", before.shown(after)
        for verdict, changes in (("better", self.better), ("worse", self.worse)):
            shown = []
            for query, *answers in changes[:_SHOWN]:
                was, now = (shortened(answer, _LENGTH) for answer in answers)
                shown.append(f"{quoted(query, _LENGTH)} {was} -> {now}")
            if len(changes) > _SHOWN:
                shown.append(f"and {len(changes) - _SHOWN} more")
            if changes:
                yield verdict, "; ".join(shown)
        if self.validated and not self.kept:
            yield "to do", "give more examples, or set validation to 0 to keep it all the same"
        elif self.history and self.worse:
            yield "to do", "give more examples like those that got worse"


def _counted(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"
