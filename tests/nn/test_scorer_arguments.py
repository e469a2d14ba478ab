"""What the scorers take, and what they say of what they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.scorers import (
    SCORERS,
    Additive,
    Bilinear,
    Boxcar,
    Concat,
    Dot,
    Epanechnikov,
    Gaussian,
    ScaledDot,
    Scorer,
    as_scorer,
)
from tests.support.scorer_cases import ALL, CASES, W_K, W_Q, E, M, V, W, inputs


@pytest.mark.parametrize("name", SCORERS)
def test_a_name_stands_for_a_scorer(name: str) -> None:
    query, key = inputs()
    scorer = as_scorer(name)
    assert scorer(query, key).shape == (4, 6)
    assert as_scorer(scorer) is scorer


def test_a_function_is_a_scorer_without_gradient() -> None:
    query, key = inputs(2)
    scorer = as_scorer(lambda q, k: q @ k.swapaxes(-1, -2))
    scores, backward = scorer.forward(query, key)
    np.testing.assert_allclose(scores, Dot()(query, key))
    with pytest.raises(ArgumentTypeError, match=r"no gradient.*subclass of Scorer"):
        backward(scores)
    with pytest.raises(ShapeError, match=r"must return scores .*\(2, 4, 6\)"):
        as_scorer(lambda q, k: q.sum() + k.sum())(query, key)


@pytest.mark.parametrize("name", ["bilinear", "Dot", "nope", ""])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(OptionError, match=r"scaled_dot.*gaussian.*Bilinear\(M\)"):
        as_scorer(name)


@pytest.mark.parametrize("what", [Dot, 3, None])
def test_what_is_no_scorer_is_refused(what: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="scorer must be"):
        as_scorer(what)


def test_parameters_can_be_replaced() -> None:
    wide = Gaussian(1.0).with_parameters({"width": np.array(3.0)})
    assert isinstance(wide, Gaussian)
    assert wide.width == 3
    with pytest.raises(OptionError, match="Gaussian has no parameter 'w'; it has width"):
        wide.with_parameters({"w": 1})
    assert ScaledDot(2.0).with_parameters({})([[1.0]], [[1.0]]) == 2
    half = Additive(W_Q, W_K, V).with_parameters({"w": V / 2})
    assert half.parameters["W_q"] is not None
    np.testing.assert_allclose(half(*inputs()), Additive(W_Q, W_K, V)(*inputs()) / 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0), "width must be a finite number above 0, got 0"),
        (lambda: Boxcar(float("nan")), "width"),
        (lambda: Gaussian(1e-200), "width must be from 1e-100 to 1e100, got 1e-200"),
        (lambda: Epanechnikov(1e200), "width must be from 1e-100 to 1e100, got 1e[+]200"),
        (lambda: ScaledDot(-1.0), "scale must be"),
    ],
)
def test_a_width_or_scale_must_be_above_zero(make: Callable[[], Scorer], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bilinear([1.0, 2.0]), r"M must be a matrix \(Eq, Ek\), got shape \(2,\)"),
        (lambda: Bilinear([[np.nan]]), "M of shape"),
        (lambda: Additive(W_Q, W_K[:2]), "first axis A"),
        (lambda: Concat(W, [V]), r"w must be a vector \(A,\)"),
        (lambda: Concat(W, V)(np.ones((2, E)), np.ones((2, 9))), r"\(A, 12\).*got \(5, 6\)"),
        (lambda: Bilinear(M)(np.ones((2, 4)), np.ones((2, E))), r"M has shape \(3, 3\)"),
        (lambda: Additive(W_q=W_Q)(*inputs()), "sizes 5 and 3"),
        (lambda: Additive(w=V)(*inputs()), r"w must have shape \(A,\) = \(3,\), got \(5,\)"),
        (lambda: Additive(W_Q, W_K)(np.ones((2, 4)), np.ones((2, E))), r"query \(2, 4\)"),
        (lambda: Dot()(np.ones(3), np.ones((2, 3))), r"query must have.*\(3,\).*query\[None\]"),
        (lambda: Dot()(np.ones((2, 3)), np.ones((2, 4))), r"query \(2, 3\) and key \(2, 4\)"),
        (lambda: Dot()(np.ones((2, 2, 3)), np.ones((3, 2, 3))), r"do not broadcast"),
        (lambda: Dot()(np.ones((2, 0)), np.ones((3, 0))), "E > 0"),
        (lambda: Dot()([[1.0], [1.0, 2.0]], [[1.0]]), "query is ragged"),
        (lambda: Dot()([[1e200]], [[1e200]]), "overflow float64; scale them down"),
    ],
)
def test_what_does_not_fit_is_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        make()


@ALL
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["query", "key"])
def test_what_is_not_finite_is_named_with_its_place(name: str, bad: float, which: str) -> None:
    arrays = dict(zip(("query", "key"), inputs(2), strict=True))
    arrays[which][1, 2, 0] = bad
    with pytest.raises(ShapeError, match=rf"^{which} of shape .*{which}\[1, 2, 0\] is"):
        CASES[name][0](**arrays)


@pytest.mark.parametrize("what", [[["a"]], [[1j]], [[None]]])
def test_what_is_no_number_is_refused(what: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="key must be an array of real numbers"):
        Dot()([[1.0]], what)


def test_integers_follow_the_precision_of_the_floats_beside_them() -> None:
    assert Dot()([[1]], np.ones((2, 1), np.float32)).dtype == np.float32
    assert Dot()([[1]], [[2]]).dtype == np.float64
    assert Dot()(np.ones((1, 1), np.float16), [[2]]).dtype == np.float32
    assert Dot()(np.ones((1, 1), np.longdouble), [[2]]).dtype == np.float64
