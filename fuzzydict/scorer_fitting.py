"""Examples -> a scorer's own parameters: a matrix, a hidden layer, the width of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.arrays import Array
from fuzzydict.descent import Epoch, Gradients, Settings, descend
from fuzzydict.kernels import Kernel, finite_scores, squared_distances
from fuzzydict.normalizers import softmax_forward
from fuzzydict.scorers import Scorer

__all__ = ["FittedScorer", "fit_scorer", "fit_scorer_pooling"]

_ROWS = 128  # queries scored at a time
_KEYS = 4096  # that a query is told apart from, of more keys
_TRIED = 24  # widths of a kernel, before the first step
_LEAST = 1e-4  # of a probability, so that a key beyond a kernel's width costs no infinity

#: From scores (L, S) and the rows of queries to the mean loss and its gradient by the scores.
_Loss = Callable[[Array, NDArray[np.intp]], tuple[float, Array]]


class FittedScorer(NamedTuple):
    """A scorer, and how the losses went, from before the first step on."""

    scorer: Scorer
    history: tuple[Epoch, ...]


def fit_scorer(
    scorer: Scorer,
    queries: Array,
    keys: Array,
    pairs: NDArray[np.intp],
    temperature: float,
    settings: Settings,
) -> FittedScorer:
    """Learn the parameters of a scorer so that queries find their keys.

    The loss is the mean of ``-log sum of the right keys' probabilities``, the softmax of the
    scores over the keys, of which 4,096 are drawn for good where there are more. Parameters
    start at what they are and are pulled to it; a kernel's width starts at the best of several.

    Args:
        scorer: one with parameters.
        queries: (L, E).
        keys: (S, E).
        pairs: (n, 2), the row of a query and of a key that is right for it.
        temperature: what scores are divided by.
        settings: how to learn.

    Example:
        >>> from fuzzydict.scorers import Bilinear
        >>> turned = np.roll(np.eye(4), 1, axis=0)  # the queries of another space
        >>> pairs = np.stack([np.arange(4)] * 2, axis=1)
        >>> fitted = fit_scorer(Bilinear(np.eye(4)), turned, np.eye(4), pairs, 0.2, Settings())
        >>> fitted.scorer(turned, np.eye(4)).argmax(axis=1).tolist()
        [0, 1, 2, 3]
    """
    random = np.random.default_rng(settings.seed)
    right = np.unique(pairs[:, 1])
    others = np.setdiff1d(np.arange(len(keys)), right)
    drawn = random.permutation(others)[: max(_KEYS - len(right), 0)]
    shown = np.union1d(random.permutation(right)[:_KEYS], drawn)
    kept = pairs[np.isin(pairs[:, 1], shown)]
    asked, rows = np.unique(kept[:, 0], return_inverse=True)
    columns = np.searchsorted(shown, kept[:, 1])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(len(asked) + 1))

    def loss(scores: Array, batch: NDArray[np.intp]) -> tuple[float, Array]:
        is_right = np.zeros(scores.shape, np.bool_)
        for row, query in zip(is_right, batch.tolist(), strict=True):
            row[columns[order[starts[query] : starts[query + 1]]]] = True
        return _surprise(scores, is_right, temperature)

    return _fit(scorer, queries[asked], keys[shown], loss, settings)


def fit_scorer_pooling(
    scorer: Scorer,
    queries: Array,
    keys: Array,
    values: Array,
    targets: Array,
    temperature: float,
    settings: Settings,
) -> FittedScorer:
    """Learn the parameters of a scorer so that queries (L, E) pool their targets (L, Ev).

    The loss is the mean squared error, in units of a third of the targets' spread.

    Example:
        >>> from fuzzydict.scorers import Gaussian
        >>> x = np.linspace(0, 1, 20)[:, None]
        >>> fitted = fit_scorer_pooling(Gaussian(5.0), x, x, x, x, 1.0, Settings())
        >>> bool(fitted.scorer.parameters["width"] < 0.2)
        True
    """
    unit = float(np.std(targets)) / 3 or 1.0

    def loss(scores: Array, batch: NDArray[np.intp]) -> tuple[float, Array]:
        weights, back = softmax_forward(scores / temperature)
        missed = (weights @ values - targets[batch]) / unit
        d_scores, _ = back((missed * (2 / missed.size / unit)) @ values.T)
        return float((missed**2).mean()), d_scores / temperature

    return _fit(scorer, queries, keys, loss, settings)


def _surprise(
    scores: Array, is_right: NDArray[np.bool_], temperature: float
) -> tuple[float, Array]:
    """Return the loss of `fit_scorer`, and its gradient by the scores (L, S)."""
    weights, back = softmax_forward(scores / temperature)
    found = np.maximum((weights * is_right).sum(axis=1), _LEAST)  # (L,)
    d_scores, _ = back(-(is_right / found[:, None]) / len(scores))
    return float(-np.log(found).mean()), d_scores / temperature


class _Parts:
    """A scorer's parameters as steps from where they start, in parts of their usual size.

    A width, or another single number, goes by its logarithm, so that it stays above zero.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer, self._first = scorer, dict(scorer.parameters)
        self.steps = {name: np.zeros(p.size, np.float64) for name, p in self._first.items()}
        self._units = {
            name: (float(np.sqrt((p**2).mean())) or p.shape[-1] ** -0.5) * p.size**0.5
            for name, p in self._first.items()
            if p.ndim
        }

    def made(self) -> Scorer:
        """Return the scorer of these steps."""
        return self.scorer.with_parameters(
            {
                name: first + self._units[name] * self.steps[name].reshape(first.shape)
                if first.ndim
                else first * np.exp(self.steps[name][0])
                for name, first in self._first.items()
            }
        )

    def gradients(self, found: Gradients, made: Scorer, pull: float) -> Gradients:
        """Return the gradients by the steps, from those by the parameters."""
        return {
            name: np.ravel(found[name])
            * (self._units[name] if first.ndim else made.parameters[name])
            + 2 * pull * self.steps[name]
            for name, first in self._first.items()
        }


def _fit(
    scorer: Scorer, queries: Array, keys: Array, loss: _Loss, settings: Settings
) -> FittedScorer:
    rows = np.arange(len(queries))
    if isinstance(scorer, Kernel):
        scorer = _widened(scorer, queries, keys, loss, settings)
    parts = _Parts(scorer)

    def losses(batch: NDArray[np.intp]) -> tuple[float, Gradients]:
        made = parts.made()
        scores, back = made.forward(queries[batch], keys)
        value, d_scores = loss(finite_scores(scores), batch)
        d_scores = np.where(np.isneginf(scores), 0, d_scores)
        found = back(d_scores).parameters
        return value, parts.gradients(found, made, settings.pull / len(queries))

    def held_out_loss(batch: NDArray[np.intp]) -> float:
        return _mean_loss(parts.made(), queries, keys, loss, batch)

    history = descend(parts.steps, rows, losses, held_out_loss, settings)
    return FittedScorer(parts.made(), history)


def _widened(
    kernel: Kernel, queries: Array, keys: Array, loss: _Loss, settings: Settings
) -> Kernel:
    """Return the kernel of the best width, of several between near and far."""
    random = np.random.default_rng(settings.seed)
    some = random.permutation(len(queries))[:_ROWS]
    distances = np.sqrt(squared_distances(queries[some], keys))
    far = float(distances.max()) or 1.0
    widths = [float(kernel.parameters["width"]), *np.geomspace(far / 50, 2 * far, _TRIED).tolist()]
    made = [kernel.with_parameters({"width": width}) for width in widths]
    best: Kernel = min(made, key=lambda k: _mean_loss(k, queries, keys, loss, some))
    return best


def _mean_loss(
    scorer: Scorer, queries: Array, keys: Array, loss: _Loss, rows: NDArray[np.intp]
) -> float:
    parts = [rows[i : i + _ROWS] for i in range(0, min(len(rows), 8 * _ROWS), _ROWS)]
    losses = [
        loss(finite_scores(scorer(queries[part], keys)), part)[0] * len(part) for part in parts
    ]
    return sum(losses) / max(sum(map(len, parts)), 1)
