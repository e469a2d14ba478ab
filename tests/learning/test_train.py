"""Training: what projections learn, what they find, what they leave, their losses and gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fuzzydict import WordVectors
from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.learning.train import (
    Adam,
    Settings,
    TrainableProjections,
    add_identity_penalty,
    descend,
    fit_pooling,
    fit_retrieval,
    lengths_forward,
    pooling_loss,
    retrieval_loss,
)
from fuzzydict.nn.scorers import as_scorer
from tests.support.gradients import check_gradients


def share_found(
    projections: Projections, queries: Array, keys: Array, right: NDArray[np.intp]
) -> float:
    """Return how often the nearest key by cosine is the right one."""
    q, k = projections.project_queries(queries), projections.project_keys(keys)
    cosines = q @ (k / np.linalg.norm(k, axis=1, keepdims=True)).T
    return float((cosines.argmax(axis=1) == right).mean())


def two_spaces(examples: int, unseen: int, size: int = 24, noise: float = 0.3) -> list[Array]:
    """Return queries and their keys, of a space that an unknown rotation ties to the queries'."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.standard_normal((size, size)))[0]
    keys = random.standard_normal((examples + unseen, size))
    queries = keys @ rotation + noise * random.standard_normal(keys.shape)
    return [queries.astype(np.float32), keys.astype(np.float32)]


def paired(count: int) -> list[list[int]]:
    return [[i, i] for i in range(count)]


# ---- what is learned ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rank": 24},
        {"candidates": 1000},
        {"scorer": "scaled_dot"},
        {"temperature": 0.05},
    ],
)
def test_a_rotation_between_two_spaces_is_learned(settings: dict[str, Any]) -> None:
    queries, keys = two_spaces(500, 200)
    longer = Settings(epochs=30, **settings)
    fitted = fit_retrieval(queries[:500], keys, paired(500), longer)
    unseen = np.arange(500, 700)
    assert share_found(Projections(), queries[500:], keys, unseen) < 0.05
    assert share_found(fitted.projections, queries[500:], keys, unseen) >= 0.95


def test_a_dozen_examples_do_not_break_what_worked(brown: WordVectors) -> None:
    random = np.random.default_rng(0)
    rows = random.permutation(np.arange(100, 12_000))[:512]
    keys, strangers = brown.vectors[rows[:500]], brown.vectors[rows[500:]]
    fitted = fit_retrieval(strangers, keys, paired(12))
    assert share_found(fitted.projections, strangers, keys, np.arange(12)) == 1
    blurred = keys + 1.5 * np.abs(keys).mean() * random.standard_normal(keys.shape)
    for queries in (keys, blurred):
        before = share_found(Projections(), queries, keys, np.arange(500))
        after = share_found(fitted.projections, queries, keys, np.arange(500))
        assert after >= before - 0.01


def test_each_of_several_right_keys_is_found() -> None:
    keys = np.eye(6, dtype=np.float32)
    queries = np.ones((2, 6), np.float32)
    queries[1, 3:] = -1
    fitted = fit_retrieval(queries, keys, [[0, 1], [0, 2], [1, 5], [0, 1]])
    found = fitted.projections.project_queries(queries) @ fitted.projections.project_keys(keys).T
    assert set(np.argsort(-found[0])[:2]) == {1, 2}
    assert found[1].argmax() == 5


def test_pooling_learns_what_to_pool_and_a_temperature() -> None:
    queries, keys = two_spaces(300, 100, size=8, noise=0.1)
    values = keys[:, :2] * 3 + 100
    fitted = fit_pooling(queries[:300], keys[:300], values[:300], values[:300])

    def error(projections: Projections, temperature: float | None) -> float:
        q, k = projections.project_queries(queries[300:]), projections.project_keys(keys[:300])
        q, k = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (q, k))
        weights = np.exp(q @ k.T / (temperature or 1))
        pooled = weights / weights.sum(axis=1, keepdims=True) @ values[:300]
        return float(((pooled - values[300:]) ** 2).mean())

    assert error(fitted.projections, fitted.temperature) < error(Projections(), 0.05) / 2
    assert fitted.projections.value is None
    assert fitted.temperature != pytest.approx(0.05)


def test_pooling_learns_to_turn_values_where_it_is_told_to() -> None:
    keys = np.eye(4, dtype=np.float32)
    values = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    turned = values @ np.array([[0, 1], [-1, 0]], np.float32)
    settings = Settings(roles=("query", "key", "value"), identity_penalty=0, epochs=300)
    with_v = fit_pooling(keys, keys, values, turned, settings)
    without = fit_pooling(keys, keys, values, turned, replace(settings, roles=("query", "key")))
    assert with_v.history[-1].training < without.history[-1].training / 2


def test_many_keys_take_little_memory() -> None:
    import tracemalloc

    random = np.random.default_rng(0)
    keys = random.standard_normal((30_000, 8), dtype=np.float32)
    pairs = np.stack([np.arange(30_000), random.integers(30_000, size=30_000)], axis=1)
    tracemalloc.start()
    fit_retrieval(keys, keys, pairs, Settings(epochs=1, candidates=256))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * keys.nbytes  # scores of all keys for one batch alone would take 32 times


# ---- losses and gradients -----------------------------------------------------------------

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
    gradients["log"] = slopes.log_temperature
    check_gradients(lambda p: loss(p)[0], at, gradients)


@pytest.mark.parametrize("scorer", ["cosine", "scaled_dot"])
def test_lengths_make_a_dot_product_what_the_scorer_says(scorer: str) -> None:
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


@pytest.mark.parametrize("rank", [None, 2])
def test_the_gradients_of_a_projection(rank: int | None) -> None:
    model = TrainableProjections(5, Settings(rank=rank, roles=("query",), temperature=0.1))
    random = np.random.default_rng(0)
    at: dict[str, Array] = {n: random.standard_normal(p.shape) for n, p in model.parameters.items()}
    x, d = random.standard_normal((2, 4, 5))

    def loss(parameters: Mapping[str, Array]) -> float:
        model.parameters = dict(parameters)
        return float(np.vdot(model.forward("query", x)[0], d))

    loss(at)
    check_gradients(loss, at, model.forward("query", x)[1](d))


# ---- gradient descent -----------------------------------------------------------------------


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


def test_one_pace_for_an_array_goes_where_the_gradient_points() -> None:
    x, gradient = np.zeros(4, np.float32), np.array([3.0, 0.0, 4.0, 0.0], np.float32)
    adam = Adam({"x": x}, 0.1, per_array=True)
    for _ in range(5):
        adam.step({"x": gradient})
    # Each step is as long as the learning rate, in units of E^-0.5 a number.
    np.testing.assert_allclose(x, -0.5 * gradient / np.sqrt((gradient**2).mean()) / 2, rtol=1e-5)
    assert x.dtype == np.float32


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
