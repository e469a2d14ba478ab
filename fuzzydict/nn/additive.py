"""Scorers made of a small network: additive and concat, which are one formula."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import (
    Array,
    as_floats,
    linear,
    linear_backward,
    require_finite,
    slices,
    unbroadcast,
)
from fuzzydict.errors import ShapeError
from fuzzydict.nn.base import Backward, Gradients, Scorer

__all__ = ["Additive", "Concat"]

# Elements of the hidden layer (..., L, S, A) held at a time; the layer is never whole in memory.
_BLOCK = 1 << 20


class Additive(Scorer):
    """A hidden layer over both, ``w' tanh(W_q q + W_k k)`` (Bahdanau et al. 2015, appendix A.1.2).

    Args:
        W_q: The queries' projection (A, Eq); None is the identity.
        W_k: The keys' projection (A, Ek); None is the identity.
        w: The weights (A,) of the hidden layer; None is all ones. Without any of the three this
            is the plain sum of ``tanh(q + k)``.

    Raises:
        ShapeError: The parameters do not fit together, or are not finite.

    Example:
        >>> Additive()([[0.0, 1.0]], [[0.0, -1.0], [0.0, 99.0]])
        array([[0., 1.]])
    """

    same_size = False

    def __init__(
        self,
        W_q: ArrayLike | None = None,  # noqa: N803 -- the letters of the formula
        W_k: ArrayLike | None = None,  # noqa: N803
        w: ArrayLike | None = None,
    ) -> None:
        given = {"W_q": W_q, "W_k": W_k, "w": w}
        self._parameters = _checked({n: p for n, p in given.items() if p is not None})

    @property
    def parameters(self) -> dict[str, Array]:
        """Those of ``W_q`` (A, Eq), ``W_k`` (A, Ek) and ``w`` (A,) that were given."""
        return dict(self._parameters)

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        cast = {n: p.astype(query.dtype, copy=False) for n, p in self._parameters.items()}
        w_q, w_k = cast.get("W_q"), cast.get("W_k")
        q, k = _project("query", query, w_q), _project("key", key, w_k)
        if q.shape[-1] != k.shape[-1]:
            raise ShapeError(
                f"query {query.shape} and key {key.shape} meet in a hidden layer of sizes "
                f"{q.shape[-1]} and {k.shape[-1]}; give W_q (A, Eq) and W_k (A, Ek) of one A"
            )
        w = cast.get("w", np.ones(q.shape[-1], q.dtype))
        if w.shape != q.shape[-1:]:
            raise ShapeError(f"w must have shape (A,) = {q.shape[-1:]}, got {w.shape}")

        def backward(d_scores: Array) -> Gradients:
            d_q, d_k, d_w = _layer_backward(d_scores, q, k, w)
            d_query, d_w_q = _project_backward(d_q, query, w_q)
            d_key, d_w_k = _project_backward(d_k, key, w_k)
            gradients = {"W_q": d_w_q, "W_k": d_w_k, "w": d_w}
            return Gradients(d_query, d_key, {n: g for n, g in gradients.items() if n in cast})

        return _layer(q, k, w), backward


class Concat(Scorer):
    """A hidden layer over query and key joined, ``w' tanh(W [q; k])``.

    From Luong et al. 2015, equation 8, "concat". Cut in two columns, W is the pair of projections
    of ``Additive``.

    Args:
        W: The projection (A, Eq + Ek).
        w: The weights (A,) of the hidden layer.

    Raises:
        ShapeError: W and w do not fit together, or are not finite.

    Example:
        >>> Concat(W=[[1.0, 0.0, 0.0, -1.0]], w=[2.0])([[5.0, 0.0]], [[0.0, 5.0]])
        array([[0.]])
    """

    same_size = False

    def __init__(self, W: ArrayLike, w: ArrayLike) -> None:  # noqa: N803
        self._parameters = _checked({"W": W, "w": w})

    @property
    def parameters(self) -> dict[str, Array]:
        """``W`` (A, Eq + Ek) and ``w`` (A,)."""
        return dict(self._parameters)

    def _forward(self, query: Array, key: Array) -> tuple[Array, Backward]:
        joint, w = self._parameters["W"], self._parameters["w"]
        cut = query.shape[-1]
        if joint.shape[1] != cut + key.shape[-1]:
            raise ShapeError(
                f"W must have shape (A, Eq + Ek) = (A, {cut + key.shape[-1]}) for query "
                f"{query.shape} and key {key.shape}, got {joint.shape}"
            )
        scores, inner = Additive(joint[:, :cut], joint[:, cut:], w)._forward(query, key)

        def backward(d_scores: Array) -> Gradients:
            d_query, d_key, d = inner(d_scores)
            return Gradients(d_query, d_key, {"W": np.hstack([d["W_q"], d["W_k"]]), "w": d["w"]})

        return scores, backward


def _checked(parameters: dict[str, ArrayLike]) -> dict[str, Array]:
    """Return the parameters as finite arrays: w a vector (A,), the others matrices (A, ...)."""
    arrays = dict(zip(parameters, as_floats(**parameters), strict=True))
    for name, array in arrays.items():
        if array.ndim != (1 if name == "w" else 2):
            wanted = "a vector (A,)" if name == "w" else "a matrix (A, E)"
            raise ShapeError(f"{name} must be {wanted}, got shape {array.shape}")
        require_finite(array, **{name: array})
    hidden = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(hidden.values())) > 1:
        raise ShapeError(f"the parameters must have one first axis A, got {hidden}")
    return arrays


def _project(name: str, vectors: Array, weight: Array | None) -> Array:
    """Return vectors (..., N, E) times the weight (A, E): (..., N, A)."""
    if weight is not None and weight.shape[1] != vectors.shape[-1]:
        raise ShapeError(
            f"{name} {vectors.shape} does not fit its projection (A, E) {weight.shape}: "
            f"the last axis must be {weight.shape[1]}"
        )
    projected = vectors if weight is None else linear(vectors, weight)
    # tanh would turn an infinity into a plausible 1.
    require_finite(projected, **{name: vectors})
    return projected


def _project_backward(
    d_projected: Array, vectors: Array, weight: Array | None
) -> tuple[Array, Array]:
    """Return the gradients for the vectors (..., N, E) and the weight (A, E)."""
    if weight is None:
        return d_projected, np.empty(0)
    return linear_backward(d_projected, vectors, weight)[:2]


def _layer(q: Array, k: Array, w: Array) -> Array:
    """Return ``w' tanh(q + k)`` for all pairs of q (..., L, A) and k (..., S, A): (..., L, S)."""
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    scores = np.empty((*lead, q.shape[-2], k.shape[-2]), q.dtype)
    for keys in _blocks(scores, w.size):
        scores[..., keys] = _hidden(q, k[..., keys, :]) @ w
    return scores


def _layer_backward(d_scores: Array, q: Array, k: Array, w: Array) -> tuple[Array, Array, Array]:
    """Return the gradients for q (..., L, A), k (..., S, A) and w (A,)."""
    d_q, d_k, d_w = np.zeros_like(q), np.empty_like(k), np.zeros_like(w)
    for keys in _blocks(d_scores, w.size):
        hidden = _hidden(q, k[..., keys, :])
        d = d_scores[..., keys]
        d_w += d.reshape(-1) @ hidden.reshape(-1, w.size)
        d_sum = d[..., None] * w * (1 - hidden * hidden)  # (..., L, block, A)
        d_q += unbroadcast(d_sum.sum(-2), q.shape)
        d_k[..., keys, :] = unbroadcast(d_sum.sum(-3), k[..., keys, :].shape)
    return d_q, d_k, d_w


def _hidden(q: Array, k: Array) -> Array:
    """Return ``tanh(q + k)`` (..., L, S, A)."""
    hidden: Array = q[..., :, None, :] + k[..., None, :, :]
    return np.tanh(hidden, out=hidden)


def _blocks(scores: Array, size: int) -> list[slice]:
    """Cut the keys of scores (..., L, S) so that each block's hidden layer stays small."""
    count = scores.shape[-1]
    rows = scores.size // max(count, 1)
    step = max(1, _BLOCK // max(rows * size, 1))
    return slices(count, step)
