"""Scorers made of a distance: the logarithms of the kernels of Nadaraya-Watson regression."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, positive, require_finite
from fuzzydict.errors import OptionError
from fuzzydict.nn.base import Backward, Gradients, Scorer, products, squared_norms

__all__ = [
    "Boxcar",
    "Epanechnikov",
    "Gaussian",
    "Kernel",
    "Triangular",
    "squared_distances",
]


class Slopes(NamedTuple):
    """The derivatives of the scores, each (..., L, S)."""

    squared: Array  # with respect to the squared distance
    width: Array  # with respect to the width


class Kernel(Scorer):
    """A weight that falls with the distance ``d = |q - k|`` and widens with ``width``.

    Args:
        width: In the units of the vectors, from 1e-100 to 1e100.

    Raises:
        OptionError: The width is not such a number.
    """

    def __init__(self, width: float | ArrayLike = 1.0) -> None:
        self.width = positive("width", width)  # type: ignore[arg-type]
        if not 1e-100 <= self.width <= 1e100:  # else its powers are no numbers
            raise OptionError(
                f"width must be from 1e-100 to 1e100, got {self.width}; scale the vectors"
            )

    @property
    def parameters(self) -> dict[str, Array]:
        """The ``width``, an array of no axes."""
        return {"width": np.array(self.width)}

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        squared = squared_distances(query, key)

        def backward(d_scores: Array) -> Gradients:
            inside = np.isfinite(scores)
            d_scores = np.where(inside, d_scores, 0)
            slopes = self._slopes(np.where(inside, squared, 0))
            d_query, d_key = _distance_backward(d_scores * slopes.squared, query, key)
            return Gradients(d_query, d_key, {"width": (d_scores * slopes.width).sum()})

        scores = self._log_weights(squared)
        return scores, backward

    @abstractmethod
    def _log_weights(self, squared: Array) -> Array:
        """Return the logarithm of the kernel at squared distances, -inf outside its support."""

    @abstractmethod
    def _slopes(self, squared: Array) -> Slopes:
        """Return the derivatives at squared distances inside the support."""


class Gaussian(Kernel):
    """The gaussian, ``log g = -d^2 / (2 width^2)``; width is its standard deviation.

    Example:
        >>> Gaussian(width=2.0)([[0.0, 0.0]], [[3.0, 4.0], [0.0, 2.0]])
        array([[-3.125, -0.5  ]])
    """

    def _log_weights(self, squared: Array) -> Array:
        return squared * (-0.5 / self.width**2)

    def _slopes(self, squared: Array) -> Slopes:
        return Slopes(np.full_like(squared, -0.5 / self.width**2), squared / self.width**3)


class Boxcar(Kernel):
    """The boxcar: ``g = 1`` within the width (``d <= width``), 0 outside it.

    It is flat, so its gradients are zero: a boxcar's width cannot be learned by gradient.

    Example:
        >>> Boxcar(width=2.0)([[0.0]], [[1.0], [2.0], [3.0]])
        array([[  0.,   0., -inf]])
    """

    def _log_weights(self, squared: Array) -> Array:
        dtype = squared.dtype.type
        return np.where(squared <= self.width**2, dtype(0), dtype(-np.inf))

    def _slopes(self, squared: Array) -> Slopes:
        return Slopes(np.zeros_like(squared), np.zeros_like(squared))


class Triangular(Kernel):
    """The triangle, ``g = max(0, 1 - d / width)``; some textbooks call this one Epanechnikov.

    Example:
        >>> np.exp(Triangular(width=4.0)([[0.0]], [[1.0], [2.0], [4.0]]))
        array([[0.75, 0.5 , 0.  ]])
    """

    def _log_weights(self, squared: Array) -> Array:
        return _log(1 - np.sqrt(squared) / self.width)

    def _slopes(self, squared: Array) -> Slopes:
        distance = np.sqrt(squared)
        # The peak has no slope; zero is the mean of those around it.
        smooth = np.where(distance > 0, distance, np.inf).astype(squared.dtype, copy=False)
        left = self.width - distance
        return Slopes(-0.5 / (smooth * left), distance / (self.width * left))


class Epanechnikov(Kernel):
    """The parabola, ``g = max(0, 1 - d^2 / width^2)`` (Epanechnikov 1969).

    Example:
        >>> np.exp(Epanechnikov(width=4.0)([[0.0]], [[0.0], [2.0], [5.0]]))
        array([[1.  , 0.75, 0.  ]])
    """

    def _log_weights(self, squared: Array) -> Array:
        return _log(1 - squared / self.width**2)

    def _slopes(self, squared: Array) -> Slopes:
        left = self.width**2 - squared
        return Slopes(-1 / left, 2 * squared / (self.width * left))


def _log(weights: Array) -> Array:
    """Return the logarithm of the weights, -inf where they are not above zero."""
    empty = np.full_like(weights, -np.inf)
    return np.log(weights, out=empty, where=weights > 0)


def squared_distances(query: Array, key: Array) -> Array:
    """Return ``|q - k|^2`` of each query (..., L, E) to each key (..., S, E): (..., L, S).

    By ``|q|^2 + |k|^2 - 2 q.k``: one matrix product, and no array (..., L, S, E).

    Raises:
        ShapeError: An array holds NaN or infinity.
    """
    if query.shape[-1] == 1:
        # The difference is as small as the product here, and exact.
        with np.errstate(over="ignore", invalid="ignore"):
            squared: Array = np.square(query - key.swapaxes(-1, -2))
        require_finite(squared, query=query, key=key)
        return squared
    squared = products(-2 * query, key)
    squared += squared_norms(query=query)[..., :, None]
    squared += squared_norms(key=key)[..., None, :]
    # Rounding can leave a small negative number where query and key are equal.
    return np.maximum(squared, 0, out=squared)


def _distance_backward(d_squared: Array, query: Array, key: Array) -> tuple[Array, Array]:
    """Return the gradients of squared distances (..., L, S) for query and key."""
    d_query = d_squared.sum(-1)[..., None] * query - d_squared @ key
    d_key = d_squared.sum(-2)[..., None] * key - d_squared.swapaxes(-1, -2) @ query
    return 2 * d_query, 2 * d_key
