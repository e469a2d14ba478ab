"""The GRU against its formula in plain loops, its gradients, and the reading of padded texts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from fuzzydict.arrays import Array
from fuzzydict.errors import ShapeError
from fuzzydict.recurrent import GRU, BidirectionalGRU
from tests.gradients import check_gradients


def _random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def slow_step(cell: GRU, x: list[float], state: list[float]) -> list[float]:
    """Step one example by the formulas of Bahdanau et al. 2015, appendix A.1.1."""
    w, u_gates, u, b = (cell.parameters[n].tolist() for n in ("W", "U_gates", "U", "b"))
    size = len(state)

    def times(row: list[float], vector: list[float]) -> float:
        return sum(a * v for a, v in zip(row, vector, strict=True))

    def gate(i: int) -> float:
        return 1 / (1 + math.exp(-times(w[i], x) - times(u_gates[i], state) - b[i]))

    z, r = [gate(i) for i in range(size)], [gate(size + i) for i in range(size)]
    kept = [r[i] * state[i] for i in range(size)]
    fresh = [
        math.tanh(times(w[2 * size + i], x) + times(u[i], kept) + b[2 * size + i])
        for i in range(size)
    ]
    return [(1 - z[i]) * state[i] + z[i] * fresh[i] for i in range(size)]


def _cell() -> GRU:
    cell = GRU(input_size=3, state_size=4)
    cell.parameters["b"][...] = _random(12, seed=5)
    return cell


def test_a_sequence_is_a_loop_over_the_formula() -> None:
    cell, x, state = _cell(), _random(2, 5, 3), _random(2, 4)
    states, _ = cell.forward(x, state)
    for b in range(2):
        slow = state[b].tolist()
        for t in range(5):
            slow = slow_step(cell, x[b, t].tolist(), slow)
            np.testing.assert_allclose(states[b, t], slow)


def test_a_sequence_is_a_loop_over_steps() -> None:
    cell, x = _cell(), _random(2, 5, 3)
    states, _ = cell.forward(x)
    state: Array = np.zeros((2, 4))
    for t in range(5):
        state, _ = cell.step(x[:, t], state)
    np.testing.assert_allclose(states[:, -1], state)


@pytest.mark.parametrize("method", ["step", "forward"])
def test_the_gradients_of_a_gru_agree_with_differences(method: str) -> None:
    cell, x, state = _cell(), _random(2, 5, 3), _random(2, 4)
    x = x[:, 0] if method == "step" else x
    run = getattr(cell, method)
    new, backward = run(x, state)
    direction = _random(*new.shape, seed=1)

    def loss(at: Mapping[str, Array]) -> float:
        for name, parameter in cell.parameters.items():
            parameter[...] = at[name]
        return float((run(at["x"], at["state"])[0] * direction).sum())

    d = backward(direction)
    at = {"x": x, "state": state, **{n: p.copy() for n, p in cell.parameters.items()}}
    check_gradients(loss, at, {"x": d.x, "state": d.state, **d.parameters})


def test_the_gradients_of_both_directions_agree_with_differences() -> None:
    encoder, x, lengths = BidirectionalGRU(3, 4), _random(3, 5, 3), np.array([5, 1, 3])
    states, backward = encoder.forward(x, lengths)
    direction = _random(*states.shape, seed=1)

    def loss(at: Mapping[str, Array]) -> float:
        for name, parameter in encoder.parameters.items():
            parameter[...] = at[name]
        return float((encoder.forward(at["x"], lengths)[0] * direction).sum())

    d_x, gradients = backward(direction)
    at = {"x": x, **{n: p.copy() for n, p in encoder.parameters.items()}}
    check_gradients(loss, at, {"x": d_x, **gradients})


def test_reading_back_is_reading_the_reversed_text() -> None:
    encoder, x = BidirectionalGRU(3, 4), _random(1, 5, 3)
    states, _ = encoder.forward(x, np.array([5]))
    np.testing.assert_allclose(states[..., :4], encoder.ahead.forward(x)[0])
    np.testing.assert_allclose(states[..., 4:], encoder.behind.forward(x[:, ::-1])[0][:, ::-1])


def test_padding_changes_nothing_before_it() -> None:
    encoder, x, lengths = BidirectionalGRU(3, 4), _random(3, 5, 3), np.array([5, 1, 3])
    states, _ = encoder.forward(x, lengths)
    for row, length in enumerate(lengths):
        alone, _ = encoder.forward(x[row : row + 1, :length], lengths[row : row + 1])
        np.testing.assert_allclose(states[row, :length], alone[0])


def test_the_first_parameters_follow_from_the_seed() -> None:
    one, same, other = (GRU(3, 4, seed=seed).parameters["W"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


def test_large_numbers_open_the_gates_without_a_warning() -> None:
    states, _ = _cell().forward(np.array([[[1e30, -1e30, 1e30]]]))
    assert np.isfinite(states).all()


def test_an_input_of_another_size_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"E = 3, got \(2, 5\)"):
        _cell().step(np.ones((2, 5)), np.ones((2, 4)))
