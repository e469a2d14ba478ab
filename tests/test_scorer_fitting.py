"""A scorer's own parameters are learned, wherever they start, from keys and from values."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzydict.arrays import Array
from fuzzydict.descent import Settings
from fuzzydict.scorer_fitting import fit_scorer, fit_scorer_pooling
from fuzzydict.scorers import Additive, Bilinear, Boxcar, Gaussian, Triangular

PAIRS = np.stack([np.arange(30)] * 2, axis=1)


def turned(count: int = 30, size: int = 6) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    keys = random.normal(0, 1, (count, size))
    return keys @ np.linalg.qr(random.normal(0, 1, (size, size)))[0], keys


def test_the_loss_falls_and_is_that_of_the_softmax() -> None:
    queries, keys = turned()
    scorer = Bilinear(np.eye(6))
    settings = Settings(epochs=100, patience=100, learning_rate=0.1, validation=0)
    fitted = fit_scorer(scorer, queries, keys, PAIRS, 1.0, settings)
    scores = fitted.scorer(queries, keys)
    own = scores[np.arange(30), np.arange(30)]
    loss = (np.log(np.exp(scores).sum(axis=1)) - own).mean()
    assert fitted.history[-1].training < 0.5 * fitted.history[0].training
    assert loss < 0.5 * fitted.history[0].training


def test_of_several_right_keys_one_is_enough() -> None:
    queries, keys = turned()
    both = np.concatenate([PAIRS, np.stack([np.arange(30), (np.arange(30) + 1) % 30], axis=1)])
    settings = Settings(epochs=100, patience=100, learning_rate=0.1, validation=0)
    fitted = fit_scorer(Bilinear(np.eye(6)), queries, keys, both, 1.0, settings)
    best = fitted.scorer(queries, keys).argmax(axis=1)
    assert np.isin(best - np.arange(30), [0, 1, -29]).mean() > 0.7


@pytest.mark.parametrize("kind", [Gaussian, Triangular, Boxcar])
def test_a_width_is_found_from_far_too_wide_and_far_too_narrow(kind: type[Gaussian]) -> None:
    x = np.linspace(0, 1, 40)[:, None]
    y = np.sin(12 * x)
    noisy = y + np.random.default_rng(0).normal(0, 0.5, y.shape)
    found = [
        fit_scorer_pooling(kind(width), x[::2], x, noisy, y[::2], 1.0, Settings()).scorer
        for width in (1e-3, 1e3)
    ]
    for scorer in found:
        assert 0.005 < float(scorer.parameters["width"]) < 0.2


def test_only_the_parameters_that_a_scorer_has_are_learned() -> None:
    queries, keys = turned()
    fitted = fit_scorer(Additive(w=np.ones(6)), queries, keys, PAIRS, 1.0, Settings())
    assert list(fitted.scorer.parameters) == ["w"]


def test_of_very_many_keys_some_are_enough() -> None:
    random = np.random.default_rng(0)
    keys = random.normal(0, 1, (6000, 4))
    pairs = np.stack([np.arange(50)] * 2, axis=1)
    queries = np.roll(keys[:50], 1, axis=1)
    settings = Settings(epochs=60, patience=60, learning_rate=0.1, validation=0)
    fitted = fit_scorer(Bilinear(np.eye(4)), queries, keys, pairs, 1.0, settings)
    assert fitted.history[-1].training < fitted.history[0].training
