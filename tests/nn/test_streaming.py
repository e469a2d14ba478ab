"""Parts of attention merge to the whole, in any order and any grouping, in bounded memory."""

from __future__ import annotations

import itertools
import tracemalloc
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.errors import EmptyRowWarning, ShapeError
from fuzzydict.nn.attention import EMPTY, Partial, attention, finish, merge, partial
from fuzzydict.nn.softmax import softmax


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


@given(parts(), parts())
def test_merging_is_commutative(a: Partial, b: Partial) -> None:
    _check_same(merge(a, b), merge(b, a))


@given(parts())
def test_merging_with_no_keys_changes_nothing(a: Partial) -> None:
    _check_same(merge(a, EMPTY), a)
    _check_same(merge(EMPTY, a), a)


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


def test_single_precision_is_kept() -> None:
    part = partial(np.ones((1, 2), np.float32), np.ones((2, 1), np.float32))
    assert {a.dtype for a in merge(EMPTY, merge(part, part))} == {np.dtype(np.float32)}
    assert finish(part).dtype == np.float32


N = 40_000  # keys, of several blocks


@pytest.mark.parametrize("rows", [1, 260])
@pytest.mark.parametrize("options", ["", "causal", "bool", "float", "lens", "row lens", "warm"])
def test_long_rows_give_what_all_weights_at_once_give(rows: int, options: str) -> None:
    random = np.random.default_rng(0)
    query = random.standard_normal((2, rows, 2))
    key, value = random.standard_normal((2, 2, N, 2))
    kwargs: Any = {
        "": {},
        "causal": {"is_causal": True},
        "bool": {"attn_mask": random.random((rows, N)) < 0.5},
        "float": {"attn_mask": random.standard_normal((2, 1, N))},
        "lens": {"valid_lens": [35_000, 10]},
        "row lens": {"valid_lens": random.integers(1, N, (2, rows))},
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
