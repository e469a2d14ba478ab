"""Every scorer against a loop over pairs, its gradient against differences and torch's."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzzydict._arrays import Array
from fuzzydict.nn.scorers import (
    KERNELS,
    SCORERS,
    Additive,
    Bilinear,
    Concat,
    Cosine,
    Gaussian,
    Triangular,
    as_scorer,
)
from tests.support.gradients import check_gradients
from tests.support.scorer_cases import ALL, CASES, E, V, W, inputs


@ALL
def test_scores_are_those_of_a_loop_over_pairs(name: str) -> None:
    scorer, pair = CASES[name]
    query, key = inputs()
    expected = [[pair(q, k) for k in key] for q in query]
    np.testing.assert_allclose(scorer(query, key), expected, atol=1e-12)


@ALL
def test_batch_axes_broadcast(name: str) -> None:
    scorer = CASES[name][0]
    query, key = inputs(2, 3)
    scores = scorer(query, key[:, :1])
    assert scores.shape == (2, 3, 4, 6)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(scores[i, j], scorer(query[i, j], key[i, 0]), atol=1e-12)


@ALL
def test_single_precision_is_kept_and_agrees_with_double(name: str) -> None:
    scorer = CASES[name][0]
    query, key = inputs(2)
    single = scorer(query.astype(np.float32), key.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, scorer(query, key), rtol=1e-4, atol=1e-4)


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
        out = (
            scorer.with_parameters(own)(point["query"], point["key"])
            if own
            else scorer(point["query"], point["key"])
        )
        return float((np.where(np.isfinite(out), out, 0) * direction).sum())

    d = backward(direction)
    at = {"query": query, "key": key, **scorer.parameters}
    check_gradients(loss, at, {"query": d.query, "key": d.key, **d.parameters})


@ALL
def test_gradients_of_single_precision_are_single(name: str) -> None:
    query, key = (x.astype(np.float32) for x in inputs(2))
    scores, backward = CASES[name][0].forward(query, key)
    d = backward(np.ones_like(scores))
    assert {d.query.dtype, d.key.dtype} == {np.dtype(np.float32)}


AUTOGRAD = [n for n in CASES if n in (*SCORERS, "bilinear") and n != "boxcar"]


def _torch_score(torch: Any, name: str, q: Any, k: Any, p: dict[str, Any]) -> Any:
    """Return the same scores by torch, from its own operations on all pairs."""
    difference = q[..., :, None, :] - k[..., None, :, :]
    pairs = {
        "dot": lambda: q @ k.mT,
        "scaled_dot": lambda: q @ k.mT / math.sqrt(E),
        "cosine": lambda: torch.nn.functional.cosine_similarity(
            q[..., :, None, :], k[..., None, :, :], dim=-1
        ),
        "gaussian": lambda: -(difference**2).sum(-1) / (2 * p["width"] ** 2),
        "triangular": lambda: torch.log(1 - difference.norm(dim=-1) / p["width"]),
        "epanechnikov": lambda: torch.log(1 - (difference**2).sum(-1) / p["width"] ** 2),
        "bilinear": lambda: torch.einsum("...le,ef,...sf->...ls", q, p["M"], k),
        "additive": lambda: (
            torch.tanh((q @ p["W_q"].T)[..., :, None, :] + (k @ p["W_k"].T)[..., None, :, :])
            @ p["w"]
        ),
    }
    return pairs[name]()


@pytest.mark.parametrize(
    "name",
    [
        "dot",
        "scaled_dot",
        "cosine",
        "gaussian",
        "triangular",
        "epanechnikov",
        "bilinear",
        "additive",
    ],
)
def test_gradients_agree_with_autograd(name: str) -> None:
    torch = pytest.importorskip("torch", reason="the comparison with autograd needs torch")
    scorer = CASES[name][0]
    query, key = inputs(2)
    if name in KERNELS:  # all pairs inside the support, where autograd has no NaN
        query, key = query * 0.2, key * 0.2
    scores, backward = scorer.forward(query, key)
    direction = np.random.default_rng(3).standard_normal(scores.shape)
    d = backward(direction)
    leaves = {
        n: torch.tensor(a, dtype=torch.float64, requires_grad=True)
        for n, a in {"query": query, "key": key, **scorer.parameters}.items()
    }
    out = _torch_score(torch, name, leaves["query"], leaves["key"], leaves)
    (out * torch.tensor(direction)).sum().backward()
    np.testing.assert_allclose(scores, out.detach().numpy(), atol=1e-12)
    for n, gradient in {"query": d.query, "key": d.key, **d.parameters}.items():
        np.testing.assert_allclose(gradient, leaves[n].grad.numpy(), atol=1e-10, err_msg=n)


@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-9, 9)
    )
)
def test_vectors_are_at_distance_zero_from_themselves(vectors: Array) -> None:
    for kernel in KERNELS.values():
        np.testing.assert_allclose(np.diag(kernel(1.0)(vectors, vectors)), 0, atol=1e-6)


@given(st.floats(0.1, 10), st.integers(0, 1000))
def test_kernels_depend_on_distance_over_width_alone(width: float, seed: int) -> None:
    query, key = inputs(seed=seed)
    for kernel in KERNELS.values():
        np.testing.assert_allclose(
            kernel(width)(query * width, key * width), kernel(1.0)(query, key), atol=1e-6
        )


def test_kernels_end_where_their_support_does() -> None:
    key = [[0.0], [1.0], [2.0], [2.5]]
    weights = {name: np.exp(kernel(2.0)([[0.0]], key))[0] for name, kernel in KERNELS.items()}
    np.testing.assert_allclose(weights["boxcar"], [1, 1, 1, 0])
    np.testing.assert_allclose(weights["triangular"], [1, 0.5, 0, 0])
    np.testing.assert_allclose(weights["epanechnikov"], [1, 0.75, 0, 0])
    assert (weights["gaussian"] > 0).all()


def test_gradients_outside_the_support_and_at_the_peak_are_zero() -> None:
    for kernel in KERNELS.values():
        _, backward = kernel(1.0).forward([[0.0, 0.0]], [[0.0, 0.0], [5.0, 0.0]])
        d = backward(np.array([[1.0, 0.0 if kernel is Gaussian else 1.0]]))
        assert np.isfinite(d.key).all()
        assert not d.key.any()


def test_distances_of_near_vectors_far_from_the_origin_are_never_negative() -> None:
    near = np.float32(1000) + np.random.default_rng(0).random((50, 8), dtype=np.float32) / 1000
    assert np.isfinite(Triangular(100.0)(near, near)).all()


def test_cosine_is_zero_and_flat_at_the_zero_vector() -> None:
    query, key = np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 2.0]])
    scores, backward = Cosine().forward(query, key)
    assert not scores.any()
    d = backward(np.ones((1, 2)))
    assert not d.query.any()
    assert not d.key.any()


def test_no_cosine_is_above_one() -> None:
    vectors = np.random.default_rng(0).standard_normal((300, 9), dtype=np.float32)
    assert Cosine()(vectors, vectors).max() == 1
    assert Cosine()(vectors, -vectors).min() == -1


def test_queries_and_keys_of_different_sizes() -> None:
    query, key = np.ones((2, 3)), np.ones((4, 5))
    random = np.random.default_rng(0)
    for scorer in (
        Bilinear(random.random((3, 5))),
        Additive(random.random((7, 3)), random.random((7, 5)), random.random(7)),
        Additive(W_q=random.random((5, 3))),
        Concat(random.random((7, 8)), random.random(7)),
    ):
        assert scorer(query, key).shape == (2, 4)


def test_concat_is_additive_with_its_matrix_cut_in_two() -> None:
    query, key = inputs(2)
    expected = Additive(W[:, :E], W[:, E:], V)(query, key)
    np.testing.assert_allclose(Concat(W, V)(query, key), expected)


def test_a_hidden_layer_of_many_blocks_is_that_of_one() -> None:
    random = np.random.default_rng(0)
    query, key = random.standard_normal((3, 64)), random.standard_normal((20_000, 64))
    scores, backward = Additive().forward(query, key)
    np.testing.assert_allclose(scores[:, -50:], Additive()(query, key[-50:]))
    d = backward(np.ones_like(scores))
    np.testing.assert_allclose(d.key[-1], (1 - np.tanh(query + key[-1]) ** 2).sum(0))
    np.testing.assert_allclose(d.query[0], (1 - np.tanh(query[0] + key) ** 2).sum(0))


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "cosine", "gaussian"])
def test_a_large_key_matrix_is_not_copied(name: str) -> None:
    key = np.ones((50_000, 64), np.float32)
    query = np.ones((1, 64), np.float32)
    tracemalloc.start()
    as_scorer(name)(query, key)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < key.nbytes / 4
