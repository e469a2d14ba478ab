"""Training: what projections learn, what they find, what they leave, their losses and gradients."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import Factors
from fuzzydict.learning.train import (
    Adam,
    Model,
    Settings,
    add_identity_penalty,
    descend,
    fit_retrieval,
    pooling_loss,
    retrieval_loss,
    unit_forward,
)
from fuzzydict.nn.scorers import as_scorer
from tests.support.gradients import check_gradients


def test_many_keys_take_little_memory() -> None:
    random = np.random.default_rng(0)
    keys = random.standard_normal((30_000, 8), dtype=np.float32)
    pairs = np.stack([np.arange(30_000), random.integers(30_000, size=30_000)], axis=1)
    tracemalloc.start()
    fit_retrieval(keys, keys, pairs, Settings(epochs=1, candidates=256))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * keys.nbytes  # scores of all keys for one batch alone would take 32 times


RIGHT = [[0, 3], [2], [1, 4, 5]]  # the right keys of three queries
ROWS = np.array([0, 0, 1, 2, 2, 2])
COLUMNS = np.array([0, 3, 2, 1, 4, 5])


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("shares", [0.0, np.log(np.linspace(0.1, 1, 7))])
def test_the_loss_of_retrieval_and_its_gradients(shares: Any) -> None:
    at = {"query": drawn(3, 4), "key": drawn(7, 4, seed=1), "log": np.array(-0.5)}

    def loss(p: Mapping[str, Array]) -> tuple[float, Any]:
        heat = float(np.exp(p["log"]))
        return retrieval_loss(p["query"], p["key"], ROWS, COLUMNS, heat, shares)

    value, slopes = loss(at)
    exps = np.exp(at["query"] @ at["key"].T / np.exp(-0.5))
    right = [row[keys].sum() for row, keys in zip(exps, RIGHT, strict=True)]
    if np.ndim(shares) == 0:  # the definition: the right keys' share of the softmax
        assert value == pytest.approx(-np.log(right / exps.sum(axis=1)).mean())
    gradients = {"query": slopes.query, "key": slopes.key, "log": slopes.log_temperature}
    check_gradients(lambda p: loss(p)[0], at, gradients)


def test_keys_that_are_drawn_stand_for_those_that_are_not() -> None:
    # The sum of the softmax, as some keys estimate it, is on average that over all keys.
    query, key = drawn(1, 4), drawn(30, 4, seed=1)
    random, estimates = np.random.default_rng(0), []
    log_share = np.log(12 / 29)
    for _ in range(4000):
        others = random.choice(np.arange(1, 30), 12, replace=False)
        keys = np.concatenate([[0], others])
        shares = np.full(13, log_share)
        loss, _ = retrieval_loss(query, key[keys], np.zeros(1, int), np.zeros(1, int), 1.0, shares)
        estimates.append(np.exp(loss))  # of the sum, in units of the right key's part
    exact = np.exp(query @ (key - key[0]).T).sum()
    assert np.mean(estimates) == pytest.approx(exact, rel=0.02)


def test_the_gradients_of_pooling_and_its_definition() -> None:
    at = {
        "query": drawn(3, 4),
        "key": drawn(6, 4, seed=1),
        "value": drawn(6, 2, seed=2),
        "log": np.array(-0.5),
    }
    target = drawn(3, 2, seed=3)

    def loss(p: Mapping[str, Array]) -> tuple[float, Any]:
        return pooling_loss(p["query"], p["key"], p["value"], target, float(np.exp(p["log"])))

    value, slopes = loss(at)
    exps = np.exp(at["query"] @ at["key"].T / np.exp(-0.5))
    weights = exps / exps.sum(axis=1, keepdims=True)
    assert value == pytest.approx(((weights @ at["value"] - target) ** 2).mean())
    gradients = {name: getattr(slopes, name) for name in ("query", "key", "value")}
    gradients["log"] = slopes.log_temperature
    check_gradients(lambda p: loss(p)[0], at, gradients)


def test_unit_vectors_have_the_cosine_as_their_product_and_their_gradient() -> None:
    x, y, d_y = drawn(3, 4), drawn(5, 4, seed=1), drawn(3, 4, seed=2)
    np.testing.assert_allclose(unit_forward(x)[0] @ unit_forward(y)[0].T, as_scorer("cosine")(x, y))
    check_gradients(
        lambda p: float(np.vdot(unit_forward(p["x"])[0], d_y)),
        {"x": x},
        {"x": unit_forward(x)[1](d_y)},
    )
    unit, backward = unit_forward(np.zeros((1, 3)))  # the zero vector stays, and has no gradient
    assert unit.tolist() == backward(np.ones((1, 3))).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("rank", [None, 2])
def test_the_gradients_of_a_projection(rank: int | None) -> None:
    model = Model(5, Settings(rank=rank, roles=("query",), temperature=0.1))
    random = np.random.default_rng(0)
    at: dict[str, Array] = {n: random.standard_normal(p.shape) for n, p in model.parameters.items()}
    x, d = random.standard_normal((2, 4, 5))

    def loss(parameters: Mapping[str, Array]) -> float:
        model.parameters = dict(parameters)
        return float(np.vdot(model.forward("query", x)[0], d))

    loss(at)
    check_gradients(loss, at, model.forward("query", x)[1](d))


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
    x, held_out = np.array(0.0, np.float32), 10

    def losses(rows: NDArray[np.intp], _: np.random.Generator) -> tuple[float, dict[str, Array]]:
        """Held out, 1 is best; the examples draw it on to 10."""
        best = 1 if len(rows) == held_out else 10
        return float((x - best) ** 2), {"x": 2 * (x - best)}

    history = descend({"x": x}, 100, losses, Settings(learning_rate=0.1))
    assert x == pytest.approx(1, abs=0.5)
    assert len(history) < 10
