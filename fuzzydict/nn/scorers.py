"""The scorers: products, kernels of the distance, and hidden layers.

A constructor raises an OptionError or ShapeError if its arguments do not fit together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import (
    Array,
    as_divisor,
    as_floats,
    as_gradient,
    broadcast_lead,
    check_matrices,
    ignore_invalid,
    linear,
    linear_backward,
    positive,
    real_number,
    require_finite,
    slices,
    unbroadcast,
)
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted


class ScorerGradients(NamedTuple):
    """Gradients of a loss with respect to a scorer's inputs, each shaped like its input."""

    query: Array  # (..., L, E)
    key: Array  # (..., S, E)
    parameters: dict[str, Array]


#: From the gradient of a loss with respect to the scores (..., L, S) to those of the inputs.
ScorerBackward: TypeAlias = Callable[[Any], ScorerGradients]


class Scorer(ABC):
    """The logarithm of the weight of each key for each query, so that one softmax serves all."""

    same_size = True  # whether queries and keys must have the same last axis
    is_finite = False  # whether a score is never infinite, unless its products overflow
    _parameters: Mapping[str, Array] = {}

    def __call__(self, query: ArrayLike, key: ArrayLike) -> Array:
        """Score queries (..., L, E) against keys (..., S, E); return (..., L, S).

        It raises a ShapeError if these do not fit together, or are not finite.
        """
        return self.forward(query, key)[0]

    def forward(self, query: ArrayLike, key: ArrayLike) -> tuple[Array, ScorerBackward]:
        """Return scores (..., L, S) and `backward`, which ignores gradients at scores of -inf."""
        q, k = as_floats(query=query, key=key)
        check_matrices(q, k, same_size=self.same_size)
        with np.errstate(over="ignore", invalid="ignore"):
            scores, inner = self._forward(q, k)
        if self.is_finite:
            require_finite(scores, query=q, key=k, **self._parameters)

        @ignore_invalid
        def backward(d_scores: ArrayLike) -> ScorerGradients:
            d_query, d_key, d_parameters = inner(as_gradient("d_scores", d_scores, scores))
            return ScorerGradients(
                unbroadcast(d_query, q.shape), unbroadcast(d_key, k.shape), d_parameters
            )

        return scores, backward

    @abstractmethod
    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        """Implement ``forward`` for checked arrays; scores of -inf are constant.

        Their gradient must be ignored. Gradients may keep the batch axes of scores.
        """

    @property
    def parameters(self) -> dict[str, Array]:
        """The arguments of the constructor that can be trained, by name."""
        return dict(self._parameters)

    def __repr__(self) -> str:
        shown = [
            f"{name}=" + (f"{value.item():g}" if value.ndim == 0 else f"<array {value.shape}>")
            for name, value in self._parameters.items()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


class FunctionScorer(Scorer):
    """A function ``(..., L, E), (..., S, E) -> (..., L, S)``, without gradients.

    It may be called with some queries or keys at a time: a score may depend on its own pair alone.
    """

    same_size = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        (scores,) = as_floats(scores=self.function(query, key))
        expected = (*broadcast_lead(query=query, key=key), query.shape[-2], key.shape[-2])
        if scores.shape != expected:
            what = f"{expected} for query {query.shape} and key {key.shape}, got {scores.shape}"
            raise ShapeError(f"the scorer {self!r} must return scores (..., L, S) = {what}")

        def backward(_: Array) -> ScorerGradients:
            why = f"the scorer {self!r} is a plain function, which has no gradient"
            raise ArgumentTypeError(f"{why}; to train, write a subclass of Scorer")

        # What is too large becomes inf, which is refused.
        return scores.astype(query.dtype, copy=False), backward

    def __repr__(self) -> str:
        return f"FunctionScorer({getattr(self.function, '__name__', self.function)})"


class Dot(Scorer):
    """The dot product ``q.k`` (Luong et al. 2015, equation 8, "dot").

    >>> Dot()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    is_finite = True

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        scores = query @ key.swapaxes(-1, -2)
        return scores, lambda d: ScorerGradients(d @ key, d.swapaxes(-1, -2) @ query, {})


class ScaledDot(Scorer):
    """The dot product divided by the square root of its size, ``q.k / sqrt(E)``.

    The spread of the scores of random vectors then does not depend on E (Vaswani et al. 2017,
    equation 1). A ``scale`` above 0 takes the place of the factor ``E ** -0.5``.

    >>> ScaledDot()([[1.0, 2.0, 2.0, 0.0]], [[3.0, 4.0, 0.0, 0.0]])
    array([[5.5]])
    """

    is_finite = True

    def __init__(self, scale: float | None = None) -> None:
        self.scale = None if scale is None else positive("scale", scale)

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scaled = query * scale  # it is smaller than the scores
        scores = scaled @ key.swapaxes(-1, -2)
        return scores, lambda d: ScorerGradients(d @ key * scale, d.swapaxes(-1, -2) @ scaled, {})

    def __repr__(self) -> str:
        return "ScaledDot()" if self.scale is None else f"ScaledDot(scale={self.scale:g})"


class Bilinear(Scorer):
    """A dot product through a matrix M (Eq, Ek), ``q' M k``.

    From Luong et al. 2015, equation 8, "general". Queries (..., L, Eq) and keys (..., S, Ek) may
    differ in size.

    >>> Bilinear([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])([[1.0, 2.0]], [[1.0, 1.0, 1.0]])
    array([[5.]])
    """

    same_size, is_finite = False, True

    def __init__(self, M: ArrayLike) -> None:  # noqa: N803 -- the letter of the formula
        self._parameters = _arrays_of(M=M)
        self.M = self._parameters["M"]

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        if self.M.shape != (query.shape[-1], key.shape[-1]):
            given = f"query {query.shape} and key {key.shape}"
            raise ShapeError(f"M has shape {self.M.shape} (Eq, Ek), which does not fit {given}")
        projected = linear(query, self.M.T)  # (..., L, Ek)

        def backward(d_scores: Array) -> ScorerGradients:
            d_projected = unbroadcast(d_scores @ key, projected.shape)
            d_query, d_transposed, _ = linear_backward(d_projected, query, self.M.T)
            d_key = d_scores.swapaxes(-1, -2) @ projected
            return ScorerGradients(d_query, d_key, {"M": d_transposed.T})

        return projected @ key.swapaxes(-1, -2), backward


class Cosine(Scorer):
    """The cosine of the angle, ``q.k / (|q| |k|)``, in [-1, 1]; 0 where a vector is zero.

    >>> Cosine()([[3.0, 4.0]], [[30.0, 40.0], [4.0, 3.0], [0.0, 0.0]]).round(2)
    array([[1.  , 0.96, 0.  ]])
    """

    is_finite = True

    def with_lengths(self, query: Array, key: Array, k_inverse: Array) -> Array:
        """Score keys whose ``1 / |k|`` (S,), 0 for the zero vector, is known."""
        check_matrices(query, key)
        with np.errstate(over="ignore", invalid="ignore"):
            scores, _ = self._forward(query, key, k_inverse)
        require_finite(scores, query=query, key=key)
        return scores

    def _forward(
        self, query: Array, key: Array, known: Array | None = None
    ) -> tuple[Array, ScorerBackward]:
        q_inverse = _inverse_lengths("query", query)  # (..., L)
        k_inverse = _inverse_lengths("key", key) if known is None else known
        unit = query * q_inverse[..., None]
        scores: Array = unit @ key.swapaxes(-1, -2)
        scores *= k_inverse[..., None, :]
        if not -1 <= scores.min(initial=0) <= scores.max(initial=0) <= 1:
            np.clip(scores, -1, 1, out=scores)  # rounding can leave it; NaN stays

        def backward(d_scores: Array) -> ScorerGradients:
            # d cos / dq = (k/|k| - cos q/|q|) / |q|, and the same with q and k exchanged.
            shares = d_scores * scores
            over_k = d_scores * k_inverse[..., None, :]
            d_unit = over_k @ key - shares.sum(-1)[..., None] * unit
            d_key = over_k.swapaxes(-1, -2) @ unit
            d_key -= (shares.sum(-2) * k_inverse**2)[..., None] * key
            return ScorerGradients(d_unit * q_inverse[..., None], d_key, {})

        return scores, backward


def _inverse_lengths(name: str, vectors: Array) -> Array:
    """Return ``1 / |x|`` (..., N) for vectors (..., N, E), and 0 for the zero vector."""
    lengths = np.sqrt(_squares(name, vectors))
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _squares(name: str, vectors: Array) -> Array:
    """Return ``|x|^2`` (..., N) for vectors (..., N, E)."""
    squares: Array = np.einsum("...e,...e->...", vectors, vectors)
    require_finite(squares, **{name: vectors})
    return squares


class Kernel(Scorer):
    """A weight ``g`` that falls with the distance ``d = |q - k|``, in units of ``width``."""

    # Of ``u = d^2 / width^2``: log g, -inf outside its support, and the derivative inside it.
    _log: staticmethod[[Array], Array]
    _slope: staticmethod[[Array], Array]

    def __init__(self, width: float | ArrayLike = 1.0) -> None:
        expected = "a number from 1e-100 to 1e100 (beyond these scale the vectors)"
        self.width = real_number("width", width, expected, 1e-100, 1e100)
        self._parameters = {"width": np.array(self.width)}

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        unit = as_divisor(self.width**2, query.dtype)
        u = squared_distances(query, key)
        u /= unit
        scores = self._log(u)

        def backward(d_scores: Array) -> ScorerGradients:
            inside = np.isfinite(scores)
            d_scores, within = np.where(inside, d_scores, 0), np.where(inside, u, 0)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                d_u = d_scores * self._slope(within)
                d = d_u / unit  # of squared distances
                d_query = d.sum(-1)[..., None] * query - d @ key
                d_key = d.sum(-2)[..., None] * key - d.swapaxes(-1, -2) @ query
                d_width: Any = -2 * (d_u * within).sum() / as_divisor(self.width, u.dtype)
                return ScorerGradients(2 * d_query, 2 * d_key, {"width": d_width})

        return scores, backward


class Gaussian(Kernel):
    """The gaussian, ``log g = -d^2 / (2 width^2)``; width is its standard deviation.

    >>> Gaussian(width=2.0)([[0.0, 0.0]], [[3.0, 4.0], [0.0, 2.0]])
    array([[-3.125, -0.5  ]])
    """

    _log = staticmethod(lambda u: -0.5 * u)
    _slope = staticmethod(lambda u: np.full_like(u, -0.5))


class Boxcar(Kernel):
    """The boxcar: ``g = 1`` within the width (``d <= width``), 0 outside it.

    Its gradients are zero, so its width cannot be learned by gradient descent.

    >>> Boxcar(width=2.0)([[0.0]], [[1.0], [2.0], [3.0]])
    array([[  0.,   0., -inf]])
    """

    _log = staticmethod(lambda u: np.where(u <= 1, u.dtype.type(0), u.dtype.type(-np.inf)))
    _slope = staticmethod(np.zeros_like)


class Triangular(Kernel):
    """The triangle, ``g = max(0, 1 - d / width)``; some textbooks call this one Epanechnikov.

    Its derivative at distance 0 is undefined, and taken as the mean around there, 0.

    >>> np.exp(Triangular(width=4.0)([[0.0]], [[1.0], [2.0], [4.0]]))
    array([[0.75, 0.5 , 0.  ]])
    """

    _log = staticmethod(lambda u: _log_above_zero(1 - np.sqrt(u)))
    _slope = staticmethod(lambda u: np.where(u > 0, -0.5 / (np.sqrt(u) - u), u.dtype.type(0)))


class Epanechnikov(Kernel):
    """The parabola, ``g = max(0, 1 - d^2 / width^2)`` (Epanechnikov 1969).

    >>> np.exp(Epanechnikov(width=4.0)([[0.0]], [[0.0], [2.0], [5.0]]))
    array([[1.  , 0.75, 0.  ]])
    """

    _log = staticmethod(lambda u: _log_above_zero(1 - u))
    _slope = staticmethod(lambda u: -1 / (1 - u))


def _log_above_zero(weights: Array) -> Array:
    return np.log(weights, out=np.full_like(weights, -np.inf), where=weights > 0)


def squared_distances(query: Array, key: Array) -> Array:
    """Return ``|q - k|^2`` of each query (..., L, E) to each key (..., S, E): (..., L, S)."""
    if query.shape[-1] == 1:  # the array of differences is as large as the product, and exact
        squared: Array = np.square(query - key.swapaxes(-1, -2))
    else:  # by one matrix product, without an array (..., L, S, E)
        if key.shape[-2]:  # far from the origin few digits would be left
            origin = key[..., :1, :]
            query, key = query - origin, key - origin
        squared = -2 * query @ key.swapaxes(-1, -2)
        squared += _squares("query", query)[..., :, None]
        squared += _squares("key", key)[..., None, :]
    require_finite(squared, query=query, key=key)
    return np.maximum(squared, 0, out=squared)  # which rounding can make negative


_BLOCK = 1 << 20  # numbers of the hidden layer (..., L, S, A) in memory at a time


class Additive(Scorer):
    """A hidden layer, ``w' tanh(W_q q + W_k k)`` (Bahdanau et al. 2015, appendix A.1.2).

    W_q is (A, Eq), W_k (A, Ek) and w (A,). By default the projections are the identity and w is
    all ones: the score is the sum of ``tanh(q + k)``.

    >>> Additive()([[0.0, 1.0]], [[0.0, -1.0], [0.0, 99.0]])
    array([[0., 1.]])
    """

    same_size, is_finite = False, True

    def __init__(
        self,
        W_q: ArrayLike | None = None,  # noqa: N803 -- the letters of the formula
        W_k: ArrayLike | None = None,  # noqa: N803
        w: ArrayLike | None = None,
    ) -> None:
        given = {"W_q": W_q, "W_k": W_k, "w": w}
        self._parameters = _arrays_of(**{n: one for n, one in given.items() if one is not None})

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        p, projected = self._parameters, []
        for name, vectors in (("query", query), ("key", key)):
            weight = p.get(f"W_{name[0]}")
            if weight is not None and weight.shape[1] != vectors.shape[-1]:
                raise ShapeError(
                    f"{name} {vectors.shape} does not fit its projection (A, E) {weight.shape}: "
                    f"the last axis must be {weight.shape[1]}"
                )
            projected.append(vectors if weight is None else linear(vectors, weight))
            require_finite(projected[-1], **{name: vectors})  # tanh would make 1 of infinity
        q, k = projected
        if q.shape[-1] != k.shape[-1]:
            raise ShapeError(
                f"query {query.shape} and key {key.shape} meet in a hidden layer of sizes "
                f"{q.shape[-1]} and {k.shape[-1]}; give W_q (A, Eq) and W_k (A, Ek) of one A"
            )
        w = p.get("w", np.ones(q.shape[-1])).astype(q.dtype, copy=False)
        if w.shape != q.shape[-1:]:
            raise ShapeError(f"w must have shape (A,) = {q.shape[-1:]}, got {w.shape}")
        lead = broadcast_lead(query=q, key=k)
        scores = np.empty((*lead, q.shape[-2], k.shape[-2]), q.dtype)
        for keys, hidden in _hidden(q, k):
            scores[..., keys] = hidden @ w

        def backward(d_scores: Array) -> ScorerGradients:
            d_query, d_key, d = np.zeros_like(q), np.empty_like(k), {"w": np.zeros_like(w)}
            for keys, hidden in _hidden(q, k):
                d_some = d_scores[..., keys]
                d["w"] += d_some.reshape(-1) @ hidden.reshape(-1, w.size)
                d_sum = d_some[..., None] * w * (1 - hidden * hidden)  # (..., L, block, A)
                d_query += unbroadcast(d_sum.sum(-2), q.shape)
                d_key[..., keys, :] = unbroadcast(d_sum.sum(-3), k[..., keys, :].shape)
            if "W_q" in p:
                d_query, d["W_q"], _ = linear_backward(d_query, query, p["W_q"])
            if "W_k" in p:
                d_key, d["W_k"], _ = linear_backward(d_key, key, p["W_k"])
            return ScorerGradients(d_query, d_key, {name: d[name] for name in p})

        return scores, backward


class Concat(Scorer):
    """A hidden layer over the joined query and key, ``w' tanh(W [q; k])``.

    From Luong et al. 2015, equation 8, "concat". The left and right columns of W, (A, Eq + Ek), are
    the two projections of ``Additive``; w is (A,).

    >>> Concat(W=[[1.0, 0.0, 0.0, -1.0]], w=[2.0])([[5.0, 0.0]], [[0.0, 5.0]])
    array([[0.]])
    """

    same_size, is_finite = False, True

    def __init__(self, W: ArrayLike, w: ArrayLike) -> None:  # noqa: N803
        self._parameters = _arrays_of(W=W, w=w)

    def _forward(self, query: Array, key: Array) -> tuple[Array, ScorerBackward]:
        joint, w = self._parameters["W"], self._parameters["w"]
        cut, size = query.shape[-1], query.shape[-1] + key.shape[-1]
        if joint.shape[1] != size:
            what = f"(A, {size}) for query {query.shape} and key {key.shape}, got {joint.shape}"
            raise ShapeError(f"W must have shape (A, Eq + Ek) = {what}")
        scores, inner = Additive(joint[:, :cut], joint[:, cut:], w)._forward(query, key)

        def backward(d_scores: Array) -> ScorerGradients:
            d_query, d_key, d = inner(d_scores)
            d_joint = np.hstack([d["W_q"], d["W_k"]])
            return ScorerGradients(d_query, d_key, {"W": d_joint, "w": d["w"]})

        return scores, backward


_SHAPES = {"M": "(Eq, Ek)", "W_q": "(A, Eq)", "W_k": "(A, Ek)", "W": "(A, Eq + Ek)", "w": "(A,)"}


def _arrays_of(**given: ArrayLike) -> dict[str, Array]:
    """Return parameters as finite arrays of as many axes as `_SHAPES` says, and of one A."""
    arrays = dict(zip(given, as_floats(**given), strict=True))
    for name, array in arrays.items():
        kind, axes = ("vector", 1) if name == "w" else ("matrix", 2)
        if array.ndim != axes:
            raise ShapeError(f"{name} must be a {kind} {_SHAPES[name]}, got shape {array.shape}")
        require_finite(array, **{name: array})
    hidden = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(hidden.values())) > 1:
        raise ShapeError(f"the parameters must have one first axis A, got {hidden}")
    return arrays


def _hidden(q: Array, k: Array) -> Iterator[tuple[slice, Array]]:
    """Yield some keys at a time, and ``tanh(q + k)`` (..., L, block, A) for them."""
    rows = math.prod(np.broadcast_shapes(q.shape[:-2], k.shape[:-2])) * q.shape[-2]
    for keys in slices(k.shape[-2], max(1, _BLOCK // max(rows * q.shape[-1], 1))):
        with np.errstate(over="ignore"):  # tanh makes 1 of infinity
            hidden: Array = q[..., :, None, :] + k[..., None, keys, :]
        yield keys, np.tanh(hidden, out=hidden)


#: What an argument ``scorer=`` takes.
ScorerLike: TypeAlias = Scorer | str | Callable[[Array, Array], Array]

#: The kernels by name. By name alone, their width is 1.
KERNELS: dict[str, type[Kernel]] = {
    kernel.__name__.lower(): kernel for kernel in (Gaussian, Boxcar, Triangular, Epanechnikov)
}
#: The scorers that need no arguments, by name.
SCORERS: dict[str, Callable[[], Scorer]] = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "cosine": Cosine,
    "additive": Additive,
    **KERNELS,
}


def as_scorer(scorer: ScorerLike) -> Scorer:
    """Return the scorer for a ``Scorer``, the name of one, or a function of queries and keys."""
    if isinstance(scorer, Scorer):
        return scorer
    if isinstance(scorer, str):
        if scorer in SCORERS:
            return SCORERS[scorer]()
        raise OptionError(
            f"scorer {quoted(scorer)} is not known; the names are {', '.join(SCORERS)}, "
            f"and Bilinear(M) and Concat(W, w) are passed as objects"
        )
    if callable(scorer) and not isinstance(scorer, type):
        return FunctionScorer(scorer)
    what = f"the class {scorer.__name__}" if isinstance(scorer, type) else quoted(scorer)
    expected = "a Scorer such as Dot(), its name, or a function of queries and keys"
    raise ArgumentTypeError(f"scorer must be {expected}; got {what}")
