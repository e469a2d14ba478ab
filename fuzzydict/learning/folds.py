"""Which examples are held out, and what is learned without them; progress told as of one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict.learning.candidate import Learned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fuzzydict.learning.gradient_descent import Settings

__all__ = ["FEW", "Stages", "parted", "taught"]

FEW = 100  # examples, of which each is held out in turn, in
_FOLDS = 5  # parts;
_TOO_FEW = 4  # and of fewer than these none is


def parted(
    groups: Sequence[NDArray[np.intp]],
    share: float,
    most: int,
    random: np.random.Generator,
    rounds: int = 1,
) -> list[NDArray[np.intp]]:
    """Return the rows to hold out, part by part.

    Of many examples it is one part. A few are each held out in turn, as many times as there are
    rounds, in other company each time. Each part has its share of every group.

    >>> random = np.random.default_rng(0)
    >>> parts = parted([np.arange(4), np.arange(4, 6)], 0.2, 256, random)
    >>> sorted(np.concatenate(parts).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    count = sum(map(len, groups))
    if count < _TOO_FEW or not share:
        return []
    if count >= FEW:
        share = min(share, most / count)
        held = [random.permutation(g)[: _share_of(len(g), share)] for g in groups]
        return [np.concatenate(held)]
    folds = min(count, _FOLDS)
    orders = [np.concatenate([random.permutation(g) for g in groups]) for _ in range(rounds)]
    return [order[place::folds] for order in orders for place in range(folds)]


def _share_of(count: int, share: float) -> int:
    """Return how many to hold out: one at least, but not the only one there is."""
    return min(round(share * count) or 1, count - 1) if count else 0


def taught(
    learn: Callable[[NDArray[np.intp], Settings], Learned],
    parts: Sequence[NDArray[np.intp]],
    count: int,
    settings: Settings,
    stages: Stages,
) -> tuple[Learned, list[tuple[Learned, NDArray[np.intp]]]]:
    """Return what is learned in the end, and for each part what was learned without it.

    In the end it is learned from all examples; but of many, what was asked is what is kept.
    """
    rows = [np.setdiff1d(np.arange(count), part) for part in parts]
    if len(parts) != 1:
        rows.append(np.arange(count))
    found = [learn(some, replace(settings, progress=stages.next())) for some in rows]
    return found[-1], list(zip(found, parts, strict=False))


class Stages:
    """Progress in several stages, told as one, in thousandths of each.

    Args:
        progress: is told ``(done, total)``; None tells nobody.
        count: of the stages, at most.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, count: int) -> None:
        self._progress, self._count, self._stage = progress, count, -1

    def next(self) -> Callable[[int, int], None] | None:
        """Return what is told of the next stage."""
        self._stage += 1
        tell, first, whole = self._progress, 1000 * self._stage, 1000 * self._count
        if tell is None:
            return None
        return lambda done, total: tell(first + 1000 * done // total, whole)

    def finish(self) -> None:
        """Tell that all is done, where stages were left out."""
        if self._progress is not None and self._stage + 1 < self._count:
            self._progress(1000 * self._count, 1000 * self._count)
