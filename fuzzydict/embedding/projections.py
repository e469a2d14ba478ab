"""Q, K and V: the linear maps that queries, keys and values pass before they are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, ignore_invalid, require_finite
from fuzzydict.embedding.encoder import Embedding
from fuzzydict.errors import FileFormatError, OptionError, ReadOnlyError, ShapeError, quoted

ROLES = ("query", "key", "value")
_LARGEST = 1e12  # number of a projection: the squares of what it makes of vectors are below 3e38


class Factors(NamedTuple):
    """The matrix ``I + left right'`` (E, E), kept as two thin ones, both (E, r)."""

    left: Array
    right: Array


#: A matrix (E, r), or its factors; None is the identity.
Projection = Array | Factors | None


@ignore_invalid
def project_forward(
    x: Array, projection: Projection, role: str = "query"
) -> tuple[Array, Callable[[Array], Projection]]:
    """Return projected vectors (..., r) of vectors x (..., E), and the backward function."""
    if projection is None:
        return x, lambda _: None
    expected = len(projection.left if isinstance(projection, Factors) else projection)
    if x.ndim < 1 or x.shape[-1] != expected:
        what = f"the projection of {role} vectors takes vectors of {expected} numbers"
        raise ShapeError(f"{what}, got shape {x.shape}")

    def outer(a: Array, b: Array) -> Array:  # the sum of those of all rows
        return a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])

    if not isinstance(projection, Factors):
        return x @ projection.astype(x.dtype, copy=False), lambda d_y: outer(x, d_y)
    left, right = (part.astype(x.dtype, copy=False) for part in projection)
    inner = x @ left  # (..., r)
    return x + inner @ right.T, lambda d_y: Factors(outer(x, d_y @ right), outer(d_y, inner))


def _composed(first: Projection, second: Projection) -> Projection:
    """Return the one linear map that applies ``first`` and then ``second``."""
    if first is None or second is None:
        return second if first is None else first
    if not isinstance(first, Factors):
        return project_forward(first, second)[0]
    if not isinstance(second, Factors):  # M + A (B' M) for the matrix M
        return second + first.left @ (first.right.T @ second)
    # (I + A B') (I + C D') = I + A (B + D C' B)' + C D'
    turned = first.right + second.right @ (second.left.T @ first.right)
    return Factors(np.hstack([first.left, second.left]), np.hstack([turned, second.right]))


def _checked(name: str, given: Any, largest: float) -> Array:
    """Return a read-only copy of a matrix."""
    matrix = np.array(as_floats(**{name: given})[0])
    if matrix.ndim != 2 or not matrix.size:
        raise ShapeError(f"{name} must be a matrix (E, r), got shape {matrix.shape}")
    require_finite(matrix, **{name: matrix})
    if np.abs(matrix).max() > largest:
        what = f"{name}: this projection has numbers beyond {largest:.0e}"
        raise ShapeError(f"{what}, so that products overflow; scale it down")
    matrix.flags.writeable = False
    return matrix


class Projections:
    """The matrices that attention learns: ``query Q`` meets ``key K``, and ``value V`` is pooled.

    (Vaswani et al. 2017, section 3.2.2.) Projections are immutable.

    Args:
        query: Q (E, r), or `Factors`, which hold ``I + left right'`` in 2 E r numbers. None is
            the identity.
        key: K, likewise.
        value: V (Ev, Ev'), likewise.
        embedding: name (from ``fingerprint``) of the embedding they were learned for; None if any
            of that size will do.

    Raises:
        ShapeError: a matrix is none, or not finite, or Q and K lead to vectors of two sizes.

    >>> projections = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
    >>> projections.project_queries([[3.0, 4.0]]), projections.project_keys([[3.0, 4.0]])
    (array([[4., 3.]]), array([[3., 4.]]))
    """

    query: Projection
    key: Projection
    value: Projection
    embedding: str | None
    _arrays: dict[str, Array]

    def __init__(
        self,
        query: ArrayLike | Factors | None = None,
        key: ArrayLike | Factors | None = None,
        value: ArrayLike | Factors | None = None,
        *,
        embedding: str | None = None,
    ) -> None:
        arrays = dict[str, Array]()
        self.__dict__.update(embedding=embedding, _arrays=arrays)
        for role, given in zip(ROLES, (query, key, value), strict=True):
            made: Projection = None
            if isinstance(given, Factors):
                for part, array in given._asdict().items():
                    name = f"{role}.{part}"
                    arrays[name] = _checked(name, array, _LARGEST**0.5)
                made = Factors(arrays[f"{role}.left"], arrays[f"{role}.right"])
                if made.left.shape != made.right.shape:
                    what = f"the factors of {role} must be of one shape (E, r)"
                    raise ShapeError(f"{what}, got {made.left.shape} and {made.right.shape}")
            elif given is not None:
                made = arrays[role] = _checked(role, given, _LARGEST)
            self.__dict__[role] = made
        both = [one for one in (self.query, self.key) if one is not None]
        sizes = [len(p.left) if isinstance(p, Factors) else p.shape[1] for p in both]
        if len(set(sizes)) > 1:
            what = "query and key must lead to vectors of one size to be compared"
            raise ShapeError(f"{what}, got {sizes[0]} and {sizes[1]}")

    def __setattr__(self, name: str, value: object = None) -> None:
        raise ReadOnlyError(f"projections do not change ({name!r}); make new ones")

    __delattr__ = __setattr__

    @property
    def is_identity(self) -> bool:
        """Whether nothing is changed."""
        return not self._arrays

    def project_queries(self, vectors: ArrayLike) -> Array:
        """Return ``vectors Q`` for vectors (..., E): (..., r); ShapeError if E is another."""
        return project_forward(as_floats(vectors=vectors)[0], self.query)[0]

    def project_keys(self, vectors: ArrayLike) -> Array:
        """Return ``vectors K`` for vectors (..., E): (..., r), likewise."""
        return project_forward(as_floats(vectors=vectors)[0], self.key, "key")[0]

    def project_values(self, values: ArrayLike) -> Array:
        """Return ``values V`` for values (..., Ev): (..., Ev'), likewise."""
        return project_forward(as_floats(values=values)[0], self.value, "value")[0]

    def then(self, others: Projections) -> Projections:
        """Return the projections that apply these, and then others, to the same embedding."""
        roles = [_composed(getattr(self, role), getattr(others, role)) for role in ROLES]
        return Projections(*roles, embedding=self.embedding)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that a file holds, by name; none for the identity."""
        return dict(self._arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], *, embedding: str | None = None) -> Projections:
        """Return the projections that `arrays` gave; FileFormatError if they are not such."""
        given, made = dict(arrays), dict[str, Any]()
        try:
            for role in ROLES:
                made[role] = given.pop(role, None)
                if f"{role}.left" in given:
                    made[role] = Factors(given.pop(f"{role}.left"), given.pop(f"{role}.right"))
            if given:
                raise ValueError(f"they have arrays named {', '.join(given)[:200]}")
            return cls(**made, embedding=embedding)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"these are no whole projections: {error}") from error

    @cached_property
    def digest(self) -> str:
        """A hash of all numbers."""
        state = blake2b(digest_size=8)
        for name, array in sorted(self._arrays.items()):
            state.update(name.encode("ascii"))
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()

    def __reduce__(self) -> tuple[Callable[..., Projections], tuple[object, ...]]:
        return partial(type(self).from_arrays, embedding=self.embedding), (self.arrays(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Projections):
            return NotImplemented
        return (self.digest, self.embedding) == (other.digest, other.embedding)

    def __hash__(self) -> int:
        return hash((self.digest, self.embedding))

    def __repr__(self) -> str:
        shown = [f"{name}=<array {array.shape}>" for name, array in self._arrays.items()]
        return f"Projections({', '.join(shown)})"


def as_projections(projections: Any) -> Projections | None:
    """Return the projections that a ``projections=`` argument means; None for the identity."""
    if projections is None or isinstance(projections, Projections):
        return projections
    if isinstance(projections, str) and projections == "identity":
        return None
    expected = "None, 'identity', which is the same, or Projections"
    raise OptionError(f"projections: expected {expected}, got {quoted(projections)}")


def require_learned_for(embedding: Embedding, projections: Projections | None) -> None:
    """Raise OptionError if projections were learned for another embedding, naming both."""
    if projections is None or projections.is_identity or not projections.embedding:
        return  # without its name, which may be a hash of all vectors and take a while
    name = embedding.fingerprint()["name"]
    if name != projections.embedding:
        what = f"these are for {projections.embedding}, and the embedding is {name}"
        raise OptionError(f"projections: {what}; give that embedding, or other projections")
