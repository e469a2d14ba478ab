"""The weights of a torch module, read without importing torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzydict._arrays import Array
from fuzzydict.errors import ArgumentTypeError, OptionError

__all__ = ["read_torch_heads"]


def read_torch_heads(module: Any) -> dict[str, Array]:
    """Return the parameters of a ``torch.nn.MultiheadAttention``.

    Returns:
        ``W_q`` (E, E), ``W_k`` (E, kdim), ``W_v`` (E, vdim), ``W_o`` (E, E) and, if it has biases,
        ``b_q``, ``b_k``, ``b_v`` and ``b_o`` (E,).

    Raises:
        ArgumentTypeError: The argument is no such module.
        OptionError: The module has ``add_bias_kv`` or ``add_zero_attn``.
    """
    if not hasattr(module, "in_proj_weight") or not hasattr(module, "out_proj"):
        raise ArgumentTypeError(
            f"module must be a torch.nn.MultiheadAttention, got {type(module).__name__}"
        )
    if module.bias_k is not None or module.bias_v is not None or module.add_zero_attn:
        raise OptionError(
            "module attends to keys that nobody gave it (add_bias_kv or add_zero_attn), which "
            "MultiHeadAttention does not do; use a module without them"
        )
    # One matrix of all three if their sizes are equal, three if they are not.
    if module.in_proj_weight is None:
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        weights = [_array(getattr(module, name)) for name in names]
    else:
        weights = list(np.split(_array(module.in_proj_weight), 3))
    parameters = dict(zip(("W_q", "W_k", "W_v"), weights, strict=True))
    parameters["W_o"] = _array(module.out_proj.weight)
    if module.in_proj_bias is not None:
        biases = np.split(_array(module.in_proj_bias), 3)
        parameters |= dict(zip(("b_q", "b_k", "b_v"), biases, strict=True))
        parameters["b_o"] = _array(module.out_proj.bias)
    return parameters


def _array(tensor: Any) -> Array:
    """Return a copy, for the module may be trained further."""
    return np.array(tensor.detach().cpu().numpy())
