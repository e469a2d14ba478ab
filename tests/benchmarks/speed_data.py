"""What speed is measured with: how much, keys, vectors that are given."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict import Brown

from .memory import key_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["QUICK", "Given", "Sizes", "keys_of"]

_SINGLE = 20_000  # so many keys or fewer are single words, more are two words each


class Sizes(NamedTuple):
    """How much is measured."""

    keys: tuple[int, ...] = (10, 100, 1_000)  # of one word each
    phrases: tuple[int, ...] = (10, 1_000, 100_000)  # keys of two words each
    given: tuple[int, ...] = (1_000, 100_000, 1_000_000)  # keys with vectors given
    most: int = 1_000_000  # keys with vectors of the package's own
    samples: int = 21
    build: int = 100_000
    unseen: int = 10_000
    cells: int = 5_000  # different ones at once
    tables: tuple[int, ...] = (5, 100, 1_000)  # keys that such cells are matched to
    rows: int = 1_000_000  # of a file
    distinct: int = 50_000  # cells in it
    joined: tuple[int, int] = (10_000, 3_000)  # rows of a frame, and different texts in them
    pairs: int = 2_000
    hits: int = 100_000
    batch: int = 256

    @property
    def middle(self) -> int:
        """The number of keys where one is enough to tell."""
        return self.keys[-1]

    @property
    def larger(self) -> tuple[int, int]:
        """That number, and a large one."""
        return self.middle, self.phrases[-1]


#: What is measured in seconds instead of minutes, and tells less.
QUICK = Sizes(
    keys=(10, 100),
    phrases=(10, 1_000),
    given=(1_000, 10_000),
    most=2_000,
    samples=3,
    build=2_000,
    unseen=1_000,
    cells=200,
    tables=(5, 100),
    rows=1_000,
    distinct=200,
    joined=(500, 200),
    pairs=100,
    hits=10_000,
    batch=32,
)


def keys_of(count: int, seed: int = 0) -> list[str]:
    """Return different keys: words, or where these are too few, two words each."""
    words = [word for word in Brown().words if word.isalpha() and word.islower()]
    return random.Random(seed).sample(words, count) if count <= _SINGLE else key_texts(count, seed)


class Given:
    """Keys "0", "1", ... and vectors for them and for queries, which are texts "+ key".

    >>> given = Given(10, 4)
    >>> given.encode(["3", "+ 3"]).shape
    (2, 4)
    """

    def __init__(self, count: int, size: int) -> None:
        random_ = np.random.default_rng(0)
        self.keys = [str(number) for number in range(count)]
        self.vectors = random_.standard_normal((count, size), dtype=np.float32)
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self._noise = random_.standard_normal((1009, size), dtype=np.float32) / size**0.5

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of keys, and of queries: the key's with some noise."""
        rows = np.array([int(text.lstrip("+ ")) for text in texts])
        asked = np.array([text[0] == "+" for text in texts])
        found: NDArray[np.float32] = self.vectors[rows]
        found += self._noise[rows % len(self._noise)] * asked[:, None]
        return found

    def queries(self, seed: int = 1) -> Iterator[str]:
        """Yield queries without end, none twice before all have come."""
        order = np.random.default_rng(seed).permutation(len(self.keys))
        return (f"+ {number}" for number in cycle(order.tolist()))
