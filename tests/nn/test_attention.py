"""Softmax and sparsemax; attention against a loop, with masks, in blocks; gradients; torch."""

from __future__ import annotations

import functools
import math
import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, EmptyRowWarning, OptionError, ShapeError
from fuzzydict.nn.attention import attention, attention_forward
from fuzzydict.nn.scorers import Additive, Bilinear, Gaussian
from fuzzydict.nn.softmax import normalize, softmax
from tests.support.gradients import check_gradients
from tests.support.refusals import Refused, refused


def _inputs(*lead: int, seed: int = 0) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    shapes = [(*lead, 4, 3), (*lead, 5, 3), (*lead, 5, 2)]
    query, key, value = (random.standard_normal(shape) for shape in shapes)
    return query, key, value


def slow_attention(query: Array, key: Array, value: Array, added: NDArray[Any]) -> Array:
    """Attend with scaled dot products, one query at a time, with numbers added to scores (L, S)."""
    rows = []
    for q, more in zip(query, added, strict=True):
        near = [i for i in range(len(key)) if more[i] > -np.inf]
        scores = np.array([q @ key[i] / math.sqrt(len(q)) + more[i] for i in near])
        rows.append(sum(w * value[i] for w, i in zip(slow_softmax(scores), near, strict=True)))
    return np.array(rows)


def only(allowed: Any) -> NDArray[Any]:
    return np.where(np.broadcast_to(allowed, (4, 5)), 0.0, -np.inf)


NONE, UNLIKE = np.zeros((4, 5)), np.random.default_rng(9).standard_normal((4, 5))
SHORT = np.arange(5) < 3
MASKS: dict[str, tuple[dict[str, Any], NDArray[Any]]] = {
    "none": ({}, NONE),
    "causal": ({"is_causal": True}, only(np.tri(4, 5))),
    "a length each": ({"valid_lens": [1, 2, 5, 3]}, only(np.arange(5) < [[1], [2], [5], [3]])),
    "bools for all": ({"attn_mask": [True, False, True, True, False]}, only([1, 0, 1, 1, 0])),
    "numbers": ({"attn_mask": UNLIKE}, UNLIKE),
    "minus infinity": ({"attn_mask": only(np.eye(4, 5) == 0)}, only(np.eye(4, 5) == 0)),
    "all at once": (
        {"is_causal": True, "attn_mask": UNLIKE, "valid_lens": 3},
        UNLIKE + only(np.tri(4, 5) * SHORT),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_attention_is_a_loop_over_queries_and_the_keys_they_may_see(name: str) -> None:
    options, added = MASKS[name]
    query, key, value = _inputs()
    single = attention(*(a.astype(np.float32) for a in (query, key, value)), **options)
    output, weights = attention(query, key, value, need_weights=True, **options)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, output, atol=1e-5)
    assert not weights[np.isneginf(added)].any()
    np.testing.assert_allclose(output, slow_attention(query, key, value, added))
    np.testing.assert_allclose(attention(query, key, value, **options), output)


def test_batch_axes_broadcast_and_arguments_are_left_as_they_were() -> None:
    query, key, value = _inputs(2, 3)
    output, weights = attention(query[:, :1], key[0], value, need_weights=True)
    assert (output.shape, weights.shape) == ((2, 3, 4, 2), (2, 3, 4, 5))
    np.testing.assert_allclose(
        output[1, 2], slow_attention(query[1, 0], key[0, 2], value[1, 2], NONE)
    )
    assert attention(query[0, 0], key[0, 0], value).shape == (2, 3, 4, 2)
    arrays, scores = _inputs(), np.zeros((4, 5))
    copies = [a.copy() for a in (*arrays, scores)]
    attention(*arrays, scorer=lambda _q, _k: scores, is_causal=True)
    attention(*arrays, scorer="cosine", temperature=2.0)
    for array, copy in zip((*arrays, scores), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
def test_a_query_with_no_key_to_see_answers_zero(need_weights: bool, normalizer: str) -> None:
    arrays = _inputs()
    options: Any = {"need_weights": need_weights, "normalizer": normalizer}
    with pytest.warns(EmptyRowWarning, match="1 of 4 queries"):
        out: Any = attention(*arrays, valid_lens=[0, 1, 2, 3], **options)
    output = out[0] if need_weights else out
    np.testing.assert_array_equal(output[0], 0)
    np.testing.assert_allclose(output[1], arrays[2][0])
    with pytest.warns(EmptyRowWarning):
        none: Any = attention(np.ones((2, 3)), np.empty((0, 3)), np.empty((0, 4)), **options)
    np.testing.assert_array_equal(none[0] if need_weights else none, np.zeros((2, 4)))
    assert attention(np.ones((0, 3)), np.ones((2, 3)), np.ones((2, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5, "scale": 2.0},
        {"is_causal": True},
        {"scorer": "cosine", "normalizer": "sparsemax", "temperature": 0.7},
        {"scorer": Gaussian(1.2), "valid_lens": 3},
        {"attn_mask": only(np.arange(4)[:, None] > 0), "temperature": 2.0},  # a row that is empty
        {"attn_mask": only(np.arange(4)[:, None] > 0), "normalizer": "sparsemax"},
        {"scorer": Bilinear(np.arange(9.0).reshape(3, 3) / 9)},
        {"scorer": Additive(), "attn_mask": np.eye(4, 5)},
    ],
    ids=str,
)
@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.filterwarnings("ignore::fuzzydict.EmptyRowWarning")
def test_gradients_agree_with_differences(options: dict[str, Any], lead: tuple[int, ...]) -> None:
    query, key, value = _inputs(*lead)[0], _inputs()[1], _inputs(*lead)[2]
    output, _, backward = attention_forward(query, key, value, **options)
    direction = np.random.default_rng(1).standard_normal(output.shape)
    parameters = getattr(options.get("scorer"), "parameters", {})
    warmth = np.array(options.get("temperature", 1.0))

    def loss(at: Mapping[str, Array]) -> float:
        changed = {**options, "temperature": float(at["temperature"])}
        if parameters:
            changed["scorer"] = type(options["scorer"])(**{name: at[name] for name in parameters})
        return float((attention(at["query"], at["key"], at["value"], **changed) * direction).sum())

    *d_inputs, d_parameters, d_temperature = backward(direction)
    d = dict(zip(("query", "key", "value"), d_inputs, strict=True))
    at = {"query": query, "key": key, "value": value, "temperature": warmth, **parameters}
    check_gradients(loss, at, {**d, "temperature": np.array(d_temperature), **d_parameters})


N = 40_000  # keys, of several blocks for a single query


@pytest.mark.parametrize(("rows", "count"), [(1, N), (260, 9_000)])
def test_long_rows_give_what_all_weights_at_once_give(rows: int, count: int) -> None:
    random = np.random.default_rng(0)
    query = random.standard_normal((2, rows, 2))
    key, value = random.standard_normal((2, 2, count, 2))
    several: list[Any] = [
        {"temperature": 3.0},
        {"is_causal": True},
        {"attn_mask": random.random((rows, count)) < 0.5},
        {"attn_mask": random.standard_normal((2, 1, count))},
        {"attn_mask": np.arange(count) > count - 9},  # blocks without keys before those with some
        {"attn_mask": np.linspace(0.0, 1e5, count)},  # each block far above the ones before it
        {"valid_lens": [count - 5, 10]},
        {"valid_lens": random.integers(1, count, (2, rows))},
    ]
    for kwargs in several:
        whole, weights = attention(query, key, value, need_weights=True, **kwargs)
        np.testing.assert_allclose(weights.sum(-1), 1)
        np.testing.assert_allclose(attention(query, key, value, **kwargs), whole, atol=1e-12)


def test_one_query_over_many_keys_needs_little_memory() -> None:
    key = np.ones((1_000_000, 8), np.float32)
    tracemalloc.start()
    output = attention(key[:1], key, key)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(output, 1, rtol=1e-5)
    assert output.dtype == np.float32
    assert peak < key.nbytes / 10


Q, K, VALUE = (np.ones((2, n, size)) for n, size in ((4, 3), (5, 3), (5, 2)))
LONG = np.ones((N, 2))
LONG[-1, 1] = np.nan


REFUSED: Refused = {
    ShapeError: {
        r"S = 5, got value \(2, 4, 2\)": lambda: attention(Q, K, VALUE[:, :4]),
        r"got value \(5,\)": lambda: attention(Q, K, np.ones(5)),
        "batch axes.*do not broadcast": lambda: attention(Q, K, np.ones((3, 5, 2))),
        r"\(2, 4, 5\)": lambda: attention(Q, K, VALUE, attn_mask=np.ones((5, 4), bool)),
        "attn_mask must not": lambda: attention(Q, K, VALUE, attn_mask=[np.nan] * 5),
        r"shape \(2,\).*or \(2, 4\)": lambda: attention(Q, K, VALUE, valid_lens=[1, 2, 3]),
        "0 and S = 5, got 1 to 9": lambda: attention(Q, K, VALUE, valid_lens=[1, 9]),
        "^value of shape": [
            lambda: attention(Q, K, VALUE * np.inf),
            lambda: attention(Q, K, VALUE * np.nan, need_weights=True),
            lambda: attention(LONG[:1], np.ones((N, 2)), LONG),
        ],
        "look at the scorer": lambda: attention(Q, K, VALUE, scorer=no_numbers),
        r"row \[1\] is not": [
            lambda: softmax([[0.0, 1.0], [np.nan, 0.0]]),
            lambda: normalize([[0.0], [np.inf]], 1.0, "sparsemax"),
        ],
        "single number": [lambda: softmax(3.0), lambda: normalize(3.0, 1.0, "sparsemax")],
    },
    ArgumentTypeError: {
        r"int64.*np.array.*bool": lambda: attention(Q, K, VALUE, attn_mask=np.ones((4, 5), int)),
        "must be integers": lambda: attention(Q, K, VALUE, valid_lens=[1.5, 2.0]),
    },
    OptionError: {
        "sparsemax, got 'max'": lambda: attention(Q, K, VALUE, normalizer="max"),
        "temperature must be": lambda: attention(Q, K, VALUE, temperature=0),
        "must be a finite number above 0": [
            functools.partial(softmax, [1.0], t) for t in (0, -1, np.inf)
        ],
        "use temperature": lambda: attention(Q, K, VALUE, scorer="dot", scale=1.0),
        "scale must be": lambda: attention(Q, K, VALUE, scale=-1.0),
    },
}


def no_numbers(query: Array, key: Array) -> Array:
    return 0 * query @ key.swapaxes(1, 2) + np.nan


test_what_does_not_fit_is_named = refused(REFUSED)


ROWS = hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 8)), elements=st.floats(-50, 50))


def slow_softmax(row: Array, temperature: float = 1.0) -> list[float]:
    """Return the weights of one row, by the definition."""
    powers = [math.exp((s - max(row)) / temperature) for s in row]
    return [p / sum(powers) for p in powers]


def slow_sparsemax(row: Array) -> Array:
    """Return the point of the simplex nearest to the row, by bisection on the threshold."""
    low, high = float(min(row)) - 1, float(max(row))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    weights: Array = np.maximum(row - low, 0)
    return weights


@given(ROWS, st.floats(0.1, 10))
def test_weights_are_those_of_the_definition(scores: Array, temperature: float) -> None:
    soft, sparse = softmax(scores, temperature), normalize(scores, 1.0, "sparsemax")[0]
    np.testing.assert_allclose(soft, [slow_softmax(r, temperature) for r in scores], atol=1e-12)
    np.testing.assert_allclose(sparse, [slow_sparsemax(row) for row in scores], atol=1e-9)
