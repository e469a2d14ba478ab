"""Every scorer: against its formula in a loop, its gradients, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.scorers import (
    KERNELS,
    Additive,
    Bilinear,
    Boxcar,
    Concat,
    Cosine,
    Dot,
    Epanechnikov,
    Gaussian,
    ScaledDot,
    Scorer,
    Triangular,
    as_scorer,
)
from tests.support.gradients import check_gradients
from tests.support.refusals import Refused, refused

E, A = 3, 5
_random = np.random.default_rng(0)
M = _random.standard_normal((E, E))
W_Q, W_K = _random.standard_normal((2, A, E))
W = _random.standard_normal((A, 2 * E))
V = _random.standard_normal(A)


def _distance(q: Array, k: Array) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(q, k, strict=True)))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _layer(weight: Array, q: Array, k: Array) -> float:
    return float(sum(v * math.tanh(row @ np.r_[q, k]) for v, row in zip(V, weight, strict=True)))


Pair = Callable[[Array, Array], float]
CASES: dict[str, tuple[Scorer, Pair]] = {
    "dot": (Dot(), lambda q, k: sum(q * k)),
    "scaled_dot": (ScaledDot(), lambda q, k: sum(q * k) / math.sqrt(E)),
    "scaled_dot(2)": (ScaledDot(2.0), lambda q, k: 2 * sum(q * k)),
    "cosine": (Cosine(), lambda q, k: sum(q * k) / math.sqrt(sum(q * q) * sum(k * k))),
    "gaussian": (Gaussian(1.5), lambda q, k: -(_distance(q, k) ** 2) / (2 * 1.5**2)),
    "boxcar": (Boxcar(2.0), lambda q, k: _log(_distance(q, k) <= 2)),
    "triangular": (Triangular(2.5), lambda q, k: _log(1 - _distance(q, k) / 2.5)),
    "epanechnikov": (Epanechnikov(2.5), lambda q, k: _log(1 - (_distance(q, k) / 2.5) ** 2)),
    "bilinear": (Bilinear(M), lambda q, k: float(q @ M @ k)),
    "additive": (Additive(W_Q, W_K, V), lambda q, k: _layer(np.hstack([W_Q, W_K]), q, k)),
    "additive sum": (Additive(), lambda q, k: sum(math.tanh(a) for a in q + k)),
    "concat": (Concat(W, V), lambda q, k: _layer(W, q, k)),
}
ALL = pytest.mark.parametrize("name", CASES)


def inputs(*lead: int, seed: int = 1) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    return random.standard_normal((*lead, 4, E)), random.standard_normal((*lead, 6, E))


@ALL
def test_scores_are_those_of_a_loop_over_pairs(name: str) -> None:
    scorer, pair = CASES[name]
    query, key = inputs(2, 3)
    scores = scorer(query, key[:, :1])  # batch axes broadcast
    assert scores.shape == (2, 3, 4, 6)
    for i, j in np.ndindex(2, 3):
        expected = [[pair(q, k) for k in key[i, 0]] for q in query[i, j]]
        np.testing.assert_allclose(scores[i, j], expected, atol=1e-12)
    single, backward = scorer.forward(query.astype(np.float32), key[:, :1].astype(np.float32))
    np.testing.assert_allclose(single, scores, rtol=1e-4, atol=1e-4)
    d = backward(np.ones_like(single))
    assert {single.dtype, d.query.dtype, d.key.dtype} == {np.dtype(np.float32)}


@ALL
@pytest.mark.parametrize("lead", [((), ()), ((2,), (2,)), ((2, 1), (3,))], ids=str)
def test_gradients_agree_with_differences(
    name: str, lead: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    scorer = CASES[name][0]
    query, key = inputs(*lead[0])[0], inputs(*lead[1], seed=2)[1]
    scores, backward = scorer.forward(query, key)
    direction = np.random.default_rng(3).standard_normal(scores.shape)

    def loss(point: Mapping[str, Array]) -> float:
        own = {n: p for n, p in point.items() if n not in ("query", "key")}
        out = (type(scorer)(**own) if own else scorer)(point["query"], point["key"])
        return float((np.where(np.isfinite(out), out, 0) * direction).sum())

    d = backward(direction)
    at = {"query": query, "key": key, **scorer.parameters}
    check_gradients(loss, at, {"query": d.query, "key": d.key, **d.parameters})


def test_gradients_outside_a_support_and_at_a_peak_are_zero() -> None:
    for kernel in KERNELS.values():
        _, backward = kernel(1.0).forward([[0.0, 0.0]], [[0.0, 0.0], [5.0, 0.0]])
        d = backward(np.array([[1.0, 0.0 if kernel is Gaussian else 1.0]]))
        assert np.isfinite(d.key).all()
        assert not d.key.any()
    _, backward = Boxcar(1e-100).forward(np.ones((1, 1), np.float32), [[1]])
    assert not backward(np.ones((1, 1), np.float32)).parameters["width"].any()
    scores, backward = Cosine().forward(np.zeros((1, 2)), [[0.0, 0.0], [1.0, 2.0]])
    d = backward(np.ones((1, 2)))
    assert not any(array.any() for array in (scores, d.query, d.key))


def test_a_hidden_layer_of_many_blocks_is_that_of_one_and_no_distance_is_below_zero() -> None:
    random = np.random.default_rng(0)
    query, key = random.standard_normal((3, 64)), random.standard_normal((9_000, 64))
    scores, backward = Additive().forward(query, key)
    np.testing.assert_allclose(scores[:, -50:], Additive()(query, key[-50:]))
    d = backward(np.ones_like(scores))
    np.testing.assert_allclose(d.key[-1], (1 - np.tanh(query + key[-1]) ** 2).sum(0))
    np.testing.assert_allclose(d.query[0], (1 - np.tanh(query[0] + key) ** 2).sum(0))
    near = np.float32(1000) + random.random((50, 8), dtype=np.float32) / 1000
    for kernel in KERNELS.values():
        assert np.isfinite(kernel(100.0)(near, near)).all()
    vectors = random.standard_normal((300, 9), dtype=np.float32)
    assert Cosine()(vectors, vectors).max() == 1
    assert Cosine()(vectors, -vectors).min() == -1
    for kind, found in ((np.float32, np.float32), (np.float16, np.float32), (int, np.float64)):
        assert Dot()([[1]], np.ones((2, 1), kind)).dtype == found


def test_a_function_is_a_scorer_without_gradient() -> None:
    query, key = inputs(2)
    scorer = as_scorer(lambda q, k: q @ k.swapaxes(-1, -2))
    scores, backward = scorer.forward(query, key)
    np.testing.assert_allclose(scores, Dot()(query, key))
    with pytest.raises(ArgumentTypeError, match=r"no gradient.*subclass of Scorer"):
        backward(scores)
    with pytest.raises(ShapeError, match=r"must return scores .*\(2, 4, 6\)"):
        as_scorer(lambda q, k: (q.sum() + k.sum())[None])(query, key)


NO_SCORERS: list[Any] = [Dot, 3, None]
NO_NUMBERS: list[Any] = ["a", 1j, None]
REFUSED: Refused = {
    ShapeError: {
        r"M must be a matrix \(Eq, Ek\), got shape \(2,\)": lambda: Bilinear([1.0, 2.0]),
        "M of shape": lambda: Bilinear([[np.nan]]),
        "first axis A": lambda: Additive(W_Q, W_K[:2]),
        r"w must be a vector \(A,\)": lambda: Concat(W, [V]),
        r"\(A, 12\).*got \(5, 6\)": lambda: Concat(W, V)(np.ones((2, E)), np.ones((2, 9))),
        r"M has shape \(3, 3\)": lambda: Bilinear(M)(np.ones((2, 4)), np.ones((2, E))),
        "sizes 5 and 3": lambda: Additive(W_q=W_Q)(*inputs()),
        r"w must have shape \(A,\) = \(3,\), got \(5,\)": lambda: Additive(w=V)(*inputs()),
        r"query must.*\(3,\).*query\[None\]": lambda: Dot()(np.ones(3), np.ones((2, 3))),
        "do not broadcast": lambda: Dot()(np.ones((2, 2, 3)), np.ones((3, 2, 3))),
        "E > 0": lambda: Dot()(np.ones((2, 0)), np.ones((3, 0))),
        "query is ragged": lambda: Dot()([[1.0], [1.0, 2.0]], [[1.0]]),
        "overflow float64; scale them down": lambda: Dot()([[1e200]], [[1e200]]),
    },
    OptionError: {
        "width must be a number from 1e-100 to 1e100 .*, got 0": lambda: Gaussian(0),
        "width must be a number from 1e-100 to 1e100 .*, got 1e-200": lambda: Gaussian(1e-200),
        "width must be a number from 1e-100 to 1e100": lambda: Epanechnikov(1e200),
        "scale must be": lambda: ScaledDot(-1.0),
        r"scaled_dot.*gaussian.*Bilinear\(M\)": lambda: as_scorer("bilinear"),
    },
    ArgumentTypeError: {
        "scorer must be": [partial(as_scorer, no) for no in NO_SCORERS],
        "key must be an array of real": [partial(Dot(), [[1.0]], [[no]]) for no in NO_NUMBERS],
    },
}


test_what_does_not_fit_is_named = refused(REFUSED)


class Near(Scorer):
    """What somebody may write: a weight of 1 at distances of 1 or less, else of 0."""

    def _forward(self, query: Array, key: Array) -> Any:
        scores = np.where(np.abs(query - key.swapaxes(-1, -2)) <= 1, 0.0, -np.inf)
        return scores, lambda _: None


def test_a_scorer_that_others_write_may_leave_keys_out() -> None:
    assert Near()([[0.0]], [[0.5], [2.0]]).tolist() == [[0.0, -math.inf]]


@ALL
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["query", "key"])
def test_what_is_not_finite_is_named_with_its_place(name: str, bad: float, which: str) -> None:
    arrays = dict(zip(("query", "key"), inputs(2), strict=True))
    arrays[which][1, 2, 0] = bad
    with pytest.raises(ShapeError, match=rf"^{which} of shape .*{which}\[1, 2, 0\] is"):
        CASES[name][0](**arrays)
