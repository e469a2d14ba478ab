"""How parameters follow their gradients downhill: Adam."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fuzzydict._arrays import Array, positive

__all__ = ["Adam"]


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
