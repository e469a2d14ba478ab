"""Multi-head attention against a loop over heads, its gradients, and torch's module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError
from fuzzydict.nn.attention import attention
from fuzzydict.nn.multihead import MultiHeadAttention
from tests.support.gradients import check_gradients
from tests.support.refusals import Refused, refused

E, H, KDIM, VDIM = 6, 2, 5, 4


def _heads(bias: bool = True) -> MultiHeadAttention:
    heads = MultiHeadAttention(E, H, bias=bias, kdim=KDIM, vdim=VDIM, seed=1)
    random = np.random.default_rng(0)
    return heads.with_parameters(
        {n: random.standard_normal(p.shape) for n, p in heads.parameters.items()}
    )


def _inputs(*lead: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(3)
    shapes = [(*lead, 3, E), (*lead, 4, KDIM), (*lead, 4, VDIM)]
    query, key, value = (random.standard_normal(shape) for shape in shapes)
    return query, key, value


def slow_heads(heads: MultiHeadAttention, query: Array, key: Array, value: Array) -> Array:
    """Attend head by head, with the rows of the projections that belong to it."""
    p, size = heads.parameters, heads.embed_dim // heads.num_heads
    outputs = []
    for h in range(heads.num_heads):
        own = slice(h * size, (h + 1) * size)
        q, k, v = (
            x @ p[f"W_{n}"][own].T + p[f"b_{n}"][own]
            for n, x in (("q", query), ("k", key), ("v", value))
        )
        outputs.append(attention(q, k, v))
    return np.concatenate(outputs, axis=-1) @ p["W_o"].T + p["b_o"]


def test_heads_are_attentions_side_by_side() -> None:
    heads = _heads()
    query, key, value = _inputs(2)
    output, weights = heads(query, key, value, need_weights=True)
    np.testing.assert_allclose(output, slow_heads(heads, query, key, value))
    np.testing.assert_allclose(heads(query, key, value), output)
    each = heads(query, key, value, need_weights=True, average_attn_weights=False)[1]
    assert each.shape == (2, H, 3, 4)
    np.testing.assert_allclose(each.sum(-1), 1)
    np.testing.assert_allclose(weights, each.mean(1))
    single = heads(*(x.astype(np.float32) for x in (query, key, value)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, output, atol=1e-4)


def test_masks_hold_for_all_heads_by_batch_or_by_head() -> None:
    heads, arrays = _heads(), _inputs(2)
    options: dict[str, Any] = {"need_weights": True, "average_attn_weights": False}
    random = np.random.default_rng(0)
    for shape, where in (
        ((3, 4), (...,)),
        ((2, 3, 4), (slice(None), None)),
        ((2, H, 3, 4), (...,)),
    ):
        mask = random.random(shape) < 0.6
        mask[..., 0] = True
        weights = heads(*arrays, attn_mask=mask, **options)[1]
        np.testing.assert_array_equal(weights > 0, np.broadcast_to(mask[where], weights.shape))
    weights = heads(*arrays, valid_lens=[1, 3], **options)[1]
    np.testing.assert_array_equal((weights > 0).sum(-1), [[[1] * 3] * H, [[3] * 3] * H])
    lengths = [[1, 2, 3], [4, 1, 2]]
    weights = heads(*arrays, valid_lens=lengths, **options)[1]
    np.testing.assert_array_equal((weights > 0).sum(-1), [[row] * H for row in lengths])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("lead", "options"), [((), {"valid_lens": 2}), ((2,), {"is_causal": True})], ids=str
)
def test_gradients_agree_with_differences(
    bias: bool, lead: tuple[int, ...], options: dict[str, Any]
) -> None:
    heads, (query, key, value) = _heads(bias), _inputs(*lead)
    output, _, backward = heads.forward(query, key, value, **options)
    direction = np.random.default_rng(1).standard_normal(output.shape)

    def loss(at: Mapping[str, Array]) -> float:
        changed = heads.with_parameters({n: at[n] for n in heads.parameters})
        return float((changed(at["query"], at["key"], at["value"], **options) * direction).sum())

    d = backward(direction)
    check_gradients(
        loss,
        {"query": query, "key": key, "value": value, **heads.parameters},
        {"query": d.query, "key": d.key, "value": d.value, **d.parameters},
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 5, "vdim": 7}], ids=str)
@pytest.mark.parametrize("batch_first", [True, False])
def test_torch_gives_the_same(bias: bool, sizes: dict[str, int], batch_first: bool) -> None:
    torch = pytest.importorskip("torch", reason="the comparison with torch needs torch")
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(
        16, 4, bias=bias, batch_first=batch_first, dropout=0.5, **sizes
    ).eval()
    if bias:
        torch.nn.init.normal_(module.in_proj_bias)
    heads = MultiHeadAttention.from_torch(module)
    random = np.random.default_rng(0)
    shapes = (2, 5, 16), (2, 6, sizes.get("kdim", 16)), (2, 6, sizes.get("vdim", 16))
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    allowed = random.random((5, 6)) < 0.7
    allowed[:, 0] = True
    tensors = [torch.from_numpy(a if batch_first else a.swapaxes(0, 1)) for a in arrays]
    for average in (True, False):
        expected, expected_weights = module(
            *tensors, attn_mask=torch.from_numpy(~allowed), average_attn_weights=average
        )
        expected = expected if batch_first else expected.transpose(0, 1)
        output, weights = heads(
            *arrays, attn_mask=allowed, need_weights=True, average_attn_weights=average
        )
        np.testing.assert_allclose(output, expected.detach().numpy(), atol=1e-5)
        np.testing.assert_allclose(weights, expected_weights.detach().numpy(), atol=1e-5)
    torch.nn.init.zeros_(module.out_proj.weight)  # which trains no copy
    np.testing.assert_allclose(heads(*arrays, attn_mask=allowed), output, atol=1e-6)


def test_keys_that_nobody_gave_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="the refusal concerns modules of torch")
    for option in ("add_bias_kv", "add_zero_attn"):
        with pytest.raises(OptionError, match="add_bias_kv or add_zero_attn"):
            MultiHeadAttention.from_torch(torch.nn.MultiheadAttention(4, 2, **{option: True}))


REFUSED: Refused = {
    ArgumentTypeError: {
        r"torch\.nn\.MultiheadAttention, got dict": lambda: MultiHeadAttention.from_torch({}),
        "dtype must be a floating": lambda: MultiHeadAttention(4, 1, dtype=int),
    },
    OptionError: {
        "must divide embed_dim, got 2 and 5": lambda: MultiHeadAttention(5, 2),
        "embed_dim must be a whole.* got 0": lambda: MultiHeadAttention(0, 1),
        "no parameter 'W'; .*W_q": lambda: _heads().with_parameters({"W": 1.0}),
    },
    ShapeError: {
        r"query.*\(..., L, 6\), got \(4, 4\)": lambda: _heads()(*_inputs()[::-1]),
        r"\(6, 6\), got \(\)": lambda: _heads().with_parameters({"W_q": 1.0}),
        r"attn_mask of shape \(3, 5\)": lambda: _heads()(
            *_inputs(), attn_mask=np.ones((3, 5), bool)
        ),
    },
}


test_what_does_not_fit_is_named = refused(REFUSED)
