"""What a query is answered with: a `Match`, or an `Attention` with every intermediate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.text import shortened
from fuzzydict.values import as_output, pooled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.adapters import Embedding

__all__ = ["Attention", "Match"]

_SHOWN = 10  # bars of a chart
_BAR = 30  # characters of the longest
_LABEL = 24  # characters of a key or value


class Match(NamedTuple):
    """A key, its value, and how well it matches the query.

    The default score is the probability that the key is the right one, and 1 if it is equal to the
    query; with a scorer that is named it is that scorer's score.
    """

    key: str
    value: Any
    score: float


@dataclass(frozen=True, eq=False)
class Attention:
    """A query's attention over the keys of a dict, S of them in the dict's order.

    Attributes:
        text: the query as asked.
        names: the keys as written.
        query: the vector of the query, (E,).
        keys: the vectors of the keys, (S, E).
        values: the values, S of them.
        scores: how well each key matches, (S,), by default the logarithm of its probability; -inf
            where it was masked.
        weights: the share of each key, (S,), 0 or more, of sum 1.
    """

    text: str
    names: list[str]
    query: NDArray[np.float32]
    keys: NDArray[np.float32]
    values: list[Any]
    scores: NDArray[np.float32]
    weights: NDArray[np.float64]
    embedding: Embedding

    @cached_property
    def output(self) -> Any:
        """The pooled value: the sum of the values, each times its weight.

        Numbers give a float, arrays and lists of numbers an array of their shape, texts the
        pooled vector (E,).

        Raises:
            PoolingError: the values cannot be pooled; it names the first such key.
        """
        scores, weights = self.scores[None], self.weights[None]
        return as_output(pooled(scores, weights, self.names, self.values, self.embedding)[0])

    def top(self, n: int = _SHOWN) -> list[tuple[str, float, Any]]:
        """Return the ``n`` keys of the largest weights as (key, weight, value), best first."""
        best = np.argsort(-self.weights, kind="stable")[:n].tolist()
        return [(self.names[i], float(self.weights[i]), self.values[i]) for i in best]

    def plot(self, n: int = _SHOWN) -> Any:
        """Draw the ``n`` largest weights as bars; return the matplotlib ``Axes``.

        Raises:
            MissingExtraError: matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.plotting import plot_weights

        return plot_weights(self, n)

    def chart(self, n: int = _SHOWN) -> str:
        """Return the ``n`` largest weights as bars of text; ``str`` is that of ten."""
        rows = self.top(n)
        width = max((len(_short(key)) for key, _, _ in rows), default=0)
        scale = _BAR / max((weight for _, weight, _ in rows), default=1.0)
        lines = [
            f"  {_short(key):{width}}  {weight:6.1%} {'█' * round(weight * scale):{_BAR}} "
            f"{_short(value)}".rstrip()
            for key, weight, value in rows
        ]
        return "\n".join([f"attention of {self.text!r}", *lines, *self._left_out(n)])

    def __str__(self) -> str:
        return self.chart()

    def __repr__(self) -> str:
        return f"<Attention of {self.text!r} over {len(self.names)} keys>"

    def chart_html(self, n: int = _SHOWN) -> str:
        """Return the ``n`` largest weights as a table of HTML, which notebooks show of ten."""
        import html

        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(_short(key))}</th>"
            f"<td style='text-align:right'>{weight:.1%}</td>"
            f"<td style='width:20em;text-align:left'><div style='height:1em;background:#0072b2;"
            f"width:{weight:.1%}'></div></td>"
            f"<td style='text-align:left'>{html.escape(_short(value))}</td></tr>"
            for key, weight, value in self.top(n)
        )
        left_out = "".join(f"<p>{html.escape(line)}</p>" for line in self._left_out(n))
        caption = f"<caption>attention of {html.escape(repr(self.text))}</caption>"
        return f"<table>{caption}{rows}</table>{left_out}"

    def _repr_html_(self) -> str:
        return self.chart_html()

    def _left_out(self, n: int) -> list[str]:
        """Say what share the keys beyond the chart have, if there are any."""
        rest = len(self.names) - n
        if rest <= 0:
            return []
        share = max(0.0, 1.0 - sum(weight for _, weight, _ in self.top(n)))
        return [f"  and {rest} more keys with {share:.1%} together"]


def _short(value: Any) -> str:
    return shortened(value if isinstance(value, str) else repr(value), _LABEL)
