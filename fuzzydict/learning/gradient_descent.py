"""How projections are learned: batches, Adam, a pull to the identity, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import Array, positive, require_counts
from fuzzydict.errors import OptionError

__all__ = ["Adam", "Epoch", "Gradients", "Settings", "descend", "pull"]


class Adam:
    """Gradient descent with a pace for each number (Kingma and Ba 2015, algorithm 1).

    Args:
        parameters: Arrays by name. They are changed in place, so who shares them sees it.
        learning_rate: About how far each number moves in a step; it may be set between steps.
        decay: How much is kept, from step to step, of the mean of the gradients,
        square_decay: and of the mean of their squares.
        epsilon: Keeps a number that has no gradient from a division by zero.
        per_array: One pace for all numbers of an array. Its steps then go where the gradient
            points, whatever the axes: a projection changes nothing outside the span of its
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
        decay: float = 0.9,
        square_decay: float = 0.999,
        epsilon: float = 1e-8,
        per_array: bool = False,
    ) -> None:
        self.parameters, self.per_array = parameters, per_array
        self.learning_rate = positive("learning_rate", learning_rate)
        self.decay, self.square_decay, self.epsilon = decay, square_decay, epsilon
        self._means = {name: np.zeros_like(p) for name, p in parameters.items()}
        self._squares = {
            name: np.zeros((), p.dtype) if per_array else np.zeros_like(p)
            for name, p in parameters.items()
        }
        self._steps = 0

    def step(self, gradients: Mapping[str, Array]) -> None:
        """Move every parameter against its gradient, which has its shape."""
        self._steps += 1
        # Both means begin at zero; this takes that out of them.
        pace = self.learning_rate / (1 - self.decay**self._steps)
        square_scale = 1 / (1 - self.square_decay**self._steps)
        for name, parameter in self.parameters.items():
            mean, square, gradient = self._means[name], self._squares[name], gradients[name]
            mean += (1 - self.decay) * (gradient - mean)
            squared = np.mean(gradient * gradient) if self.per_array else gradient * gradient
            square += (1 - self.square_decay) * (squared - square)
            parameter -= pace * mean / (np.sqrt(square * square_scale) + self.epsilon)


#: Gradients by the names of the parameters.
Gradients = dict[str, Array]
_SCORERS = ("cosine", "scaled_dot")
_LARGEST = 256  # examples a step; of few examples less, so that a pass has some steps
_STEPS = 5
_FEW = 100  # examples, of which none is held out: a few would tell nothing, and are missed


class Epoch(NamedTuple):
    """Mean losses after a pass over the examples; ``held_out`` is NaN where none are."""

    training: float
    held_out: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to learn projections.

    Args:
        scorer: What compares queries with keys: "cosine" or "scaled_dot".
        temperature: What scores are divided by before the softmax; None to learn it.
        start_temperature: Where a temperature starts that is learned; None for what is usual.
        rank: Learn ``I + A B'`` with A and B (E, rank); None for a whole matrix.
        fixed: What is left as it is, of "query" and "key".
        learn_value: Learn V too, where values are pooled.
        pull: How strongly matrices are held at the identity, in examples: the loss of n examples
            has ``pull / n`` times the sum of the squared differences from the identity added.
        learning_rate: How far a step may turn or stretch a vector, in parts of its length.
        epochs: Passes over the examples, at most.
        patience: Passes without a better loss on the examples held out, before it stops.
        batch_size: Queries a step; None for what suits their number, at most 256.
        candidates: Keys that a query is told apart from in a step, beside those that are right
            for another one; all of them, where there are not more.
        validation: Share of the queries that are held out (none of fewer than 100).
        seed: Another seed, other batches.
        progress: Is told ``(done, total)`` steps; may stop by raising, and nothing is half done.

    Raises:
        OptionError: A value is not one that the option takes.
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
    pull: float = 3.0
    learning_rate: float = 0.03
    epochs: int = 30
    patience: int = 3
    batch_size: int | None = None
    candidates: int = 4096
    validation: float = 0.1
    seed: int = 0
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if self.scorer not in _SCORERS:
            raise OptionError(f"scorer must be one of {', '.join(_SCORERS)}, got {self.scorer!r}")
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
        if self.pull:
            positive("pull", self.pull)
        if not 0 <= self.validation <= 0.5:
            raise OptionError(f"validation must be a share from 0 to 0.5, got {self.validation}")

    @property
    def first_temperature(self) -> float:
        """Where a temperature starts that is learned."""
        usual = 0.05 if self.scorer == "cosine" else 1.0
        return usual if self.start_temperature is None else self.start_temperature


def descend(
    parameters: Mapping[str, Array],
    examples: NDArray[np.intp],
    losses: Callable[[NDArray[np.intp]], tuple[float, Gradients]],
    held_out_loss: Callable[[NDArray[np.intp]], float],
    settings: Settings,
) -> tuple[Epoch, ...]:
    """Change the parameters, in place, until the loss of examples held out no longer falls.

    Args:
        parameters: Arrays by name, at the start. At the end they are those of the best pass.
        examples: Numbers of the examples, (n,).
        losses: The mean loss of a batch of examples, (B,), and its gradients.
        held_out_loss: The mean loss of the examples held out.
        settings: How to learn.

    Returns:
        The losses before the first pass and after each.
    """
    random = np.random.default_rng(settings.seed)
    held, kept = _parted(random.permutation(examples), settings.validation)
    size = settings.batch_size or min(max(len(kept) // _STEPS, 1), _LARGEST)
    steps = -(-len(kept) // size)
    pace = _Pace(parameters, settings, steps * settings.epochs)
    history = [
        Epoch(
            _first_loss(losses, kept, max(size, _LARGEST)),
            held_out_loss(held) if len(held) else np.nan,
        )
    ]
    best, waited = history[0].held_out, 0
    kept_parameters = {name: p.copy() for name, p in parameters.items()}
    for _ in range(settings.epochs):
        total = 0.0
        for batch in np.array_split(random.permutation(kept), steps):
            loss, gradients = losses(batch)
            total += loss * len(batch)
            pace.step(pull(parameters, gradients, settings.pull / len(kept)))
        epoch = Epoch(total / len(kept), held_out_loss(held) if len(held) else np.nan)
        history.append(epoch)
        waited += 1
        if not epoch.held_out >= best:  # better, or there is nothing to tell
            best, waited = epoch.held_out, 0
            for name, parameter in parameters.items():
                kept_parameters[name][...] = parameter
        if waited >= settings.patience:
            break
    for name, parameter in parameters.items():
        parameter[...] = kept_parameters[name]
    if settings.progress:
        settings.progress(pace.total, pace.total)
    return tuple(history)


def pull(parameters: Mapping[str, Array], gradients: Gradients, strength: float) -> Gradients:
    """Add to the gradients those of ``strength`` times the squared distance from the identity.

    Of the factors of a low rank, ``I + A B'``, the distance is that of ``A B'``.
    """
    share = np.float32(2 * strength)
    for name, gradient in gradients.items():
        parameter = parameters[name]
        role, _, part = name.partition(".")
        if part:
            other = parameters[f"{role}.{'right' if part == 'left' else 'left'}"]
            gradient += share * parameter @ (other.T @ other)
        elif parameter.ndim:
            gradient += share * parameter
            gradient[np.diag_indices(len(parameter))] -= share
    return gradients


class _Pace:
    """Adam, with steps in parts of the identity's length, that shorten to nothing by the end."""

    def __init__(self, parameters: Mapping[str, Array], settings: Settings, total: int) -> None:
        self.done, self.total, self._settings = 0, total, settings
        self._adams = [
            (Adam({name: p}, 1.0, per_array=True), len(p) ** -0.5 if p.ndim else 1.0)
            for name, p in parameters.items()
        ]

    def step(self, gradients: Gradients) -> None:
        rate = self._settings.learning_rate * (1 - self.done / self.total)
        for adam, unit in self._adams:
            adam.learning_rate = rate * unit
            adam.step(gradients)
        self.done += 1
        if self._settings.progress:
            self._settings.progress(self.done, self.total)


def _parted(examples: NDArray[np.intp], share: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the examples held out, and the others."""
    held = round(share * len(examples)) if len(examples) >= _FEW else 0
    return examples[:held], examples[held:]


def _first_loss(
    losses: Callable[[NDArray[np.intp]], tuple[float, Gradients]],
    examples: NDArray[np.intp],
    size: int,
) -> float:
    return losses(examples[:size])[0]
