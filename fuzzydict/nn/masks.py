"""Which query may attend to which key: masks, causal order, valid lengths, all in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, ShapeError

__all__ = ["Mask"]

_ALL = slice(None)


@dataclass(frozen=True)
class Mask:
    """What is added to the scores (..., L, S), or takes them away.

    Attributes:
        allowed: Bools that broadcast to (..., L, S), True to attend; or None.
        bias: Numbers that broadcast to (..., L, S), added to the scores; or None.
        lengths: Integers (..., L or 1, 1), how many keys from the first are valid; or None.
        is_causal: Whether query i sees the keys 0 to i alone.
    """

    allowed: NDArray[np.bool_] | None = None
    bias: Array | None = None
    lengths: NDArray[np.integer[Any]] | None = None
    is_causal: bool = False

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        attn_mask: ArrayLike | None = None,
        is_causal: bool = False,
        valid_lens: ArrayLike | None = None,
    ) -> Mask:
        """Check the arguments of an attention whose scores have this shape (..., L, S).

        Raises:
            ArgumentTypeError: attn_mask is neither bool nor float, or valid_lens no integers.
            ShapeError: One does not fit the scores, or holds a number that it must not.
        """
        mask = None if attn_mask is None else _checked_mask(attn_mask, shape)
        is_bool = mask is not None and mask.dtype.kind == "b"
        return cls(
            allowed=mask if is_bool else None,
            bias=None if is_bool else mask,
            lengths=None if valid_lens is None else _checked_lengths(valid_lens, shape),
            is_causal=bool(is_causal),
        )

    def apply(self, scores: Array, rows: slice = _ALL, columns: slice = _ALL) -> Array:
        """Return the masked scores of these rows (queries) and columns (keys).

        The scores are those of the block alone, (..., rows, columns).
        """
        out = np.array(-np.inf, scores.dtype)
        if self.bias is not None:
            bias = _cut(self.bias, rows, columns)
            scores = scores + bias.astype(scores.dtype, copy=False)
        if self.allowed is not None:
            scores = np.where(_cut(self.allowed, rows, columns), scores, out)
        if self.lengths is None and not self.is_causal:
            return scores
        start = columns.start or 0
        keys = np.arange(start, start + scores.shape[-1])
        if self.lengths is not None:
            scores = np.where(keys < _cut(self.lengths, rows, _ALL), scores, out)
        if self.is_causal:
            start = rows.start or 0
            queries = np.arange(start, start + scores.shape[-2])
            scores = np.where(keys <= queries[:, None], scores, out)
        return scores


def _cut(array: NDArray[Any], rows: slice, columns: slice) -> NDArray[Any]:
    """Cut rows and columns out of an array (..., L, S), but not from an axis that broadcasts."""
    if array.ndim and array.shape[-1] > 1:
        array = array[..., columns]
    if array.ndim > 1 and array.shape[-2] > 1:
        array = array[..., rows, :]
    return array


def _checked_mask(attn_mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    mask = np.asarray(attn_mask)
    if mask.dtype.kind not in "bf":
        raise ArgumentTypeError(
            f"attn_mask must be bool (True = attend) or float (added to the scores), got "
            f"dtype {mask.dtype}; for zeros and ones pass attn_mask.astype(bool)"
        )
    if not _broadcasts(mask.shape, shape):
        raise ShapeError(
            f"attn_mask of shape {mask.shape} does not broadcast to the scores (..., L, S) {shape}"
        )
    if mask.dtype.kind == "f" and not (mask < np.inf).all():
        raise ShapeError("attn_mask must not hold NaN or +inf; -inf takes a key away")
    return mask


def _checked_lengths(valid_lens: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the lengths as (..., L or 1, 1), whether they came by batch (...) or row (..., L)."""
    lengths = np.asarray(valid_lens)
    if lengths.dtype.kind not in "iu":
        raise ArgumentTypeError(f"valid_lens must be integers, got dtype {lengths.dtype}")
    by_row = lengths.ndim == len(shape) - 1
    if not _broadcasts(lengths.shape, shape[:-1] if by_row else shape[:-2]):
        raise ShapeError(
            f"valid_lens of shape {lengths.shape} must have the shape {shape[:-2]} (a number "
            f"for each batch) or {shape[:-1]} (for each query) of the scores {shape}"
        )
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= shape[-1]:
        raise ShapeError(
            f"valid_lens must lie between 0 and S = {shape[-1]}, "
            f"got {lengths.min()} to {lengths.max()}"
        )
    return lengths[..., None] if by_row else lengths[..., None, None]


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False
