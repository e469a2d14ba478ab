"""What `fit` is asked to do, checked: which of Q, K and V to learn, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzzydict._arrays import require_counts
from fuzzydict.embedding.projections import ROLES
from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.learning.candidate import Subject
from fuzzydict.learning.gradient_descent import Settings
from fuzzydict.nn.scorers import Cosine, Dot, ScaledDot, as_scorer

__all__ = ["Plan"]

_VALIDATION = 0.2
_STEPS, _BATCH = 2000, 256  # steps that are enough, of so many examples each


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of `FuzzyDict.fit`, which tells of them."""

    learn: Sequence[str] | None = None
    rank: int | None = None
    epochs: int | None = None
    learning_rate: float | None = None
    validation: float | None = None
    seed: int = 0
    progress: Callable[[int, int], None] | None = None
    warm_start: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ArgumentTypeError(
                f"seed: expected a whole number of 0 or more, got {self.seed!r}"
            )
        Settings(validation=self.share)  # or raise

    @property
    def share(self) -> float:
        """The share of the examples to hold out."""
        return _VALIDATION if self.validation is None else self.validation

    def settings(self, subject: Subject, count: int, *, pools: bool) -> Settings:
        """Return how to learn from so many examples.

        Raises:
            OptionError: an option does not go with the scorer, the keys or the targets.
        """
        _check_scorer(subject.scorer)
        self._check_rank(subject.keys.vectors.shape[1])
        told = {name: getattr(self, name) for name in ("epochs", "learning_rate", "rank")}
        told["validation"] = None if self.share else 0.0  # then none tells when to stop, either
        return Settings(
            **(_slow_pace(count) if pools else {})
            | {name: value for name, value in told.items() if value is not None},
            **self._roles(pools=pools),
            seed=self.seed,
            progress=self.progress,
        )

    def _roles(self, *, pools: bool) -> dict[str, Any]:
        """Return the settings that say which of Q, K and V to learn."""
        learn = self.learn
        if learn is None:
            return {}
        roles = {learn} if isinstance(learn, str) else set(learn)
        if not roles or not roles <= set(ROLES):
            expected = ", ".join(map(repr, ROLES))
            raise OptionError(f"learn: expected some of {expected}, got {learn!r}")
        if "value" in roles and not pools:
            raise OptionError("learn: 'value' needs numbers or arrays as targets, got keys")
        fixed = tuple(role for role in ("query", "key") if role not in roles)
        return {"fixed": fixed, "learn_value": "value" in roles}

    def _check_rank(self, size: int) -> None:
        if self.rank is None:
            return
        require_counts(rank=self.rank)
        if self.rank > size:
            raise OptionError(
                f"rank: expected {size} at most, the size of the vectors, got {self.rank}"
            )


def _check_scorer(scorer: Any) -> None:
    """Raise unless Q and K can be learned for this scorer."""
    made = None if scorer is None else as_scorer(scorer)
    if not isinstance(made, Cosine | ScaledDot | Dot | None):
        raise OptionError(
            f"scorer: fit learns Q and K for None (the default), 'cosine', 'scaled_dot' and 'dot', "
            f"got {made!r}; set d.scorer to one of these first"
        )


def _slow_pace(count: int) -> dict[str, Any]:
    """Return how fast to learn from values, which say little of where to go: many long steps."""
    passes = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    return {"epochs": passes, "patience": passes // 5, "learning_rate": 0.1}
