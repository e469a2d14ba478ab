"""What a `FuzzyDict` learns from examples: the method `fit`, and the options that it sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fuzzydict.reads import FuzzyReads

if TYPE_CHECKING:
    from fuzzydict.learning.report import FitReport

__all__ = ["FuzzyFits"]

V = TypeVar("V")


class FuzzyFits(FuzzyReads[V]):
    """A dict that learns, from examples, which keys queries mean or what they should pool."""

    def fit(
        self,
        queries: Iterable[str] | Mapping[str, Any],
        targets: Iterable[Any] | None = None,
        *,
        learn: Sequence[str] | None = None,
        rank: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        validation: float | None = None,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
    ) -> FitReport:
        """Learn from examples; set the options that were learned, if answers are better by them.

        With keys as targets, queries shall find them: Q and K are learned, and what the score
        says (or, with a scorer that is named, the temperature). With numbers or arrays, queries
        shall pool them: Q, K and the temperature are learned, and the scorer "cosine" takes the
        place of the default one. The scorer is to be the default, "cosine", "scaled_dot" or "dot".
        What is learned starts at the identity, and is held near it the more the fewer the examples.

        Of a hundred examples or more a share is held out; fewer are held out in turn; of fewer
        than four none is. It is kept if examples held out are answered better and, with keys,
        those learned from as well, and keys with a slip as before. A few examples tell little of
        others: by the default score it is enough of them that those held out, in three rounds of
        other parts, are answered more probably, and no fewer of them right than chance explains;
        what would not be kept is tried once more, more gently, a second look at the same examples.

        It starts afresh each time: what the last fit set, and nobody has set since, is put back
        first; what is not kept changes nothing. A dict from a file remembers no fit: its cutoff,
        scorer and temperature are its own, and projections learned before are left out.

        About 2^26 numbers of the queries' vectors are learned from at most.

        Args:
            queries: L texts, or a mapping of them to their targets.
            targets: one for each: a key, a list of keys that are all right, or None where no key
                should match, by which ``score_cutoff`` is learned; or, for all, a number or array.
                They are left out if queries are a mapping.
            learn: which of "query", "key" and, to pool, "value"; by default Q and K.
            rank: learn ``I + A B'`` with A and B (E, rank); by default a whole matrix (E, E).
            epochs: passes over the examples, at most; by default 30, or to pool as many as take
                about 2,000 steps: from 30 to 200.
            learning_rate: how far a step may turn a vector, in parts of its length; by default
                0.03, or 0.1 to pool.
            validation: share of examples held out, by default 0.2; of 0 the examples decide alone.
            seed: another seed, other parts and batches.
            progress: is told ``(done, total)`` of all tries; may stop by raising, and the dict is
                as it was.
            warm_start: go on from what was learned before; by default it starts afresh.

        Raises:
            OptionError: there are no examples, or a target is no key; an option is out of range,
                or Q and K cannot be learned for the scorer.
            ArgumentTypeError: a query is no text, targets are missing, or of several kinds.
            ShapeError: queries and targets are not as many; targets are NaN or of several shapes.
            PoolingError: targets are numbers, and a value cannot be pooled.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"color": "black", "price": 109000, "brand": "Porsche"})
        >>> report = d.fit({"hue": "color", "expense": "price", "maker": "brand"})
        >>> report.kept, d["hue"], d["maker"]
        (True, 'black', 'Porsche')
        """
        from fuzzydict.learning.fit import Plan, taught

        plan = Plan(
            learn=learn,
            rank=rank,
            epochs=epochs,
            learning_rate=learning_rate,
            validation=validation,
            seed=seed,
            progress=progress,
            warm_start=warm_start,
        )
        return taught(self, queries, targets, plan)
