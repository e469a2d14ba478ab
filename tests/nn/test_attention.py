"""Attention: against a loop over queries, with masks, in blocks, its gradients, and torch's."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, EmptyRowWarning, OptionError, ShapeError
from fuzzydict.nn.attention import (
    Partial,
    attention,
    attention_forward,
    finish,
    merge,
    partial,
    pool,
)
from fuzzydict.nn.scorers import Additive, Bilinear, Gaussian, ScorerLike
from fuzzydict.nn.softmax import softmax
from tests.nn.test_softmax import slow_softmax
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
    assert attention(query[0, 0], key[0, 0], value).shape == (2, 3, 4, 2)


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
def test_masks_exclude_keys(name: str) -> None:
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


# ---- in blocks -----------------------------------------------------------------------------


@st.composite
def parts(draw: st.DrawFn) -> Partial:
    """Draw attention over up to five keys, for three queries; some of it may be masked."""
    count = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    scores = random.standard_normal((3, count)) * draw(st.sampled_from([1.0, 300.0]))
    scores[random.random((3, count)) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = -np.inf
    return partial(scores, random.standard_normal((count, 2)))


def _check_same(a: Partial, b: Partial) -> None:
    for left, right in zip(a, b, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-12)


@given(parts(), parts(), parts())
def test_merging_is_associative(a: Partial, b: Partial, c: Partial) -> None:
    _check_same(merge(merge(a, b), c), merge(a, merge(b, c)))


@given(st.integers(1, 30), st.lists(st.integers(0, 30)), st.integers(0, 1000))
def test_parts_of_any_sizes_make_the_whole(count: int, cuts: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.standard_normal((2, count)) * 100
    value = random.standard_normal((count, 3))
    edges = sorted({0, count, *(c for c in cuts if c < count)})
    pieces = [partial(scores[:, a:b], value[a:b]) for a, b in itertools.pairwise(edges)]
    random.shuffle(pieces)
    np.testing.assert_allclose(finish(reduce(merge, pieces)), softmax(scores) @ value, atol=1e-12)


def test_a_part_without_keys_hides_no_low_scores() -> None:
    low = partial([[-2000.0]], [[3.0]])
    np.testing.assert_allclose(finish(merge(partial([[-np.inf]], [[7.0]]), low)), [[3]])


def test_parts_keep_single_precision() -> None:
    part = partial(np.ones((1, 2), np.float32), np.ones((2, 1), np.float32))
    assert {a.dtype for a in merge(part, part)} == {np.dtype(np.float32)}
    assert finish(part).dtype == np.float32


N = 40_000  # keys, of several blocks for a single query


@pytest.mark.parametrize(("rows", "count"), [(1, N), (260, 9_000)])
@pytest.mark.parametrize("options", ["", "causal", "bool", "float", "lens", "row lens", "warm"])
def test_long_rows_give_what_all_weights_at_once_give(rows: int, count: int, options: str) -> None:
    random = np.random.default_rng(0)
    query = random.standard_normal((2, rows, 2))
    key, value = random.standard_normal((2, 2, count, 2))
    kwargs: Any = {
        "": {},
        "causal": {"is_causal": True},
        "bool": {"attn_mask": random.random((rows, count)) < 0.5},
        "float": {"attn_mask": random.standard_normal((2, 1, count))},
        "lens": {"valid_lens": [count - 5, 10]},
        "row lens": {"valid_lens": random.integers(1, count, (2, rows))},
        "warm": {"temperature": 3.0},
    }[options]
    whole, weights = attention(query, key, value, need_weights=True, **kwargs)
    np.testing.assert_allclose(weights.sum(-1), 1)
    np.testing.assert_allclose(attention(query, key, value, **kwargs), whole, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 16])
def test_torch_gives_the_same_for_long_rows(rows: int) -> None:
    torch = pytest.importorskip("torch", reason="the comparison with torch needs torch")
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((n, 64), dtype=np.float32) for n in (rows, N, N)]
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, arrays))
    np.testing.assert_allclose(attention(*arrays), theirs.numpy(), atol=1e-5)


def test_one_query_over_many_keys_needs_little_memory() -> None:
    key = np.ones((1_000_000, 8), np.float32)
    tracemalloc.start()
    output = attention(key[:1], key, key)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(output, 1, rtol=1e-5)
    assert peak < key.nbytes / 10


def test_a_long_row_without_keys_is_zero() -> None:
    key = np.ones((N, 2))
    mask = np.ones((2, N), bool)
    mask[1] = False
    with pytest.warns(EmptyRowWarning, match="1 of 2"):
        output = attention(key[:2], key, key, attn_mask=mask)
    np.testing.assert_allclose(output, [[1, 1], [0, 0]])


@pytest.mark.parametrize("which", ["query", "key", "value"])
def test_what_is_not_finite_in_a_long_row_is_named(which: str) -> None:
    arrays: dict[str, Any] = {
        "query": np.ones((1, 4)),
        "key": np.ones((N, 4)),
        "value": np.ones((N, 2)),
    }
    arrays[which][-1, 1] = np.nan
    with pytest.raises(ShapeError, match=f"^{which} of shape"):
        attention(**arrays)


# ---- arguments -----------------------------------------------------------------------------


Q, K, VALUE = (np.ones((2, n, size)) for n, size in ((4, 3), (5, 3), (5, 2)))
Call = Callable[[], object]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: attention(Q, K, VALUE[:, :4]),
            r"S = 5, got value \(2, 4, 2\)",
        ),
        (lambda: attention(Q, K, np.ones(5)), r"got value \(5,\)"),
        (lambda: attention(Q, K[..., :2], VALUE), r"query \(2, 4, 3\) and key \(2, 5, 2\)"),
        (lambda: attention(Q, K, np.ones((3, 5, 2))), "batch axes.*do not broadcast"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((5, 4), bool)), r"\(2, 4, 5\)"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((3, 2, 4, 5), bool)), "broadcast"),
        (lambda: attention(Q, K, VALUE, attn_mask=np.full((4, 5), np.nan)), "attn_mask must not"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1, 2, 3]), r"shape \(2,\).*or \(2, 4\)"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1, 9]), "between 0 and S = 5, got 1 to 9"),
        (lambda: attention(Q, K, VALUE * np.inf), r"^value of shape"),
        (lambda: attention(Q, K, VALUE * np.nan, need_weights=True), r"^value of shape"),
        (
            lambda: attention(Q, K, VALUE, scorer=lambda q, k: 0 * q @ k.swapaxes(1, 2) + np.nan),
            "look at the scorer",
        ),
        (
            lambda: pool(np.ones((2, 3)), np.ones((4, 2))),
            r"weights \(2, 3\) and",
        ),
    ],
)
def test_what_does_not_fit_is_named(call: Call, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(Q, K, VALUE, attn_mask=np.ones((4, 5), int)), r"int64.*astype\(bool\)"),
        (lambda: attention(Q, K, VALUE, valid_lens=[1.5, 2.0]), "valid_lens must be integers"),
        (lambda: attention(Q, K, [["a"]] * 5), "value must be an array of real numbers"),
    ],
)
def test_what_is_of_the_wrong_type_is_named(call: Call, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(Q, K, VALUE, scorer="dots"), "scorer 'dots' is not known"),
        (lambda: attention(Q, K, VALUE, normalizer="max"), "one of softmax, sparsemax, got 'max'"),
        (lambda: attention(Q, K, VALUE, temperature=0), "temperature must be"),
        (lambda: attention(Q, K, VALUE, scorer="dot", scale=1.0), "use temperature"),
        (lambda: attention(Q, K, VALUE, scale=-1.0), "scale must be"),
    ],
)
def test_an_option_that_does_not_exist_is_named(call: Call, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()
