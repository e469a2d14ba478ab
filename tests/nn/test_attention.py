"""Attention against a loop over queries, its masks, its gradient, and torch's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fuzzydict._arrays import Array
from fuzzydict.errors import EmptyRowWarning
from fuzzydict.nn.attention import attention, attention_forward
from fuzzydict.nn.scorers import Additive, Bilinear, Gaussian, ScorerLike
from tests.nn.test_normalizers import slow_softmax
from tests.support.gradients import check_gradients


def _inputs(*lead: int, seed: int = 0) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    shapes = [(*lead, 4, 3), (*lead, 5, 3), (*lead, 5, 2)]
    query, key, value = (random.standard_normal(shape) for shape in shapes)
    return query, key, value


def slow_attention(query: Array, key: Array, value: Array, allowed: NDArray[Any]) -> Array:
    """Attend with scaled dot products, one query at a time, to the allowed keys (L, S) alone."""
    rows = []
    for q, may in zip(query, allowed, strict=True):
        near = [i for i in range(len(key)) if may[i]]
        scores = np.array([q @ key[i] / math.sqrt(len(q)) for i in near])
        rows.append(sum(w * value[i] for w, i in zip(slow_softmax(scores), near, strict=True)))
    return np.array(rows)


def test_three_inputs_worked_by_hand() -> None:
    x = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
    w_k = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
    w_q = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
    w_v = np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    assert query[0].tolist() == [1, 0, 2]
    assert (query @ key.T)[0].tolist() == [2, 4, 4]
    output, weights = attention(query, key, value, scorer="dot", need_weights=True)
    np.testing.assert_allclose(weights[0], [0.063, 0.468, 0.468], atol=5e-4)
    np.testing.assert_allclose(output[0], [1.937, 6.683, 1.595], atol=5e-4)


@given(st.integers(0, 1000), st.booleans())
def test_attention_is_a_loop_over_queries(seed: int, need_weights: bool) -> None:
    query, key, value = _inputs(seed=seed)
    allowed = np.random.default_rng(seed).random((4, 5)) < 0.7
    allowed[:, seed % 5] = True
    out: Any = attention(query, key, value, attn_mask=allowed, need_weights=need_weights)  # type: ignore[call-overload]
    expected = slow_attention(query, key, value, allowed)
    np.testing.assert_allclose(out[0] if need_weights else out, expected, atol=1e-12)


@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
def test_the_order_of_keys_does_not_matter(normalizer: str) -> None:
    query, key, value = _inputs(2)
    order = [3, 1, 4, 0, 2]
    np.testing.assert_allclose(
        attention(query, key[:, order], value[:, order], normalizer=normalizer),
        attention(query, key, value, normalizer=normalizer),
    )


def test_batch_axes_broadcast() -> None:
    query, key, value = _inputs(2, 3)
    output, weights = attention(query[:, :1], key[0], value, need_weights=True)
    assert output.shape == (2, 3, 4, 2)
    assert weights.shape == (2, 3, 4, 5)
    everything = np.ones((4, 5))
    expected = slow_attention(query[1, 0], key[0, 2], value[1, 2], everything)
    np.testing.assert_allclose(output[1, 2], expected)
    np.testing.assert_allclose(attention(query[0, 0], key[0, 0], value)[1, 2].shape, (4, 2))


BOOLS = np.array([True, False, True, True, False])
MASKS: dict[str, tuple[dict[str, Any], NDArray[Any]]] = {
    "causal": ({"is_causal": True}, np.tril(np.ones((4, 5)))),
    "one length": ({"valid_lens": 2}, np.arange(5) < np.full((4, 1), 2)),
    "a length each": ({"valid_lens": [1, 2, 5, 3]}, np.arange(5) < [[1], [2], [5], [3]]),
    "bools for all": (
        {"attn_mask": [True, False, True, True, False]},
        np.ones((4, 1)) * [1, 0, 1, 1, 0],
    ),
    "minus infinity": ({"attn_mask": np.where(np.eye(4, 5) > 0, -np.inf, 0)}, 1 - np.eye(4, 5)),
    "two at once": (
        {"is_causal": True, "attn_mask": np.ones((4, 5), bool), "valid_lens": 3},
        np.tril(np.ones((4, 5))) * (np.arange(5) < 3),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_leave_out_what_they_say(name: str) -> None:
    options, allowed = MASKS[name]
    query, key, value = _inputs()
    output, weights = attention(query, key, value, need_weights=True, **options)
    assert not weights[allowed == 0].any()
    np.testing.assert_allclose(output, slow_attention(query, key, value, allowed))
    np.testing.assert_allclose(attention(query, key, value, **options), output)


def test_lengths_by_batch_and_by_query() -> None:
    arrays = _inputs(2)
    by_batch = attention(*arrays, valid_lens=[2, 4], need_weights=True)[1]
    np.testing.assert_array_equal((by_batch > 0).sum(-1), [[2] * 4, [4] * 4])
    lengths = [[1, 2, 3, 4], [5, 1, 1, 2]]
    by_query = attention(*arrays, valid_lens=lengths, need_weights=True)[1]
    np.testing.assert_array_equal((by_query > 0).sum(-1), lengths)


def test_a_float_mask_is_added_to_the_scores() -> None:
    query, key, value = _inputs()
    twice = np.zeros((4, 5))
    twice[:, 0] = math.log(2)
    plain = attention(query, key, value, need_weights=True)[1]
    tilted = attention(query, key, value, attn_mask=twice, need_weights=True)[1]
    np.testing.assert_allclose(tilted[:, 0] / tilted[:, 1], 2 * plain[:, 0] / plain[:, 1])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
def test_a_query_with_nothing_to_attend_to_answers_zero(
    need_weights: bool, normalizer: str
) -> None:
    query, key, value = _inputs()
    with pytest.warns(EmptyRowWarning, match="1 of 4 queries"):
        out: Any = attention(  # type: ignore[call-overload]
            query,
            key,
            value,
            valid_lens=[0, 1, 2, 3],
            need_weights=need_weights,
            normalizer=normalizer,
        )
    output = out[0] if need_weights else out
    np.testing.assert_array_equal(output[0], 0)
    np.testing.assert_allclose(output[1], value[0])


def test_no_keys_at_all_answer_zero() -> None:
    with pytest.warns(EmptyRowWarning):
        output = attention(np.ones((2, 3)), np.empty((0, 3)), np.empty((0, 4)))
    np.testing.assert_array_equal(output, np.zeros((2, 4)))


def test_no_queries_at_all_have_no_answers() -> None:
    assert attention(np.ones((0, 3)), np.ones((2, 3)), np.ones((2, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5, "scale": 2.0},
        {"is_causal": True},
        {"scorer": "cosine", "normalizer": "sparsemax", "temperature": 0.7},
        {"scorer": Gaussian(1.2), "valid_lens": 3},
        {"scorer": Bilinear(np.arange(9.0).reshape(3, 3) / 9)},
        {"scorer": Additive(), "attn_mask": np.eye(4, 5)},
    ],
    ids=str,
)
@pytest.mark.parametrize("lead", [(), (2,)])
def test_gradients_agree_with_differences(options: dict[str, Any], lead: tuple[int, ...]) -> None:
    query, key, value = _inputs(*lead)[0], _inputs()[1], _inputs(*lead)[2]
    output, _, backward = attention_forward(query, key, value, **options)
    direction = np.random.default_rng(1).standard_normal(output.shape)
    warmth = options.get("temperature", 1.0)

    def loss(at: Mapping[str, Array]) -> float:
        changed = {**options, "temperature": float(at["temperature"])}
        own = {n: a for n, a in at.items() if n in parameters}
        if own:
            changed["scorer"] = options["scorer"].with_parameters(own)
        return float((attention(at["query"], at["key"], at["value"], **changed) * direction).sum())

    d = backward(direction)
    parameters = getattr(options.get("scorer"), "parameters", {})
    inputs = {"query": query, "key": key, "value": value, "temperature": np.array(warmth)}
    check_gradients(
        loss,
        {**inputs, **parameters},
        {
            "query": d.query,
            "key": d.key,
            "value": d.value,
            "temperature": np.array(d.temperature),
            **d.parameters,
        },
    )


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", ["", "causal", "bool", "float", "scale"])
def test_torch_gives_the_same(options: str, kind: type) -> None:
    torch = pytest.importorskip("torch", reason="the comparison with torch needs torch")
    random = np.random.default_rng(0)
    arrays: list[Array] = [random.standard_normal((2, 3, n, 16)).astype(kind) for n in (7, 9, 9)]
    kwargs: Any = {
        "": {},
        "causal": {"is_causal": True},
        "bool": {"attn_mask": random.random((7, 9)) < 0.8},
        "float": {"attn_mask": random.standard_normal((2, 1, 7, 9)).astype(kind)},
        "scale": {"scale": 0.3},
    }[options]
    theirs = {n: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for n, a in kwargs.items()}
    leaves = [torch.from_numpy(a).requires_grad_() for a in arrays]
    expected = torch.nn.functional.scaled_dot_product_attention(*leaves, **theirs)
    output, _, backward = attention_forward(*arrays, **kwargs)
    assert output.dtype == kind
    np.testing.assert_allclose(output, expected.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(attention(*arrays, **kwargs), output, atol=1e-5)
    expected.sum().backward()
    d = backward(np.ones_like(output))
    for mine, leaf in zip((d.query, d.key, d.value), leaves, strict=True):
        np.testing.assert_allclose(mine, leaf.grad.numpy(), atol=1e-5)


def test_any_function_scores() -> None:
    query, key, value = _inputs(2)
    manhattan: ScorerLike = lambda q, k: -abs(q[..., :, None, :] - k[..., None, :, :]).sum(-1)  # noqa: E731
    weights = attention(query, key, value, scorer=manhattan, need_weights=True)[1]
    expected = slow_softmax(np.array([-abs(query[1, 0] - k).sum() for k in key[1]]))
    np.testing.assert_allclose(weights[1, 0], expected)


def test_the_arguments_are_left_as_they_were() -> None:
    arrays = _inputs()
    copies = [a.copy() for a in arrays]
    scores = np.zeros((4, 5))
    attention(*arrays, scorer=lambda _q, _k: scores, is_causal=True)
    attention(*arrays, scorer="cosine", temperature=2.0)
    for array, copy in zip((*arrays, scores), (*copies, np.zeros((4, 5))), strict=True):
        np.testing.assert_array_equal(array, copy)
