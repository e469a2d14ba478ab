"""How often `index="usearch"` finds what comparing with every key finds, and how much sooner.

    python -m tests.benchmarks.engines [--part given|texts]... [--keys N] [--queries N]
        [--embedding english]

Two dicts of the same keys take turns, query by query: one compares with all of them, the other
asks its engine. "given": vectors of 100 numbers with the structure of real ones, with the cosine;
each is the mean of two words' vectors and a little noise. "texts": keys of two words each, with the
default score. No query is asked twice.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from fuzzydict import Brown, FuzzyDict
from fuzzydict._arrays import units

from .measuring import compared, figures, print_report, shown, timed
from .queries import any_slips, key_texts, sharing_a_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIZE = 100  # numbers a vector
_NOISE, _SLIP = 0.1, 0.3  # of keys, and of queries near one; of the spread of a number
_WARM = 20  # queries before the first that counts
_HEADER = ("keys", "queries", "found", "exact", "usearch", "times as fast", "score off by")

Subject = tuple[FuzzyDict[int], Mapping[str, Iterator[str]]]  # and queries, by their kind


class Structured:
    """Keys "0", "1", ... and queries "near 0", ... and "word 0", ... with vectors that are given.

    Those of keys are the means of two words' vectors, on the axes along which words differ most,
    with a little noise. A query is near a key, or shares one of its words.
    """

    def __init__(self, count: int) -> None:
        brown, self._chance = Brown(), np.random.default_rng(0)
        words = units(brown.encode([word for word in brown.words if word.isalpha()]))
        axes = np.linalg.svd(words[:8000], full_matrices=False)[2][:_SIZE]
        words = words @ axes.T
        self.keys = [str(number) for number in range(count)]
        pairs = self._chance.integers(len(words), size=(2, count))
        others = words[self._chance.integers(len(words), size=count)]
        clean = (words[pairs[0]] + words[pairs[1]]) / 2
        self._spread = float(np.sqrt(np.square(clean).mean()))
        keys = self._noisy(clean, _NOISE)
        near, word = self._noisy(keys, _SLIP), self._noisy((words[pairs[0]] + others) / 2, _NOISE)
        self._vectors = {"": keys, "near": near, "word": word}

    def _noisy(self, vectors: NDArray[np.float32], share: float) -> NDArray[np.float32]:
        noise = self._chance.standard_normal(vectors.shape, dtype=np.float32)
        noise *= np.float32(share * self._spread)
        noise += vectors
        return noise

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of keys or of queries of one kind, (n, E)."""
        (kind,) = {text.rpartition(" ")[0] for text in texts}
        rows = [int(text.rpartition(" ")[2]) for text in texts]
        found: NDArray[np.float32] = self._vectors[kind][rows]
        return found


def given(count: int, _: str | None) -> Subject:
    """Return a dict of vectors with structure, and the cosine as its scorer."""
    made, chance = Structured(count), random.Random(1)
    d = FuzzyDict(dict.fromkeys(made.keys, 0), embedding=made.encode, scorer="cosine")
    kinds = {"near a key": "near", "sharing a word": "word"}
    return d, {
        what: map(f"{kind} {{}}".format, chance.sample(range(count), count))
        for what, kind in kinds.items()
    }


def texts(count: int, embedding: str | None) -> Subject:
    """Return a dict of keys of two words each, with the default score."""
    keys = key_texts(count)
    d = FuzzyDict(dict.fromkeys(keys, 0), embedding=embedding, score_cutoff=float("-inf"))
    words = [word for word in Brown().words if word.isalpha()]
    return d, {
        "keys with a slip": any_slips(keys),
        "pairs that share a word": sharing_a_word(keys, seed=1),
        "single words": iter(random.Random(1).sample(words, len(words))),
    }


PARTS: Mapping[str, Callable[[int, str | None], Subject]] = {"given": given, "texts": texts}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what an engine gains.")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000, help="of each kind")
    parser.add_argument("--embedding", choices=["english"], help="of texts; by default Brown")
    options = parser.parse_args()
    for part in options.part or PARTS:
        exact, queries = PARTS[part](options.keys, options.embedding)
        first = next(iter(queries.values()))
        encoding = timed(partial(exact.nearest, next(first)))
        d = exact.copy()
        d.index = "usearch"
        building = timed(partial(d.nearest, next(first)))
        rows = []
        for kind, some in queries.items():
            found = compared(exact, d, islice(some, _WARM + options.queries), _WARM)
            slow, fast = figures(found.exact), figures(found.other)
            times = [shown(*slow), shown(*fast), f"{slow.median / fast.median:.1f}"]
            rows.append(
                [f"{options.keys:,}", kind, f"{found.found:.3f}", *times, f"{found.off:.1%}"]
            )
        took = f"encoding the keys took {encoding:.0f} s, the graph {building:.0f} s"
        print_report(f"{part}: {took}", _HEADER, rows)


if __name__ == "__main__":
    main()
