"""What reads take, and what they return: a `Match`, `Matches`, or an `Attention`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import whole_number
from fuzzydict.embedding.encoder import Embedding
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, NoMatchError, OptionError, quoted
from fuzzydict.results.pooling import StackedValues, as_output, pooled
from fuzzydict.results.tables import Cell, Number, Results, html_table
from fuzzydict.search.keys import exact_text
from fuzzydict.text.words import label

_SHOWN, _BAR = 10, 30  # bars of a chart, and characters of the longest
_NAMED = 20  # keys of a map
_MISSES = 50  # queries that match nothing, in a message
_BEST, _COLUMNS = 3, 8  # matches of each of several queries, and keys, in a table

#: What a query is read as that was taught to have no key.
NO_KEY: Any = object()


def as_queries(query: Any) -> list[Any]:
    """Return a list of queries, or one query in a list; all must be such as keys can be."""
    queries = query if isinstance(query, list) else [query]
    for place, one in enumerate(queries):
        try:
            hash(one)
        except TypeError:
            name = f"queries[{place}]" if queries is query else "query"
            raise ArgumentTypeError(
                f"{name}: expected a text, or anything else that a key can be, got {quoted(one)}; "
                f"several queries come in a list, and a column goes to match"
            ) from None
    return queries


def require_texts(queries: list[Any]) -> list[str]:
    """Return the queries as plain texts, if all are; nothing else can be compared."""
    for query in queries:
        if not isinstance(query, str):
            what = f"only a text can be matched otherwise, not {type(query).__name__}"
            raise NoMatchError(query, f"no key equals {quoted(query)}, and {what}")
    return list(map(exact_text, queries))


def is_match(name: Any, key: Any, score: float, cutoff: float) -> bool:
    """Tell whether the best key of a query, read as ``name``, is a match; -inf never is."""
    is_equal = str.__eq__(key, name) is True  # whatever a subclass of str says
    return name is not NO_KEY and (is_equal or (score >= cutoff and score > -np.inf))


def taught_none(query: Any) -> NoMatchError:
    """Return the error for a query that was taught to have no key."""
    shown = quoted(query)
    why = f"no key matches {shown}: this was taught; to forget it, del d.aliases[{shown}]"
    return NoMatchError(query, why)


def no_match(query: Any, key: str, score: float, cutoff: float) -> NoMatchError:
    """Return the error for a best key that does not reach the cutoff."""
    shown = quoted(query)
    if score == -np.inf:
        why = "every key is farther than the scorer's width; widen the scorer"
        return NoMatchError(query, f"no key matches {shown}: {why}")
    return NoMatchError(
        query,
        f"no key matches {shown}: the nearest is {quoted(key)} with score "
        f"{below(score, cutoff)}; lower score_cutoff, or see most_similar({shown})",
        key=key,
        score=score,
        cutoff=cutoff,
    )


def below(score: float, cutoff: float) -> str:
    """Say that a score is below the cutoff, with so many digits that it is seen to be.

    >>> below(0.25, 0.5), below(0.49999997, 0.5)
    ('0.250, below the cutoff 0.500', '0.499999970, below the cutoff 0.500000000')
    """
    places = next((n for n in (3, 9) if round(score, n) < round(cutoff, n)), 17)
    return f"{score:.{places}f}, below the cutoff {cutoff:.{places}f}"


def no_matches(errors: list[NoMatchError], remedy: str) -> NoMatchError:
    """Return one error for all queries that match nothing."""
    if len(errors) == 1:
        return errors[0]
    queries = [error.args[0] for error in errors]
    named = list(dict.fromkeys(map(quoted, queries)))
    more = f" and {len(named) - _MISSES} more" if len(named) > _MISSES else ""
    some = f"{', '.join(named[:_MISSES])}{more}"
    why = f"no key matches {len(queries)} of the queries: {some}; {remedy}, or lower score_cutoff"
    return NoMatchError(queries, why)


def tell_the_place(error: NoMatchError, queries: list[Any]) -> None:
    """Add to an error about one of several queries which it is."""
    places = [place for place, one in enumerate(queries) if one is error.args[0]]
    if places and len(queries) > 1:
        error.message += f" (queries[{places[0]}]: leave it out)"


class _Item(NamedTuple):
    key: str
    value: Any
    score: float


class Match(_Item):
    """A key, its value, and how well it matches the query; and, outside the tuple, two more.

    The default score is the probability that the key is the right one, and 1 if it equals the
    query. With a named scorer it is the score of that scorer. Beside the three, ``query`` is what
    was asked, None for a match that no read made; and ``matches`` is whether the key is an answer:
    its score reaches the cutoff of the read, it equals the query, or the query is an alias of it.

    >>> match = Match("color", "black", 0.97, query="colour")
    >>> match, match.query, match.matches
    (Match(key='color', value='black', score=0.97), 'colour', True)
    """

    query: Any = None
    matches: bool = True

    def __new__(
        cls, key: str, value: Any, score: float, *, query: Any = None, matches: bool = True
    ) -> Self:
        """Return a match; the tuple holds the key, the value and the score."""
        self = super().__new__(cls, key, value, score)
        self.query, self.matches = query, matches
        return self

    def _replace(self, **fields: Any) -> Self:
        new = super()._replace(**fields)
        new.__dict__.update(self.__dict__)
        return new

    def _repr_html_(self) -> str:
        return Matches([self])._repr_html_()


class Matches(Results[Match]):
    """A list of matches, which notebooks show as a table. It equals a plain list of them.

    Attributes:
        unmatched: the queries that nothing matched, if a default stands in their places.
    """

    unmatched: tuple[Any, ...] = ()

    def __getitem__(self, place: Any) -> Any:
        """Return a `Match`, or `Matches` for a slice."""
        found = super().__getitem__(place)
        if isinstance(place, slice) and self.unmatched:
            asked = zip(found, self._queries()[place], strict=True)
            found.unmatched = tuple(query for one, query in asked if not isinstance(one, Match))
        return found

    def _queries(self) -> list[Any]:
        """Return the query of each match, and of each default; None if it is not known."""
        defaults = sum(not isinstance(one, Match) for one in self)
        unmatched = iter(self.unmatched if defaults == len(self.unmatched) else ())
        return [one.query if isinstance(one, Match) else next(unmatched, None) for one in self]

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no matches</p>"
        shown, notes = self._first("matches")
        queries, rows, caption = self._queries()[: len(shown)], _rows(shown), ""
        several = any(query != queries[0] for query in queries)
        if several:
            rows = [[label(query), *row] for query, row in zip(queries, rows, strict=True)]
        elif queries[0] is not None:
            caption = f"matches of {quoted(queries[0])}"
        header = ["query", *_HEADER] if several else _HEADER
        return html_table(rows, header=header, caption=caption, notes=notes)


_HEADER: list[Cell] = ["key", Number("score"), "value"]


def _rows(found: Sequence[Any]) -> list[list[Cell]]:
    """Return the key, score and value of matches as cells; a default stands for no match."""
    # The scores of a named scorer may be on any scale, which bars cannot show.
    shares = all(0 <= one.score <= 1 for one in found if isinstance(one, Match))
    return [
        [label(one.key), Number(f"{one.score:.3f}", one.score if shares else 0.0), label(one.value)]
        if isinstance(one, Match)
        else ["no match", Number(""), "" if one is None else label(one)]
        for one in found
    ]


class MatchLists(Results[Matches]):
    """The best matches of each of several queries, which notebooks show as one table."""

    _most = 20

    def _repr_html_(self) -> str:
        first, notes = self._first("queries")
        shown = [matches[:_BEST] for matches in first]
        names = ["" if i else label(one.query) for some in shown for i, one in enumerate(some)]
        rows = _rows([one for some in shown for one in some])
        if any(len(one) > _BEST for one in self):
            notes.append(f"the best {_BEST} of each query")
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
        return html_table(rows, header=["query", *_HEADER], notes=notes)


@dataclass(frozen=True, eq=False)
class Attention:
    """The attention of a query over S keys of a dict, in the dict's order.

    In a list of queries, a text without letters and digits attends to no keys: S is 0.

    Attributes:
        text: the query.
        names: the keys.
        query: the vector of the query, (E,).
        keys: the vectors of the keys, (S, E).
        values: the values.
        scores: how well each key matches, (S,), by default the logarithm of its probability; -inf
            if it is masked.
        weights: the softmax of the scores divided by the temperature, (S,).
        left_out: if there are only some of the keys, the weight that all others would have had. If
            an ``index`` or a database found them, an upper bound on it, provided that no nearer key
            was missed.
        none: the probability that no key of the dict is right, masked or not; None for a named
            scorer, whose scores are no probabilities.
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
    none: float | None = None

    @cached_property
    def effective_keys(self) -> float:
        """How many keys are mixed: n keys of equal weight count n, and one key of all weight 1.

        It is the exponential of the entropy of the weights: the "diversity of order 1" of M. O.
        Hill (1973), "Diversity and Evenness", equation 5; language models call it perplexity.
        """
        some = self.weights[self.weights > 0]
        return float(np.exp(-(some * np.log(some)).sum())) if len(some) else 0.0

    @cached_property
    def output(self) -> Any:
        """The weighted sum of the values, projected by V if that is learned.

        Numbers give a float, arrays and lists of numbers an array of their shape, and texts the
        pooled vector (E,). It raises a PoolingError, which names the first key whose value cannot
        be pooled, or a NoMatchError if there are no keys.
        """
        if not self.names:
            raise NoMatchError(self.text, f"{quoted(self.text)} attends to no key")
        values, weights = StackedValues(self.names, self.values, self.embedding), self.weights
        return as_output(pooled(self.scores[None], [weights[None]], values, self.projections)[0])

    def top(self, n: int = _SHOWN) -> list[tuple[str, float, Any]]:
        """Return the ``n`` keys with the largest weights as (key, weight, value), best first."""
        best = np.argsort(-self.weights, kind="stable")[: whole_number("n", n, 0)].tolist()
        return [(self.names[i], float(self.weights[i]), self.values[i]) for i in best]

    def plot(self, n: int | None = None, *, kind: str = "weights") -> Any:
        """Draw the attention as bars, or by kind "map" as points; return the matplotlib ``Axes``.

        The ``n`` keys with the largest weights are shown, or in a map of the vectors named. It
        raises an OptionError if the kind is neither "weights" nor "map", and a MissingExtraError if
        matplotlib is not installed (extra ``plot``).
        """
        from fuzzydict.results.plotting import plot_map, plot_weights

        if kind == "weights":
            best = self.top(_SHOWN if n is None else n)
            return plot_weights(self.text, [one[:2] for one in best], self._how_sure())
        if kind != "map":
            raise OptionError(f"kind must be one of weights, map, got {quoted(kind)}")
        if not self.keys.shape[1]:
            raise OptionError("kind: 'map' draws vectors, and scorer='spelling' has none")
        return plot_map(self, _NAMED if n is None else whole_number("n", n, 0), self._how_sure())

    def chart(self, n: int = _SHOWN) -> str:
        """Return the ``n`` largest weights as a text bar chart; ``str`` shows ten."""
        rows = self.top(n)
        width = max((len(label(key)) for key, _, _ in rows), default=0)
        scale = _BAR / max((weight for _, weight, _ in rows), default=1.0)
        lines = [f"attention of {quoted(self.text)}"]
        for key, weight, value in rows:
            bar = "█" * round(weight * scale)
            line = f"  {label(key):{width}}  {weight:6.1%} {bar:{_BAR}} {label(value)}"
            lines.append(line.rstrip())
        return "\n".join([*lines, *self._notes(n)])

    __str__ = chart

    def __repr__(self) -> str:
        return f"<Attention of {quoted(self.text)} over {len(self.names)} keys>"

    def chart_html(self, n: int = _SHOWN) -> str:
        """Return the ``n`` largest weights as an HTML table; notebooks show ten."""
        top = self.top(n)
        rows = [(label(key), Number(f"{share:.1%}", share), label(one)) for key, share, one in top]
        return html_table(rows, caption=f"attention of {quoted(self.text)}", notes=self._notes(n))

    _repr_html_ = chart_html

    def _how_sure(self) -> str:
        """Return how many keys are mixed, and how likely none of them is right."""
        mixed = f"{self.effective_keys:.1f} keys in effect"
        return mixed if self.none is None else f"{mixed}; no key is right: {self.none:.1%}"

    def _notes(self, n: int) -> list[str]:
        """Return how sure the pool is, and of what keys a chart of ``n`` keys does not show."""
        rest, lines = len(self.names) - int(n), []
        if rest > 0:
            share = max(0.0, 1.0 - sum(weight for _, weight, _ in self.top(n)))
            lines.append(f"  and {rest} more keys with {share:.1%} together")
        if self.left_out:
            lines.append(f"  all other keys would have had {self.left_out:.1%} at most")
        return [*lines, f"  {self._how_sure()}"]


class Attentions(Results[Attention]):
    """The attention of several queries, which notebooks show as a table of weights."""

    _most = 20

    def _repr_html_(self) -> str:
        (shown, notes), sums = self._first("queries"), Counter[str]()
        for one in shown:
            sums.update({name: weight for name, weight, _ in one.top(_COLUMNS)})
        names = [name for name, _ in sums.most_common(_COLUMNS)]
        tells_none = all(one.none is not None for one in shown)
        rows: list[list[Cell]] = []
        for one in shown:
            weight_of = dict(zip(one.names, one.weights.tolist(), strict=True))
            shares = [weight_of.get(name, 0.0) for name in names]
            shares += [max(0.0, 1 - sum(shares)), *[one.none] * tells_none]
            cells = (Number(f"{share:.1%}", share, True) for share in shares)
            rows.append([label(one.text), *cells])
        titles = [*map(label, names), "other keys", *["none is right"] * tells_none]
        return html_table(rows, header=["query", *map(Number, titles)], notes=notes)
