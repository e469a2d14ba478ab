"""What a scorer is: the base class of them all, and the adapter for a plain function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import (
    Array,
    as_floats,
    broadcast_lead,
    check_matrices,
    require_finite,
    unbroadcast,
)
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError

__all__ = ["Backward", "FunctionScorer", "Gradients", "Scorer", "products", "squared_norms"]


class Gradients(NamedTuple):
    """Gradients of a loss: one array for each input, shaped like it."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    parameters: dict[str, Array]


Backward: TypeAlias = Callable[[Array], Gradients]


class Scorer(ABC):
    """A function of queries and keys: the logarithm of the weight each key has for each query.

    A subclass writes ``_forward``, and lists in ``parameters`` those of its constructor's
    arguments that can be trained. A scorer does not change once it is made.
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

    def forward(self, query: ArrayLike, key: ArrayLike) -> tuple[Array, Backward]:
        """Score, and return also the way back.

        Returns:
            The scores (..., L, S), and a function from the gradient of a loss with respect to the
            scores, (..., L, S), to its ``Gradients`` with respect to queries, keys and parameters.
            A score of -inf is constant: what the gradient says there is ignored.
        """
        q, k = as_floats(query=query, key=key)
        check_matrices(q, k, same_size=self.same_size)
        scores, inner = self._forward(q, k)

        def backward(d_scores: Array) -> Gradients:
            d_query, d_key, d_parameters = inner(d_scores)
            return Gradients(
                unbroadcast(d_query, q.shape), unbroadcast(d_key, k.shape), d_parameters
            )

        return scores, backward

    def score_checked(self, query: Array, key: Array) -> Array:
        """Score arrays that are known to fit together and to be of one dtype."""
        return self._forward(query, key)[0]

    @abstractmethod
    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        """Do what ``forward`` does, with arrays that fit together and are of one dtype.

        The gradients of query and key may keep the batch axes to which these were broadcast.
        """

    @property
    def parameters(self) -> dict[str, Array]:
        """What can be trained, by the name of the constructor's argument."""
        return {}

    def with_parameters(self, parameters: Mapping[str, ArrayLike]) -> Self:
        """Return a scorer of the same kind with these parameters in place of its own.

        Raises:
            OptionError: A name is not one of ``parameters``.
        """
        known = self.parameters
        unknown = sorted(set(parameters) - set(known))
        if unknown:
            raise OptionError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; it has "
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
    """A plain function ``(..., L, E), (..., S, E) -> (..., L, S)`` as a scorer, without gradient.

    It may be given a part of the queries or keys at a time, so a score must follow from its own
    query and key alone.

    Example:
        >>> manhattan = lambda q, k: -abs(q[..., :, None, :] - k[..., None, :, :]).sum(-1)
        >>> FunctionScorer(manhattan)([[0.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]])
        array([[-3., -1.]])
    """

    same_size = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        (scores,) = as_floats(scores=self.function(query, key))
        expected = (*broadcast_lead(query=query, key=key), query.shape[-2], key.shape[-2])
        if scores.shape != expected:
            raise ShapeError(
                f"the scorer {self!r} must return scores (..., L, S) = {expected} for query "
                f"{query.shape} and key {key.shape}, got {scores.shape}"
            )
        return scores.astype(query.dtype, copy=False), self._no_gradient

    def _no_gradient(self, _: Array) -> Gradients:
        raise ArgumentTypeError(
            f"the scorer {self!r} is a plain function, which has no gradient; "
            f"to train, write a subclass of Scorer"
        )

    def __repr__(self) -> str:
        return f"FunctionScorer({getattr(self.function, '__name__', self.function)})"


def products(query: Array, key: Array) -> Array:
    """Return the dot product of each query (..., L, E) with each key (..., S, E): (..., L, S).

    Raises:
        ShapeError: An array holds NaN or infinity.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores: Array = query @ key.swapaxes(-1, -2)
    require_finite(scores, query=query, key=key)
    return scores


def squared_norms(**named: Array) -> Array:
    """Return ``|x|^2`` (..., N) of the vectors (..., N, E) in the one argument, whatever its name.

    Raises:
        ShapeError: The vectors hold NaN or infinity, or overflow.
    """
    ((name, vectors),) = named.items()
    with np.errstate(over="ignore", invalid="ignore"):
        norms: Array = np.einsum("...e,...e->...", vectors, vectors)
    require_finite(norms, **{name: vectors})
    return norms
