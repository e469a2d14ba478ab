"""Gradient descent: Adam, the settings of a fit, and a loop that stops early."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import Array, positive, require_counts
from fuzzydict.errors import OptionError

__all__ = ["Adam", "Epoch", "NamedGradients", "Settings", "add_identity_penalty", "descend"]

#: Gradients by the names of the parameters, each shaped like its parameter.
NamedGradients: TypeAlias = dict[str, Array]

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # the paper's defaults


class Adam:
    """The optimizer Adam (Kingma and Ba 2015, algorithm 1).

    Args:
        parameters: Arrays by name; `step` changes them in place.
        learning_rate: About how far a number moves in a step. It may be set between steps.
        per_array: Use one step size for all numbers of an array. Steps then follow the direction
            of the mean gradient, so that a projection changes nothing outside the span of its
            examples.

    Raises:
        OptionError: The learning rate is not a finite number above 0.

    Example:
        >>> x = np.array([5.0])
        >>> adam = Adam({"x": x}, learning_rate=0.1)
        >>> for _ in range(300):
        ...     adam.step({"x": 2 * x})  # downhill on x²
        >>> bool(abs(x[0]) < 0.01)
        True
    """

    def __init__(
        self,
        parameters: Mapping[str, Array],
        learning_rate: float = 1e-3,
        *,
        per_array: bool = False,
    ) -> None:
        self.parameters, self.per_array = parameters, per_array
        self.learning_rate = positive("learning_rate", learning_rate)
        self._means = {name: np.zeros_like(p) for name, p in parameters.items()}
        self._squares = {
            name: np.zeros((), p.dtype) if per_array else np.zeros_like(p)
            for name, p in parameters.items()
        }
        self._steps = 0

    def step(self, gradients: Mapping[str, Array]) -> None:
        """Move every parameter against its gradient, which has its shape."""
        self._steps += 1
        # Both running means start at zero; these factors correct the bias.
        rate = self.learning_rate / (1 - _BETA_1**self._steps)
        square_scale = 1 / (1 - _BETA_2**self._steps)
        for name, parameter in self.parameters.items():
            mean, square, gradient = self._means[name], self._squares[name], gradients[name]
            mean += (1 - _BETA_1) * (gradient - mean)
            squared = np.mean(gradient * gradient) if self.per_array else gradient * gradient
            square += (1 - _BETA_2) * (squared - square)
            parameter -= rate * mean / (np.sqrt(square * square_scale) + _EPSILON)


class Epoch(NamedTuple):
    """Mean losses of one pass over the examples; ``held_out`` is NaN if none are held out."""

    training: float
    held_out: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hyper-parameters for learning projections.

    Args:
        scorer: "cosine" or "scaled_dot".
        temperature: Divisor of the scores; None to learn it.
        start_temperature: Initial value of a learned temperature; None for 0.05 (cosine) or 1.
        rank: Learn ``I + A B'`` with A and B (E, rank); None for a whole matrix.
        fixed: Which of "query" and "key" not to learn.
        learn_value: Learn V too, when values are pooled.
        identity_penalty: Weight of the penalty on the squared distance of each matrix from the
            identity. The loss of n examples has ``identity_penalty / n`` times it added.
        learning_rate: About how far a step may turn or stretch a vector, relative to its length.
        epochs: Largest number of passes over the examples.
        patience: Stop after this many passes without a better loss on the held-out examples.
        batch_size: Queries a step; None for a fifth of the examples, at most 256.
        candidates: Number of keys drawn for each step, next to those that are right for a query
            of the batch. If there are no more keys, all are used.
        validation: Share of the queries to hold out. Of fewer than 100, none are.
        seed: Seed of the batches, and of the factors of low rank.
        progress: Called with ``(done, total)`` steps. If it raises, nothing is learned.

    Raises:
        OptionError: A value is out of range.
        ArgumentTypeError: A value is of the wrong type.

    Example:
        >>> Settings(rank=16).epochs
        30
    """

    scorer: str = "cosine"
    temperature: float | None = None
    start_temperature: float | None = None
    rank: int | None = None
    fixed: tuple[str, ...] = ()
    learn_value: bool = False
    identity_penalty: float = 3.0
    learning_rate: float = 0.03
    epochs: int = 30
    patience: int = 3
    batch_size: int | None = None
    candidates: int = 4096
    validation: float = 0.1
    seed: int = 0
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if self.scorer not in ("cosine", "scaled_dot"):
            raise OptionError(f"scorer must be cosine or scaled_dot, got {self.scorer!r}")
        if not set(self.fixed) <= {"query", "key"}:
            raise OptionError(f"fixed: expected 'query' and 'key' at most, got {self.fixed!r}")
        positive("learning_rate", self.learning_rate)
        require_counts(epochs=self.epochs, patience=self.patience, candidates=self.candidates)
        for name in ("rank", "batch_size"):
            if getattr(self, name) is not None:
                require_counts(**{name: getattr(self, name)})
        for name in ("temperature", "start_temperature"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if self.identity_penalty:
            positive("identity_penalty", self.identity_penalty)
        if not 0 <= self.validation <= 0.5:
            raise OptionError(f"validation must be a share from 0 to 0.5, got {self.validation}")

    @property
    def first_temperature(self) -> float:
        """Initial value of a learned temperature."""
        default = 0.05 if self.scorer == "cosine" else 1.0
        return default if self.start_temperature is None else self.start_temperature


_LARGEST = 256  # examples a step, at most
_STEPS = 5  # steps a pass, if there are few examples
_TOO_FEW = 100  # examples: of fewer, the loss on a share says little, and the share is missed


def descend(
    parameters: Mapping[str, Array],
    examples: NDArray[np.intp],
    losses: Callable[[NDArray[np.intp]], tuple[float, NamedGradients]],
    held_out_loss: Callable[[NDArray[np.intp]], float],
    settings: Settings,
) -> tuple[Epoch, ...]:
    """Minimize the loss until it stops falling on the examples held out.

    Args:
        parameters: Arrays by name, changed in place. In the end they are those of the pass with
            the least loss on the examples held out, or of the last pass if none are.
        examples: Numbers of the examples, (n,).
        losses: Mean loss of a batch of examples, (B,), and its gradients.
        held_out_loss: Mean loss of the examples held out.
        settings: Hyper-parameters.

    Returns:
        The losses before the first pass and after each.
    """
    random = np.random.default_rng(settings.seed)
    order = random.permutation(examples)
    count = round(settings.validation * len(order)) if len(order) >= _TOO_FEW else 0
    held_out, training = order[:count], order[count:]
    size = settings.batch_size or min(max(len(training) // _STEPS, 1), _LARGEST)
    steps = -(-len(training) // size)
    optimizer = _Optimizer(parameters, settings, steps * settings.epochs)

    def validation_loss() -> float:
        return held_out_loss(held_out) if count else np.nan

    history = [Epoch(losses(training[: max(size, _LARGEST)])[0], validation_loss())]
    best = {name: parameter.copy() for name, parameter in parameters.items()}
    best_loss, waited = history[0].held_out, 0
    while len(history) <= settings.epochs and waited < settings.patience:
        total = 0.0
        for batch in np.array_split(random.permutation(training), steps):
            loss, gradients = losses(batch)
            total += loss * len(batch)
            add_identity_penalty(parameters, gradients, settings.identity_penalty / len(training))
            optimizer.step(gradients)
        history.append(Epoch(total / len(training), validation_loss()))
        waited += 1
        if not history[-1].held_out >= best_loss:  # true of NaN, too
            best_loss, waited = history[-1].held_out, 0
            best = {name: parameter.copy() for name, parameter in parameters.items()}
    for name, parameter in parameters.items():
        parameter[...] = best[name]
    optimizer.finish()
    return tuple(history)


def add_identity_penalty(
    parameters: Mapping[str, Array], gradients: NamedGradients, strength: float
) -> None:
    """Add to the gradients that of ``strength`` times the squared distance from the identity.

    For factors of low rank, ``I + A B'``, this is the squared norm of ``A B'``.
    """
    scale = np.float32(2 * strength)
    for name, gradient in gradients.items():
        parameter = parameters[name]
        role, _, part = name.partition(".")
        if part:
            other = parameters[f"{role}.{'right' if part == 'left' else 'left'}"]
            gradient += scale * parameter @ (other.T @ other)
        elif parameter.ndim:
            gradient += scale * parameter
            gradient[np.diag_indices(len(parameter))] -= scale


class _Optimizer:
    """Adam with a learning rate that falls to zero, and a report of progress.

    Steps of a matrix are relative to the root mean square of the identity's numbers, ``E^-0.5``.
    """

    def __init__(self, parameters: Mapping[str, Array], settings: Settings, total: int) -> None:
        self._done, self._total, self._settings = 0, total, settings
        self._adams = [
            (Adam({name: p}, 1.0, per_array=True), len(p) ** -0.5 if p.ndim else 1.0)
            for name, p in parameters.items()
        ]

    def step(self, gradients: NamedGradients) -> None:
        rate = self._settings.learning_rate * (1 - self._done / self._total)
        for adam, unit in self._adams:
            adam.learning_rate = rate * unit
            adam.step(gradients)
        self._report(self._done + 1)

    def finish(self) -> None:
        self._report(self._total)

    def _report(self, done: int) -> None:
        self._done = done
        if self._settings.progress:
            self._settings.progress(done, self._total)
