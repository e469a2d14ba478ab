"""What fitting changes: the parameters of Q, K and V, where they start, and the way back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzzydict._arrays import Array
from fuzzydict.embedding.maps import Factors, project_forward
from fuzzydict.embedding.projections import Projections
from fuzzydict.learning.gradient_descent import Gradients, Settings
from fuzzydict.learning.objectives import lengths_forward

__all__ = ["Model"]

#: The way back from the gradient of projected vectors to those of the projection's parts.
_Backward = Callable[[Array], Gradients]


class Model:
    """Parameters by name, as `Projections.arrays` names them, and the temperature's logarithm.

    Args:
        size: of the vectors, E.
        settings: how to learn.
        value_size: of the values, Ev; None where none are pooled.
    """

    def __init__(self, size: int, settings: Settings, value_size: int | None = None) -> None:
        self.settings = settings
        self.parameters: dict[str, Array] = {}
        random = np.random.default_rng(settings.seed)
        for role in (role for role in ("query", "key") if role not in settings.fixed):
            self.parameters |= _start(role, size, settings.rank, random)
        if value_size is not None and settings.learn_value:
            self.parameters |= _start("value", value_size, None, random)
        if settings.temperature is None:
            start = np.log(settings.first_temperature)
            self.parameters["log_temperature"] = np.array(start, np.float32)

    @property
    def temperature(self) -> float:
        """What scores are divided by."""
        learned = self.parameters.get("log_temperature")
        return float(self.settings.temperature or 0) if learned is None else float(np.exp(learned))

    def temperature_gradient(self, slope: float) -> Gradients:
        """Return the gradient by the temperature's logarithm, if it is learned."""
        learned = "log_temperature" in self.parameters
        return {"log_temperature": np.array(slope, np.float32)} if learned else {}

    def forward(self, role: str, vectors: Array) -> tuple[Array, _Backward]:
        """Project vectors (N, E), and make a dot product what the scorer says."""
        projected, to_projection = project_forward(vectors, self._projection(role), role)
        if role == "value":
            return projected, lambda d: _named(role, to_projection(d))
        scaled, scale_back = lengths_forward(projected, self.settings.scorer)
        return scaled, lambda d: _named(role, to_projection(scale_back(d)))

    def projections(self) -> Projections:
        """Return what was learned."""
        return Projections(*map(self._projection, ("query", "key", "value")))

    def _projection(self, role: str) -> Array | Factors | None:
        left = self.parameters.get(f"{role}.left")
        if left is None:
            return self.parameters.get(role)
        return Factors(left, self.parameters[f"{role}.right"])


def _start(role: str, size: int, rank: int | None, random: np.random.Generator) -> dict[str, Array]:
    """Return parameters that make the identity."""
    if rank is None:
        return {role: np.eye(size, dtype=np.float32)}
    left = random.standard_normal((size, min(rank, size)), dtype=np.float32)
    left /= np.float32(size**0.5)
    return {f"{role}.left": left, f"{role}.right": np.zeros_like(left)}


def _named(role: str, gradient: Array | Factors | None) -> Gradients:
    if gradient is None:
        return {}
    if isinstance(gradient, Factors):
        return {f"{role}.{name}": part for name, part in gradient._asdict().items()}
    return {role: gradient}
