"""What speed is measured with: keys, queries that no dict has seen, vectors that are given."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fuzzydict import Brown

from .memory import key_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Given", "Sizes", "keys_of", "misspelled", "unlike"]

_SINGLE = 20_000  # so many keys or fewer are single words, more are two words each


class Sizes(NamedTuple):
    """How much is measured."""

    keys: tuple[int, ...] = (10, 1_000, 100_000)
    given: tuple[int, ...] = (1_000, 100_000, 1_000_000)  # keys with vectors given
    most: int = 1_000_000  # keys with vectors of the package's own
    samples: int = 21
    build: int = 100_000
    words: int = 20_000  # known ones, of which others are made that are not
    unseen: int = 10_000
    rows: int = 100_000
    pairs: int = 2_000
    hits: int = 100_000
    batch: int = 256

    @property
    def middle(self) -> int:
        """The number of keys where one is enough to tell."""
        return self.keys[len(self.keys) // 2]


#: What is measured in seconds instead of minutes, and tells less.
QUICK = Sizes(
    keys=(10, 1_000),
    given=(1_000, 10_000),
    most=2_000,
    samples=3,
    build=2_000,
    words=1_000,
    unseen=1_000,
    rows=1_000,
    pairs=100,
    hits=10_000,
)


def keys_of(count: int) -> list[str]:
    """Return different keys: words, or where these are too few, two words each."""
    words = [word for word in Brown().words if word.isalpha() and word.islower()]
    return random.Random(0).sample(words, count) if count <= _SINGLE else key_texts(count)


def misspelled(keys: Sequence[str], seed: int = 1) -> Iterator[str]:
    """Yield without end keys with a letter put in, none of them a key, none twice."""
    chance, seen = random.Random(seed), set(keys)
    while True:
        key = chance.choice(keys)
        place = chance.randrange(len(key) + 1)
        query = key[:place] + chance.choice(ascii_lowercase) + key[place:]
        if query not in seen:
            seen.add(query)
            yield query


def unlike(keys: Sequence[str], seed: int = 1) -> Iterator[str]:
    """Yield without end texts of as many known words as the keys have, none of them a key."""
    chance, seen = random.Random(seed), set(keys)
    words = [word for word in Brown().words if word.isalpha() and word.islower()]
    several = len(keys[0].split())
    while True:
        query = " ".join(chance.choices(words, k=several))
        if query not in seen:
            seen.add(query)
            yield query


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
