"""Several maps of a query, each looking for something else among the same keys; joined scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict.arrays import Array, as_floats, positive, require_finite
from fuzzydict.errors import ReadOnlyError, ShapeError
from fuzzydict.factors import Factors, composed

__all__ = ["QueryHeads", "composed_heads", "heads_forward", "soft_maximum"]


class QueryHeads:
    """H maps of a query, (E, r) each: so one query is near keys that lie far from each other.

    Keys keep one vector each (N. Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All
    You Need", section 3: multi-query attention). What the heads score is joined by `soft_maximum`,
    so that a softmax at its temperature is that over all pairs of a head and a key, summed over
    the heads.

    Args:
        maps: (H, E, r); or `Factors`, both (H, E, k), of which each head is ``I + left right'``.
        temperature: of the soft maximum, above 0, in units of the scores.
        of_heads: whether each maps a vector of its own, of as many heads that come first.

    Raises:
        ShapeError: The maps are no stack of two matrices or more, or hold NaN or infinity.

    Example:
        >>> turned = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
        >>> QueryHeads(turned, 0.1).project([[3.0, 4.0]]).tolist()
        [[[3.0, 4.0], [4.0, 3.0]]]
    """

    __slots__ = ("maps", "of_heads", "temperature")

    maps: Array | Factors
    temperature: float
    of_heads: bool

    def __init__(
        self, maps: ArrayLike | Factors, temperature: float, *, of_heads: bool = False
    ) -> None:
        stack = _checked_factors(maps) if isinstance(maps, Factors) else _checked("maps", maps)
        object.__setattr__(self, "maps", stack)
        object.__setattr__(self, "temperature", positive("temperature", temperature))
        object.__setattr__(self, "of_heads", bool(of_heads))

    def __setattr__(self, name: str, value: object) -> None:
        raise ReadOnlyError(f"heads do not change ({name!r}); make new ones")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __len__(self) -> int:
        """Return how many heads there are, H."""
        return len(self.maps.left if isinstance(self.maps, Factors) else self.maps)

    def goes_on_from(self, heads: int) -> bool:
        """Tell whether they map the vectors of queries that have so many heads, 1 if none."""
        return self.of_heads and len(self) == heads if heads > 1 else not self.of_heads

    @property
    def shape(self) -> tuple[int, int]:
        """The sizes of a vector before and after: (E, r)."""
        if isinstance(self.maps, Factors):
            return self.maps.left.shape[1], self.maps.left.shape[1]
        size, after = self.maps.shape[1:]
        return size, after

    def project(self, vectors: ArrayLike) -> Array:
        """Return the vectors of the heads, (..., H, r), for vectors (..., E).

        Of heads that come first it takes theirs, (..., H, E).

        Raises:
            ShapeError: The vectors are not of the size, or the heads, that they take.
        """
        x = as_floats(vectors=vectors)[0]
        size, expected = self.shape[0], (len(self),) if self.of_heads else ()
        lead, given = x.shape[: -1 - len(expected)], x.shape[-1 - len(expected) :]
        if given != (*expected, size):
            raise ShapeError(
                f"the heads of the query take vectors of shape {(..., *expected, size)}, "
                f"got shape {x.shape}".replace("Ellipsis", "...")
            )
        projected, _ = heads_forward(x.reshape(-1, *given), self.maps, of_heads=self.of_heads)
        return projected.reshape(*lead, len(self), -1)

    def mapped(self, function: Callable[[Array | Factors], Any]) -> QueryHeads:
        """Return heads of which each map is what the function makes of it."""
        maps = _stacked([function(one) for one in self.each()])
        return QueryHeads(maps, self.temperature, of_heads=self.of_heads)

    def at(self, temperature: float) -> QueryHeads:
        """Return the same heads, joined at another temperature."""
        return QueryHeads(self.maps, temperature, of_heads=self.of_heads)

    def each(self) -> list[Array | Factors]:
        """Return the map of each head."""
        if isinstance(self.maps, Factors):
            return [Factors(*pair) for pair in zip(*self.maps, strict=True)]
        return list(self.maps)

    # ---- as arrays ------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what they are made of, by name."""
        maps = self.maps._asdict() if isinstance(self.maps, Factors) else {"whole": self.maps}
        return {"heads": np.array([self.temperature, self.of_heads]), **maps}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> QueryHeads:
        """Return those of which `arrays` told.

        Raises:
            KeyError, TypeError, ValueError: The arrays are not those of heads.
        """
        temperature, of_heads = arrays["heads"].tolist()
        if of_heads not in (0, 1):
            raise ValueError(f"heads are of heads or not, 1 or 0, not {of_heads!r}")
        is_whole = "whole" in arrays
        maps = arrays["whole"] if is_whole else Factors(arrays["left"], arrays["right"])
        return cls(maps, temperature, of_heads=bool(of_heads))

    def __repr__(self) -> str:
        rank = self.maps.left.shape[2] if isinstance(self.maps, Factors) else None
        return f"<{len(self)} heads {'' if rank is None else f'of rank {rank} '}{self.shape}>"


def heads_forward(
    x: Array, maps: Array | Factors, *, of_heads: bool
) -> tuple[Array, Callable[[Array], Array | Factors]]:
    """Project x (N, E), or (N, H, E) ``of_heads`` that come first; return also the way back.

    Returns:
        (N, H, r), and a function from a gradient shaped like it to that of the maps.
    """
    first = x.swapaxes(0, 1) if of_heads else x[None]  # (H or 1, N, E)
    if not isinstance(maps, Factors):
        whole = maps.astype(x.dtype, copy=False)
        return (first @ whole).swapaxes(0, 1), lambda d: _outer(first, d.swapaxes(0, 1))
    left, right = (part.astype(x.dtype, copy=False) for part in maps)
    inner = first @ left  # (H, N, k)

    def backward(d_heads: Array) -> Factors:
        d = d_heads.swapaxes(0, 1)
        return Factors(_outer(first, d @ right), _outer(d, inner))

    return (first + inner @ right.swapaxes(1, 2)).swapaxes(0, 1), backward


def soft_maximum(scores: Iterable[Array], temperature: float) -> Array:
    """Return ``t log mean_h exp(s_h / t)`` of the scores of each head, all of one shape.

    It lies between the mean and the maximum of the heads, and is the score of one if all are equal.

    >>> same, high = np.array([0.3]), np.array([0.5, 0.9])
    >>> soft_maximum([same, same], 0.05).round(6).tolist()
    [0.3]
    >>> soft_maximum([high, high[::-1]], 1e-3).round(2).tolist()
    [0.9, 0.9]
    """
    total, count = None, 0
    for head in scores:
        cold = head / head.dtype.type(temperature)
        total = cold if total is None else np.logaddexp(total, cold, out=cold)
        count += 1
    if total is None:
        raise ShapeError("the scores of one head at least are needed, got none")
    total -= total.dtype.type(np.log(count))
    total *= total.dtype.type(temperature)
    return total


def composed_heads(first: Any, second: Any) -> Any:
    """Return the one projection that is ``first`` and then ``second``, either with heads or none.

    >>> twice = QueryHeads([[[2.0]], [[3.0]]], 0.1)
    >>> composed_heads(twice, np.array([[5.0]])).maps.tolist()
    [[[10.0]], [[15.0]]]
    """
    if isinstance(second, QueryHeads):
        before = first.each() if isinstance(first, QueryHeads) else [first] * len(second)
        pairs = zip(before, second.each(), strict=True)
        of_heads = first.of_heads if isinstance(first, QueryHeads) else second.of_heads
        maps = _stacked([composed(one, then) for one, then in pairs])
        return QueryHeads(maps, second.temperature, of_heads=of_heads)
    if isinstance(first, QueryHeads):
        return first.mapped(lambda one: composed(one, second))
    return composed(first, second)


def _stacked(maps: list[Any]) -> Array | Factors:
    if isinstance(maps[0], Factors):
        return Factors(*map(np.stack, zip(*maps, strict=True)))
    return np.stack(maps)


def _outer(a: Array, b: Array) -> Array:
    """Sum the outer products of rows, head by head: of (H, N, I) and (H, N, J), (H, I, J)."""
    total: Array = a.swapaxes(1, 2) @ b
    return total


def _checked(name: str, maps: ArrayLike) -> Array:
    """Return a copy of the maps of heads (H, E, r) that nobody writes to."""
    checked = np.array(as_floats(**{name: maps})[0])
    if checked.ndim != 3 or not checked.size or len(checked) < 2:
        raise ShapeError(
            f"{name}: expected matrices (H, E, r) of two heads or more, got shape {checked.shape}"
        )
    require_finite(checked, **{name: checked})
    checked.flags.writeable = False
    return checked


def _checked_factors(factors: Factors) -> Factors:
    checked = Factors(*(_checked(name, part) for name, part in factors._asdict().items()))
    if checked.left.shape != checked.right.shape:
        raise ShapeError(
            f"the factors of heads must be of one shape (H, E, k), "
            f"got {checked.left.shape} and {checked.right.shape}"
        )
    return checked
