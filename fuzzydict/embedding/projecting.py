"""One projection: a matrix, its factors, or one that reads texts; checked and applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats
from fuzzydict.embedding.maps import Factors, checked_factors, checked_matrix, project_forward
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.errors import ArgumentTypeError

__all__ = ["Projection", "frozen", "made_of", "project", "shown", "size_after"]

#: A matrix (E, r), its factors, or one that reads texts; None is the identity.
Projection = Array | Factors | Subwords | None


def project(
    vectors: ArrayLike,
    projection: Projection,
    role: str = "query",
    texts: Sequence[str] | None = None,
) -> Array:
    """Return ``vectors`` (..., E) times a projection, (..., r).

    Raises:
        ShapeError: The vectors are not of the size that the projection takes.
        ArgumentTypeError: It reads texts, and there are none.
    """
    if isinstance(projection, Subwords):
        return projection.project(vectors, texts)
    return project_forward(as_floats(vectors=vectors)[0], projection, role)[0]


def frozen(role: str, projection: Any) -> Projection:
    """Return a checked copy that nobody writes to."""
    if projection is None:
        return None
    if isinstance(projection, Subwords):
        if role == "value":
            raise ArgumentTypeError("value: expected a matrix or factors, for values are no texts")
        return projection
    if not isinstance(projection, Factors):
        return checked_matrix(role, projection)
    return checked_factors(role, projection)


def made_of(role: str, arrays: Mapping[str, Any]) -> Any:
    """Return what `Projections` takes for a role, from the arrays named after it."""
    parts = {
        name.removeprefix(f"{role}."): array
        for name, array in arrays.items()
        if name.startswith(f"{role}.")
    }
    if "matrix" in parts:
        return Subwords.from_arrays(parts)
    return Factors(parts["left"], parts["right"]) if parts else arrays.get(role)


def size_after(projection: Projection) -> int | None:
    """Return the size of projected vectors; None where it is that of what is projected."""
    if projection is None:
        return None
    return len(projection.left) if isinstance(projection, Factors) else projection.shape[1]


def shown(projection: Array | Factors | Subwords) -> str:
    """Return what a projection is, for people."""
    if isinstance(projection, Subwords):
        return repr(projection)
    if isinstance(projection, Factors):
        size, rank = projection.left.shape
        return f"<identity and rank {rank} ({size}, {size})>"
    return f"<array {projection.shape}>"
