"""Adam, the penalty on the distance from the identity, and gradient descent that stops early."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.embedding.maps import Factors
from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.learning.gradient_descent import Adam, Settings, add_identity_penalty, descend
from tests.support.gradients import check_gradients


def test_adam_is_the_algorithm_of_the_paper() -> None:
    x = np.array([1.0])
    adam = Adam({"x": x}, learning_rate=0.1)
    slow, m, v = 1.0, 0.0, 0.0
    for t in range(1, 20):
        gradient = slow**3 - 1.5
        adam.step({"x": x**3 - 1.5})
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        slow -= 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + 1e-8)
        np.testing.assert_allclose(x, slow)


def test_adam_is_torchs() -> None:
    torch = pytest.importorskip("torch", reason="the comparison with torch needs torch")
    x = np.random.default_rng(0).standard_normal((3, 4))
    leaf = torch.tensor(x, requires_grad=True)
    mine, theirs = Adam({"x": x}, learning_rate=0.01), torch.optim.Adam([leaf], lr=0.01)
    for _ in range(10):
        theirs.zero_grad()
        (leaf**4).sum().backward()
        theirs.step()
        mine.step({"x": 4 * x**3})
    np.testing.assert_allclose(x, leaf.detach().numpy())


def test_a_number_without_a_gradient_stays_and_float32_stays_float32() -> None:
    x = np.ones(2, np.float32)
    Adam({"x": x}).step({"x": np.array([0.0, 1.0], np.float32)})
    assert x.dtype == np.float32
    np.testing.assert_allclose(x, [1, 0.999])


def test_one_pace_for_an_array_goes_where_the_gradient_points() -> None:
    x, gradient = np.zeros(3), np.array([3.0, 0.0, 4.0])
    adam = Adam({"x": x}, 0.1, per_array=True)
    for _ in range(5):
        adam.step({"x": gradient})
    np.testing.assert_allclose(x, -0.5 * gradient / np.sqrt((gradient**2).mean()))


def test_a_learning_rate_that_is_not_above_zero_is_refused() -> None:
    with pytest.raises(OptionError, match="learning_rate"):
        Adam({}, learning_rate=0.0)


def test_the_gradient_of_the_identity_penalty() -> None:
    random = np.random.default_rng(0)
    at: dict[str, Array] = {
        name: random.standard_normal((4, 2)) for name in ("key.left", "key.right")
    }
    at["query"] = random.standard_normal((4, 4))

    def loss(p: dict[str, Array]) -> float:
        factors = Factors(p["key.left"], p["key.right"]).whole
        return 0.7 * sum(float(((m - np.eye(4)) ** 2).sum()) for m in (p["query"], factors))

    zeros: dict[str, Array] = {name: np.zeros_like(p) for name, p in at.items()}
    add_identity_penalty(at, zeros, 0.7)
    check_gradients(lambda p: loss(dict(p)), at, zeros)


def test_the_descent_keeps_the_best_parameters_and_stops() -> None:
    x = np.array(0.0, np.float32)
    # Held out, 1 is best; the examples draw it on to 10.
    history = descend(
        {"x": x},
        np.arange(100),
        lambda _: (float((x - 10) ** 2), {"x": 2 * (x - 10)}),
        lambda _: float((x - 1) ** 2),
        Settings(learning_rate=0.1),
    )
    assert x == pytest.approx(1, abs=0.5)
    assert len(history) < 10


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"scorer": "gaussian"}, OptionError),
        ({"rank": 0}, OptionError),
        ({"identity_penalty": -1.0}, OptionError),
        ({"learning_rate": 0.0}, OptionError),
        ({"temperature": 0.0}, OptionError),
        ({"validation": 0.9}, OptionError),
        ({"epochs": 1.5}, ArgumentTypeError),
        ({"candidates": 0}, OptionError),
    ],
)
def test_settings_that_are_none(option: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(option))):
        Settings(**option)  # type: ignore[arg-type]
