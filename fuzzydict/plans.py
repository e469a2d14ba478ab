"""What `fit` is asked to do, checked: which of Q, K and V to learn, how many heads, how fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzzydict.arrays import require_counts
from fuzzydict.descent import Settings
from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.learners import Subject, trained
from fuzzydict.projections import ROLES

__all__ = ["Plan"]

_VALIDATION = 0.2
_STEPS, _BATCH = 2000, 256  # steps that are enough, of so many examples each


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of `FuzzyDict.fit`, which tells of them."""

    learn: Sequence[str] | None = None
    rank: int | None = None
    num_heads: int | None = None
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
        heads = self._heads(subject)
        self._check_rank(subject.keys.vectors.shape[1])
        is_slow = pools or trained(subject.scorer) is not None
        told = {name: getattr(self, name) for name in ("epochs", "learning_rate", "rank")}
        told["validation"] = None if self.share else 0.0  # then none tells when to stop, either
        return Settings(
            **_pace(count, heads, is_slow=is_slow)
            | {name: value for name, value in told.items() if value is not None},
            **self._roles(subject, pools=pools),
            num_heads=heads,
            seed=self.seed,
            progress=self.progress,
        )

    def _roles(self, subject: Subject, *, pools: bool) -> dict[str, Any]:
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
        if trained(subject.scorer) is not None:
            raise OptionError(
                f"learn: the scorer {subject.scorer!r} learns its own parameters; leave it out"
            )
        fixed = tuple(role for role in ("query", "key") if role not in roles)
        return {"fixed": fixed, "learn_value": "value" in roles}

    def _heads(self, subject: Subject) -> int:
        """Return how many heads of the query to learn: those there are, where it goes on."""
        there, keys = subject.start.num_heads, len(subject.keys.names)
        wanted = there if self.num_heads is None else self.num_heads
        require_counts(num_heads=wanted)
        if wanted == there == 1:
            return 1
        if there not in (1, wanted):
            raise OptionError(
                f"num_heads: queries have {there} heads, and the fit goes on from them, got "
                f"{wanted}; leave num_heads out, or set d.projections = None first"
            )
        if wanted > max(keys, there):
            raise OptionError(
                f"num_heads: expected {keys} at most, a head for each key, got {wanted}"
            )
        if trained(subject.scorer) is not None:
            raise OptionError(
                f"num_heads: the scorer {subject.scorer!r} learns its own parameters, of queries "
                f"of one head, got {wanted}; expected the default, 'cosine', 'scaled_dot' or 'dot'"
            )
        if self.learn is not None and "query" not in self.learn:
            raise OptionError(
                f"num_heads: learn={self.learn!r} leaves the query as it is, got {wanted}"
            )
        return int(wanted)

    def _check_rank(self, size: int) -> None:
        if self.rank is None:
            return
        require_counts(rank=self.rank)
        if self.rank > size:
            raise OptionError(
                f"rank: expected {size} at most, the size of the vectors, got {self.rank}"
            )


def _pace(count: int, heads: int, *, is_slow: bool) -> dict[str, Any]:
    """Return how fast to learn, where not as usual.

    What says little of where to go, as values do, takes many long steps. Heads, which start alike,
    take time to part.
    """
    passes = int(np.clip(_STEPS * _BATCH // count, 30, 200))
    if is_slow:
        return {"epochs": passes, "patience": passes // 5, "learning_rate": 0.1}
    return {"epochs": passes, "patience": passes // 10} if heads > 1 else {}
