"""Multi-head attention: several attentions in parallel, each with its own projections."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fuzzydict._arrays import (
    Array,
    as_array,
    as_bool,
    as_floats,
    as_gradient,
    glorot,
    linear,
    linear_backward,
    require_finite,
    whole_number,
)
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.nn.attention import (
    AttentionBackward,
    AttentionGradients,
    attention,
    attention_forward,
)

_LARGEST = 1 << 20  # of a vector: a matrix of twice that size fits into no memory


class MultiHeadAttention:
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

    Queries, keys and values are projected (``x W' + b``) and split into H heads of size E / H.
    The outputs of the heads are joined and projected again. Self-attention is ``heads(x, x, x)``,
    cross-attention ``heads(x, y, y)``.

    Args:
        embed_dim: E, the size of a query and of an output.
        num_heads: H, which divides E.
        bias: Whether the four projections add a bias.
        kdim: The size of a key, by default E.
        vdim: The size of a value, by default E.
        dtype: The dtype of the parameters.
        seed: The seed of the initial projections (uniform, Glorot and Bengio 2010, equation 16).

    Attributes:
        parameters: ``W_q`` (E, E), ``W_k`` (E, kdim), ``W_v`` (E, vdim), ``W_o`` (E, E) and, with
            bias, ``b_q``, ``b_k``, ``b_v`` and ``b_o`` (E,).

    Raises:
        OptionError: A size is below 1, or num_heads does not divide embed_dim.
        ArgumentTypeError: A size is not a whole number, or the dtype is not floating.

    >>> heads = MultiHeadAttention(embed_dim=8, num_heads=2)
    >>> x = np.ones((3, 8))
    >>> output, weights = heads(x, x, x, is_causal=True, need_weights=True)
    >>> output.shape, weights[1].round(2)
    ((3, 8), array([0.5, 0.5, 0. ]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        dtype: DTypeLike = np.float64,
        seed: int = 0,
    ) -> None:
        kdim, vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        sizes = {"embed_dim": embed_dim, "num_heads": num_heads, "kdim": kdim, "vdim": vdim}
        embed_dim, num_heads, kdim, vdim = (
            whole_number(name, size, most=_LARGEST) for name, size in sizes.items()
        )
        if embed_dim % num_heads:
            raise OptionError(f"num_heads must divide embed_dim, got {num_heads} and {embed_dim}")
        self.embed_dim, self.num_heads, self.kdim, self.vdim = embed_dim, num_heads, kdim, vdim
        random = np.random.default_rng(whole_number("seed", seed, 0))
        self.parameters: dict[str, Array] = {}
        for name, size in {"q": embed_dim, "k": kdim, "v": vdim, "o": embed_dim}.items():
            self.parameters[f"W_{name}"] = glorot(random, embed_dim, size, dtype)
            if as_bool("bias", bias):
                self.parameters[f"b_{name}"] = np.zeros(embed_dim, dtype)

    def __call__(
        self,
        query: ArrayLike,
        key: ArrayLike,
        value: ArrayLike,
        *,
        need_weights: bool = False,
        average_attn_weights: bool = True,
        attn_mask: ArrayLike | None = None,
        is_causal: bool = False,
        valid_lens: ArrayLike | None = None,
    ) -> Any:
        """Attend with all heads: queries (..., L, E), keys (..., S, kdim), values (..., S, vdim).

        Return the output (..., L, E), or with ``need_weights`` the output and the weights
        (..., L, S); without ``average_attn_weights`` these are of each head, (..., H, L, S). Masks
        and errors are those of ``attention``; a mask may be for each head, too: (H, L, S) of one
        item, (..., H, L, S) of several, and so (1, H, L, S) for all of them.
        """
        masks: Any = {"attn_mask": attn_mask, "is_causal": is_causal, "valid_lens": valid_lens}
        if as_bool("need_weights", need_weights):
            output, weights, _ = self.forward(query, key, value, **masks)
            return output, weights.mean(-3) if average_attn_weights else weights
        _, heads, masks = self._prepare(query, key, value, **masks)
        return self._linear("o", _join(attention(*heads, **masks)))

    def forward(
        self,
        query: ArrayLike,
        key: ArrayLike,
        value: ArrayLike,
        *,
        attn_mask: ArrayLike | None = None,
        is_causal: bool = False,
        valid_lens: ArrayLike | None = None,
    ) -> tuple[Array, Array, AttentionBackward]:
        """Attend with all heads, and return the backward function too.

        Return the output (..., L, E), the weights (..., H, L, S) of each head, and a function from
        the gradient of a loss for the output to its ``AttentionGradients``. That of x in
        ``heads(x, x, x)`` is the sum of the first three. Errors are those of ``attention``.
        """
        inputs, heads, masks = self._prepare(query, key, value, attn_mask, valid_lens, is_causal)
        pooled, weights, inner = attention_forward(*heads, **masks)
        joined = _join(pooled)
        output = self._linear("o", joined)

        def backward(d_output: ArrayLike) -> AttentionGradients:
            p, d = self.parameters, {}
            d_output = as_gradient("d_output", d_output, output)
            d_joined, d["W_o"], d["b_o"] = linear_backward(d_output, joined, p["W_o"])
            d_inputs, d_heads = [], inner(_split(d_joined, self.num_heads))
            for n, x, d_head in zip("qkv", inputs, d_heads[:3], strict=True):
                d_x, d[f"W_{n}"], d[f"b_{n}"] = linear_backward(_join(d_head), x, p[f"W_{n}"])
                d_inputs.append(d_x)
            d_query, d_key, d_value = d_inputs
            return AttentionGradients(d_query, d_key, d_value, {name: d[name] for name in p})

        return output, weights, backward

    def with_parameters(self, parameters: Mapping[str, ArrayLike]) -> Self:
        """Return a copy with some parameters replaced.

        It raises an OptionError for a name that is not among ``parameters``, and a ShapeError for
        an array that has not the shape of the parameter, or is not finite.
        """
        changed = dict(self.parameters)
        for name, given in parameters.items():
            if name not in changed:
                raise OptionError(f"no parameter {quoted(name)}; there are {', '.join(changed)}")
            (array,) = as_floats(**{name: given})
            if array.shape != changed[name].shape:
                raise ShapeError(f"{name} must have shape {changed[name].shape}, got {array.shape}")
            require_finite(array, **{name: array})
            changed[name] = array
        other = copy(self)
        other.parameters = changed
        return other

    @classmethod
    def from_torch(cls, module: Any) -> Self:
        """Return the heads of a ``torch.nn.MultiheadAttention``, which compute the same numbers.

        Only the weights are read. Batch axes come first, whatever ``batch_first`` says, and there
        is no dropout. In a bool mask True means attend; in torch's module it means the opposite. It
        raises an ArgumentTypeError if this is no such module, and an OptionError if it has
        ``add_bias_kv`` or ``add_zero_attn``.
        """
        if not hasattr(module, "in_proj_weight") or not hasattr(module, "out_proj"):
            kind = type(module).__name__
            raise ArgumentTypeError(f"module must be a torch.nn.MultiheadAttention, got {kind}")
        if module.bias_k is not None or module.bias_v is not None or module.add_zero_attn:
            what = "module has add_bias_kv or add_zero_attn, which MultiHeadAttention has not"
            raise OptionError(f"{what}; use a module without them")
        # torch keeps one matrix for all three if their sizes are equal, else three.
        weights = [module.q_proj_weight, module.k_proj_weight, module.v_proj_weight]
        if module.in_proj_weight is not None:
            weights = module.in_proj_weight.chunk(3)
        tensors = dict(zip(("W_q", "W_k", "W_v"), weights, strict=True))
        tensors["W_o"] = module.out_proj.weight
        bias = module.in_proj_bias is not None
        if bias:
            tensors |= zip(("b_q", "b_k", "b_v"), module.in_proj_bias.chunk(3), strict=True)
            tensors["b_o"] = module.out_proj.bias
        sizes = {"kdim": module.kdim, "vdim": module.vdim}
        heads = cls(module.embed_dim, module.num_heads, bias=bias, **sizes)
        # Copies, because the module may be trained further.
        copies = {name: np.array(one.detach().cpu().numpy()) for name, one in tensors.items()}
        return heads.with_parameters(copies)

    def _prepare(
        self, query: Any, key: Any, value: Any, attn_mask: Any, valid_lens: Any, is_causal: bool
    ) -> tuple[tuple[Array, ...], list[Array], dict[str, Any]]:
        """Return the inputs as arrays, their heads (..., H, N, E / H), and masks for these."""
        inputs, heads = as_floats(query=query, key=key, value=value), list[Array]()
        sizes = {"query": self.embed_dim, "key": self.kdim, "value": self.vdim}
        for (name, size), x in zip(sizes.items(), inputs, strict=True):
            if x.ndim < 2 or x.shape[-1] != size:
                rows = "L" if name == "query" else "S"
                raise ShapeError(f"{name} must have shape (..., {rows}, {size}), got {x.shape}")
            heads.append(_split(self._linear(name[0], x), self.num_heads))
            require_finite(heads[-1], **{name: x})
        axes = max(x.ndim for x in inputs[:2])  # the scores (..., H, L, S) have one more
        mask = None if attn_mask is None else as_array("attn_mask", attn_mask)
        if mask is not None and 2 < mask.ndim <= axes:  # of items, not of heads
            mask = mask[..., None, :, :]
        lengths = None if valid_lens is None else as_array("valid_lens", valid_lens)
        if lengths is not None:
            lengths = lengths[..., None, :] if lengths.ndim == axes - 1 else lengths[..., None]
        masks = {"attn_mask": mask, "valid_lens": lengths, "is_causal": is_causal}
        return inputs, heads, masks

    def _linear(self, name: str, x: Array) -> Array:
        return linear(x, self.parameters[f"W_{name}"], self.parameters.get(f"b_{name}"))


def _split(x: Array, heads: int) -> Array:
    """Split (..., N, E) into heads (..., H, N, E / H)."""
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def _join(x: Array) -> Array:
    """Join the heads (..., H, N, E / H) to (..., N, E)."""
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])
