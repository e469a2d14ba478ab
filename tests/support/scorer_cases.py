"""Each scorer beside its formula for one query and one key, written out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from fuzzydict._arrays import Array
from fuzzydict.nn.scorers import (
    Additive,
    Bilinear,
    Boxcar,
    Concat,
    Cosine,
    Dot,
    Epanechnikov,
    Gaussian,
    ScaledDot,
    Scorer,
    Triangular,
)

E, A = 3, 5
_random = np.random.default_rng(0)
M = _random.standard_normal((E, E))
W_Q, W_K = _random.standard_normal((2, A, E))
W = _random.standard_normal((A, 2 * E))
V = _random.standard_normal(A)


def _distance(q: Array, k: Array) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(q, k, strict=True)))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _layer(weight: Array, q: Array, k: Array) -> float:
    return float(sum(v * math.tanh(row @ np.r_[q, k]) for v, row in zip(V, weight, strict=True)))


Pair = Callable[[Array, Array], float]
CASES: dict[str, tuple[Scorer, Pair]] = {
    "dot": (Dot(), lambda q, k: sum(q * k)),
    "scaled_dot": (ScaledDot(), lambda q, k: sum(q * k) / math.sqrt(E)),
    "scaled_dot(2)": (ScaledDot(2.0), lambda q, k: 2 * sum(q * k)),
    "cosine": (Cosine(), lambda q, k: sum(q * k) / math.sqrt(sum(q * q) * sum(k * k))),
    "gaussian": (Gaussian(1.5), lambda q, k: -(_distance(q, k) ** 2) / (2 * 1.5**2)),
    "boxcar": (Boxcar(2.0), lambda q, k: _log(_distance(q, k) <= 2)),
    "triangular": (Triangular(2.5), lambda q, k: _log(1 - _distance(q, k) / 2.5)),
    "epanechnikov": (Epanechnikov(2.5), lambda q, k: _log(1 - (_distance(q, k) / 2.5) ** 2)),
    "bilinear": (Bilinear(M), lambda q, k: float(q @ M @ k)),
    "additive": (Additive(W_Q, W_K, V), lambda q, k: _layer(np.hstack([W_Q, W_K]), q, k)),
    "additive sum": (Additive(), lambda q, k: sum(math.tanh(a) for a in q + k)),
    "concat": (Concat(W, V), lambda q, k: _layer(W, q, k)),
}
ALL = pytest.mark.parametrize("name", CASES)


def inputs(*lead: int, seed: int = 1) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    return random.standard_normal((*lead, 4, E)), random.standard_normal((*lead, 6, E))
