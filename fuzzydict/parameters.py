"""What fitting changes: the parameters of Q, K and V, where they start, and the way back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzzydict.arrays import Array
from fuzzydict.descent import Gradients, Settings
from fuzzydict.factors import Factors, project_forward
from fuzzydict.objectives import lengths_forward
from fuzzydict.projections import Projections
from fuzzydict.query_heads import QueryHeads, heads_forward

__all__ = ["Model"]

_UNLIKE = 0.1  # by how much of a vector's length heads differ at first, so that they can part

#: The way back from the gradient of projected vectors to those of the projection's parts.
_Backward = Callable[[Array], Gradients]


class Model:
    """Parameters by name, as `Projections.arrays` names them, and the temperature's logarithm.

    Those of heads are stacked, (H, E, E) or factors (H, E, rank).

    Args:
        size: of the vectors, E.
        settings: how to learn.
        value_size: of the values, Ev; None where none are pooled.
        of_heads: whether queries have heads already, (N, H, E), each to be mapped by its own.
    """

    def __init__(
        self,
        size: int,
        settings: Settings,
        value_size: int | None = None,
        *,
        of_heads: bool = False,
    ) -> None:
        self.settings, self._of_heads = settings, of_heads
        self.parameters: dict[str, Array] = {}
        random = np.random.default_rng(settings.seed)
        for role in (role for role in ("query", "key") if role not in settings.fixed):
            heads = settings.num_heads if role == "query" else 1
            unlike = 0.0 if of_heads else _UNLIKE
            self.parameters |= _start(role, size, settings.rank, random, heads, unlike)
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
        maps = self._maps(role)
        to_projection: Callable[[Array], Array | Factors | None]
        if maps is not None and self._has_heads(role):
            projected, to_projection = heads_forward(vectors, maps, of_heads=self._of_heads)
        else:
            projected, (_, to_projection) = project_forward(vectors, maps, role)
        if role == "value":
            return projected, lambda d: _named(role, to_projection(d))
        scaled, scale_back = lengths_forward(projected, self.settings.scorer)
        return scaled, lambda d: _named(role, to_projection(scale_back(d)))

    def projections(self) -> Projections:
        """Return what was learned."""
        query, key, value = map(self._maps, ("query", "key", "value"))
        if query is None or not self._has_heads("query"):
            return Projections(query, key, value)
        heads = QueryHeads(query, self.temperature, of_heads=self._of_heads)
        return Projections(heads, key, value)

    def _has_heads(self, role: str) -> bool:
        return role == "query" and self.settings.num_heads > 1

    def _maps(self, role: str) -> Array | Factors | None:
        left = self.parameters.get(f"{role}.left")
        if left is None:
            return self.parameters.get(role)
        return Factors(left, self.parameters[f"{role}.right"])


def _start(
    role: str,
    size: int,
    rank: int | None,
    random: np.random.Generator,
    heads: int = 1,
    unlike: float = 0.0,
) -> dict[str, Array]:
    """Return parameters that make the identity, or nearly so for each of several heads."""
    lead = () if heads == 1 else (heads,)
    if rank is None:
        whole = np.broadcast_to(np.eye(size, dtype=np.float32), (*lead, size, size)).copy()
        if heads > 1 and unlike:
            noise = random.standard_normal(whole.shape, dtype=np.float32)
            whole += np.float32(unlike * size**-0.5) * (noise - noise.mean(axis=0))
        return {role: whole}
    # The gradients of the heads differ from the first step on, for their left factors do.
    left = random.standard_normal((*lead, size, min(rank, size)), dtype=np.float32)
    left /= np.float32(size**0.5)
    return {f"{role}.left": left, f"{role}.right": np.zeros_like(left)}


def _named(role: str, gradient: Array | Factors | None) -> Gradients:
    if gradient is None:
        return {}
    if isinstance(gradient, Factors):
        return {f"{role}.{name}": part for name, part in gradient._asdict().items()}
    return {role: gradient}
