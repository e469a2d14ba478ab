"""A numerical check of gradients, in the manner of finite differences along random directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fuzzydict._arrays import Array


def check_gradients(
    loss: Callable[[Mapping[str, Array]], float],
    at: Mapping[str, Array],
    gradients: Mapping[str, Array],
    *,
    step: float = 1e-6,
) -> None:
    """Assert that the loss changes along a random direction of each input as its gradient says."""
    random = np.random.default_rng(7)
    assert set(gradients) == set(at)
    for name, point in at.items():
        assert np.shape(gradients[name]) == np.shape(point), name
        direction = random.standard_normal(np.shape(point))
        ahead = loss({**at, name: point + step * direction})
        behind = loss({**at, name: point - step * direction})
        numeric, analytic = (ahead - behind) / (2 * step), (gradients[name] * direction).sum()
        np.testing.assert_allclose(analytic, numeric, rtol=1e-5, atol=1e-7, err_msg=name)
