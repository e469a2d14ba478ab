"""The decoder that attends: its context, its gradients, the whole model's, and torch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from fuzzydict.arrays import Array
from fuzzydict.decoder import AttentionDecoder
from fuzzydict.recurrent import BidirectionalGRU
from tests.gradients import check_gradients

B, S, T, V, D, A = 3, 5, 4, 6, 4, 3
LENGTHS = np.array([5, 1, 3])


def _random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def _decoder() -> AttentionDecoder:
    decoder = AttentionDecoder(symbols=V, state_size=D, attention_size=A)
    for i, name in enumerate(("b_s", "b_o", "cell.b")):
        decoder.parameters[name][...] = _random(*decoder.parameters[name].shape, seed=i)
    return decoder


def _previous() -> Array:
    """Return one-hot vectors (B, T, V)."""
    one_hot: Array = np.eye(V)[np.random.default_rng(3).integers(V, size=(B, T))]
    return one_hot


def test_the_context_is_the_sum_of_the_formula() -> None:
    decoder, states, state = _decoder(), _random(B, S, 2 * D), _random(B, D, seed=1)
    step = decoder.step(_previous()[:, 0], state, decoder.remember(states, LENGTHS))
    w_q, w_k, w = (decoder.parameters[name] for name in ("W_q", "W_k", "w"))
    for b, length in enumerate(LENGTHS):
        scores = [w @ np.tanh(w_q @ state[b] + w_k @ h) for h in states[b, :length]]
        shares = np.exp(scores) / np.exp(scores).sum()
        context = sum(a * h for a, h in zip(shares, states[b], strict=False))
        np.testing.assert_allclose(step.features[b, D:], context)
        np.testing.assert_allclose(step.weights[b], [*shares, *[0.0] * (S - length)])


def test_the_gradients_agree_with_differences() -> None:
    decoder, states = _decoder(), _random(B, S, 2 * D)
    logits, backward = decoder.forward(states, LENGTHS, _previous())
    direction = _random(*logits.shape, seed=1)

    def loss(at: Mapping[str, Array]) -> float:
        for name, parameter in decoder.parameters.items():
            parameter[...] = at[name]
        return float((decoder.forward(at["states"], LENGTHS, _previous())[0] * direction).sum())

    d_states, gradients = backward(direction)
    at = {"states": states, **{n: p.copy() for n, p in decoder.parameters.items()}}
    check_gradients(loss, at, {"states": d_states, **gradients})


def test_padding_has_no_say_and_no_gradient() -> None:
    decoder, states = _decoder(), _random(B, S, 2 * D)
    logits, backward = decoder.forward(states, LENGTHS, _previous())
    padding = np.arange(S) >= LENGTHS[:, None]
    d_states, _ = backward(np.ones_like(logits))
    assert not d_states[padding].any()
    assert d_states[~padding].all()
    other = np.where(padding[..., None], 100.0, states)
    np.testing.assert_allclose(decoder.forward(other, LENGTHS, _previous())[0], logits)


def torch_logits(torch: Any, p: Mapping[str, Any], x: Any, previous: Any) -> Any:
    """Write encoder and decoder in torch, row by row and without padding: (B, T, V)."""

    def gru(name: str, inputs: Any, state: Any) -> Any:
        w, u_gates, u, b = (p[f"{name}.{part}"] for part in ("W", "U_gates", "U", "b"))
        projected = w @ inputs + b
        z, r = torch.sigmoid(projected[: 2 * D] + u_gates @ state).chunk(2)
        return (1 - z) * state + z * torch.tanh(projected[2 * D :] + u @ (r * state))

    def read(name: str, inputs: Any) -> list[Any]:
        states = [torch.zeros(D, dtype=torch.float64)]
        for vector in inputs:
            states.append(gru(name, vector, states[-1]))
        return states[1:]

    rows = []
    for b, length in enumerate(LENGTHS):
        ahead, behind = read("ahead", x[b, :length]), read("behind", x[b, :length].flip(0))[::-1]
        h = torch.stack([torch.cat(pair) for pair in zip(ahead, behind, strict=True)])
        state = torch.tanh(p["W_s"] @ behind[0] + p["b_s"])
        for vector in previous[b]:
            scores = torch.tanh(h @ p["W_k"].T + p["W_q"] @ state) @ p["w"]
            context = torch.softmax(scores, 0) @ h
            state = gru("cell", torch.cat([vector, context]), state)
            rows.append(p["W_o"] @ torch.cat([state, context]) + p["b_o"])
    return torch.stack(rows).reshape(len(x), -1, V)


def test_torch_gives_the_same_numbers_and_gradients() -> None:
    torch = pytest.importorskip("torch", reason="the comparison with torch needs torch")
    encoder, decoder = BidirectionalGRU(input_size=V, state_size=D), _decoder()
    x, previous = _random(B, S, V), _previous()
    states, encoder_backward = encoder.forward(x, LENGTHS)
    logits, decoder_backward = decoder.forward(states, LENGTHS, previous)
    parameters = {"x": x, **encoder.parameters, **decoder.parameters}
    leaves = {n: torch.tensor(p, requires_grad=True) for n, p in parameters.items()}
    expected = torch_logits(torch, leaves, leaves["x"], torch.tensor(previous))
    np.testing.assert_allclose(logits, expected.detach().numpy())
    direction = _random(*logits.shape, seed=1)
    (expected * torch.tensor(direction)).sum().backward()
    d_states, of_decoder = decoder_backward(direction)
    d_x, of_encoder = encoder_backward(d_states)
    for name, gradient in {"x": d_x, **of_encoder, **of_decoder}.items():
        np.testing.assert_allclose(gradient, leaves[name].grad.numpy(), atol=1e-12, err_msg=name)
