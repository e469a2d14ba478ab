"""Q, K and V: what queries, keys and values are multiplied with before attention compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict.arrays import Array, as_floats, require_finite
from fuzzydict.errors import FileFormatError, ReadOnlyError, ShapeError

__all__ = ["ROLES", "Factors", "Projections", "Way", "project", "project_forward"]

#: What can be projected.
ROLES = ("query", "key", "value")
_FACTORS = ("left", "right")


class Factors(NamedTuple):
    """The matrix ``I + left right'`` (E, E), kept as two thin ones: both are (E, r)."""

    left: Array
    right: Array

    @property
    def whole(self) -> Array:
        """The matrix itself, (E, E)."""
        return np.eye(len(self.left), dtype=self.left.dtype) + self.left @ self.right.T


#: A matrix (E, r) or its factors; None is the identity.
Projection = Array | Factors | None


class Projections:
    """The matrices that attention learns: ``score(query Q, key K)``, and ``value V`` to be pooled.

    (Vaswani et al. 2017, section 3.2.2.) They do not change once they are made.

    Args:
        query: Q (E, r), or `Factors`, which say ``I + left right'`` in 2 E r numbers; None is the
            identity.
        key: K, in the same ways.
        value: V (Ev, Ev'), in the same ways.

    Raises:
        ShapeError: A matrix has not two axes, holds NaN or infinity, or Q and K lead to vectors
            of different sizes.
        ArgumentTypeError: One does not hold numbers.

    Example:
        >>> projections = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
        >>> projections.project_queries([[3.0, 4.0]]), projections.project_keys([[3.0, 4.0]])
        (array([[4., 3.]]), array([[3., 4.]]))
    """

    __slots__ = ("key", "query", "value")

    query: Projection
    key: Projection
    value: Projection

    def __init__(
        self,
        query: ArrayLike | Factors | None = None,
        key: ArrayLike | Factors | None = None,
        value: ArrayLike | Factors | None = None,
    ) -> None:
        given = zip(ROLES, (query, key, value), strict=True)
        for role, projection in given:
            object.__setattr__(self, role, _frozen(role, projection))
        sizes = {_size_after(projection) for projection in (self.query, self.key)} - {None}
        if len(sizes) > 1:
            raise ShapeError(
                f"query and key must lead to vectors of one size to be compared, "
                f"got {_size_after(self.query)} and {_size_after(self.key)}"
            )

    def __setattr__(self, name: str, value: object) -> None:
        raise ReadOnlyError(f"projections do not change ({name!r}); make new ones")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    @property
    def is_identity(self) -> bool:
        """Whether there is nothing to multiply with."""
        return self.query is None and self.key is None and self.value is None

    def project_queries(self, vectors: ArrayLike) -> Array:
        """Return ``vectors Q`` for vectors (..., E): (..., r).

        Raises:
            ShapeError: The vectors are not of the size that Q takes.
        """
        return project(vectors, self.query, "query")

    def project_keys(self, vectors: ArrayLike) -> Array:
        """Return ``vectors K`` for vectors (..., E): (..., r).

        Raises:
            ShapeError: The vectors are not of the size that K takes.
        """
        return project(vectors, self.key, "key")

    def project_values(self, values: ArrayLike) -> Array:
        """Return ``values V`` for values (..., Ev): (..., Ev').

        Raises:
            ShapeError: The values are not of the size that V takes.
        """
        return project(values, self.value, "value")

    # ---- as arrays ------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Return what they are made of by name, as a file holds it; none of the identity."""
        found: dict[str, Array] = {}
        for role in ROLES:
            projection = getattr(self, role)
            if isinstance(projection, Factors):
                found |= {f"{role}.{name}": part for name, part in projection._asdict().items()}
            elif projection is not None:
                found[role] = projection
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Projections:
        """Return the projections of which `arrays` told; other names are left alone.

        Raises:
            FileFormatError: The arrays are not those of projections.
        """
        made: dict[str, Any] = {}
        for role in ROLES:
            factors = [arrays.get(f"{role}.{name}") for name in _FACTORS]
            if any(part is not None for part in factors):
                made[role] = factors
            elif role in arrays:
                made[role] = arrays[role]
        try:
            # Copies, for what was read is mapped from a file, which may change or go.
            return cls(**{role: _copied(role, given) for role, given in made.items()})
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"these are no whole projections: {error}") from error

    def __reduce__(self) -> tuple[Callable[..., Projections], tuple[dict[str, Array]]]:
        return type(self).from_arrays, (self.arrays(),)

    def __copy__(self) -> Projections:
        return self

    def __deepcopy__(self, memo: object) -> Projections:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Projections):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    def __hash__(self) -> int:
        return hash(tuple((name, array.tobytes()) for name, array in self.arrays().items()))

    def __repr__(self) -> str:
        shown = (
            f"{role}={_shown(projection)}"
            for role in ROLES
            if (projection := getattr(self, role)) is not None
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def project(vectors: ArrayLike, projection: Projection, role: str = "query") -> Array:
    """Return ``vectors`` (..., E) times a projection, (..., r), in their own dtype.

    Raises:
        ShapeError: The vectors are not of the size that the projection takes.
    """
    return project_forward(as_floats(vectors=vectors)[0], projection, role)[0]


class Way(NamedTuple):
    """The way back from the gradient of a loss with respect to projected vectors (..., r)."""

    to_vectors: Callable[[Array], Array]  # that with respect to the vectors, (..., E)
    to_projection: Callable[[Array], Projection]  # that with respect to it, shaped like it


def project_forward(x: Array, projection: Projection, role: str = "query") -> tuple[Array, Way]:
    """Project x (..., E), and return also the way back.

    Returns:
        The projected vectors (..., r), and how a loss depends on the vectors and the projection.

    Raises:
        ShapeError: The vectors are not of the size that the projection takes.
    """
    if projection is None:
        return x, Way(lambda d_y: d_y, lambda _: None)
    expected = len(projection.left if isinstance(projection, Factors) else projection)
    if x.ndim < 1 or x.shape[-1] != expected:
        raise ShapeError(
            f"the projection of {role} vectors takes vectors of {expected} numbers, "
            f"got shape {x.shape}"
        )
    if not isinstance(projection, Factors):
        whole = projection.astype(x.dtype, copy=False)
        return x @ whole, Way(lambda d_y: d_y @ whole.T, lambda d_y: _outer(x, d_y))
    left, right = (part.astype(x.dtype, copy=False) for part in projection)
    inner = x @ left  # (..., r)
    return x + inner @ right.T, Way(
        lambda d_y: d_y + (d_y @ right) @ left.T,
        lambda d_y: Factors(_outer(x, d_y @ right), _outer(d_y, inner)),
    )


def _outer(a: Array, b: Array) -> Array:
    """Sum the outer products of the rows of a (..., I) and b (..., J): (I, J)."""
    total: Array = a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])
    return total


def _frozen(role: str, projection: Any) -> Projection:
    """Return a checked copy that nobody writes to."""
    if projection is None:
        return None
    if not isinstance(projection, Factors):
        return _matrix(role, projection)
    factors = Factors(*(_matrix(f"{role}.{n}", p) for n, p in projection._asdict().items()))
    if factors.left.shape != factors.right.shape:
        raise ShapeError(
            f"the factors of {role} must be of one shape (E, r), "
            f"got {factors.left.shape} and {factors.right.shape}"
        )
    return factors


def _matrix(name: str, matrix: ArrayLike) -> Array:
    checked = np.array(as_floats(**{name: matrix})[0])
    if checked.ndim != 2 or not checked.size:
        raise ShapeError(f"{name} must be a matrix (E, r), got shape {checked.shape}")
    require_finite(checked, **{name: checked})
    checked.flags.writeable = False
    return checked


def _copied(role: str, given: Any) -> Any:
    if not isinstance(given, list):
        return given
    if any(part is None for part in given):
        raise ShapeError(f"of the factors of {role} one is missing")
    return Factors(*given)


def _size_after(projection: Projection) -> int | None:
    """Return the size of projected vectors; None where it is that of what is projected."""
    if projection is None:
        return None
    return len(projection.left) if isinstance(projection, Factors) else projection.shape[1]


def _shown(projection: Array | Factors) -> str:
    if isinstance(projection, Factors):
        size, rank = projection.left.shape
        return f"<identity and rank {rank} ({size}, {size})>"
    return f"<array {projection.shape}>"
