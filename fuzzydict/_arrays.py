"""Array helpers: conversion and checks of arguments, broadcasting, linear maps.

Each axis has one letter in the whole package: L queries, S keys, E numbers of a query and a key, Ev
of a value, A of a hidden layer, H heads. ``...`` stands for batch axes, which broadcast.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted

Array: TypeAlias = NDArray[np.floating[Any]]
_Float = TypeVar("_Float", bound=np.floating[Any])
_P = ParamSpec("_P")
_T = TypeVar("_T")


def ignore_invalid(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Hide warnings of invalid numbers, which BLAS gives for finite ones once in a while."""

    @wraps(function)
    def quiet(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with np.errstate(invalid="ignore"):
            return function(*args, **kwargs)

    return quiet


def as_floats(**arguments: ArrayLike) -> tuple[Array, ...]:
    """Return the arguments as arrays of one floating dtype, without a copy where possible.

    It is that of the floating arguments, from float32 to float64; without any it is float64. What
    holds no real numbers raises ArgumentTypeError, and a ragged list ShapeError.
    """
    arrays = list[NDArray[Any]]()
    for name, argument in arguments.items():
        array = as_array(name, argument)
        if array.dtype == object and all(isinstance(one, Real | Decimal) for one in array.flat):
            numbers = [real_number(name, one, "real numbers") for one in array.flat]
            array = np.array(numbers, np.float64).reshape(array.shape)
        if array.dtype.kind not in "fiub":
            raise ArgumentTypeError(
                f"{name} must be an array of real numbers, "
                f"got {type(argument).__name__} of dtype {array.dtype}"
            )
        arrays.append(array)
    widths = [array.itemsize for array in arrays if array.dtype.kind == "f"]
    dtype = np.float32 if widths and max(widths) <= 4 else np.float64
    with np.errstate(over="ignore"):  # infinity is refused later, with its place
        return tuple(array.astype(dtype, copy=False) for array in arrays)


def as_array(name: str, argument: ArrayLike) -> NDArray[Any]:
    """Return an argument as an array of whatever it holds; raise if it is none, or ragged."""
    try:
        return np.asarray(argument)
    except ValueError as error:
        raise ShapeError(f"{name} is ragged: its rows differ in length ({error})") from None
    except Exception as error:  # whatever its __array__ raises
        raise ArgumentTypeError(
            f"{name} must be an array of real numbers, got {quoted(argument)}"
        ) from error


def check_matrices(query: Array, key: Array, *, same_size: bool = True) -> None:
    """Raise ShapeError unless query (..., L, E) and key (..., S, E) fit together."""
    for name, array, letter in (("query", query, "L"), ("key", key, "S")):
        if array.ndim < 2 or array.shape[-1] == 0:
            raise ShapeError(
                f"{name} must have shape (..., {letter}, E) with E > 0, got {array.shape}"
                + (f"; for a single vector pass {name}[None]" if array.ndim == 1 else "")
            )
    if same_size and query.shape[-1] != key.shape[-1]:
        raise ShapeError(
            f"query and key must have the same last axis E, got query {query.shape} and "
            f"key {key.shape}; for sizes that differ use the scorer Bilinear, Additive or Concat"
        )
    broadcast_lead(query=query, key=key)


def broadcast_lead(**matrices: Array) -> tuple[int, ...]:
    """Return the broadcast batch axes of matrices (..., rows, columns)."""
    try:
        return np.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {matrix.shape}" for name, matrix in matrices.items())
        raise ShapeError(
            f"the batch axes (all but the last two) do not broadcast: {shapes}"
        ) from None


def require_finite(result: Array, **sources: Array) -> None:
    """Raise ShapeError if ``result`` is not finite, naming the source that is not."""
    if np.isfinite(result).all():
        return
    for name, source in sources.items():
        if len(bad := np.argwhere(~np.isfinite(source))):
            place = tuple(bad[0].tolist())
            raise ShapeError(
                f"{name} of shape {source.shape} must be finite, but {name}{list(place)} is "
                f"{source[place]} ({len(bad)} such in all); remove or replace them"
            )
    raise ShapeError(
        f"{' and '.join(sources)} are finite but too large: their products overflow "
        f"{result.dtype}; scale them down"
    )


# ---- numbers ----


def real_number(
    name: str, number: Any, expected: str, least: float = -math.inf, most: float = math.inf
) -> float:
    """Return a real number of Python or numpy as a float, which may be infinite.

    What is none, as a bool or a text, raises ArgumentTypeError; NaN, what is too large for a float,
    or not from ``least`` to ``most``, OptionError. ``expected`` tells what the argument takes.

    >>> real_number("scale", np.float32(0.5), "a number")
    0.5
    """
    if type(number) is float and least <= number <= most:  # as most are
        return number
    is_one = isinstance(number, np.ndarray) and number.ndim == 0 and not np.ma.is_masked(number)
    given = number.item() if is_one else number
    if not isinstance(given, Real | Decimal) or isinstance(given, bool):
        raise ArgumentTypeError(f"{name} must be {expected}, got {quoted(number)}")
    try:
        value = float(given)
    except OverflowError:
        value = math.inf
    except Exception:  # a Decimal that signals, or whatever else a class of numbers raises
        value = math.nan
    why = ""
    if math.isnan(value):
        why = ", which is NaN"
    elif math.isinf(value) and given != value:
        why = ", which is too large for a float"
    elif least <= value <= most:
        return value
    raise OptionError(f"{name} must be {expected}, got {quoted(number)}{why}")


def positive(name: str, number: Any, most: float = sys.float_info.max) -> float:
    """Return a finite `real_number` above 0, ``most`` at most."""
    limit = f", {most:g} at most" if most < sys.float_info.max else ""
    expected = f"a finite number above 0{limit}"
    return real_number(name, number, expected, math.ulp(0.0), most)


def whole_number(
    name: str, number: Any, least: int = 1, most: int | None = None, *, other: str = ""
) -> int:
    """Return a whole number from ``least`` to ``most``, or raise; a bool or a float is none.

    ``other`` tells what else the argument takes.

    >>> whole_number("epochs", np.int64(3))
    3
    """
    limits = f"of {least} or more" if most is None else f"from {least} to {most}"
    wrong = f"{name} must be a whole number {limits}{other}, got {quoted(number)}"
    is_scalar = isinstance(number, np.ndarray | np.integer) and number.ndim == 0
    given = number.item() if is_scalar else number
    if not isinstance(given, int) or isinstance(given, bool):
        raise ArgumentTypeError(wrong)
    value = int.__int__(given)  # whatever a subclass says
    if value < least or (most is not None and value > most):
        raise OptionError(wrong)
    return value


def as_gradient(name: str, gradient: ArrayLike, of: Array) -> Array:
    """Return the gradient of a loss with respect to an array, whose shape it must have."""
    (array,) = as_floats(**{name: gradient})
    if array.shape != of.shape:
        raise ShapeError(f"{name} must have shape {of.shape}, got {array.shape}")
    return array.astype(of.dtype, copy=False)


def as_bool(name: str, answer: Any) -> bool:
    """Return whether something counts as true; raise if it cannot tell, or is a text: "no"."""
    try:
        if isinstance(answer, str):
            raise TypeError("a text counts as true")
        return bool(answer)
    except Exception as error:  # whatever its __bool__ raises
        raise ArgumentTypeError(f"{name} must give a bool, got {quoted(answer)}") from error


def as_divisor(number: float, dtype: np.dtype[Any]) -> float:
    """Return the normal number of a dtype that is nearest to a number above 0."""
    limits = np.finfo(dtype)  # others may be 0 or infinite, which makes 0 / 0 of equal scores
    return min(max(number, float(limits.tiny)), float(limits.max))


# ---- arrays ----


def unbroadcast(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum a gradient over the axes along which an array of this shape was broadcast."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra))) if extra else gradient
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    total: Array = gradient.sum(axis=axes, keepdims=True) if axes else gradient
    return total


def slices(count: int, step: int) -> list[slice]:
    """Split ``range(count)`` into slices of at most ``step``; a count of 0 gives an empty slice."""
    return [slice(start, min(start + step, count)) for start in range(0, max(count, 1), step)]


def make_room(kept: dict[Any, Any], most: int) -> None:
    """Drop the oldest quarter if there are ``most`` entries; threads may share them."""
    if len(kept) >= most:
        for key in list(kept)[: len(kept) - most + 1 + most // 4]:
            kept.pop(key, None)


def lengths_of(vectors: NDArray[np.floating[Any]]) -> NDArray[Any]:
    """Return the length of each vector (n, E), (n,); as float64 if the squares overflow 32 bits."""
    lengths: NDArray[Any] = np.sqrt(np.einsum("ne,ne->n", vectors, vectors))  # without a copy
    if np.isinf(lengths).any():
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return lengths


def units(vectors: NDArray[_Float]) -> NDArray[_Float]:
    """Return vectors (n, E) scaled to unit length; zero vectors stay zero."""
    lengths = lengths_of(vectors)
    scaled: NDArray[_Float] = vectors / (lengths + (lengths == 0))[:, None]
    return scaled.astype(vectors.dtype, copy=False)


def inverse_lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return one by the length of each vector (n, E), (n,); 0 for the zero vector."""
    lengths = lengths_of(vectors)
    np.divide(1, lengths, where=lengths > 0, out=lengths)
    return np.asarray(lengths, np.float32)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return ``x W' + b``, (..., N, J) as x, for x (..., N, I), weight (J, I), bias (J,)."""
    with np.errstate(over="ignore", invalid="ignore"):  # overflow gives infinity
        y: Array = x @ weight.T.astype(x.dtype, copy=False)
    return y if bias is None else y + bias.astype(x.dtype, copy=False)


@ignore_invalid
def linear_backward(d_y: Array, x: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Return the gradients of x (..., N, I), weight (J, I) and bias (J,), given that of y."""
    rows = d_y.reshape(-1, d_y.shape[-1])  # (N of all batches, J)
    d_weight: Array = rows.T @ x.reshape(-1, x.shape[-1])
    d_x: Array = d_y @ weight.astype(x.dtype, copy=False)
    return d_x, d_weight, rows.sum(0)


def glorot(random: np.random.Generator, rows: int, columns: int, dtype: DTypeLike) -> Array:
    """Draw a uniform random matrix (rows, columns) (Glorot and Bengio 2010, equation 16)."""
    try:
        kind = np.dtype(dtype).kind
    except Exception:  # whatever its methods raise
        kind = "O"
    if kind != "f":
        raise ArgumentTypeError(
            f"dtype must be a floating dtype such as float32, got {quoted(dtype)}"
        )
    limit = (6 / (rows + columns)) ** 0.5
    return random.uniform(-limit, limit, (rows, columns)).astype(dtype)


#: BLAS starts threads for larger products than these: of so many numbers by a vector, or of so
#: many multiplications of matrices. Its threads wait for each other where the machine is busy.
_BY_VECTOR, _BY_MATRIX = 1 << 13, 1 << 18
_AT_ONCE = 64  # vectors


def products(vectors: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the products of L vectors, (L, E), with n rows, (n, E), in one thread: (L, n)."""
    count, (n, size) = len(vectors), rows.shape
    numbers = _BY_VECTOR if count == 1 else _BY_MATRIX // _AT_ONCE
    step = max(numbers // max(size, 1), 1)  # rows of a tile
    tiles, rest = divmod(n, step)
    end, found = n - rest, np.empty((count, n), np.float32)
    tiled = rows[:end].reshape(tiles, step, size).swapaxes(1, 2)
    for start in range(0, count, _AT_ONCE):
        some, of_some = vectors[start : start + _AT_ONCE], found[start : start + _AT_ONCE]
        of_tiles = of_some[:, :end].reshape(len(some), tiles, step).swapaxes(0, 1)
        np.matmul(some, tiled, out=of_tiles)
        np.matmul(some, rows[end:].T, out=of_some[:, end:])
    return found


_RUN = 128  # values of which the top alone is compared first


def largest(values: NDArray[np.floating[Any]], count: int, tie: float = 0.0) -> NDArray[np.intp]:
    """Return places of the ``count`` > 0 largest values (no NaN), rising; of equals the first.

    Values that are no farther than ``tie`` from the last of these are equals.
    """
    whole = len(values) // _RUN * _RUN
    if whole > count * _RUN:  # so many runs have a value as large as the top that is found here
        tops = np.maximum.reduce(values[:whole].reshape(-1, _RUN), axis=1)
        few = (values >= np.partition(tops, -count)[-count] - tie).nonzero()[0]
        if len(few) < len(values):
            return np.asarray(few[largest(values[few], count, tie)])
    least = np.partition(values, -count)[-count]
    places: NDArray[np.intp] = (values >= least - tie).nonzero()[0]
    if len(places) > count:
        equal = (values[places] <= least + tie).nonzero()[0]
        places = np.delete(places, equal[count - len(places) :])
    return places
