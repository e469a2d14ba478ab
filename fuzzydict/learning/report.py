"""`FitReport`: what `fit` remembered, learned and refused, and how much better the answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzydict.errors import OptionError, quoted
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from fuzzydict.learning.train import Epoch


_SHOWN = 3  # queries that got better, and as many that got worse
_LENGTH = 40  # characters of a query or answer
_SMOOTHING = 0.05  # width of the Gaussian that smooths a curve, as a share of the passes
_NAN = float("nan")
_NAMES = {
    "projections": "Q and K",
    "temperature": "a temperature",
    "scorer": "to pool by the cosine",
}


class Measures(NamedTuple):
    """How good the answers to some examples are; NaN where a measure does not apply."""

    hit_at_1: float = _NAN  # share of queries whose best key is right
    mrr: float = _NAN  # mean reciprocal rank of the best right key
    log_probability: float = _NAN  # mean logarithm of that of the right keys, or of "none"
    rmse: float = _NAN  # root mean squared error of pooled values
    #: Share of queries that the dict answers correctly: with a right key at or above the cutoff, or
    #: with none where no key is right.
    right_at_cutoff: float = _NAN
    wrong_at_cutoff: float = _NAN  # share of queries answered with a key that is not right

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of those that apply."""
        shown = {
            "answered right": f"{100 * self.right_at_cutoff:.0f} %",
            "answered wrong": f"{100 * self.wrong_at_cutoff:.0f} %",
            "a right key first": f"{100 * self.hit_at_1:.0f} %",
            "log-probability": f"{self.log_probability:.2f}",
            "root mean squared error": f"{self.rmse:.4g}",
        }
        yield from ((name, text) for name, text in shown.items() if not text.startswith("nan"))


class Change(NamedTuple):
    """A query whose answer changed, with the answers before and after."""

    query: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What `FuzzyDict.fit` remembered and learned.

    All measures are of the dict without its aliases, so that they tell of other queries.

    Attributes:
        kept: whether the dict now has the learned options.
        reason: why, or why not.
        examples: number of examples.
        validated: number of examples that were held out, at once or in turn.
        remembered: number of texts that are aliases now,
        refused: and how many of these find no key.
        training_before: how good the answers to the training examples were,
        training_after: and are with the learned options (if there are many, for some of them).
        held_out_before: the same for the held-out examples,
        held_out_after: each measured with options learned without it.
        history: mean losses before the first pass over the examples, and after each; empty if
            nothing was learned.
        better: held-out examples with a better answer (training examples, if none are held out),
        worse: and those with a worse one.
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
        """Draw the loss of each pass over the examples, smoothed; return the ``Axes``.

        Raises:
            OptionError: nothing was learned.
            MissingExtraError: matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.results.plotting import plot_curves

        if not self.history:
            raise OptionError(f"plot: no loss to draw, since nothing was learned: {self.reason}")
        curves = {"training": _smoothed([epoch.training for epoch in self.history])}
        held_out = [epoch.held_out for epoch in self.history]
        if any(loss == loss for loss in held_out):
            curves["held out, to stop early"] = _smoothed(held_out)
        pools = self.training_after.rmse == self.training_after.rmse
        unit = (
            "mean squared error (of a third of the spread)" if pools else "loss (nats an example)"
        )
        return plot_curves(
            curves, title="Learning", x_label="passes over the examples", y_label=unit
        )

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the lines of the report, each with its title."""
        if self.remembered:
            texts = f"{_counted(self.remembered, 'text')}, answered as shown from now on"
            refused = f"; {self.refused} of them are refused, for no key is right"
            yield "remembered", texts + (refused if self.refused else "")
        if self.history:
            what = ", ".join(text for name, text in _NAMES.items() if name in self.options)
            if self.kept:
                yield "learned", f"{what}, since {self.reason}"
            else:
                yield "not kept", f"{what}, learned but refused, since {self.reason}"
        else:
            yield "nothing learned", self.reason
        yield from self._measured()
        for verdict, changes in (("better", self.better), ("worse", self.worse)):
            if changes:
                yield verdict, _listed(changes)
        if self.validated and not self.kept:
            yield "to do", "give more examples, or set validation to 0 to keep it all the same"
        elif self.history and self.worse:
            yield "to do", "give more examples like those that got worse"

    def _measured(self) -> Iterator[tuple[str, str]]:
        """Yield the measures before and after: of held-out examples, if there are any."""
        if not self.history:
            shown = [f"{name} {was}" for name, was in self.training_before.named()]
            yield "without what is remembered", ", ".join(shown)
            return
        title, before, after = "examples", self.training_before, self.training_after
        if self.validated:
            title, before, after = "held out", self.held_out_before, self.held_out_after
        both = zip(before.named(), after.named(), strict=True)
        shown = [f"{name} {was} -> {now}" for (name, was), (_, now) in both]
        count = f"{self.validated or self.examples} of {_counted(self.examples, 'example')}"
        yield f"{title}, {count}", ", ".join(shown)


def _smoothed(losses: Sequence[float]) -> list[float]:
    from scipy.ndimage import gaussian_filter1d

    return list(gaussian_filter1d(losses, _SMOOTHING * len(losses), mode="nearest"))


def _listed(changes: Sequence[Change]) -> str:
    """Return the first changes in a line, and how many more there are."""
    shown = [
        f"{quoted(shortened(query, _LENGTH))} {shortened(before, _LENGTH)} -> "
        f"{shortened(after, _LENGTH)}"
        for query, before, after in changes[:_SHOWN]
    ]
    rest = len(changes) - _SHOWN
    return "; ".join([*shown, f"and {rest} more"] if rest > 0 else shown)


def _counted(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"
