"""What reads return: a `Match`, `Matches`, or an `Attention` with every intermediate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np

from fuzzydict.errors import OptionError
from fuzzydict.results.pooling import StackedValues, as_output, pooled
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.embedding.projections import Projections


_SHOWN = 10  # bars of a chart
_NAMED = 20  # keys of a map
_BAR = 30  # characters of the longest bar
_LABEL = 24  # characters of a key or value


class Match(NamedTuple):
    """A key, its value, and how well it matches the query.

    The default score is the probability that the key is the right one, and 1 if it equals the
    query. With a named scorer it is the score of that scorer.
    """

    key: str
    value: Any
    score: float

    def _repr_html_(self) -> str:
        return Matches([self])._repr_html_()


class Matches(list[Match]):
    """A list of matches, which notebooks show as a table. It equals a plain list of them."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Match: ...
    @overload
    def __getitem__(self, place: slice) -> Matches: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Match | Matches:
        """Return a `Match`, or `Matches` for a slice."""
        found = super().__getitem__(place)
        return Matches(found) if isinstance(found, list) else found

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no matches</p>"
        from fuzzydict.results.tables import Number, html_table

        # The scores of a named scorer may be on any scale, which bars cannot show.
        shares = all(0 <= match.score <= 1 for match in self)
        rows = [
            (_short(key), Number(f"{score:.3f}", score if shares else 0.0), _short(value))
            for key, value, score in self
        ]
        return html_table(rows, header=["key", Number("score"), "value"])


@dataclass(frozen=True, eq=False)
class Attention:
    """The attention of a query over S keys of a dict, in the dict's order.

    Attributes:
        text: the query.
        names: the keys.
        query: the vector of the query, (E,).
        keys: the vectors of the keys, (S, E).
        values: the values.
        scores: how well each key matches, (S,), by default the logarithm of its probability; -inf
            if it is masked.
        weights: the softmax of the scores, (S,).
        left_out: if an ``index`` returned only some of the keys, an upper bound on the weight of
            all others, provided that no nearer key was missed; else 0.
    """

    text: str
    names: list[str]
    query: NDArray[np.float32]
    keys: NDArray[np.float32]
    values: list[Any]
    scores: NDArray[np.float32]
    weights: NDArray[np.float64]
    embedding: Embedding
    projections: Projections | None = None  # whose V is applied to the pooled value
    left_out: float = 0.0

    @cached_property
    def output(self) -> Any:
        """The pooled value: the weighted sum of the values, projected by V if that is learned.

        Numbers give a float, arrays and lists of numbers an array of their shape, and texts the
        pooled vector (E,).

        Raises:
            PoolingError: the values cannot be pooled; the message names the first such key.
        """
        scores, weights = self.scores[None], [self.weights[None]]
        values = StackedValues(self.names, self.values, self.embedding)
        outputs = pooled(scores, weights, values, self.projections)
        return as_output(outputs[0])

    def top(self, n: int = _SHOWN) -> list[tuple[str, float, Any]]:
        """Return the ``n`` keys with the largest weights as (key, weight, value), best first."""
        best = np.argsort(-self.weights, kind="stable")[:n].tolist()
        return [(self.names[i], float(self.weights[i]), self.values[i]) for i in best]

    def plot(self, n: int | None = None, *, kind: str = "weights") -> Any:
        """Draw the attention; return the matplotlib ``Axes``.

        Args:
            n: how many keys to show or name, those with the largest weights; by default as many
                as fit.
            kind: "weights" for bars, or "map" for the vectors of query and keys as points.

        Raises:
            OptionError: the kind is unknown.
            MissingExtraError: matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.results.plotting import plot_map, plot_weights

        if kind == "weights":
            rows = self.top(_SHOWN if n is None else n)
            return plot_weights(self.text, [(key, weight) for key, weight, _ in rows])
        if kind == "map":
            if not self.keys.shape[1]:
                raise OptionError("kind: 'map' draws vectors, and scorer='spelling' has none")
            named = _NAMED if n is None else n
            return plot_map(self.text, self.query, self.names, self.keys, self.weights, named)
        raise OptionError(f"kind must be one of weights, map, got {kind!r}")

    def chart(self, n: int = _SHOWN) -> str:
        """Return the ``n`` largest weights as a text bar chart; ``str`` shows ten."""
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
        """Return the ``n`` largest weights as an HTML table; notebooks show ten."""
        from fuzzydict.results.tables import Number, html_table

        rows = [
            (_short(key), Number(f"{weight:.1%}", weight), _short(value))
            for key, weight, value in self.top(n)
        ]
        return html_table(rows, caption=f"attention of {self.text!r}", notes=self._left_out(n))

    def _repr_html_(self) -> str:
        return self.chart_html()

    def _left_out(self, n: int) -> list[str]:
        """Return lines about the weights of keys that a chart of ``n`` keys does not show."""
        rest, lines = len(self.names) - n, []
        if rest > 0:
            share = max(0.0, 1.0 - sum(weight for _, weight, _ in self.top(n)))
            lines.append(f"  and {rest} more keys with {share:.1%} together")
        if self.left_out:
            lines.append(f"  keys that were not found would have had {self.left_out:.1%} at most")
        return lines


def _short(value: Any) -> str:
    return shortened(value if isinstance(value, str) else repr(value), _LABEL)
