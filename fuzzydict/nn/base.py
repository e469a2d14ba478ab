"""The base class of all scorers, and an adapter for plain functions.

A scorer gives each pair of a query and a key the logarithm of a weight, so that one softmax serves
all scorers. It sees the arrays of queries and keys and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self, TypeAlias

from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, broadcast_lead, check_matrices, unbroadcast
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted


class ScorerGradients(NamedTuple):
    """Gradients of a loss with respect to a scorer's inputs, each shaped like its input."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    parameters: dict[str, Array]


#: From the gradient of a loss with respect to the scores (..., L, S) to those of the inputs.
ScorerBackward: TypeAlias = Callable[[Array], ScorerGradients]


class Scorer(ABC):
    """A function of queries and keys: the logarithm of the weight of each key for each query.

    A subclass implements ``_forward``, and returns from ``parameters`` those of its constructor's
    arguments that can be trained. Scorers are immutable.
    """

    #: Whether queries and keys must have the same last axis.
    same_size = True

    def __call__(self, query: ArrayLike, key: ArrayLike) -> Array:
        """Score queries (..., L, E) against keys (..., S, E); return (..., L, S).

        Raises:
            ShapeError: The shapes do not fit together, or an array is not finite.
            ArgumentTypeError: An array does not hold real numbers.
        """
        return self.forward(query, key)[0]

    def forward(self, query: ArrayLike, key: ArrayLike) -> tuple[Array, ScorerBackward]:
        """Score, and return the backward function too.

        Returns:
            The scores (..., L, S), and a function from the gradient of a loss with respect to
            the scores to its gradients with respect to queries, keys and parameters. The gradient
            at scores of -inf is ignored, because these are constant.
        """
        q, k = as_floats(query=query, key=key)
        check_matrices(q, k, same_size=self.same_size)
        scores, inner = self._forward(q, k)

        def backward(d_scores: Array) -> ScorerGradients:
            d_query, d_key, d_parameters = inner(d_scores)
            return ScorerGradients(
                unbroadcast(d_query, q.shape), unbroadcast(d_key, k.shape), d_parameters
            )

        return scores, backward

    def score_checked(self, query: Array, key: Array) -> Array:
        """Score arrays of one dtype whose shapes were checked before."""
        return self._forward(query, key)[0]

    @abstractmethod
    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        """Implement ``forward`` for arrays of one dtype whose shapes were checked.

        The gradients of query and key may keep the batch axes to which these were broadcast.
        """

    @property
    def parameters(self) -> dict[str, Array]:
        """The trainable parameters, by the name of the constructor's argument."""
        return {}

    def with_parameters(self, parameters: Mapping[str, ArrayLike]) -> Self:
        """Return a scorer of the same class with some parameters replaced.

        Raises:
            OptionError: A name is not one of ``parameters``.
        """
        known = self.parameters
        unknown = sorted(set(parameters) - set(known))
        if unknown:
            raise OptionError(
                f"{type(self).__name__} has no parameter {quoted(unknown[0])}; it has "
                f"{', '.join(known) or 'none'}"
            )
        return type(self)(**{**known, **parameters}) if parameters else self

    def __repr__(self) -> str:
        shown = (
            f"{name}={value.item():g}" if value.ndim == 0 else f"{name}=<array {value.shape}>"
            for name, value in self.parameters.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"


class FunctionScorer(Scorer):
    """A plain function ``(..., L, E), (..., S, E) -> (..., L, S)`` as a scorer, without gradients.

    The function may be called with some of the queries or keys at a time, so each score must
    depend on its own query and key only.

    Example:
        >>> manhattan = lambda q, k: -abs(q[..., :, None, :] - k[..., None, :, :]).sum(-1)
        >>> FunctionScorer(manhattan)([[0.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]])
        array([[-3., -1.]])
    """

    same_size = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        (scores,) = as_floats(scores=self.function(query, key))
        expected = (*broadcast_lead(query=query, key=key), query.shape[-2], key.shape[-2])
        if scores.shape != expected:
            raise ShapeError(
                f"the scorer {self!r} must return scores (..., L, S) = {expected} for query "
                f"{query.shape} and key {key.shape}, got {scores.shape}"
            )
        return scores.astype(query.dtype, copy=False), self._no_gradient

    def _no_gradient(self, _: Array) -> ScorerGradients:
        raise ArgumentTypeError(
            f"the scorer {self!r} is a plain function, which has no gradient; "
            f"to train, write a subclass of Scorer"
        )

    def __repr__(self) -> str:
        return f"FunctionScorer({getattr(self.function, '__name__', self.function)})"
