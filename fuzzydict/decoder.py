"""A decoder whose every step attends to the encoder's states: the mechanism of Bahdanau et al.

The encoder does not press a sentence into one vector: it leaves a state for each input symbol, and
the decoder, before it writes a symbol, looks for the states that it needs now::

    c_t = sum_i a(s_{t-1}, h_i) h_i        a = softmax_i w' tanh(W_q s_{t-1} + W_k h_i)
    s_t = GRU([y_{t-1}; c_t], s_{t-1})     y_t ~ softmax(W_o [s_t; c_t] + b_o)

Axes, beside those of ``arrays``: B a batch, S input steps, T output steps, V output symbols, D the
size of a state, A of the scorer's hidden layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from fuzzydict.arrays import Array
from fuzzydict.attention import attention_forward
from fuzzydict.linear import glorot, linear, linear_backward
from fuzzydict.recurrent import GRU, Integers, Seed, add_to, prefixed
from fuzzydict.scorers import Additive

__all__ = ["AttentionDecoder", "Memory", "Step", "StepGradients"]


class Memory(NamedTuple):
    """What the encoder leaves for the decoder to attend to."""

    key: Array  # (B, S, A), the states projected by W_k
    value: Array  # (B, S, 2 D), the states
    lengths: Integers  # (B,), how many of the S are no padding


class StepGradients(NamedTuple):
    """Gradients of a loss, through one step."""

    state: Array  # (B, D), the state before
    key: Array  # (B, S, A)
    value: Array  # (B, S, 2 D)
    parameters: dict[str, Array]


class Step(NamedTuple):
    """What one step makes."""

    features: Array  # (B, 3 D): the new state, then the context
    weights: Array  # (B, S): how much of each input step is in the context
    backward: Callable[[Array], StepGradients]  # from the gradient for the features


#: From the gradient for the logits (B, T, V) to that for the states (B, S, 2 D) and parameters.
DecoderBackward: TypeAlias = Callable[[Array], tuple[Array, dict[str, Array]]]


class AttentionDecoder:
    """A GRU that attends to the encoder's states with the scorer ``Additive`` (appendix A.2.2).

    Args:
        symbols: V, how many output symbols there are. They come and go as one-hot vectors.
        state_size: D; the encoder's states are of size 2 D.
        attention_size: A, the size of the hidden layer in which state and input meet.
        dtype: Of the parameters.
        seed: Of the first parameters, random.

    Attributes:
        parameters: ``W_k`` (A, 2 D), ``W_q`` (A, D) and ``w`` (A,) of the scorer; ``W_s`` (D, D)
            and ``b_s`` (D,) of the first state; ``W_o`` (V, 3 D) and ``b_o`` (V,) of the logits;
            those of the GRU, as ``cell.W`` and so on.

    Example:
        >>> decoder = AttentionDecoder(symbols=7, state_size=4, attention_size=5)
        >>> states, previous = np.ones((2, 6, 8)), np.eye(7)[[[0, 1, 2], [0, 3, 3]]]
        >>> logits, backward = decoder.forward(states, np.array([6, 4]), previous)
        >>> logits.shape
        (2, 3, 7)
    """

    def __init__(
        self,
        symbols: int,
        state_size: int,
        attention_size: int,
        *,
        dtype: DTypeLike = np.float64,
        seed: Seed = 0,
    ) -> None:
        random = np.random.default_rng(seed)
        self.state_size = size = state_size
        self.cell = GRU(symbols + 2 * size, size, dtype=dtype, seed=random)
        self.parameters: dict[str, Array] = {
            "W_k": glorot(random, attention_size, 2 * size, dtype),
            "W_q": glorot(random, attention_size, size, dtype),
            "w": glorot(random, 1, attention_size, dtype)[0],
            "W_s": glorot(random, size, size, dtype),
            "b_s": np.zeros(size, dtype),
            "W_o": glorot(random, symbols, 3 * size, dtype),
            "b_o": np.zeros(symbols, dtype),
            **prefixed("cell", self.cell.parameters),
        }

    def remember(self, states: Array, lengths: Integers) -> Memory:
        """Prepare the encoder's states (B, S, 2 D), of which each row has its length (B,).

        The keys are the same at each step, so W_k is applied once and not in the scorer.
        """
        return Memory(linear(states, self.parameters["W_k"]), states, lengths)

    def start(self, states: Array) -> Array:
        """Return the first state (B, D), from what the encoder, reading back, ended with."""
        ended = states[:, 0, self.state_size :]
        first: Array = np.tanh(linear(ended, self.parameters["W_s"], self.parameters["b_s"]))
        return first

    def step(self, previous: Array, state: Array, memory: Memory) -> Step:
        """Attend, then move on from a state (B, D), given the symbol before, one-hot (B, V)."""
        scorer = Additive(W_q=self.parameters["W_q"], w=self.parameters["w"])
        key, value, lengths = memory
        pooled, weights, attention_backward = attention_forward(
            state[:, None], key, value, scorer=scorer, valid_lens=lengths
        )
        context = pooled[:, 0]  # (B, 2 D)
        new, cell_backward = self.cell.step(np.concatenate([previous, context], -1), state)

        def backward(d_features: Array) -> StepGradients:
            cell = cell_backward(d_features[:, : self.state_size])
            d_context = d_features[:, self.state_size :] + cell.x[:, previous.shape[1] :]
            d = attention_backward(d_context[:, None])
            gradients = d.parameters | prefixed("cell", cell.parameters)
            return StepGradients(d.query[:, 0] + cell.state, d.key, d.value, gradients)

        return Step(np.concatenate([new, context], -1), weights[:, 0], backward)

    def readout(self, features: Array) -> Array:
        """Return the logits (..., V) of the next symbol, from features (..., 3 D)."""
        return linear(features, self.parameters["W_o"], self.parameters["b_o"])

    def forward(
        self, states: Array, lengths: Integers, previous: Array
    ) -> tuple[Array, DecoderBackward]:
        """Decode, told at each step what the symbol before should have been.

        Args:
            states: The encoder's states (B, S, 2 D).
            lengths: How many of them are no padding, (B,).
            previous: The symbol before each output step, one-hot (B, T, V).

        Returns:
            The logits (B, T, V), and the way back.

        Raises:
            ShapeError: The shapes do not fit together, or numbers are not finite.
        """
        memory, state = self.remember(states, lengths), self.start(states)
        first, steps = state, []
        for t in range(previous.shape[1]):
            steps.append(self.step(previous[:, t], state, memory))
            state = steps[-1].features[:, : self.state_size]
        features = np.stack([step.features for step in steps], 1)  # (B, T, 3 D)

        def backward(d_logits: Array) -> tuple[Array, dict[str, Array]]:
            d_features, *output = linear_backward(d_logits, features, self.parameters["W_o"])
            d = self._steps_backward(d_features, steps)
            gradients = d.parameters | dict(zip(("W_o", "b_o"), output, strict=True))
            d_states, gradients["W_k"], _ = linear_backward(d.key, states, self.parameters["W_k"])
            d_states += d.value
            d_sum, ended = d.state * (1 - first * first), states[:, 0, self.state_size :]
            d_ended, gradients["W_s"], gradients["b_s"] = linear_backward(
                d_sum, ended, self.parameters["W_s"]
            )
            d_states[:, 0, self.state_size :] += d_ended
            return d_states, gradients

        return self.readout(features), backward

    def _steps_backward(self, d_features: Array, steps: list[Step]) -> StepGradients:
        """Go back through all steps, from the gradient for their features (B, T, 3 D)."""
        total: dict[str, Array] = {}
        d_state = np.zeros_like(d_features[:, 0, : self.state_size])
        for t in reversed(range(len(steps))):
            d_features[:, t, : self.state_size] += d_state
            d_state, d_key, d_value, gradients = steps[t].backward(d_features[:, t])
            add_to(total, {"key": d_key, "value": d_value, **gradients})
        return StepGradients(d_state, total.pop("key"), total.pop("value"), total)
