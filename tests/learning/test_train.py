"""Training: what projections learn, what they find, what they leave, their losses and gradients."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fuzzydict._arrays import Array
from fuzzydict.learning.train import (
    Adam,
    Settings,
    add_identity_penalty,
    descend,
    fit_pooling,
    fit_retrieval,
    retrieval_loss,
)
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, Scorer
from tests.support.gradients import check_gradients


def test_many_keys_take_little_memory() -> None:
    random = np.random.default_rng(0)
    keys = random.standard_normal((30_000, 8), dtype=np.float32)
    right = random.integers(30_000, size=30_000)
    tracemalloc.start()
    fit_retrieval(keys, keys, right, Settings(epochs=1, candidates=256))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * keys.nbytes  # scores of all keys for one batch alone would take 32 times


RIGHT = [[0, 3], [2], [1, 4, 5]]  # the right keys of three queries
ROWS = np.array([0, 0, 1, 2, 2, 2])
COLUMNS = np.array([0, 3, 2, 1, 4, 5])


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("shares", [0.0, np.log(np.linspace(0.1, 1, 7))])
def test_the_loss_of_retrieval_and_its_gradient(shares: Any) -> None:
    logits = drawn(3, 7)
    value, gradient = retrieval_loss(logits, ROWS, COLUMNS, shares)
    exps = np.exp(logits)
    right = [row[keys].sum() for row, keys in zip(exps, RIGHT, strict=True)]
    if np.ndim(shares) == 0:  # the definition: the right keys' share of the softmax
        assert value == pytest.approx(-np.log(right / exps.sum(axis=1)).mean())
    at, slopes = {"logits": logits}, {"logits": gradient}
    check_gradients(lambda p: retrieval_loss(p["logits"], ROWS, COLUMNS, shares)[0], at, slopes)


def test_keys_that_are_drawn_stand_for_those_that_are_not() -> None:
    # The sum of the softmax, as some keys estimate it, is on average that over all keys.
    query, key = drawn(1, 4), drawn(30, 4, seed=1)
    random, estimates = np.random.default_rng(0), []
    log_share = np.log(12 / 29)
    for _ in range(4000):
        others = random.choice(np.arange(1, 30), 12, replace=False)
        keys = np.concatenate([[0], others])
        logits, first = query @ key[keys].T, np.zeros(1, int)
        loss, _ = retrieval_loss(logits, first, first, np.full(13, log_share))
        estimates.append(np.exp(loss))  # of the sum, in units of the right key's part
    exact = np.exp(query @ (key - key[0]).T).sum()
    assert np.mean(estimates) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("scorer", [Cosine(), ScaledDot(), Dot()])
@pytest.mark.parametrize("pools", [False, True])
@pytest.mark.parametrize("rank", [None, 2])
def test_the_gradients_of_what_is_learned(
    scorer: Scorer, pools: bool, rank: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are checked in float32, in which it learns, at matrices beside the identity."""
    slopes = list[tuple[float, float]]()

    def descend(parameters: Any, count: int, losses: Any, _: Settings) -> tuple[()]:
        random, rows = np.random.default_rng(0), np.arange(count)
        for parameter in parameters.values():
            parameter += random.normal(0, 0.1, parameter.shape).astype(np.float32)
        ways = {name: random.standard_normal(p.shape) for name, p in parameters.items()}
        _, gradients = losses(rows, random)
        told = sum(float(np.vdot(gradients[name], way)) for name, way in ways.items())
        ends, start = [], {name: p.copy() for name, p in parameters.items()}
        for step in (-1e-2, 1e-2):
            for name, parameter in parameters.items():
                parameter[...] = start[name] + step * ways[name]
            ends.append(losses(rows, random)[0])
        slopes.append((told, (ends[1] - ends[0]) / 2e-2))
        return ()

    monkeypatch.setattr("fuzzydict.learning.train.descend", descend)
    query, key, value = drawn(6, 4), drawn(5, 4, seed=1), drawn(5, 2, seed=2)
    roles = ("query", "key", "value") if pools else ("query", "key")
    settings = Settings(scorer=scorer, roles=roles, rank=rank, start_temperature=0.8)
    if pools:
        fit_pooling(query, key, value, drawn(6, 2, seed=3), settings)
    else:
        fit_retrieval(query, key, np.arange(6) % 5, settings)
    ((told, found),) = slopes
    assert told == pytest.approx(found, rel=0.02, abs=1e-3)


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
        factors = np.eye(4) + p["key.left"] @ p["key.right"].T
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
