"""Adam against its algorithm in plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzydict.errors import OptionError
from fuzzydict.learning.gradient_descent import Adam


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
