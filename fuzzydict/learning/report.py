"""`FitReport`: what `fit` learned, and how much better the answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import quoted

if TYPE_CHECKING:
    from fuzzydict.learning.acceptance import Change, Measures
    from fuzzydict.learning.projections import Epoch


_SHOWN = 10  # queries that got better, and as many that got worse


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What `FuzzyDict.fit` learned.

    Attributes:
        kept: whether the dict now has the learned options.
        reason: why, or why not.
        examples: number of examples.
        validated: number of examples that were held out, at once or in turn.
        training_before: how good the answers to the training examples were,
        training_after: and are with the learned options (if there are many, for some of them).
        held_out_before: the same for the held-out examples,
        held_out_after: each measured with options learned without it.
        history: mean losses before the first pass over the examples, and after each.
        better: held-out examples with a better answer (training examples, if none are held out),
        worse: and those with a worse one.
        options: the learned options by name, whether they are kept or not.
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
        """The learned cutoff; None if none was learned."""
        cutoff: float | None = self.options.get("score_cutoff")
        return cutoff

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, *_ in rows)
        table = [f"  {name:{width}}  {before:>10}  {after:>10}" for name, before, after in rows]
        changes = [
            line
            for title, lines in self._changes()
            for line in (f"{title}:", *(f"  {line}" for line in lines))
        ]
        return "\n".join([f"{self._verdict}: {self.reason}", *self._facts(), *table, *changes])

    def __repr__(self) -> str:
        return f"<FitReport: {self._verdict}, {self.examples} examples>"

    def _repr_html_(self) -> str:
        facts = "".join(f"<p>{escape(line)}</p>" for line in self._facts())
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self._rows()
        )
        changes = "".join(
            f"<p>{title}:</p><ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
            for title, lines in self._changes()
        )
        verdict = f"<p><b>{self._verdict}</b>: {escape(self.reason)}</p>"
        return f"{verdict}{facts}<table>{rows}</table>{changes}"

    def plot(self) -> Any:
        """Draw the losses of each pass over the examples; return the matplotlib ``Axes``.

        Raises:
            MissingExtraError: matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.results.plotting import plot_curves

        curves = {"training": [epoch.training for epoch in self.history]}
        held_out = [epoch.held_out for epoch in self.history]
        if any(loss == loss for loss in held_out):
            curves["held out, to stop early"] = held_out
        pools = self.training_after.rmse == self.training_after.rmse
        unit = (
            "mean squared error (of a third of the spread)" if pools else "loss (nats an example)"
        )
        return plot_curves(
            curves, title="Learning", x_label="passes over the examples", y_label=unit
        )

    @property
    def _verdict(self) -> str:
        return "kept" if self.kept else "not kept"

    def _facts(self) -> list[str]:
        passes = max(len(self.history) - 1, 0)
        held_out = f"{self.validated or 'none'} of them held out"
        if self.validated == self.examples:
            held_out = "each held out in turn"
        facts = [
            f"{_counted(self.examples, 'example')}, {held_out}; "
            f"{_counted(passes, 'pass', 'passes')} over the examples"
        ]
        if self.options:
            verb = "set" if self.kept else "would have set"
            facts.append(f"{verb}: {', '.join(_option(*item) for item in self.options.items())}")
        return facts

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return the measures before and after, with the header first."""
        rows = [("", "before", "after")]
        for title, before, after in (
            ("held out", self.held_out_before, self.held_out_after),
            ("training", self.training_before, self.training_after),
        ):
            for (name, was), (_, now) in zip(before.named(), after.named(), strict=True):
                rows.append((f"{name}, {title}", was, now))
        return rows

    def _changes(self) -> Iterator[tuple[str, list[str]]]:
        """Yield what the changes are, and a line for each of the first."""
        side = "held out" if self.validated else "training"
        for verdict, changes in (("better", self.better), ("worse", self.worse)):
            if changes:
                yield f"{verdict}, {side}", _change_lines(changes)


def _change_lines(changes: Sequence[Change]) -> list[str]:
    lines = [f"{quoted(query)}: {before} -> {after}" for query, before, after in changes[:_SHOWN]]
    rest = len(changes) - _SHOWN
    return [*lines, f"and {rest} more"] if rest > 0 else lines


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _option(name: str, value: Any) -> str:
    if name == "projections":
        return name
    return f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}"
