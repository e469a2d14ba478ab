"""Networks that read a sequence step by step and carry a state along: the GRU, one or two ways.

Axes, beside those of ``arrays``: B a batch, T steps in time, D the size of a state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fuzzydict.arrays import Array
from fuzzydict.errors import ShapeError
from fuzzydict.linear import glorot, linear, linear_backward

__all__ = [
    "GRU",
    "BidirectionalGRU",
    "GRUGradients",
    "Integers",
    "Seed",
    "add_to",
    "prefixed",
]

Integers: TypeAlias = NDArray[np.integer[Any]]
#: A number, or a generator that several parts draw from in turn.
Seed: TypeAlias = int | np.random.Generator


class GRUGradients(NamedTuple):
    """Gradients of a loss, each shaped like what it belongs to."""

    x: Array  # (B, E) of a step, (B, T, E) of a sequence
    state: Array  # (B, D), the state before
    parameters: dict[str, Array]


GRUBackward: TypeAlias = Callable[[Array], GRUGradients]
#: From the gradient for a new state to those for the projected input (B, 3 D), state, parameters.
_StepBackward: TypeAlias = Callable[[Array], tuple[Array, Array, dict[str, Array]]]


class GRU:
    """A state that is rewritten in part at each step (Bahdanau et al. 2015, appendix A.1.1).

    From an input x and the state s before, two gates open between 0 and 1: z says how much of the
    state is new, r which of the old goes into it::

        z = sigmoid(W_z x + U_z s)    r = sigmoid(W_r x + U_r s)
        s' = (1 - z) s + z tanh(W x + U (r s))          (each with a bias)

    Args:
        input_size: E, the size of an input.
        state_size: D, the size of the state.
        dtype: Of the parameters.
        seed: Of the first parameters, random.

    Attributes:
        parameters: ``W`` (3 D, E) and ``b`` (3 D,) for z, r and the new state in this order,
            ``U_gates`` (2 D, D) for z and r, and ``U`` (D, D).

    Example:
        >>> states, backward = GRU(input_size=3, state_size=4).forward(np.ones((2, 5, 3)))
        >>> states.shape, backward(np.ones_like(states)).x.shape
        ((2, 5, 4), (2, 5, 3))
    """

    def __init__(
        self, input_size: int, state_size: int, *, dtype: DTypeLike = np.float64, seed: Seed = 0
    ) -> None:
        random = np.random.default_rng(seed)
        self.state_size = size = state_size
        self.parameters: dict[str, Array] = {
            "W": glorot(random, 3 * size, input_size, dtype),
            "U_gates": glorot(random, 2 * size, size, dtype),
            "U": glorot(random, size, size, dtype),
            "b": np.zeros(3 * size, dtype),
        }

    def step(self, x: Array, state: Array) -> tuple[Array, GRUBackward]:
        """Read one input x (B, E) in a state (B, D).

        Returns:
            The new state (B, D), and a function from the gradient for it to its ``GRUGradients``.

        Raises:
            ShapeError: The input does not have the size that the parameters take.
        """
        new, inner = self._step(self._project(x), state)

        def backward(d_new: Array) -> GRUGradients:
            d_projected, d_state, gradients = inner(d_new)
            d_x, gradients["W"], gradients["b"] = self._project_backward(d_projected, x)
            return GRUGradients(d_x, d_state, gradients)

        return new, backward

    def forward(self, x: Array, state: Array | None = None) -> tuple[Array, GRUBackward]:
        """Read a sequence x (B, T, E), from a state (B, D), or from zeros.

        Returns:
            The state after each step, (B, T, D), and a function from the gradient for all of them
            to its ``GRUGradients``.

        Raises:
            ShapeError: The input does not have the size that the parameters take.
        """
        projected = self._project(x)  # (B, T, 3 D): no state is needed for it, so all at once
        if state is None:
            state = np.zeros((len(x), self.state_size), projected.dtype)
        states = np.empty((*x.shape[:2], self.state_size), projected.dtype)
        steps: list[_StepBackward] = []
        for t in range(x.shape[1]):
            state, step_backward = self._step(projected[:, t], state)
            states[:, t] = state
            steps.append(step_backward)

        def backward(d_states: Array) -> GRUGradients:
            d_projected, d_state = np.empty_like(projected), np.zeros_like(states[:, 0])
            gradients: dict[str, Array] = {}
            for t in reversed(range(len(steps))):
                d_projected[:, t], d_state, more = steps[t](d_states[:, t] + d_state)
                add_to(gradients, more)
            d_x, gradients["W"], gradients["b"] = self._project_backward(d_projected, x)
            return GRUGradients(d_x, d_state, gradients)

        return states, backward

    def _project(self, x: Array) -> Array:
        weight = self.parameters["W"]
        if x.shape[-1] != weight.shape[1]:
            raise ShapeError(f"x must have the last axis E = {weight.shape[1]}, got {x.shape}")
        return linear(x, weight, self.parameters["b"])

    def _project_backward(self, d_projected: Array, x: Array) -> tuple[Array, Array, Array]:
        return linear_backward(d_projected, x, self.parameters["W"])

    def _step(self, projected: Array, state: Array) -> tuple[Array, _StepBackward]:
        """Step with the input's part of the sums, (B, 3 D), already there."""
        u_gates, u, size = self.parameters["U_gates"], self.parameters["U"], self.state_size
        gates = _sigmoid(projected[:, : 2 * size] + linear(state, u_gates))  # (B, 2 D)
        z, r = gates[:, :size], gates[:, size:]
        kept = r * state
        fresh = np.tanh(projected[:, 2 * size :] + linear(kept, u))  # (B, D)

        def backward(d_new: Array) -> tuple[Array, Array, dict[str, Array]]:
            d_fresh = d_new * z * (1 - fresh * fresh)
            d_kept, d_u, _ = linear_backward(d_fresh, kept, u)
            d_gates = np.concatenate([d_new * (fresh - state), d_kept * state], -1)
            d_gates *= gates * (1 - gates)
            d_state, d_u_gates, _ = linear_backward(d_gates, state, u_gates)
            d_state += d_new * (1 - z) + d_kept * r
            d_projected = np.concatenate([d_gates, d_fresh], -1)
            return d_projected, d_state, {"U_gates": d_u_gates, "U": d_u}

        return state + z * (fresh - state), backward


class BidirectionalGRU:
    """Two GRUs, one for each direction: a step's state knows what comes before and after it.

    This is the encoder of Bahdanau et al. 2015, section 3.2. Arguments are those of ``GRU``.

    Attributes:
        parameters: Those of the two, as ``ahead.W`` and ``behind.W`` and so on.

    Example:
        >>> encoder = BidirectionalGRU(input_size=3, state_size=4)
        >>> states, _ = encoder.forward(np.ones((2, 5, 3)), lengths=np.array([5, 2]))
        >>> states.shape
        (2, 5, 8)
    """

    def __init__(
        self, input_size: int, state_size: int, *, dtype: DTypeLike = np.float64, seed: Seed = 0
    ) -> None:
        random = np.random.default_rng(seed)
        self.ahead = GRU(input_size, state_size, dtype=dtype, seed=random)
        self.behind = GRU(input_size, state_size, dtype=dtype, seed=random)
        self.parameters = _both(self.ahead.parameters, self.behind.parameters)

    def forward(
        self, x: Array, lengths: Integers
    ) -> tuple[Array, Callable[[Array], tuple[Array, dict[str, Array]]]]:
        """Read sequences x (B, T, E), of which each has its length (B,); what follows is padding.

        Returns:
            The states (B, T, 2 D), those of the reading ahead first, and a function from their
            gradient to that for x and those for the parameters. A state before the padding does
            not depend on it; a state of the padding itself means nothing.

        Raises:
            ShapeError: The input does not have the size that the parameters take.
        """
        order = _reversal(lengths, x.shape[1])
        ahead, ahead_backward = self.ahead.forward(x)
        behind, behind_backward = self.behind.forward(_reorder(x, order))
        states = np.concatenate([ahead, _reorder(behind, order)], -1)

        def backward(d_states: Array) -> tuple[Array, dict[str, Array]]:
            d_ahead, d_behind = np.split(d_states, 2, -1)
            one, other = ahead_backward(d_ahead), behind_backward(_reorder(d_behind, order))
            return one.x + _reorder(other.x, order), _both(one.parameters, other.parameters)

        return states, backward


def _both(ahead: Mapping[str, Array], behind: Mapping[str, Array]) -> dict[str, Array]:
    return prefixed("ahead", ahead) | prefixed("behind", behind)


def _reversal(lengths: Integers, steps: int) -> Integers:
    """Return the order (B, T) that turns each sequence around and leaves its padding at the end.

    Its own inverse: so the backward pass needs no other.
    """
    t, last = np.arange(steps), np.asarray(lengths)[:, None] - 1
    return np.where(t <= last, last - t, t)


def _reorder(x: Array, order: Integers) -> Array:
    """Put the steps of x (B, T, E) in the order (B, T)."""
    reordered: Array = np.take_along_axis(x, order[..., None], axis=1)
    return reordered


def _sigmoid(x: Array) -> Array:
    """Return ``1 / (1 + exp(-x))``, by way of tanh, which does not overflow."""
    squashed: Array = 0.5 * np.tanh(0.5 * x) + 0.5
    return squashed


def add_to(total: dict[str, Array], more: Mapping[str, Array]) -> None:
    """Add gradients to those of the same name; one that is new is taken as it is.

    Example:
        >>> total = {"W": np.array([1.0])}
        >>> add_to(total, {"W": np.array([2.0]), "b": np.array([3.0])})
        >>> total
        {'W': array([3.]), 'b': array([3.])}
    """
    for name, gradient in more.items():
        if name in total:
            total[name] += gradient
        else:
            total[name] = gradient


def prefixed(prefix: str, named: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same arrays under longer names.

    Example:
        >>> prefixed("cell", {"b": np.zeros(2)})
        {'cell.b': array([0., 0.])}
    """
    return {f"{prefix}.{name}": array for name, array in named.items()}
