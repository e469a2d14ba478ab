"""Scorers made of one dot product: dot, scaled dot, cosine, bilinear."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, check_matrices, positive, require_finite
from fuzzydict.errors import ShapeError
from fuzzydict.nn.base import Backward, Gradients, Scorer, products, squared_norms

__all__ = ["Bilinear", "Cosine", "Dot", "ScaledDot"]


class Dot(Scorer):
    """The dot product ``q.k`` (Luong et al. 2015, equation 8, "dot").

    Example:
        >>> Dot()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
        array([[11.,  2.]])
    """

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        return products(query, key), lambda d_scores: _dot_backward(d_scores, query, key)


def _dot_backward(d_scores: Array, query: Array, key: Array) -> Gradients:
    return Gradients(d_scores @ key, d_scores.swapaxes(-1, -2) @ query, {})


class ScaledDot(Scorer):
    """The dot product divided by the root of its size, ``q.k / sqrt(E)``.

    The scores of random vectors then have the same spread whatever E is (Vaswani et al. 2017,
    equation 1).

    Args:
        scale: What to multiply the dot product with, above 0; None stands for ``E ** -0.5``.

    Raises:
        OptionError: The scale is not a finite number above 0.

    Example:
        >>> ScaledDot()([[1.0, 2.0, 2.0, 0.0]], [[3.0, 4.0, 0.0, 0.0]])
        array([[5.5]])
    """

    def __init__(self, scale: float | None = None) -> None:
        self.scale = None if scale is None else positive("scale", scale)

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        # Scaling the query is scaling the scores, and the query is smaller.
        scaled = query * scale

        def backward(d_scores: Array) -> Gradients:
            d_scaled, d_key, _ = _dot_backward(d_scores, scaled, key)
            return Gradients(d_scaled * scale, d_key, {})

        return products(scaled, key), backward

    def __repr__(self) -> str:
        return "ScaledDot()" if self.scale is None else f"ScaledDot(scale={self.scale:g})"


class Cosine(Scorer):
    """The cosine of the angle, ``q.k / (|q| |k|)``, in [-1, 1]; 0 where a vector is zero.

    Example:
        >>> Cosine()([[3.0, 4.0]], [[30.0, 40.0], [4.0, 3.0], [0.0, 0.0]]).round(2)
        array([[1.  , 0.96, 0.  ]])
    """

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        q_inverse = _inverse_norms(query=query)  # (..., L)
        k_inverse = _inverse_norms(key=key)  # (..., S)
        unit = query * q_inverse[..., None]
        scores = _cosines(unit, key, k_inverse)

        def backward(d_scores: Array) -> Gradients:
            # d cos / dq = (k/|k| - cos q/|q|) / |q|, and the same with q and k exchanged.
            shares = d_scores * scores
            over_k = d_scores * k_inverse[..., None, :]
            d_unit = over_k @ key - shares.sum(-1)[..., None] * unit
            d_key = over_k.swapaxes(-1, -2) @ unit
            d_key -= (shares.sum(-2) * k_inverse**2)[..., None] * key
            return Gradients(d_unit * q_inverse[..., None], d_key, {})

        return scores, backward

    def with_norms(self, query: Array, key: Array, k_inverse: Array) -> Array:
        """Score keys of which ``1 / |k|`` (S,) is known, 0 for the zero vector.

        To find that out takes longer than to score them.
        """
        check_matrices(query, key)
        return _cosines(query * _inverse_norms(query=query)[..., None], key, k_inverse)


def _cosines(unit: Array, key: Array, k_inverse: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        scores: Array = unit @ key.swapaxes(-1, -2)
        scores *= k_inverse[..., None, :]
    # Rounding must not make a cosine that no angle has; NaN is no less than 1 either.
    if not -1 <= scores.min(initial=0) <= scores.max(initial=0) <= 1:
        require_finite(scores, query=unit, key=key)
        np.clip(scores, -1, 1, out=scores)
    return scores


def _inverse_norms(**named: Array) -> Array:
    """Return ``1 / |x|`` (..., N) for the named vectors (..., N, E), and 0 for the zero vector."""
    norms = np.sqrt(squared_norms(**named))
    return np.divide(1, norms, out=np.zeros(norms.shape, norms.dtype), where=norms > 0)


class Bilinear(Scorer):
    """A product through a matrix, ``q' M k`` (Luong et al. 2015, equation 8, "general").

    Queries and keys may differ in size.

    Args:
        M: The matrix (Eq, Ek): queries are (..., L, Eq), keys (..., S, Ek).

    Raises:
        ShapeError: M is not a matrix, or not finite.

    Example:
        >>> Bilinear([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])([[1.0, 2.0]], [[1.0, 1.0, 1.0]])
        array([[5.]])
    """

    same_size = False

    def __init__(self, M: ArrayLike) -> None:  # noqa: N803 -- the letter of the formula
        (self.M,) = as_floats(M=M)
        if self.M.ndim != 2:
            raise ShapeError(f"M must be a matrix (Eq, Ek), got shape {self.M.shape}")
        require_finite(self.M, M=self.M)

    @property
    def parameters(self) -> dict[str, Array]:
        """The matrix ``M`` (Eq, Ek)."""
        return {"M": self.M}

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        sizes = (query.shape[-1], key.shape[-1])
        if self.M.shape != sizes:
            raise ShapeError(
                f"M has shape {self.M.shape} (Eq, Ek), but query {query.shape} and "
                f"key {key.shape} need {sizes}"
            )
        m = self.M.astype(query.dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            projected = query @ m  # (..., L, Ek)
        require_finite(projected, query=query, M=m)

        def backward(d_scores: Array) -> Gradients:
            d_projected, d_key, _ = _dot_backward(d_scores, projected, key)
            d_m = _outer(np.broadcast_to(query, (*d_projected.shape[:-1], sizes[0])), d_projected)
            return Gradients(d_projected @ m.T, d_key, {"M": d_m})

        return products(projected, key), backward


def _outer(a: Array, b: Array) -> Array:
    """Sum the outer products of the rows of a (..., N, I) and b (..., N, J): (I, J)."""
    total: Array = a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])
    return total
