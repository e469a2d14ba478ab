"""Fitted projections: what they learn, what they leave as it was, and when they stop."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fuzzydict import WordVectors
from fuzzydict._arrays import Array
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.learning.gradient_descent import add_identity_penalty, descend
from fuzzydict.learning.projections import (
    Settings,
    TrainableProjections,
    fit_pooling,
    fit_retrieval,
)
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
        Settings(),
        Settings(rank=24),
        Settings(candidates=200),
        Settings(scorer="scaled_dot"),
        Settings(temperature=0.05),
    ],
)
def test_a_rotation_between_two_spaces_is_learned(settings: Settings) -> None:
    queries, keys = two_spaces(500, 200)
    fitted = fit_retrieval(queries[:500], keys, paired(500), settings)
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


def test_one_of_several_right_keys_is_enough() -> None:
    keys = np.eye(6, dtype=np.float32)
    queries = np.ones((2, 6), np.float32)
    queries[1, 3:] = -1
    fitted = fit_retrieval(queries, keys, [[0, 1], [0, 2], [1, 5], [0, 1]])
    found = fitted.projections.project_queries(queries) @ fitted.projections.project_keys(keys).T
    assert found[0].argmax() in (1, 2)
    assert found[1].argmax() == 5


def test_nothing_better_on_what_is_held_out_leaves_the_identity() -> None:
    random = np.random.default_rng(0)
    keys = random.standard_normal((200, 16)).astype(np.float32)
    # Each key finds itself already; half of the examples say otherwise, at random.
    pairs = [[i, i if i % 2 else int(random.integers(200))] for i in range(200)]
    fitted = fit_retrieval(keys, keys, pairs, Settings(temperature=0.05, learning_rate=0.3))
    history = [epoch.held_out for epoch in fitted.history]
    best = int(np.argmin(history))
    assert len(history) <= best + 1 + Settings().patience
    if best == 0:
        np.testing.assert_array_equal(fitted.projections.query, np.eye(16))


def test_pooling_learns_what_to_pool_and_a_temperature() -> None:
    queries, keys = two_spaces(300, 100, size=8, noise=0.1)
    values = keys[:, :2] * 3 + 100
    fitted = fit_pooling(queries[:300], keys[:300], values[:300], values[:300])

    def error(projections: Projections, temperature: float) -> float:
        q, k = projections.project_queries(queries[300:]), projections.project_keys(keys[:300])
        q, k = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (q, k))
        weights = np.exp(q @ k.T / temperature)
        pooled = weights / weights.sum(axis=1, keepdims=True) @ values[:300]
        return float(((pooled - values[300:]) ** 2).mean())

    assert error(fitted.projections, fitted.temperature) < error(Projections(), 0.05) / 2
    assert fitted.projections.value is None
    assert fitted.temperature != pytest.approx(0.05)


def test_pooling_learns_to_turn_values_where_it_is_told_to() -> None:
    keys = np.eye(4, dtype=np.float32)
    values = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    turned = values @ np.array([[0, 1], [-1, 0]], np.float32)
    settings = Settings(learn_value=True, pull=0, epochs=300)
    with_v = fit_pooling(keys, keys, values, turned, settings)
    without = fit_pooling(keys, keys, values, turned, replace(settings, learn_value=False))
    assert with_v.history[-1].training < without.history[-1].training / 2


def test_equal_seeds_give_equal_projections_and_others_do_not() -> None:
    queries, keys = two_spaces(60, 0)
    first, again, other = (
        fit_retrieval(queries, keys, paired(60), Settings(seed=seed, epochs=3))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.projections != other.projections
    assert first.projections.query.dtype == np.float32  # type: ignore[union-attr]


def test_progress_is_told_and_may_stop_it_with_nothing_half_done() -> None:
    queries, keys = two_spaces(60, 0)
    before = queries.copy(), keys.copy()
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_retrieval(queries, keys, paired(60), Settings(progress=progress))
    assert [done for done, _ in told] == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal((queries, keys), before)
    told.clear()
    fit_retrieval(queries, keys, paired(60), Settings(progress=lambda *at: told.append(at)))
    assert told[-1][0] == told[-1][1]


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


def test_fits_in_several_threads_do_not_mix() -> None:
    queries, keys = two_spaces(60, 0)
    settings = Settings(epochs=3)
    alone = fit_retrieval(queries, keys, paired(60), settings)
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(fit_retrieval(queries, keys, paired(60), settings))
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 3


# ---- the gradients, the pull, and the descent ---------------------------------------------


@pytest.mark.parametrize("rank", [None, 2])
def test_the_gradients_of_a_projection(rank: int | None) -> None:
    model = TrainableProjections(5, Settings(rank=rank, fixed=("key",), temperature=0.1))
    random = np.random.default_rng(0)
    at: dict[str, Array] = {n: random.standard_normal(p.shape) for n, p in model.parameters.items()}
    x, d = random.standard_normal((2, 4, 5))

    def loss(parameters: Mapping[str, Array]) -> float:
        model.parameters = dict(parameters)
        return float(np.vdot(model.forward("query", x)[0], d))

    loss(at)
    check_gradients(loss, at, model.forward("query", x)[1](d))


def test_the_gradient_of_the_pull() -> None:
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


# ---- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([[0, 3]], ShapeError, r"number 0 is \[0, 3\], but there are 2 queries and 3 keys"),
        ([[0, 0], [-1, 0]], ShapeError, "number 1"),
        ([[0.5, 0]], ArgumentTypeError, "whole numbers"),
        ([0, 1], ShapeError, "a query and a key each"),
        (np.zeros((0, 2), int), ShapeError, "a query and a key each"),
    ],
)
def test_pairs_that_are_none(pairs: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit_retrieval(np.ones((2, 4)), np.ones((3, 4)), pairs)  # type: ignore[arg-type]


def test_arrays_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="queries of 3 numbers and keys of 4 numbers"):
        fit_retrieval(np.ones((2, 3)), np.ones((2, 4)), [[0, 0]])
    with pytest.raises(ShapeError, match=r"keys.*finite"):
        fit_retrieval(np.ones((2, 3)), np.full((2, 3), np.nan), [[0, 0]])
    with pytest.raises(ShapeError, match="queries must be a matrix"):
        fit_retrieval(np.ones(3), np.ones((2, 3)), [[0, 0]])
    with pytest.raises(ShapeError, match="a target for each of 2 queries, got 3 and 1"):
        fit_pooling(np.ones((2, 3)), np.ones((3, 3)), np.ones((3, 1)), np.ones((1, 1)))


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"scorer": "gaussian"}, OptionError),
        ({"rank": 0}, OptionError),
        ({"pull": -1.0}, OptionError),
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
