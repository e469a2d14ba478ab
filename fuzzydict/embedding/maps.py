"""One linear map, a matrix or the identity and thin factors: forwards, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, require_finite
from fuzzydict.errors import ShapeError

__all__ = ["Factors", "checked_factors", "checked_matrix", "composed", "project_forward"]


class Factors(NamedTuple):
    """The matrix ``I + left right'`` (E, E), kept as two thin ones: both are (E, r)."""

    left: Array
    right: Array

    @property
    def whole(self) -> Array:
        """The matrix itself, (E, E)."""
        return np.eye(len(self.left), dtype=self.left.dtype) + self.left @ self.right.T


def project_forward(
    x: Array, projection: Array | Factors | None, role: str = "query"
) -> tuple[Array, Callable[[Array], Array | Factors | None]]:
    """Project x (..., E), and return also the way back.

    Returns:
        The projected vectors (..., r), and a function from the gradient of a loss with respect to
        them to that with respect to the projection, shaped like it.

    Raises:
        ShapeError: The vectors are not of the size that the projection takes.
    """
    if projection is None:
        return x, lambda _: None
    expected = len(projection.left if isinstance(projection, Factors) else projection)
    if x.ndim < 1 or x.shape[-1] != expected:
        raise ShapeError(
            f"the projection of {role} vectors takes vectors of {expected} numbers, "
            f"got shape {x.shape}"
        )
    if not isinstance(projection, Factors):
        whole = projection.astype(x.dtype, copy=False)
        return x @ whole, lambda d_y: _outer(x, d_y)
    left, right = (part.astype(x.dtype, copy=False) for part in projection)
    inner = x @ left  # (..., r)
    return x + inner @ right.T, lambda d_y: Factors(_outer(x, d_y @ right), _outer(d_y, inner))


def composed(first: Array | Factors | None, second: Array | Factors | None) -> Any:
    """Return the one linear map that is ``first`` and then ``second``.

    >>> composed(np.array([[2.0]]), Factors(np.array([[1.0]]), np.array([[3.0]]))).tolist()
    [[8.0]]
    """
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, Factors) and isinstance(second, Factors):
        # (I + A B')(I + C D') = I + A (B + D C' B)' + C D'
        turned = first.right + second.right @ (second.left.T @ first.right)
        return Factors(
            np.concatenate([first.left, second.left], axis=1),
            np.concatenate([turned, second.right], axis=1),
        )
    whole = first.whole if isinstance(first, Factors) else first
    return project_forward(whole, second)[0]


def _outer(a: Array, b: Array) -> Array:
    """Sum the outer products of the rows of a (..., I) and b (..., J): (I, J)."""
    total: Array = a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])
    return total


def checked_matrix(name: str, matrix: ArrayLike) -> Array:
    """Return a copy of a matrix (E, r) that nobody writes to."""
    checked = np.array(as_floats(**{name: matrix})[0])
    if checked.ndim != 2 or not checked.size:
        raise ShapeError(f"{name} must be a matrix (E, r), got shape {checked.shape}")
    require_finite(checked, **{name: checked})
    checked.flags.writeable = False
    return checked


def checked_factors(name: str, factors: Factors) -> Factors:
    """Return copies of factors that fit together, which nobody writes to."""
    parts = (checked_matrix(f"{name}.{n}", p) for n, p in factors._asdict().items())
    checked = Factors(*parts)
    if checked.left.shape != checked.right.shape:
        raise ShapeError(
            f"the factors of {name} must be of one shape (E, r), "
            f"got {checked.left.shape} and {checked.right.shape}"
        )
    return checked
