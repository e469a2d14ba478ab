"""How often `index="usearch"` finds what comparing with every key finds, and how much sooner.

    python -m tests.benchmarks.engines [--part given|texts]... [--keys N] [--queries N] [--seed N]

Two dicts of the same keys take turns, query by query: one compares with all of them, the other
asks its engine. "given": vectors of 100 numbers with the structure of real ones, with the cosine;
each is the mean of two words' vectors and a little noise. "texts": keys of two words each, with the
default score. No query is asked twice.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict import Brown, FuzzyDict
from fuzzydict._arrays import units
from fuzzydict.evaluation.evaluate import environment, markdown_table, shown_command

from .memory import key_texts
from .speed_queries import any_slips
from .turns import figures, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PARTS", "Structured", "main"]

SIZE = 100  # numbers a vector
_NOISE, _SLIP = 0.1, 0.3  # of keys, and of queries near one; of the spread of a number
_WARM = 20  # queries before the first that counts
_HEADER = ("keys", "queries", "found", "exact", "usearch", "times as fast", "score off by")


class Subject(NamedTuple):
    """A dict that compares with every key, and queries for it, by their kind."""

    name: str
    d: FuzzyDict[int]
    queries: Mapping[str, Iterator[str]]


class Structured:
    """Keys "0", "1", ... and queries "near 0", ... and "word 0", ... with vectors that are given.

    Those of keys are the means of two words' vectors, on the axes along which words differ most,
    with a little noise. A query is near a key, or shares one of its words.

    >>> made = Structured(50, 8)
    >>> made.encode(["3", "near 3", "word 3"]).shape
    (3, 8)
    """

    def __init__(self, count: int, size: int = SIZE, seed: int = 0) -> None:
        brown, self._chance = Brown(), np.random.default_rng(seed)
        words = units(brown.encode([word for word in brown.words if word.isalpha()]))
        axes = np.linalg.svd(words[:8000], full_matrices=False)[2][:size]
        words = words @ axes.T
        self.keys = [str(number) for number in range(count)]
        pairs = self._chance.integers(len(words), size=(2, count))
        others = words[self._chance.integers(len(words), size=count)]
        clean = (words[pairs[0]] + words[pairs[1]]) / 2
        self.spread = float(np.sqrt(np.square(clean).mean()))
        keys = self._noisy(clean, _NOISE)
        near, word = self._noisy(keys, _SLIP), self._noisy((words[pairs[0]] + others) / 2, _NOISE)
        self._vectors = {"": keys, "near": near, "word": word}

    def _noisy(self, vectors: NDArray[np.float32], share: float) -> NDArray[np.float32]:
        noise = self._chance.standard_normal(vectors.shape, dtype=np.float32)
        noise *= np.float32(share * self.spread)
        noise += vectors
        return noise

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of keys and queries, (n, E)."""
        split = [text.rpartition(" ")[::2] for text in texts]
        kinds, rows = [kind for kind, _ in split], np.array([int(row) for _, row in split])
        if len(set(kinds)) == 1:
            found: NDArray[np.float32] = self._vectors[kinds[0]][rows]
            return found
        return np.array([self._vectors[k][row] for k, row in zip(kinds, rows, strict=True)])


def given(count: int, seed: int = 0) -> Subject:
    """Return a dict of vectors with structure, and the cosine as its scorer."""
    made, chance = Structured(count, seed=seed), random.Random(1)
    d = FuzzyDict(dict.fromkeys(made.keys, 0), embedding=made.encode, scorer="cosine")
    kinds = {"near a key": "near", "sharing a word": "word"}
    queries = {
        what: map(f"{kind} {{}}".format, chance.sample(range(count), count))
        for what, kind in kinds.items()
    }
    return Subject(f"vectors given, {SIZE} numbers, cosine", d, queries)


def texts(count: int, seed: int = 0) -> Subject:
    """Return a dict of keys of two words each, with the default score."""
    keys, chance = key_texts(count, seed), random.Random(1)
    d = FuzzyDict(dict.fromkeys(keys, 0), score_cutoff=float("-inf"))
    words = [word for word in Brown().words if word.isalpha()]
    queries = {
        "keys with a slip": any_slips(keys),
        "pairs that share a word": _pairs(keys, words, chance),
        "single words": iter(chance.sample(words, len(words))),
    }
    return Subject("texts of two words, default score", d, queries)


def _pairs(keys: Sequence[str], words: Sequence[str], chance: random.Random) -> Iterator[str]:
    known = set(keys)
    while True:
        query = f"{chance.choice(keys).split()[0]} {chance.choice(words)}"
        if query not in known:
            yield query


PARTS: Mapping[str, Callable[[int, int], Subject]] = {"given": given, "texts": texts}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print a table for each part."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.engines", description="Measure what an engine gains."
    )
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the keys")
    options = parser.parse_args(argv)
    for part in options.part or PARTS:
        subject = PARTS[part](options.keys, options.seed)
        told = list(_measured(subject, options.keys, options.queries))
        print(markdown_table(_HEADER, [row for row in told if isinstance(row, list)]))
        print("\n".join(["", *(line for line in told if isinstance(line, str)), ""]))
    words = sys.argv[1:] if argv is None else argv
    made_by = shown_command("python", "-m", "tests.benchmarks.engines", *words)
    print(f"Made by `{made_by}` ({environment('usearch')}).")


def _measured(subject: Subject, count: int, asked: int) -> Iterator[list[str] | str]:
    """Yield the cells of a row for each kind of query, then lines about what it took."""
    first = next(iter(subject.queries.values()))
    encoding = _seconds(lambda: subject.d.nearest(next(first)))
    d = subject.d.copy()
    d.index = "usearch"
    building = _seconds(lambda: d.nearest(next(first)))
    for kind, queries in subject.queries.items():
        for query in islice(queries, _WARM):
            subject.d.most_similar(query, 1), d.most_similar(query, 1)
        found, off = 0, []
        taken: tuple[list[float], list[float]] = ([], [])
        for query in islice(queries, asked):
            best = [
                _timed(one, query, into) for one, into in zip((subject.d, d), taken, strict=True)
            ]
            found += best[0].key == best[1].key
            off.append(abs(best[1].score / best[0].score - 1) if best[0].score else 0.0)
        exact, ours = map(figures, taken)
        yield [
            f"{count:,}",
            kind,
            f"{found / len(off):.3f}",
            shown(exact, "s"),
            shown(ours, "s"),
            f"{exact.median / ours.median:.1f}",
            f"{np.quantile(off, 0.95):.1%}",
        ]
    yield f"{subject.name}: encoding the keys took {encoding:.0f} s, the graph {building:.0f} s."


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _timed(d: FuzzyDict[int], query: str, into: list[float]) -> Any:
    start = time.perf_counter()
    (best,) = d.most_similar(query, 1)
    into.append(time.perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
