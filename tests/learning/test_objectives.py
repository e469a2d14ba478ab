"""The losses of fitting against their definitions, their gradients, and what sampling keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.learning.projections import lengths_forward, pooling_loss, retrieval_loss
from tests.support.gradients import check_gradients

RIGHT = [[0, 3], [2], [1, 4, 5]]  # the right keys of three queries
ROWS = np.array([0, 0, 1, 2, 2, 2])
COLUMNS = np.array([0, 3, 2, 1, 4, 5])


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def by_definition(query: Array, key: Array, temperature: float) -> float:
    losses = []
    for q, right in zip(query, RIGHT, strict=True):
        exps = [np.exp(q @ k / temperature) for k in key]
        losses.append(-np.log(sum(exps[j] for j in right) / sum(exps)))
    return float(np.mean(losses))


def test_retrieval_is_the_logarithm_of_the_sum_of_the_right_keys_probabilities() -> None:
    query, key = drawn(3, 4), drawn(7, 4, seed=1)
    loss, _ = retrieval_loss(query, key, ROWS, COLUMNS, 0.5)
    assert loss == pytest.approx(by_definition(query, key, 0.5))


@pytest.mark.parametrize("shares", [None, np.log(np.linspace(0.1, 1, 7))])
def test_the_gradients_of_retrieval(shares: Array | None) -> None:
    at = {"query": drawn(3, 4), "key": drawn(7, 4, seed=1), "log": np.array(-0.5)}

    def loss(p: Mapping[str, Array]) -> tuple[float, Any]:
        heat = float(np.exp(p["log"]))
        return retrieval_loss(p["query"], p["key"], ROWS, COLUMNS, heat, shares)

    _, slopes = loss(at)
    gradients = {"query": slopes.query, "key": slopes.key, "log": np.array(slopes.log_temperature)}
    check_gradients(lambda p: loss(p)[0], at, gradients)


def test_a_right_key_far_below_the_others_has_a_finite_loss_and_gradient() -> None:
    query, key = np.array([[1.0]], np.float32), np.array([[900.0], [-900.0]], np.float32)
    loss, slopes = retrieval_loss(query, key, np.array([0]), np.array([1]), 1.0)
    assert loss == pytest.approx(1800)
    assert slopes.query.dtype == np.float32
    np.testing.assert_allclose(slopes.query, [[1800]])


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
    gradients["log"] = np.array(slopes.log_temperature)
    check_gradients(lambda p: loss(p)[0], at, gradients)


@pytest.mark.parametrize("scorer", ["cosine", "scaled_dot"])
def test_lengths_make_a_dot_product_what_the_scorer_says(scorer: str) -> None:
    from fuzzydict.nn.scorers import as_scorer

    x, y, d_y = drawn(3, 4), drawn(5, 4, seed=1), drawn(3, 4, seed=2)
    scores = lengths_forward(x, scorer)[0] @ lengths_forward(y, scorer)[0].T
    np.testing.assert_allclose(scores, as_scorer(scorer)(x, y))
    check_gradients(
        lambda p: float(np.vdot(lengths_forward(p["x"], scorer)[0], d_y)),
        {"x": x},
        {"x": lengths_forward(x, scorer)[1](d_y)},
    )


def test_the_zero_vector_stays_and_has_no_gradient() -> None:
    unit, backward = lengths_forward(np.zeros((1, 3)), "cosine")
    assert unit.tolist() == backward(np.ones((1, 3))).tolist() == [[0, 0, 0]]
