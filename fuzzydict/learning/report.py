"""What `fit` has learned, and whether it helps: a report to read, to show and to draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from fuzzydict.errors import quoted
from fuzzydict.learning.gradient_descent import Epoch

__all__ = ["Change", "FitReport", "Measures"]

_SHOWN = 10  # queries that got better, and as many that got worse


class Measures(NamedTuple):
    """How good answers are, over some examples.

    Of examples with keys: the share of queries whose best key is right, the mean reciprocal rank
    of the best right key, the mean logarithm of the probability of the right keys, and the share
    that the dict answers right, by a right key at the cutoff or above it or, where no key is
    right, by none. Of examples with values: the root of the mean squared error. What does not
    apply is NaN, and all is where there are no examples.
    """

    hit_at_1: float
    mrr: float
    log_probability: float
    rmse: float
    right_at_cutoff: float = float("nan")

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield those that apply, each with its name, as they are shown."""
        if self.rmse == self.rmse:
            yield "root mean squared error", f"{self.rmse:.4g}"
        if self.hit_at_1 == self.hit_at_1:
            yield "hit@1", f"{self.hit_at_1:.3f}"
            yield "MRR", f"{self.mrr:.3f}"
        if self.log_probability == self.log_probability:
            yield "log-probability", f"{self.log_probability:.3f}"
        if self.right_at_cutoff == self.right_at_cutoff:
            yield "right at the cutoff", f"{self.right_at_cutoff:.3f}"


class Change(NamedTuple):
    """A query whose right key, or pooled value, is nearer or farther than before."""

    query: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What `FuzzyDict.fit` learned.

    Attributes:
        kept: whether what was learned is kept in the dict's options.
        reason: why, or why not.
        examples: how many examples were given, and
        validated: how many were asked that had not been learned from, each by itself or in turn.
        training_before: how good the dict was on the examples to learn from,
        training_after: and is with what was learned; of many examples, on some of them.
        held_out_before: the same on examples not learned from,
        held_out_after: where what is measured had not seen them.
        history: mean losses before the first pass over the examples, and after each.
        better: examples held out that got better (of those learned from, where none was held out),
        worse: and those that got worse.
        options: the options that were set, by name; those that would have been, if it is not kept.
    """

    kept: bool
    reason: str
    examples: int
    validated: int
    training_before: Measures
    training_after: Measures
    held_out_before: Measures
    held_out_after: Measures
    history: tuple[Epoch, ...]
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    options: dict[str, Any]

    @property
    def score_cutoff(self) -> float | None:
        """The cutoff that was learned; None if none was."""
        cutoff: float | None = self.options.get("score_cutoff")
        return cutoff

    def __str__(self) -> str:
        verb = "kept" if self.kept else "not kept"
        lines = [f"{verb}: {self.reason}", *self._facts()]
        width = max(len(name) for name, *_ in self._rows())
        for name, cells in self._rows():
            lines.append(f"  {name:{width}}  " + "  ".join(f"{cell:>10}" for cell in cells))
        for title, changes in self._changes():
            lines.append(f"{title}:")
            lines += [f"  {_changed(change)}" for change in changes[:_SHOWN]]
            lines += _left_out(changes)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<FitReport: {'kept' if self.kept else 'not kept'}, {self.examples} examples>"

    def _repr_html_(self) -> str:
        verb = "kept" if self.kept else "not kept"
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, cells in self._rows()
        )
        changes = "".join(
            f"<p>{title}:</p><ul>"
            + "".join(f"<li>{escape(_changed(change))}</li>" for change in found[:_SHOWN])
            + "".join(f"<li>{escape(line.strip())}</li>" for line in _left_out(found))
            + "</ul>"
            for title, found in self._changes()
        )
        facts = "".join(f"<p>{escape(line)}</p>" for line in self._facts())
        return f"<p><b>{verb}</b>: {escape(self.reason)}</p>{facts}<table>{rows}</table>{changes}"

    def plot(self) -> Any:
        """Draw the losses of each pass over the examples; return the matplotlib ``Axes``.

        Raises:
            MissingExtraError: matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.results.plotting import plot_curves

        curves = {"learned from": [epoch.training for epoch in self.history]}
        held = [epoch.held_out for epoch in self.history]
        if any(loss == loss for loss in held):
            curves["held out, to stop by"] = held
        return plot_curves(
            curves,
            title="Learning",
            x_label="passes over the examples",
            y_label="mean squared error (of a third of the spread)"
            if self.training_after.rmse == self.training_after.rmse
            else "loss (nats an example)",
        )

    def _facts(self) -> list[str]:
        passes = max(len(self.history) - 1, 0)
        facts = [
            f"{_counted(self.examples, 'example')}, {self.validated} of them asked without having "
            f"been learned from; {_counted(passes, 'pass', 'passes')} over the examples"
        ]
        if self.options:
            verb = "set" if self.kept else "would have set"
            shown = ", ".join(_option(*item) for item in self.options.items())
            facts.append(f"{verb}: {shown}")
        return facts

    def _rows(self) -> list[tuple[str, tuple[str, str]]]:
        parts = [
            ("held out", self.held_out_before, self.held_out_after),
            ("learned from", self.training_before, self.training_after),
        ]
        rows = [("", ("before", "after"))]
        for title, before, after in parts:
            for (name, was), (_, now) in zip(before.named(), after.named(), strict=True):
                rows.append((f"{name}, {title}", (was, now)))
        return rows

    def _changes(self) -> list[tuple[str, Sequence[Change]]]:
        side = "held out" if self.validated else "learned from"
        both = [(f"better, {side}", self.better), (f"worse, {side}", self.worse)]
        return [(title, changes) for title, changes in both if changes]


def _changed(change: Change) -> str:
    return f"{quoted(change.query)}: {change.before} -> {change.after}"


def _left_out(changes: Sequence[Change]) -> list[str]:
    rest = len(changes) - _SHOWN
    return [f"  and {rest} more"] if rest > 0 else []


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _option(name: str, value: Any) -> str:
    if name == "projections":
        return name
    return f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}"
